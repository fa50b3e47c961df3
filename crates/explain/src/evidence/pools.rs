//! Queues before the thread pools that requests go through.

use super::in_node::{self, Waited};
use crate::engine::{Engine, Provider};
use crate::requests::Requests;
use crate::timeline::{Interval, merge};
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeMap;

/// A window with fewer samples than this is not judged.
const FEWEST_SAMPLES: usize = 5;
/// The longest interval that one sample represents.
const LONGEST_SAMPLE_NS: i64 = 2_000_000_000;

#[derive(Debug, Clone)]
pub(crate) struct PoolSample {
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
    /// Queues that the requests themselves show; empty unless their times are those in the node.
    waited: Vec<Waited>,
    /// The nodes of the requests.
    nodes: Vec<String>,
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
        let waited = match engine.provider() {
            // These times begin and end in the driver.
            Provider::Load => Vec::new(),
            Provider::Wire | Provider::Jvm => {
                in_node::waited(requests, &requests.nodes.iter().map(threads_of).collect::<Vec<_>>())
            }
        };
        Ok(Pools { samples, waited, nodes: requests.nodes.clone() })
    }

    /// When tasks waited before any pool.
    pub(crate) fn queues(&self) -> Vec<Interval> {
        let sampled = self.samples.iter().filter(|sample| sample.pending > 0).map(|sample| sample.window);
        merge(sampled.chain(self.waited.iter().map(|waited| waited.window)).collect())
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

    /// (node, pool, most pending) of the pools that had waiting tasks in the window, the most first.
    pub(crate) fn longest_queues(&self, window: Interval) -> Vec<(String, String, i64)> {
        let mut most: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for sample in self.samples.iter().filter(|sample| sample.pending > 0 && sample.window.overlaps(window)) {
            let pending = most.entry((&sample.node, &sample.pool)).or_default();
            *pending = sample.pending.max(*pending);
        }
        for waited in self.waited.iter().filter(|waited| waited.window.overlaps(window)) {
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
