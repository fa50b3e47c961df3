//! The result of one variant, compared with the baseline.

use super::compiling::Compiling;
use super::metric::Metric;
use super::verdict::Verdict;
use serde::Serialize;

/// A variant, with its figures compared with the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Variant"))]
pub struct Side {
    pub name: String,
    /// The verdict in words.
    pub sentence: String,
    /// Number of runs of the variant that are compared.
    pub runs: usize,
    pub metrics: Vec<Ratio>,
    /// How much the JVMs compiled, if it was too much for a verdict.
    pub compiling: Option<Compiling>,
}

/// A figure of a variant, compared with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ratio {
    #[serde(flatten)]
    pub metric: &'static Metric,
    /// Means over the runs.
    pub baseline: f64,
    pub variant: f64,
    /// Ratio of the means; None if the baseline's is 0 and the variant's is not.
    pub ratio: Option<f64>,
    /// The interval of the ratio; None where there are too few runs, or where there is no ratio.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// How probable so large a difference in any of the figures is when runs differ by chance alone (Westfall, Young, 1993).
    pub p_value: f64,
    pub verdict: Verdict,
    /// The number of runs that would decide, if the present ones don't; more than the present ones. None when it is
    /// more than 1000, or when the present runs decide.
    pub runs_needed: Option<usize>,
}
