//! Was it garbage collection on the server?

use super::{Check, Finding, UNDECIDED, against_chance, of_node, shares};
use crate::evidence::{Cause, CauseKind, Evidence, StopTotals};
use crate::{query, text};
use serde_json::json;

pub(super) struct GcPause;

impl Check for GcPause {
    fn name(&self) -> &'static str {
        "gc-pause"
    }

    /// Always answers when pauses were recorded: "no" is an answer, too.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::GcPause) else { return Vec::new() };
        if !evidence.coverage.has_pauses() || evidence.judged.slow_requests() == 0 {
            return Vec::new();
        }
        let totals = StopTotals::of(&evidence.stops.gc, &evidence.judged);
        let gc_time = cause.judged_time_share(&evidence.judged);
        let words = if cause.is_significant() && cause.attributed > 0 {
            yes(cause, &totals, gc_time)
        } else if totals.stops == 0 {
            (
                "Garbage collection is not why requests were slow: the server paused for none".into(),
                "No GC pause was recorded in the judged time, and pauses were recorded.".into(),
            )
        } else if cause.is_significant() {
            (
                "Garbage collection is not why requests were slow: what it met was held up longer by something else"
                    .into(),
                "Every slow request that met a GC pause also met a longer stop, for which it is counted.".into(),
            )
        } else if cause.is_suspect() {
            (
                format!(
                    "Garbage collection may be why requests were slow, which is not sure: {}",
                    against_chance(cause)
                ),
                format!("{} {UNDECIDED}", in_all(&totals)),
            )
        } else {
            (format!("Garbage collection is not why requests were slow: {}", against_chance(cause)), in_all(&totals))
        };
        let more = json!({ "pauses": totals, "gc_time_share": gc_time });
        let mut finding = Finding::about(self.name(), cause, evidence, words, evidence.ask(&query::SLOW_IN_GC), more);
        finding.node = totals.node;
        vec![finding]
    }
}

fn in_all(totals: &StopTotals) -> String {
    format!(
        "{}, {} in all, the longest {}.",
        text::counted(totals.stops, "GC pause", "GC pauses"),
        text::time_ms(totals.total_ms),
        text::time_ms(totals.longest_ms)
    )
}

fn yes(cause: &Cause, totals: &StopTotals, gc_time: f64) -> (String, String) {
    let title = format!(
        "GC pauses{} account for {}: {}, {} in all, the longest {}",
        of_node(&totals.node, totals.nodes),
        shares(cause),
        text::counted(totals.stops, "pause", "pauses"),
        text::time_ms(totals.total_ms),
        text::time_ms(totals.longest_ms)
    );
    let most = totals.ms_by_label.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("", |(label, _)| label.as_str());
    let advice = if gc_time >= 0.1 {
        format!(
            "The server spent {} of the judged time in GC pauses: its heap is too small for this load. Give it more (--heap for a node of helenus up, MAX_HEAP_SIZE of Cassandra), then run again and compare.",
            text::percent(gc_time)
        )
    } else {
        "Look at what is collected, and when: heap before and after each pause is in the query. Fewer or shorter pauses come from a larger heap, a lower pause target (-XX:MaxGCPauseMillis), or less garbage per request.".into()
    };
    (title, format!("Most of the pause time was {most}. {advice}"))
}
