//! Histogram of times with eight bins for each power of two, so that a bin's upper bound is at most an eighth above its
//! lower.

use crate::percentiles::ms;

/// Base-2 logarithm of the number of bins per power of two.
const SUB_BITS: u32 = 3;
const SUB: i64 = 1 << SUB_BITS;
/// Shorter times share the first bin: 1.024 µs.
const LOWEST_POWER: u32 = 10;
/// Longer times share the last bin, which ends at 2^38 ns: 275 s.
const HIGHEST_POWER: u32 = 38;
const LAST: u16 = ((HIGHEST_POWER - LOWEST_POWER) << SUB_BITS) as u16 - 1;

/// Counts by bin. Histograms add up; percentiles are computed from sums, never from other percentiles. Counts are
/// weighted, because a recorded request may represent several.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram {
    first: u16,
    counts: Vec<f32>,
}

/// The bin of a time.
pub(super) fn bin_of(ns: i64) -> u16 {
    let power = i64::BITS - 1 - ns.max(1).leading_zeros();
    if power < LOWEST_POWER {
        return 0;
    }
    let within = (ns >> (power - SUB_BITS)) - SUB;
    let bin = (i64::from(power - LOWEST_POWER) << SUB_BITS) + within;
    u16::try_from(bin).unwrap_or(LAST).min(LAST)
}

/// Lower bound of a bin. The first bin also holds all shorter times.
pub(super) fn low_ns(bin: u16) -> i64 {
    let power = LOWEST_POWER + u32::from(bin >> SUB_BITS);
    (SUB + i64::from(bin) % SUB) << (power - SUB_BITS)
}

impl Histogram {
    pub(super) fn add(&mut self, ns: i64, weight: f32) {
        self.add_to(bin_of(ns), weight);
    }

    fn add_to(&mut self, bin: u16, weight: f32) {
        if self.counts.is_empty() {
            self.first = bin;
        } else if bin < self.first {
            let more = usize::from(self.first - bin);
            self.counts.splice(0..0, std::iter::repeat_n(0.0, more));
            self.first = bin;
        }
        let place = usize::from(bin - self.first);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0.0);
        }
        self.counts[place] += weight;
    }

    /// Non-empty bins in ascending order, with their counts.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u16, f64)> {
        let counted = self.counts.iter().zip(self.first..);
        counted.filter(|(count, _)| **count > 0.0).map(|(count, bin)| (bin, f64::from(*count)))
    }
}

/// Sums over several histograms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sum {
    counts: Vec<f64>,
    count: f64,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum { counts: vec![0.0; usize::from(LAST) + 1], count: 0.0 }
    }
}

impl Sum {
    pub(super) fn add(&mut self, histogram: &Histogram) {
        for (bin, count) in histogram.bins() {
            self.counts[usize::from(bin)] += count;
            self.count += count;
        }
    }

    /// A percentile in ms, interpolated within its bin. It is at most the longest time that was measured; None if
    /// nothing was counted.
    pub(super) fn quantile_ms(&self, quantile: f64, longest_ns: i64) -> Option<f64> {
        if self.count <= 0.0 {
            return None;
        }
        let rank = quantile * self.count;
        let mut below = 0.0;
        for (bin, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            if below + count >= rank {
                let bin = u16::try_from(bin).unwrap_or(LAST);
                let (low, high) = (low_ns(bin) as f64, low_ns(bin + 1) as f64);
                let within = ((rank - below) / count).clamp(0.0, 1.0);
                return Some((low + within * (high - low)).min(longest_ns as f64) / 1e6);
            }
            below += count;
        }
        Some(ms(longest_ns))
    }

    /// Non-empty bins in ascending order, with their counts.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u16, f64)> {
        let counted = self.counts.iter().zip(0u16..);
        counted.filter(|(count, _)| **count > 0.0).map(|(count, bin)| (bin, *count))
    }

    /// Lowest and highest non-empty bin.
    pub(super) fn range(&self) -> Option<(u16, u16)> {
        let holds = |count: &f64| *count > 0.0;
        let (first, last) = (self.counts.iter().position(holds)?, self.counts.iter().rposition(holds)?);
        Some((u16::try_from(first).ok()?, u16::try_from(last).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_percentile_is_of_the_sum() {
        let (mut fast, mut slow) = (Histogram::default(), Histogram::default());
        (0..990).for_each(|_| fast.add(1_000_000, 1.0));
        (0..10).for_each(|_| slow.add(100_000_000, 1.0));
        let mut sum = Sum::default();
        sum.add(&fast);
        sum.add(&slow);
        let p50 = sum.quantile_ms(0.5, 100_000_000).unwrap();
        let p999 = sum.quantile_ms(0.999, 100_000_000).unwrap();
        assert!((0.9..1.2).contains(&p50), "{p50}");
        assert!((90.0..=100.0).contains(&p999), "{p999}");
        assert_eq!(Sum::default().quantile_ms(0.5, 0), None);
    }

    proptest! {
        #[test]
        fn a_time_lies_in_its_bin(ns in 1024i64..200_000_000_000) {
            let bin = bin_of(ns);
            prop_assert!(low_ns(bin) <= ns && ns < low_ns(bin + 1));
            prop_assert!(low_ns(bin + 1) * 8 <= low_ns(bin) * 9);
        }

        #[test]
        fn counts_are_kept(times in prop::collection::vec(0i64..i64::MAX, 0..50)) {
            let mut histogram = Histogram::default();
            times.iter().for_each(|ns| histogram.add(*ns, 2.0));
            let count: f64 = histogram.bins().map(|(_, count)| count).sum();
            prop_assert_eq!(count, 2.0 * times.len() as f64);
        }
    }
}
