//! The finding that all requests are slow alike, and that nothing recorded says why.

use super::finding::Finding;
use super::healthy::ENOUGH;
use crate::evidence::Evidence;
use crate::percentiles::Percentiles;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "slow-throughout";

/// With a p99 of more than this many times the median, the slowest requests are not like the others.
const ALIKE_TIMES: f64 = 5.0;

/// Causes are found by comparing slow requests with others. If half of the requests are slow, the others say little. None
/// if they are fast, not alike, or too few.
pub(super) fn finding(evidence: &Evidence) -> Option<Finding> {
    if !evidence.judged.is_slow_throughout() || evidence.judged.requests() < ENOUGH {
        return None;
    }
    let mut all: Vec<i64> = evidence.judged.timed().map(|(request, _)| request.response_ns()).collect();
    let percentiles = Percentiles::of(&mut all);
    let (p50, p99) = (percentiles.p50?, percentiles.p99?);
    if p99 > p50 * ALIKE_TIMES {
        return None;
    }
    let title = format!(
        "All requests are slow alike: p50 {}, p99 {}, max {}",
        text::time_ms(p50),
        text::time_ms(p99),
        percentiles.max.map_or("-".to_string(), text::time_ms)
    );
    let missing: Vec<&str> = evidence.coverage.missing(evidence.provider).into_iter().map(|(what, _)| what).collect();
    let missing = match missing.as_slice() {
        [] => String::new(),
        missing => format!(" Not recorded: {}.", missing.join(", ")),
    };
    let detail = format!(
        "Nothing recorded says why: what delays every request does not show where slow requests are compared with others.{missing}"
    );
    let mut finding = Finding::new(NAME, Severity::Warning, title, detail, evidence.judged_hull());
    finding.next = "see which statements take the time (`helenus statements RECORDING`), and what threads wait for (`helenus record --node ADDRESS \
                    --sched on --syscalls summary`); compare with a good time: `helenus explain RECORDING --against 1s..20s`."
        .into();
    finding.query = evidence.ask(&query::SLOW_REQUESTS);
    finding.evidence = json!({ "response_ms": percentiles });
    Some(finding)
}
