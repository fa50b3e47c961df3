//! A finding, and the trait of checks that make findings.

use super::claim::Claim;
use super::materiality::{severity_of, weight};
use super::wording::tested;
use crate::command::{Command, Site, commands};
use crate::evidence::{Cause, Evidence, Standing};
use crate::percentiles::ms;
use crate::severity::Severity;
use crate::timeline::Interval;
use serde::Serialize;
use serde_json::{Value, json};

/// A finding with its evidence, window and query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rank among all findings, 1 for the most important.
    pub rank: usize,
    /// The name of the kind, such as `gc-pause`, or of the rule of an advice.
    pub finding: &'static str,
    pub severity: Severity,
    /// Cause and size, in at most 15 words.
    pub title: String,
    /// The evidence.
    pub detail: String,
    /// The one command or setting to try; empty if there is nothing to do.
    pub next: String,
    /// The commands in `detail` and `next`.
    pub commands: Vec<Command>,
    /// The node that the finding is about; empty if it is about none.
    pub node: String,
    pub window_start_ns: i64,
    pub window_end_ns: i64,
    /// Share of the slow requests that are attributed to the finding, and to nothing else.
    pub share: Option<f64>,
    /// The part of `share` that is expected by chance; None if no share is attributed.
    pub chance_share: Option<f64>,
    /// How often chance gives at least as much of the slow requests' extra time (for `in-common`: as large a share).
    pub p_value: Option<f64>,
    /// An SQL query that shows the evidence; it can be passed to `helenus sql`.
    pub query: String,
    pub evidence: Value,
    /// The claims of the finding about the slow requests, as data.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Share × excess time in ms, which orders findings of one severity.
    #[serde(skip)]
    pub(crate) weight: f64,
}

/// A kind of finding.
pub(super) trait Check {
    fn name(&self) -> &'static str;
    fn check(&self, evidence: &Evidence) -> Vec<Finding>;
}

impl Finding {
    /// The evidence, and what to do next.
    pub fn full_text(&self) -> String {
        match (self.detail.as_str(), self.next.as_str()) {
            (detail, "") => detail.to_string(),
            (detail, next) => format!("{detail} Next: {next}"),
        }
    }

    /// Fills in the commands of the texts, and lists them.
    pub(crate) fn fill_in(&mut self, site: &Site) {
        self.detail = site.fill(&self.detail, &self.node);
        self.next = site.fill(&self.next, &self.node);
        self.commands = commands(&self.full_text());
    }

    pub(super) fn new(
        finding: &'static str,
        severity: Severity,
        title: String,
        detail: String,
        window: Interval,
    ) -> Finding {
        Finding {
            rank: 0,
            finding,
            severity,
            title,
            detail,
            next: String::new(),
            commands: Vec::new(),
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

    /// Makes a finding about a cause, with its shares, its window, its weight and the evidence that all causes have in
    /// common.
    pub(super) fn about(
        finding: &'static str,
        cause: &Cause,
        evidence: &Evidence,
        (title, mut detail): (String, String),
        query: String,
        more: Value,
    ) -> Finding {
        if let (Standing::Explains, Some(association)) = (cause.standing(), &cause.association) {
            detail = match cause.is_significant() {
                true => format!("{detail} {}.", tested(cause.kind, association)),
                false => format!("{detail} This was measured of the requests, and is not tested against chance."),
            };
        }
        let window = cause.attributed_window.unwrap_or_else(|| evidence.judged_hull());
        let mut found = Finding::new(finding, severity_of(cause, evidence), title, detail, window);
        found.share = Some(cause.attributed_share);
        let is_tested = cause.attributed == 0 || cause.is_significant();
        found.chance_share = (cause.attributed > 0 && is_tested).then(|| cause.attributed_chance_share());
        found.claims = vec![match cause.standing() {
            Standing::Explains => Claim::Explains { cause: cause.kind.name(), share: cause.attributed_share },
            Standing::Suspect => Claim::Suspects { cause: cause.kind.name() },
            Standing::Outweighed | Standing::Slight | Standing::Cleared | Standing::Absent => {
                Claim::Clears { cause: cause.kind.name() }
            }
        }];
        found.p_value = cause.association.as_ref().filter(|_| is_tested).map(|association| association.p_value);
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
