//! The CPUs that a thread may run on: sched_setaffinity(2).

use super::CpuSet;
use std::io;

/// Words of the largest CPU mask that the kernel supports.
const WORDS: usize = (1 << 13) / usize::BITS as usize;

/// The mask of a thread, without CPUs that are offline.
pub(super) fn of(tid: i32) -> io::Result<CpuSet> {
    let mut mask = [0_usize; WORDS];
    // The library's wrapper hides how many bytes were written, which is of no interest: the rest is zero.
    // SAFETY: the kernel writes no more than the bytes that it is given.
    let result = unsafe { libc::sched_getaffinity(tid, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    if result == 0 { Ok(CpuSet::from_mask(&mask)) } else { Err(io::Error::last_os_error()) }
}

/// Restricts a thread to these CPUs from now on. The kernel moves it if it runs on another one.
pub(super) fn set(tid: i32, cpus: &CpuSet) -> io::Result<()> {
    set_mask(tid, &cpus.mask())
}

/// Lets a thread run on all CPUs of its cpuset, also after the cpuset changes: the kernel keeps the requested mask and
/// intersects it.
pub(super) fn set_every(tid: i32) -> io::Result<()> {
    set_mask(tid, &[usize::MAX; WORDS])
}

fn set_mask(tid: i32, mask: &[usize]) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the bytes that it is given.
    let result = unsafe { libc::sched_setaffinity(tid, size_of_val(mask), mask.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_on_a_cpu_and_let_go_again() {
        std::thread::spawn(|| {
            let before = of(0).unwrap();
            let one: CpuSet = before.iter().take(1).collect();
            set(0, &one).unwrap();
            assert_eq!(of(0).unwrap(), one);
            set(0, &before).unwrap();
            assert_eq!(of(0).unwrap(), before);
            set_every(0).unwrap();
            assert!(before.is_subset(&of(0).unwrap()));
            assert_eq!(set(0, &CpuSet::default()).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        })
        .join()
        .unwrap();
    }
}
