//! How much the requests that a cause concerns matter, by how long they took and how many they are.

use crate::evidence::{Cause, EXCESS_BOUND, Evidence};
use crate::percentiles::ms;
use crate::severity::Severity;

/// Below this median of the requests concerned nothing is more than information; from the second on it can be critical.
pub(crate) const MATERIAL_NS: i64 = 20_000_000;
const CRITICAL_NS: i64 = 100_000_000;
/// A cause that meets fewer of all the requests than FREQUENT is material from here on only: in a node in health one
/// collection of the young generation now and then lengthens as many, and takes as long.
const RARE_MATERIAL_NS: i64 = 60_000_000;
const FREQUENT: f64 = 0.005;
/// How many times the median of all the requests concerned must take.
const MATERIAL_TIMES: i64 = 5;
/// Share of the slow requests from which a cause can be critical.
const CRITICAL_SHARE: f64 = 0.25;

/// The severity of requests with this response time, whatever the cause.
pub(crate) fn materiality(response_ns: Option<i64>, evidence: &Evidence) -> Severity {
    let times = evidence.judged.median_ns.saturating_mul(MATERIAL_TIMES);
    match response_ns {
        Some(ns) if ns >= CRITICAL_NS && ns >= times => Severity::Critical,
        Some(ns) if ns >= MATERIAL_NS && ns >= times => Severity::Warning,
        _ => Severity::Information,
    }
}

pub(super) fn severity_of(cause: &Cause, evidence: &Evidence) -> Severity {
    if cause.attributed == 0 || cause.attributed_share < EXCESS_BOUND {
        return Severity::Information;
    }
    let rare = (cause.attributed as f64) < FREQUENT * evidence.judged.requests() as f64;
    match materiality(cause.attributed_median_ns, evidence) {
        _ if rare && cause.attributed_median_ns < Some(RARE_MATERIAL_NS) => Severity::Information,
        Severity::Critical if cause.accounted_share() < CRITICAL_SHARE => Severity::Warning,
        severity => severity,
    }
}

pub(super) fn weight(share: f64, response_ns: Option<i64>, evidence: &Evidence) -> f64 {
    share * response_ns.map_or(0.0, |ns| ms((ns - evidence.judged.median_ns).max(0)))
}
