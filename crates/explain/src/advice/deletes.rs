//! Whether deletes stay deleted: gc_grace against hints and repair.

use super::facts::{Node, Table, need};
use super::{Check, Checked, Found, Rule};
use crate::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) const GC_GRACE: Rule = Rule {
    name: "gc-grace",
    looks_at: "gc_grace_seconds against the hint window and the last repair: below either, deleted data can come back",
    thresholds: &[],
    source: "Cassandra's documentation of tombstones, hints and repair",
    query: query::DEFINITIONS,
    check: Check::OfTable(gc_grace),
};

fn gc_grace(node: &Node, table: &Table) -> Checked {
    let grace_s = table.seconds("gc_grace_seconds")?;
    let replicas = need(table.replicas, "its keyspace's replication is not recorded")?;
    if replicas <= 1 {
        // There is no replica that could have missed a delete.
        return Ok(None);
    }
    let window_s = node.hint_window_s()?;
    let figures = |since: Option<i64>| json!({ "gc_grace_seconds": grace_s, "hint_window_s": window_s, "last_repair_s_ago": since, "replicas": replicas });
    if (grace_s as f64) < window_s {
        return Ok(Some(Found {
            severity: Severity::Critical,
            evidence: format!(
                "gc_grace_seconds is {}, below the {} for which a node that is away is kept hints for",
                span(grace_s),
                span(window_s as i64)
            ),
            figures: figures(None),
            advice: "A node can come back after that with data whose tombstones are gone elsewhere, and hints live no \
                     longer than gc_grace_seconds either, so that deletes come back. Raise gc_grace_seconds above \
                     max_hint_window and above the time between two repairs, for all nodes (ALTER TABLE). Only a table \
                     where nothing is deleted or overwritten, all expires by one TTL, can do with less."
                .into(),
            verify: "DESCRIBE TABLE; then helenus advise again.".into(),
        }));
    }
    let sessions = need(node.repair_sessions, "the repair history is not recorded")?;
    let last = table.option("last_repair").and_then(|last| last.parse::<i64>().ok());
    let since = last.map(|last| node.now_s - last);
    if since.is_some_and(|since| since <= grace_s) || !has_deletes(table) {
        return Ok(None);
    }
    let repaired = match since {
        Some(since) => format!("its last repair that this node knows of ended {} ago", span(since)),
        None => format!("no repair of it is in this node's replica of the history ({sessions} sessions)"),
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("gc_grace_seconds is {} and {repaired}, while it holds tombstones", span(grace_s)),
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

/// Whether there is anything that could come back.
fn has_deletes(table: &Table) -> bool {
    let positive = |figure: Option<f64>| figure.is_some_and(|figure| figure > 0.0);
    positive(table.health.droppable_ratio) || positive(table.health.tombstones_per_slice())
}

/// `10 days`, `3 hours`.
fn span(seconds: i64) -> String {
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        7_200.. => format!("{} hours", seconds / 3_600),
        120.. => format!("{} minutes", seconds / 60),
        _ => text::time_ms(seconds as f64 * 1e3),
    }
}
