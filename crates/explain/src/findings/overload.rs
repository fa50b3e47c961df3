//! The findings about the knee of a stepped load, and about an overloaded rate.

use super::claim::Claim;
use super::finding::{Check, Finding};
use crate::anatomy::{Knee, Phase, Resource, split};
use crate::evidence::{Evidence, FEW_REQUESTS};
use crate::requests::Request;
use crate::severity::Severity;
use crate::timeline::Interval;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "overload";

/// Below this share of the throughput of the last step that kept up, throughput falls.
const FELL_SHARE: f64 = 0.95;

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
            (Some(knee), None) => (unreached_title(knee), Severity::Information),
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
    let waited = evidence.knee.as_ref().and_then(Knee::first_beyond).is_some();
    match (overloaded.is_empty(), limit) {
        (true, _) if waited => {
            "see what made requests wait there (the findings below), then run again with longer steps."
        }
        (true, _) => "add steps with higher rates, to find the limit.",
        (false, Some(Resource::Client)) => "give the load driver another machine, then run again.",
        (false, Some(Resource::Disk)) if evidence.judges_overload => {
            "see what is read and written (`helenus io RECORDING`), and ask less of the disk or take a faster one; or run again with a lower --rate."
        }
        (false, _) if evidence.judges_overload => "run again with a lower --rate, to see other causes.",
        (false, _) => "stay below the rate that was kept up with, or raise the limit named.",
    }
}

fn knee_title(knee: &Knee, evidence: &Evidence) -> String {
    let plateau = text::rate(knee.plateau_per_s);
    let by = evidence.limit.as_ref().map_or(String::new(), |limit| format!(", limited by {}", limit.name()));
    match knee.kept_up() {
        Some(step) if knee.plateau_per_s < FELL_SHARE * step.achieved_per_s => {
            format!("Throughput falls to {plateau} beyond {}{by}", text::rate(step.intended_per_s))
        }
        Some(step) => {
            format!("Throughput stops growing at {plateau}{by} ({} kept up)", text::rate(step.intended_per_s))
        }
        None => format!("Already the first step overloaded it: {plateau} achieved{by}"),
    }
}

/// No step was overloaded; but requests may have waited in some, or failed.
fn unreached_title(knee: &Knee) -> String {
    match (knee.first_beyond(), knee.kept_up()) {
        (None, _) => {
            let most = knee.steps.last().map_or(0.0, |step| step.intended_per_s);
            format!("The knee was not reached: the load was kept up with up to {}", text::rate(most))
        }
        (Some(step), Some(kept_up)) => format!(
            "{} kept up; at {} half of the requests took over {}",
            text::rate(kept_up.intended_per_s),
            text::rate(step.intended_per_s),
            step.response_p50_ms.map_or("-".into(), text::time_ms)
        ),
        (Some(_), None) => "No step of the load was kept up with, and none left a backlog".to_string(),
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

fn is_unsent(phase: &&Phase) -> bool {
    phase.measured && phase.requests == 0 && phase.constant_rate_per_s().is_some()
}

fn detail(overloaded: &[&Phase], evidence: &Evidence) -> String {
    if overloaded.is_empty() {
        return match evidence.knee.as_ref().and_then(Knee::first_beyond) {
            None => "Every step of the load was answered at its rate.".into(),
            Some(step) => format!(
                "{} was not kept up with, although it left no backlog: requests waited for a part of the step, or failed.",
                text::rate(step.intended_per_s)
            ),
        };
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
    } else if slow > 0 {
        format!(
            "{} in the overloaded phases were slower than the bound, because they waited in a queue that grew: they are counted for the overload, and pauses and stalls are judged on the phases that kept up.",
            text::counted(slow, "request", "requests")
        )
    } else {
        "No request of the overloaded phases was slower than the bound, which is taken from the phases that kept up: these alone are judged.".to_string()
    };
    let unsent: Vec<&str> = evidence.phases.iter().filter(is_unsent).map(|phase| phase.name.as_str()).collect();
    if !unsent.is_empty() {
        detail.push_str(&format!(
            " Of {} nothing was sent: the driver was still sending what had been due before. Its answers are those of earlier steps.",
            unsent.join(", ")
        ));
    }
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
