//! Shortages of the machine and the nodes, and the processes that used the CPUs, as the source `pressure` recorded them.

use crate::engine::Engine;
use crate::timeline::{Interval, covered_ns, merge, total_ns};
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeMap;

/// If tasks wait for a disk, or for memory, for at least this share of an interval, the machine is short of it.
const WAITING_SHARE: f64 = 0.5;
/// If at least this share of the CPUs is busy and other processes use some of them, CPUs are short.
const CONTENDED_SHARE: f64 = 0.25;
/// A disk that is busy for half of an interval counts as slow if the mean time of its requests is at least this.
const SLOW_DISK_NS: i64 = 10_000_000;
const BUSY_DISK_SHARE: f64 = 0.5;
/// The least number of page faults read from a disk within a tenth of a second that counts.
const MANY_FAULTS: i64 = 5;
/// A lost segment is sent again after at least this time: the shortest retransmission timeout of Linux (RFC 6298 has 1
/// s).
const RETRANSMISSION_NS: i64 = 200_000_000;
/// Other processes are named if they use at least this many CPUs.
pub(crate) const WORTH_NAMING_CPUS: f64 = 0.2;

/// An amount of waiting time within an interval.
#[derive(Debug, Clone, Copy)]
struct Wait {
    window: Interval,
    ns: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Shortage {
    /// Waits for a CPU, of the thread that waited longest; by node (empty for the load driver) and kind of thread.
    run_queues: BTreeMap<(String, &'static str), Vec<Wait>>,
    /// Time throttled by a CPU quota, by node.
    throttled: BTreeMap<String, Vec<Wait>>,
    faults: Vec<Wait>,
    retransmitted: Vec<Wait>,
    cpu: Vec<Wait>,
    io: Vec<Wait>,
    disks: Vec<DiskInterval>,
    processes: Vec<Process>,
}

#[derive(Debug)]
struct DiskInterval {
    window: Interval,
    device: String,
    requests: i64,
    total_ns: i64,
    busy_ns: i64,
}

#[derive(Debug)]
struct Process {
    window: Interval,
    pid: i64,
    name: String,
    role: String,
    cpu_ns: i64,
}

/// Processes of one name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Consumer {
    pub(crate) process: String,
    pub(crate) cpus: f64,
    /// The one of them that used the most.
    pub(crate) pid: i64,
}

/// A disk during an interval in which it was slow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SlowDisk {
    pub(crate) device: String,
    pub(crate) mean_ms: f64,
    pub(crate) busy_share: f64,
}

impl Shortage {
    pub(crate) fn load(engine: &Engine) -> Result<Shortage, Error> {
        let mut shortage = Shortage::default();
        let rows = engine.sql(&query::RUN_QUEUES.fill(&[]))?;
        let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let window =
            |time: &[i64], interval: &[i64], row: usize| Interval::of_length(time[row] - interval[row], interval[row]);
        let waited = rows.integers("waited_ns")?;
        for (row, (node, kind)) in rows.texts("node")?.into_iter().zip(rows.texts("kind")?).enumerate() {
            let kind = KINDS.into_iter().find(|known| *known == kind).unwrap_or(SERVER);
            let wait = Wait { window: window(&time, &interval, row), ns: waited[row] };
            shortage.run_queues.entry((node, kind)).or_default().push(wait);
        }
        let rows = engine.sql(&query::NODE_PRESSURE.fill(&[]))?;
        let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let (throttled, faults) = (rows.integers("throttled_ns")?, rows.integers("major_faults")?);
        let retransmitted = rows.integers("retransmitted_segments")?;
        for (row, node) in rows.texts("node")?.into_iter().enumerate() {
            let wait = |ns: i64| Wait { window: window(&time, &interval, row), ns };
            shortage.throttled.entry(node).or_default().push(wait(throttled[row]));
            shortage.faults.push(wait(faults[row]));
            shortage.retransmitted.push(wait(retransmitted[row]));
        }
        let rows = engine.sql(&query::PRESSURE_INTERVALS.fill(&[]))?;
        let (time, interval, some) =
            (rows.integers("time_ns")?, rows.integers("interval_ns")?, rows.integers("some_ns")?);
        for (row, resource) in rows.texts("resource")?.into_iter().enumerate() {
            let wait = Wait { window: window(&time, &interval, row), ns: some[row] };
            match resource.as_str() {
                "cpu" => shortage.cpu.push(wait),
                "io" => shortage.io.push(wait),
                _ => {}
            }
        }
        let rows = engine.sql(&query::DISK_INTERVALS.fill(&[]))?;
        let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let (requests, total, busy) =
            (rows.integers("requests")?, rows.integers("total_ns")?, rows.integers("busy_ns")?);
        for (row, device) in rows.texts("device")?.into_iter().enumerate() {
            let window = window(&time, &interval, row);
            let disk =
                DiskInterval { window, device, requests: requests[row], total_ns: total[row], busy_ns: busy[row] };
            shortage.disks.push(disk);
        }
        let rows = engine.sql(&query::PROCESS_CPU.fill(&[]))?;
        let (time, interval) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let (pid, cpu) = (rows.integers("pid")?, rows.integers("cpu_ns")?);
        for (row, (name, role)) in rows.texts("process")?.into_iter().zip(rows.texts("role")?).enumerate() {
            let window = window(&time, &interval, row);
            shortage.processes.push(Process { window, pid: pid[row], name, role, cpu_ns: cpu[row] });
        }
        Ok(shortage)
    }

    /// How long, at most, threads of a kind waited for a CPU within a window.
    pub(super) fn waited_for_cpu(&self, node: &str, kind: &'static str, window: Interval) -> i64 {
        self.run_queues.get(&(node.to_string(), kind)).map_or(0, |waits| within(waits, window))
    }

    /// How long a quota kept the node off the CPUs around a window. The kernel updates the counter at the end of a
    /// period.
    pub(super) fn throttled(&self, node: &str, window: Interval) -> i64 {
        let waits = self.throttled.get(node).map_or(&[][..], Vec::as_slice);
        let near = window.widened(2 * PERIOD_NS);
        waits.iter().filter(|wait| wait.window.overlaps(near)).map(|wait| wait.ns).sum()
    }

    /// When quotas kept nodes off the CPUs for half of the time or more.
    pub(super) fn throttled_times(&self) -> Vec<(String, Interval)> {
        let of = |(node, waits): (&String, &Vec<Wait>)| {
            let long = waits.iter().filter(|wait| wait.ns * 2 >= wait.window.length());
            long.map(|wait| (node.clone(), wait.window)).collect::<Vec<_>>()
        };
        self.throttled.iter().flat_map(of).collect()
    }

    /// When tasks waited for CPUs that other processes used.
    pub(super) fn contended(&self, holds_up: impl Fn(Interval) -> bool) -> Vec<Interval> {
        let is_long = |wait: &Wait| wait.ns as f64 >= CONTENDED_SHARE * wait.window.length() as f64;
        times_of(&self.cpu, |wait| is_long(wait) && holds_up(wait.window))
    }

    /// When a disk was slow, or tasks waited for one.
    pub(super) fn disk_times(&self) -> Vec<Interval> {
        let waiting = |wait: &Wait| wait.ns as f64 >= WAITING_SHARE * wait.window.length() as f64;
        let slow = self.disks.iter().filter(|disk| disk.is_slow()).map(|disk| disk.window);
        merge(slow.chain(times_of(&self.io, waiting)).collect())
    }

    /// For how long tasks waited for a disk, interval by interval.
    pub(super) fn disk_waits(&self) -> impl Iterator<Item = (Interval, i64)> {
        self.io.iter().map(|wait| (wait.window, wait.ns))
    }

    pub(super) fn fault_times(&self) -> Vec<Interval> {
        times_of(&self.faults, |wait| wait.ns >= MANY_FAULTS)
    }

    /// The interval in which a retransmitted segment may have been lost and waited for its retransmission.
    pub(super) fn retransmission_times(&self) -> Vec<Interval> {
        let windows = self
            .retransmitted
            .iter()
            .filter(|wait| wait.ns > 0)
            .map(|wait| Interval { start: wait.window.start - RETRANSMISSION_NS, end: wait.window.end });
        merge(windows.collect())
    }

    /// Processes that used the most CPU time in the windows, one entry per name: not the nodes, their clients, the load driver and
    /// the recorder.
    pub(crate) fn others(&self, windows: &[Interval]) -> Vec<Consumer> {
        self.consumers(windows, "other")
    }

    /// Clients on this machine, as [`Shortage::others`].
    pub(crate) fn clients(&self, windows: &[Interval]) -> Vec<Consumer> {
        self.consumers(windows, "client")
    }

    fn consumers(&self, windows: &[Interval], role: &str) -> Vec<Consumer> {
        let seen = merge(self.processes.iter().map(|process| process.window).collect());
        let seen_ns: i64 = windows.iter().map(|window| covered_ns(&seen, *window)).sum();
        let mut by_name: BTreeMap<&str, BTreeMap<i64, f64>> = BTreeMap::new();
        for process in self.processes.iter().filter(|process| process.role == role) {
            let inside = covered_ns(windows, process.window) as f64 / process.window.length().max(1) as f64;
            *by_name.entry(&process.name).or_default().entry(process.pid).or_default() +=
                inside * process.cpu_ns as f64;
        }
        let consumer = |(process, by_pid): (&str, BTreeMap<i64, f64>)| Consumer {
            process: process.into(),
            cpus: by_pid.values().sum::<f64>() / seen_ns.max(1) as f64,
            pid: by_pid.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(pid, _)| *pid),
        };
        let mut consumers: Vec<Consumer> = by_name.into_iter().map(consumer).filter(|one| one.cpus >= 0.01).collect();
        consumers.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        consumers
    }

    /// The disk that spent the most time on requests in the windows.
    pub(crate) fn slowest_disk(&self, windows: &[Interval]) -> Option<SlowDisk> {
        let mut by_device: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
        for disk in self.disks.iter().filter(|disk| covered_ns(windows, disk.window) > 0) {
            let (requests, total_ns, busy_ns) = by_device.entry(&disk.device).or_default();
            *requests += disk.requests;
            *total_ns += disk.total_ns;
            *busy_ns += disk.busy_ns;
        }
        let (device, (requests, total, busy)) = by_device.into_iter().max_by_key(|(_, (_, total_ns, _))| *total_ns)?;
        Some(SlowDisk {
            device: device.into(),
            mean_ms: total as f64 / requests.max(1) as f64 / 1e6,
            busy_share: (busy as f64 / total_ns(windows).max(1) as f64).min(1.0),
        })
    }

    /// Numbers of page faults that read from a disk, and of retransmitted segments, in the windows.
    pub(crate) fn faults_and_retransmissions(&self, windows: &[Interval]) -> (i64, i64) {
        let count = |waits: &[Wait]| -> i64 {
            waits.iter().filter(|wait| covered_ns(windows, wait.window) > 0).map(|wait| wait.ns).sum()
        };
        (count(&self.faults), count(&self.retransmitted))
    }
}

pub(super) const LOAD: &str = "load";
pub(super) const SERVER: &str = "server";
pub(super) const COLLECTOR: &str = "collector";
const KINDS: [&str; 3] = [LOAD, SERVER, COLLECTOR];

/// The default period of the kernel's CPU bandwidth control.
const PERIOD_NS: i64 = 100_000_000;

impl DiskInterval {
    fn is_slow(&self) -> bool {
        let is_busy = self.busy_ns as f64 >= BUSY_DISK_SHARE * self.window.length() as f64;
        is_busy && self.total_ns >= SLOW_DISK_NS * self.requests.max(1)
    }
}

fn times_of(waits: &[Wait], wanted: impl Fn(&Wait) -> bool) -> Vec<Interval> {
    merge(waits.iter().filter(|wait| wanted(wait)).map(|wait| wait.window).collect())
}

/// How much of the waiting time may lie in a window; the wait may have been anywhere in its interval.
fn within(waits: &[Wait], window: Interval) -> i64 {
    let first = waits.partition_point(|wait| wait.window.end <= window.start);
    let near = waits[first..].iter().take_while(|wait| wait.window.end - wait.window.length() < window.end);
    near.map(|wait| wait.ns.min(window.clip(wait.window).length())).sum()
}
