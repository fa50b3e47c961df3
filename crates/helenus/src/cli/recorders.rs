//! Announces the kept recordings that are being written on this machine, so that other commands find them by node.

use anyhow::{Context, Result, bail};
use helenus_cassandra::Places;
use helenus_cassandra::journal::{Journal, Journaled};
use helenus_recording::Tail;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A recorder that keeps the last minutes of nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Announced {
    /// Process id of the recorder.
    pub pid: u32,
    /// Path of the kept recording.
    pub recording: PathBuf,
    /// Addresses of the recorded nodes, as in the rows.
    pub nodes: Vec<String>,
}

impl Journaled for Announced {
    const FOLDER: &'static str = "recorders";
    const WAY_OUT: &'static str = "remove the file, and start the recorder again";

    fn id(&self) -> String {
        self.pid.to_string()
    }
}

/// An announcement; dropping this value withdraws it.
#[derive(Debug)]
pub struct Announcement {
    journal: Journal<Announced>,
    entry: Announced,
}

impl Announcement {
    pub fn begin(recording: &Path, nodes: Vec<String>) -> Result<Announcement> {
        let recording =
            std::fs::canonicalize(recording).with_context(|| format!("cannot find {}", recording.display()))?;
        let entry = Announced { pid: std::process::id(), recording, nodes };
        let journal = journal()?;
        journal.write(&entry)?;
        Ok(Announcement { journal, entry })
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // If the removal fails, readers ignore the entry, because its writer has ended.
        let _ = self.journal.remove(&self.entry);
    }
}

/// The recorders that are running.
pub fn running() -> Result<Vec<Announced>> {
    let mut entries = journal()?.entries()?;
    entries.retain(|entry| Tail::open(&entry.recording, i64::MAX).is_ok_and(|tail| tail.is_growing()));
    Ok(entries)
}

/// The kept recording of a node that is being recorded.
pub fn recording_of(node: &str) -> Result<PathBuf> {
    let running = running()?;
    let mut of_it = running.iter().filter(|entry| entry.nodes.iter().any(|name| name == node));
    match (of_it.next(), of_it.next()) {
        (Some(one), None) => Ok(one.recording.clone()),
        (Some(one), Some(other)) => bail!(
            "{node} is recorded into {} and {}; name one of them",
            one.recording.display(),
            other.recording.display()
        ),
        (None, _) => bail!(
            "no recorder keeps the last minutes of {node}; start one with `helenus record --node {node} --keep 30m`{}",
            match running.as_slice() {
                [] => String::new(),
                some => format!(". Nodes that are recorded: {}", nodes(some)),
            }
        ),
    }
}

fn nodes(running: &[Announced]) -> String {
    running.iter().flat_map(|entry| &entry.nodes).cloned().collect::<Vec<_>>().join(", ")
}

fn journal() -> Result<Journal<Announced>> {
    Ok(Journal::within(&Places::of_user()?.state))
}
