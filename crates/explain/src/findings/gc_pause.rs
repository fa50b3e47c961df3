//! Was it garbage collection on the server?

use super::finding::{Check, Finding};
use super::wording::{UNDECIDED, against_chance, of_nodes, shares, too_little};
use crate::evidence::{Cause, CauseKind, Evidence, Standing, Stop, StopTotals};
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
        let not = "Garbage collection is not why requests were slow";
        let words = match cause.standing() {
            Standing::Explains => yes(cause, evidence),
            Standing::Absent => (
                format!("{not}: the server paused for none"),
                "No GC pause was recorded in the judged time, and pauses were recorded.".into(),
            ),
            Standing::Outweighed => (
                format!("{not}: what it met was held up longer by something else"),
                "Every slow request that met a GC pause also met a longer stop, for which it is counted.".into(),
            ),
            Standing::Suspect => (
                format!(
                    "Garbage collection may be why requests were slow, which is not sure: {}",
                    against_chance(cause)
                ),
                format!("{} {UNDECIDED}", in_all(&totals)),
            ),
            Standing::Slight => (
                format!("Garbage collection explains little: {}", against_chance(cause)),
                format!("{} {}", in_all(&totals), too_little()),
            ),
            Standing::Cleared => (format!("{not}: {}", against_chance(cause)), in_all(&totals)),
        };
        let more = json!({ "pauses": totals, "gc_time_share": gc_time });
        let mut finding = Finding::about(self.name(), cause, evidence, words, evidence.ask(&query::SLOW_IN_GC), more);
        finding.node = cause.blamed.nodes.first().cloned().unwrap_or(totals.node);
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

/// Of the nodes whose pauses held up the requests, all of their pauses: how much time they take is a question of the heap.
fn yes(cause: &Cause, evidence: &Evidence) -> (String, String) {
    let of_blamed = |stop: &&Stop| cause.blamed.nodes.contains(&stop.node);
    let totals = StopTotals::of(evidence.stops.gc.iter().filter(of_blamed), &evidence.judged);
    let of_first = |stop: &&Stop| cause.blamed.nodes.first() == Some(&stop.node);
    let of_first = StopTotals::of(evidence.stops.gc.iter().filter(of_first), &evidence.judged);
    let gc_time = of_first.total_ms / (evidence.judged.length_ns().max(1) as f64 / 1e6);
    let title = format!(
        "GC pauses{} account for {}: {}, {} in all, the longest {}",
        of_nodes(&cause.blamed),
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
