//! Exact percentiles: computed from the values themselves, never from other percentiles.

use serde::Serialize;

/// Percentiles in milliseconds; None without values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Percentiles {
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

impl Percentiles {
    /// Percentiles of times in ns. Sorts the values.
    pub(crate) fn of(values_ns: &mut [i64]) -> Percentiles {
        values_ns.sort_unstable();
        let at = |quantile| quantile_of_sorted(values_ns, quantile).map(ms);
        Percentiles { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1.0) }
    }
}

/// The smallest value that at least the share `quantile` of the values does not exceed (nearest rank: it is always one
/// of the values).
pub(crate) fn quantile_of_sorted(sorted: &[i64], quantile: f64) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    Some(sorted[rank.saturating_sub(1).min(last)])
}

/// The median of values in any order. Reorders them.
pub(crate) fn median(values: &mut [i64]) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

pub(crate) fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let mut values: Vec<i64> = (1..=1000).rev().map(|value| value * 1_000_000).collect();
        let percentiles = Percentiles::of(&mut values);
        assert_eq!(percentiles.p50, Some(500.0));
        assert_eq!(percentiles.p99, Some(990.0));
        assert_eq!(percentiles.p999, Some(999.0));
        assert_eq!(percentiles.max, Some(1000.0));
        assert_eq!(Percentiles::of(&mut []), Percentiles::default());
        assert_eq!(Percentiles::of(&mut [7_000_000]).p50, Some(7.0));
        assert_eq!(median(&mut [3, 1, 2]), Some(2));
        assert_eq!(median(&mut []), None);
    }
}
