//! Pools, tables and valves at the end of a window, with their counts within it.

use super::answers::{LiveDropped, LivePool, LiveTable, LiveValve};
use super::bin::{Bin, Keyed, PoolReading, TableReading, ValveReading};
use super::names::Names;
use super::{Live, LiveWindow, parts};
use crate::percentiles::ms;
use std::collections::BTreeMap;

/// An attached valve has a row for each of its windows. A valve without a row for so many windows, and for so long, was removed.
const MISSED: i64 = 3;
const GONE_NS: i64 = 5_000_000_000;

/// The first and the last reading of a counter for a window. The first is the last reading before the window, if there
/// is one, so that the difference covers the whole window.
struct Span<'a, T> {
    first: &'a T,
    last: &'a T,
    /// All readings within the window.
    within: Vec<&'a T>,
}

/// The rate per second between two readings of a counter.
fn rate(from: Option<i64>, to: Option<i64>, seconds: f64) -> Option<f64> {
    let (from, to) = (from?, to?);
    // The counters of a node that was restarted begin at 0 again.
    (seconds > 0.0 && to >= from).then(|| to.saturating_sub(from) as f64 / seconds)
}

fn between(from_ns: i64, to_ns: i64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

impl Live {
    /// The readings that count for a window, by the number of the name, which begins with the node.
    fn spans<T>(
        &self,
        window: LiveWindow,
        names: &Names,
        of: impl Fn(&Bin) -> &Keyed<T>,
    ) -> BTreeMap<u16, Span<'_, T>> {
        let mut spans: BTreeMap<u16, Span<'_, T>> = BTreeMap::new();
        let is_shown = self.shown(window, names);
        for (_, bin) in self.within(window) {
            for (number, reading) in of(bin).iter().filter(|(number, _)| is_shown(*number)) {
                let span = spans.entry(*number).or_insert(Span { first: reading, last: reading, within: Vec::new() });
                span.last = reading;
                span.within.push(reading);
            }
        }
        let before: Vec<_> = self.within(LiveWindow { from_ns: i64::MIN, to_ns: window.from_ns, ..window }).collect();
        for (number, span) in &mut spans {
            if let Some(reading) = before.iter().rev().find_map(|(_, bin)| of(bin).get(*number)) {
                span.first = reading;
            }
        }
        spans
    }

    /// Thread pools that were used since the node started, those with the most waiting tasks first.
    pub fn pools(&self, window: LiveWindow) -> Vec<LivePool> {
        let spans = self.spans(window, &self.names.pools, |bin| &bin.pools);
        let used = spans
            .into_iter()
            .filter(|(_, span)| span.last.completed > 0 || span.last.active > 0 || span.last.pending > 0);
        let mut pools: Vec<LivePool> = used.map(|(number, span)| self.pool(number, &span)).collect();
        pools.sort_by(|a, b| {
            (b.pending, b.active, b.most_pending)
                .cmp(&(a.pending, a.active, a.most_pending))
                .then_with(|| b.completed_per_s.unwrap_or_default().total_cmp(&a.completed_per_s.unwrap_or_default()))
        });
        pools
    }

    fn pool(&self, number: u16, span: &Span<'_, PoolReading>) -> LivePool {
        let (node, pool) = parts(self.names.pools.name(number));
        let (first, last) = (span.first, span.last);
        let most = |value: fn(&PoolReading) -> i64| span.within.iter().map(|reading| value(reading)).max().unwrap_or(0);
        LivePool {
            node: node.to_string(),
            pool: pool.to_string(),
            active: last.active,
            pending: last.pending,
            blocked: last.blocked,
            most_active: most(|reading| reading.most_active),
            most_pending: most(|reading| reading.most_pending),
            completed_per_s: rate(Some(first.completed), Some(last.completed), between(first.time_ns, last.time_ns)),
            newly_blocked: last.total_blocked.saturating_sub(first.total_blocked).max(0),
            max_size: last.max_size,
        }
    }

    /// Messages that nodes dropped in a window, the most frequent first.
    pub fn dropped(&self, window: LiveWindow) -> Vec<LiveDropped> {
        let spans = self.spans(window, &self.names.messages, |bin| &bin.dropped);
        let named = spans.into_iter().map(|(number, span)| {
            let (node, message) = parts(self.names.messages.name(number));
            let dropped = span.last.saturating_sub(*span.first).max(0);
            LiveDropped { node: node.to_string(), message: message.to_string(), dropped }
        });
        let mut dropped: Vec<LiveDropped> = named.filter(|one| one.dropped > 0).collect();
        dropped.sort_by_key(|one| -one.dropped);
        dropped
    }

    /// Tables, those with most local reads and writes first.
    pub fn tables(&self, window: LiveWindow) -> Vec<LiveTable> {
        let spans = self.spans(window, &self.names.tables, |bin| &bin.tables);
        let mut tables: Vec<LiveTable> = spans.into_iter().map(|(number, span)| self.table(number, &span)).collect();
        let busy = |table: &LiveTable| table.reads_per_s.unwrap_or_default() + table.writes_per_s.unwrap_or_default();
        tables.sort_by(|a, b| busy(b).total_cmp(&busy(a)).then_with(|| a.table.cmp(&b.table)));
        tables
    }

    fn table(&self, number: u16, span: &Span<'_, TableReading>) -> LiveTable {
        let (node, table) = parts(self.names.tables.name(number));
        let (first, last) = (span.first, span.last);
        let passed_s = between(first.time_ns, last.time_ns);
        let mean_us = |total: [Option<i64>; 2], count: [Option<i64>; 2]| {
            let count = rate(count[0], count[1], 1.0).filter(|count| *count > 0.0)?;
            Some(rate(total[0], total[1], 1.0)? / 1e3 / count)
        };
        LiveTable {
            node: node.to_string(),
            table: table.to_string(),
            reads_per_s: rate(first.reads, last.reads, passed_s),
            writes_per_s: rate(first.writes, last.writes, passed_s),
            local_read_us: mean_us([first.read_total_ns, last.read_total_ns], [first.reads, last.reads]),
            local_write_us: mean_us([first.write_total_ns, last.write_total_ns], [first.writes, last.writes]),
            sstables: last.sstables,
            live_disk_bytes: last.live_disk_bytes,
            memtable_bytes: last.memtable_bytes,
            pending_compactions: last.pending_compactions,
            running_compactions: last.running_compactions,
            compacted_share: last
                .compacting_bytes
                .filter(|bytes| *bytes > 0)
                .map(|bytes| last.compacted_bytes.unwrap_or_default() as f64 / bytes as f64),
            sstables_per_read_p95: last.sstables_per_read_p95,
            tombstones_per_slice_p95: last.tombstones_per_slice_p95,
        }
    }

    pub fn valves(&self, window: LiveWindow) -> Vec<LiveValve> {
        let spans = self.spans(window, &self.names.valves, |bin| &bin.valves);
        let valve = |(number, span): (u16, Span<'_, ValveReading>)| {
            let (node, valve) = parts(self.names.valves.name(number));
            let last = span.last;
            LiveValve {
                node: node.to_string(),
                valve: valve.to_string(),
                law: last.law.clone(),
                state: last.state.clone(),
                limit: last.next_limit,
                in_flight: last.in_flight,
                waiting: last.waiting,
                throughput_per_s: last.throughput_per_s,
                mean_ms: last.mean_ns.map(ms),
                p99_ms: last.p99_ns.map(ms),
                refused: span.within.iter().fold(0i64, |sum, reading| sum.saturating_add(reading.refused)),
                reason: last.reason.clone(),
            }
        };
        let is_there = |(_, span): &(u16, Span<'_, ValveReading>)| {
            let silent_ns = window.to_ns.saturating_sub(span.last.time_ns);
            silent_ns <= GONE_NS.max(span.last.interval_ns.saturating_mul(MISSED))
        };
        spans.into_iter().filter(is_there).map(valve).collect()
    }
}
