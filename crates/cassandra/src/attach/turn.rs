//! One of ours at a time loads something into a JVM.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::Error;
use crate::target::Target;

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The turn at one JVM, until this is dropped.
///
/// What is loaded has the same name each time, so that two at once would remove each other's file while the JVM reads it.
/// The lock is on the folder in /proc of the JVM's process: it is there for as long as the JVM is, one for each, and
/// nothing has to be written. It ends with whoever holds it.
#[derive(Debug)]
pub(super) struct Turn {
    held: File,
}

impl Turn {
    /// Waits for it for `within` at the most. Whoever has it longer than that hangs, or is none of ours: it is gone without.
    pub(super) fn take(target: &Target, within: Duration) -> Result<Turn, Error> {
        let path = format!("/proc/{}", target.pid);
        let failed = |source| Error::System { action: format!("open {path}"), source };
        let held = File::open(&path).map_err(failed)?;
        let until = Instant::now() + within;
        while matches!(held.try_lock(), Err(TryLockError::WouldBlock)) && Instant::now() < until {
            thread::sleep(LOOK_EVERY);
        }
        Ok(Turn { held })
    }

    /// For a process that is to keep it when this one has ended.
    pub(super) fn share(&self) -> Option<File> {
        self.held.try_clone().ok()
    }
}
