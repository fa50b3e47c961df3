//! The findings about the knee of a stepped load, and about an overloaded rate.

use super::claim::Claim;
use super::finding::{Check, Finding};
use crate::anatomy::{Phase, Resource, split};
use crate::evidence::{Evidence, FEW_REQUESTS};
use crate::requests::Request;
use crate::severity::Severity;
use crate::timeline::Interval;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "overload";

pub(super) struct Overload;

impl Check for Overload {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let overloaded: Vec<&Phase> = evidence.phases.iter().filter(|phase| phase.overloaded).collect();
        let window = overloaded
            .iter()
            .map(|phase| phase.window())
            .reduce(|all, next| Interval { start: all.start.min(next.start), end: all.end.max(next.end) });
        let (title, severity) = match (&evidence.knee, window) {
            (Some(knee), Some(_)) => (knee_title(knee, evidence), Severity::Warning),
            (Some(knee), None) => {
                let most = knee.steps.last().map_or(0.0, |step| step.intended_per_s);
                let title = if knee.last_kept_up.is_some() {
                    format!("The knee was not reached: the load was kept up with up to {}", text::rate(most))
                } else {
                    "No step of the load achieved its rate, and none left a backlog".to_string()
                };
                (title, Severity::Information)
            }
            (None, Some(_)) => (constant_title(&overloaded, evidence), Severity::Warning),
            (None, None) => return Vec::new(),
        };
        let detail = detail(&overloaded, evidence);
        let mut finding =
            Finding::new(self.name(), severity, title, detail, window.unwrap_or_else(|| evidence.judged_hull()));
        finding.query = query::PHASES.fill(&[]);
        finding.next = next(&overloaded, evidence).into();
        let counted = evidence.account.overload.share;
        if counted > 0.0 {
            finding.claims = vec![Claim::Explains { cause: self.name(), share: counted }];
        }
        // Steps that do not reach the knee are less important than any cause that slowed them down.
        finding.weight = if evidence.knee.is_some() { 0.0 } else { f64::MAX };
        finding.evidence = json!({ "knee": evidence.knee, "limit": evidence.limit });
        vec![finding]
    }
}

fn next(overloaded: &[&Phase], evidence: &Evidence) -> &'static str {
    let limit = evidence.limit.as_ref().map(|limit| limit.resource);
    match (overloaded.is_empty(), limit) {
        (true, _) => "add steps with higher rates, to find the limit.",
        (false, Some(Resource::Client)) => "give the load driver another machine, then run again.",
        (false, Some(Resource::Disk)) if evidence.judges_overload => {
            "see what is read and written (`helenus io RECORDING`), and ask less of the disk or take a faster one; or run again with a lower --rate."
        }
        (false, _) if evidence.judges_overload => "run again with a lower --rate, to see other causes.",
        (false, _) => "stay below the rate that was kept up with, or raise the limit named.",
    }
}

fn knee_title(knee: &crate::anatomy::Knee, evidence: &Evidence) -> String {
    let plateau = text::rate(knee.plateau_per_s);
    let by = evidence.limit.as_ref().map_or(String::new(), |limit| format!(", limited by {}", limit.name()));
    match knee.last_kept_up.and_then(|last| knee.steps.get(last)) {
        Some(step) => {
            format!("Throughput stops growing at {plateau}{by} ({} kept up)", text::rate(step.intended_per_s))
        }
        None => format!("Already the first step overloaded it: at most {plateau}{by}"),
    }
}

fn constant_title(overloaded: &[&Phase], evidence: &Evidence) -> String {
    let by = evidence.limit.as_ref().map_or(String::new(), |limit| format!(", limited by {}", limit.name()));
    let phase = overloaded.first();
    format!(
        "The load exceeded the capacity: {} intended, {} achieved{by}",
        text::rate(phase.and_then(|phase| phase.rate_per_s).unwrap_or_default()),
        text::rate(phase.map_or(0.0, |phase| phase.throughput_per_s))
    )
}

fn detail(overloaded: &[&Phase], evidence: &Evidence) -> String {
    if overloaded.is_empty() {
        return "Every step of the load was answered at its rate.".into();
    }
    let slow: usize = overloaded
        .iter()
        .flat_map(|phase| evidence.requests.due_in(phase.window()))
        .filter(|request| Request::response_ns(request) > evidence.judged.threshold_ns)
        .count();
    let mut detail = if evidence.judges_overload {
        format!(
            "No phase kept up, so that the overloaded ones are judged, and {} of the slow requests are counted for the overload: queueing hides other causes there.",
            text::percent(evidence.account.overload.share)
        )
    } else {
        format!(
            "{} in the overloaded phases were slower than the bound, because they waited in a queue that grew: they are counted for the overload, and pauses and stalls are judged on the phases that kept up.",
            text::counted(slow, "request", "requests")
        )
    };
    if !evidence.judges_overload && evidence.judged.requests() < FEW_REQUESTS {
        detail.push_str(&format!(
            " That leaves only {}: too few to say much.",
            text::counted(evidence.judged.requests(), "request", "requests")
        ));
    }
    if let Some(limit) = &evidence.limit {
        detail.push_str(&format!(" The limit is {}.", limit.by));
        let usage = split(&limit.usage);
        if !usage.is_empty() && !limit.by.contains(&usage) {
            detail.push_str(&format!(
                " In the overloaded phases: {usage}; GC {} of the time.",
                text::percent(limit.gc_share)
            ));
        }
        if limit.resource == Resource::Client {
            detail.push_str(" The capacity of the server is not known.");
        }
    }
    detail
}
