//! The processes that a source follows in the kernel, and what it tells of each every second.

use super::PROCESSES;
use crate::names::ThreadNames;
use crate::{Event, Events, Watched};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A process that is followed.
pub(crate) struct Followed {
    pub(crate) watched: Watched,
    /// Readable once the process has ended; none where the kernel gives none.
    ended: Option<OwnedFd>,
    /// Rows since the last report.
    pub(crate) captured: u64,
}

impl Followed {
    pub(crate) fn new(watched: Watched) -> Followed {
        let ended = pidfd(watched.pid);
        Followed { watched, ended, captured: 0 }
    }

    /// Whether the process has ended since this was asked last. Its number may be given to another from now on.
    pub(crate) fn has_just_ended(&mut self) -> bool {
        self.ended.take_if(|ended| is_readable(ended)).is_some()
    }
}

/// The processes that can be followed: never our own, and no more than there is room for, which is said.
pub(crate) fn follow(
    source: &'static str,
    watched: &[Watched],
    names: &[ThreadNames],
    events: &Events,
) -> Vec<(Watched, ThreadNames)> {
    let others = watched.iter().cloned().zip(names.iter().cloned());
    let mut followed: Vec<_> = others.filter(|(watched, _)| watched.pid != std::process::id()).collect();
    for (watched, _) in followed.drain(PROCESSES.min(followed.len())..) {
        let reason = format!("at most {PROCESSES} processes are followed at once");
        // The one who listened may have had enough.
        let _ = events.send(Event::Degraded { node: watched.node, source, reason });
    }
    followed
}

/// Tells programs whom to follow; the index of each is that in `pids`.
pub(crate) fn pids(processes: &MapHandle, pids: &[u32]) -> libbpf_rs::Result<()> {
    const NONE: [u32; 3] = [0; 3];
    let listed = (0_u32..).zip(pids).map(|(index, pid)| [*pid, 0, index]);
    let list = listed.chain(std::iter::repeat(NONE)).take(PROCESSES);
    let words = std::iter::once(pids.len() as u32).chain(list.flatten());
    let value: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    processes.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY)
}

fn pidfd(pid: u32) -> Option<OwnedFd> {
    // SAFETY: pidfd_open takes no pointers, and what it returns is ours alone.
    unsafe {
        let fd = i32::try_from(libc::syscall(libc::SYS_pidfd_open, pid, 0)).ok()?;
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one pollfd of ours; it does not wait.
    unsafe { libc::poll(&mut poll, 1, 0) > 0 }
}
