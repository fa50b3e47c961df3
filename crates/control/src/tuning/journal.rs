//! What was changed on which node, written down before it is: the file outlives whoever changed it.

use super::{Measured, Setting, Tuning};
use crate::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const FORMAT: u32 = 1;

/// A change of one setting of one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub(super) format: u32,
    pub id: String,
    /// As it was named when it was changed.
    pub node: String,
    /// The process that was changed: with another one the change is gone.
    pub pid: i32,
    pub start_ticks: u64,
    pub host_id: Option<String>,
    #[serde(flatten)]
    pub setting: Setting,
    pub before: Value,
    /// What the schema had by then.
    pub schema: Option<Value>,
    pub wanted: Value,
    /// As the node reads it; none until it is known that the node has taken it.
    pub set: Option<Value>,
    /// Since the Unix epoch.
    pub made_ms: u64,
    /// 0 for none.
    pub lease_ms: u64,
    /// When the lease began anew, since the Unix epoch; none where it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_ms: Option<u64>,
    /// By node: its figures before the change, where they were to be compared.
    #[serde(default)]
    pub figures: BTreeMap<String, Measured>,
}

impl Entry {
    pub(super) fn new(node: &str, (pid, start_ticks): (i32, u64), setting: Setting, wanted: Value) -> Entry {
        let made_ms = now_ms();
        Entry {
            format: FORMAT,
            // Of one process there is one entry in a millisecond at most: each waits for the disk.
            id: format!("{made_ms}-{}", std::process::id()),
            node: node.to_string(),
            pid,
            start_ticks,
            host_id: None,
            setting,
            before: Value::Null,
            schema: None,
            wanted,
            set: None,
            made_ms,
            lease_ms: 0,
            renewed_ms: None,
            figures: BTreeMap::new(),
        }
    }

    /// Whether its lease has ended at that time.
    pub(super) fn has_lapsed(&self, now_ms: u64) -> bool {
        self.lease_ms > 0 && now_ms > self.renewed_ms.unwrap_or(self.made_ms).saturating_add(self.lease_ms)
    }

    /// What an agent holds that no journal here has: it was set from elsewhere, or the journal is lost.
    pub(super) fn of_agent(node: &str, (pid, start_ticks): (i32, u64), tuning: Tuning) -> Entry {
        Entry {
            id: tuning.id,
            before: tuning.before,
            schema: tuning.schema,
            set: Some(tuning.set.clone()),
            lease_ms: tuning.lease_ms,
            made_ms: 0,
            ..Entry::new(node, (pid, start_ticks), tuning.setting, tuning.set)
        }
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The changes that are not known to be undone: a file for each, private to the user.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// Below the folder in which helenus keeps its state.
    pub fn new(state: &Path) -> Journal {
        Journal { folder: state.join("tunings") }
    }

    /// Writes an entry anew. When this returns it is on the disk, whole.
    pub fn write(&self, entry: &Entry) -> Result<(), Error> {
        let path = self.path(&entry.id);
        let write = || -> std::io::Result<()> {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer_pretty(&mut file, entry)?;
            file.flush()?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|source| Error::Journal { action: "write", path: path.clone(), source })
    }

    pub fn remove(&self, entry: &Entry) -> Result<(), Error> {
        let path = self.path(&entry.id);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::Journal { action: "remove from", path, source })
            }
            _ => Ok(()),
        }
    }

    /// All of them, the oldest first.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let unread = |source| Error::Journal { action: "read", path: self.folder.clone(), source };
        let folder = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder.map_err(unread)?,
        };
        let mut entries = Vec::new();
        for file in folder {
            let path = file.map_err(unread)?.path();
            // What a killed process was about to write has another name.
            if path.extension().is_some_and(|extension| extension == "json") {
                entries.extend(read(&path)?);
            }
        }
        entries.sort_by(|a, b| (a.made_ms, &a.id).cmp(&(b.made_ms, &b.id)));
        Ok(entries)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// None where it has been removed meanwhile.
fn read(path: &Path) -> Result<Option<Entry>, Error> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
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
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    fn entry() -> Entry {
        Entry {
            before: json!({"class": "tiered"}),
            ..Entry::new("127.0.0.1", (41, 7), Setting::compaction("shop.orders"), json!({"class": "leveled"}))
        }
    }

    #[test]
    fn an_entry_comes_back_as_it_was_written_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::new(&folder.path().join("state"));
        assert_eq!(journal.entries().unwrap(), []);
        let mut entry = entry();
        journal.write(&entry).unwrap();
        entry.set = Some(json!({"class": "org.leveled"}));
        journal.write(&entry).unwrap();
        // As a process leaves it that is killed while it writes.
        std::fs::write(journal.folder.join(".tmpAbC"), "{").unwrap();
        assert_eq!(journal.entries().unwrap(), std::slice::from_ref(&entry));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&journal.folder), mode(&journal.path(&entry.id))), (0o700, 0o600));
        journal.remove(&entry).unwrap();
        journal.remove(&entry).unwrap();
        assert_eq!(journal.entries().unwrap(), []);
    }

    #[test]
    fn a_damaged_entry_is_named_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::new(folder.path());
        journal.write(&entry()).unwrap();
        let path = journal.path("other");
        std::fs::write(&path, "{").unwrap();
        let error = journal.entries().unwrap_err().to_string();
        assert!(error.contains("other.json is damaged") && error.contains("by hand"), "{error}");
        assert!(path.exists());
    }
}
