//! The state before a change, stored before the change is made, so that a later process can restore it.
//!
//! Each process has one entry, named by its pid and start time. The entry is on the disk before the first mask is
//! changed, and removed when everything is restored.

use super::{CpuSet, Error, affinity};
use helenus_cassandra::journal::{Journal, JournalError, Journaled};
use helenus_cassandra::process::{self, Process};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The journal's entry of a pinned process.
#[derive(Debug, Clone)]
pub struct Journals(Journal<Saved>);

/// The state of a process before it was pinned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The boot id. Start times count from a boot, so after another boot the entry is void.
    boot: String,
    pub pid: i32,
    /// Start time of the process, which identifies it together with its pid.
    pub(super) start_ticks: u64,
    /// The kernel's short name of the process.
    pub command: String,
    pub strategy: String,
    /// Time of the pin, in seconds since the Unix epoch.
    pub since_s: u64,
    /// The helenus process that pinned it and follows it while it lives: pid and start time.
    pub(super) by: (i32, u64),
    /// The mask for threads that are created later.
    pub(super) mask: Mask,
    pub(super) threads: Vec<SavedThread>,
    pub(super) interrupts: Vec<SavedInterrupt>,
    /// Whether the threads stay placed when the helenus process that has placed them ends.
    #[serde(default)]
    pub(super) is_kept: bool,
    /// The end of the lease, in ms since the machine was booted; None without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease_ends_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedThread {
    pub(super) tid: i32,
    pub(super) start_ticks: u64,
    pub(super) mask: Mask,
}

/// The former mask of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mask {
    /// All CPUs of the thread's cpuset, including those that are added later.
    Every,
    These(CpuSet),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedInterrupt {
    pub(super) irq: u32,
    pub(super) device: String,
    pub(super) affinity: CpuSet,
}

impl Mask {
    /// `every` is the current cpuset.
    pub(super) fn of(mask: &CpuSet, every: &CpuSet) -> Mask {
        if mask == every { Mask::Every } else { Mask::These(mask.clone()) }
    }

    pub(super) fn give_to(&self, tid: i32) -> io::Result<()> {
        match self {
            Mask::Every => affinity::set_every(tid),
            Mask::These(cpus) => affinity::set(tid, cpus),
        }
    }
}

impl std::fmt::Display for Mask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mask::Every => formatter.write_str("of its cpuset"),
            Mask::These(cpus) => cpus.fmt(formatter),
        }
    }
}

impl Saved {
    /// The entry of a process that this program is about to pin. Threads and interrupts are added later.
    pub(super) fn new(pid: i32, start_ticks: u64, strategy: &str, mask: Mask) -> Result<Saved, Error> {
        let own = std::process::id().cast_signed();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Ok(Saved {
            boot: boot()?,
            pid,
            start_ticks,
            command: super::threads::name(pid, pid).map_err(Error::of_process(pid, "the name"))?,
            strategy: strategy.to_string(),
            since_s: since.map_or(0, |since| since.as_secs()),
            by: (own, process::stat(own).map_or(0, |stat| stat.start_ticks)),
            mask,
            threads: Vec::new(),
            interrupts: Vec::new(),
            is_kept: false,
            lease_ends_ms: None,
        })
    }

    /// Begins a lease, or begins it again.
    pub(super) fn set_lease(&mut self, lease: Duration) {
        let lease_ms = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        self.lease_ends_ms = Some(since_boot_ms().saturating_add(lease_ms));
    }

    pub(super) fn has_lease(&self) -> bool {
        self.lease_ends_ms.is_some()
    }

    pub(super) fn is_lease_over(&self) -> bool {
        self.lease_ends_ms.is_some_and(|ends_ms| since_boot_ms() >= ends_ms)
    }

    /// How long the lease still lasts; None without one.
    pub fn lease_left(&self) -> Option<Duration> {
        self.lease_ends_ms.map(|ends_ms| Duration::from_millis(ends_ms.saturating_sub(since_boot_ms())))
    }

    /// Whether only `helenus unpin` restores the threads.
    pub(super) fn stays(&self) -> bool {
        self.is_kept && !self.has_lease()
    }

    /// The process, if it is still running.
    pub(super) fn process(&self) -> Option<Process> {
        Process::find(self.pid, self.start_ticks).filter(|_| self.is_of_this_boot())
    }

    pub fn is_alive(&self) -> bool {
        self.process().is_some()
    }

    /// The pid of the helenus process that follows it, if it is alive.
    pub fn follower(&self) -> Option<i32> {
        let (pid, start_ticks) = self.by;
        Process::find(pid, start_ticks).filter(|_| self.is_of_this_boot()).map(|_| pid)
    }

    /// Threads whose former masks are in the entry.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Interrupts that were moved.
    pub fn interrupts(&self) -> usize {
        self.interrupts.len()
    }

    pub(super) fn is_of_this_boot(&self) -> bool {
        boot().is_ok_and(|boot| boot == self.boot)
    }
}

impl Journaled for Saved {
    const FOLDER: &'static str = "pinned";
    const WAY_OUT: &'static str = "it says which masks were before, so look into it before you remove it";

    fn id(&self) -> String {
        format!("{}-{}", self.pid, self.start_ticks)
    }
}

impl Journals {
    /// The journal in the folder of this user's state.
    pub fn within(state: &Path) -> Journals {
        Journals(Journal::within(state))
    }

    /// The entries of all processes that are pinned, or were when they ended.
    pub fn list(&self) -> Result<Vec<Saved>, Error> {
        let mut list = self.0.entries()?;
        list.sort_by_key(|saved| (saved.pid, saved.start_ticks));
        Ok(list)
    }

    /// The entry of a process; None if the process is not pinned.
    pub(super) fn find(&self, pid: i32, start_ticks: u64) -> Result<Option<Saved>, Error> {
        Ok(self.list()?.into_iter().find(|saved| (saved.pid, saved.start_ticks) == (pid, start_ticks)))
    }

    /// Replaces an entry.
    pub(super) fn write(&self, saved: &Saved) -> Result<(), Error> {
        Ok(self.0.write(saved)?)
    }

    /// The file that the guard of a process locks.
    pub(super) fn guard_path(&self, saved: &Saved) -> PathBuf {
        self.0.path(saved).with_extension("guard")
    }

    /// Stores the former state. Fails if the process has an entry already, because that has the older state.
    pub(super) fn create(&self, saved: &Saved) -> Result<(), Error> {
        if self.0.create(saved)? {
            Ok(())
        } else {
            Err(Error::Pinned { pid: saved.pid, strategy: saved.strategy.clone() })
        }
    }

    /// Removes the entry after everything was restored.
    pub(super) fn remove(&self, saved: &Saved) -> Result<(), Error> {
        let wish = self.wish(saved);
        match std::fs::remove_file(&wish) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::File { action: "remove", path: wish, source }.into());
            }
            _ => {}
        }
        Ok(self.0.remove(saved)?)
    }

    pub(super) fn has(&self, saved: &Saved) -> bool {
        self.0.has(saved)
    }

    /// Asks the helenus process that follows the pinned process to restore the threads.
    pub(super) fn ask(&self, saved: &Saved) -> Result<(), Error> {
        let path = self.wish(saved);
        let written = File::create(&path).map(drop);
        Ok(written.map_err(|source| JournalError::File { action: "write", path, source })?)
    }

    pub(super) fn is_asked(&self, saved: &Saved) -> bool {
        self.wish(saved).exists()
    }

    fn wish(&self, saved: &Saved) -> PathBuf {
        self.0.path(saved).with_extension("unpin")
    }
}

/// Time since the machine was booted, in ms, with the time in which it was suspended.
fn since_boot_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value that lives during the call. This clock exists since Linux 2.6.39.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    now.tv_sec.unsigned_abs().saturating_mul(1000).saturating_add(now.tv_nsec.unsigned_abs() / 1_000_000)
}

fn boot() -> Result<String, Error> {
    Ok(std::fs::read_to_string(BOOT).map_err(Error::read(BOOT))?.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Saved {
        let pid = std::process::id().cast_signed();
        let mut saved = Saved::new(pid, process::stat(pid).unwrap().start_ticks, "groups", Mask::Every).unwrap();
        saved.threads.push(SavedThread { tid: pid, start_ticks: 7, mask: Mask::These("0".parse().unwrap()) });
        saved.interrupts.push(SavedInterrupt { irq: 36, device: "disk".into(), affinity: "1".parse().unwrap() });
        saved
    }

    #[test]
    fn what_was_before_stays_until_it_is_put_back() {
        let state = tempfile::tempdir().unwrap();
        let journals = Journals::within(state.path());
        let saved = own();
        journals.create(&saved).unwrap();
        let again = Saved { mask: Mask::These("1".parse().unwrap()), ..saved.clone() };
        assert!(matches!(journals.create(&again), Err(Error::Pinned { .. })));
        assert_eq!(journals.list().unwrap(), std::slice::from_ref(&saved));
        journals.ask(&saved).unwrap();
        assert!(journals.is_asked(&saved) && saved.is_alive() && saved.follower() == Some(saved.pid));
        journals.remove(&saved).unwrap();
        assert!(!journals.has(&saved) && !journals.is_asked(&saved));
    }

    #[test]
    fn a_process_with_a_used_number_is_another() {
        let saved = own();
        assert!(!Saved { start_ticks: saved.start_ticks + 1, ..saved.clone() }.is_alive());
        assert!(!Saved { boot: "another".into(), ..saved }.is_alive());
    }
}
