//! Findings from the evidence, one file per kind.
//!
//! Severity, which is what a script can fail on:
//! - **information**: worth knowing, nothing to act on. This includes everything that chance explains, and everything
//!   small.
//! - **warning**: not chance (p < 0.01 and at least 5 % of the slow requests beyond what chance gives) and material:
//!   half of the requests concerned took 20 ms or more, and at least five times the median. A young collection of a
//!   healthy node (5 to 20 ms) and a few time slices of a shared CPU are below 20 ms. Every run has a slowest percent,
//!   and these make it up in a healthy run.
//! - **critical**: also 100 ms or more, and at least a quarter of the slow requests.
//!
//! Advice about tables and nodes (`advised.rs`) has the severity that its rule gives it, because no slow requests are
//! attributed to it. Failed requests, stops of a second, and answers that came after the clients had given up are above
//! information however few requests they are.
//!
//! Each slow request is attributed to one thing at most (`evidence/attribution.rs`). All statements of findings about
//! causes follow from this attribution: that a cause explains, may explain or does not explain slow requests, how many
//! are unexplained, and that all is well. `contradiction.rs` says which findings exclude each other; the tests check it
//! in all their worlds.
//!
//! The knee of a stepped load comes first. Then findings are ranked by severity, and by share of the slow requests ×
//! their excess over the median. Unexplained requests, and busy CPUs whose user is unknown, come after all serious
//! findings that name a cause; unexplained requests, and CPUs that the node itself kept busy throughout, or for less than
//! half of the slow requests, also come after advice of the same severity, which may say with what. Advice about tables comes after a finding that explains most of
//! the slow requests.

mod advised;
mod background;
mod changed;
mod claim;
mod client_stall;
mod contradiction;
mod cpu_cost;
mod cpu_saturation;
mod crowding;
mod ended;
mod errors;
mod finding;
mod gc_pause;
mod governed;
mod healthy;
mod in_common;
mod late_answers;
mod latency_origin;
mod logged;
mod long_stop;
mod lost_data;
mod materiality;
mod overload;
mod pool_queue;
mod read_amplification;
mod safepoint;
mod server_stall;
mod shortage;
mod slow_throughout;
mod unexplained;
mod wording;

pub use claim::Claim;
pub use contradiction::contradictions;
pub use finding::Finding;

use crate::Error;
use crate::evidence::{CauseKind, EXCESS_BOUND, Evidence};
use crate::severity::Severity;
use finding::Check;
pub(crate) use materiality::{MATERIAL_NS, materiality};

const CHECKS: &[&dyn Check] = &[
    &ended::NodeEnded,
    &logged::Logged,
    &client_stall::ClientStall,
    &gc_pause::GcPause,
    &safepoint::Safepoint,
    &server_stall::ServerStall,
    &shortage::Shortages,
    &overload::Overload,
    &crowding::TooManyAtOnce,
    &background::CompactionOrFlush,
    &cpu_saturation::CpuSaturation,
    &pool_queue::PoolQueue,
    &latency_origin::LatencyOrigin,
    &read_amplification::ReadAmplification,
    &cpu_cost::CpuCost,
    &in_common::InCommon,
    &changed::Changed,
    &errors::Errors,
    &late_answers::LateAnswersCheck,
    &governed::Valves,
    &governed::Probes,
    &unexplained::Unexplained,
    &lost_data::LostData,
];

/// A finding with at least this share of the slow requests explains them.
const MOST_SHARE: f64 = 0.5;

/// Everything found, most important first.
pub(crate) fn find(evidence: &Evidence) -> Result<Vec<Finding>, Error> {
    let mut findings: Vec<Finding> = Vec::new();
    for check in CHECKS {
        findings.extend(check.check(evidence));
    }
    long_stop::add(evidence, &mut findings);
    advised::add(evidence, &mut findings);
    let names_none = |finding: &Finding| match finding.severity {
        Severity::Information => true,
        Severity::Warning => [unexplained::NAME, errors::NAME, late_answers::NAME].contains(&finding.finding),
        Severity::Critical => false,
    };
    if findings.iter().all(names_none)
        && let Some(finding) = slow_throughout::finding(evidence)
    {
        findings.retain(|finding| finding.finding != unexplained::NAME);
        findings.push(finding);
    }
    if evidence.judged.requests() == 0 {
        findings.push(healthy::nothing_to_judge(evidence));
    } else if findings.iter().all(|finding| finding.severity == Severity::Information) {
        // Drop this finding if all is well: every run has slowest requests, and the finding `healthy` mentions them.
        findings.retain(|finding| finding.finding != unexplained::NAME);
        findings.iter_mut().for_each(|finding| tell_minor(finding, true));
        findings.extend(healthy::Healthy.check(evidence));
    } else {
        findings.iter_mut().for_each(|finding| tell_minor(finding, false));
    }
    let is_open = |finding: &Finding| {
        let has_most = finding.share.is_some_and(|share| share >= MOST_SHARE);
        is_nameless(finding) && finding.severity > Severity::Information && !has_most
    };
    findings.sort_by(|a, b| {
        let by_severity = b.severity.cmp(&a.severity).then(is_open(a).cmp(&is_open(b)));
        by_severity.then(b.weight.total_cmp(&a.weight))
    });
    put_names_first(&mut findings);
    put_other_tables_behind(&mut findings);
    put_knee_first(evidence, &mut findings);
    for (index, finding) in findings.iter_mut().enumerate() {
        finding.rank = index + 1;
    }
    Ok(findings)
}

/// Marks a minor cause in its title. If all is well, suspects are minor, too.
fn tell_minor(finding: &mut Finding, is_healthy: bool) {
    let is_minor = finding.claims.iter().any(|claim| match claim {
        Claim::Explains { share, .. } => *share > 0.0,
        Claim::Suspects { .. } => is_healthy,
        Claim::Healthy | Claim::Unexplained { .. } | Claim::Clears { .. } => false,
    });
    if finding.severity == Severity::Information && is_minor {
        finding.title = format!("Minor: {}", finding.title);
    }
}

/// Moves the knee of a stepped load to the front: finding it is what such a load is for.
fn put_knee_first(evidence: &Evidence, findings: &mut [Finding]) {
    let is_reached = evidence.knee.as_ref().is_some_and(|knee| knee.reached);
    if let Some(place) = findings.iter().position(|finding| is_reached && finding.finding == overload::NAME) {
        findings[..=place].rotate_right(1);
    }
}

/// Moves the findings that name no cause behind the last serious one that does. Busy CPUs name none, but stay before what
/// explains less than they are shown to: where CPUs are short, all else takes longer.
fn put_names_first(findings: &mut Vec<Finding>) {
    let by_cpus = |claim: &Claim| match claim {
        Claim::Explains { cause, share } if *cause == CauseKind::CpuSaturation.name() => *share,
        _ => 0.0,
    };
    let by_cpus = findings.iter().flat_map(|finding| &finding.claims).map(by_cpus).fold(0.0, f64::max);
    let least = EXCESS_BOUND.max(by_cpus);
    let names = |finding: &Finding| {
        let explains = |claim: &Claim| matches!(claim, Claim::Explains { share, .. } if *share >= least);
        !is_nameless(finding) && finding.severity > Severity::Information && finding.claims.iter().any(explains)
    };
    let Some(last) = findings.iter().rposition(names) else { return };
    let (mut before, mut nameless) = (Vec::new(), Vec::new());
    for finding in findings.drain(..=last) {
        if is_nameless(&finding) { &mut nameless } else { &mut before }.push(finding);
    }
    before.append(&mut nameless);
    before.append(findings);
    *findings = before;
}

/// Moves advice about tables behind a serious finding that is counted for most of the slow requests. Advice about the
/// table of these requests is a part of that finding (`advised.rs`), so the remaining advice is about tables that did
/// not slow these requests down.
fn put_other_tables_behind(findings: &mut Vec<Finding>) {
    let explains_most = |finding: &Finding| {
        let most = |claim: &Claim| matches!(claim, Claim::Explains { share, .. } if *share >= MOST_SHARE);
        finding.severity > Severity::Information && !is_nameless(finding) && finding.claims.iter().any(most)
    };
    let Some(last) = findings.iter().rposition(explains_most) else { return };
    let rest = findings.split_off(last + 1);
    let (about_tables, mut ordered): (Vec<Finding>, Vec<Finding>) =
        findings.drain(..).partition(advised::is_about_a_table);
    ordered.extend(about_tables);
    ordered.extend(rest);
    *findings = ordered;
}

/// Whether a finding is about failed requests, and nothing says why they failed.
pub(crate) fn fails_unexplained(finding: &Finding) -> bool {
    finding.finding == errors::NAME && !advised::is_added_to(finding)
}

/// Whether a finding names no cause. A few failed requests are what a cause did, unless advice says why they failed.
fn is_nameless(finding: &Finding) -> bool {
    let has_few_errors = finding.severity < Severity::Critical && fails_unexplained(finding);
    let nameless = [unexplained::NAME, slow_throughout::NAME, late_answers::NAME, CauseKind::CpuSaturation.name()];
    has_few_errors || nameless.contains(&finding.finding)
}
