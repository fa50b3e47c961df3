//! CPU time, run-queue delay, switches and migrations of every thread of a process, from an eBPF program or from /proc.

mod kernel;
mod proc;

use crate::ebpf::text;
use crate::names::ThreadNames;
use helenus_cassandra::threads::thread_group;
use helenus_recording::rows::ThreadSample;
use helenus_recording::{Clock, Recorder};
use kernel::Tasks;
use proc::Proc;
use std::collections::HashMap;
use std::io;

/// Number of rows after which a thread's name is read again: threads name themselves after they start.
const ROWS_PER_NAME: u32 = 10;

/// Length of a thread's name in the kernel, including the terminating zero.
const NAME_BYTES: usize = 16;

/// A process whose threads are sampled.
#[derive(Debug)]
pub struct Threads {
    process: &'static str,
    node: String,
    names: ThreadNames,
    source: Source,
    known: HashMap<i64, Thread>,
    /// The threads that the last refresh found.
    found: Vec<Reading>,
    /// Number of refreshes so far.
    round: u64,
    last_ns: i64,
}

/// Numbers of captured and lost threads of one sample.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    pub rows: u64,
    /// Threads that exist but could not be read.
    pub lost: u64,
}

#[derive(Debug)]
enum Source {
    Kernel(Tasks),
    Proc(Proc),
}

#[derive(Debug, Default)]
struct Thread {
    used: Used,
    switched: Switched,
    /// The kernel's name of the thread, if the counters come with it.
    kernel_name: Option<[u8; NAME_BYTES]>,
    name: String,
    group: String,
    rows_until_named: u32,
    /// The last refresh that found the thread.
    round: u64,
}

/// A thread at one refresh.
#[derive(Debug, Clone, Copy)]
struct Reading {
    tid: i64,
    used: Used,
    /// The counters; None if they were not read this time.
    switched: Option<Switched>,
    /// The kernel's name, if the counters come with it.
    name: Option<[u8; NAME_BYTES]>,
}

/// Counters of a thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Used {
    cpu_ns: i64,
    run_queue_ns: Option<i64>,
}

/// Further counters of a thread since its start, if the kernel has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Switched {
    migrations: Option<i64>,
    voluntary: Option<i64>,
    involuntary: Option<i64>,
}

impl Threads {
    /// Begins to sample a process. The counters of its threads count from here.
    pub fn new(pid: u32, process: &'static str, node: &str, names: ThreadNames, clock: &Clock) -> io::Result<Threads> {
        // Sources that need eBPF report why it is not available.
        let source = Tasks::open(pid).map_or_else(|_| Source::Proc(Proc::new(pid)), Source::Kernel);
        Threads::of(source, process, node, names, clock)
    }

    fn of(source: Source, process: &'static str, node: &str, names: ThreadNames, clock: &Clock) -> io::Result<Threads> {
        let (known, found) = (HashMap::new(), Vec::new());
        let (node, last_ns) = (node.to_string(), clock.now_ns());
        let mut threads = Threads { process, node, names, source, known, found, round: 0, last_ns };
        threads.tick(clock, |_| {})?;
        Ok(threads)
    }

    /// The provider of the data, and whether its times are exact or in ticks of the kernel.
    pub fn provider(&self) -> &'static str {
        match &self.source {
            Source::Kernel(_) => "ebpf",
            Source::Proc(proc) if proc.is_exact() => "proc-schedstat",
            Source::Proc(_) => "proc-stat",
        }
    }

    /// Writes a sample of every thread to the recording. Fails if the process has ended.
    pub fn sample(&mut self, recorder: &Recorder) -> io::Result<Captured> {
        let clock = recorder.clock();
        self.tick(&clock, |row| recorder.append(row))
    }

    /// The group of a thread that existed at the last sample; empty while it has not run.
    pub fn group(&self, tid: i64) -> Option<&str> {
        self.known.get(&tid).map(|thread| thread.group.as_str())
    }

    /// The threads that existed at the last sample, each with its group.
    pub fn groups(&self) -> impl Iterator<Item = (i64, &str)> {
        self.known.iter().map(|(tid, thread)| (*tid, thread.group.as_str()))
    }

    fn tick(&mut self, clock: &Clock, mut each: impl FnMut(ThreadSample<'_>)) -> io::Result<Captured> {
        let now_ns = clock.now_ns();
        let interval_ns = now_ns - std::mem::replace(&mut self.last_ns, now_ns);
        self.found.clear();
        let mut captured = Captured { rows: 0, lost: self.source.read(now_ns, &mut self.found)? };
        self.round += 1;
        for reading in &self.found {
            let thread = self.known.entry(reading.tid).or_default();
            thread.round = self.round;
            let Some((used, switched)) = thread.count(reading) else { continue };
            thread.refresh_name(reading, &self.source, &self.names);
            captured.rows += 1;
            each(ThreadSample {
                time_ns: now_ns,
                interval_ns,
                node: &self.node,
                process: self.process,
                tid: reading.tid,
                thread: &thread.name,
                thread_group: &thread.group,
                cpu_ns: used.cpu_ns,
                run_queue_ns: used.run_queue_ns,
                migrations: switched.migrations,
                voluntary_switches: switched.voluntary,
                involuntary_switches: switched.involuntary,
            });
        }
        self.known.retain(|_, thread| thread.round == self.round);
        Ok(captured)
    }
}

impl Source {
    /// Finds the existing threads. Returns how many exist but could not be read. Fails if the process has ended.
    fn read(&mut self, now_ns: i64, found: &mut Vec<Reading>) -> io::Result<u64> {
        match self {
            Source::Kernel(tasks) => tasks.read(found).map(|()| 0),
            Source::Proc(proc) => proc.read(now_ns, found),
        }
    }
}

impl Thread {
    /// The increase of the counters since the last call; None if they have not changed.
    fn count(&mut self, reading: &Reading) -> Option<(Used, Switched)> {
        let switched = reading.switched.unwrap_or(self.switched);
        if reading.used == self.used && switched == self.switched {
            return None;
        }
        let more_used = reading.used.since(self.used);
        let more_switched = reading.switched.map_or_else(Switched::default, |now| now.since(self.switched));
        (self.used, self.switched) = (reading.used, switched);
        Some((more_used, more_switched))
    }

    fn refresh_name(&mut self, reading: &Reading, source: &Source, names: &ThreadNames) {
        let kernel_name = reading.name;
        if self.rows_until_named > 0 && kernel_name == self.kernel_name {
            self.rows_until_named -= 1;
            return;
        }
        let short = match (kernel_name, source) {
            (Some(kernel_name), _) => String::from_utf8_lossy(text(&kernel_name)).into_owned(),
            (None, Source::Proc(proc)) => match proc.name(reading.tid) {
                Some(short) => short,
                None => return,
            },
            (None, Source::Kernel(_)) => return,
        };
        (self.rows_until_named, self.kernel_name) = (ROWS_PER_NAME, kernel_name);
        let full = names.full(reading.tid, &short);
        self.group = full.as_deref().map_or_else(|| names.group(&short), |full| thread_group(full).to_string());
        self.name = full.unwrap_or(short);
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

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_needs::need;
    use std::time::{Duration, Instant};

    fn sources(pid: u32) -> [Source; 2] {
        [Source::Kernel(Tasks::open(pid).unwrap()), Source::Proc(Proc::new(pid))]
    }

    #[test]
    fn a_busy_thread_is_seen_with_its_time_and_a_sleeping_one_is_not() {
        need!(Tasks::open(std::process::id()));
        for source in sources(std::process::id()) {
            sees_the_busy_and_not_the_sleeping(source);
        }
    }

    fn sees_the_busy_and_not_the_sleeping(source: Source) {
        let clock = Clock::measure();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::Builder::new().name("sleeper-1".into()).spawn(move || stopped.recv()).unwrap();
        // Wait until the thread sleeps.
        std::thread::sleep(Duration::from_millis(100));
        let mut threads = Threads::of(source, "load", "n", ThreadNames::default(), &clock).unwrap();
        let (done, has_done) = std::sync::mpsc::channel();
        let busy = std::thread::Builder::new().name("busy-7".into()).spawn(move || {
            let until = Instant::now() + Duration::from_millis(300);
            while Instant::now() < until {
                std::hint::black_box(1);
            }
            let used_ns = helenus_recording::cpu_time_of_this_thread_ns();
            done.send(Instant::now()).unwrap();
            std::thread::park();
            used_ns
        });
        let busy = busy.unwrap();
        let (mut cpu_ns, mut groups, mut switches) = (0, std::collections::BTreeSet::new(), 0);
        let mut until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            // Names are read once a second.
            if let Ok(then) = has_done.try_recv() {
                until = then + Duration::from_millis(1200);
            }
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
        let provider = threads.provider();
        assert!((cpu_ns - truth_ns).abs() <= truth_ns / 20 + 20_000_000, "{provider}: {cpu_ns} of {truth_ns}");
        assert!(groups.contains("busy") && !groups.contains("sleeper"), "{provider}: {groups:?}");
        assert!(switches >= 1, "{provider}");
        drop(stop);
        let _ = sleeper.join().unwrap();
    }

    #[test]
    fn the_kernel_and_proc_tell_the_same() {
        need!(Tasks::open(std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        // Wait until the thread sleeps.
        std::thread::sleep(Duration::from_millis(100));
        let [by_kernel, by_proc] = sources(child.id()).map(|mut source| {
            let mut found = Vec::new();
            source.read(1, &mut found).unwrap();
            found
        });
        let ([by_kernel], [by_proc]) = (&by_kernel[..], &by_proc[..]) else { panic!("{by_kernel:?} {by_proc:?}") };
        assert_eq!(by_kernel.tid, i64::from(child.id()));
        assert_eq!((by_kernel.tid, by_kernel.used), (by_proc.tid, by_proc.used));
        assert_eq!(by_kernel.switched, by_proc.switched);
        assert_eq!(text(&by_kernel.name.unwrap()), b"sleep");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_ended_is_an_error() {
        need!(Tasks::open(std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let clock = Clock::measure();
        let started =
            sources(child.id()).map(|source| Threads::of(source, "server", "n", ThreadNames::default(), &clock));
        child.kill().unwrap();
        child.wait().unwrap();
        for mut threads in started.map(Result::unwrap) {
            assert!(threads.tick(&clock, |_| {}).is_err(), "{}", threads.provider());
        }
        assert!(Tasks::open(child.id()).is_err());
    }
}
