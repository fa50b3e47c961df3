//! Temporary folders: private, away from the disks of nodes where that is known, and locked as long as their process lives. The
//! next process removes the folders of those that were killed.

use anyhow::{Context, Result};
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags, flock, open};
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// What a name of one of these folders begins with.
const PREFIX: &str = "helenus-";
/// The purposes of the folders.
const PURPOSES: [&str; 5] = ["serve-", "top-", "look-", "files-", "questions-"];
/// The most entries that a search for folders of killed processes visits.
const MOST_ENTRIES: usize = 20_000;
/// The most files of a process that are examined.
const MOST_FILES: usize = 10_000;
const PRIVATE: u32 = 0o700;
/// File systems without a disk: tmpfs and ramfs.
const IN_MEMORY: [libc::c_long; 2] = [libc::TMPFS_MAGIC, 0x8584_58f6];

/// What a folder is for, which is in its name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Serve,
    Top,
    Look,
    Files,
    Questions,
}

/// A temporary folder, which is deleted with this value.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    /// The lock that tells other processes that this one lives.
    _lock: File,
}

impl Scratch {
    /// Creates a folder, and removes those that killed processes of this user have left.
    pub(crate) fn new(purpose: Purpose) -> Result<Scratch> {
        let places = places();
        places.iter().for_each(|place| remove_left(place));
        Scratch::within(&chosen(places), purpose)
    }

    fn within(place: &Path, purpose: Purpose) -> Result<Scratch> {
        let prefix = format!("{PREFIX}{}", PURPOSES[purpose as usize]);
        let failed = || format!("cannot make a temporary folder in {}", place.display());
        loop {
            let private = Permissions::from_mode(PRIVATE);
            let folder = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir_in(place);
            let folder = folder.with_context(failed)?;
            let lock = File::open(folder.path()).with_context(failed)?;
            // Where a file system has no locks, another process can't take one either, and removes nothing.
            let _ = flock(&lock, FlockOperation::LockExclusive);
            // Another process may have taken it for one that was left, before it was locked.
            let own = lock.metadata().with_context(failed)?;
            if folder.path().symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()))
            {
                return Ok(Scratch { folder, _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it, which is deleted with the returned value.
    pub(crate) fn inner(&self) -> std::io::Result<TempDir> {
        tempfile::Builder::new().permissions(Permissions::from_mode(PRIVATE)).tempdir_in(self.path())
    }

    /// Deletes it.
    pub(crate) fn close(self) -> std::io::Result<()> {
        self.folder.close()
    }
}

/// The folder for the intermediate results of all questions of this process, which is deleted when the process ends; None if there is
/// no place for it.
pub(crate) fn of_questions() -> Option<&'static Scratch> {
    static SCRATCH: OnceLock<Option<Scratch>> = OnceLock::new();
    extern "C" fn remove() {
        if let Some(Some(scratch)) = SCRATCH.get() {
            let _ = std::fs::remove_dir_all(scratch.path());
        }
    }
    let made = SCRATCH.get_or_init(|| {
        let scratch = Scratch::new(Purpose::Questions).ok()?;
        // SAFETY: the function uses nothing that is gone when the process ends.
        unsafe { libc::atexit(remove) };
        Some(scratch)
    });
    made.as_ref()
}

/// Removes the folders of processes that do not live any more.
fn remove_left(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        let name = entry.file_name();
        let purpose = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if !purpose.is_some_and(|purpose| PURPOSES.iter().any(|known| purpose.starts_with(known))) {
            continue;
        }
        let path = entry.path();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(lock) = open(&path, flags, Mode::empty()) else { continue };
        let is_own = rustix::fs::fstat(&lock).is_ok_and(|facts| facts.st_uid == own_user());
        if is_own && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // What can't be removed now stays for the next process.
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

fn own_user() -> u32 {
    // SAFETY: no pointers.
    unsafe { libc::geteuid() }
}

/// The folders that temporary folders may be in, the best first.
fn places() -> Vec<PathBuf> {
    // What the user names is taken, and nothing else.
    if let Some(named) = std::env::var_os("TMPDIR").filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    let all = [Some(PathBuf::from("/var/tmp")), cache, Some(PathBuf::from("/tmp"))];
    all.into_iter().flatten().filter(|place| place.is_absolute()).collect()
}

/// The first place on a disk that no node has its data on; otherwise the first on a disk.
fn chosen(places: Vec<PathBuf>) -> PathBuf {
    let first = places.first().cloned().unwrap_or_else(std::env::temp_dir);
    if places.len() < 2 {
        return first;
    }
    let usable: Vec<(PathBuf, u64)> = places.into_iter().filter_map(on_a_disk).collect();
    let is_one_disk = usable.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let of_nodes = if is_one_disk { Vec::new() } else { disks_of_nodes() };
    let apart = usable.iter().find(|(_, disk)| !of_nodes.contains(disk));
    apart.or(usable.first()).map_or(first, |(place, _)| place.clone())
}

/// A folder that can be written and that is not in memory, with its device.
fn on_a_disk(place: PathBuf) -> Option<(PathBuf, u64)> {
    let facts = place.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    rustix::fs::accessat(rustix::fs::CWD, &place, Access::WRITE_OK, AtFlags::EACCESS).ok()?;
    let kind = rustix::fs::statfs(&place).ok()?.f_type;
    (!IN_MEMORY.contains(&kind)).then_some((place, facts.dev()))
}

/// Devices that the Cassandra nodes of this machine have SSTables and commit logs on, as far as this user may read that.
fn disks_of_nodes() -> Vec<u64> {
    let mut disks = Vec::new();
    let Ok(processes) = std::fs::read_dir("/proc") else { return disks };
    for process in processes.flatten().map(|entry| entry.path()) {
        if std::fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == "java")
            && let Ok(files) = std::fs::read_dir(process.join("fd"))
        {
            let of_node = files.take(MOST_FILES).flatten().map(|file| file.path()).filter(|file| is_of_node(file));
            disks.extend(of_node.filter_map(|file| Some(file.metadata().ok()?.dev())));
        }
    }
    disks.sort_unstable();
    disks.dedup();
    disks
}

fn is_of_node(file: &Path) -> bool {
    let Ok(target) = std::fs::read_link(file) else { return false };
    let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with("-Data.db") || name.starts_with("CommitLog-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.join("live.helenus/requests")).unwrap();
            std::fs::write(path.join("live.helenus/requests/part"), "rows").unwrap();
            path
        };
        let left = ["helenus-serve-a1", "helenus-top-b2", "helenus-questions-c3"].map(make);
        let others = ["helenus-freeze-a1", "serve-a1", "helenus-serve.helenus"].map(make);
        let linked = place.path().join("helenus-serve-link");
        std::os::unix::fs::symlink(&others[1], &linked).unwrap();
        let alive = Scratch::within(place.path(), Purpose::Serve).unwrap();
        std::fs::write(alive.path().join("part"), "rows").unwrap();
        remove_left(place.path());
        assert!(left.iter().all(|path| !path.exists()));
        assert!(others.iter().all(|path| path.join("live.helenus/requests/part").exists()));
        assert!(linked.symlink_metadata().is_ok() && alive.path().join("part").exists());
        assert_eq!(alive.path().metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
        let path = alive.path().to_path_buf();
        drop(alive);
        assert!(!path.exists());
    }

    #[test]
    fn memory_is_no_disk() {
        let shared = Path::new("/dev/shm");
        if shared.is_dir() {
            assert_eq!(on_a_disk(shared.to_path_buf()), None);
        }
        assert_eq!(on_a_disk(PathBuf::from("/no/such/folder")), None);
    }
}
