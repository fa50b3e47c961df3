//! Compares variants with a baseline: figures of runs, their ratios to the baseline with intervals, and a verdict.
//!
//! ```text
//! marks of variants ─▶ runs ─▶ figures of each ─▶ ratio and interval by figure ─▶ all figures together ─▶ verdict ─▶ sentence
//! ```

mod bootstrap;
mod compiling;
mod family;
mod loads;
mod metric;
mod remarks;
mod run;
mod sentence;
mod side;
mod verdict;
mod windows;

pub use compiling::Compiling;
pub use metric::{Better, METRICS, Metric, READ_METRICS};
pub use run::MeasuredRun;
pub use side::{Ratio, Side};
pub use verdict::Verdict;
pub use windows::{
    FigureChange, FrameChange, SettingChange, StatementChange, StatementRate, WindowChanges, window_changes,
};

use crate::Error;
use crate::engine::Engine;
use bootstrap::{CONFIDENCE, Design, RESAMPLES};
use family::{FAMILY_ERROR, Sides, Together};
use helenus_recording::rows;
use run::VariantRuns;
use serde::Serialize;
use std::collections::BTreeSet;

/// Options of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// Differences below this share do not matter to the user.
    pub margin: f64,
    /// Seed of the resampling: the same seed gives the same intervals.
    pub seed: u64,
    /// For two sets of recordings: run `i` of one set is not paired with run `i` of the other.
    pub unpaired: bool,
    /// Figures that were named before the run: they are judged together, and apart from all others.
    pub named: Vec<&'static str>,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions { margin: 0.05, seed: 1, unpaired: false, named: Vec::new() }
    }
}

/// The worth of each variant of an experiment, against a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comparison {
    pub baseline: String,
    /// The unit of a run: block or recording.
    pub run_unit: &'static str,
    /// Whether a run is compared with that of the baseline in the same block.
    pub paired: bool,
    /// Confidence level of each interval, such as 0.95, without correction for the number of figures.
    pub confidence: f64,
    /// The probability that identical runs get `better` or `worse` in any figure of a variant, such as 0.05.
    pub family_error: f64,
    pub resamples: usize,
    pub margin: f64,
    /// Runs that ended early and are in no figure.
    pub cut_short: usize,
    /// Sentences about conclusions that can't be drawn, and about figures that were not measured.
    pub remarks: Vec<String>,
    pub variants: Vec<Side>,
    /// The figures of each run.
    #[serde(skip)]
    pub runs: Vec<MeasuredRun>,
}

/// Judges the variants of an experiment by its recording. None if the recording has no variants.
///
/// A block counts only if the baseline and the variant both ran to the end in it.
pub fn judge(engine: &Engine, options: &CompareOptions) -> Result<Option<Comparison>, Error> {
    let found = VariantRuns::load(engine)?;
    let baseline = match (&found.baseline, found.runs.first()) {
        (Some(baseline), _) => baseline.clone(),
        (None, Some(first)) => first.variant.clone(),
        (None, None) => return Ok(None),
    };
    let mut comparison = of_blocks(baseline, &METRICS, found.runs, options);
    comparison.cut_short = found.cut_short;
    comparison.remarks.extend(remarks::of([engine])?);
    Ok(Some(comparison))
}

/// Judges reads of one table that were measured in blocks: see [`READ_METRICS`].
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

/// Compares a set of recordings, each opened by itself, with those of a baseline. If both sets have the same number,
/// they are paired in their order, unless the options say otherwise.
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
    comparison.remarks.extend(remarks::of(baselines.iter().chain(variants))?);
    let figures = comparison.variants.iter().flat_map(|side| &side.metrics);
    let throughput = figures.into_iter().find(|ratio| ratio.metric.name == "throughput");
    let rates = throughput.map(|ratio| (ratio.baseline, ratio.variant));
    if let Some(remark) = loads::differ((baseline, baselines), (variant, variants), rates, options.margin)? {
        comparison.remarks.insert(0, remark);
    }
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
    let figures: Vec<Figure> = metrics.iter().filter_map(|metric| Figure::of(metric, runs, base, design)).collect();
    let is_named = |figure: &Figure| options.named.contains(&figure.metric.name);
    let family = |figures: &[&Figure]| {
        let sides: Vec<Sides<'_>> = figures.iter().map(|figure| figure.sides()).collect();
        Together::of(&sides, design, options.seed)
    };
    let all = family(&figures.iter().collect::<Vec<_>>());
    let named = family(&figures.iter().filter(|figure| is_named(figure)).collect::<Vec<_>>());
    let mut p_of_named = named.p_values.iter();
    let compiling = Compiling::find(runs, base);
    let metrics = figures
        .iter()
        .zip(&all.p_values)
        .map(|(figure, p)| match is_named(figure) {
            true => figure.judge(p_of_named.next().copied().unwrap_or(1.0), named.widened, design, options),
            false => figure.judge(*p, all.widened, design, options),
        })
        .map(|ratio| if compiling.is_some() { without_verdict(ratio) } else { ratio })
        .collect();
    Side { name: name.to_string(), sentence: String::new(), runs: runs.len().min(base.len()), metrics, compiling }
}

/// Of a JVM that still compiles, only figures without an interval keep their verdict.
fn without_verdict(ratio: Ratio) -> Ratio {
    let would_tell = ratio.low.is_some() && ratio.verdict != Verdict::NotEnough;
    let is_constant = ratio.variant == ratio.baseline;
    match would_tell && !is_constant {
        true => Ratio { verdict: Verdict::StillCompiling, ..ratio },
        false => ratio,
    }
}

/// The values of one figure on both sides, from the runs that have it.
struct Figure {
    metric: &'static Metric,
    values: Vec<Option<f64>>,
    base: Vec<Option<f64>>,
}

impl Figure {
    /// Returns None if a side has no such figure. A pair counts only if both of its runs have the figure.
    fn of(metric: &'static Metric, runs: &[&MeasuredRun], base: &[&MeasuredRun], design: Design) -> Option<Figure> {
        let figure = |run: &&MeasuredRun| run.figures.get(metric.name).copied();
        let (mut values, mut base): (Vec<_>, Vec<_>) =
            (runs.iter().map(figure).collect(), base.iter().map(figure).collect());
        if design == Design::Paired {
            for (value, base) in values.iter_mut().zip(&mut base) {
                if value.is_none() || base.is_none() {
                    (*value, *base) = (None, None);
                }
            }
        }
        let is_known = |side: &[Option<f64>]| side.iter().any(Option::is_some);
        (is_known(&values) && is_known(&base)).then_some(Figure { metric, values, base })
    }

    fn sides(&self) -> Sides<'_> {
        Sides { values: &self.values, base: &self.base }
    }

    fn judge(&self, p_value: f64, widened: f64, design: Design, options: &CompareOptions) -> Ratio {
        let known = |side: &[Option<f64>]| -> Vec<f64> { side.iter().flatten().copied().collect() };
        let (values, base) = (known(&self.values), known(&self.base));
        let ratio = bootstrap::ratio(&values, &base);
        let bounds = bootstrap::interval(&values, &base, design, options.seed);
        let verdict = Verdict::of_constant(&values, &base)
            .unwrap_or_else(|| Verdict::of(bounds, self.metric.better, options.margin, p_value));
        let runs = values.len().min(base.len());
        // Runs without the figure do not count as runs of it.
        let without = self.values.len().min(self.base.len()) - runs;
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Ratio {
            metric: self.metric,
            baseline: mean(&base),
            variant: mean(&values),
            ratio: finite(ratio),
            low: bounds.and_then(|bounds| finite(bounds.low)),
            high: bounds.and_then(|bounds| finite(bounds.high)),
            p_value,
            verdict,
            runs_needed: match verdict {
                Verdict::NotEnough => {
                    verdict::needed(ratio, bounds, runs, (options.margin, widened)).map(|needed| needed + without)
                }
                _ => None,
            },
        }
    }
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
        let remarks = variants.iter().filter_map(|side| Some(side.compiling?.remark(&side.name, &baseline))).collect();
        Comparison {
            baseline,
            run_unit,
            paired: design == Design::Paired,
            confidence: CONFIDENCE,
            family_error: FAMILY_ERROR,
            resamples: RESAMPLES,
            margin: options.margin,
            cut_short: 0,
            remarks,
            variants,
            runs: Vec::new(),
        }
    }

    /// Whether a variant is worse than the baseline in one of the named figures.
    pub fn is_worse_in(&self, metrics: &[&str]) -> bool {
        let worse = |ratio: &Ratio| ratio.verdict == Verdict::Worse && metrics.contains(&ratio.metric.name);
        self.variants.iter().any(|side| side.metrics.iter().any(worse))
    }

    /// Passes the figures of each run on, as rows of the table `results`.
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

#[cfg(test)]
mod tests {
    use super::bootstrap::normal_number;
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    /// Simulated runs of a variant that differ by chance alone, in blocks that differ by 20 %.
    fn runs(variant: &str, blocks: i64, seed: u64, without: impl Fn(i64, &str) -> bool) -> Vec<MeasuredRun> {
        let mut random = Random::new(seed);
        let mut figures = |block: i64| -> BTreeMap<&'static str, f64> {
            let drawn = METRICS.iter().map(|metric| (metric.name, (0.1 * normal_number(&mut random)).exp()));
            drawn.filter(|(name, _)| !without(block, name)).collect()
        };
        (1..=blocks)
            .map(|block| MeasuredRun { variant: variant.to_string(), block, start_ns: block, figures: figures(block) })
            .collect()
    }

    fn judged(blocks: i64, seed: u64, options: &CompareOptions) -> Side {
        let all = [runs("none", blocks, seed, |_, _| false), runs("same", blocks, seed + 1000, |_, _| false)].concat();
        of_blocks("none".to_string(), &METRICS, all, options).variants.remove(0)
    }

    fn has_verdict(ratio: &Ratio) -> bool {
        matches!(ratio.verdict, Verdict::Better | Verdict::Worse)
    }

    /// If each figure were judged without correction, three of four such comparisons would have a wrong verdict.
    #[test]
    fn identical_runs_get_no_verdict() {
        let options = CompareOptions::default();
        let wrong = (0..10).filter(|seed| judged(6, *seed, &options).metrics.iter().any(has_verdict)).count();
        assert!(wrong <= 1, "{wrong} of 10");
    }

    /// The JIT compilers of the baseline use so many CPUs, those of the variant none; and the variant is twice as fast.
    fn twice_as_fast(compiler_cpus: f64) -> Comparison {
        let with = |mut all: Vec<MeasuredRun>, cpus: f64, times: f64| {
            for run in &mut all {
                run.figures.insert(run::COMPILER_CPUS, cpus);
                run.figures.insert("error_share", 0.0);
                run.figures.entry("throughput").and_modify(|per_s| *per_s *= times);
            }
            all
        };
        let base = with(runs("none", 8, 1, |_, _| false), compiler_cpus, 1.0);
        let all = [base, with(runs("C1 alone", 8, 1, |_, _| false), 0.0, 2.0)].concat();
        of_blocks("none".to_string(), &METRICS, all, &CompareOptions::default())
    }

    #[test]
    fn no_verdict_is_given_on_a_jvm_that_still_compiles() {
        let verdict = |comparison: &Comparison, name: &str| {
            comparison.variants[0].metrics.iter().find(|ratio| ratio.metric.name == name).unwrap().verdict
        };
        let warm = twice_as_fast(0.02);
        assert_eq!((verdict(&warm, "throughput"), warm.remarks.len()), (Verdict::Better, 0));
        let cold = twice_as_fast(0.27);
        assert_eq!(verdict(&cold, "throughput"), Verdict::StillCompiling);
        assert_eq!(verdict(&cold, "error_share"), Verdict::NoDifference, "constant");
        assert!(
            cold.remarks[0].contains("those of none used 0.27 CPUs for it, those of C1 alone 0.00"),
            "{:?}",
            cold.remarks
        );
        assert!(cold.variants[0].sentence.contains("can't tell: a JVM was still compiling"), "{:?}", cold.variants[0]);
        assert!(!cold.is_worse_in(&["throughput", "response_p99"]));
    }

    #[test]
    fn a_figure_that_was_named_is_judged_apart() {
        let named = CompareOptions { named: vec!["response_p99"], ..CompareOptions::default() };
        let p99 = |side: &Side| side.metrics.iter().find(|ratio| ratio.metric.name == "response_p99").unwrap().p_value;
        let of = |seed: u64| (p99(&judged(6, seed, &named)), p99(&judged(6, seed, &CompareOptions::default())));
        let p_values: Vec<(f64, f64)> = (0..4).map(of).collect();
        assert!(p_values.iter().all(|(alone, among)| alone <= among), "{p_values:?}");
        assert!(p_values.iter().any(|(alone, among)| *alone < among / 2.0), "{p_values:?}");
    }

    #[test]
    fn more_runs_are_asked_for_than_there_are() {
        // One block lacks the figure `local_time`.
        let without = |block: i64, name: &str| block == 2 && name == "local_time";
        for seed in 0..2 {
            let all = [runs("none", 6, seed, without), runs("same", 6, seed + 1000, |_, _| false)].concat();
            let side = of_blocks("none".to_string(), &METRICS, all, &CompareOptions::default()).variants.remove(0);
            let needed = |ratio: &Ratio| ratio.runs_needed.is_none_or(|needed| needed > side.runs);
            assert!(side.metrics.iter().all(needed), "{:?}", side.metrics);
            let local_time = side.metrics.iter().find(|ratio| ratio.metric.name == "local_time").unwrap();
            assert_eq!((local_time.low, local_time.runs_needed), (None, Some(7)));
        }
    }
}
