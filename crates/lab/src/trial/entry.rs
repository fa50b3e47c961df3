//! The journal entry of a try, which lists the things that it has created.

use helenus_cassandra::journal::Journaled;
use helenus_cassandra::process::{self, Process};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current step of a try. The results of earlier steps may exist; those of later steps do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The folder is being created.
    Begin,
    /// Cassandra makes hard links of the table's SSTables: a snapshot.
    Snapshot,
    /// Helenus makes hard links of the snapshot's files.
    Link,
    /// Cassandra's snapshot is being removed.
    Clear,
    /// The trial nodes are being started, with the table.
    Start,
    /// The trial nodes import the SSTables.
    Load,
    /// Everything but a sample of each SSTable is being removed.
    Trim,
    /// The trial nodes compact.
    Settle,
    /// The trial nodes are being read.
    Read,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    /// The helenus process of the try: pid and start time.
    pub runner: (i32, u64),
    pub step: Step,
    /// The user's node, as named in the command.
    pub node: String,
    /// CQL address of the node.
    pub address: Option<SocketAddr>,
    /// The node's process: pid and start time.
    pub process: (i32, u64),
    pub keyspace: String,
    pub table: String,
    /// The node's data folders, as seen by this process.
    pub data: Vec<PathBuf>,
    /// Folder of the trial nodes.
    pub folder: PathBuf,
    /// Names of the trial clusters, whether they have been started or not.
    pub clusters: Vec<String>,
    /// Start of the try, since the Unix epoch.
    pub begun_ms: u64,
}

impl Entry {
    pub(super) fn new() -> Entry {
        let pid = std::process::id() as i32;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Entry {
            id: format!("{begun_ms}-{pid}"),
            runner: (pid, process::stat(pid).map_or(0, |stat| stat.start_ticks)),
            step: Step::Begin,
            node: String::new(),
            address: None,
            process: (0, 0),
            keyspace: String::new(),
            table: String::new(),
            data: Vec::new(),
            folder: PathBuf::new(),
            clusters: Vec::new(),
            begun_ms,
        }
    }

    /// Name of the snapshot.
    pub fn tag(&self) -> String {
        format!("helenus-try-{}", self.id)
    }

    /// Whether the helenus process that began the try is still running it.
    pub fn is_running(&self) -> bool {
        Process::find(self.runner.0, self.runner.1).is_some()
    }
}

impl Journaled for Entry {
    const FOLDER: &'static str = "tries";
    const WAY_OUT: &'static str = "it says what a try has made: remove that by hand, then this file";

    /// The time comes first, so that ids sort by age.
    fn id(&self) -> String {
        self.id.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_cassandra::journal::Journal;

    #[test]
    fn an_entry_comes_back_as_it_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::within(folder.path());
        let mut entry = Entry { keyspace: "shop".into(), table: "orders".into(), ..Entry::new() };
        assert!(entry.is_running());
        journal.write(&entry).unwrap();
        entry.step = Step::Link;
        journal.write(&entry).unwrap();
        assert_eq!(journal.entries().unwrap(), std::slice::from_ref(&entry));
        entry.runner.1 += 1;
        assert!(!entry.is_running(), "another process has its pid");
    }
}
