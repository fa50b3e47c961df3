//! CPU time, run-queue delay, switches and migrations of every thread of a process, from /proc.
//!
//! A thread's `schedstat` is one short line and is read at every tick. Its long `sched`, which the kernel takes five times as
//! long to write, is read once a second, and only when the thread has run since. Both stay open, so that a tick is one `pread`
//! for a thread that sleeps. Which threads there are is asked when their number has changed, or one of them is gone.

use crate::names::ThreadNames;
use helenus_cassandra::threads::thread_group;
use helenus_recording::rows::ThreadSample;
use helenus_recording::{Clock, Recorder};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Ticks after which the name of a running thread is read again: threads name themselves after they start.
const TICKS_PER_NAME: u32 = 10;
const SWITCHES_EVERY_NS: i64 = 1_000_000_000;
/// Of as many threads as there were, one can have ended and another begun.
const LISTED_EVERY_NS: i64 = 1_000_000_000;

/// A process whose threads are sampled.
#[derive(Debug)]
pub struct Threads {
    process: &'static str,
    node: String,
    names: ThreadNames,
    folder: PathBuf,
    /// Nanoseconds of one tick of `stat`, for kernels without `schedstat`.
    tick_ns: i64,
    known: HashMap<i64, Thread>,
    /// When they were listed, and how many links their folder had, which is two more than it has threads.
    listed: Option<(i64, u64)>,
    last_ns: i64,
    buffer: Vec<u8>,
}

/// What a tick captured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    pub rows: u64,
    /// Threads that could not be read though they are there.
    pub lost: u64,
}

#[derive(Debug)]
struct Thread {
    time: File,
    /// Whether `time` is `schedstat` or the coarser `stat`.
    exact: bool,
    /// `sched`, where the kernel has it.
    sched: Option<File>,
    used: Used,
    switched: Switched,
    /// When `switched` was read.
    switched_ns: i64,
    /// It has run since.
    owes_switches: bool,
    name: String,
    group: String,
    name_age: u32,
    seen: bool,
}

/// Counters of a thread since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Used {
    cpu_ns: i64,
    run_queue_ns: Option<i64>,
}

/// Further counters of a thread since it began, as far as the kernel has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Switched {
    migrations: Option<i64>,
    voluntary: Option<i64>,
    involuntary: Option<i64>,
}

impl Threads {
    /// Begins to sample a process; its threads' counters count from here.
    pub fn new(pid: u32, process: &'static str, node: &str, names: ThreadNames, clock: &Clock) -> io::Result<Threads> {
        let mut threads = Threads {
            process,
            node: node.to_string(),
            names,
            folder: PathBuf::from(format!("/proc/{pid}/task")),
            // SAFETY: sysconf takes no pointers.
            tick_ns: 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1),
            known: HashMap::new(),
            listed: None,
            last_ns: clock.now_ns(),
            buffer: vec![0; 16 << 10],
        };
        threads.tick(clock, |_| {})?;
        Ok(threads)
    }

    /// Whether exact times are read, or the kernel has only ticks.
    pub fn provider(&self) -> &'static str {
        if self.known.values().any(|thread| thread.exact) { "proc-schedstat" } else { "proc-stat" }
    }

    /// Samples every thread into the recording. Fails when the process is gone.
    pub fn sample(&mut self, recorder: &Recorder) -> io::Result<Captured> {
        let clock = recorder.clock();
        self.tick(&clock, |row| recorder.append(row))
    }

    /// The group of a thread that was there at the last sample; empty while it has not run.
    pub fn group(&self, tid: i64) -> Option<&str> {
        self.known.get(&tid).map(|thread| thread.group.as_str())
    }

    /// The threads that were there at the last sample, each with its group.
    pub fn groups(&self) -> impl Iterator<Item = (i64, &str)> {
        self.known.iter().map(|(tid, thread)| (*tid, thread.group.as_str()))
    }

    fn tick(&mut self, clock: &Clock, mut each: impl FnMut(ThreadSample<'_>)) -> io::Result<Captured> {
        let mut captured = Captured::default();
        let now_ns = clock.now_ns();
        let interval_ns = now_ns - self.last_ns;
        self.last_ns = now_ns;
        captured.lost += self.list(now_ns)?;
        let mut one_is_gone = false;
        for (tid, thread) in &mut self.known {
            let (used, switched) = match thread.read(now_ns, self.tick_ns, &mut self.buffer) {
                Ok(Some(more)) => more,
                Ok(None) => continue,
                Err(_) => {
                    one_is_gone = true;
                    continue;
                }
            };
            thread.refresh_name(*tid, &self.folder, &self.names);
            captured.rows += 1;
            each(ThreadSample {
                time_ns: now_ns,
                interval_ns,
                node: &self.node,
                process: self.process,
                tid: *tid,
                thread: &thread.name,
                thread_group: &thread.group,
                cpu_ns: used.cpu_ns,
                run_queue_ns: used.run_queue_ns,
                migrations: switched.migrations,
                voluntary_switches: switched.voluntary,
                involuntary_switches: switched.involuntary,
            });
        }
        if one_is_gone {
            self.listed = None;
        }
        Ok(captured)
    }

    /// Takes up the threads that are new and lets go of those that ended, where there may be any; how many could not be taken
    /// up though they are there. Fails when the process is gone.
    fn list(&mut self, now_ns: i64) -> io::Result<u64> {
        let links = std::fs::metadata(&self.folder)?.nlink();
        if self.listed.is_some_and(|(at_ns, then)| links == then && now_ns - at_ns < LISTED_EVERY_NS) {
            return Ok(0);
        }
        let mut lost = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            let Ok(entry) = entry else { continue };
            let Some(tid) = entry.file_name().to_str().and_then(|name| name.parse::<i64>().ok()) else { continue };
            let thread = match self.known.entry(tid) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => match Thread::open(&entry.path()) {
                    Ok(thread) => new.insert(thread),
                    // It has ended since the folder was listed.
                    Err(error) if is_gone(&error) => continue,
                    Err(_) => {
                        lost += 1;
                        continue;
                    }
                },
            };
            thread.seen = true;
        }
        self.known.retain(|_, thread| std::mem::replace(&mut thread.seen, false));
        if self.known.is_empty() {
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
            switched: Switched::default(),
            switched_ns: i64::MIN,
            owes_switches: false,
            name: String::new(),
            group: String::new(),
            name_age: TICKS_PER_NAME,
            seen: false,
        })
    }

    /// What the counters have gone up by; none when there is nothing to tell.
    fn read(&mut self, now_ns: i64, tick_ns: i64, buffer: &mut [u8]) -> io::Result<Option<(Used, Switched)>> {
        let text = read_at_start(&self.time, buffer)?;
        let Some(used) = (if self.exact { schedstat(text) } else { stat(text, tick_ns) }) else { return Ok(None) };
        let has_run = used != self.used;
        self.owes_switches |= has_run && self.sched.is_some();
        let is_due = self.owes_switches && now_ns.saturating_sub(self.switched_ns) >= SWITCHES_EVERY_NS;
        if !has_run && !is_due {
            return Ok(None);
        }
        let mut more_switched = Switched::default();
        if is_due && let Some(sched) = &self.sched {
            let switched = sched_counters(read_at_start(sched, buffer)?);
            more_switched = switched.since(self.switched);
            self.switched = switched;
            self.switched_ns = now_ns;
            self.owes_switches = false;
        }
        let more_used = used.since(self.used);
        self.used = used;
        Ok(Some((more_used, more_switched)))
    }

    fn refresh_name(&mut self, tid: i64, threads: &Path, names: &ThreadNames) {
        self.name_age += 1;
        if self.name_age <= TICKS_PER_NAME {
            return;
        }
        self.name_age = 0;
        let Ok(short) = std::fs::read_to_string(threads.join(tid.to_string()).join("comm")) else { return };
        let short = short.trim_end_matches('\n');
        let full = names.full(tid, short);
        self.group = full.as_deref().map_or_else(|| names.group(short), |full| thread_group(full).to_string());
        self.name = full.unwrap_or_else(|| short.to_string());
    }
}

impl Used {
    fn since(self, before: Used) -> Used {
        Used { cpu_ns: self.cpu_ns - before.cpu_ns, run_queue_ns: more(self.run_queue_ns, before.run_queue_ns) }
    }
}

impl Switched {
    fn since(self, before: Switched) -> Switched {
        Switched {
            migrations: more(self.migrations, before.migrations),
            voluntary: more(self.voluntary, before.voluntary),
            involuntary: more(self.involuntary, before.involuntary),
        }
    }
}

fn more(now: Option<i64>, before: Option<i64>) -> Option<i64> {
    Some(now? - before.unwrap_or(0))
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn read_at_start<'a>(file: &File, buffer: &'a mut [u8]) -> io::Result<&'a str> {
    let length = file.read_at(buffer, 0)?;
    Ok(std::str::from_utf8(&buffer[..length]).unwrap_or_default())
}

/// `schedstat`: CPU time, time ready and waiting (both in ns), time slices.
fn schedstat(text: &str) -> Option<Used> {
    let mut numbers = text.split_ascii_whitespace();
    let cpu_ns = numbers.next()?.parse().ok()?;
    let run_queue_ns = numbers.next()?.parse().ok()?;
    Some(Used { cpu_ns, run_queue_ns: Some(run_queue_ns) })
}

/// `stat`: user and system time are the 12th and 13th field after the name, which may hold spaces and parentheses.
fn stat(text: &str, tick_ns: i64) -> Option<Used> {
    let after_name = &text[text.rfind(')')? + 1..];
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: i64 = fields.next()?.parse().ok()?;
    let system: i64 = fields.next()?.parse().ok()?;
    Some(Used { cpu_ns: (user + system) * tick_ns, run_queue_ns: None })
}

/// `sched`: lines of a name, a colon and a number.
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
    use std::time::{Duration, Instant};

    #[test]
    fn a_busy_thread_is_seen_with_its_time_and_a_sleeping_one_is_not() {
        let clock = Clock::measure();
        let names = ThreadNames::default();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::Builder::new().name("sleeper-1".into()).spawn(move || stopped.recv()).unwrap();
        // It has to come to sleep first.
        std::thread::sleep(Duration::from_millis(100));
        let mut threads = Threads::new(std::process::id(), "load", "n", names, &clock).unwrap();
        let busy = std::thread::Builder::new().name("busy-7".into()).spawn(|| {
            let until = Instant::now() + Duration::from_millis(300);
            while Instant::now() < until {
                std::hint::black_box(1);
            }
            let started = helenus_recording::cpu_time_of_this_thread_ns();
            std::thread::park();
            started
        });
        let busy = busy.unwrap();
        let (mut cpu_ns, mut groups, mut switches) = (0, std::collections::BTreeSet::new(), 0);
        let until = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
            threads
                .tick(&clock, |row| {
                    groups.insert(row.thread_group.to_string());
                    if row.thread == "busy-7" {
                        cpu_ns += row.cpu_ns;
                        switches += row.voluntary_switches.unwrap_or(0);
                        assert!(row.interval_ns > 0);
                    }
                })
                .unwrap();
        }
        busy.thread().unpark();
        let truth_ns = busy.join().unwrap();
        assert!((cpu_ns - truth_ns).abs() <= truth_ns / 20 + 20_000_000, "{cpu_ns} of {truth_ns}");
        assert!(groups.contains("busy") && !groups.contains("sleeper"), "{groups:?}");
        assert!(switches >= 1);
        drop(stop);
        let _ = sleeper.join().unwrap();
    }

    #[test]
    fn a_process_that_ended_is_an_error() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let clock = Clock::measure();
        let mut threads = Threads::new(child.id(), "server", "n", ThreadNames::default(), &clock).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(threads.tick(&clock, |_| {}).is_err());
    }

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
