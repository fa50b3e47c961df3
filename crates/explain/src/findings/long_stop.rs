//! The finding about a node that stood still for a second or more, however few of the recorded requests that delayed. A
//! client that waits for an answer before it sends more meets a stop once (coordinated omission: Gil Tene, How NOT to
//! Measure Latency, 2013), so that long stops are in few requests and in no percentile.

use super::claim::Claim;
use super::finding::Finding;
use crate::evidence::{CauseKind, Evidence, Stop};
use crate::percentiles::ms;
use crate::severity::Severity;
use crate::timeline::{Interval, within};
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) const NAME: &str = "long-stop";
/// A shorter stop is a finding only if it delayed slow requests.
const LONG_NS: i64 = 1_000_000_000;
const KINDS: [CauseKind; 3] = [CauseKind::GcPause, CauseKind::Safepoint, CauseKind::ServerStall];

/// The long stops of a node.
struct Long<'a> {
    kind: CauseKind,
    longest: &'a Stop,
    window: Interval,
    stops: usize,
}

/// Adds the long stops that no serious finding is about, in place of findings that clear such stops.
pub(super) fn add(evidence: &Evidence, findings: &mut Vec<Finding>) {
    for (node, long) in long_stops(evidence) {
        let is_told = |finding: &Finding| {
            finding.finding == long.kind.name()
                && finding.severity > Severity::Information
                && (finding.node.is_empty() || finding.node == node)
        };
        if findings.iter().any(is_told) {
            continue;
        }
        let clears = |claim: &Claim| matches!(claim, Claim::Clears { cause } if *cause == long.kind.name());
        findings.retain(|finding| !finding.claims.iter().any(clears));
        findings.push(finding(evidence, node, &long));
    }
}

/// The longest stop of each node, where that is long.
fn long_stops(evidence: &Evidence) -> BTreeMap<&str, Long<'_>> {
    let judged: Vec<Interval> = match evidence.judged.stretches.as_slice() {
        [] => vec![evidence.recorded],
        stretches => stretches.iter().map(|stretch| stretch.window).collect(),
    };
    let mut by_node: BTreeMap<&str, Long<'_>> = BTreeMap::new();
    for kind in KINDS {
        for stop in evidence.stops.of(kind) {
            let longest = judged.iter().flat_map(|window| within(&[stop.window], *window)).max_by_key(Interval::length);
            let Some(window) = longest.filter(|window| window.length() >= LONG_NS) else { continue };
            let long = by_node.entry(&stop.node).or_insert(Long { kind, longest: stop, window, stops: 0 });
            long.stops += 1;
            if window.length() > long.window.length() {
                (long.kind, long.longest, long.window) = (kind, stop, window);
            }
        }
    }
    by_node
}

fn finding(evidence: &Evidence, node: &str, long: &Long<'_>) -> Finding {
    let Long { kind, longest, window, stops } = long;
    let (what, next, query) = match kind {
        CauseKind::GcPause => ("a GC pause", "see heap and causes with `helenus gc RECORDING`.", query::PAUSES),
        CauseKind::Safepoint => (
            "a safepoint",
            "see its operation in the detail, and who asks the JVM for it (jcmd, an agent).",
            query::PAUSES,
        ),
        _ => (
            "outside GC",
            "find what stopped the process (kill -STOP, a debugger, a frozen container) or the machine (its hypervisor).",
            query::STALLS,
        ),
    };
    let requests = &evidence.recorded_requests;
    let is_of_node = |number: u16| requests.nodes.get(usize::from(number)).is_some_and(|name| name == node);
    let met = requests
        .rows
        .iter()
        .filter(|request| request.intended_ns < window.end && request.end_ns > window.start && is_of_node(request.node))
        .count();
    let title = format!(
        "{node} stood still for {} at {} UTC: {what}",
        text::time_ns(window.length()),
        text::time_of_day(window.start)
    );
    let more = match stops - 1 {
        0 => String::new(),
        more => format!(" {} more took a second or longer.", text::counted(more, "stop", "stops")),
    };
    let detail = format!(
        "{}: {} of {} met it. A client that waits for an answer before it sends more meets a stop once, so that stops \
         are in few requests and in no percentile.{more}",
        longest.label,
        text::count(met),
        text::counted(requests.rows.len(), "recorded request", "recorded requests")
    );
    let mut finding = Finding::new(NAME, Severity::Warning, title, detail, *window);
    finding.node = node.to_string();
    finding.next = next.into();
    finding.query = query.fill(&[]);
    finding.weight = ms(window.length());
    finding.evidence =
        json!({ "longest_ms": ms(window.length()), "stops": stops, "requests_met": met, "kind": kind.name() });
    finding
}
