//! The finding that all is well, made only when no finding is above information.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::{logged, unexplained};
use crate::evidence::Evidence;
use crate::percentiles::Percentiles;
use crate::requests::Request;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// With fewer requests, the slowest one is above the 99th percentile or not by chance.
pub(super) const ENOUGH: usize = 100;

pub(super) struct Healthy;

impl Check for Healthy {
    fn name(&self) -> &'static str {
        "healthy"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let requests = &evidence.requests;
        let mut responses: Vec<i64> = evidence
            .judged
            .stretches
            .iter()
            .flat_map(|stretch| requests.due_in(stretch.window))
            .filter(|request| requests.is_timed(request))
            .map(Request::response_ns)
            .collect();
        let judged = responses.len();
        let percentiles = Percentiles::of(&mut responses);
        let time = |ms: Option<f64>| ms.map_or("-".to_string(), text::time_ms);
        if judged < ENOUGH {
            return vec![too_few(evidence, judged, time(percentiles.max))];
        }
        let title = format!(
            "Nothing is wrong: p50 {}, p99 {}, max {}",
            time(percentiles.p50),
            time(percentiles.p99),
            time(percentiles.max)
        );
        let detail = format!(
            "{} judged, without an error or an overload. No cause delayed many requests to 20 ms and five times the median. Minor findings say what delayed the slowest.{}",
            text::counted(judged, "request was", "requests were"),
            rest(evidence)
        );
        let mut finding = Finding::new(self.name(), Severity::Information, title, detail, evidence.judged_hull());
        finding.query = evidence.ask(&query::SLOW_REQUESTS);
        finding.weight = f64::MAX;
        finding.claims = vec![Claim::Healthy];
        finding.evidence = json!({ "requests": judged, "response_ms": percentiles });
        vec![finding]
    }
}

/// The finding if too few requests were judged to call them healthy.
fn too_few(evidence: &Evidence, judged: usize, max: String) -> Finding {
    let title = format!("Too few requests to judge: {judged}, the slowest took {max}");
    let detail = format!(
        "Whether the slowest percent is slow shows with {ENOUGH} requests or more. No cause was found for those that there were.{}",
        rest(evidence)
    );
    let mut finding = Finding::new("few-requests", Severity::Information, title, detail, evidence.judged_hull());
    finding.next = "record for longer; if a node was answering nobody, see its log and `helenus gc RECORDING`.".into();
    finding.query = evidence.ask(&query::SLOW_REQUESTS);
    finding.weight = f64::MAX;
    finding
}

/// The finding if no requests were recorded: nothing can be called healthy.
pub(super) fn nothing_to_judge(evidence: &Evidence) -> Finding {
    let title = match evidence.recorded_requests.rows.len() {
        0 if evidence.asks_for_part() => "No requests were recorded in this time".to_string(),
        0 => "No requests were recorded".to_string(),
        some => format!(
            "{} recorded, none of them in a measured phase",
            text::counted(some, "request was", "requests were")
        ),
    };
    let detail =
        "Pauses, CPUs and pools are in the report (`helenus report RECORDING`). The wire shows requests to root or \
                  with CAP_NET_RAW, where clients do not use TLS."
            .to_string();
    let mut finding = Finding::new("no-requests", Severity::Information, title, detail, evidence.judged_hull());
    finding.next = match evidence.asks_for_part() {
        true => {
            "choose a longer time; if there are requests in none, record as root or with the agent (`helenus record --node ADDRESS`)."
                .into()
        }
        false => "record as root or with the agent (`helenus record --node ADDRESS`), or drive a load (`helenus load keyvalue/mixed --for 60s`).".into(),
    };
    // Pauses and events of logs are worth more.
    finding.weight = if logged::tells(evidence) { 0.0 } else { f64::MAX };
    finding
}

/// A sentence on the slowest requests without a known cause: some are normal, if they are fast enough.
fn rest(evidence: &Evidence) -> String {
    let rest = &evidence.account.unexplained;
    match rest.median_ns {
        Some(median_ns) if rest.share >= unexplained::WORTH_SAYING => format!(
            " Of those above {}, {} have no recorded cause (median {}).",
            text::time_ns(evidence.judged.threshold_ns),
            text::percent(rest.share),
            text::time_ns(median_ns)
        ),
        _ => String::new(),
    }
}
