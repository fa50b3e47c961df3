//! Rules about clients whose behaviour costs the nodes time.

use super::facts::{MissingFact, Node};
use super::rule::{Check, Checked, Found, Rule};
use super::sending::Group;
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// `StorageProxy` (4.1, 5.0; not 4.0) counts a write as local if this node is a replica, and a read as local if this
/// node is one of the replicas that it reads. So at consistency ONE, a replica that reads from a faster replica counts
/// as remote, too.
pub(super) const TOKEN_AWARENESS: Rule = Rule {
    name: "token-awareness",
    looks_at: "requests that a node had to pass on whole, as it holds no replica of what they ask for",
    thresholds: &[&thresholds::REMOTE_SHARE],
    source: "ClientRequestMetrics (LocalRequests, RemoteRequests); the documentation of drivers on load balancing",
    query: query::NODE_METRICS,
    check: Check::OfNode(token_awareness),
};

fn token_awareness(node: &Node) -> Checked {
    let sum = |name: &str| -> Result<i64, MissingFact> {
        let reads = node.metric("ClientRequest", "Read", name, "Count")?.grown;
        Ok(reads + node.metric("ClientRequest", "Write", name, "Count")?.grown)
    };
    // The requests themselves say which client it is; the counters also have those whose partition is not known.
    let of_clients = node.sending.as_ref().and_then(|sending| {
        let all = sending.sum(Group::is_statement, |group| group.with_replicas);
        let elsewhere = sending.by_client(Group::is_statement, |group| group.to_others);
        (all > 0).then(|| (elsewhere.iter().map(|(_, count)| count).sum::<i64>(), all, sending.names(&elsewhere)))
    });
    let (remote, all, whose) = match of_clients {
        Some(found) => found,
        None => {
            let (local, remote) = (sum("LocalRequests")?, sum("RemoteRequests")?);
            (remote, local + remote, String::new())
        }
    };
    if all == 0 || !thresholds::REMOTE_SHARE.is_met(remote as f64 / all as f64) {
        return Ok(None);
    }
    let share = text::percent(remote as f64 / all as f64);
    let evidence = match whose.is_empty() {
        true => format!("{share} of {all} requests were answered by other nodes alone"),
        false => {
            format!("{share} of {all} requests came to a node that holds no replica of their partition, from {whose}")
        }
    };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence,
        figures: json!({ "local": all - remote, "remote": remote }),
        advice: "Each of them takes one more hop and a coordinator's work. Prepare the statements and bind the whole partition \
                 key, so that the driver can tell the token, and leave its token-aware load balancing on; batches of many \
                 partitions have no one token. Reads at ONE or LOCAL_ONE that the dynamic snitch sends to a faster replica \
                 count here, too."
            .into(),
        verify: "LocalRequests and RemoteRequests of node_metrics, and the coordinator's latency.".into(),
    }))
}

/// `Config.unlogged_batch_across_partitions_warn_threshold` is 10 in 4.0, 4.1 and 5.0; `BatchMetrics`.
pub(super) const UNLOGGED_BATCHES: Rule = Rule {
    name: "unlogged-batches",
    looks_at: "how many partitions an unlogged batch writes to",
    thresholds: &[&thresholds::BATCH_PARTITIONS],
    source: "cassandra.yaml (unlogged_batch_across_partitions_warn_threshold)",
    query: query::NODE_METRICS,
    check: Check::OfNode(unlogged_batches),
};

fn unlogged_batches(node: &Node) -> Checked {
    // Cassandra creates the metric with the first batch.
    let has = |wanted: &str| node.metrics.keys().any(|(kind, ..)| kind == wanted);
    if has("ClientRequest") && !has("Batch") {
        return Ok(None);
    }
    let batches = node.metric("Batch", "", "PartitionsPerUnloggedBatch", "Count")?.grown;
    let partitions = node.metric("Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile")?.value;
    if batches == 0 || !thresholds::BATCH_PARTITIONS.is_met(partitions as f64) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!(
            "{batches} unlogged batches, which write to up to {partitions} partitions (95th percentile of the last minutes, \
             rounded up by Cassandra)"
        ),
        figures: json!({ "batches": batches, "partitions_p95": partitions }),
        advice: "An unlogged batch of many partitions makes one coordinator do the work of all, and is as slow as its slowest \
                 replica. Send the writes one by one, asynchronously, with a bound on those in flight; batch only within a \
                 partition."
            .into(),
        verify: "PartitionsPerUnloggedBatch of node_metrics; the coordinator's write latency.".into(),
    }))
}

/// `StorageProxy.recordCasContention` (4.0 to 5.0) adds to the histogram only for contended transactions.
/// cassandra.yaml of 4.1 and 5.0 (paxos_variant): v1 takes four round trips for a write, v2 two.
pub(super) const LWT_CONTENTION: Rule = Rule {
    name: "lwt-contention",
    looks_at: "lightweight transactions that had to begin again because others were at the same partition",
    thresholds: &[&thresholds::CONTENDED],
    source: "CASClientRequestMetrics (ContentionHistogram); cassandra.yaml (paxos_variant)",
    query: query::NODE_METRICS,
    check: Check::OfNode(lwt_contention),
};

fn lwt_contention(node: &Node) -> Checked {
    let transactions = node.metric("ClientRequest", "CASWrite", "Latency", "Count")?.grown;
    let contended = node.metric("ClientRequest", "CASWrite", "ContentionHistogram", "Count")?.grown;
    if transactions == 0 {
        return Ok(None);
    }
    let share = contended as f64 / transactions as f64;
    if !thresholds::CONTENDED.is_met(share) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("{} of {transactions} transactions met others at their partition", text::percent(share)),
        figures: json!({ "transactions": transactions, "contended": contended }),
        advice: "Each of them ran at least one round of Paxos in vain. Let one client at a time work on a partition, spread what is \
                 contended over more partitions, or bound how many transactions run at once (`helenus valve add lwt --at lwt --law throughput --node \
                 ADDRESS` tries it). From 4.1 on paxos_variant: v2 takes two round trips for a write where v1 takes four; it needs \
                 regular Paxos repairs."
            .into(),
        verify: "ContentionHistogram and Latency of CASWrite in node_metrics; fewer timeouts.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::facts::Figure;
    use crate::advice::healthy::{after, grow, missing_after, quiet_after, set};

    #[test]
    fn clients_that_cost() {
        let rule = &TOKEN_AWARENESS;
        after(rule, |node| grow(node, "ClientRequest", "Read", "RemoteRequests", 900));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.metrics.clear());
        let rule = &UNLOGGED_BATCHES;
        let wide = Figure { value: 40, grown: 0 };
        after(rule, |node| set(node, "Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", wide));
        quiet_after(rule, |node| {
            set(node, "Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", wide);
            grow(node, "Batch", "", "PartitionsPerUnloggedBatch", 0);
        });
        missing_after(rule, |node| node.metrics.clear());
        quiet_after(rule, |node| node.metrics.retain(|(kind, ..), _| kind != "Batch"));
        let rule = &LWT_CONTENTION;
        after(rule, |node| grow(node, "ClientRequest", "CASWrite", "ContentionHistogram", 40));
        quiet_after(rule, |_| ());
        missing_after(rule, |node| node.metrics.clear());
    }
}
