//! Were compactions or flushes running?

use super::finding::{Check, Finding};
use super::wording::shares;
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
        let title = format!(
            "Running compactions or flushes account for {}; they ran {running} of the judged time",
            shares(cause)
        );
        let detail = "They compete with requests for CPU and disk. Throttle them (compaction_throughput), give them \
                      fewer threads (concurrent_compactors), or look at why there is so much to compact (table_stats: \
                      sstables, pending_compactions, bytes_compacted)."
            .to_string();
        let query = evidence.ask(&query::SLOW_IN_BACKGROUND);
        vec![Finding::about(self.name(), cause, evidence, (title, detail), query, json!({}))]
    }
}
