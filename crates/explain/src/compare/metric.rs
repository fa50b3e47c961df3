//! The figures that runs are compared by.

use serde::Serialize;

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    pub better: Better,
    /// Its meaning, in a few words.
    pub meaning: &'static str,
}

/// Whether a larger or a smaller value is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Lower,
    Higher,
}

const fn lower(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, better: Better::Lower, meaning }
}

/// Every figure, in the order in which they are shown. All are of the measured phases alone.
pub const METRICS: [Metric; 29] = [
    lower(
        "client_time",
        "s",
        "from the first start to the last end of requests, phases with a gap between them added up",
    ),
    Metric {
        name: "throughput",
        unit: "requests/s",
        better: Better::Higher,
        meaning: "successful requests by client time",
    },
    lower("response_mean", "ms", "mean response time"),
    lower("response_p50", "ms", "median response time"),
    lower("response_p99", "ms", "99th percentile of response time"),
    lower("response_p999", "ms", "99.9th percentile of response time"),
    lower("response_max", "ms", "longest response time"),
    lower("jitter", "ms²", "variance of the mean response time of each second"),
    lower("time_in_node", "ms", "mean time from the node's network to the node's network"),
    lower(
        "local_time",
        "ms",
        "mean time of a local read or write, by the node's own metrics, which are read once a second",
    ),
    lower("gc_share", "share", "share of the time in which a collection stopped the node"),
    lower("switches_per_request", "count", "context switches of the node's threads by request"),
    lower("involuntary_switches_per_request", "count", "times that a thread of the node was preempted, by request"),
    lower("migrations_per_request", "count", "moves of the node's threads from one CPU to another, by request"),
    lower("run_queue_per_request", "µs", "time that threads of the node were ready and waited for a CPU, by request"),
    lower("cpu_per_request", "µs", "CPU time of the node by request"),
    lower("cycles_per_request", "count", "cycles of the CPUs that the node's threads took, by request"),
    lower("instructions_per_request", "count", "instructions of the node's threads, by request"),
    lower(
        "cache_misses_per_request",
        "count",
        "accesses of the node that the last-level cache did not have, by request",
    ),
    lower(
        "disk_bytes",
        "B",
        "disk space of the live SSTables of the tables in use, all changed nodes together, at the end",
    ),
    lower("sstables_per_read", "count", "95th percentile of SSTables met by a read, over the node's last minutes"),
    lower("tombstones_per_slice", "count", "95th percentile of tombstones met by a read, over the node's last minutes"),
    lower("droppable_ratio", "ratio", "share of tombstones past gc_grace, as the node estimates it, at the end"),
    lower("peers_local_time", "ms", "local_time of the nodes that variants leave alone"),
    lower("peers_disk_bytes", "B", "disk_bytes of the nodes that variants leave alone"),
    lower("peers_sstables_per_read", "count", "sstables_per_read of the nodes that variants leave alone"),
    lower("peers_tombstones_per_slice", "count", "tombstones_per_slice of the nodes that variants leave alone"),
    lower("peers_droppable_ratio", "ratio", "droppable_ratio of the nodes that variants leave alone"),
    lower("error_share", "share", "share of the requests that failed"),
];

/// Figures of single reads of one table, in trial nodes without other load.
pub const READ_METRICS: [Metric; 7] = [
    lower("read_mean", "ms", "mean time of a read, as its client sees it"),
    lower("read_p50", "ms", "median of it"),
    lower("read_p99", "ms", "99th percentile of it"),
    lower("local_read", "ms", "mean time of a local read, by the node's own metrics"),
    lower("sstables_per_read", "count", "mean number of SSTables that a read meets"),
    lower("tombstones_per_slice", "count", "mean number of tombstones that a read meets; none and one count as one"),
    lower("live_per_slice", "count", "mean number of live cells or rows that a read meets; none and one count as one"),
];

impl Metric {
    pub fn named(name: &str) -> Option<&'static Metric> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}
