//! Threads of a process, from /proc.
//!
//! A thread's `schedstat` is one short line and is read at every refresh. Its long `sched`, which takes the kernel five
//! times as long to write, is read once a second, and only when the thread has run since. Both files stay open, so a
//! refresh is one `pread` for a sleeping thread. The list of threads is read when their number has changed, or one has
//! ended.

use super::{Reading, Switched, Used};
use helenus_cassandra::foreign::read_proc;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

const SWITCHES_EVERY_NS: i64 = 1_000_000_000;
/// Interval of listing threads again although their number is the same: one may have ended while another began.
const LISTED_EVERY_NS: i64 = 1_000_000_000;
const LONGEST_FILE: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct Proc {
    folder: PathBuf,
    /// Nanoseconds of one tick of `stat`, for kernels without `schedstat`.
    tick_ns: i64,
    threads: HashMap<i64, Thread>,
    /// When threads were listed, and the link count of their folder, which is the number of threads plus two.
    listed: Option<(i64, u64)>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Thread {
    time: File,
    /// Whether the file `time` is `schedstat` or the coarser `stat`.
    exact: bool,
    /// The file `sched`, if the kernel has it.
    sched: Option<File>,
    used: Used,
    /// The time at which `sched` was last read.
    switched_ns: i64,
    /// Whether the thread has run since its switches were read.
    owes_switches: bool,
    seen: bool,
}

impl Proc {
    pub(super) fn new(pid: u32) -> Proc {
        Proc {
            folder: PathBuf::from(format!("/proc/{pid}/task")),
            // SAFETY: sysconf takes no pointers.
            tick_ns: 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1),
            threads: HashMap::new(),
            listed: None,
            buffer: vec![0; LONGEST_FILE],
        }
    }

    /// Whether exact times are read, or only ticks.
    pub(super) fn is_exact(&self) -> bool {
        self.threads.values().any(|thread| thread.exact)
    }

    /// Finds the existing threads. Returns how many could not be opened. Fails if the process is gone.
    pub(super) fn read(&mut self, now_ns: i64, found: &mut Vec<Reading>) -> io::Result<u64> {
        let lost = self.list(now_ns)?;
        for (tid, thread) in &mut self.threads {
            match thread.read(now_ns, self.tick_ns, &mut self.buffer) {
                Ok((used, switched)) => found.push(Reading { tid: *tid, used, switched, name: None }),
                // The process has ended.
                Err(_) => self.listed = None,
            }
        }
        Ok(lost)
    }

    /// The kernel's name of a thread.
    pub(super) fn name(&self, tid: i64) -> Option<String> {
        let mut name = read_proc(self.folder.join(tid.to_string()).join("comm")).ok()?;
        name.truncate(name.trim_end_matches('\n').len());
        Some(name)
    }

    /// Adds new threads and removes ended ones, if the number of threads has changed or the list is old.
    fn list(&mut self, now_ns: i64) -> io::Result<u64> {
        let links = std::fs::metadata(&self.folder)?.nlink();
        if self.listed.is_some_and(|(at_ns, then)| links == then && now_ns - at_ns < LISTED_EVERY_NS) {
            return Ok(0);
        }
        let mut lost = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            let Ok(entry) = entry else { continue };
            let Some(tid) = entry.file_name().to_str().and_then(|name| name.parse::<i64>().ok()) else { continue };
            let thread = match self.threads.entry(tid) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match Thread::open(&entry.path()) {
                    Ok(thread) => new.insert(thread),
                    // The thread has ended since the folder was listed.
                    Err(error) if is_gone(&error) => continue,
                    Err(_) => {
                        lost += 1;
                        continue;
                    }
                },
            };
            thread.seen = true;
        }
        self.threads.retain(|_, thread| std::mem::replace(&mut thread.seen, false));
        if self.threads.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the process has ended"));
        }
        self.listed = Some((now_ns, links));
        Ok(lost)
    }
}

impl Thread {
    fn open(folder: &Path) -> io::Result<Thread> {
        let (time, exact) = match File::open(folder.join("schedstat")) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (File::open(folder.join("stat"))?, false),
            Err(error) => return Err(error),
        };
        let sched = File::open(folder.join("sched")).ok();
        Ok(Thread {
            time,
            exact,
            sched,
            used: Used::default(),
            switched_ns: i64::MIN,
            owes_switches: false,
            seen: false,
        })
    }

    /// Reads the counters of a thread; the slower ones only when they are due.
    fn read(&mut self, now_ns: i64, tick_ns: i64, buffer: &mut [u8]) -> io::Result<(Used, Option<Switched>)> {
        let text = read_at_start(&self.time, buffer)?;
        // An unreadable line changes nothing.
        let used = (if self.exact { schedstat(text) } else { stat(text, tick_ns) }).unwrap_or(self.used);
        self.owes_switches |= used != self.used;
        self.used = used;
        let is_due = self.owes_switches && now_ns.saturating_sub(self.switched_ns) >= SWITCHES_EVERY_NS;
        let Some(sched) = self.sched.as_ref().filter(|_| is_due) else { return Ok((used, None)) };
        let switched = sched_counters(read_at_start(sched, buffer)?);
        self.switched_ns = now_ns;
        self.owes_switches = false;
        Ok((used, Some(switched)))
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn read_at_start<'a>(file: &File, buffer: &'a mut [u8]) -> io::Result<&'a str> {
    let length = file.read_at(buffer, 0)?;
    Ok(std::str::from_utf8(&buffer[..length]).unwrap_or_default())
}

/// Parses `schedstat`: CPU time, run-queue delay (both in ns), number of time slices.
fn schedstat(text: &str) -> Option<Used> {
    let mut numbers = text.split_ascii_whitespace();
    let cpu_ns = numbers.next()?.parse().ok()?;
    let run_queue_ns = numbers.next()?.parse().ok()?;
    Some(Used { cpu_ns, run_queue_ns: Some(run_queue_ns) })
}

/// Parses `stat`: user and system time are the 12th and 13th field after the name, which may contain spaces and
/// parentheses.
fn stat(text: &str, tick_ns: i64) -> Option<Used> {
    let after_name = &text[text.rfind(')')? + 1..];
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: i64 = fields.next()?.parse().ok()?;
    let system: i64 = fields.next()?.parse().ok()?;
    Some(Used { cpu_ns: (user + system) * tick_ns, run_queue_ns: None })
}

/// Parses `sched`: lines of a name, a colon and a number.
fn sched_counters(text: &str) -> Switched {
    let mut switched = Switched::default();
    for line in text.lines() {
        let Some((name, number)) = line.split_once(':') else { continue };
        let counter = match name.trim_end() {
            "se.nr_migrations" => &mut switched.migrations,
            "nr_voluntary_switches" => &mut switched.voluntary,
            "nr_involuntary_switches" => &mut switched.involuntary,
            _ => continue,
        };
        *counter = number.trim().parse().ok();
    }
    switched
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coarse_kernels_give_ticks() {
        let line = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20 0";
        assert_eq!(stat(line, 10_000_000).unwrap().cpu_ns, 420_000_000);
    }

    proptest! {
        #[test]
        fn no_text_can_make_the_parsers_panic(text: String) {
            let _ = schedstat(&text);
            let _ = stat(&text, 1);
            let _ = sched_counters(&text);
        }
    }
}
