//! Advice about signs that a node is overloaded.

use super::facts::{Node, need};
use super::rule::{Check, Checked, Found, Rule};
use crate::query;
use crate::severity::Severity;
use serde_json::json;

/// `ThreadPoolMetrics` (TotalBlockedTasks, 4.0 to 5.0): tasks that were blocked since the node started, as the queue was full.
pub(super) const BLOCKED_POOLS: Rule = Rule {
    name: "blocked-pools",
    looks_at: "thread pools whose queue was full, so that tasks were blocked",
    thresholds: &[],
    source: "Cassandra's documentation of thread pool metrics; any blocked task counts",
    query: query::FULL_POOLS,
    check: Check::OfNode(blocked_pools),
};

fn blocked_pools(node: &Node) -> Checked {
    if node.pools.is_empty() {
        need::<()>(None, "thread pools are not recorded")?;
    }
    let Some(worst) = node.pools.iter().filter(|pool| pool.blocked > 0).max_by_key(|pool| pool.blocked) else {
        return Ok(None);
    };
    let all: Vec<_> = node.pools.iter().filter(|pool| pool.blocked > 0).collect();
    let figures: Vec<_> = all
        .iter()
        .map(|pool| json!({ "pool": pool.name, "blocked": pool.blocked, "pending": pool.pending, "max_size": pool.max_size }))
        .collect();
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{} tasks were blocked before {} of {}",
            worst.blocked,
            worst.name,
            worst.max_size.map_or("unknown size".into(), |size| format!("{size} threads"))
        ),
        figures: json!(figures),
        advice: "Find what its threads wait for before there are more of them: `helenus record --node ADDRESS --stacks wall -o \
                 wall.helenus`, then `helenus flame wall.helenus`. A flush writer waits for the disk, a request stage for CPU or \
                 for reads that are too expensive. More threads help only while CPU and disk have room."
            .into(),
        verify: "total_blocked of the pool (table pools) stops growing.".into(),
    }))
}

/// `DroppedMessageMetrics` (4.0 to 5.0), by verb. A write that a replica drops is hinted by its coordinator when it times out
/// (doc/…/operating/hints.adoc, "Hints for Timed Out Write Requests").
pub(super) const DROPPED_MESSAGES: Rule = Rule {
    name: "dropped-messages",
    looks_at: "messages that were dropped because they had waited longer than their timeout",
    thresholds: &[],
    source: "Cassandra's documentation of dropped messages; any of them counts",
    query: query::NODE_METRICS,
    check: Check::OfNode(dropped_messages),
};

fn dropped_messages(node: &Node) -> Checked {
    let dropped =
        || node.metrics.iter().filter(|((kind, _, metric, _), _)| kind == "DroppedMessage" && metric == "Dropped");
    if dropped().next().is_none() {
        need::<()>(None, "dropped messages are not recorded")?;
    }
    let grown: Vec<(&str, i64)> = dropped()
        .filter(|(_, figure)| figure.grown > 0)
        .map(|((_, scope, _, _), figure)| (scope.as_str(), figure.grown))
        .collect();
    if grown.is_empty() {
        return Ok(None);
    }
    let list = grown.iter().map(|(scope, count)| format!("{count} {scope}")).collect::<Vec<_>>().join(", ");
    let writes = grown.iter().any(|(scope, _)| scope.contains("MUTATION"));
    let advice = if writes {
        "The node could not keep up. A write that was dropped is missing on this replica until a hint, a read repair or a \
         repair brings it: repair what was written meanwhile, and see what kept the node busy (`helenus explain RECORDING`)."
    } else {
        "Their senders got no answer from this node: see what kept it busy (`helenus explain RECORDING`), and whether the timeouts \
         of cassandra.yaml are short. A valve sheds load before the queues do: `helenus valve add requests --stage \
         native-transport --law response-time --node ADDRESS`."
    };
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("dropped while it was recorded: {list}"),
        figures: json!(grown.iter().copied().collect::<std::collections::BTreeMap<_, _>>()),
        advice: advice.into(),
        verify: "nodetool tpstats, or the table node_metrics, counts no more of them.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, grow, missing_after, quiet_after};

    #[test]
    fn pressure_of_any_size_counts() {
        let rule = &BLOCKED_POOLS;
        let blocked = after(rule, |node| node.pools[0].blocked = 1);
        assert!(blocked.evidence.contains("ReadStage"), "{}", blocked.evidence);
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.pools.clear());
        let rule = &DROPPED_MESSAGES;
        assert!(
            after(rule, |node| grow(node, "DroppedMessage", "MUTATION_REQ", "Dropped", 2)).advice.contains("repair")
        );
        assert!(!after(rule, |node| grow(node, "DroppedMessage", "READ_REQ", "Dropped", 2)).advice.contains("repair"));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.metrics.clear());
    }
}
