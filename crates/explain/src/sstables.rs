//! The SSTables of tables, one by one: their sizes, levels, ages and tombstones.

use crate::compaction_options::window_seconds;
use crate::engine::Engine;
use crate::{Error, query, text};
use serde::Serialize;
use std::collections::BTreeMap;

/// An SSTable that existed at the end of the recording. Values that the node did not report are None.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sstable {
    pub node: String,
    /// The table as `keyspace.table`.
    pub table: String,
    /// Path of its Data.db file.
    pub file: String,
    /// Where the figures come from: SSTableReader, or sstablemetadata.
    pub source: String,
    pub level: Option<i64>,
    /// Size of all its files.
    pub disk_bytes: Option<i64>,
    /// Size of the data before compression.
    pub data_bytes: Option<i64>,
    /// Compression ratio: size on disk divided by size before compression.
    pub compression_ratio: Option<f64>,
    /// Age at the end of the recording.
    pub age_s: Option<i64>,
    pub partitions: Option<i64>,
    pub rows: Option<i64>,
    pub cells: Option<i64>,
    pub mean_partition_bytes: Option<i64>,
    pub max_partition_bytes: Option<i64>,
    /// Estimated share of tombstones that are past gc_grace.
    pub droppable_ratio: Option<f64>,
    /// Write timestamps of the oldest and the newest cell, as the writers set them.
    pub min_timestamp_us: Option<i64>,
    pub max_timestamp_us: Option<i64>,
    /// Smallest and largest TTL of its cells; 0 if some cells, or all, have none.
    pub min_ttl_s: Option<i64>,
    pub max_ttl_s: Option<i64>,
    /// When an incremental repair marked it as repaired; 0 if none did.
    pub repaired_at_ms: Option<i64>,
    pub first_token: Option<String>,
    pub last_token: Option<String>,
}

impl Sstable {
    /// Whether the table is one of Cassandra's own.
    pub fn is_of_system(&self) -> bool {
        self.table.starts_with("system.") || self.table.starts_with("system_")
    }
}

/// All SSTables, by node and table, the largest first.
pub fn sstables(engine: &Engine) -> Result<Vec<Sstable>, Error> {
    let rows = engine.sql(&query::SSTABLES.fill(&[]))?;
    let end_ns = engine.span()?.end;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (file, source) = (rows.texts("file")?, rows.texts("source")?);
    let (first_token, last_token) = (rows.texts("first_token")?, rows.texts("last_token")?);
    let (integers, numbers) = (|name| rows.integers_or_null(name), |name| rows.numbers_or_null(name));
    let (level, disk, data) = (integers("level")?, integers("disk_bytes")?, integers("data_bytes")?);
    let (written, partitions) = (integers("written_ns")?, integers("partitions")?);
    let (row_count, cells) = (integers("row_count")?, integers("cells")?);
    let (mean_partition, max_partition) = (integers("mean_partition_bytes")?, integers("max_partition_bytes")?);
    let (min_timestamp, max_timestamp) = (integers("min_timestamp_us")?, integers("max_timestamp_us")?);
    let (min_ttl, max_ttl, repaired) = (integers("min_ttl_s")?, integers("max_ttl_s")?, integers("repaired_at_ms")?);
    let (compression, droppable) = (numbers("compression_ratio")?, numbers("droppable_ratio")?);
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    let sstable = |row: usize| Sstable {
        node: node[row].clone(),
        table: format!("{}.{}", keyspace[row], table[row]),
        file: file[row].clone(),
        source: source[row].clone(),
        level: level[row],
        disk_bytes: disk[row],
        data_bytes: data[row],
        compression_ratio: compression[row],
        age_s: written[row].map(|written| (end_ns - written).max(0) / 1_000_000_000),
        partitions: partitions[row],
        rows: row_count[row],
        cells: cells[row],
        mean_partition_bytes: mean_partition[row],
        max_partition_bytes: max_partition[row],
        droppable_ratio: droppable[row],
        min_timestamp_us: min_timestamp[row],
        max_timestamp_us: max_timestamp[row],
        min_ttl_s: min_ttl[row],
        max_ttl_s: max_ttl[row],
        repaired_at_ms: repaired[row],
        first_token: some(&first_token[row]),
        last_token: some(&last_token[row]),
    };
    Ok((0..rows.rows()).map(sstable).collect())
}

/// SSTables of a table that its compaction treats alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SstableGroup {
    pub node: String,
    /// The table as `keyspace.table`.
    pub table: String,
    /// The group's name: `level 1`, `window of 2026-11-22T08:00:00Z`, or `up to 4.2 MB` if there are neither levels nor
    /// windows.
    pub group: String,
    pub sstables: usize,
    pub disk_bytes: i64,
}

/// The upper bound of the smallest tier, and the factor from one tier to the next. They are about those of
/// SizeTieredCompactionStrategy with min_threshold 4.
const TIER_BYTES: i64 = 1 << 20;
const TIER_TIMES: i64 = 4;

/// The groups of each table, in ascending order of level, window or size.
///
/// # Errors
/// A recording that can't be read.
pub fn sstable_groups(engine: &Engine, sstables: &[Sstable]) -> Result<Vec<SstableGroup>, Error> {
    let windows = windows(engine)?;
    let mut groups = Vec::new();
    for own in sstables.chunk_by(|a, b| a.node == b.node && a.table == b.table) {
        let Some(first) = own.first() else { continue };
        let has_levels = own.iter().any(|sstable| sstable.level.is_some_and(|level| level > 0));
        let window_s = windows.get(&(first.node.clone(), first.table.clone())).copied();
        let mut of_table: BTreeMap<i64, (usize, i64)> = BTreeMap::new();
        for sstable in own {
            let size = sstable.disk_bytes.unwrap_or(0);
            let group = match (has_levels, window_s) {
                (true, _) => sstable.level.unwrap_or(0),
                (false, Some(window)) => sstable.max_timestamp_us.unwrap_or(0).div_euclid(window * 1_000_000) * window,
                (false, None) => tier(size),
            };
            let (count, bytes) = of_table.entry(group).or_default();
            *count += 1;
            *bytes += size;
        }
        groups.extend(of_table.into_iter().map(|(group, (count, disk_bytes))| SstableGroup {
            node: first.node.clone(),
            table: first.table.clone(),
            group: match (has_levels, window_s) {
                (true, _) => format!("level {group}"),
                (false, Some(_)) => format!("window of {}", text::iso(group.saturating_mul(1_000_000_000))),
                (false, None) => format!("up to {}", text::bytes(group)),
            },
            sstables: count,
            disk_bytes,
        }));
    }
    Ok(groups)
}

fn tier(size: i64) -> i64 {
    let mut tier = TIER_BYTES;
    while size > tier {
        tier = tier.saturating_mul(TIER_TIMES);
    }
    tier
}

/// Length of the time windows, in seconds, of tables under TimeWindowCompactionStrategy; by node and table.
fn windows(engine: &Engine) -> Result<BTreeMap<(String, String), i64>, Error> {
    let rows = engine.sql(&query::DEFINITIONS.fill(&[]))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (fact, value) = (rows.texts("fact")?, rows.texts("value")?);
    // The options in force come after those of the schema, and so replace them.
    let compactions = (0..rows.rows()).filter(|row| fact[*row].starts_with("compaction"));
    let window = |row: usize| {
        let name = (node[row].clone(), format!("{}.{}", keyspace[row], table[row]));
        Some((name, window_seconds(&serde_json::from_str(&value[row]).ok()?)?))
    };
    Ok(compactions.filter_map(window).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_put_into_tiers() {
        assert_eq!([0, 1 << 20, (1 << 20) + 1, 5 << 20].map(tier), [1 << 20, 1 << 20, 4 << 20, 16 << 20]);
    }
}
