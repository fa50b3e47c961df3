//! Advice about caches that cost more than they save, or that should be larger.

use super::facts::{Node, Table};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// cassandra.yaml (row_cache_size: 0, off, by default in 4.0, 4.1 and 5.0). `ColumnFamilyStore.apply` drops a partition from the
/// cache with each write to it.
pub(super) const ROW_CACHE: Rule = Rule {
    name: "row-cache",
    looks_at: "row caches that are seldom hit",
    thresholds: &[&thresholds::ROW_CACHE_HITS],
    source: "Cassandra's documentation, CQL: table options (caching); cassandra.yaml (row_cache_size)",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(row_cache),
};

fn row_cache(_: &Node, table: &Table) -> Checked {
    let rows = table.member("caching", "rows_per_partition")?.unwrap_or_else(|| "NONE".into());
    let Some(hits) = table.health.row_cache_hit_rate.filter(|_| rows != "NONE") else { return Ok(None) };
    if thresholds::ROW_CACHE_HITS.is_met(hits) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("{} of its look-ups in the row cache hit (rows_per_partition {rows})", text::percent(hits)),
        figures: json!({ "hit_rate": hits, "rows_per_partition": rows }),
        advice: "Every miss reads the head of the partition to fill the cache, and every write throws it out again: switch it \
                 off for the table (caching = {'keys': 'ALL', 'rows_per_partition': 'NONE'}) unless few rows are read far \
                 more often than written."
            .into(),
        verify: "The local read latency in `helenus tables RECORDING`.".into(),
    }))
}

/// cassandra.yaml (key_cache_size: the smaller of 5 % of the heap and 100 MiB by default). Only SSTables of the format big have use
/// for it; bti (5.0) has none.
pub(super) const KEY_CACHE: Rule = Rule {
    name: "key-cache",
    looks_at: "a key cache that is full and is missed",
    thresholds: &[&thresholds::KEY_CACHE_HITS, &thresholds::CACHE_FULL],
    source: "cassandra.yaml (key_cache_size)",
    query: query::NODE_METRICS,
    check: Check::OfNode(key_cache),
};

fn key_cache(node: &Node) -> Checked {
    let figure = |name, attribute| node.metric("Cache", "KeyCache", name, attribute);
    let (hits, requests) = (figure("Hits", "Count")?, figure("Requests", "Count")?);
    let (size, capacity) = (figure("Size", "Value")?.value, figure("Capacity", "Value")?.value);
    if requests.grown == 0 || capacity == 0 {
        return Ok(None);
    }
    let rate = hits.grown as f64 / requests.grown as f64;
    if thresholds::KEY_CACHE_HITS.is_met(rate) || !thresholds::CACHE_FULL.is_met(size as f64 / capacity as f64) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("the key cache is full ({}) and {} of its look-ups hit", text::bytes(capacity), text::percent(rate)),
        figures: json!({ "hit_rate": rate, "size_bytes": size, "capacity_bytes": capacity }),
        advice: "Each miss searches the partition index on disk. Give it more by key_cache_size (nodetool setcachecapacity \
                 tries it until a restart), or on 5.0 write SSTables with trie indexes (sstable format bti), which need none."
            .into(),
        verify: "Hits and requests of KeyCache in node_metrics; the local read latency.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::facts::Figure;
    use crate::advice::healthy::{after, define, grow, missing_after, quiet_after, set};

    #[test]
    fn caches_that_are_missed() {
        let rule = &ROW_CACHE;
        after(rule, |node| define(node, "caching", r#"{"keys":"ALL","rows_per_partition":"100"}"#));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.tables[0].definition.clear());
        let rule = &KEY_CACHE;
        after(rule, |node| grow(node, "Cache", "KeyCache", "Hits", 40));
        quiet_after(rule, |node| {
            grow(node, "Cache", "KeyCache", "Hits", 40);
            set(node, "Cache", "KeyCache", "Size", "Value", Figure { value: 50, grown: 0 });
        });
        missing_after(rule, |node| node.metrics.clear());
    }
}
