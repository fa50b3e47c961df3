//! Did requests wait in a queue within the server?

use super::finding::{Check, Finding};
use super::wording::share;
use crate::evidence::{CauseKind, Evidence};
use crate::query;
use crate::text;
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
        let title = format!("A queue before {pool} of {node} delayed {}", share(cause));
        let detail = format!(
            "Up to {} waited. A queue says where requests waited, not why the pool was not faster.",
            text::counted(usize::try_from(pending).unwrap_or_default(), "task", "tasks")
        );
        let query = evidence.ask(&query::SLOW_IN_POOL_QUEUES);
        let more = json!({ "longest_queues": longest });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        finding.next = next(&pool);
        finding.node = node;
        vec![finding]
    }
}

/// The setting of a pool's size.
fn next(pool: &str) -> String {
    let setting = match pool {
        "ReadStage" => "concurrent_reads",
        "MutationStage" | "RequestMutationStage" => "concurrent_writes",
        "CounterMutationStage" => "concurrent_counter_writes",
        "Native-Transport-Requests" => "native_transport_max_threads",
        _ => {
            return format!(
                "see what the threads of {pool} do: record with --stacks on, then `helenus flame RECORDING`."
            );
        }
    };
    format!("if the CPUs were idle, raise {setting}; else `helenus flame RECORDING` shows what the pool's threads do.")
}
