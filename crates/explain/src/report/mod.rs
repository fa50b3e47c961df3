//! The figures of a report's charts, as JSON: times in seconds since its start, latencies in ms, one array per column.
//! All figures are binned; where rows are merged or left out, the report says so.

mod bins;
mod machine;
mod probes;
mod requests;
mod server;
mod spectrogram;
#[cfg(test)]
mod typescript;
mod valves;

use crate::anatomy::Phase;
use crate::command::Command;
use crate::compare::{self, CompareOptions, Comparison};
use crate::engine::Engine;
use crate::explanation::Explanation;
use crate::flame::{Flame, FlameOptions, FlameTree};
use crate::percentiles::Percentiles;
use crate::requests::Requests;
use crate::severity::Severity;
use crate::timeline::{Bins, Interval};
use crate::{Error, query, text};
use machine::{CpuSeries, GroupSeries};
use probes::ReportProbe;
use requests::{Heatmap, Latency, Throughput};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use server::{PoolSeries, ReportPause, ReportSource, TableSeries};
use spectrogram::ReportSpectrogram;
use std::collections::HashSet;
use valves::ValveSeries;

/// The data of a report's page, embedded as JSON.
///
/// Times are seconds since `start`, latencies are in milliseconds. Entry `i` of each list of an object belongs to the
/// bin that begins at `time_s[i]`; a bin is `bin_s` wide, or reaches to the next one. None means a bin without data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    /// Version of this format; the page reads 1.
    pub format: u32,
    pub title: String,
    /// Version that wrote the recording.
    pub helenus: String,
    /// When the recording was begun, in ISO 8601.
    pub created: String,
    /// Time 0 of the report, in ISO 8601.
    pub start: String,
    /// The same in ns since the Unix epoch: a text, since a number of JavaScript would round it.
    pub start_ns: String,
    pub duration_s: f64,
    /// The command line that made the recording.
    pub command: String,
    pub host: ReportHost,
    pub nodes: Vec<ReportNode>,
    /// Threshold in ms: a request is slow when its response time is above it.
    pub slow_threshold_ms: f64,
    /// How the threshold was chosen, such as `p99`.
    pub slow_threshold_name: String,
    pub requests: usize,
    pub errors: Vec<OutcomeCount>,
    pub phases: Vec<ReportPhase>,
    /// The question of the experiment that was recorded; None for other recordings.
    pub question: Option<String>,
    /// The answer in at most four sentences: the requests, whether they were slow, the cause, and the next step.
    pub answer: String,
    /// The findings, the most important first.
    pub findings: Vec<ReportFinding>,
    /// The comparison of variants; None if the recording is not of an experiment with variants.
    pub comparison: Option<Comparison>,
    pub throughput: Throughput,
    pub latency: Latency,
    pub heatmap: Heatmap,
    /// The spectrogram of system calls; None if none was recorded.
    pub spectrogram: Option<ReportSpectrogram>,
    pub cpu: Vec<CpuSeries>,
    pub groups: Vec<GroupSeries>,
    pub pauses: Vec<ReportPause>,
    pub pools: Vec<PoolSeries>,
    pub valves: Vec<ValveSeries>,
    pub tables: Vec<TableSeries>,
    /// Probes with the most own time first; in an experiment with variants, those of the baseline.
    pub probes: Vec<ReportProbe>,
    /// The number of further probes, which have less own time.
    pub probes_left_out: usize,
    pub sources: Vec<ReportSource>,
    /// The flame graph of the CPU time, and the one that compares slow times with the rest.
    pub flames: Vec<FlameTree>,
    /// Time of the first sample, from which sample times count; None without samples.
    pub flames_begin_s: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Host"))]
pub struct ReportHost {
    pub name: String,
    pub kernel: String,
    pub cpus: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Node"))]
pub struct ReportNode {
    pub address: String,
    pub version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutcomeCount {
    pub outcome: String,
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Phase"))]
pub struct ReportPhase {
    pub name: String,
    /// Whether the load marked it; false for the one phase of a recording without marks.
    pub marked: bool,
    /// The run that the window belongs to, such as `leveled, block 3`; None outside of experiments.
    pub run: Option<String>,
    pub start_s: f64,
    pub end_s: f64,
    /// Intended rate in open loop, in requests per second; None in closed loop.
    pub rate_per_s: Option<f64>,
    /// Intended rate at the end, if it differs from that at the start.
    pub end_rate_per_s: Option<f64>,
    /// Requests in flight in closed loop; None in open loop.
    pub in_flight: Option<i64>,
    /// Whether the phase is judged; false for a warm-up, which is only shown.
    pub measured: bool,
    pub requests: usize,
    pub errors: usize,
    pub throughput_per_s: f64,
    /// Latencies from the actual start (service time).
    pub service_ms: Percentiles,
    /// Latencies from the intended start (response time).
    pub response_ms: Percentiles,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Finding"))]
pub struct ReportFinding {
    /// The rank among all findings, 1 for the most important.
    pub rank: usize,
    /// The name of the kind, such as `gc-pause`, or of the rule of an advice.
    pub finding: String,
    pub severity: Severity,
    /// The cause and its size.
    pub title: String,
    /// The evidence.
    pub detail: String,
    /// The one command or setting to try; empty if there is nothing to do.
    pub next: String,
    /// The commands in `detail` and `next`.
    pub commands: Vec<Command>,
    /// The node that the finding is about; empty if it is about none.
    pub node: String,
    pub start_s: f64,
    pub end_s: f64,
    /// Share of the slow requests attributed to it, 0 to 1; None if the finding is about something else.
    pub share: Option<f64>,
    /// The part of `share` that is expected by chance.
    pub chance_share: Option<f64>,
    /// How often chance gives at least as much of the slow requests' extra time (for `in-common`: as large a share).
    pub p_value: Option<f64>,
    /// An SQL query that shows the evidence.
    pub query: String,
    /// The figures behind the finding. The suffix of a name is its unit, such as `_ms`, `_bytes`, `_per_s` and
    /// `_share`.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub evidence: Value,
}

impl Report {
    /// Computes the figures of the report from the recordings and the explanation.
    pub fn build(engine: &Engine, explanation: &Explanation) -> Result<Report, Error> {
        let span = engine.span()?;
        let bins = bins::over(span, 100_000_000);
        let loaded = Requests::of(engine)?;
        let manifests = engine.manifests();
        let first = manifests.iter().min_by_key(|manifest| manifest.created_ns);
        let joined = |text: &dyn Fn(&helenus_recording::Manifest) -> String, between: &str| {
            let mut texts: Vec<String> = manifests.iter().map(text).collect();
            texts.dedup();
            texts.join(between)
        };
        let mut errors = vec![0usize; loaded.outcomes.len()];
        for request in &loaded.rows {
            if let Some(count) = errors.get_mut(usize::from(request.outcome)) {
                *count += 1;
            }
        }
        let mut errors: Vec<OutcomeCount> = loaded
            .outcomes
            .iter()
            .zip(errors)
            .filter(|(outcome, _)| *outcome != "ok")
            .map(|(outcome, count)| OutcomeCount { outcome: outcome.clone(), count })
            .collect();
        errors.sort_by_key(|error| std::cmp::Reverse(error.count));
        let mut nodes: Vec<ReportNode> = Vec::new();
        let mut known = HashSet::new();
        for node in manifests.iter().flat_map(|manifest| &manifest.nodes) {
            if known.insert(&node.address) {
                nodes.push(ReportNode { address: node.address.clone(), version: node.cassandra.clone() });
            }
        }
        let whole = Flame::build(engine, &FlameOptions { times: true, ..FlameOptions::default() })?;
        let slow = match explanation.judged.is_empty() {
            true => None,
            false => Some(Flame::of_slow(engine, &FlameOptions::default(), explanation)?),
        };
        let metered = probes::probes(engine)?;
        let runs = runs(engine)?;
        let flames = [Some(whole), slow].iter().flatten().filter(|flame| flame.weighs()).map(Flame::tree).collect();
        Ok(Report {
            format: 1,
            flames_begin_s: Flame::first_sample_ns(engine)?.map(|first_ns| (first_ns - span.start) as f64 / 1e9),
            flames,
            title: joined(&|manifest| manifest.title.clone(), " + "),
            helenus: first.map_or(String::new(), |manifest| manifest.helenus.clone()),
            created: text::iso(first.map_or(0, |manifest| manifest.created_ns)),
            start: text::iso(span.start),
            start_ns: span.start.to_string(),
            duration_s: span.length() as f64 / 1e9,
            command: joined(&|manifest| manifest.command.clone(), "; "),
            host: first.map_or(ReportHost::default(), |manifest| ReportHost {
                name: manifest.host.name.clone(),
                kernel: manifest.host.kernel.clone(),
                cpus: manifest.host.cpus,
            }),
            nodes,
            slow_threshold_ms: explanation.slow_threshold_ms,
            slow_threshold_name: explanation.slow_threshold_name.clone(),
            requests: loaded.rows.len(),
            errors,
            phases: explanation.phases.iter().map(|phase| ReportPhase::of(phase, &runs, &bins)).collect(),
            question: explanation.question.clone(),
            answer: explanation.answer.clone(),
            findings: findings(explanation, span.start),
            comparison: compare::judge(engine, &CompareOptions::default())?,
            throughput: requests::throughput(
                &loaded,
                &explanation.phases,
                &bins::over(span, requests::steady_ns(&explanation.phases, span)),
            ),
            latency: requests::latency(&loaded, &bins),
            heatmap: requests::heatmap(&loaded, span),
            spectrogram: spectrogram::build(engine, span)?,
            cpu: machine::cpu(engine, span)?,
            groups: machine::groups(engine, span)?,
            pauses: server::pauses(engine, &bins)?,
            pools: server::pools(engine, span)?,
            valves: valves::valves(engine, span)?,
            tables: server::tables(engine, span)?,
            probes: metered.rows,
            probes_left_out: metered.left_out,
            sources: server::sources(engine)?,
        })
    }
}

impl ReportPhase {
    fn of(phase: &Phase, runs: &[(Interval, String)], bins: &Bins) -> ReportPhase {
        let run = runs.iter().find(|(run, _)| run.start <= phase.start_ns && phase.end_ns <= run.end);
        ReportPhase {
            name: phase.name.clone(),
            marked: phase.marked,
            run: run.map(|(_, name)| name.clone()),
            start_s: bins.second(phase.start_ns),
            end_s: bins.second(phase.end_ns),
            rate_per_s: phase.rate_per_s,
            end_rate_per_s: phase.end_rate_per_s,
            in_flight: phase.in_flight,
            measured: phase.measured,
            requests: phase.requests,
            errors: phase.errors,
            throughput_per_s: phase.throughput_per_s,
            service_ms: phase.service_ms,
            response_ms: phase.response_ms,
        }
    }
}

/// The runs of an experiment's variants, each with its name.
fn runs(engine: &Engine) -> Result<Vec<(Interval, String)>, Error> {
    let rows = engine.sql(&query::VARIANT_RUNS.fill(&[]))?;
    let (kinds, names, blocks) = (rows.texts("kind")?, rows.texts("name")?, rows.integers("block")?);
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let run = |row: usize| {
        (Interval { start: starts[row], end: ends[row] }, format!("{}, block {}", names[row], blocks[row]))
    };
    Ok((0..rows.rows()).filter(|row| kinds[*row] == "variant").map(run).collect())
}

/// The findings, with their times in seconds since `start_ns`.
pub(crate) fn findings(explanation: &Explanation, start_ns: i64) -> Vec<ReportFinding> {
    let second = |time_ns: i64| (time_ns - start_ns) as f64 / 1e9;
    explanation
        .findings
        .iter()
        .map(|finding| ReportFinding {
            rank: finding.rank,
            finding: finding.finding.to_string(),
            severity: finding.severity,
            title: finding.title.clone(),
            detail: finding.detail.clone(),
            next: finding.next.clone(),
            commands: finding.commands.clone(),
            node: finding.node.clone(),
            start_s: second(finding.window_start_ns),
            end_s: second(finding.window_end_ns),
            share: finding.share,
            chance_share: finding.chance_share,
            p_value: finding.p_value,
            query: finding.query.clone(),
            evidence: finding.evidence.clone(),
        })
        .collect()
}
