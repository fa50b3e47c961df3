//! The SSTables of a snapshot, and links to them in a folder of ours.
//!
//! Immutable components are hard-linked, which takes neither time nor space, or copied if the file system refuses links. The
//! small components that Cassandra may rewrite are always copied, so that no trial node can change a file of the node.

use super::Error;
use super::error::file;
use helenus_cassandra::Cancel;
use helenus_cassandra::foreign::open_regular_no_link;
use std::fs::{File, FileTimes};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Components that are never modified after they are written, by the end of their names.
const WRITTEN_ONCE: [&str; 8] = [
    "-Data.db",
    "-Index.db",
    "-Partitions.db",
    "-Rows.db",
    "-Filter.db",
    "-CompressionInfo.db",
    "-Digest.crc32",
    "-CRC.db",
];

/// The files of a table's snapshot on all disks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The table's definition at that time.
    pub schema: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    pub bytes: u64,
}

/// The folders of a table's snapshot: `DATA/KEYSPACE/TABLE-ID/snapshots/TAG`.
pub(super) fn folders(data: &[PathBuf], keyspace: &str, table: &str, tag: &str) -> Vec<PathBuf> {
    let is_of = |name: &str| name.rsplit_once('-').is_some_and(|(of, id)| of == table && id.len() == 32);
    let tables = data.iter().flat_map(|data| std::fs::read_dir(data.join(keyspace)).into_iter().flatten().flatten());
    tables
        .filter(|folder| folder.file_name().to_str().is_some_and(is_of))
        .map(|folder| folder.path().join("snapshots").join(tag))
        .filter(|folder| folder.is_dir())
        .collect()
}

impl Snapshot {
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn read(folders: &[PathBuf]) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::default();
        for folder in folders {
            for entry in std::fs::read_dir(folder).map_err(file("read the folder", folder))? {
                let entry = entry.map_err(file("read the folder", folder))?;
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                let facts = entry.metadata().map_err(file("look at", &path))?;
                if name == "schema.cql" {
                    snapshot.schema = Some(path);
                } else if facts.is_file() && name.contains('-') && !is_of_an_index(&name) {
                    snapshot.bytes += facts.len();
                    snapshot.files.push(path);
                }
            }
        }
        snapshot.files.sort();
        Ok(snapshot)
    }

    /// The number of its SSTables.
    pub fn sstables(&self) -> usize {
        self.files.iter().filter(|path| is_data(path)).count()
    }
}

/// Whether it is the one file that every SSTable has.
pub(super) fn is_data(path: &Path) -> bool {
    path.to_string_lossy().ends_with("-Data.db")
}

/// Components of SSTable-attached indexes (SAI, SASI); a trial node has no index.
fn is_of_an_index(name: &str) -> bool {
    name.contains("-SAI+") || name.contains("-SI_")
}

/// Links files into a folder of ours, or copies them. Returns how many bytes of immutable components were copied
/// instead of linked.
///
/// # Errors
/// [`Error::Unreadable`], [`Error::File`] (of kind not found if the file was removed), [`Error::Cancelled`].
pub(super) fn link(files: &[PathBuf], to: &Path, mut done: impl FnMut(usize), cancel: &Cancel) -> Result<u64, Error> {
    std::fs::create_dir_all(to).map_err(file("make the folder", to))?;
    let mut copied = 0;
    for (number, from) in files.iter().enumerate() {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let name = from.file_name().unwrap_or_default();
        let new = to.join(name);
        let may_link = WRITTEN_ONCE.iter().any(|end| name.to_string_lossy().ends_with(end));
        if !may_link {
            copy(from, &new)?;
        } else if let Err(error) = std::fs::hard_link(from, &new) {
            if error.kind() == ErrorKind::NotFound {
                return Err(file("link", from)(error));
            }
            // Links fail across file systems, and where only the owner may link.
            copied += copy(from, &new)?;
        }
        done(number + 1);
    }
    Ok(copied)
}

/// Copies a file with its times, because Cassandra takes the age of an SSTable from its data file. The copy shares
/// blocks if the file system supports it.
fn copy(from: &Path, to: &Path) -> Result<u64, Error> {
    // The node's user may have put something else there since it was listed.
    let mut source = open_regular_no_link(from).map_err(file("copy", from))?;
    let facts = source.metadata().map_err(file("look at", from))?;
    let made = File::options().write(true).create_new(true).mode(0o600).open(to);
    let mut copy = made.map_err(file("make", to))?;
    let bytes = std::io::copy(&mut source, &mut copy).map_err(file("copy", from))?;
    if let Ok(modified) = facts.modified() {
        copy.set_times(FileTimes::new().set_modified(modified)).map_err(file("date", to))?;
    }
    Ok(bytes)
}

/// The files that a stopped compaction leaves unchanged, in the form of [`Snapshot::read`] for a table's folder.
pub(super) fn of_table(data: &Path, keyspace: &str, table: &str) -> Result<Snapshot, Error> {
    let is_of = |name: &str| name.rsplit_once('-').is_some_and(|(of, id)| of == table && id.len() == 32);
    let folder = data.join(keyspace);
    let tables = std::fs::read_dir(&folder).map_err(file("read the folder", &folder))?.flatten();
    let folders: Vec<PathBuf> =
        tables.filter(|folder| folder.file_name().to_str().is_some_and(is_of)).map(|folder| folder.path()).collect();
    Snapshot::read(&folders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, SystemTime};

    fn snapshot(data: &Path) -> PathBuf {
        let folder = data.join("shop/orders-0123456789abcdef0123456789abcdef/snapshots/t");
        std::fs::create_dir_all(folder.join(".by_city")).unwrap();
        for name in [
            "nb-1-big-Data.db",
            "nb-1-big-Statistics.db",
            "nb-1-big-TOC.txt",
            "nb-1-big-SAI+aa+city+KeyRangeIterator.db",
            "manifest.json",
            "schema.cql",
            ".by_city/nb-1-big-Data.db",
        ] {
            std::fs::write(folder.join(name), "12345").unwrap();
        }
        folder
    }

    #[test]
    fn what_is_written_once_is_linked_and_the_rest_is_ours() {
        let data = tempfile::tempdir().unwrap();
        let folder = snapshot(data.path());
        std::fs::create_dir_all(data.path().join("shop/orders-x/snapshots/t")).unwrap();
        let found = folders(&[data.path().to_path_buf(), "/no/such/disk".into()], "shop", "orders", "t");
        assert_eq!(found, std::slice::from_ref(&folder));
        let snapshot = Snapshot::read(&found).unwrap();
        assert_eq!((snapshot.sstables(), snapshot.files.len(), snapshot.bytes), (1, 3, 15));
        assert_eq!(snapshot.schema, Some(folder.join("schema.cql")));
        let ours = data.path().join("ours");
        std::fs::create_dir(&ours).unwrap();
        let old = SystemTime::now() - Duration::from_secs(86_400);
        let statistics = File::options().write(true).open(folder.join("nb-1-big-Statistics.db")).unwrap();
        statistics.set_times(FileTimes::new().set_modified(old)).unwrap();
        let mut last = 0;
        assert_eq!(link(&snapshot.files, &ours, |done| last = done, &Cancel::new()).unwrap(), 0);
        assert_eq!(last, 3);
        let inode = |path: PathBuf| std::fs::metadata(path).unwrap().ino();
        assert_eq!(inode(folder.join("nb-1-big-Data.db")), inode(ours.join("nb-1-big-Data.db")));
        assert_ne!(inode(folder.join("nb-1-big-Statistics.db")), inode(ours.join("nb-1-big-Statistics.db")));
        let copied = std::fs::metadata(ours.join("nb-1-big-Statistics.db")).unwrap().modified().unwrap();
        assert_eq!(copied, old);
    }

    #[test]
    fn a_file_that_is_gone_is_named() {
        let data = tempfile::tempdir().unwrap();
        let folder = snapshot(data.path());
        let snapshot = Snapshot::read(std::slice::from_ref(&folder)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let error = link(&snapshot.files, &data.path().join("ours"), |_| {}, &Cancel::new()).unwrap_err();
        assert!(matches!(&error, Error::File { source, .. } if source.kind() == ErrorKind::NotFound), "{error}");
        assert!(Snapshot::read(&[folder]).is_err());
    }
}
