//! The finding about garbage collection on the server.

use super::ended;
use super::finding::{Check, Finding};
use super::wording::{UNDECIDED, against_chance, most_of, of_nodes, share, too_little};
use crate::evidence::{Cause, CauseKind, Evidence, Standing, Stop, StopTotals};
use crate::{query, text};
use serde_json::json;

/// The label of pauses that were waits for a CPU.
const WAIT: &str = "GC pause";

pub(super) struct GcPause;

impl Check for GcPause {
    fn name(&self) -> &'static str {
        "gc-pause"
    }

    /// Always gives a finding when pauses were recorded: that GC is not the cause is a result, too.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::GcPause) else { return Vec::new() };
        if !evidence.coverage.has_pauses() || evidence.judged.slow_requests() == 0 {
            return Vec::new();
        }
        // The pauses of the last seconds ended with the process.
        if cause.standing() != Standing::Explains && ended::is_any(evidence) {
            return Vec::new();
        }
        let totals = StopTotals::of(&evidence.stops.gc, &evidence.judged);
        let gc_time = cause.judged_time_share(&evidence.judged);
        let mut next = String::new();
        let words = match cause.standing() {
            Standing::Explains => {
                let (title, detail, advice) = yes(cause, evidence);
                next = advice;
                (title, detail)
            }
            Standing::Absent if evidence.stops.has_wait(WAIT) => (
                "GC is cleared: its pauses were waits for a CPU".into(),
                "Its threads stood in a run queue for most of each pause.".into(),
            ),
            Standing::Absent => (
                "GC is cleared: the server never paused for it".into(),
                "No GC pause was recorded in the judged time, and pauses were recorded.".into(),
            ),
            Standing::Outweighed => (
                "GC paused the server, but something else delayed the slow requests longer".into(),
                "Each slow request that met a GC pause also met a longer stop, for which it is counted.".into(),
            ),
            Standing::Suspect => {
                next = UNDECIDED.into();
                let title = "GC is a suspect; the evidence is inconclusive".into();
                (title, format!("{} {}", in_all(&totals, evidence), against_chance(cause)))
            }
            Standing::Slight => (
                "GC pauses explain too little to count".into(),
                format!("{} {} {}", in_all(&totals, evidence), against_chance(cause), too_little()),
            ),
            Standing::Cleared => {
                ("GC is cleared".into(), format!("{} {}", in_all(&totals, evidence), against_chance(cause)))
            }
        };
        let more = json!({ "pauses": totals, "gc_time_share": gc_time });
        let mut finding = Finding::about(self.name(), cause, evidence, words, evidence.ask(&query::SLOW_IN_GC), more);
        finding.node = cause.blamed.nodes.first().cloned().unwrap_or(totals.node);
        finding.next = next;
        vec![finding]
    }
}

fn in_all(totals: &StopTotals, evidence: &Evidence) -> String {
    let waits = StopTotals::of(evidence.stops.waits_with(WAIT), &evidence.judged);
    let more = match waits.stops {
        0 => String::new(),
        stops => format!(
            " {} more, the longest {}, were mostly waits for a CPU.",
            text::count(stops),
            text::time_ms(waits.longest_ms)
        ),
    };
    format!(
        "{}, {} in all, the longest {}.{more}",
        text::counted(totals.stops, "GC pause", "GC pauses"),
        text::time_ms(totals.total_ms),
        text::time_ms(totals.longest_ms)
    )
}

/// Counts all pauses of the nodes whose pauses delayed requests, because the time in pauses shows whether the heap is
/// too small.
fn yes(cause: &Cause, evidence: &Evidence) -> (String, String, String) {
    let of_blamed = |stop: &&Stop| cause.blamed.nodes.contains(&stop.node);
    let totals = StopTotals::of(evidence.stops.gc.iter().filter(of_blamed), &evidence.judged);
    let of_first = |stop: &&Stop| cause.blamed.nodes.first() == Some(&stop.node);
    let of_first = StopTotals::of(evidence.stops.gc.iter().filter(of_first), &evidence.judged);
    let gc_time = of_first.total_ms / (evidence.judged.length_ns().max(1) as f64 / 1e6);
    let title = format!(
        "GC pauses{} delayed {} (longest {})",
        of_nodes(&cause.blamed),
        share(cause),
        text::time_ms(totals.longest_ms)
    );
    let most = totals.ms_by_label.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("", |(label, _)| label.as_str());
    let (meaning, advice) = if gc_time >= 0.1 {
        let next = "set a larger heap (MAX_HEAP_SIZE in cassandra-env.sh, or `helenus up --heap 4g`), then compare.";
        (" The heap is too small for this load.", next)
    } else {
        ("", "see heap and causes with `helenus gc RECORDING`; try a larger heap or a lower -XX:MaxGCPauseMillis.")
    };
    let detail = format!(
        "{}, {} in all, {} of the judged time, most of it {most}.{meaning}{}",
        text::counted(totals.stops, "pause", "pauses"),
        text::time_ms(totals.total_ms),
        text::percent(gc_time),
        most_of(&cause.blamed)
    );
    (title, detail, advice.into())
}
