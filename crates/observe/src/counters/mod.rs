//! Events of a node's threads that the kernel and the CPUs count: page faults, context switches, migrations; cycles,
//! instructions and cache misses where the machine has hardware counters (a PMU).
//!
//! The sampler opens counters for each thread when it first sees the thread. Child threads don't inherit these counters:
//! their events would be counted in the parent's group and again by their own counters. Events before a thread was first
//! seen are missing. The size of the gap is known, since the process's clock has the CPU time of all threads.

mod machine;
mod thread;

pub use machine::{Countable, countable};

use crate::check::{Check, CheckState};
use crate::source::{Context, facts};
use crate::threads::Threads;
use crate::{Unavailable, Watched};
use helenus_recording::rows::{CounterSample, SourceReport};
use helenus_recording::{Recorder, SourceFacts, cpu_time_of_this_thread_ns};
use std::collections::{BTreeMap, HashMap};
use std::io;
use thread::{Counts, ThreadCounters};

const SOURCE: &str = "counters";
/// If threads used at least this share of the process's CPU time without being counted, the source reports it.
const UNSEEN_SHARE: f64 = 0.01;

/// Checks whether hardware counters work on this machine.
pub(crate) fn check() -> Check {
    let what = "cycles, instructions and cache misses of threads";
    match countable() {
        Ok(countable) => match countable.without {
            None => Check::new(what, CheckState::Works, "the PMU of this machine, user mode and kernel", ""),
            Some(missing) if countable.has_pmu() => {
                Check::new(what, CheckState::Degraded, missing.reason, &missing.way_out)
            }
            Some(missing) => {
                let found = format!("{}; page faults, switches and migrations can be counted", missing.reason);
                Check::new(what, CheckState::Missing, found, &missing.way_out)
            }
        },
        Err(missing) => Check::new(what, CheckState::Missing, missing.reason, &missing.way_out),
    }
}

/// The counters of a process's threads.
#[derive(Debug)]
pub(crate) struct Counters {
    node: String,
    countable: Countable,
    threads: HashMap<i64, Counted>,
    /// Events counted since the last rows, by thread group.
    groups: BTreeMap<String, Counts>,
    /// The CPU clock of the process; None if it can't be read.
    process: Option<ProcessClock>,
    last_ns: i64,
    cpu_ns: i64,
    captured: i64,
    /// Threads that exist but can't be counted; they are not tried again.
    refused: HashMap<i64, String>,
}

#[derive(Debug)]
struct Counted {
    group: String,
    counters: ThreadCounters,
}

/// The CPU time of a process, including its ended threads.
#[derive(Debug)]
struct ProcessClock {
    clock: libc::clockid_t,
    last_ns: i64,
}

impl Counters {
    /// Begins to count the threads of a process, and describes in the manifest how. Reports it if some or all events
    /// can't be counted.
    pub(crate) fn start(
        context: &Context<'_>,
        watched: &Watched,
        threads: &Threads,
    ) -> (Option<Counters>, SourceFacts) {
        let counters = Counters::try_start(context.recorder, watched, threads);
        let (provider, note) = match &counters {
            Ok(counters) => (provider(&counters.countable), note(&counters.countable)),
            Err(missing) => ("none", format!("nothing is counted of threads: {missing}")),
        };
        if !note.is_empty() {
            context.degrade(&watched.node, SOURCE, note.as_str());
        }
        (counters.ok(), facts(SOURCE, &watched.node, provider, &note))
    }

    fn try_start(recorder: &Recorder, watched: &Watched, threads: &Threads) -> Result<Counters, Unavailable> {
        let mut counters = Counters {
            node: watched.node.clone(),
            countable: countable()?,
            threads: HashMap::new(),
            groups: BTreeMap::new(),
            process: None,
            last_ns: recorder.clock().now_ns(),
            cpu_ns: 0,
            captured: 0,
            refused: HashMap::new(),
        };
        counters.follow(threads);
        // Read after opening the counters, which takes a while with many threads: CPU time before that is not counted
        // as missed.
        counters.process = ProcessClock::of(watched.pid);
        match counters.refused.values().next() {
            Some(error) if counters.threads.is_empty() => Err(Unavailable::new(
                format!("the kernel does not let those of pid {} be counted: {error}", watched.pid),
                "run it as root, or as the user of the process",
            )),
            _ => Ok(counters),
        }
    }

    /// Opens counters of new threads, and collects the counts of threads that have ended or were renamed.
    pub(crate) fn follow(&mut self, threads: &Threads) {
        let before_ns = cpu_time_of_this_thread_ns();
        let mut ended: Vec<i64> = Vec::new();
        for (tid, counted) in &mut self.threads {
            match threads.group(*tid) {
                Some(group) if group == counted.group => continue,
                Some(group) => {
                    take(counted, &mut self.groups);
                    counted.group = group.to_string();
                }
                None => {
                    take(counted, &mut self.groups);
                    ended.push(*tid);
                }
            }
        }
        for tid in ended {
            self.threads.remove(&tid);
        }
        self.refused.retain(|tid, _| threads.group(*tid).is_some());
        for (tid, group) in threads.groups() {
            if self.threads.contains_key(&tid) || self.refused.contains_key(&tid) {
                continue;
            }
            match i32::try_from(tid)
                .map_err(io::Error::other)
                .and_then(|tid| ThreadCounters::open(tid, &self.countable))
            {
                Ok(counters) => {
                    self.threads.insert(tid, Counted { group: group.to_string(), counters });
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => {
                    self.refused.insert(tid, error.to_string());
                }
            }
        }
        self.cpu_ns += cpu_time_of_this_thread_ns() - before_ns;
    }

    /// Writes the counts since the last call, and what could not be counted.
    pub(crate) fn report(&mut self, recorder: &Recorder) {
        let before_ns = cpu_time_of_this_thread_ns();
        let time_ns = recorder.clock().now_ns();
        let interval_ns = time_ns - std::mem::replace(&mut self.last_ns, time_ns);
        for counted in self.threads.values_mut() {
            take(counted, &mut self.groups);
        }
        let process_ns = self.process.as_mut().and_then(ProcessClock::more_ns);
        let mut counted_ns = 0;
        for (group, counts) in std::mem::take(&mut self.groups) {
            if counts == Counts::default() {
                continue;
            }
            let row = row(&counts, &self.countable);
            counted_ns += row.cpu_ns;
            self.captured += 1;
            recorder.append(CounterSample { time_ns, interval_ns, node: &self.node, thread_group: &group, ..row });
        }
        let unseen_ns = process_ns.map_or(0, |process_ns| (process_ns - counted_ns).max(0));
        self.cpu_ns += cpu_time_of_this_thread_ns() - before_ns;
        recorder.append(SourceReport {
            time_ns,
            interval_ns,
            source: SOURCE,
            node: &self.node,
            provider: provider(&self.countable),
            captured: std::mem::take(&mut self.captured),
            lost: i64::try_from(self.refused.len()).unwrap_or(i64::MAX),
            lost_reason: &self.less_than_well(unseen_ns, counted_ns),
            cpu_ns: Some(std::mem::take(&mut self.cpu_ns)),
        });
    }

    /// Problems of this interval, in a sentence; empty if there were none.
    fn less_than_well(&self, unseen_ns: i64, counted_ns: i64) -> String {
        let mut lines = Vec::new();
        if let Some(error) = self.refused.values().next() {
            lines.push(format!("threads that can't be counted: {error}"));
        }
        let share = unseen_ns as f64 / (unseen_ns + counted_ns).max(1) as f64;
        if share >= UNSEEN_SHARE {
            lines.push(format!(
                "{:.1} ms of CPU time, {:.1} %, were of threads before they were seen",
                unseen_ns as f64 / 1e6,
                share * 100.0
            ));
        }
        lines.extend(Some(note(&self.countable)).filter(|note| !note.is_empty()));
        lines.join("; ")
    }
}

/// Adds the counts of a thread since the last call.
fn take(counted: &mut Counted, groups: &mut BTreeMap<String, Counts>) {
    // The kernel does not revoke opened counters: if reading fails, there were no counts.
    let Ok(more) = counted.counters.more() else { return };
    match groups.get_mut(&counted.group) {
        Some(counts) => *counts += more,
        None => {
            groups.insert(counted.group.clone(), more);
        }
    }
}

fn row(counts: &Counts, countable: &Countable) -> CounterSample<'static> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let [clock, faults, switches, migrations] = counts.software.values.map(number);
    let in_kernel = |value| Some(value).filter(|_| !countable.user_only);
    let hardware = counts.hardware.scaled().filter(|_| countable.has_pmu());
    let of_cpu = |position: usize| Some(hardware?[position]).filter(|_| countable.counters[position]);
    let time = |ns: u64| Some(number(ns)).filter(|_| countable.has_pmu());
    CounterSample {
        cpu_ns: clock,
        page_faults: faults,
        context_switches: in_kernel(switches),
        migrations: in_kernel(migrations),
        cycles: of_cpu(0),
        instructions: of_cpu(1),
        cache_references: of_cpu(2),
        cache_misses: of_cpu(3),
        enabled_ns: time(counts.hardware.enabled_ns),
        running_ns: time(counts.hardware.running_ns),
        ..CounterSample::default()
    }
}

fn provider(countable: &Countable) -> &'static str {
    if countable.has_pmu() { "perf" } else { "perf-software" }
}

/// The events that are not counted, and why; empty if all are counted.
fn note(countable: &Countable) -> String {
    match &countable.without {
        None => String::new(),
        Some(missing) if countable.has_pmu() => format!("not all is counted: {missing}"),
        Some(missing) => format!("cycles, instructions and cache misses are not measured: {missing}"),
    }
}

impl ProcessClock {
    fn of(pid: u32) -> Option<ProcessClock> {
        let mut clock: libc::clockid_t = 0;
        // SAFETY: the pointer is to a clock of ours, and the kernel is asked for no more than its number.
        let found = unsafe { libc::clock_getcpuclockid(libc::pid_t::try_from(pid).ok()?, &raw mut clock) };
        let mut clock = (found == 0).then_some(ProcessClock { clock, last_ns: 0 })?;
        clock.more_ns()?;
        Some(clock)
    }

    /// CPU time since the last call; None when the process has ended.
    fn more_ns(&mut self) -> Option<i64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is written into `time`, which outlives the call.
        let read = unsafe { libc::clock_gettime(self.clock, &raw mut time) };
        let now_ns = (read == 0).then_some(time.tv_sec * 1_000_000_000 + time.tv_nsec)?;
        Some(now_ns - std::mem::replace(&mut self.last_ns, now_ns))
    }
}
