//! Metrics of a table on a node, and on its peers for comparison.

use serde::{Deserialize, Serialize};

/// A table's metrics as the agent reads them; counters since the node started. None is a value that the node does not
/// report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Time of the reading: System.nanoTime() of the node.
    pub read_ns: i64,
    pub reads: Option<i64>,
    pub writes: Option<i64>,
    pub read_total_ns: Option<i64>,
    pub sstables: Option<i64>,
    pub live_disk_bytes: Option<i64>,
    pub total_disk_bytes: Option<i64>,
    pub pending_compactions: Option<i64>,
    pub bytes_compacted: Option<i64>,
    pub sstables_per_read_p95: Option<f64>,
    pub tombstones_per_slice_p95: Option<f64>,
    pub droppable_ratio: Option<f64>,
    /// Running compactions.
    #[serde(default)]
    pub running: Vec<Compacting>,
}

/// A running compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compacting {
    pub task: Option<String>,
    pub done_bytes: i64,
    pub total_bytes: i64,
}

impl Figures {
    /// Whether nothing is left to compact, by the node's estimate.
    pub fn is_settled(&self) -> bool {
        self.running.is_empty() && self.pending_compactions.unwrap_or(0) == 0
    }

    /// Bytes that running compactions have processed, and their total.
    pub fn compacted_bytes(&self) -> (i64, i64) {
        self.running.iter().fold((0, 0), |(done, total), one| (done + one.done_bytes, total + one.total_bytes))
    }
}

/// A table's figures on one node over a stretch of time: gauges at its end, and the mean time of the reads within it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub sstables: Option<f64>,
    /// 95th percentiles of the node's last minutes.
    pub sstables_per_read_p95: Option<f64>,
    pub tombstones_per_slice_p95: Option<f64>,
    pub droppable_ratio: Option<f64>,
    pub live_disk_bytes: Option<f64>,
    pub total_disk_bytes: Option<f64>,
    /// Mean time of a local read; None without reads.
    pub local_read_us: Option<f64>,
    pub reads_per_s: Option<f64>,
    pub pending_compactions: Option<f64>,
}

impl Measured {
    pub fn between(first: &Figures, last: &Figures) -> Measured {
        let grown = |of: fn(&Figures) -> Option<i64>| Some((of(last)? - of(first)?) as f64);
        let reads = grown(|figures| figures.reads);
        let length_s = (last.read_ns - first.read_ns) as f64 / 1e9;
        let read_us = || {
            let (total_ns, reads) = grown(|figures| figures.read_total_ns).zip(reads.filter(|reads| *reads > 0.0))?;
            Some(total_ns / reads / 1e3)
        };
        let whole = |value: Option<i64>| value.map(|value| value as f64);
        Measured {
            sstables: whole(last.sstables),
            sstables_per_read_p95: last.sstables_per_read_p95,
            tombstones_per_slice_p95: last.tombstones_per_slice_p95,
            droppable_ratio: last.droppable_ratio,
            live_disk_bytes: whole(last.live_disk_bytes),
            total_disk_bytes: whole(last.total_disk_bytes),
            local_read_us: read_us(),
            reads_per_s: reads.filter(|_| length_s > 0.0).map(|reads| reads / length_s),
            pending_compactions: whole(last.pending_compactions),
        }
    }

    /// The mean of each figure over the nodes that have it.
    pub fn mean(of: &[&Measured]) -> Measured {
        let mean = |level: &Level| {
            let values: Vec<f64> = of.iter().filter_map(|measured| (level.of)(measured)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let mut means = Measured::default();
        for level in &Level::ALL {
            *(level.place)(&mut means) = mean(level);
        }
        means
    }
}

/// A figure by name.
#[derive(Clone, Copy)]
pub struct Level {
    pub name: &'static str,
    pub unit: &'static str,
    of: fn(&Measured) -> Option<f64>,
    place: fn(&mut Measured) -> &mut Option<f64>,
}

macro_rules! levels {
    ($($field:ident $unit:literal),+ $(,)?) => {
        [$(Level { name: stringify!($field), unit: $unit, of: |m| m.$field, place: |m| &mut m.$field }),+]
    };
}

impl Level {
    pub const ALL: [Level; 9] = levels! {
        sstables "count",
        sstables_per_read_p95 "count",
        tombstones_per_slice_p95 "count",
        droppable_ratio "ratio",
        live_disk_bytes "bytes",
        total_disk_bytes "bytes",
        local_read_us "µs",
        reads_per_s "1/s",
        pending_compactions "count",
    };
}

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Level").field("name", &self.name).field("unit", &self.unit).finish_non_exhaustive()
    }
}

/// A figure of the changed node and the mean of its peers, before the change and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerComparison {
    pub figure: &'static str,
    pub unit: &'static str,
    pub before: Option<f64>,
    pub now: Option<f64>,
    pub peers_before: Option<f64>,
    pub peers_now: Option<f64>,
    /// The node's change divided by its peers' change, so that a common change cancels out. Without figures from
    /// before, the node's value divided by its peers'.
    pub against_peers: Option<f64>,
}

impl PeerComparison {
    /// All figures; `None` for what wasn't measured, or has no peers.
    pub fn all(
        (before, now): (Option<&Measured>, &Measured),
        (peers_before, peers_now): (Option<&Measured>, Option<&Measured>),
    ) -> Vec<PeerComparison> {
        let beside = |level: &Level| {
            let of = |measured: Option<&Measured>| measured.and_then(level.of);
            let (now, peers_now) = ((level.of)(now), of(peers_now));
            let (before, peers_before) = (of(before), of(peers_before));
            let ratio = |over: Option<f64>, under: Option<f64>| Some(over? / under.filter(|under| *under > 0.0)?);
            let now_beside = ratio(now, peers_now);
            let against_peers =
                if before.is_some() { ratio(ratio(now, before), ratio(peers_now, peers_before)) } else { now_beside };
            PeerComparison { figure: level.name, unit: level.unit, before, now, peers_before, peers_now, against_peers }
        };
        Level::ALL.iter().map(beside).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_of_time_has_levels_of_its_end_and_means_of_its_reads() {
        let first = Figures { read_ns: 0, reads: Some(100), read_total_ns: Some(1_000_000), ..Figures::default() };
        let last = Figures {
            read_ns: 2_000_000_000,
            reads: Some(300),
            read_total_ns: Some(3_000_000),
            sstables: Some(5),
            ..Figures::default()
        };
        let measured = Measured::between(&first, &last);
        assert_eq!((measured.sstables, measured.reads_per_s), (Some(5.0), Some(100.0)));
        assert_eq!(measured.local_read_us, Some(10.0));
        assert_eq!(Measured::between(&last, &last).local_read_us, None);
        assert_eq!(measured.live_disk_bytes, None);
    }

    #[test]
    fn what_changed_everywhere_cancels_out() {
        let of = |disk| Measured { live_disk_bytes: Some(disk), ..Measured::default() };
        let (one, other) = (of(100.0), of(300.0));
        let peers = Measured::mean(&[&one, &other, &Measured::default()]);
        assert_eq!(peers.live_disk_bytes, Some(200.0));
        let find =
            |all: Vec<PeerComparison>| all.into_iter().find(|beside| beside.figure == "live_disk_bytes").unwrap();
        // The figure was halved, while that of the peers doubled.
        let beside = find(PeerComparison::all((Some(&of(200.0)), &of(100.0)), (Some(&of(50.0)), Some(&of(100.0)))));
        assert_eq!(beside.against_peers, Some(0.25));
        assert_eq!(find(PeerComparison::all((None, &of(100.0)), (None, Some(&of(200.0))))).against_peers, Some(0.5));
        assert_eq!(find(PeerComparison::all((Some(&of(200.0)), &of(100.0)), (None, None))).against_peers, None);
    }
}
