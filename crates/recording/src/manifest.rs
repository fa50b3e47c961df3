//! `manifest.json`: the nodes, clock and sources of a recording, and its known losses.

use crate::generated::FORMAT;
use crate::kept::Kept;
use crate::private::{Folder, SET_ASIDE};
use crate::{Clock, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::Path;

pub(crate) mod made;

pub(crate) const FILE_NAME: &str = "manifest.json";
const RESERVE: &str = "reserve";
const RESERVE_BYTES: usize = 256 << 10;
/// Larger manifests are refused: Helenus never writes one.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub id: String,
    /// The recording's title for people.
    pub title: String,
    /// The question of the recorded experiment; None for other recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The command that made the recording, without secrets.
    pub command: String,
    /// The version of helenus that wrote the recording.
    pub helenus: String,
    pub state: State,
    pub writer_pid: u32,
    pub created_ns: i64,
    /// When the writer closed the recording; None for a growing or salvaged recording.
    pub closed_ns: Option<i64>,
    pub clock: ClockFacts,
    pub host: Host,
    #[serde(default)]
    pub nodes: Vec<NodeFacts>,
    /// The load that `helenus load` sent; None if nothing was sent, or several workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadFacts>,
    #[serde(default)]
    pub sources: Vec<SourceFacts>,
    #[serde(default)]
    pub tables: BTreeMap<String, TableFacts>,
    /// Lost rows, as far as they are known.
    #[serde(default)]
    pub losses: Vec<Loss>,
    /// For a merged recording: the ids of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// For a kept recording: how much is kept. Its tables are in segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// Limits of the results, as sentences: for an experiment, effects that its machine can't show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Writing,
    Closed,
    Salvaged,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// Times of rows minus this offset are CLOCK_MONOTONIC of the boot below.
    pub epoch_offset_ns: i64,
    /// Upper bound of the offset's error.
    pub error_ns: i64,
    pub boot_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub kernel: String,
    pub arch: String,
    pub cpus: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    pub address: String,
    pub pid: Option<u32>,
    /// The release of Cassandra; None if unknown.
    pub cassandra: Option<String>,
    pub java: Option<String>,
}

/// A workload as it was run. Together with the requests' numbers it is enough to reproduce what they wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadFacts {
    /// The workload's name, without the mix.
    pub workload: String,
    /// The text of the workload file.
    pub text: String,
    /// The mix, if it was not the default of the file.
    pub mix: Option<String>,
    /// The number of keys, if it was not that of the file.
    pub population: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceFacts {
    pub name: String,
    pub node: String,
    /// The provider that captured the rows.
    pub provider: String,
    /// Events that this provider can't see, or why a better provider was not used; empty if there is nothing to note.
    pub note: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFacts {
    pub rows: u64,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub table: String,
    /// Number of lost rows; None if it is not known.
    pub rows: Option<u64>,
    pub reason: String,
}

impl Manifest {
    /// Makes the manifest of a recording that begins now in this process.
    pub fn new(title: &str, command: &str) -> Manifest {
        let clock = Clock::measure();
        Manifest {
            format: FORMAT,
            id: read_line("/proc/sys/kernel/random/uuid"),
            title: title.to_string(),
            question: None,
            command: command.to_string(),
            helenus: env!("CARGO_PKG_VERSION").to_string(),
            state: State::Writing,
            writer_pid: std::process::id(),
            created_ns: clock.now_ns(),
            closed_ns: None,
            clock: clock.facts(),
            host: Host {
                name: read_line("/proc/sys/kernel/hostname"),
                kernel: read_line("/proc/sys/kernel/osrelease"),
                arch: std::env::consts::ARCH.to_string(),
                cpus: std::thread::available_parallelism().map_or(1, usize::from),
            },
            nodes: Vec::new(),
            load: None,
            sources: Vec::new(),
            tables: BTreeMap::new(),
            losses: Vec::new(),
            merged: Vec::new(),
            kept: None,
            remarks: Vec::new(),
        }
    }

    /// When the recording was closed; for a growing recording the current time on its clock; None for a salvaged one.
    pub fn end_ns(&self) -> Option<i64> {
        if self.state == State::Writing { Some(self.clock().now_ns()) } else { self.closed_ns }
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock::from_facts(&self.clock)
    }

    /// Reads the manifest of the recording in a folder, in whatever state the recording is.
    pub fn of(folder: &Path) -> Result<Manifest, Error> {
        Manifest::read(folder).map(|(_, manifest)| manifest)
    }

    /// Reads the manifest of the recording in `folder`. A damaged one is replaced as [`Manifest::read_or_made`] does.
    pub(crate) fn read(path: &Path) -> Result<(Folder, Manifest), Error> {
        let not_a_recording = |reason: String| Error::NotARecording { path: path.to_path_buf(), reason };
        if !path.exists() {
            return Err(Error::Missing(path.to_path_buf()));
        }
        if !path.is_dir() {
            return Err(not_a_recording("it is a file".into()));
        }
        let folder = Folder::open(path)?;
        let manifest = Manifest::read_or_made(&folder)?;
        Ok((folder, manifest))
    }

    /// Reads the manifest of a recording. If it is damaged and there are tables, a manifest is made of the other files.
    /// Nothing is written.
    pub(crate) fn read_or_made(folder: &Folder) -> Result<Manifest, Error> {
        match Manifest::read_in(folder) {
            Err(error) if folder.has(FILE_NAME) && !matches!(error, Error::Newer { .. }) => {
                made::of(folder, &error.why()).ok_or(error)
            }
            read => read,
        }
    }

    /// The losses of manifests that were made because the real ones can't be read.
    pub(crate) fn made_because(&self) -> impl Iterator<Item = Loss> {
        let is_of_it = |loss: &&Loss| loss.table == made::TABLE && !loss.reason.contains(SET_ASIDE);
        self.losses.iter().filter(is_of_it).cloned()
    }

    /// Reads the manifest of the recording in a folder that is open.
    pub(crate) fn read_in(folder: &Folder) -> Result<Manifest, Error> {
        let path = folder.path();
        let not_a_recording = |reason: String| Error::NotARecording { path: path.to_path_buf(), reason };
        let text = match folder.read(FILE_NAME, MOST_BYTES) {
            Ok(text) => text,
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Err(not_a_recording("it has no manifest.json".into()));
            }
            Err(error) => return Err(error),
        };
        let bad = |error: serde_json::Error| not_a_recording(format!("its manifest.json is damaged ({error})"));
        // The format is checked first, because a newer manifest may have another structure.
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(bad)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            None => return Err(not_a_recording("its manifest.json names no format".into())),
            Some(found) if found > u64::from(FORMAT) => {
                let found = u32::try_from(found).unwrap_or(u32::MAX);
                return Err(Error::Newer { path: path.to_path_buf(), found, known: FORMAT });
            }
            Some(_) => {}
        }
        serde_json::from_value(value).map_err(bad)
    }

    pub(crate) fn write(&self, folder: &Folder) -> Result<(), Error> {
        folder.replace(FILE_NAME, "manifest.next", &self.text(folder)?)
    }

    /// Writes the last manifest of a recording, in the disk space that was reserved for it.
    pub(crate) fn write_last(&self, folder: &Folder) -> Result<(), Error> {
        let text = self.text(folder)?;
        // If the text is larger, or the reserve is used up, other disk space is used.
        folder.replace_within(FILE_NAME, RESERVE, &text).or_else(|_| {
            remove_reserve(folder)?;
            folder.replace(FILE_NAME, "manifest.next", &text)
        })
    }

    fn text(&self, folder: &Folder) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self).map_err(|error| Error::NotARecording {
            path: folder.path().join(FILE_NAME),
            reason: format!("its manifest cannot be written as JSON ({error})"),
        })
    }
}

/// Reserves disk space for the last manifest, which must report the rows that a full disk has cost.
///
/// # Errors
/// [`Error::DiskFull`] if the disk has no space for the reserve: such a recording could not even report its
/// losses.
pub(crate) fn make_reserve(folder: &Folder) -> Result<(), Error> {
    let mut file = folder.create_file(RESERVE)?;
    let reserved = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE_BYTES as u64);
    let reserved: std::io::Result<()> = match reserved {
        Ok(()) => Ok(()),
        // Not every file system can reserve space.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => file.write_all(&[0; RESERVE_BYTES]),
        Err(error) => Err(error.into()),
    };
    reserved.map_err(Error::io("write", &folder.path().join(RESERVE)))
}

pub(crate) fn remove_reserve(folder: &Folder) -> Result<(), Error> {
    folder.remove_all(RESERVE)
}

fn read_line(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_string()
}
