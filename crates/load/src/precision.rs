//! Confidence intervals of percentiles. Consecutive requests are correlated (they wait in the same queue, or for the
//! same pause), so a thousand of them say less than a thousand independent ones. The correlation is estimated from the
//! variation of the share of requests below the percentile between stretches of time.
//!
//! The phase is cut into 20 to 40 stretches of the same length. The variance of the share between stretches gives the
//! number of independent requests that would be as precise (the effective sample size). This number gives the interval
//! of ranks that contains the true percentile with 95 % confidence. The method requires stretches longer than the time
//! over which requests are correlated.
//!
//! Method: batch means for quantiles, as in Law, Simulation Modeling and Analysis, chapter 9.

use crate::driver::Times;
use schemars::JsonSchema;
use serde::Serialize;

/// The most stretches; beyond that, neighbours are merged in pairs.
const MOST: usize = 40;
/// Fewest stretches from which a variance is computed.
const FEWEST: usize = 10;
/// Histogram bins for each doubling of the time. The share below a time has an error of at most the content of one bin.
const PER_DOUBLING: u32 = 32;
const LOWEST_BITS: u32 = 6;
const BINS: usize = ((42 - LOWEST_BITS) * PER_DOUBLING) as usize;

/// The range of a phase's percentiles with 95 % confidence. None if there are too few requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Confidence {
    pub p50: Option<Bounds>,
    pub p95: Option<Bounds>,
    pub p99: Option<Bounds>,
    pub p999: Option<Bounds>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bounds {
    pub low_ns: u64,
    /// The upper bound; None if there are too few requests above the percentile.
    pub high_ns: Option<u64>,
    /// The number of independent requests that would be as precise.
    pub effective_requests: f64,
}

/// Histograms of the times by stretch, in order.
#[derive(Debug, Default)]
pub(crate) struct Stretches {
    whole: Vec<Stretch>,
    /// Pieces per stretch, and the pieces of the incomplete stretch.
    pieces: usize,
    begun: Stretch,
    begun_pieces: usize,
}

#[derive(Debug, Clone, Default)]
struct Stretch {
    bins: Vec<u32>,
    count: u64,
}

impl Stretches {
    /// Adds the histogram of the next piece of time. All pieces have the same length.
    pub fn add<'a>(&mut self, times: impl Iterator<Item = &'a Times>) {
        times.for_each(|times| self.begun.record(times));
        self.begun_pieces += 1;
        if self.begun_pieces >= self.pieces.max(1) {
            self.whole.push(std::mem::take(&mut self.begun));
            self.begun_pieces = 0;
        }
        if self.whole.len() >= MOST {
            self.whole = self.whole.chunks(2).map(Stretch::sum).collect();
            self.pieces = self.pieces.max(1) * 2;
        }
    }

    /// The bounds of all percentiles of the times that were added.
    pub fn confidence(&self, all: &Times) -> Confidence {
        let bounds = |quantile| self.bounds(all, quantile);
        Confidence { p50: bounds(0.5), p95: bounds(0.95), p99: bounds(0.99), p999: bounds(0.999) }
    }

    fn bounds(&self, all: &Times, quantile: f64) -> Option<Bounds> {
        // The last stretch may be shorter than the others; its weight is smaller accordingly.
        let stretches = self.whole.iter().chain(Some(&self.begun)).filter(|stretch| stretch.count > 0);
        let last = bin(all.quantile_ns(quantile)?);
        let shares: Vec<(f64, f64)> = stretches.map(|stretch| (stretch.count as f64, stretch.share(last))).collect();
        if shares.len() < FEWEST {
            return None;
        }
        let total: f64 = shares.iter().map(|(count, _)| count).sum();
        let share = shares.iter().map(|(count, share)| count * share).sum::<f64>() / total;
        let more = shares.len() as f64 / (shares.len() - 1) as f64;
        let variance = more * shares.iter().map(|(count, own)| (count / total * (own - share)).powi(2)).sum::<f64>();
        // Stretches that are more alike than by chance don't make requests count more than once.
        let spread = quantile * (1.0 - quantile);
        let effective_requests = if variance > 0.0 { (spread / variance).min(total) } else { total };
        let margin = student((shares.len() - 1) as f64) * (spread / effective_requests).sqrt();
        let (low, high) = (quantile - margin, quantile + margin);
        Some(Bounds {
            low_ns: all.quantile_ns(low.max(0.0))?,
            high_ns: if high < 1.0 { all.quantile_ns(high) } else { None },
            effective_requests,
        })
    }
}

impl Stretch {
    fn record(&mut self, times: &Times) {
        self.bins.resize(BINS, 0);
        for (ns, count) in times.recorded() {
            let bin = &mut self.bins[bin(ns)];
            *bin = bin.saturating_add(count);
            self.count += u64::from(count);
        }
    }

    fn sum(stretches: &[Stretch]) -> Stretch {
        let mut sum = Stretch { bins: vec![0; BINS], count: 0 };
        for stretch in stretches {
            sum.bins.iter_mut().zip(&stretch.bins).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
            sum.count += stretch.count;
        }
        sum
    }

    /// The share of the stretch's requests in the bins up to `last`.
    fn share(&self, last: usize) -> f64 {
        self.bins[..=last].iter().map(|count| u64::from(*count)).sum::<u64>() as f64 / self.count as f64
    }
}

fn bin(ns: u64) -> usize {
    let ns = ns.max(1 << LOWEST_BITS);
    let doubling = ns.ilog2();
    let within = (ns >> (doubling - PER_DOUBLING.ilog2())) as u32 - PER_DOUBLING;
    (((doubling - LOWEST_BITS) * PER_DOUBLING + within) as usize).min(BINS - 1)
}

/// The 97.5 % quantile of Student's t distribution; the error is below 0.01 from 9 degrees of freedom on.
fn student(degrees: f64) -> f64 {
    1.96 + 2.37 / degrees + 2.8 / (degrees * degrees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// A series of 200 pieces with the correlation `alike` between neighbours, and the bounds computed from it.
    fn series(seed: u64, alike: f64) -> (Confidence, Times) {
        let mut random = SmallRng::seed_from_u64(seed);
        let (mut stretches, mut all, mut state) = (Stretches::default(), Times::new(), 0.0f64);
        for _ in 0..200 {
            let mut piece = Times::new();
            for _ in 0..100 {
                // The sum of twelve uniform numbers is approximately normal.
                let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                state = alike * state + (1.0 - alike * alike).sqrt() * normal;
                piece.record((1e6 * (0.5 * state).exp()) as i64);
            }
            stretches.add(std::iter::once(&piece));
            all.add(&piece);
        }
        (stretches.confidence(&all), all)
    }

    fn within(bounds: Option<Bounds>, true_ns: f64) -> bool {
        let bounds = bounds.unwrap();
        (bounds.low_ns as f64) <= true_ns && bounds.high_ns.is_none_or(|high_ns| true_ns <= high_ns as f64)
    }

    #[test]
    fn the_true_percentile_is_within_its_bounds_as_often_as_said() {
        // e^(z/2) ms at the quantiles z of the normal distribution.
        let (median, p99) = (1e6, 1e6 * (0.5f64 * 2.3263).exp());
        for alike in [0.0, 0.9, 0.98] {
            let of_all: Vec<Confidence> = (0..200).map(|seed| series(seed, alike).0).collect();
            for (covered, what) in [
                (of_all.iter().filter(|confidence| within(confidence.p50, median)).count(), "p50"),
                (of_all.iter().filter(|confidence| within(confidence.p99, p99)).count(), "p99"),
            ] {
                assert!((178..=200).contains(&covered), "{alike} {what}: {covered} of 200");
            }
        }
    }

    #[test]
    fn requests_that_are_alike_count_less() {
        let effective = |alike| series(7, alike).0.p50.unwrap().effective_requests;
        let (independent, alike) = (effective(0.0), effective(0.98));
        assert!(independent > 5_000.0 && alike < independent / 5.0, "{independent} {alike}");
    }

    #[test]
    fn little_is_not_made_to_say_much() {
        let mut stretches = Stretches::default();
        let (mut all, mut piece) = (Times::new(), Times::new());
        piece.record(1_000_000);
        for _ in 0..9 {
            stretches.add(std::iter::once(&piece));
            all.add(&piece);
        }
        assert_eq!(stretches.confidence(&all), Confidence::default());
        assert_eq!(Stretches::default().confidence(&Times::new()), Confidence::default());
        stretches.add(std::iter::once(&piece));
        all.add(&piece);
        // Ten requests can't give a bound for a percentile above p90.
        let p999 = stretches.confidence(&all).p999.unwrap();
        assert_eq!(p999.high_ns, None);
    }

    #[test]
    fn bins_ascend_and_hold_an_hour() {
        let times = (0..63).flat_map(|bits| [1u64 << bits, (1u64 << bits) + (1u64 << bits) / 3]);
        let bins: Vec<usize> = times.map(bin).collect();
        assert!(bins.is_sorted());
        assert!(bin(3_600_000_000_000) < BINS - 1);
    }
}
