//! The finding about failed requests and their errors.

use super::finding::{Check, Finding};
use crate::evidence::{Evidence, times};
use crate::requests::Request;
use crate::severity::Severity;
use crate::timeline::{Interval, covered_ns};
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

/// If at least this share of the requests failed, the finding is critical. A single error is a warning, because a
/// client got no answer.
pub(super) const CRITICAL_SHARE: f64 = 0.01;
const LONGEST_OPERATION: usize = 120;
pub(super) const NAME: &str = "errors";

pub(super) struct Errors;

impl Check for Errors {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let requests = &evidence.requests;
        let failed: Vec<_> = requests.rows.iter().filter(|request| !requests.is_ok(request)).collect();
        let Some(window) = failed
            .iter()
            .map(|request| Interval { start: request.intended_ns, end: request.end_ns.max(request.intended_ns + 1) })
            .reduce(|all, next| Interval { start: all.start.min(next.start), end: all.end.max(next.end) })
        else {
            return Vec::new();
        };
        let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
        for request in &failed {
            *outcomes.entry(requests.outcome(request)).or_default() += 1;
        }
        let mut by_count: Vec<(&str, usize)> = outcomes.iter().map(|(outcome, count)| (*outcome, *count)).collect();
        by_count.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named: Vec<String> =
            by_count.iter().map(|(outcome, count)| format!("{} {outcome}", text::count(*count))).collect();
        let share = failed.len() as f64 / requests.rows.len() as f64;
        let during = |stops| {
            let stops = times(stops);
            let met = |request: &&&Request| {
                covered_ns(&stops, Interval { start: request.intended_ns, end: request.end_ns }) > 0
            };
            failed.iter().filter(met).count()
        };
        let (gc, server, client) =
            (during(&evidence.stops.gc), during(&evidence.stops.server), during(&evidence.stops.client));
        let overloaded = failed
            .iter()
            .filter(|request| {
                evidence.phases.iter().any(|phase| phase.overloaded && phase.window().contains(request.intended_ns))
            })
            .count();
        let title = format!(
            "{} of {} failed ({}): {}",
            text::count(failed.len()),
            text::counted(requests.rows.len(), "request", "requests"),
            text::percent(share),
            named.join(", ")
        );
        let mut met = Vec::new();
        for (count, what) in [
            (overloaded, "were due in an overloaded phase"),
            (gc, "met a GC pause"),
            (server, "met a stall of the server"),
            (client, "met a stall of the load driver"),
        ] {
            if count > 0 {
                met.push(format!("{} {what}", text::count(count)));
            }
        }
        let met = if met.is_empty() && !evidence.coverage.has_pauses() {
            "Whether they met a pause or a stall of the node was not recorded.".to_string()
        } else if met.is_empty() {
            "None of them met a pause, a stall or an overloaded phase.".to_string()
        } else {
            format!("Of these {}.", met.join(", "))
        };
        let detail = format!(
            "{}{met} Timeouts count as slow requests; other failures are left out of the latencies. The query has node, operation and time of each kind.",
            mostly(evidence, &failed)
        );
        let severity = if share >= CRITICAL_SHARE { Severity::Critical } else { Severity::Warning };
        let mut finding = Finding::new(self.name(), severity, title, detail, window);
        let is_of_stops = (gc + server) * 2 > failed.len();
        finding.next = match by_count.first() {
            Some(_) if is_of_stops => "see the finding about the node's stops: most of these requests met one.".into(),
            Some((outcome, _)) => next(outcome).into(),
            None => String::new(),
        };
        finding.query = evidence.ask(&query::ERRORS_BY_OUTCOME);
        finding.weight = share * 1000.0;
        finding.evidence = json!({
            "requests": requests.rows.len(),
            "failed": failed.len(),
            "failed_share": share,
            "outcomes": outcomes,
            "in_overloaded_phases": overloaded,
            "met_gc": gc,
            "met_server_stall": server,
            "met_client_stall": client,
        });
        vec![finding]
    }
}

/// Names the operation of most failed requests. Empty unless one operation has more than half of them, and there are others.
fn mostly(evidence: &Evidence, failed: &[&Request]) -> String {
    let mut by_operation: BTreeMap<&str, usize> = BTreeMap::new();
    for request in failed {
        *by_operation.entry(evidence.requests.operation(request)).or_default() += 1;
    }
    let most = by_operation.iter().max_by_key(|(_, count)| **count);
    match most.filter(|(_, count)| **count * 2 > failed.len() && evidence.requests.operations.len() > 1) {
        Some((operation, count)) => {
            let share = text::percent(*count as f64 / failed.len() as f64);
            format!("{share} of them are `{}`. ", text::shortened(operation, LONGEST_OPERATION))
        }
        None => String::new(),
    }
}

/// The advice for the most frequent kind of error.
fn next(outcome: &str) -> &'static str {
    match outcome {
        "read_timeout" | "write_timeout" | "timeout" => {
            "see what these requests wait for (`helenus statements RECORDING`) before a timeout is raised: read_request_timeout, \
             range_request_timeout and write_request_timeout of cassandra.yaml, and the driver's own."
        }
        "overloaded" => {
            "let the clients keep fewer requests in flight, or raise the bound that they met: \
             native_transport_max_request_data_in_flight, native_transport_max_requests_per_second."
        }
        "unavailable" => "see which nodes are down: nodetool status, and the events of the recording.",
        "read_failure" | "write_failure" => {
            "read the replicas' system.log: tombstone_failure_threshold, guardrails and broken SSTables fail requests."
        }
        _ => {
            "read the node's system.log at that time; `helenus explain RECORDING --queries` has the query of the failures."
        }
    }
}
