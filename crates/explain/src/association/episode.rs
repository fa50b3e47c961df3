//! The test of a cause that was there in one or a few long episodes, which shifts of its timeline cannot judge: a shift
//! by some seconds explains as much where all slow requests lie within the episode.
//!
//! By bins of time: y is how many slow requests were due in a bin, x is the part of it in which the cause was there. The
//! slope of y on x is compared with its standard error for series that depend on their past: Newey and West, A simple,
//! positive semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix, 1987.

use super::judged::Judged;
use crate::timeline::{Interval, covered_ns, merge};

/// Episodes with less time between them count as one.
const APART_NS: i64 = 1_000_000_000;
/// With more episodes than this, the test by shifts has enough power.
const MOST_EPISODES: usize = 8;
const BINS: i64 = 60;
const SHORTEST_BIN_NS: i64 = 250_000_000;
/// Number of bins that the cause must cover, and number of bins that it must leave uncovered.
const FEWEST_BINS: f64 = 5.0;

/// How likely chance gives a slope as large; None where the test by shifts applies.
pub(super) fn p_value(judged: &Judged, cause: &[Interval]) -> Option<f64> {
    let inside = judged.stretches.iter().flat_map(|stretch| crate::timeline::within(cause, stretch.window));
    let joined = merge(inside.map(|interval| interval.widened(APART_NS / 2)).collect());
    if joined.is_empty() || joined.len() > MOST_EPISODES {
        return None;
    }
    let bin_ns = (judged.length_ns() / BINS).max(SHORTEST_BIN_NS);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for stretch in &judged.stretches {
        let mut start = stretch.window.start;
        let mut slow = stretch.slow.as_slice();
        while start + bin_ns <= stretch.window.end {
            let bin = Interval { start, end: start + bin_ns };
            let due = slow.partition_point(|request| request.start < bin.end);
            x.push(covered_ns(cause, bin) as f64 / bin_ns as f64);
            y.push(due as f64);
            slow = &slow[due..];
            start = bin.end;
        }
    }
    let covered: f64 = x.iter().sum();
    if covered < FEWEST_BINS || x.len() as f64 - covered < FEWEST_BINS {
        return None;
    }
    slope_p_value(&x, &y)
}

/// One-sided, by Student's t.
fn slope_p_value(x: &[f64], y: &[f64]) -> Option<f64> {
    let count = x.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let spread: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let slope = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let scores: Vec<f64> = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y - slope * (x - mean_x))).collect();
    // The usual rule for the number of lags: Newey and West, 1994.
    let lags = (4.0 * (count / 100.0).powf(2.0 / 9.0)).floor() as usize;
    let product = |lag: usize| scores.iter().zip(&scores[lag.min(scores.len())..]).map(|(a, b)| a * b).sum::<f64>();
    let weighted = (1..=lags).map(|lag| 2.0 * (1.0 - lag as f64 / (lags as f64 + 1.0)) * product(lag));
    let variance = ((product(0) + weighted.sum::<f64>()) / (spread * spread) * count / (count - 2.0)).max(0.0);
    if slope <= 0.0 {
        return Some(1.0);
    }
    let t = slope / variance.sqrt().max(f64::MIN_POSITIVE);
    Some(upper_tail(t, count - 2.0))
}

/// P(T > t) of Student's t by a normal: Abramowitz and Stegun, 26.7.8 and 26.2.17.
fn upper_tail(t: f64, degrees: f64) -> f64 {
    let z = t * (1.0 - 1.0 / (4.0 * degrees)) / (1.0 + t * t / (2.0 * degrees)).sqrt();
    let k = 1.0 / (1.0 + 0.231_641_9 * z);
    let polynomial =
        k * (0.319_381_530 + k * (-0.356_563_782 + k * (1.781_477_937 + k * (-1.821_255_978 + k * 1.330_274_429))));
    ((-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_tail_is_that_of_the_tables() {
        assert!((upper_tail(1.96, 1e9) - 0.025).abs() < 1e-4);
        // 2.763 is the 0.995 quantile with 28 degrees of freedom.
        assert!((upper_tail(2.763, 28.0) - 0.005).abs() < 3e-4);
    }

    #[test]
    fn an_episode_that_has_the_slow_requests_is_no_chance_and_another_is() {
        let mut random = Random::new(3);
        let x: Vec<f64> = (0..60).map(|bin| f64::from(u8::from((20..35).contains(&bin)))).collect();
        let of_it: Vec<f64> = x.iter().map(|x| x * 8.0 + random.below(3) as f64).collect();
        assert!(slope_p_value(&x, &of_it).unwrap() < 0.001);
        let seldom = (0..200)
            .filter(|_| {
                let y: Vec<f64> = (0..60).map(|_| random.below(6) as f64).collect();
                slope_p_value(&x, &y).unwrap() < 0.01
            })
            .count();
        assert!(seldom <= 8, "{seldom} of 200");
    }
}
