//! The thread that reads /proc at a fixed rate: CPUs, the threads of the watched processes, and whether a process is
//! stopped.

use crate::cgroups::is_frozen;
use crate::check::{Check, CheckState};
use crate::counters::{self, Counters};
use crate::cpus::Cpus;
use crate::error::Error;
use crate::interrupts::{self, Interrupts};
use crate::names::ThreadNames;
use crate::option_values::{Switch, duration};
use crate::source::{Context, Running, STALL_BOUND, Source, facts, say};
use crate::threads::Threads;
use crate::worker::{Instruction, Instructions, Worker};
use crate::{Event, Events, ProcessKind, Watched};
use clap::Args;
use helenus_recording::rows::{NodeEvent, SourceReport, Stall};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval of the sampler's reports of captured and lost rows and CPU time.
const REPORT_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct SamplingOptions {
    /// Between two samples of CPUs and threads
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = duration)]
    pub interval: Duration,
    /// Count what threads cost the CPUs: cycles, instructions and cache misses where the machine has a PMU, page faults and
    /// switches everywhere
    #[arg(long, value_name = "MODE", default_value = "off")]
    pub counters: Switch,
}

impl Default for SamplingOptions {
    fn default() -> SamplingOptions {
        SamplingOptions { interval: Duration::from_millis(100), counters: Switch::Off }
    }
}

pub(crate) struct Sampling;

impl Source for Sampling {
    type Options = SamplingOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &SamplingOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        let pid = context.watched.first().map_or(0, |watched| watched.pid);
        let worker = start(context, options).map_err(|source| Error::Proc { pid, source })?;
        running.push(Box::new(worker));
        Ok(())
    }

    fn check(&self, options: &SamplingOptions) -> Result<(), String> {
        let interval = options.interval;
        if interval < Duration::from_millis(5) {
            return Err(format!(
                "--interval {interval:?} is too short: reading /proc that often would be what is measured; take 5ms or more"
            ));
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        vec![run_queues(), migrations(), counters::check()]
    }
}

fn run_queues() -> Check {
    let what = "CPU and run-queue time per thread";
    if Path::new("/proc/self/schedstat").exists() {
        return Check::new(what, CheckState::Works, "/proc/PID/task/TID/schedstat, exact", "");
    }
    let found = "no schedstat in this kernel: CPU time in ticks of 10 ms, no run-queue delay";
    Check::new(what, CheckState::Degraded, found, "a kernel with CONFIG_SCHED_INFO")
}

fn migrations() -> Check {
    let what = "migrations and switches per thread";
    if Path::new("/proc/self/sched").exists() {
        return Check::new(what, CheckState::Works, "/proc/PID/task/TID/sched", "");
    }
    let found = "no /proc/PID/task/TID/sched in this kernel";
    Check::new(what, CheckState::Missing, found, "a kernel with CONFIG_SCHED_DEBUG")
}

fn start(context: &Context<'_>, options: &SamplingOptions) -> io::Result<Worker> {
    let recorder = context.recorder;
    let clock = recorder.clock();
    let node = context.watched.first().map_or("", |watched| watched.node.as_str());
    let cpus = Cpus::new(node, clock.now_ns())?;
    let interrupts = Interrupts::new(node, clock.now_ns());
    let mut sources =
        vec![facts("cpus", node, "proc-stat", ""), facts(interrupts::SOURCE, node, interrupts::PROVIDER, "")];
    let mut processes = Vec::new();
    for (watched, names) in context.watched_with_names() {
        let mut process = Process::new(&watched, names, recorder)?;
        if options.counters == Switch::On && watched.process == ProcessKind::Server {
            let (counters, counted) = Counters::start(context, &watched, &process.threads);
            process.counters = counters;
            sources.push(counted);
        }
        sources.push(facts("threads", &process.node, process.threads.provider(), ""));
        processes.push(process);
    }
    let run = Run {
        recorder: recorder.clone(),
        cpus,
        interrupts,
        processes,
        interval: options.interval,
        events: context.events.clone(),
    };
    let (worker, ()) = Worker::start("sampler", move || Ok::<_, io::Error>((run, ())), Run::run)?;
    Ok(worker.noted(context, sources))
}

struct Process {
    name: &'static str,
    node: String,
    pid: u32,
    threads: Threads,
    /// The counters; None if they are not requested or not available.
    counters: Option<Counters>,
    stat: File,
    /// When the process was first and last seen as held by the kernel.
    stopped: Option<(i64, i64)>,
    report: Report,
}

/// Counts of a source since its last report.
#[derive(Default)]
struct Report {
    captured: u64,
    lost: u64,
    cpu_ns: i64,
}

struct Run {
    recorder: Recorder,
    cpus: Cpus,
    /// Interrupts are read once a second, because some machines have thousands of them.
    interrupts: Interrupts,
    processes: Vec<Process>,
    interval: Duration,
    events: Events,
}

impl Process {
    fn new(watched: &Watched, names: ThreadNames, recorder: &Recorder) -> io::Result<Process> {
        let name = watched.process.name();
        Ok(Process {
            name,
            node: watched.node.clone(),
            pid: watched.pid,
            threads: Threads::new(watched.pid, name, &watched.node, names, &recorder.clock())?,
            counters: None,
            stat: File::open(format!("/proc/{}/stat", watched.pid))?,
            stopped: None,
            report: Report::default(),
        })
    }

    fn sample(&mut self, recorder: &Recorder) -> io::Result<()> {
        let before_ns = cpu_time_of_this_thread_ns();
        let captured = self.threads.sample(recorder)?;
        self.watch_stop(recorder, captured.rows > 0)?;
        self.report.captured += captured.rows;
        self.report.lost += captured.lost;
        self.report.cpu_ns += cpu_time_of_this_thread_ns() - before_ns;
        if let Some(counters) = &mut self.counters {
            counters.follow(&self.threads);
        }
        Ok(())
    }

    /// Detects that a process is stopped (by SIGSTOP, a debugger or the freezer of cgroups), which the process itself
    /// can't report before it continues. The reported stop lies within the real one, so that no request that it delayed
    /// seems to have ended before the stop.
    fn watch_stop(&mut self, recorder: &Recorder, has_run: bool) -> io::Result<()> {
        let now_ns = recorder.clock().now_ns();
        let mut buffer = [0; 512];
        let length = self.stat.read_at(&mut buffer, 0)?;
        let text = String::from_utf8_lossy(&buffer[..length]);
        let state = text.rfind(')').and_then(|end| text[end + 1..].trim_start().chars().next());
        if matches!(state, Some('T' | 't')) || !has_run && is_frozen(self.pid) {
            self.stopped.get_or_insert((now_ns, now_ns)).1 = now_ns;
        } else {
            self.end_stop(recorder);
        }
        Ok(())
    }

    fn end_stop(&mut self, recorder: &Recorder) {
        let Some((first_ns, last_ns)) = self.stopped.take() else { return };
        recorder.append(Stall {
            start_ns: first_ns,
            duration_ns: last_ns - first_ns,
            side: self.name,
            node: &self.node,
            kind: "stopped",
            ..Stall::default()
        });
    }

    fn note_end(&self, recorder: &Recorder) {
        if self.name == ProcessKind::Server.name() {
            let time_ns = recorder.clock().now_ns();
            let what = "the node's process ended";
            recorder.append(NodeEvent { time_ns, node: &self.node, kind: "ended", what, ..NodeEvent::default() });
        }
    }
}

impl Run {
    fn run(mut self, instructions: &Instructions) {
        let mut next = Instant::now() + self.interval;
        let mut reported = Instant::now();
        let mut cpus = Report::default();
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            let instruction = instructions.wait(wait);
            let late = Instant::now().saturating_duration_since(next);
            if !instruction.is_last() {
                self.note_stall(late);
                let missed = u64::try_from(late.as_nanos() / self.interval.as_nanos().max(1)).unwrap_or(0);
                cpus.lost += missed;
                self.processes.iter_mut().for_each(|process| process.report.lost += missed);
                next += self.interval * (1 + u32::try_from(missed).unwrap_or(u32::MAX));
            }
            let before_ns = cpu_time_of_this_thread_ns();
            match self.cpus.sample(&self.recorder) {
                Ok(rows) => cpus.captured += rows,
                Err(_) => cpus.lost += 1,
            }
            cpus.cpu_ns += cpu_time_of_this_thread_ns() - before_ns;
            self.sample_processes();
            if instruction.is_last() || reported.elapsed() >= REPORT_EVERY {
                self.report(&mut cpus, reported.elapsed());
                self.report_interrupts(reported.elapsed());
                reported = Instant::now();
            }
            match instruction {
                Instruction::Nothing => {}
                Instruction::Continue(next) => self.recorder = next.begin(),
                Instruction::Stop => {
                    self.processes.iter_mut().for_each(|process| process.end_stop(&self.recorder));
                    return;
                }
            }
        }
    }

    fn sample_processes(&mut self) {
        let (recorder, events) = (&self.recorder, &self.events);
        self.processes.retain_mut(|process| {
            let going_on = process.sample(recorder).is_ok();
            if !going_on {
                // The final counts of its threads can still be read.
                process.counters.iter_mut().for_each(|counters| counters.report(recorder));
                process.end_stop(recorder);
                process.note_end(recorder);
                let ended = Event::TargetEnded { node: process.node.clone(), pid: process.pid };
                say(events, ended);
            }
            going_on
        });
    }

    /// If this thread wakes late, other threads of this machine may, too.
    fn note_stall(&self, late: Duration) {
        if late > STALL_BOUND {
            let duration_ns = nanos(late);
            self.recorder.append(Stall {
                start_ns: self.recorder.clock().now_ns() - duration_ns,
                duration_ns,
                side: "recorder",
                node: "",
                kind: "watcher",
                ..Stall::default()
            });
        }
    }

    fn report(&mut self, cpus: &mut Report, interval: Duration) {
        let time_ns = self.recorder.clock().now_ns();
        let append = |source, node: &str, provider, report: &mut Report| {
            let report = std::mem::take(report);
            self.recorder.append(SourceReport {
                time_ns,
                interval_ns: nanos(interval),
                source,
                node,
                provider,
                captured: i64::try_from(report.captured).unwrap_or(i64::MAX),
                lost: i64::try_from(report.lost).unwrap_or(i64::MAX),
                lost_reason: if report.lost > 0 {
                    "the sampler came too late, or a thread could not be read"
                } else {
                    ""
                },
                cpu_ns: Some(report.cpu_ns),
            });
        };
        append("cpus", self.processes.first().map_or("", |process| &process.node), "proc-stat", cpus);
        for process in &mut self.processes {
            append("threads", &process.node, process.threads.provider(), &mut process.report);
            if let Some(counters) = &mut process.counters {
                counters.report(&self.recorder);
            }
        }
    }

    fn report_interrupts(&mut self, interval: Duration) {
        let before_ns = cpu_time_of_this_thread_ns();
        let sampled = self.interrupts.sample(&self.recorder);
        let (captured, lost, lost_reason) = match sampled {
            Ok(rows) => (rows, 0, String::new()),
            Err(error) => (0, 1, format!("/proc/interrupts and /proc/softirqs could not be read: {error}")),
        };
        self.recorder.append(SourceReport {
            time_ns: self.recorder.clock().now_ns(),
            interval_ns: nanos(interval),
            source: interrupts::SOURCE,
            node: self.processes.first().map_or("", |process| &process.node),
            provider: interrupts::PROVIDER,
            captured: i64::try_from(captured).unwrap_or(i64::MAX),
            lost,
            lost_reason: &lost_reason,
            cpu_ns: Some(cpu_time_of_this_thread_ns() - before_ns),
        });
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
