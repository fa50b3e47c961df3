//! A process, identified so that a reused pid can't be mistaken for it.

use crate::foreign::read_proc;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The fields of /proc/PID/stat used here (proc_pid_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// One letter: R running, S sleeping, D disk, T stopped, Z zombie, …
    pub state: char,
    /// Fields 14 and 15: CPU time in clock ticks, the user's and the system's.
    pub cpu_ticks: u64,
    /// Field 22: start time in clock ticks since boot; with the pid it names a process for good.
    pub start_ticks: u64,
    /// Field 39: the CPU that it ran on last.
    pub last_cpu: u32,
}

/// Reads the text of /proc/PID/stat, or that of a thread. The command in parentheses may hold anything, `)` and spaces
/// included, so fields are counted from the last `)`.
#[must_use]
pub fn parse_stat(text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    // The state is field 3, so field 14 is the 11th after it.
    let user_ticks: u64 = fields.nth(10)?.parse().ok()?;
    let system_ticks: u64 = fields.next()?.parse().ok()?;
    let start_ticks = fields.nth(6)?.parse().ok()?;
    let last_cpu = fields.nth(16)?.parse().ok()?;
    Some(Stat { state, cpu_ticks: user_ticks.checked_add(system_ticks)?, start_ticks, last_cpu })
}

/// None when there is no such process.
#[must_use]
pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&read_proc(format!("/proc/{pid}/stat")).ok()?)
}

/// "1234 (java)", for messages.
pub(crate) fn describe(pid: i32) -> String {
    match read_proc(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("PID {pid} ({})", name.trim_end()),
        Err(_) => format!("PID {pid}"),
    }
}

/// A process at the time when it was read; a later process with the same pid is a different one.
#[derive(Debug)]
pub struct Process {
    pid: i32,
    start_ticks: u64,
    /// A pidfd: signals sent through it reach this process or fail, because its pid is not reused meanwhile. None
    /// before Linux 5.3.
    pidfd: Option<OwnedFd>,
}

impl Process {
    /// The living process `pid` that started at `start_ticks`; `None` when it has ended (a zombie
    /// has) or another has taken its pid.
    #[must_use]
    pub fn find(pid: i32, start_ticks: u64) -> Option<Self> {
        // Open the descriptor first: while it is held, stat describes its process or a successor, which has another
        // start time.
        let pidfd = open_pidfd(pid);
        let process = Self { pid, start_ticks, pidfd };
        process.is_alive().then_some(process)
    }

    #[must_use]
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.start_ticks == self.start_ticks && !matches!(stat.state, 'Z' | 'X'))
    }

    /// Sends `signal`; a process that has ended is no error.
    pub(crate) fn signal(&self, signal: i32) -> io::Result<()> {
        let result = match &self.pidfd {
            // SAFETY: plain system call on a descriptor that `self` owns; no memory is passed.
            Some(fd) => unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    fd.as_raw_fd(),
                    signal,
                    std::ptr::null::<libc::siginfo_t>(),
                    0,
                )
            },
            None if !self.is_alive() => return Ok(()),
            // SAFETY: plain system call.
            None => unsafe { libc::c_long::from(libc::kill(self.pid, signal)) },
        };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() == Some(libc::ESRCH) { Ok(()) } else { Err(error) }
    }

    /// Waits until it has ended; false when it still lives after `bound`.
    pub(crate) fn wait(&self, bound: Duration) -> bool {
        let until = Instant::now() + bound;
        while self.is_alive() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // A pidfd becomes readable when its process ends; without one this only paces the loop.
            let step = left.min(Duration::from_millis(20));
            let fd = self.pidfd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid pollfd, alive over the call; poll ignores negative descriptors.
            let ready = unsafe { libc::poll(&raw mut poll, 1, step.as_millis().max(1) as libc::c_int) };
            if ready > 0 && self.is_alive() {
                // The process has ended but is still listed while the kernel cleans it up.
                std::thread::yield_now();
            }
        }
        true
    }
}

fn open_pidfd(pid: i32) -> Option<OwnedFd> {
    // SAFETY: plain system call; on success the descriptor is new and ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
    }
}

/// The name of a user, or the number where it has none.
pub fn user_name(uid: u32) -> String {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    match lines.find(|fields| fields.get(2).is_some_and(|field| field.parse() == Ok(uid))) {
        Some(fields) => fields[0].to_owned(),
        None => uid.to_string(),
    }
}

/// Effective user id of this process.
pub(crate) fn own_uid() -> u32 {
    // SAFETY: cannot fail, touches no memory.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_live_process_is_found_and_a_wrong_start_is_not() {
        let pid = std::process::id() as i32;
        let ticks = stat(pid).unwrap().start_ticks;
        assert!(Process::find(pid, ticks).is_some());
        assert!(Process::find(pid, ticks + 1).is_none());
    }

    #[test]
    fn an_ended_child_is_dead_before_and_after_it_is_reaped() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let process = Process::find(pid, stat(pid).unwrap().start_ticks).unwrap();
        process.signal(libc::SIGKILL).unwrap();
        assert!(process.wait(Duration::from_secs(5)), "a zombie counts as ended");
        child.wait().unwrap();
        assert!(!process.is_alive());
        process.signal(libc::SIGKILL).unwrap();
    }

    proptest! {
        #[test]
        fn fields_are_found_whatever_the_command_is(name in "[ -~]{0,15}", ticks: u64) {
            let memory = "1000 200 18446744073709551615 1 1 0 0 0 0 0 4096 17642 0 0 0 17";
            let text = format!("41 ({name}) S 1 41 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 {ticks} {memory} 3 0 0 0\n");
            prop_assert_eq!(parse_stat(&text), Some(Stat { state: 'S', cpu_ticks: 11, start_ticks: ticks, last_cpu: 3 }));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = parse_stat(&text);
        }
    }
}
