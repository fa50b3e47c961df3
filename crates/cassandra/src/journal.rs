//! The journal: helenus records what it is about to create or change before it acts. The files outlive the process, so
//! that a later one can list the changes and restore the former state.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::foreign::{open_regular, read_at_most};

const FORMAT: u32 = 1;
/// The folder may be another user's, whose helenus runs as root (`sudo -E`).
const LONGEST_ENTRY_BYTES: u64 = 16 << 20;

/// The content of a journal's entry.
pub trait Journaled: Serialize + DeserializeOwned {
    /// The folder of its files, below helenus's state folder.
    const FOLDER: &'static str;
    /// Advice to the user about a damaged entry.
    const WAY_OUT: &'static str;

    /// The name of its file.
    fn id(&self) -> String;
}

/// Why an entry could not be written, or read again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    #[error("cannot {action} the journal {}: {source}; nothing is done without it", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged ({why}); {way_out}", path.display())]
    Damaged { path: PathBuf, why: String, way_out: &'static str },
}

/// A folder with a file for each, private to the user.
#[derive(Debug)]
pub struct Journal<T> {
    folder: PathBuf,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Journal<T> {
    fn clone(&self) -> Self {
        Self { folder: self.folder.clone(), of: PhantomData }
    }
}

/// The form of an entry in its file.
#[derive(Serialize)]
struct Written<'a, T> {
    format: u32,
    #[serde(flatten)]
    entry: &'a T,
}

impl<T: Journaled> Journal<T> {
    /// Below the folder in which helenus keeps its state; made with the first entry.
    #[must_use]
    pub fn within(state: &Path) -> Self {
        Self { folder: state.join(T::FOLDER), of: PhantomData }
    }

    /// Writes an entry, or replaces it. When this returns, the whole entry is on the disk.
    ///
    /// # Errors
    /// [`JournalError::File`]; then the former entry is still there.
    pub fn write(&self, entry: &T) -> Result<(), JournalError> {
        let persist = |file: tempfile::NamedTempFile, path: &Path| file.persist(path).map_err(|error| error.error);
        self.put(entry, persist).map_err(self.failed("write", &self.path(entry)))
    }

    /// Writes a new entry like [`Journal::write`]; false if it exists, and nothing is written then.
    ///
    /// # Errors
    /// [`JournalError::File`].
    pub fn create(&self, entry: &T) -> Result<bool, JournalError> {
        let persist =
            |file: tempfile::NamedTempFile, path: &Path| file.persist_noclobber(path).map_err(|error| error.error);
        match self.put(entry, persist) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.failed("write", &self.path(entry))(error)),
        }
    }

    fn put(
        &self,
        entry: &T,
        persist: impl FnOnce(tempfile::NamedTempFile, &Path) -> io::Result<File>,
    ) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // Written under a temporary name that is not read; files left by a killed process are removed with the entry.
        let mut file = tempfile::Builder::new().prefix(&unfinished(entry)).tempfile_in(&self.folder)?;
        file.write_all(&serde_json::to_vec_pretty(&Written { format: FORMAT, entry })?)?;
        file.as_file().sync_all()?;
        persist(file, &self.path(entry))?;
        self.sync()
    }

    /// Removes an entry, once its things are gone or restored. A missing entry is no error.
    ///
    /// # Errors
    /// [`JournalError::File`].
    pub fn remove(&self, entry: &T) -> Result<(), JournalError> {
        let failed = || self.failed("remove from", &self.path(entry));
        let unfinished = unfinished(entry);
        let random = |path: &Path| Some(path.file_name()?.to_str()?.strip_prefix(&unfinished)?.to_string());
        for path in self.files()? {
            if random(&path).is_some_and(|random| !random.contains('.')) {
                remove(&path).map_err(failed())?;
            }
        }
        remove(&self.path(entry)).map_err(failed())?;
        if self.folder.exists() { self.sync().map_err(failed()) } else { Ok(()) }
    }

    /// All entries, sorted by name.
    ///
    /// # Errors
    /// [`JournalError::File`], [`JournalError::Damaged`].
    pub fn entries(&self) -> Result<Vec<T>, JournalError> {
        let mut files = self.files()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        // Skip an entry that was removed meanwhile.
        files.iter().filter_map(|path| self.read(path).transpose()).collect()
    }

    /// Whether there is an entry of that name.
    pub fn has(&self, entry: &T) -> bool {
        self.path(entry).exists()
    }

    /// The entry's file.
    pub fn path(&self, entry: &T) -> PathBuf {
        self.folder.join(format!("{}.json", entry.id()))
    }

    fn files(&self) -> Result<Vec<PathBuf>, JournalError> {
        let failed = || self.failed("read", &self.folder);
        match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            files => {
                files.and_then(|files| files.map(|file| Ok(file?.path())).collect::<io::Result<_>>()).map_err(failed())
            }
        }
    }

    fn read(&self, path: &Path) -> Result<Option<T>, JournalError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let bytes = match open_regular(path).and_then(|file| read_at_most(file, LONGEST_ENTRY_BYTES)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(self.failed("read", path))?,
        };
        let damaged = |why: String| JournalError::Damaged { path: path.to_path_buf(), why, way_out: T::WAY_OUT };
        let parsed = |error: serde_json::Error| damaged(error.to_string());
        match serde_json::from_slice(&bytes).map_err(parsed)? {
            Format { format: FORMAT } => serde_json::from_slice(&bytes).map(Some).map_err(parsed),
            Format { format } => Err(damaged(format!("its format is {format}, and this program reads {FORMAT}"))),
        }
    }

    /// Makes written or removed files survive a power failure.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn failed(&self, action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError + use<T> {
        let path = path.to_path_buf();
        move |source| JournalError::File { action, path, source }
    }
}

fn unfinished<T: Journaled>(entry: &T) -> String {
    format!(".{}.", entry.id())
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Change {
        name: String,
        before: Vec<(i32, u64)>,
    }

    impl Journaled for Change {
        const FOLDER: &'static str = "changes";
        const WAY_OUT: &'static str = "look into it";

        fn id(&self) -> String {
            self.name.clone()
        }
    }

    fn change(name: &str) -> Change {
        Change { name: name.to_string(), before: vec![(7, u64::MAX)] }
    }

    #[test]
    fn an_entry_comes_back_as_it_was_written_last_and_is_private() {
        let state = tempfile::tempdir().unwrap();
        let journal: Journal<Change> = Journal::within(&state.path().join("state"));
        assert_eq!(journal.entries().unwrap(), []);
        let mut first = change("1");
        journal.remove(&first).unwrap();
        journal.write(&change("2")).unwrap();
        journal.write(&first).unwrap();
        first.before.push((-1, 0));
        journal.write(&first).unwrap();
        assert_eq!(journal.entries().unwrap(), [first.clone(), change("2")]);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&journal.folder), mode(&journal.path(&first))), (0o700, 0o600));
        // A leftover of a process that was killed while writing.
        std::fs::write(journal.folder.join(".1.aBcDeF"), "{").unwrap();
        assert_eq!(journal.entries().unwrap().len(), 2);
        journal.remove(&first).unwrap();
        journal.remove(&first).unwrap();
        assert!(!journal.has(&first));
        journal.remove(&change("2")).unwrap();
        assert_eq!(std::fs::read_dir(&journal.folder).unwrap().count(), 0);
    }

    #[test]
    fn what_is_there_is_not_created_again() {
        let state = tempfile::tempdir().unwrap();
        let journal: Journal<Change> = Journal::within(state.path());
        assert!(journal.create(&change("1")).unwrap());
        assert!(!journal.create(&Change { before: Vec::new(), ..change("1") }).unwrap());
        assert_eq!(journal.entries().unwrap(), [change("1")], "what was before stays");
        assert_eq!(std::fs::read_dir(&journal.folder).unwrap().count(), 1);
    }

    #[test]
    fn an_entry_that_is_no_regular_file_is_not_read() {
        let state = tempfile::tempdir().unwrap();
        let journal: Journal<Change> = Journal::within(state.path());
        journal.write(&change("1")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", journal.folder.join("2.json")).unwrap();
        let error = journal.entries().unwrap_err().to_string();
        assert!(error.contains("cannot read the journal") && error.contains("2.json"), "{error}");
    }

    #[test]
    fn a_damaged_entry_is_named_and_kept() {
        let state = tempfile::tempdir().unwrap();
        let journal: Journal<Change> = Journal::within(state.path());
        journal.write(&change("1")).unwrap();
        for (text, why) in [
            ("{", "EOF"),
            (r#"{"name": "2", "before": []}"#, "missing field `format`"),
            (r#"{"format": 2}"#, "its format is 2"),
            (r#"{"format": 1, "name": "2"}"#, "missing field `before`"),
        ] {
            let path = journal.folder.join("2.json");
            std::fs::write(&path, text).unwrap();
            let error = journal.entries().unwrap_err().to_string();
            assert!(error.contains("2.json is damaged") && error.contains(why), "{error}");
            assert!(error.ends_with("look into it") && path.exists(), "{error}");
        }
    }
}
