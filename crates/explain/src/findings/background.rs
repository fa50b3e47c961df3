//! The finding about compactions and flushes: did they slow requests down?

use super::finding::{Check, Finding};
use super::wording::share;
use crate::evidence::{CauseKind, Evidence};
use crate::{query, text};
use serde_json::json;

pub(super) struct CompactionOrFlush;

impl Check for CompactionOrFlush {
    fn name(&self) -> &'static str {
        "compaction-or-flush"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::CompactionOrFlush).filter(|cause| cause.attributed > 0) else {
            return Vec::new();
        };
        let running = text::percent(cause.judged_time_share(&evidence.judged));
        let title = format!("Compactions or flushes delayed {}", share(cause));
        let detail = format!("They ran {running} of the judged time, and compete with requests for CPU and disk.");
        let query = evidence.ask(&query::SLOW_IN_BACKGROUND);
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, json!({}));
        finding.next =
            "lower compaction_throughput (nodetool setcompactionthroughput) or concurrent_compactors.".into();
        vec![finding]
    }
}
