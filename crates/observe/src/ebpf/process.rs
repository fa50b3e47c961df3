//! The processes that a source follows in the kernel, and its reports of each every second.

use super::PROCESSES;
use crate::Watched;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A process that is followed.
pub(crate) struct FollowedProcess {
    pub(crate) watched: Watched,
    /// The process's pidfd, which becomes readable when the process ends; None if the kernel gives none.
    ended: Option<OwnedFd>,
    /// Rows since the last report of the source.
    pub(crate) captured: u64,
}

impl FollowedProcess {
    pub(crate) fn new(watched: Watched) -> FollowedProcess {
        let ended = pidfd(watched.pid);
        FollowedProcess { watched, ended, captured: 0 }
    }

    /// Whether the process has ended since the last call. Its pid may be reused from now on.
    pub(crate) fn has_just_ended(&mut self) -> bool {
        self.ended.take_if(|ended| is_readable(ended)).is_some()
    }
}

/// The key of the only entry of the map. The entry holds the number of processes, and for each its pid, generation and
/// index.
const LIST: [u8; 4] = 0_u32.to_ne_bytes();
const WORD_BYTES: usize = size_of::<u32>();
const PROCESS_WORDS: usize = 3;
/// The value in the map for an unused place.
const NOBODY: u32 = u32::MAX;

/// Tells the programs which processes to follow. Each has the index that it has in `pids`.
pub(crate) fn pids(processes: &MapHandle, pids: &[u32]) -> libbpf_rs::Result<()> {
    let listed = (0_u32..).zip(pids).map(|(index, pid)| [*pid, 0, index]);
    let list = listed.chain(std::iter::repeat([NOBODY, 0, 0])).take(PROCESSES);
    let words = std::iter::once(pids.len() as u32).chain(list.flatten());
    let value: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    processes.update(&LIST, &value, MapFlags::ANY)
}

/// Marks the process at an index as ended. The other processes keep their indices and data.
pub(crate) fn ended(processes: &MapHandle, index: usize) -> libbpf_rs::Result<()> {
    let Some(mut value) = processes.lookup(&LIST, MapFlags::ANY)? else { return Ok(()) };
    let at = WORD_BYTES * (1 + PROCESS_WORDS * index);
    if let Some(pid) = value.get_mut(at..at + WORD_BYTES) {
        pid.copy_from_slice(&NOBODY.to_ne_bytes());
    }
    processes.update(&LIST, &value, MapFlags::ANY)
}

fn pidfd(pid: u32) -> Option<OwnedFd> {
    // SAFETY: pidfd_open takes no pointers and returns a new descriptor.
    unsafe {
        let fd = i32::try_from(libc::syscall(libc::SYS_pidfd_open, pid, 0)).ok()?;
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one pollfd on the stack; the call does not wait.
    unsafe { libc::poll(&mut poll, 1, 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::{MapHandle, MapType};

    #[test]
    fn one_that_has_ended_is_nobody_and_the_others_stay_as_they_are() {
        helenus_needs::need!(helenus_needs::root());
        let bytes = (WORD_BYTES * (1 + PROCESS_WORDS * PROCESSES)) as u32;
        // SAFETY: all zeros are valid options; only their size is set.
        let mut options: libbpf_rs::libbpf_sys::bpf_map_create_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of_val(&options) as _;
        let table = MapHandle::create(MapType::Array, Some("processes"), 4, bytes, 1, &options).unwrap();
        let words = || -> Vec<u32> {
            let value = table.lookup(&LIST, MapFlags::ANY).unwrap().unwrap();
            value.chunks_exact(WORD_BYTES).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
        };
        pids(&table, &[71, 72]).unwrap();
        assert_eq!(words()[..8], [2, 71, 0, 0, 72, 0, 1, NOBODY]);
        // Changes the generation, as a program does when a process executes another program.
        let mut value = table.lookup(&LIST, MapFlags::ANY).unwrap().unwrap();
        value[5 * WORD_BYTES] = 1;
        table.update(&LIST, &value, MapFlags::ANY).unwrap();
        ended(&table, 0).unwrap();
        assert_eq!(words()[..8], [2, NOBODY, 0, 0, 72, 1, 1, NOBODY]);
        ended(&table, PROCESSES).unwrap();
        assert_eq!(words()[1], NOBODY);
    }
}
