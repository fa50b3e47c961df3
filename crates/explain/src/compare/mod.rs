//! What a change was worth: figures of runs, their ratios to a baseline with intervals, and a verdict.
//!
//! ```text
//! marks of variants ─▶ runs ─▶ figures of each ─▶ ratio and interval by figure ─▶ verdict ─▶ sentence
//! ```

mod bootstrap;
mod metric;
mod remarks;
mod run;
mod sentence;
mod verdict;

pub(crate) use remarks::not_counted;

pub use metric::{Better, METRICS, Metric, READ_METRICS};
pub use run::MeasuredRun;
pub use verdict::Verdict;

use crate::Error;
use crate::engine::Engine;
use bootstrap::{CONFIDENCE, Design, RESAMPLES};
use helenus_recording::rows;
use run::VariantRuns;
use serde::Serialize;
use std::collections::BTreeSet;
use verdict::Judged;

/// How runs are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// A difference below this share is none to mind.
    pub margin: f64,
    /// Of the resamples: the same seed gives the same intervals.
    pub seed: u64,
    /// For two sets of recordings: run `i` of the one has nothing to do with run `i` of the other.
    pub unpaired: bool,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions { margin: 0.05, seed: 1, unpaired: false }
    }
}

/// Variants against a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub baseline: String,
    /// What one run is of: block or recording.
    pub run_unit: &'static str,
    /// Whether a run is compared with that of the baseline in the same block.
    pub paired: bool,
    /// Of the intervals, such as 0.95.
    pub confidence: f64,
    pub resamples: usize,
    pub margin: f64,
    /// Runs of variants that were cut short, and are in nothing here.
    pub cut_short: usize,
    /// What can't be concluded, and what was not measured, in sentences.
    pub remarks: Vec<String>,
    pub variants: Vec<Side>,
    /// What each run came to.
    #[serde(skip)]
    pub runs: Vec<MeasuredRun>,
}

/// A variant, against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    pub name: String,
    /// The verdict in words.
    pub sentence: String,
    /// How many runs of it are compared.
    pub runs: usize,
    pub metrics: Vec<Ratio>,
}

/// One figure of a variant, against the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    #[serde(flatten)]
    pub metric: &'static Metric,
    /// Means over the runs.
    pub baseline: f64,
    pub variant: f64,
    /// Of the means; None where the baseline's is 0 and the variant's is not.
    pub ratio: Option<f64>,
    /// The interval of the ratio; None where there are too few runs, or as for the ratio.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: Verdict,
    /// How many runs would tell, where these don't; None when more than 1000, or when these do.
    pub runs_needed: Option<usize>,
}

/// Judges the variants of an experiment by its recording. None where it is of no such experiment.
///
/// Blocks count in which both the baseline and the variant were run to their end.
pub fn judge(engine: &Engine, options: &CompareOptions) -> Result<Option<Comparison>, Error> {
    let found = VariantRuns::load(engine)?;
    let baseline = match (&found.baseline, found.runs.first()) {
        (Some(baseline), _) => baseline.clone(),
        (None, Some(first)) => first.variant.clone(),
        (None, None) => return Ok(None),
    };
    let mut comparison = of_blocks(baseline, &METRICS, found.runs, options);
    comparison.cut_short = found.cut_short;
    comparison.remarks = remarks::of([engine])?;
    Ok(Some(comparison))
}

/// Judges reads of one table that were taken in blocks: see [`READ_METRICS`].
pub fn judge_reads(baseline: &str, runs: Vec<MeasuredRun>, options: &CompareOptions) -> Comparison {
    of_blocks(baseline.to_string(), &READ_METRICS, runs, options)
}

fn of_blocks(
    baseline: String,
    metrics: &'static [Metric],
    all: Vec<MeasuredRun>,
    options: &CompareOptions,
) -> Comparison {
    let mut names: Vec<&str> = Vec::new();
    for run in all.iter().filter(|run| run.variant != baseline) {
        if !names.contains(&run.variant.as_str()) {
            names.push(&run.variant);
        }
    }
    names.sort_unstable();
    let sides = names
        .iter()
        .map(|name| {
            let blocks = |variant: &str| -> BTreeSet<i64> {
                all.iter().filter(|run| run.variant == variant).map(|run| run.block).collect()
            };
            let both: Vec<i64> = blocks(name).intersection(&blocks(&baseline)).copied().collect();
            let runs = |variant: &str| -> Vec<&MeasuredRun> {
                let of = |block: &i64| all.iter().find(|run| run.variant == variant && run.block == *block);
                both.iter().filter_map(of).collect()
            };
            side(name, metrics, (&runs(name), &runs(&baseline)), Design::Paired, options)
        })
        .collect();
    let mut comparison = Comparison::new(baseline, "block", Design::Paired, sides, options);
    comparison.runs = all;
    comparison
}

/// Compares a set of recordings, each opened by itself, with a baseline's. With as many of both they are paired in their
/// order, unless the options say otherwise.
pub fn compare(
    (baseline, baselines): (&str, &[Engine]),
    (variant, variants): (&str, &[Engine]),
    options: &CompareOptions,
) -> Result<Comparison, Error> {
    let measure = |name: &str, engines: &[Engine]| -> Result<Vec<MeasuredRun>, Error> {
        engines.iter().zip(1..).map(|(engine, number)| MeasuredRun::whole(engine, name, number)).collect()
    };
    let (base, other) = (measure(baseline, baselines)?, measure(variant, variants)?);
    let design = if base.len() == other.len() && !options.unpaired { Design::Paired } else { Design::Unpaired };
    let sides = vec![side(
        variant,
        &METRICS,
        (&other.iter().collect::<Vec<_>>(), &base.iter().collect::<Vec<_>>()),
        design,
        options,
    )];
    let mut comparison = Comparison::new(baseline.to_string(), "recording", design, sides, options);
    comparison.remarks = remarks::of(baselines.iter().chain(variants))?;
    comparison.runs = base.into_iter().chain(other).collect();
    Ok(comparison)
}

fn side(
    name: &str,
    metrics: &'static [Metric],
    (runs, base): (&[&MeasuredRun], &[&MeasuredRun]),
    design: Design,
    options: &CompareOptions,
) -> Side {
    let metrics = metrics.iter().filter_map(|metric| ratio(metric, (runs, base), design, options)).collect();
    Side { name: name.to_string(), sentence: String::new(), runs: runs.len().min(base.len()), metrics }
}

/// None where one of the sides has no such figure.
fn ratio(
    metric: &'static Metric,
    (runs, base): (&[&MeasuredRun], &[&MeasuredRun]),
    design: Design,
    options: &CompareOptions,
) -> Option<Ratio> {
    let figure = |run: &&MeasuredRun| run.figures.get(metric.name).copied();
    let (values, base): (Vec<f64>, Vec<f64>) = match design {
        Design::Paired => runs.iter().zip(base).filter_map(|(run, base)| figure(run).zip(figure(base))).unzip(),
        Design::Unpaired => (runs.iter().filter_map(figure).collect(), base.iter().filter_map(figure).collect()),
    };
    if values.is_empty() || base.is_empty() {
        return None;
    }
    let judged = Judged::new((&values, &base), metric.better, design, (options.margin, options.seed));
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Some(Ratio {
        metric,
        baseline: mean(&base),
        variant: mean(&values),
        ratio: finite(judged.ratio),
        low: judged.bounds.and_then(|bounds| finite(bounds.low)),
        high: judged.bounds.and_then(|bounds| finite(bounds.high)),
        verdict: judged.verdict,
        runs_needed: judged.runs_needed,
    })
}

impl Comparison {
    fn new(
        baseline: String,
        run_unit: &'static str,
        design: Design,
        mut variants: Vec<Side>,
        options: &CompareOptions,
    ) -> Comparison {
        for side in &mut variants {
            side.sentence = sentence::of(side, &baseline, run_unit);
        }
        Comparison {
            baseline,
            run_unit,
            paired: design == Design::Paired,
            confidence: CONFIDENCE,
            resamples: RESAMPLES,
            margin: options.margin,
            cut_short: 0,
            remarks: Vec::new(),
            variants,
            runs: Vec::new(),
        }
    }

    /// Whether a variant is worse than the baseline in one of the named figures.
    pub fn is_worse_in(&self, metrics: &[&str]) -> bool {
        let worse = |ratio: &Ratio| ratio.verdict == Verdict::Worse && metrics.contains(&ratio.metric.name);
        self.variants.iter().any(|side| side.metrics.iter().any(worse))
    }

    /// Hands on what each run came to as rows of the `results` table.
    pub fn for_each_row(&self, mut take: impl FnMut(rows::VariantResult<'_>)) {
        for run in &self.runs {
            for metric in METRICS.iter() {
                if let Some(value) = run.figures.get(metric.name) {
                    take(rows::VariantResult {
                        start_ns: run.start_ns,
                        variant: &run.variant,
                        block: run.block,
                        metric: metric.name,
                        unit: metric.unit,
                        value: *value,
                    });
                }
            }
        }
    }
}
