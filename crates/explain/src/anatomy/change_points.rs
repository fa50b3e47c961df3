//! Change points of rate and latency: the best division of their series into segments of equal mean.
//!
//! PELT (Killick, Fearnhead and Eckley, Optimal detection of changepoints with a linear computational cost, 2012) on
//! the logarithms, with the cost of a normal distribution. Its variance is estimated from the differences of
//! neighbours, so that a change does not count as noise.

use crate::association::Judged;
use crate::percentiles::quantile_of_sorted;
use crate::requests::Request;
use crate::timeline::Interval;
use serde::Serialize;

/// The most bins of a series. A bin is at least a second long.
const MOST_BINS: i64 = 600;
const BIN_NS: i64 = 1_000_000_000;
/// The fewest bins between two changes.
const SHORTEST: usize = 3;
/// The penalty of a further change, in multiples of ln n: a change has to gain more than this. It is more than the
/// usual 2, because latencies have heavy tails and are autocorrelated.
const PENALTY: f64 = 6.0;
/// The smallest ratio of two levels that is reported as a change.
const LATENCY_TIMES: f64 = 2.0;
const RATE_TIMES: f64 = 1.5;
/// Bins with fewer requests are ignored, because their percentile is noise.
const FEWEST_IN_BIN: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Figure {
    /// The p99, in ms, of the requests due in a bin.
    P99,
    /// Requests per second.
    Rate,
}

/// A time at which a figure changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) time_ns: i64,
    pub(crate) figure: Figure,
    /// Geometric means of the figure before and after the change.
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Change {
    fn times(&self) -> f64 {
        (self.after / self.before).max(self.before / self.after)
    }

    pub(crate) fn is_rise(&self) -> bool {
        self.after > self.before
    }
}

/// The changes within the judged stretches, the largest first.
pub(crate) fn changes(judged: &Judged) -> Vec<Change> {
    let mut changes: Vec<Change> =
        judged.stretches.iter().flat_map(|stretch| of_stretch(judged, stretch.window)).collect();
    changes.sort_by(|a, b| b.times().total_cmp(&a.times()));
    changes
}

fn of_stretch(judged: &Judged, window: Interval) -> Vec<Change> {
    let bin_ns = BIN_NS.max(window.length() / MOST_BINS);
    let requests = judged.all();
    let (mut starts, mut p99, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut start = window.start;
    // The last bin counts only if it is complete.
    while start + bin_ns <= window.end {
        let due = requests.due_in(Interval { start, end: start + bin_ns });
        let mut responses: Vec<i64> =
            due.iter().filter(|request| requests.is_timed(request)).map(Request::response_ns).collect();
        if responses.len() < FEWEST_IN_BIN {
            return Vec::new();
        }
        responses.sort_unstable();
        starts.push(start);
        p99.push(quantile_of_sorted(&responses, 0.99).unwrap_or_default().max(1) as f64 / 1e6);
        rates.push(due.len() as f64 * 1e9 / bin_ns as f64);
        start += bin_ns;
    }
    let found = |figure, values: &[f64], least: f64| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let bounds = divide(&logs);
        let mean = |from: usize, to: usize| (logs[from..to].iter().sum::<f64>() / (to - from) as f64).exp();
        let change = |three: &[usize]| Change {
            time_ns: starts[three[1]],
            figure,
            before: mean(three[0], three[1]),
            after: mean(three[1], three[2]),
        };
        bounds.windows(3).map(change).filter(|change| change.times() >= least).collect::<Vec<_>>()
    };
    let mut changes = found(Figure::P99, &p99, LATENCY_TIMES);
    changes.extend(found(Figure::Rate, &rates, RATE_TIMES));
    changes
}

/// The bounds of the segments, as indices from 0 to the number of values.
fn divide(values: &[f64]) -> Vec<usize> {
    let count = values.len();
    if count < 2 * SHORTEST {
        return vec![0, count];
    }
    let variance = variance(values);
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (squares - sum * sum / (to - from) as f64) / variance
    };
    let penalty = PENALTY * (count as f64).ln();
    let mut best = vec![f64::INFINITY; count + 1];
    let mut from = vec![0; count + 1];
    best[0] = -penalty;
    let mut candidates = vec![0];
    for to in SHORTEST..=count {
        for start in candidates.iter().copied().filter(|start| to - start >= SHORTEST) {
            let all = best[start] + cost(start, to) + penalty;
            if all < best[to] {
                (best[to], from[to]) = (all, start);
            }
        }
        // Pruning: drop the starts that can't belong to the best division any more.
        candidates.retain(|start| to - start < SHORTEST || best[*start] + cost(*start, to) <= best[to]);
        candidates.push(to);
    }
    let mut bounds = vec![count];
    while let Some(to) = bounds.last().copied().filter(|to| *to > 0) {
        bounds.push(from[to]);
    }
    bounds.reverse();
    bounds
}

/// The variance of the noise, by the median absolute difference of neighbours.
fn variance(values: &[f64]) -> f64 {
    let mut differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    differences.sort_by(f64::total_cmp);
    let median = differences.get(differences.len() / 2).copied().unwrap_or_default();
    (1.4826 * median / std::f64::consts::SQRT_2).max(0.05).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noise(random: &mut Random) -> f64 {
        (random.below(1000) as f64 - 500.0) / 1000.0
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut random = Random::new(5);
        let values: Vec<f64> = (0..60).map(|at| if at < 23 { 1.0 } else { 3.0 } + noise(&mut random)).collect();
        assert_eq!(divide(&values), [0, 23, 60]);
    }

    #[test]
    fn noise_alone_is_no_change() {
        let mut random = Random::new(7);
        let changed =
            (0..100).filter(|_| divide(&(0..60).map(|_| noise(&mut random)).collect::<Vec<_>>()).len() > 2).count();
        assert!(changed <= 3, "{changed} of 100");
    }

    #[test]
    fn few_values_are_one_stretch() {
        assert_eq!(divide(&[1.0, 9.0, 1.0]), [0, 3]);
        assert_eq!(divide(&[]), [0, 0]);
    }
}
