//! The finding about changes: since when are requests slow, and which events happened then?

use super::finding::{Check, Finding};
use crate::anatomy::{Change, Figure};
use crate::evidence::{Event, Evidence};
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// Events up to this long before a change are listed with it. Bins last at least a second, so the change may have been
/// a little earlier.
const BEFORE_NS: i64 = 5_000_000_000;
const AFTER_NS: i64 = 1_000_000_000;
const MOST_SHOWN: usize = 3;
/// Ranks below all findings that name a cause, because a change alone explains nothing.
const BELOW_CAUSES: f64 = -0.5;

pub(super) struct Changed;

impl Check for Changed {
    fn name(&self) -> &'static str {
        "change"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let worse = |change: &&Change| change.figure == Figure::P99 && change.is_rise();
        let Some(first) = evidence.changes.iter().find(worse).or(evidence.changes.first()) else { return Vec::new() };
        let near: Vec<&Event> = evidence
            .events
            .iter()
            .filter(|event| (first.time_ns - BEFORE_NS..first.time_ns + AFTER_NS).contains(&event.time_ns))
            .collect();
        let mut sentences = Vec::new();
        if near.is_empty() {
            sentences.push("No event was recorded in the 5 s before it.".to_string());
        }
        sentences.extend(
            near.iter()
                .rev()
                .take(MOST_SHOWN)
                .map(|event| format!("{}: {}.", text::time_of_day(event.time_ns), event.what)),
        );
        let others = evidence.changes.iter().filter(|change| *change != first).take(MOST_SHOWN);
        let others: Vec<String> = others.map(sentence).collect();
        if !others.is_empty() {
            sentences.push(format!("Also: {}.", others.join("; ")));
        }
        let at = crate::timeline::Interval { start: first.time_ns - BEFORE_NS, end: first.time_ns + BEFORE_NS };
        let mut finding = Finding::new(self.name(), Severity::Information, sentence(first), sentences.join(" "), at);
        finding.next =
            format!("compare the times: `helenus explain RECORDING --around {}`.", text::time_of_day(first.time_ns));
        finding.weight = BELOW_CAUSES;
        finding.query = query::EVENTS.fill(&[]);
        finding.evidence = json!({ "changes": evidence.changes, "events_near": near });
        vec![finding]
    }
}

/// Formats a change: "The p99 rose from 4.0 ms to 60 ms at 03:12:40 UTC".
fn sentence(change: &Change) -> String {
    let verb = if change.is_rise() { "rose" } else { "fell" };
    let at = text::time_of_day(change.time_ns);
    match change.figure {
        Figure::P99 => format!(
            "The p99 {verb} from {} to {} at {at} UTC",
            text::time_ms(change.before),
            text::time_ms(change.after)
        ),
        Figure::Rate => {
            format!("The rate {verb} from {} to {} at {at} UTC", text::rate(change.before), text::rate(change.after))
        }
    }
}
