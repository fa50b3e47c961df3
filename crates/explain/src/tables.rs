//! How the tables of the recorded nodes are: their disk space, SSTables and tombstones, and what their reads and writes took.

use crate::engine::Engine;
use crate::{Error, query};
use serde::Serialize;

/// A table of a node. What the node did not tell is None.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableHealth {
    pub node: String,
    /// `keyspace.table`.
    pub table: String,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    /// On the node itself, at the mean of the recording.
    pub local_read_us: Option<f64>,
    pub local_write_us: Option<f64>,
    pub sstables: Option<i64>,
    pub live_disk_bytes: Option<i64>,
    /// With SSTables that are obsolete and not removed yet.
    pub total_disk_bytes: Option<i64>,
    /// Written by flushes and compactions for each byte flushed, since the node started.
    pub write_amplification: Option<f64>,
    pub pending_compactions: Option<i64>,
    /// 95th percentiles of the node's last minutes.
    pub sstables_per_read_p95: Option<f64>,
    pub tombstones_per_slice_p95: Option<f64>,
    pub live_cells_per_slice_p95: Option<f64>,
    /// Estimated share of tombstones that are past gc_grace.
    pub droppable_ratio: Option<f64>,
}

impl TableHealth {
    /// Cassandra's own.
    pub fn is_of_system(&self) -> bool {
        self.table.starts_with("system")
    }
}

/// The tables of each node, by name.
pub fn tables(engine: &Engine) -> Result<Vec<TableHealth>, Error> {
    let rows = engine.sql(&query::TABLE_HEALTH.fill(&[]))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let length = rows.integers("length_ns")?;
    let (integers, numbers) = (|name| rows.integers_or_null(name), |name| rows.numbers_or_null(name));
    let (reads, writes) = (integers("reads")?, integers("writes")?);
    let (read_total, write_total) = (integers("read_total_ns")?, integers("write_total_ns")?);
    let (flushed, compacted) = (integers("bytes_flushed")?, integers("bytes_compacted")?);
    let (sstables, pending) = (integers("sstables")?, integers("pending_compactions")?);
    let (live, total) = (integers("live_disk_bytes")?, integers("total_disk_bytes")?);
    let (per_read, tombstones) = (numbers("sstables_per_read_p95")?, numbers("tombstones_per_slice_p95")?);
    let (live_cells, droppable) = (numbers("live_cells_per_slice_p95")?, numbers("droppable_ratio")?);
    let health = (0..rows.rows()).map(|row| {
        let per_s =
            |count: Option<i64>| count.filter(|_| length[row] > 0).map(|count| count as f64 * 1e9 / length[row] as f64);
        let mean_us = |total: Option<i64>, count: Option<i64>| {
            let (total, count) = total.zip(count)?;
            (count > 0).then(|| total as f64 / count as f64 / 1e3)
        };
        TableHealth {
            node: node[row].clone(),
            table: format!("{}.{}", keyspace[row], table[row]),
            reads_per_s: per_s(reads[row]),
            writes_per_s: per_s(writes[row]),
            local_read_us: mean_us(read_total[row], reads[row]),
            local_write_us: mean_us(write_total[row], writes[row]),
            sstables: sstables[row],
            live_disk_bytes: live[row],
            total_disk_bytes: total[row],
            write_amplification: flushed[row]
                .filter(|flushed| *flushed > 0)
                .map(|flushed| (flushed + compacted[row].unwrap_or(0)) as f64 / flushed as f64),
            pending_compactions: pending[row],
            sstables_per_read_p95: per_read[row],
            tombstones_per_slice_p95: tombstones[row],
            live_cells_per_slice_p95: live_cells[row],
            droppable_ratio: droppable[row],
        }
    });
    Ok(health.collect())
}
