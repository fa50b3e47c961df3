//! CPU use of the machine and of the processes on it.

use crate::engine::Engine;
use crate::timeline::{Interval, covered_ns, merge};
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeMap;

/// Below this share of idle time (waiting for a disk included) the CPUs count as busy.
pub(crate) const BUSY_IDLE_SHARE: f64 = 0.1;
/// Below this share a thread may have to wait for a CPU.
const SCARCE_IDLE_SHARE: f64 = 0.25;
/// Threads are delayed by the run queue if together they wait for at least this share of the interval and this share of
/// their running time. Every thread that wakes up waits for some microseconds.
const HELD_UP_SHARE: f64 = 0.1;
const HELD_UP_OF_CPU: f64 = 0.25;
/// Compactions and flushes count as running while they use this many CPUs.
const BACKGROUND_CPUS: f64 = 0.1;
/// An interval this many times longer than the usual one is a gap.
const GAP: i64 = 5;

#[derive(Debug, Default)]
pub(crate) struct Machine {
    cpus: Vec<CpuInterval>,
    processes: Vec<ProcessInterval>,
    /// When the threads of each node were recorded; the load driver's are under the empty name. Threads that do not run
    /// have no rows, so only this tells that a stopped node used no CPU.
    watched: BTreeMap<String, Vec<Interval>>,
    background: Vec<(Interval, i64)>,
    /// CPU time of the processes of nodes, as a load driver's recording has them, which has no threads of nodes.
    loaded: Vec<(Interval, i64)>,
    /// When threads of a node or of the load driver waited for a CPU, and when that was recorded: merged sets.
    held_up: Vec<Interval>,
    run_queues_seen: Vec<Interval>,
}

#[derive(Debug, Clone, Copy)]
struct CpuInterval {
    window: Interval,
    busy_ns: i64,
    iowait_ns: i64,
    steal_ns: i64,
    idle_ns: i64,
}

#[derive(Debug, Clone)]
struct ProcessInterval {
    window: Interval,
    node: String,
    is_server: bool,
    is_load: bool,
    cpu_ns: i64,
    run_queue_ns: Option<i64>,
}

/// CPU use in a window, in CPU seconds per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Share of all CPU time; None when the table `cpus` has no rows for the window. The same holds for the next two.
    pub idle_share: Option<f64>,
    pub iowait_share: Option<f64>,
    pub steal_share: Option<f64>,
    /// Number of busy CPUs.
    pub busy_cpus: Option<f64>,
    /// CPUs used by the nodes whose threads were recorded in the window; None if none were. The same holds for the
    /// fields below.
    pub server_cpus: Option<f64>,
    /// CPUs used by the load driver; None if its threads were not recorded.
    pub load_cpus: Option<f64>,
    /// CPUs used by other processes and by the kernel itself.
    pub other_cpus: Option<f64>,
    /// Threads of the nodes that were ready to run and waited for a CPU, on average.
    pub server_threads_waiting: Option<f64>,
}

impl Machine {
    pub(crate) fn load(engine: &Engine) -> Result<Machine, Error> {
        let rows = engine.sql(&query::CPU_INTERVALS.fill(&[]))?;
        let column = |name| rows.integers(name);
        let (time, interval) = (column("time_ns")?, column("interval_ns")?);
        let (user, system, irq) = (column("user_ns")?, column("system_ns")?, column("irq_ns")?);
        let (iowait, steal, idle) = (column("iowait_ns")?, column("steal_ns")?, column("idle_ns")?);
        let cpus = (0..time.len())
            .map(|row| CpuInterval {
                window: Interval::of_length(time[row] - interval[row], interval[row]),
                busy_ns: user[row] + system[row] + irq[row],
                iowait_ns: iowait[row],
                steal_ns: steal[row],
                idle_ns: idle[row],
            })
            .collect();
        let rows = engine.sql(&query::PROCESS_INTERVALS.fill(&[]))?;
        let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let (cpu, run_queue) = (rows.integers("cpu_ns")?, rows.integers_or_null("run_queue_ns")?);
        let (process, node) = (rows.texts("process")?, rows.texts("node")?);
        let processes: Vec<ProcessInterval> = (0..time.len())
            .map(|row| ProcessInterval {
                window: Interval::of_length(time[row] - interval[row], interval[row]),
                node: if process[row] == "load" { String::new() } else { node[row].clone() },
                is_server: process[row] == "server",
                is_load: process[row] == "load",
                cpu_ns: cpu[row],
                run_queue_ns: run_queue[row],
            })
            .collect();
        let rows = engine.sql(&query::BACKGROUND_INTERVALS.fill(&[]))?;
        let (time, interval, cpu) =
            (rows.integers("time_ns")?, rows.integers("interval_ns")?, rows.integers("cpu_ns")?);
        let background = (0..time.len())
            .map(|row| (Interval::of_length(time[row] - interval[row], interval[row]), cpu[row]))
            .collect();
        let watched = watched(engine, &processes)?;
        let rows = engine.sql(&query::NODE_PROCESSES.fill(&[]))?;
        let (time, interval, cpu) =
            (rows.integers("time_ns")?, rows.integers("interval_ns")?, rows.integers("cpu_ns")?);
        let loaded = (0..time.len())
            .map(|row| (Interval::of_length(time[row] - interval[row], interval[row]), cpu[row]))
            .collect();
        let seen = |process: &&ProcessInterval| process.run_queue_ns.is_some();
        let is_held_up = |process: &&ProcessInterval| {
            let least = HELD_UP_SHARE * process.window.length() as f64;
            process.run_queue_ns.is_some_and(|ns| ns as f64 >= least.max(HELD_UP_OF_CPU * process.cpu_ns as f64))
        };
        let held_up = merge(processes.iter().filter(is_held_up).map(|process| process.window).collect());
        let run_queues_seen = merge(processes.iter().filter(seen).map(|process| process.window).collect());
        Ok(Machine { cpus, processes, watched, background, loaded, held_up, run_queues_seen })
    }

    /// The CPU use in all windows together. An interval counts with the part of it that lies in a window.
    pub(crate) fn usage(&self, windows: &[Interval]) -> Usage {
        let mut usage = self.usage_of(windows, |_| true);
        if usage.server_cpus.is_none() {
            usage.server_cpus = self.loaded_cpus(windows);
            usage.other_cpus = usage.other_cpus.zip(usage.server_cpus).map(|(other, server)| (other - server).max(0.0));
        }
        usage
    }

    /// CPUs used by the processes of nodes; None without rows of them.
    fn loaded_cpus(&self, windows: &[Interval]) -> Option<f64> {
        let seen = merge(self.loaded.iter().map(|(window, _)| *window).collect());
        let windows = merge(windows.to_vec());
        let seen_ns: i64 = windows.iter().map(|window| covered_ns(&seen, *window)).sum();
        let part = |window: Interval| covered_ns(&windows, window) as f64 / window.length().max(1) as f64;
        let used_ns: f64 = self.loaded.iter().map(|(window, cpu_ns)| part(*window) * *cpu_ns as f64).sum();
        (seen_ns > 0).then(|| used_ns / seen_ns as f64)
    }

    /// Like [`Machine::usage`], with the CPU time of the selected nodes alone.
    pub(crate) fn usage_of(&self, windows: &[Interval], is_of_interest: impl Fn(&str) -> bool) -> Usage {
        let windows = merge(windows.to_vec());
        let part = |interval: Interval| covered_ns(&windows, interval) as f64 / interval.length().max(1) as f64;
        // Several nodes or processes may have intervals for the same time, which is counted once.
        let seconds = |intervals: Vec<Interval>| -> f64 {
            merge(intervals).into_iter().map(|interval| covered_ns(&windows, interval)).sum::<i64>() as f64
        };
        let mut usage = Usage::default();
        let (mut busy, mut iowait, mut steal, mut idle) = (0.0, 0.0, 0.0, 0.0);
        for interval in &self.cpus {
            let part = part(interval.window);
            busy += part * interval.busy_ns as f64;
            iowait += part * interval.iowait_ns as f64;
            steal += part * interval.steal_ns as f64;
            idle += part * interval.idle_ns as f64;
        }
        let all = busy + iowait + steal + idle;
        let seen_ns = seconds(self.cpus.iter().map(|interval| interval.window).collect());
        if all > 0.0 && seen_ns > 0.0 {
            usage.idle_share = Some(idle / all);
            usage.iowait_share = Some(iowait / all);
            usage.steal_share = Some(steal / all);
            usage.busy_cpus = Some(busy / seen_ns);
        }
        let is_node = |node: &str| !node.is_empty() && is_of_interest(node);
        let (mut server, mut load, mut waiting) = (0.0, 0.0, None);
        for interval in &self.processes {
            let part = part(interval.window);
            load += if interval.is_load { part * interval.cpu_ns as f64 } else { 0.0 };
            if interval.is_server && is_of_interest(&interval.node) {
                server += part * interval.cpu_ns as f64;
                if let Some(run_queue) = interval.run_queue_ns {
                    *waiting.get_or_insert(0.0) += part * run_queue as f64;
                }
            }
        }
        // The recorder of one process may have ended before that of another.
        let watched = |wanted: &dyn Fn(&str) -> bool| {
            let of_wanted = self.watched.iter().filter(|(node, _)| wanted(node));
            Some(seconds(of_wanted.flat_map(|(_, windows)| windows.iter().copied()).collect())).filter(|ns| *ns > 0.0)
        };
        if let Some(seen_ns) = watched(&is_node) {
            usage.server_cpus = Some(server / seen_ns);
            usage.server_threads_waiting = waiting.map(|waiting| waiting / seen_ns);
        }
        usage.load_cpus = watched(&str::is_empty).map(|seen_ns| load / seen_ns);
        if let (Some(busy), true) = (usage.busy_cpus, usage.server_cpus.is_some() || usage.load_cpus.is_some()) {
            let known = usage.server_cpus.unwrap_or(0.0) + usage.load_cpus.unwrap_or(0.0);
            usage.other_cpus = Some((busy - known).max(0.0));
        }
        usage
    }

    /// Whether threads of a node or of the load driver waited for a CPU; true if run queues were not recorded.
    /// Processes of lower priority can fill all CPUs without delaying anything.
    pub(crate) fn holds_up(&self, window: Interval) -> bool {
        let mostly = |times: &[Interval]| covered_ns(times, window) * 2 >= window.length();
        mostly(&self.held_up) || !mostly(&self.run_queues_seen)
    }

    /// When less than a tenth of the CPUs was idle, and threads waited for one.
    pub(crate) fn busy(&self) -> Vec<Interval> {
        self.with_idle_below(BUSY_IDLE_SHARE, |window| self.holds_up(window))
    }

    /// When less than a quarter of the CPUs was idle, so that a thread may have to wait for one.
    pub(crate) fn scarce(&self) -> Vec<Interval> {
        self.with_idle_below(SCARCE_IDLE_SHARE, |_| true)
    }

    fn with_idle_below(&self, share: f64, wanted: impl Fn(Interval) -> bool) -> Vec<Interval> {
        let is_below = |interval: &&CpuInterval| {
            let idle = interval.idle_ns + interval.iowait_ns;
            let all = idle + interval.busy_ns + interval.steal_ns;
            all > 0 && (idle as f64) < share * all as f64
        };
        merge(
            self.cpus
                .iter()
                .filter(is_below)
                .map(|interval| interval.window)
                .filter(|window| wanted(*window))
                .collect(),
        )
    }

    /// When compactions or flushes used CPU time.
    pub(crate) fn background(&self) -> Vec<Interval> {
        let running = |(window, cpu_ns): &&(Interval, i64)| *cpu_ns as f64 >= BACKGROUND_CPUS * window.length() as f64;
        merge(self.background.iter().filter(running).map(|(window, _)| *window).collect())
    }

    /// Times in which the CPUs were sampled less often than usual, because the sampling thread did not run.
    pub(crate) fn gaps(&self) -> Vec<Interval> {
        let mut lengths: Vec<i64> = self.cpus.iter().map(|interval| interval.window.length()).collect();
        let Some(usual) = crate::percentiles::median(&mut lengths) else { return Vec::new() };
        let mut windows: Vec<Interval> = self.cpus.iter().map(|interval| interval.window).collect();
        windows.sort_unstable();
        let long = windows.iter().copied().filter(|window| window.length() > GAP * usual);
        let between = windows.windows(2).map(|pair| Interval { start: pair[0].end, end: pair[1].start });
        merge(long.chain(between.filter(|gap| gap.length() > GAP * usual)).collect())
    }
}

/// When the threads of each node were recorded, by the reports of the source and by its rows.
fn watched(engine: &Engine, processes: &[ProcessInterval]) -> Result<BTreeMap<String, Vec<Interval>>, Error> {
    let rows = engine.sql(&query::THREADS_WATCHED.fill(&[]))?;
    let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
    let reported = rows.texts("node")?.into_iter().enumerate().map(|(row, node)| {
        let window = Interval::of_length(time[row] - interval[row], interval[row]);
        (node, window)
    });
    let mut watched: BTreeMap<String, Vec<Interval>> = BTreeMap::new();
    let seen = processes.iter().filter(|process| process.is_load || process.is_server);
    for (node, window) in reported.chain(seen.map(|process| (process.node.clone(), process.window))) {
        watched.entry(node).or_default().push(window);
    }
    watched.values_mut().for_each(|windows| *windows = merge(std::mem::take(windows)));
    Ok(watched)
}
