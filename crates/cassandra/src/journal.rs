//! The journal: helenus records what it is about to create or change before it acts. The files outlive the process, so
//! that a later one can list the changes and restore the former state.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    #[error("{} can't be read and is skipped ({why}); {way_out}", path.display())]
    Damaged { path: PathBuf, why: String, way_out: &'static str },
}

/// The entries that this process could not read. A command says so once, at its end, whichever journal it read.
static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Why entries were skipped by [`Journal::entries`] in this process.
pub fn skipped() -> Vec<String> {
    SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

    /// All entries that can be read, sorted by name. The others are among [`skipped`] from then on, and keep nothing from
    /// being undone.
    ///
    /// # Errors
    /// [`JournalError::File`] if the folder can't be read.
    pub fn entries(&self) -> Result<Vec<T>, JournalError> {
        let mut files = self.files()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut entries = Vec::new();
        for path in files {
            match read(&path) {
                // Another process has just removed it.
                Ok(None) => {}
                Ok(Some(entry)) => entries.push(entry),
                Err(error) => {
                    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
                    let text = error.to_string();
                    if !skipped.contains(&text) {
                        skipped.push(text);
                    }
                }
            }
        }
        Ok(entries)
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

    /// Makes written or removed files survive a power failure.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn failed(&self, action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError + use<T> {
        let path = path.to_path_buf();
        move |source| JournalError::File { action, path, source }
    }
}

/// Reads an entry; None if the file does not exist.
fn read<T: Journaled>(path: &Path) -> Result<Option<T>, JournalError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let damaged = |why: String| JournalError::Damaged { path: path.to_path_buf(), why, way_out: T::WAY_OUT };
    let bytes = match open_regular(path).and_then(|file| read_at_most(file, LONGEST_ENTRY_BYTES)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| damaged(error.to_string()))?,
    };
    let parsed = |error: serde_json::Error| damaged(error.to_string());
    match serde_json::from_slice(&bytes).map_err(parsed)? {
        Format { format: FORMAT } => serde_json::from_slice(&bytes).map(Some).map_err(parsed),
        Format { format } => Err(damaged(format!("its format is {format}, and this program reads {FORMAT}"))),
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
    fn an_entry_that_cannot_be_read_is_said_and_kept_and_the_others_are_read() {
        let state = tempfile::tempdir().unwrap();
        let journal: Journal<Change> = Journal::within(state.path());
        let path = journal.folder.join("2.json");
        journal.write(&change("1")).unwrap();
        journal.write(&change("3")).unwrap();
        let written = |text: &'static str| move |path: &Path| std::fs::write(path, text).unwrap();
        type Damage = Box<dyn Fn(&Path)>;
        let kinds: [(Damage, &str); 9] = [
            (Box::new(written("")), "EOF"),
            (Box::new(written("{")), "EOF"),
            (Box::new(written(r#"{"name": "2", "before": []}"#)), "missing field `format`"),
            (Box::new(written(r#"{"format": 2}"#)), "its format is 2"),
            (Box::new(written(r#"{"format": 1, "name": "2"}"#)), "missing field `before`"),
            (Box::new(|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()), "2.json"),
            (Box::new(|path| std::fs::create_dir(path).unwrap()), "2.json"),
            (
                Box::new(|path| {
                    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
                }),
                "2.json",
            ),
            (Box::new(|path| std::fs::File::create(path).unwrap().set_len(LONGEST_ENTRY_BYTES + 1).unwrap()), "2.json"),
        ];
        for (damage, why) in kinds {
            damage(&path);
            assert_eq!(journal.entries().unwrap(), [change("1"), change("3")], "{why}");
            let skipped = skipped();
            let said = skipped.iter().rfind(|text| text.contains(&path.display().to_string())).unwrap();
            assert!(said.contains(why) && said.ends_with("look into it"), "{said} does not name {why}");
            assert!(path.symlink_metadata().is_ok(), "{why}: it is kept");
            if path.symlink_metadata().unwrap().is_dir() {
                std::fs::remove_dir(&path).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}
