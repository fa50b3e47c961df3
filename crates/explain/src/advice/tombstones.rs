//! What was deleted and is still read and kept.

use super::facts::{Node, Table, need};
use super::{Check, Checked, Found, Rule, thresholds};
use crate::Severity;
use crate::{query, text};
use serde_json::json;

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
    let live = need(table.health.live_cells_per_slice(), "no read was seen in the node's last minutes")?;
    let warned_of = thresholds::TOMBSTONES_WARNED_OF.is_met(tombstones);
    let outnumber = thresholds::TOMBSTONES_PER_LIVE.is_met(tombstones / live.max(1.0));
    if !(warned_of || outnumber && thresholds::TOMBSTONES_PER_SLICE.is_met(tombstones)) {
        return Ok(None);
    }
    let droppable = table.health.droppable_ratio;
    let advice = if droppable.is_some_and(|ratio| thresholds::DROPPABLE.is_met(ratio)) {
        "Many of them are past gc_grace and only wait for a compaction that meets what they delete: see \
         droppable-tombstones. For the rest, delete whole partitions or ranges instead of cells and rows, and start \
         slices behind what was deleted."
    } else {
        "They are younger than gc_grace, so that no compaction may drop them. Delete whole partitions or ranges instead of \
         cells and rows, write no nulls, and start slices behind what was deleted: a table that is used as a queue reads \
         over all that it has finished. gc_grace itself is bounded from below by hints and repair: see gc-grace."
    };
    Ok(Some(Found {
        severity: if warned_of { Severity::Critical } else { Severity::Warning },
        evidence: format!("a read scans {tombstones:.0} tombstones for {live:.0} live cells"),
        figures: json!({ "tombstones_per_slice": tombstones, "live_cells_per_slice": live, "droppable_ratio": droppable }),
        advice: advice.into(),
        verify: "Tombstones of a slice and the local read latency in helenus tables, under the same reads.".into(),
    }))
}

pub(super) const DROPPABLE_TOMBSTONES: Rule = Rule {
    name: "droppable-tombstones",
    looks_at: "the share of tombstones past gc_grace that SSTables still hold",
    thresholds: &[&thresholds::DROPPABLE, &thresholds::MUCH_DROPPABLE],
    source: "field report on tombstones and compaction, 2014; Cassandra's documentation of tombstones",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(droppable_tombstones),
};

fn droppable_tombstones(_: &Node, table: &Table) -> Checked {
    let ratio = need(table.health.droppable_ratio, "the droppable ratio is not recorded (the agent reads it)")?;
    if !thresholds::DROPPABLE.is_met(ratio) {
        return Ok(None);
    }
    let unchecked = table.member("compaction", "unchecked_tombstone_compaction")?.is_some_and(|value| value == "true");
    let advice = if unchecked {
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
            "{} of its cells are tombstones that could be dropped, of {} on disk",
            text::percent(ratio),
            table.health.live_disk_bytes.map_or("unknown size".into(), text::bytes)
        ),
        figures: json!({ "droppable_ratio": ratio, "live_disk_bytes": table.health.live_disk_bytes }),
        advice: advice.into(),
        verify: "The droppable ratio and the live disk space in helenus tables fall.".into(),
    }))
}

pub(super) const STUCK_SSTABLE: Rule = Rule {
    name: "stuck-sstable",
    looks_at: "one SSTable that is so large that SizeTieredCompactionStrategy finds no others to compact it with",
    thresholds: &[&thresholds::LARGEST_SHARE, &thresholds::LARGE_SSTABLE],
    source: "field report on tombstones and compaction, 2014",
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
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "the largest of its {} SSTables has {} of {}",
            table.health.sstables.unwrap_or(0),
            text::bytes(largest),
            text::bytes(live)
        ),
        figures: json!({ "largest_sstable_bytes": largest, "live_disk_bytes": live, "share": share }),
        advice: "Three more of its size must come before it is compacted, and until then what is deleted in it stays. \
                 LeveledCompactionStrategy or, from 5.0 on, UnifiedCompactionStrategy split it up. Do not run a major \
                 compaction under SizeTieredCompactionStrategy, which makes one such SSTable of all; \
                 nodetool compact --split-output makes several."
            .into(),
        verify:
            "sstablemetadata on the file for its age and droppable tombstones; the largest SSTable in helenus tables."
                .into(),
    }))
}
