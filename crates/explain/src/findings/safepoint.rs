//! The finding about stops of the JVM other than garbage collection.

use super::finding::{Check, Finding};
use super::wording::{most_of, of_nodes, share};
use crate::evidence::{CauseKind, Evidence, StopTotals};
use crate::{query, text};
use serde_json::json;

pub(super) struct Safepoint;

impl Check for Safepoint {
    fn name(&self) -> &'static str {
        "safepoint"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::Safepoint).filter(|cause| cause.attributed > 0) else {
            return Vec::new();
        };
        let totals = StopTotals::of(&cause.blamed.stops, &evidence.judged);
        let most = totals.ms_by_label.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("", |(label, _)| label.as_str());
        let title = format!(
            "Safepoints{} delayed {} (longest {})",
            of_nodes(&cause.blamed),
            share(cause),
            text::time_ms(totals.longest_ms)
        );
        let detail = format!(
            "{}, none of them for GC; most of the time went to the operation {most}.{} A long time to safepoint points at a thread that did not \
             stop in time (a long loop, a page fault on a mapped file), a short one at the operation itself.",
            text::counted(totals.stops, "safepoint", "safepoints"),
            most_of(&cause.blamed)
        );
        let query = evidence.ask(&query::SLOW_IN_SAFEPOINTS);
        let mut finding =
            Finding::about(self.name(), cause, evidence, (title, detail), query, json!({ "safepoints": totals }));
        finding.next =
            format!("find what asks for {most} (thread dumps, monitoring agents): start the JVM with -Xlog:safepoint.");
        finding.node = cause.blamed.nodes.first().cloned().unwrap_or_default();
        vec![finding]
    }
}
