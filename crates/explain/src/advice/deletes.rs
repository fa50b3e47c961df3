//! Advice on whether deleted data can come back: gc_grace_seconds against hints and repair.

use super::facts::{MissingFact, Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// Tombstones: doc/…/operating/compaction/tombstones.adoc ("Grace period", "Deletion"). How long a hint lives:
/// `org.apache.cassandra.hints.Hint.ttl`, the smaller of `gc_grace_seconds` when it was written and when it is applied.
/// This is the same in 4.0, 4.1 and 5.0. A cell with a TTL needs no tombstone: it carries its expiry time, on every
/// replica.
pub(super) const GC_GRACE: Rule = Rule {
    name: "gc-grace",
    looks_at: "gc_grace_seconds against the hint window and the last repair: below either, deleted data can come back",
    thresholds: &[],
    source: "Cassandra's documentation, Operating: Compaction, Tombstones (grace period); Hints; Repair. Hint.ttl in its source",
    query: query::DEFINITIONS,
    check: Check::OfTable(gc_grace),
};

fn gc_grace(node: &Node, table: &Table) -> Checked {
    let grace_s = table.seconds("gc_grace_seconds")?;
    let replicas = need(table.replicas, "its keyspace's replication is not recorded")?;
    if replicas <= 1 {
        // With a single replica, no replica can miss a delete.
        return Ok(None);
    }
    let window_s = node.hint_window_s()?;
    let tombstones = holds_tombstones(table);
    match (table.expires()?, table.deleted_from) {
        // A row expires on every replica at once, and its cells then count as tombstones: without deletes nothing can
        // come back.
        (true, Some(false)) => return Ok(None),
        (true, None) => return Err(MissingFact(EXPIRES.to_string())),
        (false, Some(false)) if !tombstones => return Ok(None),
        _ => {}
    }
    let is_deleted = table.deleted_from == Some(true);
    let figures = |since: Option<i64>| json!({ "gc_grace_seconds": grace_s, "hint_window_s": window_s, "last_repair_s_ago": since, "replicas": replicas });
    if (grace_s as f64) < window_s {
        return Ok(Some(Found {
            severity: if is_deleted || tombstones { Severity::Critical } else { Severity::Warning },
            evidence: format!(
                "gc_grace_seconds is {}, below the {} for which a node that is away is kept hints for",
                span(grace_s),
                span(window_s as i64)
            ),
            figures: figures(None),
            advice: "A node can come back after that with data whose tombstones are gone elsewhere, and hints live no \
                     longer than gc_grace_seconds either, so that deletes come back. Raise gc_grace_seconds above \
                     max_hint_window and above the time between two repairs, for all nodes (ALTER TABLE)."
                .into(),
            verify: "DESCRIBE TABLE; then `helenus advise --node ADDRESS` again.".into(),
        }));
    }
    let sessions = need(node.repair_sessions, "the repair history is not recorded")?;
    let last = table.option("last_repair").and_then(|last| last.parse::<i64>().ok());
    let since = last.map(|last| node.now_s - last);
    if since.is_some_and(|since| since <= grace_s) || !(is_deleted || tombstones) {
        return Ok(None);
    }
    // Where rows expire, the tombstone figures include expired cells.
    let holds = if is_deleted { "recorded statements delete of it" } else { "it holds tombstones" };
    let repaired = match since {
        Some(since) => format!("its last repair that this node knows of ended {} ago", span(since)),
        None => format!("no repair of it is in this node's replica of the history ({sessions} sessions)"),
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("gc_grace_seconds is {} and {repaired}, while {holds}", span(grace_s)),
        figures: figures(since),
        advice: "A replica that missed a delete for longer than the hint window brings the data back once the others have \
                 dropped the tombstone. Repair every table with deletes within gc_grace_seconds. Do not lower \
                 gc_grace_seconds to be rid of tombstones before that: not below the time that a whole round of repairs \
                 takes with room to spare, and never below max_hint_window."
            .into(),
        verify: "SELECT from system_distributed.parent_repair_history, or what runs the repairs; a node's history has only \
                 what is replicated to it, and sessions of 30 days."
            .into(),
    }))
}

const EXPIRES: &str = "all its rows expire, and whether some are deleted before that is not recorded (`helenus record --node \
                       ADDRESS` does, and so does a load of helenus)";

/// Whether its figures show tombstones. Cassandra's histogram of tombstones per read has no bucket for none
/// (`TableMetrics.tombstoneScannedHistogram` is made without zeroes, 4.0 to 5.0): the percentile of reads that met none is 1.
fn holds_tombstones(table: &Table) -> bool {
    let above = |figure: Option<f64>, least: f64| figure.is_some_and(|figure| figure > least);
    above(table.health.droppable_ratio, 0.0) || above(table.health.tombstones_per_slice(), 1.0)
}

/// Formats a duration in the largest unit that fits: `10 days`, `3 hours`.
fn span(seconds: i64) -> String {
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        7_200.. => format!("{} hours", seconds / 3_600),
        120.. => format!("{} minutes", seconds / 60),
        _ => text::time_ms(seconds as f64 * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, define, health, missing_after, quiet_after};

    #[test]
    fn gc_grace_is_never_advised_below_hints_and_repairs() {
        let rule = &GC_GRACE;
        let low = after(rule, |node| define(node, "gc_grace_seconds", "3600"));
        assert_eq!(low.severity, Severity::Critical);
        assert!(low.advice.contains("Raise gc_grace_seconds"));
        quiet_after(rule, |node| {
            define(node, "gc_grace_seconds", "0");
            node.tables[0].replicas = Some(1);
        });
        let late = after(rule, |node| define(node, "last_repair", "1990000000"));
        assert!(late.evidence.contains("115 days ago"), "{}", late.evidence);
        assert!(late.advice.contains("Do not lower"), "{}", late.advice);
        let never = after(rule, |node| drop(node.tables[0].definition.remove("last_repair")));
        assert!(never.evidence.contains("no repair of it"), "{}", never.evidence);
        missing_after(rule, |node| node.repair_sessions = None);
        missing_after(rule, |node| drop(node.settings.remove("max_hint_window")));
        missing_after(rule, |node| node.tables[0].replicas = None);
    }

    /// Sets the tombstone figures that Cassandra reports for a table without deletes: 1, because its histogram has no
    /// bucket for zero.
    fn without_tombstones(node: &mut Node) {
        health(node).droppable_ratio = Some(0.0);
        health(node).tombstones_per_slice_p95 = Some(1.0);
    }

    #[test]
    fn a_percentile_of_one_is_no_tombstone() {
        let rule = &GC_GRACE;
        for unsafe_setting in [("last_repair", "1990000000"), ("gc_grace_seconds", "0")] {
            let unsafe_setting = |node: &mut Node| {
                without_tombstones(node);
                define(node, unsafe_setting.0, unsafe_setting.1);
            };
            quiet_after(rule, unsafe_setting);
            let deleted = after(rule, |node| {
                unsafe_setting(node);
                node.tables[0].deleted_from = Some(true);
            });
            assert!(!deleted.evidence.contains("holds tombstones"), "{}", deleted.evidence);
        }
        let unknown = after(rule, |node| {
            without_tombstones(node);
            define(node, "gc_grace_seconds", "0");
            node.tables[0].deleted_from = None;
        });
        assert_eq!(unknown.severity, Severity::Warning, "nothing shows that anything is deleted");
        let real = after(rule, |node| {
            without_tombstones(node);
            health(node).tombstones_per_slice_p95 = Some(1.2);
            define(node, "last_repair", "1990000000");
        });
        assert!(real.evidence.contains("holds tombstones"), "{}", real.evidence);
    }

    #[test]
    fn what_expires_and_is_not_deleted_can_not_come_back() {
        let rule = &GC_GRACE;
        let by_default = |node: &mut Node| define(node, "default_time_to_live", "86400");
        let by_writes = |node: &mut Node| node.tables[0].min_ttl_s = Some(600);
        for expire in [&by_default as &dyn Fn(&mut Node), &by_writes] {
            for (option, value) in [("gc_grace_seconds", "60"), ("last_repair", "1990000000")] {
                let expiring = |node: &mut Node| {
                    expire(node);
                    define(node, option, value);
                    // Expired cells count as tombstones.
                    health(node).droppable_ratio = Some(0.3);
                    health(node).tombstones_per_slice_p95 = Some(40.0);
                };
                quiet_after(rule, expiring);
                let unknown = missing_after(rule, |node| {
                    expiring(node);
                    node.tables[0].deleted_from = None;
                });
                assert!(unknown.contains("is not recorded"), "{unknown}");
                let deleted = after(rule, |node| {
                    expiring(node);
                    node.tables[0].deleted_from = Some(true);
                });
                assert!(!deleted.evidence.contains("holds tombstones"), "{}", deleted.evidence);
            }
        }
    }
}
