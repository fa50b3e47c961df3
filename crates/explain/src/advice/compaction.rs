//! Advice on whether compaction keeps up and has enough disk space.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// doc/…/operating/compaction: overview.adoc (concurrent_compactors, compaction_throughput), ucs.adoc (shards are compacted apart
/// from each other, at once). A compaction is one `CompactionTask` on one thread in 4.0, 4.1 and 5.0.
pub(super) const COMPACTION_BEHIND: Rule = Rule {
    name: "compaction-behind",
    looks_at: "compactions that are pending, whether they grow, and what bounds them",
    thresholds: &[&thresholds::PENDING],
    source: "Cassandra's documentation, Operating: Compaction (overview, UCS); field report on tombstones and compaction, 2014",
    query: query::TABLE_HEALTH,
    check: Check::OfNode(compaction_behind),
};

fn compaction_behind(node: &Node) -> Checked {
    let sum = |of: fn(&Table) -> Option<i64>| node.tables.iter().filter_map(of).sum::<i64>();
    if node.tables.iter().all(|table| table.health.pending_compactions.is_none()) {
        need::<()>(None, "pending compactions are not recorded")?;
    }
    let pending = sum(|table| table.health.pending_compactions);
    let at_first = sum(|table| table.health.pending_at_first);
    if !thresholds::PENDING.is_met(pending as f64) {
        return Ok(None);
    }
    let running = sum(|table| table.health.running_compactions);
    let compactors = node.need_setting(&["concurrent_compactors"])?;
    let throughput = node.need_setting(&["compaction_throughput", "compaction_throughput_mb_per_sec"])?;
    let all_busy = compactors.parse().is_ok_and(|compactors: i64| running >= compactors);
    let advice = if all_busy {
        "All compactors are busy. Where disk and CPU have room (see the report's CPUs), raise compaction_throughput first \
         (nodetool setcompactionthroughput), then concurrent_compactors; both can be tried on one node and are back after a \
         restart."
    } else {
        "Compactors are idle while compactions are pending: the SSTables that would be next are in a compaction that runs, on \
         one thread. Under 5.0 UnifiedCompactionStrategy compacts the shards of a table apart from each other; before, \
         LeveledCompactionStrategy has smaller compactions."
    };
    let worst = node.tables.iter().max_by_key(|table| table.health.pending_compactions);
    Ok(Some(Found {
        severity: if pending > at_first { Severity::Warning } else { Severity::Information },
        evidence: format!(
            "{pending} compactions are pending ({at_first} when the recording began), {running} run; most for {}",
            worst.map_or("", |table| table.name())
        ),
        figures: json!({
            "pending": pending, "pending_at_first": at_first, "running": running,
            "concurrent_compactors": compactors, "compaction_throughput": throughput,
        }),
        advice: advice.into(),
        verify: "Pending compactions in `helenus tables RECORDING` fall, and reads are not slower meanwhile.".into(),
    }))
}

/// doc/…/operating/compaction/stcs.adoc (space for the old and the new SSTables at once). `CompactionTask.
/// reduceScopeForLimitedSpace` (4.0 to 5.0) leaves out the largest SSTable until the rest fits.
pub(super) const DISK_HEADROOM: Rule = Rule {
    name: "disk-headroom",
    looks_at: "free disk space against the largest table under SizeTieredCompactionStrategy",
    thresholds: &[&thresholds::HEADROOM],
    source: "Cassandra's documentation, Operating: Compaction (STCS); CompactionTask.reduceScopeForLimitedSpace in its source",
    query: query::TABLE_HEALTH,
    check: Check::OfNode(disk_headroom),
};

fn disk_headroom(node: &Node) -> Checked {
    let usable: Vec<i64> = node
        .settings
        .iter()
        .filter(|(name, _)| name.starts_with("disk.usable_bytes:"))
        .filter_map(|(_, value)| value.parse().ok())
        .collect();
    let most = need(usable.iter().max().copied(), "the free space of its disks is not recorded")?;
    let tiered = |table: &&Table| table.strategy().is_ok_and(|strategy| strategy == "SizeTieredCompactionStrategy");
    let Some(largest) = node.tables.iter().filter(tiered).max_by_key(|table| table.health.live_disk_bytes) else {
        return Ok(None);
    };
    let live = need(largest.health.live_disk_bytes, "the disk space of tables is not recorded")?;
    if most as f64 >= live as f64 * thresholds::HEADROOM.value {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("{} has {}, and {} are free", largest.name(), text::bytes(live), text::bytes(most)),
        figures: json!({ "table": largest.name(), "live_disk_bytes": live, "usable_bytes": most }),
        advice: "A compaction of all its SSTables would not fit, so that Cassandra leaves the largest out as long as there is \
                 no more room. Make room (old snapshots: nodetool listsnapshots; a node more), or take a strategy with smaller \
                 compactions."
            .into(),
        verify: "df on the data directories, and nodetool compactionstats.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{UNDER_LCS, after, compacted_by, health, missing_after, quiet_after, setting};

    #[test]
    fn compaction_behind() {
        let rule = &COMPACTION_BEHIND;
        let behind = |running: i64| {
            move |node: &mut Node| {
                health(node).pending_compactions = Some(300);
                health(node).pending_at_first = Some(100);
                health(node).running_compactions = Some(running);
            }
        };
        assert!(after(rule, behind(2)).advice.contains("All compactors are busy"));
        assert!(after(rule, behind(1)).advice.contains("idle"));
        quiet_after(rule, |node| health(node).pending_compactions = Some(20));
        missing_after(rule, |node| health(node).pending_compactions = None);
    }

    #[test]
    fn disk_headroom() {
        let rule = &DISK_HEADROOM;
        after(rule, |node| setting(node, "disk.usable_bytes:/d", "1000000000"));
        quiet_after(rule, |node| {
            setting(node, "disk.usable_bytes:/d", "1000000000");
            compacted_by(node, UNDER_LCS);
        });
        missing_after(rule, |node| drop(node.settings.remove("disk.usable_bytes:/d")));
    }
}
