//! The finding about requests that waited for a thread of a pool in the server.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{severity_throughout, weight};
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
        let Some(cause) = evidence.cause(CauseKind::PoolQueue) else { return Vec::new() };
        if cause.attributed == 0 {
            return self.full_throughout(evidence).into_iter().collect();
        }
        let window = cause.attributed_window.unwrap_or_else(|| evidence.judged_hull());
        let longest = evidence.pools.longest_queues(window);
        let (node, pool, pending) = longest.first().cloned().unwrap_or_default();
        let title = format!("A queue before {pool} of {node} delayed {}", share(cause));
        let waited = text::counted(usize::try_from(pending).unwrap_or_default(), "task", "tasks");
        let threads = evidence.pools.threads((&node, &pool));
        let (most, query) = match evidence.pools.is_sampled((&node, &pool), pending, window) {
            false => (
                format!("Up to {waited} waited, counted from the requests: so many more were in the node than threads"),
                evidence.ask_about_all(&query::IN_NODE),
            ),
            true => (format!("Up to {waited} waited"), evidence.ask(&query::SLOW_IN_POOL_QUEUES)),
        };
        let size = threads.map_or(String::new(), |threads| {
            let threads = usize::try_from(threads).unwrap_or_default();
            format!(" The pool has {}.", text::counted(threads, "thread", "threads"))
        });
        let detail = format!("{most}.{size} A queue says where requests waited, not why the pool was not faster.");
        let more = json!({ "longest_queues": longest });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        finding.next = next(&pool, threads);
        finding.node = node;
        let full = evidence.account.full_pool.share;
        if full > 0.0 {
            finding.claims.push(Claim::Explains { cause: "full-pool", share: full });
        }
        vec![finding]
    }
}

impl PoolQueue {
    /// If every request waits in the queue, there are no others to compare with, and samples taken once a second may
    /// miss a short queue. The evidence is that all threads of the pool were busy in most samples.
    fn full_throughout(&self, evidence: &Evidence) -> Option<Finding> {
        let counted = &evidence.account.full_pool;
        let pool = evidence.account.pool.as_ref().filter(|_| counted.share > 0.0)?;
        let title =
            format!("{} of the slow requests were due while {} was full", text::percent(counted.share), pool.pool);
        let detail = format!(
            "{} of {} had {} at work in {} of the samples, and up to {} waiting. It was so for most of the time, so that this is not tested against chance.",
            pool.pool,
            pool.node,
            if pool.max_size == 1 { "its only thread".into() } else { format!("all {} threads", pool.max_size) },
            text::percent(pool.share),
            text::counted(usize::try_from(pool.most_pending).unwrap_or_default(), "task", "tasks")
        );
        let severity = severity_throughout(counted.median_ns, evidence);
        let mut finding = Finding::new(self.name(), severity, title, detail, evidence.judged_hull());
        finding.node.clone_from(&pool.node);
        finding.next = next(&pool.pool, Some(pool.max_size));
        finding.query = evidence.ask(&query::SLOW_IN_POOL_QUEUES);
        finding.weight = weight(counted.share, counted.median_ns, evidence);
        finding.claims = vec![Claim::Explains { cause: "full-pool", share: counted.share }];
        finding.evidence = json!({ "pool": pool, "counted_for_it_share": counted.share });
        Some(finding)
    }
}

/// The setting that determines a pool's size.
fn next(pool: &str, threads: Option<i64>) -> String {
    let setting = match pool {
        "ReadStage" => "concurrent_reads",
        "MutationStage" | "RequestMutationStage" => "concurrent_writes",
        "CounterMutationStage" => "concurrent_counter_writes",
        "Native-Transport-Requests" => "native_transport_max_threads",
        _ => {
            return format!("see what the threads of {pool} do: `helenus flame RECORDING`.");
        }
    };
    let size = match threads {
        Some(1) => return format!("raise {setting}: with 1 thread, each request waits for all before it."),
        Some(threads) => format!(" (it is {threads})"),
        None => String::new(),
    };
    format!(
        "if the CPUs were idle, raise {setting}{size}; else `helenus flame RECORDING` shows what the pool's threads do."
    )
}
