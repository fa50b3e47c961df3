//! The result of a variant, against the baseline.

use super::metric::Metric;
use super::verdict::Verdict;
use serde::Serialize;

/// A variant, against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Variant"))]
pub struct Side {
    pub name: String,
    /// The verdict in words.
    pub sentence: String,
    /// How many runs of it are compared.
    pub runs: usize,
    pub metrics: Vec<Ratio>,
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
    /// The interval of the ratio; None where there are too few runs, or as for the ratio.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// How probable so large a difference in any of the figures is when runs differ by chance alone (Westfall, Young, 1993).
    pub p_value: f64,
    pub verdict: Verdict,
    /// How many runs would tell, where these don't: more than there are. None when more than 1000, or when these do.
    pub runs_needed: Option<usize>,
}
