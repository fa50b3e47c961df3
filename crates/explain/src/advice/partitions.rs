//! Advice about partitions that are too large.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// `Config` (4.0: compaction_large_partition_warning_threshold_mb, 4.1: compaction_large_partition_warning_threshold)
/// is 100 MiB. 5.0 has partition_size_warn_threshold in its place, a guardrail that is off by default.
pub(super) const WIDE_PARTITIONS: Rule = Rule {
    name: "wide-partitions",
    looks_at: "the largest partition",
    thresholds: &[&thresholds::WIDE_PARTITION, &thresholds::VERY_WIDE_PARTITION],
    source: "cassandra.yaml (the size that it warns of); field report on a wide row, 2016",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(wide_partitions),
};

fn wide_partitions(_: &Node, table: &Table) -> Checked {
    let largest = need(table.health.max_partition_bytes, "the sizes of partitions are not recorded")?;
    if !thresholds::WIDE_PARTITION.is_met(largest as f64) {
        return Ok(None);
    }
    let mean = table.health.mean_partition_bytes;
    let key = table.option("partition_key").unwrap_or_default();
    let clustering = table.option("clustering").filter(|columns| !columns.is_empty());
    let advice = match clustering {
        Some(clustering) => format!(
            "Split it: add to the partition key ({key}) a bucket that readers can name, such as the day of a time or a hash \
             of {clustering} modulo a small number, and read the buckets in parallel. Compaction, repair and streaming \
             handle a partition as a whole, and a slice goes over its tombstones."
        ),
        None => format!(
            "Its rows have no clustering column, so a row itself is that large: make of its large columns rows of a \
             partition ({key} with a clustering column for what is now the column's name), of which a reader takes one, and \
             keep large blobs elsewhere or in chunks."
        ),
    };
    Ok(Some(Found {
        severity: match thresholds::VERY_WIDE_PARTITION.is_met(largest as f64) {
            true => Severity::Critical,
            false => Severity::Warning,
        },
        evidence: format!(
            "its largest partition has {}, the mean {}",
            text::bytes(largest),
            mean.map_or("an unknown size".into(), text::bytes)
        ),
        figures: json!({ "max_partition_bytes": largest, "mean_partition_bytes": mean, "clustering": clustering }),
        advice,
        verify:
            "nodetool tablehistograms; the log names partitions that are too large as they are compacted (on 5.0 once \
                 partition_size_warn_threshold is set); `helenus io RECORDING` shows bytes read against bytes returned."
                .into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{GIB, after, define, health, missing_after};

    #[test]
    fn wide_partitions() {
        let rule = &WIDE_PARTITIONS;
        let wide = after(rule, |node| health(node).max_partition_bytes = Some(200_000_000));
        assert!(wide.severity == Severity::Warning && wide.advice.contains("at timestamp asc"), "{wide:?}");
        let row = after(rule, |node| {
            health(node).max_partition_bytes = Some(2 * GIB);
            define(node, "clustering", "");
        });
        assert!(row.severity == Severity::Critical && row.advice.contains("a row itself"), "{row:?}");
        missing_after(rule, |node| health(node).max_partition_bytes = None);
    }
}
