//! How serious a cause is, by how long the affected requests took and how many they are.

use crate::evidence::{Cause, EXCESS_BOUND, Evidence};
use crate::percentiles::ms;
use crate::severity::Severity;

/// Bounds of the affected requests' median: below the first one the finding is information, from the second on it can
/// be critical.
pub(crate) const MATERIAL_NS: i64 = 20_000_000;
const CRITICAL_NS: i64 = 100_000_000;
/// A cause that affects a smaller share of all requests than FREQUENT counts only from this median on. Single young
/// collections of a healthy node affect as many requests, for as long.
const RARE_MATERIAL_NS: i64 = 60_000_000;
const FREQUENT: f64 = 0.005;
/// The median of the affected requests must be at least this many times that of all requests.
const MATERIAL_TIMES: i64 = 5;
/// A cause can be critical if it affects at least this share of the slow requests.
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

/// The severity of a condition that lasted throughout. It is at most a warning, since it can't be tested against chance.
pub(super) fn severity_throughout(response_ns: Option<i64>, evidence: &Evidence) -> Severity {
    if evidence.judged.is_slow_throughout() {
        return Severity::Warning;
    }
    materiality(response_ns, evidence).min(Severity::Warning)
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
