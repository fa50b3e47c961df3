//! Figures of the recorded nodes' tables: disk space, SSTables, tombstones, and latencies of reads and writes.

use crate::engine::{Batches, Engine};
use crate::query::Value;
use crate::timeline::Interval;
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeMap;

/// A table of a node. Values that the node did not report are None.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableHealth {
    pub node: String,
    /// The table as `keyspace.table`.
    pub table: String,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    /// Mean latency on the node itself, over the recording.
    pub local_read_us: Option<f64>,
    pub local_write_us: Option<f64>,
    pub coordinator_reads_per_s: Option<f64>,
    pub coordinator_writes_per_s: Option<f64>,
    /// Mean latency at the coordinator, including waits for replicas, over the node's last minutes.
    pub coordinator_read_us: Option<f64>,
    pub coordinator_write_us: Option<f64>,
    pub sstables: Option<i64>,
    /// SSTables per level from level 0 on, under LeveledCompactionStrategy.
    pub sstables_by_level: Option<Vec<i64>>,
    /// SSTables per time window, newest first, under TimeWindowCompactionStrategy.
    pub sstables_by_window: Option<Vec<i64>>,
    pub largest_sstable_bytes: Option<i64>,
    /// Time since the largest SSTable was written; None if the files could not be read.
    pub largest_sstable_age_s: Option<i64>,
    pub live_disk_bytes: Option<i64>,
    /// Disk space including obsolete SSTables that are not removed yet.
    pub total_disk_bytes: Option<i64>,
    /// Write amplification: bytes written by flushes and compactions for each byte flushed, since the node started.
    pub write_amplification: Option<f64>,
    pub pending_compactions: Option<i64>,
    /// Pending compactions at the first reading.
    pub pending_at_first: Option<i64>,
    pub running_compactions: Option<i64>,
    /// Bytes that the running compactions have to read in total, and bytes that they have read.
    pub compacting_bytes: Option<i64>,
    pub compacted_bytes: Option<i64>,
    /// Percentiles over the node's last minutes. The agent reports the 95th; without it, two figures have the 99th only.
    pub sstables_per_read_p95: Option<f64>,
    pub tombstones_per_slice_p95: Option<f64>,
    pub live_cells_per_slice_p95: Option<f64>,
    pub tombstones_per_slice_p99: Option<f64>,
    pub live_cells_per_slice_p99: Option<f64>,
    /// Estimated share of tombstones that are past gc_grace.
    pub droppable_ratio: Option<f64>,
    pub percent_repaired: Option<f64>,
    pub mean_partition_bytes: Option<i64>,
    pub max_partition_bytes: Option<i64>,
    /// Compression ratio: size on disk divided by size before compression.
    pub compression_ratio: Option<f64>,
    pub bloom_false_positives: Option<i64>,
    pub bloom_false_ratio: Option<f64>,
    pub key_cache_hit_rate: Option<f64>,
    /// Hit ratio since the node started; None if the row cache was never used.
    pub row_cache_hit_rate: Option<f64>,
}

impl TableHealth {
    /// Whether the table is one of Cassandra's own.
    pub fn is_of_system(&self) -> bool {
        self.table.starts_with("system.") || self.table.starts_with("system_")
    }

    /// The p99, or the p95 if no p99 was recorded.
    pub fn tombstones_per_slice(&self) -> Option<f64> {
        self.tombstones_per_slice_p95.or(self.tombstones_per_slice_p99)
    }

    pub fn live_cells_per_slice(&self) -> Option<f64> {
        self.live_cells_per_slice_p95.or(self.live_cells_per_slice_p99)
    }

    /// The largest SSTable's share of the live ones.
    pub fn largest_share(&self) -> Option<f64> {
        let (largest, live) = self.largest_sstable_bytes.zip(self.live_disk_bytes)?;
        (live > 0).then(|| largest as f64 / live as f64)
    }
}

/// Even an idle table has at least one row in this time. So its first and last values are looked up only in this much
/// of the recording's start and end, and the up to 86,400 rows a day between them are not read.
const ENDS_NS: i64 = 120_000_000_000;

/// The tables of each node, by name.
pub fn tables(engine: &Engine) -> Result<Vec<TableHealth>, Error> {
    let spans = spans(engine)?;
    let ends: Vec<String> = spans
        .iter()
        .map(|(node, ReadSpan { span, .. })| {
            let (node, first, last) = (node.replace('\'', "''"), span.start + ENDS_NS, span.end - ENDS_NS);
            format!("(node = '{node}' AND (time_ns <= {first} OR time_ns >= {last}))")
        })
        .collect();
    let ends = if ends.is_empty() { "false".to_string() } else { ends.join(" OR ") };
    let rows = engine.sql(&query::TABLE_HEALTH.fill(&[("filter", Value::Condition(&format!("({ends})")))]))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (first, last) = (rows.integers("first_ns")?, rows.integers("last_ns")?);
    let readings = rows.integers("readings")?;
    let lengths_ns = (0..rows.rows())
        .map(|row| {
            let span = spans.get(&node[row]);
            // A table with a single reading has no rate, even if nothing has changed since.
            if readings[row] < 2 && span.is_none_or(|span| span.readings < 2) {
                return 0;
            }
            let end = span.map_or(last[row], |span| span.span.end);
            // A dropped table has rows only until then.
            let is_there = last[row] >= end - ENDS_NS;
            if is_there { end - first[row] } else { last[row] - first[row] }
        })
        .collect();
    let columns = Columns { rows: &rows, lengths_ns };
    let (reads, writes) = (columns.per_s("reads")?, columns.per_s("writes")?);
    let local_reads = columns.mean_us("reads", "read_total_ns")?;
    let local_writes = columns.mean_us("writes", "write_total_ns")?;
    let (coordinated_reads, coordinated_writes) =
        (columns.per_s("coordinator_reads")?, columns.per_s("coordinator_writes")?);
    let (integers, numbers) = (|name| rows.integers_or_null(name), |name| rows.numbers_or_null(name));
    let (read_mean, write_mean) = (numbers("coordinator_read_mean_ns")?, numbers("coordinator_write_mean_ns")?);
    let (flushed, compacted) = (integers("bytes_flushed")?, integers("bytes_compacted")?);
    let (levels, windows) = (columns.counts("sstables_by_level")?, columns.counts("sstables_by_window")?);
    let (sstables, largest) = (integers("sstables")?, integers("largest_sstable_bytes")?);
    let largest_age = integers("largest_sstable_age_s")?;
    let (live, total) = (integers("live_disk_bytes")?, integers("total_disk_bytes")?);
    let (pending, pending_at_first) = (integers("pending_compactions")?, integers("pending_at_first")?);
    let running = integers("running_compactions")?;
    let (compacting, done) = (integers("compacting_bytes")?, integers("compacted_bytes")?);
    let per_read = numbers("sstables_per_read_p95")?;
    let (tombstones_p95, tombstones_p99) = (numbers("tombstones_per_slice_p95")?, numbers("tombstones_per_slice_p99")?);
    let (live_p95, live_p99) = (numbers("live_cells_per_slice_p95")?, numbers("live_cells_per_slice_p99")?);
    let (droppable, repaired) = (numbers("droppable_ratio")?, numbers("percent_repaired")?);
    let (mean_partition, max_partition) = (integers("mean_partition_bytes")?, integers("max_partition_bytes")?);
    let (compression, key_cache) = (numbers("compression_ratio")?, numbers("key_cache_hit_rate")?);
    let (bloom, bloom_ratio) = (integers("bloom_false_positives")?, numbers("bloom_false_ratio")?);
    let (row_hits, row_misses) = (integers("row_cache_hits")?, integers("row_cache_misses")?);
    let health = (0..rows.rows()).map(|row| TableHealth {
        node: node[row].clone(),
        table: format!("{}.{}", keyspace[row], table[row]),
        reads_per_s: reads[row],
        writes_per_s: writes[row],
        local_read_us: local_reads[row],
        local_write_us: local_writes[row],
        coordinator_reads_per_s: coordinated_reads[row],
        coordinator_writes_per_s: coordinated_writes[row],
        coordinator_read_us: read_mean[row].map(|ns| ns / 1e3),
        coordinator_write_us: write_mean[row].map(|ns| ns / 1e3),
        sstables: sstables[row],
        sstables_by_level: levels[row].clone(),
        sstables_by_window: windows[row].clone(),
        largest_sstable_bytes: largest[row].filter(|bytes| *bytes > 0),
        largest_sstable_age_s: largest_age[row],
        live_disk_bytes: live[row],
        total_disk_bytes: total[row],
        write_amplification: flushed[row]
            .filter(|flushed| *flushed > 0)
            .map(|flushed| (flushed + compacted[row].unwrap_or(0)) as f64 / flushed as f64),
        pending_compactions: pending[row],
        pending_at_first: pending_at_first[row],
        running_compactions: running[row],
        compacting_bytes: compacting[row],
        compacted_bytes: done[row],
        sstables_per_read_p95: per_read[row],
        tombstones_per_slice_p95: tombstones_p95[row],
        live_cells_per_slice_p95: live_p95[row],
        tombstones_per_slice_p99: tombstones_p99[row],
        live_cells_per_slice_p99: live_p99[row],
        droppable_ratio: droppable[row],
        percent_repaired: repaired[row],
        mean_partition_bytes: mean_partition[row],
        max_partition_bytes: max_partition[row],
        // Cassandra reports -1 if nothing is compressed.
        compression_ratio: compression[row].filter(|ratio| *ratio > 0.0),
        bloom_false_positives: bloom[row],
        bloom_false_ratio: bloom_ratio[row],
        key_cache_hit_rate: key_cache[row],
        row_cache_hit_rate: row_hits[row].zip(row_misses[row]).and_then(|(hits, misses)| {
            let asked = hits + misses;
            (asked > 0).then(|| hits as f64 / asked as f64)
        }),
    });
    Ok(health.collect())
}

/// The time between the first and last reading of a node's tables.
struct ReadSpan {
    span: Interval,
    /// Number of reads, where the source reports it; else 0.
    readings: i64,
}

/// Reading times by node.
fn spans(engine: &Engine) -> Result<BTreeMap<String, ReadSpan>, Error> {
    let rows = engine.sql(&query::TABLE_SPANS.fill(&[]))?;
    let (first, last, readings) = (rows.integers("first_ns")?, rows.integers("last_ns")?, rows.integers("readings")?);
    // The reports of sources are those of the whole recording.
    let within = |span: Interval| engine.window().map_or(span, |window| span.clip(window));
    let span = |(row, node): (usize, String)| {
        let span = within(Interval { start: first[row], end: last[row] });
        (node, ReadSpan { span, readings: readings[row] })
    };
    Ok(rows.texts("node")?.into_iter().enumerate().map(span).collect())
}

struct Columns<'a> {
    rows: &'a Batches,
    /// The time between the first and last reading of each row's table.
    lengths_ns: Vec<i64>,
}

impl Columns<'_> {
    /// The difference of two counter readings as a rate.
    fn per_s(&self, column: &str) -> Result<Vec<Option<f64>>, Error> {
        let rate = |(count, length): (Option<i64>, &i64)| {
            count.filter(|_| *length > 0).map(|count| count as f64 * 1e9 / *length as f64)
        };
        Ok(self.rows.integers_or_null(column)?.into_iter().zip(&self.lengths_ns).map(rate).collect())
    }

    /// A mean: a sum of times divided by their number.
    fn mean_us(&self, count: &str, total: &str) -> Result<Vec<Option<f64>>, Error> {
        let (counts, totals) = (self.rows.integers_or_null(count)?, self.rows.integers_or_null(total)?);
        let mean = |(total, count): (Option<i64>, Option<i64>)| {
            let (total, count) = total.zip(count)?;
            (count > 0).then(|| total as f64 / count as f64 / 1e3)
        };
        Ok(totals.into_iter().zip(counts).map(mean).collect())
    }

    /// Formats numbers as a JSON list.
    fn counts(&self, column: &str) -> Result<Vec<Option<Vec<i64>>>, Error> {
        Ok(self.rows.texts(column)?.iter().map(|text| serde_json::from_str(text).ok()).collect())
    }
}
