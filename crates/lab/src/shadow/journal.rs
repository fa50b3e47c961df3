//! What a try has made, written down before it is made: the file outlives whoever made it.

use super::Error;
use helenus_cassandra::process::{self, Process};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const FORMAT: u32 = 1;

/// What is being done; all before it may be there, and nothing after it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The folder is made.
    Begin,
    /// Cassandra makes hard links of the table's SSTables.
    Snapshot,
    /// Ours are made of them.
    Link,
    /// Cassandra's are removed.
    Clear,
    /// The throwaway nodes are started, with the table.
    Start,
    /// They take the SSTables.
    Load,
    /// All but a sample of each SSTable is removed.
    Cut,
    /// They compact.
    Settle,
    /// They are read.
    Read,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub(super) format: u32,
    pub id: String,
    /// The helenus that does it: pid and start.
    pub runner: (i32, u64),
    pub step: Step,
    /// The node that is asked about, as it was named.
    pub node: String,
    /// Its CQL address.
    pub address: Option<SocketAddr>,
    /// Its process: pid and start.
    pub process: (i32, u64),
    pub keyspace: String,
    pub table: String,
    /// Where its data is, as this machine sees it.
    pub data: Vec<PathBuf>,
    /// Of the shadows.
    pub folder: PathBuf,
    /// Names of the throwaway clusters, whether they were started or not.
    pub clusters: Vec<String>,
    /// Since the Unix epoch.
    pub begun_ms: u64,
}

impl Entry {
    pub(super) fn new() -> Entry {
        let pid = std::process::id() as i32;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Entry {
            format: FORMAT,
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

    /// Whether the helenus that began it is still at it.
    pub fn is_running(&self) -> bool {
        Process::find(self.runner.0, self.runner.1).is_some()
    }
}

/// The tries that are not known to be cleaned up: a file for each, private to the user.
#[derive(Debug, Clone)]
pub struct TryJournal {
    folder: PathBuf,
}

impl TryJournal {
    /// Below the folder in which helenus keeps its state.
    pub fn new(state: &Path) -> TryJournal {
        TryJournal { folder: state.join("tries") }
    }

    /// Writes an entry anew. When this returns it is on the disk, whole.
    pub(super) fn write(&self, entry: &Entry) -> Result<(), Error> {
        let path = self.path(entry);
        let write = || -> std::io::Result<()> {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            // Beside it under a name that is not read; what a killed process leaves of it is taken with the entry.
            let new = path.with_extension("new");
            let mut file = File::create(&new)?;
            serde_json::to_writer_pretty(&mut file, entry)?;
            file.flush()?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|source| Error::Journal { action: "write", path: path.clone(), source })
    }

    pub(super) fn remove(&self, entry: &Entry) -> Result<(), Error> {
        let path = self.path(entry);
        for path in [path.with_extension("new"), path] {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(Error::Journal { action: "remove from", path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All of them, the oldest first.
    ///
    /// # Errors
    /// [`Error::Journal`], [`Error::Damaged`].
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let unread = |source| Error::Journal { action: "read", path: self.folder.clone(), source };
        let folder = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder.map_err(unread)?,
        };
        let mut entries = Vec::new();
        for file in folder {
            let path = file.map_err(unread)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                entries.extend(read(&path)?);
            }
        }
        entries.sort_by(|a, b| (a.begun_ms, &a.id).cmp(&(b.begun_ms, &b.id)));
        Ok(entries)
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        self.folder.join(format!("{}.json", entry.id))
    }
}

/// None where it has been removed meanwhile.
fn read(path: &Path) -> Result<Option<Entry>, Error> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| Error::Journal { action: "read", path: path.to_path_buf(), source })?,
    };
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let entry: Entry = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    match entry.format {
        FORMAT => Ok(Some(entry)),
        other => Err(damaged(format!("its format is {other}, this program reads {FORMAT}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_as_it_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let journal = TryJournal::new(folder.path());
        assert_eq!(journal.entries().unwrap(), []);
        let mut entry = Entry { keyspace: "shop".into(), table: "orders".into(), ..Entry::new() };
        assert!(entry.is_running());
        journal.write(&entry).unwrap();
        entry.step = Step::Link;
        journal.write(&entry).unwrap();
        // As a process leaves it that is killed while it writes.
        std::fs::write(journal.path(&entry).with_extension("new"), "{").unwrap();
        assert_eq!(journal.entries().unwrap(), std::slice::from_ref(&entry));
        journal.remove(&entry).unwrap();
        assert_eq!(std::fs::read_dir(&journal.folder).unwrap().count(), 0);
        entry.runner.1 += 1;
        assert!(!entry.is_running(), "another process has its pid");
        std::fs::write(journal.path(&entry), "{").unwrap();
        assert!(journal.entries().unwrap_err().to_string().contains("is damaged"));
    }
}
