//! A temporary file in the target's /tmp, while it is loaded.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::channel::{Channel, open_at, rename_at, unlink_at};
use super::leftovers::Leftovers;
use super::lock::AttachLock;
use super::{ANSWER_BOUND, Error};

/// Distinguishes the files that this process writes at the same time.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A file that is removed when this is dropped or this process is killed.
#[derive(Debug)]
pub(super) struct LoadedFile {
    name: String,
    _leftovers: Leftovers,
    /// Declared after the file, because fields are dropped in this order.
    _lock: AttachLock,
}

impl LoadedFile {
    pub(super) fn path_in_target(&self) -> String {
        format!("/tmp/{}", self.name)
    }
}

/// Writes `bytes` as the target's user, with mode 0400, so that nobody else can read or replace the file. Waits while
/// another helenus loads something into the JVM. Equal bytes have equal names.
pub(super) fn write(channel: &Channel<'_>, what: &str, bytes: &[u8]) -> Result<LoadedFile, Error> {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let (stem, extension) = what.rsplit_once('.').unwrap_or((what, ""));
    // The pid keeps apart two JVMs that share a /tmp and are attached to at once.
    let name = format!(".helenus-{stem}-{}-{:016x}.{extension}", channel.target.inner_pid, hasher.finish());
    let folder = &channel.folders.tmp;
    let failed = |source| Error::System {
        action: format!("write the {stem} to /tmp/{name} for JVM {}", channel.target.pid),
        source,
    };
    let lock = AttachLock::take(channel.target, ANSWER_BOUND)?;
    // Renamed into place, so that a helenus without the lock never sees half a file.
    let own = NUMBER.fetch_add(1, Ordering::Relaxed);
    let unfinished = format!("{name}.{}-{own}", std::process::id());
    let leftovers =
        Leftovers::watch(folder.try_clone().map_err(failed)?, vec![unfinished.clone(), name.clone()], Some(&lock));
    // A file of this name was left by a helenus that was killed.
    let _ = unlink_at(folder, &unfinished);
    let file = create(folder, &unfinished).map_err(failed)?;
    File::from(file).write_all(bytes).map_err(failed)?;
    // An existing file of this name belongs to another helenus, or to one that was killed. If it belongs to another
    // user, the sticky /tmp prevents replacing it, and the error says so.
    rename_at(folder, &unfinished, &name).map_err(failed)?;
    Ok(LoadedFile { name, _leftovers: leftovers, _lock: lock })
}

fn create(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    open_at(folder.as_raw_fd(), name, libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_NOFOLLOW, 0o400)
}
