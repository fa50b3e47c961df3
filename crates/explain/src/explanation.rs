//! The explanation of a recording: why the slow requests were slow.

use crate::anatomy::{Knee, Phase};
use crate::answer::answer;
use crate::association::Stretch;
use crate::command::Site;
use crate::engine::{Engine, Provider};
use crate::evidence::{Basis, Evidence};
use crate::findings::{self, Finding};
use crate::options::{Options, SlowThreshold};
use crate::percentiles::ms;
use crate::requests::Request;
use crate::severity::Severity;
use crate::traffic::{SAMPLED, weight};
use crate::{Error, text};
use helenus_recording::rows;
use serde::Serialize;
use std::fmt;

/// The requests that were judged, and the findings about them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The experiment's question; None for recordings of something else.
    pub question: Option<String>,
    /// At most four sentences: what was observed, whether it was slow, the cause, and the next step.
    pub answer: String,
    /// The threshold: requests that took longer are slow.
    pub slow_threshold_ms: f64,
    /// The name of the threshold: `p99 of the measured phases`, or the time that the user gave.
    pub slow_threshold_name: String,
    /// The provider of the requests.
    pub provider: Provider,
    /// Requests of the clients for each recorded one: more than 1 where some connections were not followed.
    pub weight: f64,
    /// Percentiles of the judged requests' response times.
    pub median_ms: f64,
    pub judged_requests: usize,
    pub slow_requests: usize,
    /// Requests above the threshold that are not judged, because they belong to a warm-up or to phases that did not
    /// keep up.
    pub slower_unjudged_requests: usize,
    /// The intervals whose requests are judged.
    pub judged: Vec<JudgedWindow>,
    /// Number of all requests in the recording.
    pub requests: usize,
    /// The requests that the user chose; None for all.
    pub chosen: Option<ChosenRequests>,
    pub phases: Vec<Phase>,
    /// The knee; None unless the load had steps in open loop.
    pub knee: Option<Knee>,
    /// Data that was not recorded, and the questions that stay open without it.
    pub missing: Vec<MissingData>,
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedWindow {
    pub start_ns: i64,
    pub end_ns: i64,
    pub requests: usize,
    pub slow_requests: usize,
}

/// Requests that the user chose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenRequests {
    /// The choice, as the rest of a sentence.
    pub filter: String,
    pub requests: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingData {
    pub what: &'static str,
    pub consequence: &'static str,
}

/// Explains the slow requests of the opened recordings.
pub fn explain(engine: &Engine, options: &Options) -> Result<Explanation, Error> {
    let basis = Basis::load(engine, options)?;
    let judged = Explanation::without_findings(engine, options, &basis)?;
    let evidence = Evidence::load(engine, options, basis)?;
    let mut findings = findings::find(&evidence)?;
    let site = Site::of(engine);
    findings.iter_mut().for_each(|finding| finding.fill_in(&site));
    let missing = evidence.coverage.missing(evidence.provider).into_iter();
    Ok(Explanation {
        answer: answer(&evidence, &findings),
        missing: missing.map(|(what, consequence)| MissingData { what, consequence }).collect(),
        knee: evidence.knee,
        findings,
        ..judged
    })
}

/// Judges the requests without a search for findings, which is all that charts need. The answer, the findings, the missing data
/// and the knee's limit are not computed.
pub fn judge_requests(engine: &Engine, options: &Options) -> Result<Explanation, Error> {
    Explanation::without_findings(engine, options, &Basis::load(engine, options)?)
}

/// Names the percentile together with its requests.
fn threshold_name(basis: &Basis, threshold: &SlowThreshold) -> String {
    let name = threshold.name();
    let are_all = basis.judged.requests() == basis.requests.rows.len();
    match threshold {
        SlowThreshold::Quantile(_) if basis.baseline.is_some() => format!("{name} of the good time"),
        SlowThreshold::Quantile(_) if basis.phases.iter().any(|phase| phase.overloaded) && !basis.judges_overload => {
            format!("{name} of the phases that kept up")
        }
        SlowThreshold::Quantile(_) if !are_all => format!("{name} of the measured phases"),
        SlowThreshold::Quantile(_) | SlowThreshold::Time(_) => name,
    }
}

/// How many of all requests took longer than the bound.
fn slower(Basis { requests, judged, .. }: &Basis) -> usize {
    let is_slower = |request: &&Request| requests.is_timed(request) && request.response_ns() > judged.threshold_ns;
    requests.rows.iter().filter(is_slower).count()
}

impl Explanation {
    fn without_findings(engine: &Engine, options: &Options, basis: &Basis) -> Result<Explanation, Error> {
        let judged = &basis.judged;
        let window = |stretch: &Stretch| JudgedWindow {
            start_ns: stretch.window.start,
            end_ns: stretch.window.end,
            requests: stretch.requests,
            slow_requests: stretch.slow.len(),
        };
        Ok(Explanation {
            question: engine.manifests().iter().find_map(|manifest| manifest.question.clone()),
            answer: String::new(),
            slow_threshold_ms: ms(judged.threshold_ns),
            slow_threshold_name: threshold_name(basis, &options.threshold),
            provider: engine.provider(),
            weight: weight(engine)?,
            median_ms: ms(judged.median_ns),
            judged_requests: judged.requests(),
            slow_requests: judged.slow_requests(),
            slower_unjudged_requests: slower(basis).saturating_sub(judged.slow_requests()),
            judged: judged.stretches.iter().map(window).collect(),
            requests: basis.recorded.rows.len(),
            chosen: (!options.only.is_all())
                .then(|| ChosenRequests { filter: options.only.words(), requests: basis.requests.rows.len() }),
            phases: basis.phases.clone(),
            knee: basis.knee.clone(),
            missing: Vec::new(),
            findings: Vec::new(),
        })
    }

    /// A sentence: which requests are slow, and out of how many.
    pub fn summary(&self) -> String {
        if self.judged_requests == 0 {
            return "No request was judged.".to_string();
        }
        let mut summary = self.chosen.as_ref().map_or(String::new(), |chosen| {
            format!(
                "Only requests that {} are judged: {} of {}. ",
                chosen.filter,
                text::count(chosen.requests),
                text::count(self.requests)
            )
        });
        summary.push_str(&format!(
            "{} of {} judged are slow: over {} ({}); the median is {}.",
            text::count(self.slow_requests),
            text::counted(self.judged_requests, "request", "requests"),
            text::time_ms(self.slow_threshold_ms),
            self.slow_threshold_name,
            text::time_ms(self.median_ms)
        ));
        if self.slower_unjudged_requests > 0 {
            let chosen = self.chosen.as_ref().map_or(self.requests, |chosen| chosen.requests);
            let others = text::count(chosen.saturating_sub(self.judged_requests));
            let slower = text::count(self.slower_unjudged_requests);
            summary.push_str(&format!(" Of the {others} that are not judged, {slower} took longer."));
        }
        if self.provider != Provider::Load {
            summary.push_str(&format!(" These are {}.", self.provider.meaning()));
        }
        if self.weight > SAMPLED {
            let sampled = " To bound the cost some connections were not followed: a recorded request counts for";
            summary.push_str(&format!("{sampled} {:.1} on average.", self.weight));
        }
        summary
    }

    /// The highest severity found.
    pub fn severity(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Information)
    }

    /// Passes the findings on as rows of the table `findings`.
    pub fn for_each_row(&self, mut take: impl FnMut(rows::Finding<'_>)) {
        for finding in &self.findings {
            take(rows::Finding {
                rank: i64::try_from(finding.rank).unwrap_or(i64::MAX),
                finding: finding.finding,
                severity: finding.severity.name(),
                title: &finding.title,
                detail: &finding.full_text(),
                node: &finding.node,
                window_start_ns: finding.window_start_ns,
                window_end_ns: finding.window_end_ns,
                share: finding.share,
                chance_share: finding.chance_share,
                p_value: finding.p_value,
                query: &finding.query,
                evidence: &finding.evidence.to_string(),
            });
        }
    }
}

/// The explanation as plain text, as a terminal shows it.
impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n\n{}", self.answer, self.summary())?;
        let start = self.phases.first().map(|phase| phase.start_ns);
        for finding in &self.findings {
            writeln!(out)?;
            writeln!(out, "{}. {}: {}", finding.rank, finding.severity.name(), finding.title)?;
            writeln!(out, "   {}", finding.full_text())?;
            write!(out, "   {}", finding.finding)?;
            if let Some(start) = start {
                let second = |ns: i64| (ns - start) as f64 / 1e9;
                write!(
                    out,
                    ", from {:.1} s to {:.1} s",
                    second(finding.window_start_ns),
                    second(finding.window_end_ns)
                )?;
            }
            if let Some(p_value) = finding.p_value {
                write!(out, ", {}", text::probability(p_value))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
