//! A lock, so that only one helenus at a time loads something into a JVM.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::Error;
use crate::target::Target;

const POLL_EVERY: Duration = Duration::from_millis(5);

/// The right to load something into one JVM, until this is dropped.
///
/// Files to load have the same name each time, so that two helenus at once would remove each other's file while the JVM reads
/// it. The lock is on the folder of the JVM in /proc: each JVM has one for as long as it lives, and nothing has to be written.
/// The kernel releases the lock when its holder ends.
#[derive(Debug)]
pub(super) struct AttachLock {
    folder: File,
}

impl AttachLock {
    /// Waits for the lock for `within` at most. A holder that keeps it longer hangs or is not a helenus: then the caller goes
    /// on without the lock.
    pub(super) fn take(target: &Target, within: Duration) -> Result<AttachLock, Error> {
        let path = format!("/proc/{}", target.pid);
        let failed = |source| Error::System { action: format!("open {path}"), source };
        let folder = File::open(&path).map_err(failed)?;
        let until = Instant::now() + within;
        while matches!(folder.try_lock(), Err(TryLockError::WouldBlock)) && Instant::now() < until {
            thread::sleep(POLL_EVERY);
        }
        Ok(AttachLock { folder })
    }

    /// Hands the lock to a process that keeps it after this one has ended.
    pub(super) fn share(&self) -> Option<File> {
        self.folder.try_clone().ok()
    }
}
