//! Means of Cassandra's estimated histograms: counts by bucket, where each bucket is a fifth wider than the one before.

/// Which values the first bucket counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Histogram {
    /// The first bucket counts only 0.
    WithZero,
    /// The first bucket counts 0 and 1; both are taken as 1.
    FromOne,
}

impl Histogram {
    /// The mean of the values counted between two readings, each taken as the upper bound of its bucket. It is exact
    /// for values up to 8, and at most a fifth too high above. None if nothing was counted.
    pub fn mean(self, before: &[i64], after: &[i64]) -> Option<f64> {
        let was = before.iter().copied().chain(std::iter::repeat(0));
        let grown = self.bounds().zip(after.iter().zip(was));
        let (mut count, mut sum) = (0, 0.0);
        for (bound, (now, was)) in grown {
            count += now - was;
            sum += bound as f64 * (now - was) as f64;
        }
        (count > 0).then(|| sum / count as f64)
    }

    /// The bounds of Cassandra's EstimatedHistogram.newOffsets.
    fn bounds(self) -> impl Iterator<Item = u64> {
        let grow = |last: &u64| Some((*last as f64 * 1.2).round() as u64).map(|next| next.max(last + 1));
        let zero = (self == Histogram::WithZero).then_some(0);
        zero.into_iter().chain(std::iter::successors(Some(1), grow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_cassandra() {
        let bounds: Vec<u64> = Histogram::FromOne.bounds().take(16).collect();
        assert_eq!(bounds, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35]);
        assert_eq!(Histogram::WithZero.bounds().take(3).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn what_was_there_before_counts_for_nothing() {
        let mean = Histogram::WithZero.mean(&[5, 5, 5], &[5, 6, 5, 3]);
        assert_eq!(mean, Some(2.5));
        assert_eq!(Histogram::FromOne.mean(&[5], &[5]), None);
        assert_eq!(Histogram::FromOne.mean(&[], &[4]), Some(1.0));
    }
}
