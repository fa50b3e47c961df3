//! The ids that the kernel gave to new threads and processes of the whole machine, which increase one by one.
//!
//! Checking these few ids costs less than listing all threads of a large process.

use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

/// A file whose last field is the last pid that was allocated in our PID namespace.
const LAST_GIVEN: &str = "/proc/loadavg";
/// If more pids were allocated since the last pass, a scan of all threads is as cheap.
const MOST: i32 = 64;

#[derive(Debug)]
pub(super) struct Newest {
    file: File,
    /// The last pids at the last two passes, the older one first.
    last: [i32; 2],
}

impl Newest {
    /// None if the file has no pid; in some containers it is emulated.
    pub(super) fn new() -> Option<Newest> {
        let file = File::open(LAST_GIVEN).ok()?;
        let before = read(&file)?;
        let new = std::thread::spawn(own_tid).join().ok()??;
        let last = read(&file)?;
        (before < new && new <= last).then_some(Newest { file, last: [before; 2] })
    }

    /// The pids allocated since the pass before the last one: a pid is allocated a little before its thread is visible.
    /// None if they are too many or unknown.
    pub(super) fn given(&mut self) -> Option<RangeInclusive<i32>> {
        let [before, last] = self.last;
        let now = read(&self.file)?;
        self.last = [last, now];
        // Thread ids wrap around at kernel.pid_max.
        (before <= last && last <= now && now - before <= MOST).then_some(before + 1..=now)
    }
}

/// The calling thread's id. Not by `libc::gettid`, which glibc has from 2.30 on.
fn own_tid() -> Option<i32> {
    // SAFETY: gettid takes no pointers and cannot fail.
    i32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).ok()
}

fn read(file: &File) -> Option<i32> {
    let mut buffer = [0; 128];
    let length = file.read_at(&mut buffer, 0).ok()?;
    std::str::from_utf8(&buffer[..length]).ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_threads_number_is_among_those_given() {
        let Some(mut newest) = Newest::new() else {
            return helenus_needs::skipped(&format_args!(
                "{LAST_GIVEN} is made up here, or somebody makes threads all the time"
            ));
        };
        let new = std::thread::spawn(own_tid).join().unwrap().unwrap();
        // Other tests may start too many threads in between; the result is then None.
        for _ in 0..2 {
            assert!(newest.given().is_none_or(|given| given.contains(&new)));
        }
        let later = newest.given();
        assert!(later.is_none_or(|given| !given.contains(&new)), "it is of no interest any more");
    }
}
