//! The finding about a node that stood still for a second or more, however few of the recorded requests that delayed. A
//! client that waits for an answer before it sends more meets a stop once (coordinated omission: Gil Tene, How NOT to
//! Measure Latency, 2013), so that such a stop may be in few requests and in no percentile.

use super::claim::Claim;
use super::finding::Finding;
use super::server_stall::{WHAT_THREADS_WAIT_FOR, WHO_STOPS_IT, meanwhile};
use crate::engine::Provider;
use crate::evidence::{CauseKind, Event, Evidence, LONG_STOP_NS, STOPPED, Stop};
use crate::percentiles::ms;
use crate::severity::Severity;
use crate::timeline::{Interval, total_ns, within};
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) const NAME: &str = "long-stop";
/// Where a larger share of the requests met the stop, the percentiles show it.
const FEW: f64 = 0.01;
/// The kind of an event that says that requests on the wire wait and none is answered.
const SILENT: &str = "silent";
const KINDS: [CauseKind; 3] = [CauseKind::GcPause, CauseKind::Safepoint, CauseKind::ServerStall];

/// The long stops of a node that have one kind.
struct Long<'a> {
    kind: CauseKind,
    longest: &'a Stop,
    window: Interval,
    stops: usize,
    total_ns: i64,
}

/// Adds the long stops that no serious finding is about. Requests that are counted for a stop keep their finding, which is about
/// the stop then. Findings that clear such stops are removed.
pub(super) fn add(evidence: &Evidence, findings: &mut Vec<Finding>) {
    for ((_, node), long) in long_stops(evidence) {
        let name = long.kind.name();
        let is_blamed =
            evidence.cause(long.kind).is_some_and(|cause| cause.blamed.nodes.iter().any(|blamed| blamed == node));
        let stop = finding(evidence, node, &long);
        match findings.iter_mut().find(|one| one.finding == name && is_blamed) {
            Some(one) if one.severity > Severity::Information => {}
            Some(_) if stop.severity == Severity::Information => {}
            Some(one) => {
                one.weight = one.weight.max(stop.weight);
                (one.severity, one.title, one.detail, one.next) = (stop.severity, stop.title, stop.detail, stop.next);
            }
            None => {
                let clears = |claim: &Claim| matches!(claim, Claim::Clears { cause } if *cause == name);
                findings.retain(|finding| !finding.claims.iter().any(clears));
                findings.push(stop);
            }
        }
    }
}

/// The time in which stops count: for our own load the judged phases.
fn times(evidence: &Evidence) -> Vec<Interval> {
    match evidence.provider {
        _ if evidence.recorded_requests.rows.is_empty() => vec![evidence.asked_or_recorded()],
        Provider::Load => evidence.judged.stretches.iter().map(|stretch| stretch.window).collect(),
        Provider::Wire | Provider::Jvm => vec![evidence.asked_or_recorded()],
    }
}

fn long_stops(evidence: &Evidence) -> BTreeMap<(usize, &str), Long<'_>> {
    let times = times(evidence);
    let mut found: BTreeMap<(usize, &str), Long<'_>> = BTreeMap::new();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for stop in evidence.stops.of(kind) {
            let parts = times.iter().flat_map(|time| within(&[stop.window], *time));
            let Some(window) = parts.max_by_key(Interval::length).filter(|part| part.length() >= LONG_STOP_NS) else {
                continue;
            };
            let long = found.entry((number, &stop.node)).or_insert(Long {
                kind,
                longest: stop,
                window,
                stops: 0,
                total_ns: 0,
            });
            long.stops += 1;
            long.total_ns += window.length();
            if window.length() > long.window.length() {
                (long.longest, long.window) = (stop, window);
            }
        }
    }
    found
}

fn finding(evidence: &Evidence, node: &str, long: &Long<'_>) -> Finding {
    let Long { kind, longest, window, stops, total_ns: stopped_ns } = long;
    let (what, cause, next, query) = match kind {
        CauseKind::GcPause => (
            "a GC pause",
            format!(" Collector and cause: {}.", longest.label),
            "see heap and causes with `helenus gc RECORDING`.",
            query::PAUSES,
        ),
        CauseKind::Safepoint => (
            "a safepoint",
            format!(" Operation: {}.", longest.label),
            "find who asks the JVM for this operation (jcmd, an agent).",
            query::PAUSES,
        ),
        _ => {
            let cpus = evidence.machine.usage_of(&[*window], |of| of == node).server_cpus;
            let is_held = longest.label == STOPPED;
            let (meanwhile, is_idle) = meanwhile(cpus, is_held);
            let next = if is_held || is_idle { WHO_STOPS_IT } else { WHAT_THREADS_WAIT_FOR };
            ("no GC pause", meanwhile, next, query::STALLS)
        }
    };
    let requests = &evidence.recorded_requests;
    let meets = |start: i64, end: i64| start < window.end && end > window.start;
    let of_node = requests.rows.iter().filter(|request| requests.is_of(request, node));
    let met = of_node.filter(|request| meets(request.intended_ns, request.end_ns)).count();
    let share = met as f64 / requests.rows.len().max(1) as f64;
    let title = format!(
        "{node} stood still for {} at {} UTC ({what})",
        text::time_ns(window.length()),
        text::time_of_day(window.start)
    );
    let more = match stops - 1 {
        0 => String::new(),
        more => format!(" {} more took a second or longer.", text::counted(more, "stop", "stops")),
    };
    let omitted = match share < FEW {
        true => {
            " A client that waits for an answer before it sends more meets a stop once, so that percentiles hardly show it."
        }
        false => "",
    };
    let detail = match requests.rows.len() {
        0 => format!("No requests were recorded, which it may have delayed.{cause}{more}"),
        recorded => format!(
            "{} of {} met it.{omitted}{cause}{more}",
            text::count(met),
            text::counted(recorded, "recorded request", "recorded requests")
        ),
    };
    // A stop that nobody met, such as one after the clients had ended, made nobody wait.
    let is_silent = |event: &Event| event.kind == SILENT && event.node == node && window.contains(event.time_ns);
    let made_wait = met > 0 || requests.rows.is_empty() || evidence.events.iter().any(is_silent);
    let severity = if made_wait { Severity::Warning } else { Severity::Information };
    let mut finding = Finding::new(NAME, severity, title, detail, *window);
    finding.node = node.to_string();
    finding.next = next.into();
    finding.query = query.fill(&[]);
    finding.weight = if made_wait { weight(evidence, *stopped_ns, *window) } else { 0.0 };
    finding.evidence = json!({
        "longest_ms": ms(window.length()),
        "stops": stops,
        "stopped_ms": ms(*stopped_ns),
        "requests_met": met,
        "kind": kind.name(),
    });
    finding
}

/// Share of the slow requests × their delay, as if requests had come at any time: they would have met the stops in proportion
/// to the time, and waited for half of it on average.
fn weight(evidence: &Evidence, stopped_ns: i64, longest: Interval) -> f64 {
    let share = stopped_ns as f64 / total_ns(&times(evidence)).max(1) as f64;
    let slow = evidence.judged.slow_requests() as f64 / evidence.judged.requests().max(1) as f64;
    let of_slow = if slow > 0.0 { (share / slow).min(1.0) } else { 1.0 };
    of_slow * ms(longest.length()) / 2.0
}
