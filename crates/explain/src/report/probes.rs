//! What probes measured: by variant in an experiment with variants, otherwise over the whole recording.

use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Value};
use crate::timeline::Interval;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The most probes that have rows in the report; those with the most own time are chosen.
const MOST_PROBES: usize = 40;

/// One probe, summed over all nodes and thread groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Probe"))]
pub struct ReportProbe {
    pub probe: String,
    /// The variant whose runs it was metered in; None outside of an experiment with variants.
    pub variant: Option<String>,
    pub calls: i64,
    pub failed: i64,
    /// Calls per second, over all the time in which any probe was called.
    pub calls_per_s: f64,
    pub total_s: f64,
    /// Own time, without callees that have a probe.
    pub own_s: f64,
    /// Mean time of a call; None without calls.
    pub mean_us: Option<f64>,
    pub own_mean_us: Option<f64>,
    pub max_ms: f64,
    /// The reason for which the probe was last switched off; None if it never was.
    pub off_reason: Option<String>,
}

/// The probes of the report.
#[derive(Debug)]
pub(super) struct Metered {
    /// The rows of each probe are consecutive, the baseline's first.
    pub(super) rows: Vec<ReportProbe>,
    /// The number of probes without rows.
    pub(super) left_out: usize,
}

/// The runs of one variant.
#[derive(Debug)]
struct VariantRuns {
    variant: String,
    runs: Vec<Interval>,
}

pub(super) fn probes(engine: &Engine) -> Result<Metered, Error> {
    let variants = variants(engine)?;
    let mut rows = Vec::new();
    for of in &variants {
        rows.extend(metered(engine, Some(&of.variant), &within(&of.runs))?);
    }
    if variants.is_empty() {
        rows = metered(engine, None, "true")?;
    }
    Ok(foremost(rows))
}

/// Variants with at least one complete run: the baseline first, then the others by name.
fn variants(engine: &Engine) -> Result<Vec<VariantRuns>, Error> {
    let rows = engine.sql(&query::VARIANT_RUNS.fill(&[]))?;
    let (kinds, names) = (rows.texts("kind")?, rows.texts("name")?);
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let whole = rows.booleans("measured")?;
    let (mut baseline, mut first) = (None, None);
    let mut runs: BTreeMap<&str, Vec<Interval>> = BTreeMap::new();
    for row in 0..rows.rows() {
        let name = names[row].as_str();
        if kinds[row] == "baseline" {
            baseline = Some(name);
        } else if whole[row] {
            first = first.or(Some(name));
            runs.entry(name).or_default().push(Interval { start: starts[row], end: ends[row] });
        }
    }
    let baseline = baseline.or(first);
    let mut variants: Vec<VariantRuns> =
        runs.into_iter().map(|(name, runs)| VariantRuns { variant: name.to_string(), runs }).collect();
    variants.sort_by_key(|of| Some(of.variant.as_str()) != baseline);
    Ok(variants)
}

/// Condition for rows whose interval lies in one of the runs.
fn within(runs: &[Interval]) -> String {
    let each = |run: &Interval| format!("time_ns - interval_ns >= {} AND time_ns <= {}", run.start, run.end);
    runs.iter().map(each).collect::<Vec<_>>().join(" OR ")
}

/// Metered probes, those with the most own time first.
fn metered(engine: &Engine, variant: Option<&str>, filter: &str) -> Result<Vec<ReportProbe>, Error> {
    let rows = engine.sql(&query::REPORT_PROBES.fill(&[("filter", Value::Condition(filter))]))?;
    let (calls, failed) = (rows.integers("calls")?, rows.integers("failed")?);
    let (total_ns, own_ns) = (rows.numbers("total_ns")?, rows.numbers("own_ns")?);
    let (max_ns, metered_ns) = (rows.numbers("max_ns")?, rows.numbers("metered_ns")?);
    let off_reason = rows.texts("off_reason")?;
    let probes = rows.texts("probe")?.into_iter().enumerate().map(|(row, probe)| {
        let count = calls[row] as f64;
        let per_call_us = |ns: f64| (count > 0.0).then(|| ns / count / 1e3);
        ReportProbe {
            probe,
            variant: variant.map(str::to_string),
            calls: calls[row],
            failed: failed[row],
            calls_per_s: if metered_ns[row] > 0.0 { count * 1e9 / metered_ns[row] } else { 0.0 },
            total_s: total_ns[row] / 1e9,
            own_s: own_ns[row] / 1e9,
            mean_us: per_call_us(total_ns[row]),
            own_mean_us: per_call_us(own_ns[row]),
            max_ms: max_ns[row] / 1e6,
            off_reason: Some(off_reason[row].clone()).filter(|reason| !reason.is_empty()),
        }
    });
    Ok(probes.collect())
}

/// The rows come variant by variant, each in descending order of own time. So a probe's rank is where it first occurs.
fn foremost(mut rows: Vec<ReportProbe>) -> Metered {
    let mut ranks: HashMap<String, usize> = HashMap::new();
    for row in &rows {
        let next = ranks.len();
        ranks.entry(row.probe.clone()).or_insert(next);
    }
    let rank = |row: &ReportProbe| ranks.get(&row.probe).copied().unwrap_or(usize::MAX);
    rows.retain(|row| rank(row) < MOST_PROBES);
    rows.sort_by_key(rank);
    Metered { rows, left_out: ranks.len().saturating_sub(MOST_PROBES) }
}
