//! Finds the peak throughput of a closed loop, stretch by stretch.

use std::time::Duration;

/// The time is divided into this many stretches, unless they would be shorter than [`SHORTEST`].
const STRETCHES: u32 = 12;
const SHORTEST: Duration = Duration::from_secs(1);
/// A smaller relative gain does not count as a gain.
const MORE: f64 = 0.03;
/// After this many stretches without a gain the peak is found.
const WITHOUT_MORE: usize = 2;

/// The throughput of each stretch so far.
#[derive(Debug)]
pub(crate) struct Peak {
    pub stretch: Duration,
    at_most: usize,
    rates_per_s: Vec<f64>,
}

impl Peak {
    pub fn within(lasts: Duration) -> Peak {
        let stretch = (lasts / STRETCHES).max(SHORTEST).min(lasts);
        let at_most = lasts.as_nanos().checked_div(stretch.as_nanos()).unwrap_or_default();
        Peak { stretch, at_most: usize::try_from(at_most).unwrap_or_default().max(1), rates_per_s: Vec::new() }
    }

    pub fn push(&mut self, rate_per_s: f64) {
        self.rates_per_s.push(rate_per_s);
    }

    /// Whether the throughput has stopped growing, or the time is over.
    pub fn is_found(&self) -> bool {
        let (before, last) = self.rates_per_s.split_at(self.rates_per_s.len().saturating_sub(WITHOUT_MORE));
        let best = before.iter().copied().reduce(f64::max);
        let is_steady = best.is_some_and(|best| last.iter().all(|rate| *rate < best * (1.0 + MORE)));
        is_steady || self.rates_per_s.len() >= self.at_most
    }

    /// The median of the last stretches: the maximum of many noisy ones would be too high.
    pub fn per_s(&self) -> f64 {
        let from = self.rates_per_s.len().saturating_sub(WITHOUT_MORE + 1);
        let mut last = self.rates_per_s[from..].to_vec();
        last.sort_unstable_by(f64::total_cmp);
        last.get(last.len() / 2).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peak(lasts: Duration, rates_per_s: &[f64]) -> (usize, f64) {
        let mut peak = Peak::within(lasts);
        for (at, rate_per_s) in rates_per_s.iter().enumerate() {
            peak.push(*rate_per_s);
            if peak.is_found() {
                return (at + 1, peak.per_s());
            }
        }
        panic!("not found: {peak:?}");
    }

    #[test]
    fn it_is_found_where_nothing_more_comes() {
        let minute = Duration::from_secs(60);
        assert_eq!(peak(minute, &[10.0, 30.0, 50.0, 51.0, 49.0, 80.0]), (5, 50.0));
        let one_is_slow = [10.0, 30.0, 40.0, 39.0, 50.0, 45.0, 60.0, 61.0, 59.0, 0.0];
        assert_eq!(peak(minute, &one_is_slow), (9, 60.0));
        let rising: Vec<f64> = (1..20).map(|number| f64::from(number) * 10.0).collect();
        assert_eq!(peak(minute, &rising), (12, 110.0), "the time is over");
    }

    #[test]
    fn a_short_one_has_few_stretches() {
        assert_eq!(Peak::within(Duration::from_secs(60)).stretch, Duration::from_secs(5));
        assert_eq!(peak(Duration::from_secs(2), &[10.0, 30.0]), (2, 30.0));
        let half = Duration::from_millis(500);
        assert_eq!(Peak::within(half).stretch, half);
        assert_eq!(peak(half, &[10.0]), (1, 10.0));
    }
}
