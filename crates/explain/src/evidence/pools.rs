//! Queues before the thread pools that requests go through.

use super::in_node::{self, Waited, Waits};
use crate::association::SlowRequest;
use crate::engine::{Engine, Provider};
use crate::requests::Requests;
use crate::timeline::{Interval, covered_ns, merge};
use crate::traffic::SAMPLED;
use crate::{Error, query};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A window with fewer samples than this is not judged.
const FEWEST_SAMPLES: usize = 5;
/// The longest interval that one sample represents.
const LONGEST_SAMPLE_NS: i64 = 2_000_000_000;

#[derive(Debug, Clone)]
pub(crate) struct PoolSample {
    time_ns: i64,
    /// A sample represents the time from half-way to the previous sample until half-way to the next.
    window: Interval,
    node: String,
    pool: String,
    active: i64,
    pending: i64,
    max_size: Option<i64>,
}

/// A pool whose threads were all busy while tasks waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FullPool {
    pub node: String,
    pub pool: String,
    pub max_size: i64,
    /// Share of the samples in which the pool was full.
    pub share: f64,
    pub mean_pending: f64,
    pub most_pending: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Pools {
    samples: Vec<PoolSample>,
    /// Queues that requests show by when they were in the node; none unless all of its connections were followed and its threads
    /// are known. Which requests waited is known where they have no other times.
    waits: Waits,
    /// Whether the threads of each node of the requests are known.
    are_known: Vec<bool>,
    /// When tasks waited before other pools.
    behind: Vec<Interval>,
    /// The nodes of the requests.
    nodes: Vec<String>,
}

/// Whether some connections on the wire were not followed.
fn is_sampled_wire(engine: &Engine) -> Result<bool, Error> {
    let rows = engine.sql(&query::HEAVIEST.fill(&[]))?;
    Ok(rows.numbers_or_null("weight")?.first().copied().flatten().is_some_and(|weight| weight > SAMPLED))
}

impl Pools {
    pub(crate) fn load(engine: &Engine, requests: &Requests) -> Result<Pools, Error> {
        let rows = engine.sql(&query::POOL_QUEUES.fill(&[]))?;
        let (time, active, pending) = (rows.integers("time_ns")?, rows.integers("active")?, rows.integers("pending")?);
        let (node, pool, max_size) = (rows.texts("node")?, rows.texts("pool")?, rows.integers_or_null("max_size")?);
        let same = |a: usize, b: usize| node[a] == node[b] && pool[a] == pool[b];
        let samples = (0..time.len()).map(|row| {
            let before = row.checked_sub(1).filter(|before| same(*before, row)).map(|before| time[row] - time[before]);
            let after =
                Some(row + 1).filter(|next| *next < time.len() && same(*next, row)).map(|next| time[next] - time[row]);
            let half = |distance: Option<i64>, other: Option<i64>| {
                distance.or(other).unwrap_or_default().min(LONGEST_SAMPLE_NS) / 2
            };
            PoolSample {
                time_ns: time[row],
                window: Interval { start: time[row] - half(before, after), end: time[row] + half(after, before) },
                node: node[row].clone(),
                pool: pool[row].clone(),
                active: active[row],
                pending: pending[row],
                max_size: max_size[row].filter(|size| *size > 0),
            }
        });
        let samples: Vec<PoolSample> = samples.collect();
        let threads_of = |node: &String| {
            let of_node = samples.iter().filter(|sample| sample.node == *node && sample.pool == in_node::POOL);
            of_node.filter_map(|sample| sample.max_size).max().and_then(|size| usize::try_from(size).ok())
        };
        // Of some connections only, the requests show too few in the node.
        let is_whole = !is_sampled_wire(engine)?;
        let threads: Vec<Option<usize>> =
            requests.nodes.iter().map(|node| threads_of(node).filter(|_| is_whole)).collect();
        let (waits, are_known) = match engine.provider() {
            Provider::Wire | Provider::Jvm => {
                (in_node::waits_of(requests, &threads), threads.iter().map(Option::is_some).collect())
            }
            Provider::Load if threads.iter().all(Option::is_none) => Default::default(),
            Provider::Load => {
                let queues = in_node::queues_on_the_wire(engine, &requests.nodes, &threads)?;
                (Waits { queues, of_requests: Vec::new() }, Vec::new())
            }
        };
        let behind = samples.iter().filter(|sample| sample.pending > 0 && sample.pool != in_node::POOL);
        let mut pools = Pools {
            behind: merge(behind.map(|sample| sample.window).collect()),
            waits,
            are_known,
            nodes: requests.nodes.clone(),
            samples,
        };
        pools.drop_refuted();
        Ok(pools)
    }

    /// Keeps the waits of some requests, where `rows` are their indices in ascending order: the place in it becomes the index.
    pub(crate) fn keep_waits_of(&mut self, rows: &[usize]) {
        let kept = std::mem::take(&mut self.waits.of_requests).into_iter();
        self.waits.of_requests =
            kept.filter_map(|(row, waited_ns)| rows.binary_search(&row).ok().map(|row| (row, waited_ns))).collect();
    }

    /// How much of the time that a request overlapped queues it can have waited in one: its own wait for a thread, if that
    /// is known, and no queue before another pool was seen meanwhile.
    pub(crate) fn waited_ns(&self, request: &SlowRequest, overlapped_ns: i64) -> i64 {
        let under_way = Interval { start: request.start, end: request.end };
        let is_known = self.are_known.get(usize::from(request.node)).copied().unwrap_or(false);
        if !is_known || covered_ns(&self.behind, under_way) > 0 {
            return overlapped_ns;
        }
        let waits = &self.waits.of_requests;
        let own = waits.binary_search_by_key(&request.row, |(row, _)| *row).map_or(0, |place| waits[place].1);
        own.min(overlapped_ns)
    }

    /// Drops queues in which samples saw idle threads: those requests were in the node and waited elsewhere, such as in
    /// sockets that nobody read.
    fn drop_refuted(&mut self) {
        let Pools { samples, waits, nodes, .. } = self;
        // Sorted by node and time, as the query sorts them.
        let of_threads: Vec<&PoolSample> = samples.iter().filter(|sample| sample.pool == in_node::POOL).collect();
        waits.queues.retain(|Waited { window, node, .. }| {
            let node = &nodes[usize::from(*node)];
            let from = of_threads.partition_point(|sample| (&sample.node, sample.time_ns) < (node, window.start));
            let within = of_threads[from..].iter().take_while(|one| one.node == *node && one.time_ns < window.end);
            let is_idle = |sample: &PoolSample| sample.max_size.is_some_and(|size| sample.active < size);
            let mut within = within.peekable();
            within.peek().is_none() || !within.all(|sample| is_idle(sample))
        });
    }

    /// When tasks waited before any pool.
    pub(crate) fn queues(&self) -> Vec<Interval> {
        let sampled = self.samples.iter().filter(|sample| sample.pending > 0).map(|sample| sample.window);
        merge(sampled.chain(self.waits.queues.iter().map(|waited| waited.window)).collect())
    }

    /// The pool whose threads were all at work in at least half of its samples of a window, and the share of those.
    pub(crate) fn full_throughout(&self, window: Interval) -> Option<FullPool> {
        let mut by_pool: BTreeMap<(&str, &str), Vec<&PoolSample>> = BTreeMap::new();
        for sample in self.samples.iter().filter(|sample| sample.window.overlaps(window)) {
            by_pool.entry((&sample.node, &sample.pool)).or_default().push(sample);
        }
        let full = by_pool.into_iter().filter_map(|((node, pool), samples)| {
            let max_size = samples.iter().filter_map(|sample| sample.max_size).max()?;
            let full = samples.iter().filter(|sample| sample.active >= max_size).count();
            (samples.len() >= FEWEST_SAMPLES && full * 2 >= samples.len()).then(|| FullPool {
                node: node.into(),
                pool: pool.into(),
                max_size,
                share: full as f64 / samples.len() as f64,
                mean_pending: samples.iter().map(|sample| sample.pending as f64).sum::<f64>() / samples.len() as f64,
                most_pending: samples.iter().map(|sample| sample.pending).max().unwrap_or_default(),
            })
        });
        full.max_by(|a, b| a.share.total_cmp(&b.share).then(a.most_pending.cmp(&b.most_pending)))
    }

    /// Whether the samples of a pool saw a queue of this length in a window; otherwise the requests show it.
    pub(crate) fn is_sampled(&self, (node, pool): (&str, &str), pending: i64, window: Interval) -> bool {
        let is_of_it = |sample: &&PoolSample| sample.node == node && sample.pool == pool && sample.pending >= pending;
        self.samples.iter().filter(is_of_it).any(|sample| sample.window.overlaps(window))
    }

    /// The number of threads that a pool can have.
    pub(crate) fn threads(&self, (node, pool): (&str, &str)) -> Option<i64> {
        let of_pool = self.samples.iter().filter(|sample| sample.node == node && sample.pool == pool);
        of_pool.filter_map(|sample| sample.max_size).max()
    }

    /// (node, pool, most pending) of the pools that had waiting tasks in the window, the most first.
    pub(crate) fn longest_queues(&self, window: Interval) -> Vec<(String, String, i64)> {
        let mut most: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for sample in self.samples.iter().filter(|sample| sample.pending > 0 && sample.window.overlaps(window)) {
            let pending = most.entry((&sample.node, &sample.pool)).or_default();
            *pending = sample.pending.max(*pending);
        }
        // Requests may hold their threads because the stage behind them is full.
        let is_behind = |sample: &&PoolSample| {
            let is_full = sample.pending > 0 && sample.max_size.is_some_and(|size| sample.active >= size);
            is_full && sample.pool != in_node::POOL && sample.window.overlaps(window)
        };
        let full: BTreeSet<&str> = self.samples.iter().filter(is_behind).map(|sample| sample.node.as_str()).collect();
        let of_threads = self.waits.queues.iter().filter(|waited| waited.window.overlaps(window));
        for waited in of_threads.filter(|waited| !full.contains(self.nodes[usize::from(waited.node)].as_str())) {
            let pending = most.entry((&self.nodes[usize::from(waited.node)], in_node::POOL)).or_default();
            *pending = i64::try_from(waited.most).unwrap_or(i64::MAX).max(*pending);
        }
        let mut most: Vec<(String, String, i64)> =
            most.into_iter().map(|((node, pool), pending)| (node.into(), pool.into(), pending)).collect();
        most.sort_by_key(|(_, _, pending)| -pending);
        most
    }

    /// Pools that were full in the windows, those that were full most often first.
    pub(crate) fn full(&self, windows: &[Interval]) -> Vec<FullPool> {
        let mut samples: BTreeMap<(&str, &str), Vec<&PoolSample>> = BTreeMap::new();
        for sample in self.samples.iter().filter(|sample| windows.iter().any(|window| sample.window.overlaps(*window)))
        {
            samples.entry((&sample.node, &sample.pool)).or_default().push(sample);
        }
        let mut full: Vec<FullPool> = samples
            .into_iter()
            .filter_map(|((node, pool), samples)| {
                let max_size = samples.iter().filter_map(|sample| sample.max_size).max()?;
                let when_full = samples.iter().filter(|sample| sample.active >= max_size && sample.pending > 0).count();
                (when_full > 0).then(|| FullPool {
                    node: node.into(),
                    pool: pool.into(),
                    max_size,
                    share: when_full as f64 / samples.len() as f64,
                    mean_pending: samples.iter().map(|sample| sample.pending as f64).sum::<f64>()
                        / samples.len() as f64,
                    most_pending: samples.iter().map(|sample| sample.pending).max().unwrap_or_default(),
                })
            })
            .collect();
        full.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.most_pending.cmp(&a.most_pending)));
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_chosen_requests_get_the_places_of_those() {
        let waits = Waits { queues: Vec::new(), of_requests: vec![(2, 5), (4, 6), (9, 7)] };
        let mut pools = Pools { waits, ..Pools::default() };
        pools.keep_waits_of(&[1, 4, 8, 9]);
        assert_eq!(pools.waits.of_requests, [(1, 6), (3, 7)]);
    }
}
