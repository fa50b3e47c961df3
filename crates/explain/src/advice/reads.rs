//! Advice about the number of SSTables that a read touches.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::query;
use crate::severity::Severity;
use serde_json::json;

/// doc/…/operating/compaction: lcs.adoc (one SSTable a level above 0), twcs.adoc (late writes and read repair mix old
/// data with new; repair does not, because it streams to SSTables of its own), ucs.adoc (scaling parameters; L10 is
/// like leveled). Histogram: `TableMetrics.sstablesPerReadHistogram`, with a bucket for none.
pub(super) const SSTABLES_PER_READ: Rule = Rule {
    name: "sstables-per-read",
    looks_at: "how many SSTables a read touches",
    thresholds: &[&thresholds::SSTABLES_PER_READ, &thresholds::MANY_SSTABLES_PER_READ],
    source: "field report on tombstones and compaction, 2014; Cassandra's documentation, Operating: Compaction (LCS, TWCS, UCS)",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(sstables_per_read),
};

fn sstables_per_read(node: &Node, table: &Table) -> Checked {
    let per_read =
        need(table.health.sstables_per_read_p95, "no read was seen by the agent in the node's last minutes")?;
    if !thresholds::SSTABLES_PER_READ.is_met(per_read) {
        return Ok(None);
    }
    let many = thresholds::MANY_SSTABLES_PER_READ.is_met(per_read);
    let strategy = table.strategy()?;
    let pending = table.health.pending_compactions.unwrap_or(0);
    let advice = match strategy.as_str() {
        _ if pending > 0 && strategy != "SizeTieredCompactionStrategy" => {
            "Compaction is behind: let it catch up first (more throughput or compactors, see compaction-behind). A \
             strategy that keeps up has fewer SSTables for each read."
                .to_string()
        }
        "LeveledCompactionStrategy" => {
            "A read looks at one SSTable at most of each level above 0, and at any number in level 0. Look at \
             sstables_by_level: what piles up in level 0 was flushed or streamed faster than it is leveled."
                .to_string()
        }
        "TimeWindowCompactionStrategy" => {
            "Reads that span many windows touch an SSTable of each: bound them by time, or take a larger \
             compaction_window_size. Late writes and read repairs put old data into SSTables of the current window; repair \
             does not."
                .to_string()
        }
        "UnifiedCompactionStrategy" => {
            "Lower scaling_parameters towards reads (L4, or L10 where writes are few): levels hold fewer SSTables that \
             overlap, for more write amplification."
                .to_string()
        }
        _ if node.version >= Some((5, 0)) => {
            "Rows are spread over many SSTables. UnifiedCompactionStrategy with scaling_parameters L10 (or \
             LeveledCompactionStrategy) bounds how many a read touches; try it on one node before the schema is altered."
                .to_string()
        }
        _ => "Rows are spread over many SSTables. LeveledCompactionStrategy bounds how many a read touches, for more \
              write amplification; try it on one node before the schema is altered."
            .to_string(),
    };
    Ok(Some(Found {
        severity: if many { Severity::Warning } else { Severity::Information },
        evidence: format!("a read touches {per_read:.1} SSTables, of {}", count(table.health.sstables)),
        figures: json!({ "sstables_per_read": per_read, "sstables": table.health.sstables, "strategy": strategy }),
        advice,
        verify:
            "SSTables per read and the local read latency in `helenus tables RECORDING`, before and after, under the same reads."
                .into(),
    }))
}

fn count(sstables: Option<i64>) -> String {
    sstables.map_or("an unknown number".to_string(), |sstables| sstables.to_string())
}

/// doc/…/operating/bloom_filters.adoc ("Changing"); the ratio is false positives over all answers of the filters of
/// live SSTables, those for partitions that are there included (`TableMetrics.bloomFilterFalseRatio` in 4.0 and 4.1,
/// `BloomFilterMetrics` in 5.0). So the ratio is usually below bloom_filter_fp_chance, and a ratio of several times
/// that shows filters that are too small.
pub(super) const BLOOM_FILTERS: Rule = Rule {
    name: "bloom-filters",
    looks_at: "how often bloom filters send a read to an SSTable in vain, against what the table was defined to accept",
    thresholds: &[&thresholds::BLOOM_TIMES, &thresholds::BLOOM_FALSE],
    source: "Cassandra's documentation, Operating: Bloom Filters; BloomFilterFalseRatio in its source",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(bloom_filters),
};

fn bloom_filters(_: &Node, table: &Table) -> Checked {
    let ratio = need(table.health.bloom_false_ratio, "the bloom filters' figures are not recorded")?;
    let positives = need(table.health.bloom_false_positives, "the bloom filters' figures are not recorded")?;
    let chance = table.need_option("bloom_filter_fp_chance")?.parse().ok();
    let chance: f64 = need(chance, "its bloom_filter_fp_chance is no number")?;
    if ratio < chance * thresholds::BLOOM_TIMES.value || !thresholds::BLOOM_FALSE.is_met(positives as f64) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "{:.1} % of all answers of its bloom filters sent a read to an SSTable in vain, where {:.1} % is accepted for \
             partitions that are not there",
            ratio * 100.0,
            chance * 100.0
        ),
        figures: json!({ "false_ratio": ratio, "false_positives": positives, "bloom_filter_fp_chance": chance }),
        advice: "SSTables from before a change of bloom_filter_fp_chance keep their filters until they are written anew: \
                 nodetool upgradesstables -a does it. If they are new, lower bloom_filter_fp_chance where memory outside \
                 of the heap allows."
            .into(),
        verify: "False positives in `helenus tables RECORDING --json` grow more slowly under the same reads.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{UNDER_LCS, after, compacted_by, health, missing_after, quiet_after};

    #[test]
    fn sstables_per_read() {
        let rule = &SSTABLES_PER_READ;
        let few = after(rule, |node| health(node).sstables_per_read_p95 = Some(4.0));
        assert_eq!(few.severity, Severity::Information);
        assert!(few.advice.contains("UnifiedCompactionStrategy"), "{}", few.advice);
        let old = after(rule, |node| {
            node.version = Some((4, 0));
            health(node).sstables_per_read_p95 = Some(12.0);
        });
        assert_eq!(old.severity, Severity::Warning);
        assert!(!old.advice.contains("Unified"), "4.0 has none: {}", old.advice);
        let behind = after(rule, |node| {
            compacted_by(node, UNDER_LCS);
            health(node).sstables_per_read_p95 = Some(12.0);
            health(node).pending_compactions = Some(7);
        });
        assert!(behind.advice.contains("catch up"), "{}", behind.advice);
        missing_after(rule, |node| health(node).sstables_per_read_p95 = None);
    }

    #[test]
    fn bloom_filters() {
        let rule = &BLOOM_FILTERS;
        after(rule, |node| {
            health(node).bloom_false_ratio = Some(0.05);
            health(node).bloom_false_positives = Some(20_000);
        });
        quiet_after(rule, |node| health(node).bloom_false_ratio = Some(0.05));
        missing_after(rule, |node| node.tables[0].definition.clear());
    }
}
