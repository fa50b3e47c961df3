//! The finding about a node whose process ended while it was recorded.

use super::finding::{Check, Finding};
use crate::evidence::{Event, Evidence};
use crate::severity::Severity;
use crate::timeline::Interval;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "node-ended";
/// Kinds of events.
const ENDED: &str = "ended";
const STARTED: &str = "started";
const COLLECTION: &str = "collection";
/// How long before the end collections count.
const COLLECTIONS_NS: i64 = 60_000_000_000;
/// A shorter time without an answer says nothing.
const WORTH_TELLING_NS: i64 = 1_000_000_000;
/// The sampler and the recorder may both see a process end, and no process starts and ends within this time.
const SEEN_TWICE_NS: i64 = 5_000_000_000;
/// A node without a process answers nobody, which goes before all that was slow.
const BEFORE_OTHERS: f64 = f64::MAX;

pub(super) struct NodeEnded;

/// Whether a node's process ended within the judged time: what it had measured by itself in its last seconds is not recorded.
pub(super) fn is_any(evidence: &Evidence) -> bool {
    evidence.events.iter().any(|event| event.kind == ENDED && evidence.is_asked(event.time_ns))
}

impl Check for NodeEnded {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let is_asked = |event: &&Event| event.kind == ENDED && evidence.is_asked(event.time_ns);
        let mut ends: Vec<&Event> = evidence.events.iter().filter(is_asked).collect();
        ends.sort_by_key(|event| (event.node.as_str(), event.time_ns));
        ends.dedup_by(|next, event| next.node == event.node && next.time_ns - event.time_ns < SEEN_TWICE_NS);
        ends.into_iter().map(|event| finding(self.name(), event, evidence)).collect()
    }
}

fn finding(name: &'static str, event: &Event, evidence: &Evidence) -> Finding {
    let title = format!("The process of {} ended at {} UTC", event.node, text::time_of_day(event.time_ns));
    let requests = &evidence.recorded_requests;
    let of_node = || requests.rows.iter().filter(|request| requests.is_of(request, &event.node));
    let last_ns = of_node().filter(|request| requests.is_ok(request) && request.end_ns <= event.time_ns);
    let last_ns = last_ns.map(|request| request.end_ns).max();
    let next_ns = of_node().filter(|request| requests.is_ok(request) && request.intended_ns > event.time_ns);
    let next_ns = next_ns.map(|request| request.end_ns).min();
    let until_ns = next_ns.unwrap_or(evidence.recorded.end).max(event.time_ns);
    let later = |time_ns: i64| text::time_ns(time_ns - event.time_ns);
    let mut sentences = Vec::new();
    match next_ns {
        Some(next_ns) => sentences.push(format!("The next recorded answer came {} later.", later(next_ns))),
        None if until_ns - event.time_ns >= WORTH_TELLING_NS => {
            sentences.push(format!("No answer was recorded in the {} after it.", later(until_ns)));
        }
        None => {}
    }
    let is_start = |one: &&Event| one.kind == STARTED && one.node == event.node && one.time_ns > event.time_ns;
    if let Some(start) = evidence.events.iter().find(is_start) {
        sentences.push(format!("A process of the node was there again {} later.", later(start.time_ns)));
    }
    if let Some(last_ns) = last_ns {
        sentences.push(format!("The last answer came {} before.", text::time_ns(event.time_ns - last_ns)));
    }
    let mut next = "read the end of its system.log, what the JVM printed (Terminating due to java.lang.OutOfMemoryError), hs_err_pid*.log, \
                    and the kernel's log: `journalctl -k --grep 'killed process'`."
        .to_string();
    let since_ns = event.time_ns - COLLECTIONS_NS;
    let is_collection = |one: &&Event| {
        one.kind == COLLECTION && one.node == event.node && (since_ns..=event.time_ns).contains(&one.time_ns)
    };
    let collections = evidence.events.iter().filter(is_collection).count();
    if collections > 0 {
        sentences.push(format!(
            "Its log has {} in the {} before it, as with a heap that is too small.",
            text::counted(collections, "long collection", "long collections"),
            text::time_ns(COLLECTIONS_NS)
        ));
        next.push_str(" If it was for lack of heap, give it more (MAX_HEAP_SIZE in cassandra-env.sh).");
    }
    let window = Interval { start: event.time_ns, end: until_ns.max(event.time_ns + 1) };
    let mut finding = Finding::new(name, Severity::Critical, title, sentences.join(" "), window);
    finding.next = next;
    finding.node.clone_from(&event.node);
    finding.weight = BEFORE_OTHERS;
    finding.query = query::EVENTS.fill(&[]);
    finding.evidence = json!({ "ended_ns": event.time_ns, "last_answer_ns": last_ns, "next_answer_ns": next_ns });
    finding
}
