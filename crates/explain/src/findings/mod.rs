//! Findings: what the evidence says, one file per kind.
//!
//! Severity, which is what a script can fail on:
//! - **information**: worth knowing, nothing to act on. All that chance explains, and all that is small.
//! - **warning**: not chance (p < 0.01 and at least 5 % of the slow requests beyond what chance gives) and material:
//!   half of the requests concerned took 20 ms or more, and at least five times the median. Below 20 ms are a young
//!   collection of a healthy node (5 to 20 ms) and a few time slices of a shared CPU: they make the slowest percent of
//!   any run, since a slowest percent there always is.
//! - **critical**: also 100 ms or more, and at least a quarter of the slow requests.
//!
//! Advice about tables and nodes (`advised.rs`) has the severity that its rule gives it: it is no account of the slow requests.
//!
//! Each slow request is counted for one thing at most (`evidence/attribution.rs`), and all that findings say of causes
//! follows from that account: that one explains, may explain or does not explain what was slow, how much nothing explains,
//! and that all is well. `claim.rs` says which findings exclude each other; the tests check it for every world they make.
//!
//! The rank goes by severity, then by share of the slow requests × how much longer than the median they took.

mod advised;
mod background;
mod claim;
mod client_stall;
mod cpu_cost;
mod cpu_saturation;
mod crowding;
mod errors;
mod gc_pause;
mod governed;
mod healthy;
mod latency_origin;
mod lost_data;
mod overload;
mod pool_queue;
mod read_amplification;
mod safepoint;
mod server_stall;
mod unexplained;

pub use claim::{Claim, contradictions};

use crate::Error;
use crate::evidence::{Blamed, Cause, EXCESS_BOUND, Evidence, Standing};
use crate::percentiles::ms;
use crate::severity::Severity;
use crate::text;
use crate::timeline::Interval;
use serde::Serialize;
use serde_json::{Value, json};

/// Something found, with its evidence, its window and the query behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// 1 is the most important.
    pub rank: usize,
    /// The kind, such as `gc-pause`, or the rule of an advice.
    pub finding: &'static str,
    pub severity: Severity,
    /// One sentence.
    pub title: String,
    /// What it means and what to do next.
    pub detail: String,
    /// Empty when it is about no node.
    pub node: String,
    pub window_start_ns: i64,
    pub window_end_ns: i64,
    /// Share of the slow requests that are counted for it, and for nothing else.
    pub share: Option<f64>,
    /// The part of `share` that chance alone would give; None where nothing is counted for it.
    pub chance_share: Option<f64>,
    pub p_value: Option<f64>,
    /// Can be given to `helenus sql`.
    pub query: String,
    pub evidence: Value,
    /// Its statements about the slow requests, as data.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Share × excess time in ms: the order among findings of one severity.
    #[serde(skip)]
    pub(crate) weight: f64,
}

/// A kind of finding.
trait Check {
    fn name(&self) -> &'static str;
    fn check(&self, evidence: &Evidence) -> Vec<Finding>;
}

const CHECKS: &[&dyn Check] = &[
    &client_stall::ClientStall,
    &gc_pause::GcPause,
    &safepoint::Safepoint,
    &server_stall::ServerStall,
    &overload::Overload,
    &crowding::TooManyAtOnce,
    &background::CompactionOrFlush,
    &cpu_saturation::CpuSaturation,
    &pool_queue::PoolQueue,
    &latency_origin::LatencyOrigin,
    &read_amplification::ReadAmplification,
    &cpu_cost::CpuCost,
    &errors::Errors,
    &governed::Valves,
    &governed::Probes,
    &unexplained::Unexplained,
    &lost_data::LostData,
];

/// Everything found, most important first.
pub(crate) fn find(evidence: &Evidence) -> Result<Vec<Finding>, Error> {
    let mut findings: Vec<Finding> = Vec::new();
    for check in CHECKS {
        let found = check.check(evidence);
        debug_assert!(found.iter().all(|finding| finding.finding == check.name()));
        findings.extend(found);
    }
    advised::add(evidence, &mut findings);
    if findings.iter().all(|finding| finding.severity == Severity::Information) {
        // Some requests are always the slowest: what of them nothing explains is in the finding that all is well.
        findings.retain(|finding| finding.finding != unexplained::NAME);
        findings.extend(healthy::Healthy.check(evidence));
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(b.weight.total_cmp(&a.weight)));
    for (index, finding) in findings.iter_mut().enumerate() {
        finding.rank = index + 1;
    }
    Ok(findings)
}

impl Finding {
    fn new(finding: &'static str, severity: Severity, title: String, detail: String, window: Interval) -> Finding {
        Finding {
            rank: 0,
            finding,
            severity,
            title,
            detail,
            node: String::new(),
            window_start_ns: window.start,
            window_end_ns: window.end,
            share: None,
            chance_share: None,
            p_value: None,
            query: String::new(),
            evidence: json!({}),
            claims: Vec::new(),
            weight: 0.0,
        }
    }

    /// A finding about a cause: its shares, its window, its weight and the evidence that all causes have in common.
    fn about(
        finding: &'static str,
        cause: &Cause,
        evidence: &Evidence,
        (title, detail): (String, String),
        query: String,
        more: Value,
    ) -> Finding {
        let window = cause.attributed_window.unwrap_or_else(|| evidence.judged_hull());
        let mut found = Finding::new(finding, severity_of(cause, evidence), title, detail, window);
        found.share = Some(cause.attributed_share);
        found.chance_share = (cause.attributed > 0).then(|| cause.attributed_chance_share());
        found.claims = vec![match cause.standing() {
            Standing::Explains => Claim::Explains { cause: cause.kind.name(), share: cause.attributed_share },
            Standing::Suspect => Claim::Suspects { cause: cause.kind.name() },
            Standing::Outweighed | Standing::Slight | Standing::Cleared | Standing::Absent => {
                Claim::Clears { cause: cause.kind.name() }
            }
        }];
        found.p_value = cause.association.as_ref().map(|association| association.p_value);
        found.query = query;
        found.weight = weight(cause.accounted_share(), cause.attributed_median_ns, evidence);
        let mut figures = json!({
            "slow_requests": evidence.judged.slow_requests(),
            "counted_for_it": cause.attributed,
            "association": cause.association,
            "median_response_of_those_ms": cause.attributed_median_ns.map(ms),
            "median_response_ms": ms(evidence.judged.median_ns),
            "slow_threshold_ms": ms(evidence.judged.threshold_ns),
            "share_of_the_judged_time": cause.judged_time_share(&evidence.judged),
        });
        if let (Some(figures), Value::Object(more)) = (figures.as_object_mut(), more) {
            figures.extend(more);
        }
        found.evidence = figures;
        found
    }
}

/// Below this median of the requests concerned nothing is more than information; from the second on it can be critical.
const MATERIAL_NS: i64 = 20_000_000;
const CRITICAL_NS: i64 = 100_000_000;
/// A cause that meets fewer of all the requests than FREQUENT is material from here on only: in a node in health one
/// collection of the young generation now and then lengthens as many, and takes as long.
const RARE_MATERIAL_NS: i64 = 60_000_000;
const FREQUENT: f64 = 0.005;
/// How many times the median of all the requests concerned must take.
const MATERIAL_TIMES: i64 = 5;
/// Share of the slow requests from which a cause can be critical.
const CRITICAL_SHARE: f64 = 0.25;

/// How much requests matter that take this long, whatever the reason.
fn materiality(response_ns: Option<i64>, evidence: &Evidence) -> Severity {
    let times = evidence.judged.median_ns.saturating_mul(MATERIAL_TIMES);
    match response_ns {
        Some(ns) if ns >= CRITICAL_NS && ns >= times => Severity::Critical,
        Some(ns) if ns >= MATERIAL_NS && ns >= times => Severity::Warning,
        _ => Severity::Information,
    }
}

fn severity_of(cause: &Cause, evidence: &Evidence) -> Severity {
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

fn weight(share: f64, response_ns: Option<i64>, evidence: &Evidence) -> f64 {
    share * response_ns.map_or(0.0, |ns| ms((ns - evidence.judged.median_ns).max(0)))
}

/// "83 % of the slow requests (chance would give 6.1 %)": both of the requests that are counted for it.
fn shares(cause: &Cause) -> String {
    format!(
        "{} of the slow requests (chance would give {})",
        text::percent(cause.attributed_share),
        text::percent(cause.attributed_chance_share())
    )
}

/// How a detail ends where a cause is there beyond chance and explains too little.
fn too_little() -> String {
    format!("Below {} of the slow requests beyond chance none is counted for it.", text::percent(EXCESS_BOUND))
}

/// What more of it would tell, for what may be a cause.
const UNDECIDED: &str = "None of the slow requests is counted for it, because what was met so seldom may have been met by coincidence. Record for longer, under the same load: then it shows.";

/// "it can account for 7 % of the slow requests, chance alone gives 6.4 % (p = 0.310)", for what is not known to be one.
fn against_chance(cause: &Cause) -> String {
    match &cause.association {
        Some(association) => format!(
            "it can account for {} of the slow requests, chance alone gives {} ({})",
            text::percent(association.share),
            text::percent(association.chance_share),
            text::probability(association.p_value)
        ),
        None => "there was none in the judged time".into(),
    }
}

/// " of 127.0.0.1", or " of 3 nodes, most of 127.0.0.1": whose stops held up the requests that are counted for it.
fn of_nodes(blamed: &Blamed) -> String {
    match blamed.nodes.as_slice() {
        [] => String::new(),
        [node, ..] if node.is_empty() => String::new(),
        [node] => format!(" of {node}"),
        [node, ..] => format!(" of {} nodes, most of {node},", blamed.nodes.len()),
    }
}
