//! Restores a pinned process when its lease ends, or when the helenus process that follows it has died.
//!
//! The guard is a process of its own, because the one that has pinned may exit at once, or be killed.

use super::journal::{Journals, Saved};
use super::restore::{Restored, unpin};
use super::{Error, Pin};
use helenus_cassandra::apart;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// How often the guard looks for the end of a lease or of the follower.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time between two tries to restore a process.
const RETRY_AFTER: Duration = Duration::from_secs(5);

static COMMAND: OnceLock<fn(i32, u64) -> Command> = OnceLock::new();

/// Sets the command that calls [`guard`] with a pid and the start time of that process. From then on each pin gets a guard.
pub fn guard_with(command: fn(i32, u64) -> Command) {
    // The first one stays.
    let _ = COMMAND.set(command);
}

/// Starts a guard. Returns false if this program has none.
pub(super) fn start(saved: &Saved) -> io::Result<bool> {
    let Some(command) = COMMAND.get() else { return Ok(false) };
    let mut command = command(saved.pid, saved.start_ticks);
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = apart(&mut command).spawn()?;
    // If no thread can be made, the ended guard is listed until this process ends.
    let _ = std::thread::Builder::new().name("pin-guard".to_string()).spawn(move || child.wait());
    Ok(true)
}

/// Waits until the threads of a process have to be restored, and restores them. None if somebody else has done it, does it,
/// or if they are to stay.
pub fn guard(journals: &Journals, pid: i32, start_ticks: u64) -> Result<Option<Restored>, Error> {
    let mut lock = None;
    loop {
        let Some(saved) = journals.find(pid, start_ticks)? else { return Ok(None) };
        if lock.is_none() {
            lock = Some(Lock::take(journals, &saved)?);
        }
        if !lock.as_ref().is_some_and(Lock::is_held) {
            return Ok(None);
        }
        if saved.stays() {
            return Ok(None);
        }
        let is_over = saved.is_lease_over() || !saved.is_kept && saved.follower().is_none();
        if is_over || saved.follower().is_none() && !saved.is_alive() {
            match unpin(journals, &saved) {
                Ok(restored) => return Ok(Some(restored)),
                // It is tried as long as the process lives: a thread may be in another cpuset for now.
                Err(error) if !saved.is_alive() => return Err(error),
                Err(_) => std::thread::sleep(RETRY_AFTER),
            }
        } else {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// Gives a pin a lease from now on, whether or not it had one.
pub fn renew(journals: &Journals, saved: &Saved, lease: Duration) -> Result<Saved, Error> {
    let mut renewed = saved.clone();
    renewed.set_lease(lease);
    journals.write(&renewed)?;
    // If one runs already, the new one ends at once.
    match start(&renewed) {
        Ok(true) => Ok(renewed),
        Ok(false) => Err(Error::NoGuard { why: "this program has no command for it".to_string() }),
        Err(error) => Err(Error::NoGuard { why: error.to_string() }),
    }
}

impl Pin {
    /// Starts the guard of this pin. Without one, a lease can't be kept when this process has ended.
    pub(super) fn start_guard(&self) -> Result<(), Error> {
        match start(self.saved()) {
            Err(error) if self.saved().has_lease() => Err(Error::NoGuard { why: error.to_string() }),
            // Until it is killed, this process restores the threads itself.
            _ => Ok(()),
        }
    }
}

/// The lock of the one guard of a process. It is released when the guard ends.
struct Lock {
    file: File,
    is_held: bool,
    path: std::path::PathBuf,
}

impl Lock {
    fn take(journals: &Journals, saved: &Saved) -> Result<Lock, Error> {
        let path = journals.guard_path(saved);
        let file = File::create(&path).map_err(Error::read(path.display().to_string()))?;
        let is_held = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        Ok(Lock { file, is_held, path })
    }

    fn is_held(&self) -> bool {
        self.is_held
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_held {
            // Nobody looks for the file.
            let _ = std::fs::remove_file(&self.path);
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::{Mask, SavedThread};
    use super::super::{CpuSet, affinity};
    use super::*;
    use helenus_cassandra::process;
    use std::process::Child;
    use std::time::Instant;

    struct Pinned {
        child: Child,
        saved: Saved,
        journals: Journals,
        before: CpuSet,
        _state: tempfile::TempDir,
    }

    /// A process on one CPU, with the journal's entry of a pin. Its holder is this process unless it is said to be dead.
    fn pinned(change: impl FnOnce(&mut Saved)) -> Pinned {
        let state = tempfile::tempdir().unwrap();
        let journals = Journals::within(state.path());
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().cast_signed();
        let start_ticks = process::stat(pid).unwrap().start_ticks;
        let before = affinity::of(pid).unwrap();
        let mut saved = Saved::new(pid, start_ticks, "groups", Mask::These(before.clone())).unwrap();
        saved.threads = vec![SavedThread { tid: pid, start_ticks, mask: Mask::These(before.clone()) }];
        change(&mut saved);
        journals.write(&saved).unwrap();
        affinity::set(pid, &before.iter().take(1).collect()).unwrap();
        Pinned { child, saved, journals, before, _state: state }
    }

    impl Pinned {
        fn guard(&self) -> Option<Restored> {
            guard(&self.journals, self.saved.pid, self.saved.start_ticks).unwrap()
        }

        fn is_restored(&self) -> bool {
            affinity::of(self.saved.pid).unwrap() == self.before && !self.journals.has(&self.saved)
        }
    }

    impl Drop for Pinned {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn killed(saved: &mut Saved) {
        saved.by = (saved.by.0, saved.by.1 + 1);
    }

    #[test]
    fn threads_return_when_their_holder_has_died() {
        let pinned = pinned(killed);
        assert_eq!(pinned.guard().unwrap().threads, 1);
        assert!(pinned.is_restored());
        assert_eq!(pinned.guard(), None, "there is nothing left to do");
    }

    #[test]
    fn kept_threads_return_when_the_lease_ends_and_stay_without_one() {
        let kept = |lease: Option<Duration>| {
            pinned(|saved| {
                killed(saved);
                saved.is_kept = true;
                lease.into_iter().for_each(|lease| saved.set_lease(lease));
            })
        };
        let without = kept(None);
        assert_eq!(without.guard(), None);
        assert!(!without.is_restored());
        let lease = Duration::from_millis(700);
        let with = kept(Some(lease));
        let begun = Instant::now();
        assert_eq!(with.guard().unwrap().threads, 1);
        assert!(with.is_restored() && begun.elapsed() > lease / 2);
    }

    #[test]
    fn a_lease_that_is_renewed_lasts_longer_and_one_guard_is_enough() {
        let pinned = pinned(|saved| {
            killed(saved);
            saved.is_kept = true;
            saved.set_lease(Duration::from_millis(500));
        });
        std::thread::scope(|scope| {
            let first = scope.spawn(|| pinned.guard());
            let path = pinned.journals.guard_path(&pinned.saved);
            while !path.exists() {
                std::thread::yield_now();
            }
            let mut renewed = pinned.saved.clone();
            renewed.set_lease(Duration::from_secs(2));
            pinned.journals.write(&renewed).unwrap();
            let begun = Instant::now();
            assert_eq!(pinned.guard(), None, "the other guard does it");
            assert!(begun.elapsed() < Duration::from_secs(2));
            assert!(first.join().unwrap().is_some() && begun.elapsed() > Duration::from_secs(1));
        });
        assert!(pinned.is_restored());
    }

    #[test]
    fn a_process_that_has_ended_leaves_no_entry() {
        let mut pinned = pinned(killed);
        pinned.child.kill().unwrap();
        pinned.child.wait().unwrap();
        assert!(pinned.guard().unwrap().process_ended);
        assert!(!pinned.journals.has(&pinned.saved));
    }
}
