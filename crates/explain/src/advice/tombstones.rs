//! Advice about deleted data that is still read or still on disk.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// doc/…/operating/compaction/tombstones.adoc: expired cells are tombstones as well. The figure counts the tombstones
/// that `ReadCommand.MetricRecording` meets after merging (4.0 to 5.0). Cassandra's histogram has no bucket for 0, so
/// reads without tombstones count as 1, which is far below the threshold.
pub(super) const TOMBSTONES_PER_READ: Rule = Rule {
    name: "tombstones-per-read",
    looks_at: "tombstones that a read scans, against its live cells",
    thresholds: &[
        &thresholds::TOMBSTONES_PER_SLICE,
        &thresholds::TOMBSTONES_PER_LIVE,
        &thresholds::TOMBSTONES_WARNED_OF,
    ],
    source: "field report on tombstones and compaction, 2014; cassandra.yaml (tombstone_warn_threshold)",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(tombstones_per_read),
};

fn tombstones_per_read(_: &Node, table: &Table) -> Checked {
    let tombstones = need(table.health.tombstones_per_slice(), "no read was seen in the node's last minutes")?;
    // The figure covers the node's last minutes, so it may be about reads from before the recording.
    if table.health.reads_per_s == Some(0.0) {
        return Ok(None);
    }
    let live = need(table.health.live_cells_per_slice(), "no read was seen in the node's last minutes")?;
    let warned_of = thresholds::TOMBSTONES_WARNED_OF.is_met(tombstones);
    let outnumber = thresholds::TOMBSTONES_PER_LIVE.is_met(tombstones / live.max(1.0));
    if !(warned_of || outnumber && thresholds::TOMBSTONES_PER_SLICE.is_met(tombstones)) {
        return Ok(None);
    }
    let droppable = table.health.droppable_ratio;
    let old = match droppable {
        Some(ratio) if thresholds::DROPPABLE.is_met(ratio) => {
            "Many of the table's tombstones are past gc_grace and wait for a compaction that meets what they delete: see \
             droppable-tombstones."
        }
        Some(_) => {
            "Few of the table's cells are tombstones past gc_grace, so that compaction would not help: those that reads meet \
             are younger, or few and in their way."
        }
        None => "Whether they are past gc_grace is not recorded (the agent reads it).",
    };
    let expired = match table.expires() {
        Ok(true) => "Cells that have expired count as tombstones, too.",
        _ => "An expired cell and a null that was written count as tombstones, too.",
    };
    let advice = format!(
        "{old} {expired} Delete whole partitions or ranges instead of cells and rows, and start slices behind what was \
         deleted: a table that is used as a queue reads over all that it has finished. gc_grace itself is bounded from below \
         by hints and repair: see gc-grace."
    );
    Ok(Some(Found {
        severity: if warned_of { Severity::Critical } else { Severity::Warning },
        evidence: format!("a read scans {tombstones:.0} tombstones for {live:.0} live cells"),
        figures: json!({ "tombstones_per_slice": tombstones, "live_cells_per_slice": live, "droppable_ratio": droppable }),
        advice,
        verify: "Tombstones of a slice and the local read latency in `helenus tables RECORDING`, under the same reads."
            .into(),
    }))
}

/// doc/…/operating/compaction: overview.adoc (tombstone_threshold 0.2, tombstone_compaction_interval one day,
/// unchecked_tombstone_compaction). `AbstractCompactionStrategy.worthDroppingTombstones` is asked by the size-tiered, the leveled
/// and the time-window strategy, by the last only once one of these options is set (its constructor, 4.0 to 5.0), and never by
/// `UnifiedCompactionStrategy` (5.0).
pub(super) const DROPPABLE_TOMBSTONES: Rule = Rule {
    name: "droppable-tombstones",
    looks_at: "the share of tombstones past gc_grace that SSTables still hold",
    thresholds: &[&thresholds::DROPPABLE, &thresholds::MUCH_DROPPABLE],
    source: "field report on tombstones and compaction, 2014; Cassandra's documentation, Operating: Compaction (common options), \
             Tombstones; AbstractCompactionStrategy.worthDroppingTombstones in its source",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(droppable_tombstones),
};

fn droppable_tombstones(_: &Node, table: &Table) -> Checked {
    let ratio = need(table.health.droppable_ratio, "the droppable ratio is not recorded (the agent reads it)")?;
    if !thresholds::DROPPABLE.is_met(ratio) {
        return Ok(None);
    }
    let unchecked = table.compaction_option("unchecked_tombstone_compaction")?.is_some_and(|value| value == "true");
    let strategy = table.strategy()?;
    let advice = if strategy == "UnifiedCompactionStrategy" {
        "UnifiedCompactionStrategy compacts no SSTable for its tombstones alone: nodetool garbagecollect KEYSPACE TABLE \
         rewrites each SSTable against those that overlap, one time and for its cost in disk and CPU. A tombstone goes only \
         together with what it deletes, and only past gc_grace."
    } else if strategy == "TimeWindowCompactionStrategy" && !unchecked {
        "TimeWindowCompactionStrategy drops SSTables whose cells have all expired, and compacts none for its tombstones unless \
         it is told to: 'unchecked_tombstone_compaction': 'true' in the table's compaction does. Look first for what holds \
         expired SSTables back: sstableexpiredblockers KEYSPACE TABLE."
    } else if unchecked {
        "unchecked_tombstone_compaction is on already. What is left shadows data in SSTables that are not compacted with \
         it: nodetool garbagecollect KEYSPACE TABLE rewrites each SSTable against those that overlap, one time and for \
         its cost in disk and CPU."
    } else {
        "Set 'unchecked_tombstone_compaction': 'true' in the table's compaction, which lets a single SSTable above \
         tombstone_threshold be compacted even where others overlap with it; or once, nodetool garbagecollect KEYSPACE TABLE. \
         A tombstone goes only together with what it deletes, and only past gc_grace."
    };
    Ok(Some(Found {
        severity: if thresholds::MUCH_DROPPABLE.is_met(ratio) { Severity::Warning } else { Severity::Information },
        evidence: format!(
            "{} of its cells are tombstones or expired, past gc_grace, and still on disk, of {} in all",
            text::percent(ratio),
            table.health.live_disk_bytes.map_or("unknown size".into(), text::bytes)
        ),
        figures: json!({ "droppable_ratio": ratio, "live_disk_bytes": table.health.live_disk_bytes }),
        advice: advice.into(),
        verify: "The droppable ratio and the live disk space in `helenus tables RECORDING` fall.".into(),
    }))
}

/// doc/…/operating/compaction/stcs.adoc: a bucket of SSTables of like size is compacted from min_threshold (4) on, and a major
/// compaction leaves one large SSTable (`nodetool compact --split-output`: several). `SizeTieredCompactionStrategy.
/// mostInterestingBucket` and `worthDroppingTombstones`, 4.0 to 5.0.
pub(super) const STUCK_SSTABLE: Rule = Rule {
    name: "stuck-sstable",
    looks_at: "one SSTable that is so large that SizeTieredCompactionStrategy finds no others to compact it with",
    thresholds: &[&thresholds::LARGEST_SHARE, &thresholds::LARGE_SSTABLE],
    source: "field report on tombstones and compaction, 2014; Cassandra's documentation, Operating: Compaction (STCS)",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(stuck_sstable),
};

fn stuck_sstable(_: &Node, table: &Table) -> Checked {
    if table.strategy()? != "SizeTieredCompactionStrategy" {
        return Ok(None);
    }
    let live = need(table.health.live_disk_bytes, "its disk space is not recorded")?;
    if (live as f64) < thresholds::LARGE_SSTABLE.value {
        return Ok(None);
    }
    let largest = need(
        table.health.largest_sstable_bytes,
        "the size of the largest SSTable is not recorded (the node tells it from 5.0 on)",
    )?;
    let share = largest as f64 / live as f64;
    if !thresholds::LARGEST_SHARE.is_met(share) || !thresholds::LARGE_SSTABLE.is_met(largest as f64) {
        return Ok(None);
    }
    let threshold = table.compaction_option("min_threshold")?.and_then(|text| text.parse::<i64>().ok()).unwrap_or(4);
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "the largest of its {} SSTables has {} of {}",
            table.health.sstables.unwrap_or(0),
            text::bytes(largest),
            text::bytes(live)
        ),
        figures: json!({ "largest_sstable_bytes": largest, "live_disk_bytes": live, "share": share }),
        advice: format!(
            "{} more of about its size must come before it is compacted with others; until then most of what is deleted or \
             overwritten in it stays. LeveledCompactionStrategy or, from 5.0 on, UnifiedCompactionStrategy split it up. Do \
             not run a major compaction under SizeTieredCompactionStrategy, which makes one such SSTable of all; \
             nodetool compact --split-output makes several.",
            threshold - 1
        ),
        verify:
            "sstablemetadata on the file for its age and droppable tombstones; the largest SSTable in `helenus tables RECORDING`."
                .into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{
        GIB, UNDER_LCS, UNDER_TWCS, after, compacted_by, define, health, missing_after, quiet_after,
    };

    #[test]
    fn tombstones_per_read() {
        let rule = &TOMBSTONES_PER_READ;
        let study = |node: &mut Node| {
            health(node).tombstones_per_slice_p95 = Some(30.0);
            health(node).live_cells_per_slice_p95 = Some(10.0);
        };
        let young = after(rule, study);
        assert!(young.advice.contains("Few of the table's cells are tombstones past gc_grace"), "{}", young.advice);
        let unknown = after(rule, |node| {
            study(node);
            health(node).droppable_ratio = None;
        });
        assert!(unknown.advice.contains("is not recorded"), "{}", unknown.advice);
        let expiring = after(rule, |node| {
            study(node);
            define(node, "default_time_to_live", "60");
        });
        assert!(expiring.advice.contains("Cells that have expired"), "{}", expiring.advice);
        let droppable = after(rule, |node| {
            study(node);
            health(node).droppable_ratio = Some(0.3);
        });
        assert!(droppable.advice.contains("Many of the table's tombstones are past gc_grace"), "{}", droppable.advice);
        quiet_after(rule, |node| health(node).tombstones_per_slice_p95 = Some(15.0));
        quiet_after(rule, |node| {
            study(node);
            health(node).reads_per_s = Some(0.0);
        });
        let many = after(rule, |node| {
            health(node).tombstones_per_slice_p95 = Some(2000.0);
            health(node).live_cells_per_slice_p95 = Some(9000.0);
        });
        assert_eq!(many.severity, Severity::Critical);
        after(rule, |node| {
            study(node);
            health(node).tombstones_per_slice_p99 = health(node).tombstones_per_slice_p95.take();
        });
        missing_after(rule, |node| health(node).tombstones_per_slice_p95 = None);
    }

    #[test]
    fn droppable_tombstones() {
        let rule = &DROPPABLE_TOMBSTONES;
        let some = after(rule, |node| health(node).droppable_ratio = Some(0.05));
        assert_eq!(some.severity, Severity::Information);
        assert!(some.advice.contains("unchecked_tombstone_compaction': 'true'"));
        let on = after(rule, |node| {
            health(node).droppable_ratio = Some(0.3);
            compacted_by(node, r#"{"class":"x.SizeTieredCompactionStrategy","unchecked_tombstone_compaction":"true"}"#);
        });
        assert_eq!(on.severity, Severity::Warning);
        assert!(on.advice.contains("is on already"), "{}", on.advice);
        missing_after(rule, |node| health(node).droppable_ratio = None);
        let under = |options: &'static str| {
            after(rule, |node| {
                health(node).droppable_ratio = Some(0.3);
                compacted_by(node, options);
            })
        };
        let unified = under(r#"{"class":"UnifiedCompactionStrategy","unchecked_tombstone_compaction":"true"}"#);
        assert!(
            unified.advice.contains("garbagecollect") && !unified.advice.contains("unchecked"),
            "{}",
            unified.advice
        );
        assert!(under(UNDER_TWCS).advice.contains("sstableexpiredblockers"));
    }

    #[test]
    fn stuck_sstable() {
        let rule = &STUCK_SSTABLE;
        let stuck = |node: &mut Node| health(node).largest_sstable_bytes = Some(GIB);
        assert!(after(rule, stuck).advice.starts_with("3 more of about its size"));
        let early = after(rule, |node| {
            stuck(node);
            compacted_by(node, r#"{"class":"SizeTieredCompactionStrategy","min_threshold":"2"}"#);
        });
        assert!(early.advice.starts_with("1 more"), "{}", early.advice);
        quiet_after(rule, |node| {
            stuck(node);
            compacted_by(node, UNDER_LCS);
        });
        assert!(missing_after(rule, |node| health(node).largest_sstable_bytes = None).contains("5.0"));
    }
}
