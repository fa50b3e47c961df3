//! Did requests wait in a queue within the server?

use super::finding::{Check, Finding};
use super::wording::shares;
use crate::evidence::{CauseKind, Evidence};
use crate::query;
use serde_json::json;

pub(super) struct PoolQueue;

impl Check for PoolQueue {
    fn name(&self) -> &'static str {
        "pool-queue"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::PoolQueue).filter(|cause| cause.attributed > 0) else {
            return Vec::new();
        };
        let window = cause.attributed_window.unwrap_or_else(|| evidence.judged_hull());
        let longest = evidence.pools.longest_queues(window);
        let (node, pool, pending) = longest.first().cloned().unwrap_or_default();
        let title = format!(
            "Queues before thread pools of the server account for {}: most tasks waited for {pool} of {node}, up to {pending}",
            shares(cause)
        );
        let detail = "A queue says where requests waited, not why the pool was not faster: look at what its threads \
                      did meanwhile (CPU, disk, locks). If the CPUs were idle and the pool was at its maximum, a larger \
                      pool can help (concurrent_reads, concurrent_writes, native_transport_max_threads)."
            .to_string();
        let query = evidence.ask(&query::SLOW_IN_POOL_QUEUES);
        let more = json!({ "longest_queues": longest });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        finding.node = node;
        vec![finding]
    }
}
