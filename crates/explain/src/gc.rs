//! Collections per second, pauses, allocation rate, and the growth of the heap after young collections.

use crate::engine::Engine;
use crate::percentiles::{ms, quantile_of_sorted};
use crate::timeline::Interval;
use crate::{Error, query};
use serde::Serialize;

/// The collections of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NodeGc {
    pub node: String,
    /// The collectors, by the JVM's names.
    pub collectors: Vec<String>,
    /// The providers of the rows, such as jfr.
    pub providers: Vec<String>,
    pub whole: GcFigures,
    pub intervals: Vec<GcFigures>,
}

/// The collections that began in an interval. Sizes and rates are None where no collection reported the heap's occupancy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GcFigures {
    /// Start of the interval, since the start of the recording.
    pub start_s: f64,
    pub length_s: f64,
    pub young: usize,
    /// Collections of the old generation, mostly concurrent.
    pub old: usize,
    /// Collections of the whole heap in one pause.
    pub full: usize,
    pub paused_ms: f64,
    /// Share of the time in which the JVM was paused for collections.
    pub paused_share: f64,
    /// Percentiles over the pauses of whole collections, in ms.
    pub pause_p50_ms: Option<f64>,
    pub pause_max_ms: Option<f64>,
    /// Bytes allocated: the growth of the heap between collections.
    pub allocated_bytes_per_s: Option<f64>,
    /// The heap's growth from after one young collection to after the next: promoted or kept objects.
    pub kept_bytes_per_s: Option<f64>,
    /// Heap occupancy after the last collection.
    pub heap_after_bytes: Option<i64>,
}

struct Collection {
    node: String,
    collector: String,
    start_ns: i64,
    paused_ns: i64,
    before_bytes: Option<i64>,
    after_bytes: Option<i64>,
}

impl Collection {
    /// Young collectors: G1New, ParNew, DefNew, ParallelScavenge, PSNew, ZGC Minor. The others collect the old
    /// generation, or have no generations.
    fn is_young(&self) -> bool {
        ["New", "Young", "Minor", "Scavenge", "Copy"].iter().any(|young| self.collector.contains(young))
    }

    /// The first three names come from the JVM's log, the others from its MBeans. G1's MBean counts only full
    /// collections.
    fn is_full(&self) -> bool {
        ["G1Full", "SerialOld", "ParallelOld", "MarkSweepCompact", "PS MarkSweep", "G1 Old Generation"]
            .contains(&self.collector.as_str())
    }
}

/// The collections of each node, over the whole recording and interval by interval.
pub fn gc(engine: &Engine, interval_ns: i64) -> Result<Vec<NodeGc>, Error> {
    let rows = engine.sql(&query::COLLECTIONS.fill(&[]))?;
    let (node, collector) = (rows.texts("node")?, rows.texts("collector")?);
    let (start, paused) = (rows.integers("start_ns")?, rows.integers("paused_ns")?);
    let (before, after) = (rows.integers_or_null("heap_before_bytes")?, rows.integers_or_null("heap_after_bytes")?);
    let collections: Vec<Collection> = (0..rows.rows())
        .map(|row| Collection {
            node: node[row].clone(),
            collector: collector[row].clone(),
            start_ns: start[row],
            paused_ns: paused[row],
            before_bytes: before[row],
            after_bytes: after[row],
        })
        .collect();
    let span = engine.span()?;
    let of_node = |own: &[Collection]| {
        let mut collectors: Vec<String> = own.iter().map(|collection| collection.collector.clone()).collect();
        collectors.sort_unstable();
        collectors.dedup();
        let interval_ns = interval_ns.max(1);
        let steps = ((span.length() - 1) / interval_ns + 1).max(1);
        let step = |step: i64| Interval {
            start: span.start + step * interval_ns,
            end: (span.start + (step + 1) * interval_ns).min(span.end),
        };
        let name = own.first().map(|collection| collection.node.clone()).unwrap_or_default();
        let mut providers: Vec<String> = engine
            .manifests()
            .iter()
            .flat_map(|manifest| &manifest.sources)
            .filter(|source| source.name == "pauses" && source.node == name)
            .map(|source| source.provider.clone())
            .collect();
        providers.dedup();
        NodeGc {
            node: name,
            collectors,
            providers,
            whole: figures(own, span, span.start),
            intervals: (0..steps).map(|number| figures(own, step(number), span.start)).collect(),
        }
    };
    Ok(collections.chunk_by(|a, b| a.node == b.node).map(of_node).collect())
}

/// `own` are all collections of the node in order. The last one before the window gives the heap's occupancy at the
/// start.
fn figures(own: &[Collection], window: Interval, begin_ns: i64) -> GcFigures {
    let first = own.partition_point(|collection| collection.start_ns < window.start);
    let end = own.partition_point(|collection| collection.start_ns < window.end);
    let within = &own[first..end];
    let mut pauses: Vec<i64> = within.iter().map(|collection| collection.paused_ns).collect();
    pauses.sort_unstable();
    let paused_ns: i64 = pauses.iter().sum();
    let seconds = window.length() as f64 / 1e9;
    let pairs = || (first.max(1)..end).map(|at| (&own[at - 1], &own[at]));
    let grown = |of: &dyn Fn(&Collection, &Collection) -> Option<i64>| {
        let known: Vec<i64> = pairs().filter_map(|(last, this)| of(last, this)).collect();
        (!known.is_empty()).then(|| known.iter().map(|bytes| (*bytes).max(0)).sum::<i64>() as f64 / seconds)
    };
    GcFigures {
        start_s: (window.start - begin_ns) as f64 / 1e9,
        length_s: seconds,
        young: within.iter().filter(|collection| collection.is_young()).count(),
        old: within.iter().filter(|collection| !collection.is_young() && !collection.is_full()).count(),
        full: within.iter().filter(|collection| collection.is_full()).count(),
        paused_ms: ms(paused_ns),
        paused_share: paused_ns as f64 / window.length().max(1) as f64,
        pause_p50_ms: quantile_of_sorted(&pauses, 0.5).map(ms),
        pause_max_ms: pauses.last().copied().map(ms),
        allocated_bytes_per_s: grown(&|last, this| Some(this.before_bytes? - last.after_bytes?)),
        kept_bytes_per_s: grown(&|last, this| {
            if this.is_young() { Some(this.after_bytes? - last.after_bytes?) } else { None }
        }),
        heap_after_bytes: within.iter().rev().find_map(|collection| collection.after_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;
    const MB: i64 = 1_000_000;

    fn collection(second: i64, collector: &str, paused_ms: i64, before_mb: i64, after_mb: i64) -> Collection {
        Collection {
            node: "n".into(),
            collector: collector.into(),
            start_ns: second * S,
            paused_ns: paused_ms * MB,
            before_bytes: Some(before_mb * MB),
            after_bytes: Some(after_mb * MB),
        }
    }

    #[test]
    fn rates_are_from_one_collection_to_the_next() {
        let mut own = vec![
            collection(1, "G1New", 10, 400, 100),
            collection(3, "G1New", 20, 500, 130),
            collection(4, "G1Old", 90, 530, 50),
            collection(9, "G1New", 30, 450, 40),
        ];
        let all = figures(&own, Interval { start: 0, end: 10 * S }, 0);
        assert_eq!((all.young, all.old, all.full), (3, 1, 0));
        assert_eq!((all.paused_ms, all.pause_max_ms), (150.0, Some(90.0)));
        assert!((all.paused_share - 0.015).abs() < 1e-9);
        // 400 MB are allocated each time; 30 MB stay at first, and later less than before.
        assert_eq!(all.allocated_bytes_per_s, Some(120e6));
        assert_eq!(all.kept_bytes_per_s, Some(3e6));
        assert_eq!(all.heap_after_bytes, Some(40 * MB));
        let calm = figures(&own, Interval { start: 5 * S, end: 8 * S }, 0);
        assert_eq!((calm.young, calm.allocated_bytes_per_s, calm.pause_p50_ms), (0, None, None));
        let first = figures(&own, Interval { start: 0, end: 2 * S }, 0);
        assert_eq!((first.young, first.allocated_bytes_per_s, first.heap_after_bytes), (1, None, Some(100 * MB)));
        own.push(collection(9, "G1Full", 500, 460, 30));
        let all = figures(&own, Interval { start: 0, end: 10 * S }, 0);
        assert_eq!((all.young, all.old, all.full), (3, 1, 1));
    }
}
