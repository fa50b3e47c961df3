//! The threads of a process by id, read in a way that makes a check for new threads cheap.

use super::newest::Newest;
use rustix::fs::{Access, AtFlags, RawDir, accessat};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;

/// Directory entries in /proc before those of threads: `.` and `..`.
const BEFORE: u64 = 2;
/// Size of the buffer: an entry takes 24 or 32 bytes, so a thousand threads are read at once.
const BUFFER: usize = 32 << 10;

/// The folder /proc/PID/task, which stays open.
#[derive(Debug)]
pub(super) struct Tasks {
    folder: File,
    buffer: Vec<MaybeUninit<u8>>,
    /// The file of new ids; None if it is not available, and then the folder is read.
    newest: Option<Newest>,
}

impl Tasks {
    pub(super) fn open(pid: i32) -> io::Result<Tasks> {
        let folder = File::open(format!("/proc/{pid}/task"))?;
        Ok(Tasks { folder, buffer: vec![MaybeUninit::uninit(); BUFFER], newest: Newest::new() })
    }

    /// All threads, in order of creation. Fails if the process has ended.
    pub(super) fn all(&mut self) -> io::Result<Vec<i32>> {
        self.from(0)
    }

    /// Unknown threads among those that were started since about the last call.
    pub(super) fn unknown(&mut self, is_known: impl Fn(i32) -> bool) -> io::Result<Vec<i32>> {
        let Some(numbers) = self.newest.as_mut().and_then(Newest::given) else { return self.last(is_known) };
        let has = |tid: &i32| accessat(&self.folder, tid.to_string(), Access::EXISTS, AtFlags::empty()).is_ok();
        Ok(numbers.filter(|tid| !is_known(*tid) && has(tid)).collect())
    }

    /// The unknown threads.
    ///
    /// The kernel lists threads in order of creation (`thread_head` of `signal_struct`). So reading from the end back
    /// to a known thread finds the new ones, although the kernel itself walks the whole list.
    fn last(&mut self, is_known: impl Fn(i32) -> bool) -> io::Result<Vec<i32>> {
        let threads = self.folder.metadata()?.nlink().saturating_sub(BEFORE);
        let mut back = 1;
        loop {
            let skipped = threads.saturating_sub(back);
            let mut last = self.from(skipped)?;
            let read = last.len();
            last.retain(|tid| !is_known(*tid));
            if last.len() < read || skipped == 0 {
                return Ok(last);
            }
            back *= 8;
        }
    }

    fn from(&mut self, position: u64) -> io::Result<Vec<i32>> {
        self.folder.seek(SeekFrom::Start(if position == 0 { 0 } else { position + BEFORE }))?;
        let mut entries = RawDir::new(&self.folder, &mut self.buffer);
        let mut threads = Vec::new();
        while let Some(entry) = entries.next() {
            threads.extend(entry?.file_name().to_str().ok().and_then(|name| name.parse::<i32>().ok()));
        }
        Ok(threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::JoinHandle;

    /// Threads of this process that wait until they are dropped.
    struct Waiting(Vec<(Option<Sender<()>>, JoinHandle<()>)>);

    impl Waiting {
        fn add(&mut self) {
            let (stop, stopped) = channel::<()>();
            let waiting = std::thread::spawn(move || {
                let _ = stopped.recv();
            });
            self.0.push((Some(stop), waiting));
        }

        fn end(&mut self, position: usize) {
            let (stop, waiting) = self.0.remove(position);
            drop(stop);
            waiting.join().unwrap();
        }
    }

    #[test]
    fn new_threads_are_found_whatever_ends_meanwhile() {
        let mut tasks = Tasks::open(std::process::id() as i32).unwrap();
        let mut waiting = Waiting(Vec::new());
        (0..50).for_each(|_| waiting.add());
        let mut known: HashSet<i32> = tasks.all().unwrap().into_iter().collect();
        for (begin, end) in [(1, 0), (0, 3), (20, 5), (3, 40), (1, 1), (0, 0)] {
            (0..end).for_each(|position| waiting.end((position * 7) % waiting.0.len()));
            (0..begin).for_each(|_| waiting.add());
            let by_number = tasks.unknown(|tid| known.contains(&tid)).unwrap();
            let by_order = tasks.last(|tid| known.contains(&tid)).unwrap();
            for found in [by_number, by_order] {
                // Other tests start threads as well.
                assert!(found.len() >= begin, "{begin} began and {} were found", found.len());
                known.extend(&found);
            }
            let missing: Vec<i32> = tasks.all().unwrap().into_iter().filter(|tid| !known.contains(tid)).collect();
            let later = tasks.last(|tid| known.contains(&tid)).unwrap();
            assert!(missing.iter().all(|tid| later.contains(tid)), "{missing:?} are not in {later:?}");
        }
        while !waiting.0.is_empty() {
            waiting.end(0);
        }
    }

    #[test]
    fn a_process_that_has_ended_has_none() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut tasks = Tasks::open(child.id() as i32).unwrap();
        assert_eq!(tasks.all().unwrap(), [child.id() as i32]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(tasks.all().is_err() && tasks.last(|_| false).is_err());
    }
}
