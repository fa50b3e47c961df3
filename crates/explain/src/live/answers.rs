//! The figures that live views get for a window of time. Times are seconds since the Unix epoch, good to a microsecond; durations are
//! in milliseconds; rates are per second of the window.

use crate::percentiles::Percentiles;
use serde::Serialize;

/// A window of time in ns since the Unix epoch; the end is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveWindow {
    pub from_ns: i64,
    pub to_ns: i64,
    /// The node that the figures are limited to, by the number that [`Live::of_node`](super::Live::of_node) gives; None for all.
    pub node: Option<u16>,
}

impl LiveWindow {
    /// A window of all nodes.
    pub fn of_all(from_ns: i64, to_ns: i64) -> LiveWindow {
        LiveWindow { from_ns, to_ns, node: None }
    }

    pub fn from_s(&self) -> f64 {
        seconds(self.from_ns)
    }

    pub fn to_s(&self) -> f64 {
        seconds(self.to_ns)
    }
}

pub(super) fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// The main figures of a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveTotals {
    pub from_s: f64,
    pub to_s: f64,
    pub requests: f64,
    pub requests_per_s: f64,
    pub errors: f64,
    pub errors_per_s: f64,
    /// Requests that each recorded request represents, on average: more than 1 where some connections were not
    /// followed.
    pub weight: f64,
    /// Latency of requests that were answered or timed out.
    pub latency_ms: Percentiles,
    /// Mean number of requests in flight.
    pub in_flight: f64,
    /// Errors by kind, the most frequent first.
    pub outcomes: Vec<LiveOutcome>,
    /// CPU use; None if CPUs were not recorded.
    pub cpu: Option<LiveCpu>,
    pub collections_per_s: f64,
    /// Share of the time in which JVMs were stopped for collections, and for all safepoints including collections.
    /// Added up over nodes.
    pub gc_share: f64,
    pub safepoint_share: f64,
    pub pressure: Vec<LivePressure>,
    pub disks: Vec<LiveDisk>,
    /// TCP segments that nodes retransmitted.
    pub retransmitted_per_s: f64,
    pub major_faults_per_s: f64,
    /// Throttled time: time for which CPU quotas kept tasks off the CPUs, in CPUs.
    pub throttled_cpus: f64,
    pub events: Vec<LiveEvent>,
    /// Rows that were lost, and what the sources cost.
    pub sources: Vec<LiveSource>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveOutcome {
    pub outcome: String,
    pub requests: f64,
}

/// Shares of the time of all CPUs of the machine, from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveCpu {
    pub user: f64,
    pub system: f64,
    pub iowait: f64,
    /// Share for interrupts, hardware and software.
    pub irq: f64,
    /// Share taken by the hypervisor (steal).
    pub steal: f64,
    pub idle: f64,
}

/// Share of the time in which tasks of the machine waited for a resource: some of them, or all.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LivePressure {
    /// The resource: cpu, io or memory.
    pub resource: String,
    pub some_share: f64,
    pub full_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveDisk {
    pub device: String,
    pub reads_per_s: f64,
    pub read_bytes_per_s: f64,
    pub writes_per_s: f64,
    pub written_bytes_per_s: f64,
    /// Mean time of a read and of a write, including the wait in the queue.
    pub read_ms: Option<f64>,
    pub write_ms: Option<f64>,
    pub busy_share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveEvent {
    pub time_s: f64,
    pub node: String,
    /// The kind in the table `events`, such as compaction.
    pub kind: String,
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveSource {
    pub source: String,
    pub node: String,
    pub captured: f64,
    pub lost: f64,
    /// Whether the loss is so large that a figure may be wrong.
    pub is_serious: bool,
    /// Why rows were lost; empty if none were.
    pub lost_reason: String,
    /// CPU time of the source itself, in CPUs, if known.
    pub cpus: f64,
}

/// Figures over time. Entry `i` of each list belongs to the bin that begins at `from_s + i * bin_s`; None means no
/// data.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveSeries {
    pub from_s: f64,
    pub bin_s: f64,
    pub requests_per_s: Vec<f64>,
    pub errors_per_s: Vec<f64>,
    pub p50_ms: Vec<Option<f64>>,
    pub p99_ms: Vec<Option<f64>>,
    pub p999_ms: Vec<Option<f64>>,
    pub max_ms: Vec<Option<f64>>,
    pub cpu: Vec<Option<LiveCpu>>,
    /// Milliseconds of stops in each second, added up over nodes.
    pub gc_ms_per_s: Vec<f64>,
    pub safepoint_ms_per_s: Vec<f64>,
    /// Stalls of the nodes' processes, whatever their cause, where they began.
    pub stall_ms_per_s: Vec<f64>,
    /// The most tasks that waited at one time in any pool.
    pub pending: Vec<f64>,
    pub read_bytes_per_s: Vec<f64>,
    pub written_bytes_per_s: Vec<f64>,
    /// CPU time of the busiest thread groups, in CPUs, the busiest first.
    pub groups: Vec<LiveGroupSeries>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveGroupSeries {
    /// The process: server or load.
    pub process: String,
    pub group: String,
    pub cpus: Vec<f64>,
}

/// Requests by statement, client or node; those that took the most time in total come first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveTraffic {
    pub from_s: f64,
    pub to_s: f64,
    pub rows: Vec<LiveTrafficRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveTrafficRow {
    /// The statement, client or node. `(others)` stands for all beyond the most names that are counted separately.
    pub name: String,
    pub requests: f64,
    pub requests_per_s: f64,
    pub errors: f64,
    /// Share in the total time of all requests.
    pub time_share: f64,
    /// Mean number of requests in flight.
    pub in_flight: f64,
    pub latency_ms: Percentiles,
    pub request_bytes: f64,
    pub response_bytes: f64,
    pub rows_returned: f64,
}

/// Threads whose names differ only in their number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveGroup {
    /// The process: server or load.
    pub process: String,
    pub group: String,
    /// CPU time, and time spent waiting in a run queue, in CPUs.
    pub cpus: f64,
    pub waiting_cpus: f64,
    pub migrations_per_s: f64,
    pub voluntary_switches_per_s: f64,
    pub involuntary_switches_per_s: f64,
}

/// A node in the window: the figures that `nodetool tpstats`, `proxyhistograms` and `tablestats` are run for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveNode {
    pub node: String,
    pub requests_per_s: f64,
    pub errors: f64,
    /// Latency of the requests that the node coordinated.
    pub latency_ms: Percentiles,
    pub in_flight: f64,
    /// CPU time of the node's threads, in CPUs; None if threads were not recorded.
    pub cpus: Option<f64>,
    pub gc_share: f64,
    pub safepoint_share: f64,
    /// The pool with the most waiting tasks, and their number; empty if no task waited.
    pub fullest_pool: String,
    pub most_pending: i64,
    /// Messages that the node dropped.
    pub dropped: i64,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    /// Mean latency of local reads and writes, over all tables.
    pub local_read_us: Option<f64>,
    pub local_write_us: Option<f64>,
    pub pending_compactions: Option<i64>,
    pub running_compactions: Option<i64>,
    pub live_disk_bytes: Option<i64>,
}

/// A thread pool at the end of the window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LivePool {
    pub node: String,
    pub pool: String,
    pub active: i64,
    pub pending: i64,
    pub blocked: i64,
    /// The most tasks that waited at one time in the window.
    pub most_active: i64,
    pub most_pending: i64,
    /// Completed tasks per second; None after a single reading.
    pub completed_per_s: Option<f64>,
    /// Tasks that were blocked in the window.
    pub newly_blocked: i64,
    pub max_size: Option<i64>,
}

/// Messages that a node dropped in the window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveDropped {
    pub node: String,
    pub message: String,
    pub dropped: i64,
}

/// A table at the end of the window.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveTable {
    pub node: String,
    /// The table as `keyspace.table`.
    pub table: String,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    /// Mean latency on the node itself, in the window.
    pub local_read_us: Option<f64>,
    pub local_write_us: Option<f64>,
    pub sstables: Option<i64>,
    pub live_disk_bytes: Option<i64>,
    pub memtable_bytes: Option<i64>,
    pub pending_compactions: Option<i64>,
    pub running_compactions: Option<i64>,
    /// Progress of the running compactions: the share of their input that they have read, from 0 to 1.
    pub compacted_share: Option<f64>,
    pub sstables_per_read_p95: Option<f64>,
    pub tombstones_per_slice_p95: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveValve {
    pub node: String,
    pub valve: String,
    pub law: String,
    /// The valve's state: on, or open, in which it limits nothing.
    pub state: String,
    /// The current limit; None if the valve is open.
    pub limit: Option<i64>,
    pub in_flight: f64,
    pub waiting: f64,
    pub throughput_per_s: f64,
    pub mean_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Requests that the valve refused in the window.
    pub refused: i64,
    pub reason: String,
}

/// A file, with its system calls (recorded as a summary) and its reads from a disk into the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveFile {
    /// The file's path; empty if it is not known.
    pub file: String,
    pub reads_per_s: f64,
    pub read_bytes_per_s: f64,
    pub writes_per_s: f64,
    pub written_bytes_per_s: f64,
    /// Calls other than reads and writes, such as fsync.
    pub others_per_s: f64,
    /// Time spent in calls, per second.
    pub ms_per_s: f64,
    pub from_disk_bytes_per_s: f64,
    pub major_faults_per_s: f64,
}

/// A stop of a JVM, or a stall of a process.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LivePause {
    pub start_s: f64,
    pub duration_ms: f64,
    pub node: String,
    /// The kind: gc, safepoint, server stall or driver stall.
    pub kind: String,
    /// The collector, or the operation of the safepoint.
    pub what: String,
    pub cause: String,
    pub heap_before_bytes: Option<i64>,
    pub heap_after_bytes: Option<i64>,
}

/// One of the slowest requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveSlow {
    pub start_s: f64,
    pub duration_ms: f64,
    pub statement: String,
    /// The client's host; empty for a load driver.
    pub client: String,
    pub client_port: u16,
    pub node: String,
    /// The outcome: ok, or the kind of error.
    pub outcome: String,
    pub rows_returned: Option<i64>,
    pub response_bytes: Option<i64>,
}

/// An event or condition that overlapped a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveOverlap {
    pub what: String,
    pub start_s: f64,
    pub duration_ms: f64,
    /// How much of the request's time it overlaps; 0 for an instant.
    pub overlap_ms: f64,
}

/// A heatmap: requests by the time of their answer and by how long they took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveHeat {
    pub from_s: f64,
    /// Column `c` begins at `from_s + c * bin_s`.
    pub bin_s: f64,
    pub columns: usize,
    /// Bounds of the rows, ascending.
    pub low_ms: Vec<f64>,
    pub high_ms: Vec<f64>,
    /// Cells as (column, row, requests); cells without requests are left out.
    pub cells: Vec<(usize, usize, f64)>,
}

/// The main figures of a window, which a live page shows first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveView {
    /// The kept time, within which any window can be requested.
    pub kept_from_s: f64,
    pub kept_to_s: f64,
    pub is_growing: bool,
    /// The age of the newest bin's end.
    pub behind_s: f64,
    pub totals: LiveTotals,
    pub series: LiveSeries,
    pub heat: LiveHeat,
}
