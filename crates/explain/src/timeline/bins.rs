//! Divides a span of time into bins of equal length.

use super::Interval;

/// Bins over a span. Their length is a round number, so that their edges are readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bins {
    pub(crate) start_ns: i64,
    pub(crate) length_ns: i64,
    pub(crate) count: usize,
}

impl Bins {
    /// At most `most` bins, none shorter than `shortest_ns`.
    pub(crate) fn over(span: Interval, most: i64, shortest_ns: i64) -> Bins {
        let mut decade_ns = shortest_ns.max(1);
        let length_ns = loop {
            let fits = |step: &i64| span.length().div_euclid(decade_ns.saturating_mul(*step)) < most;
            if let Some(step) = [1, 2, 5].iter().find(|step| fits(step)) {
                break decade_ns.saturating_mul(*step);
            }
            decade_ns = decade_ns.saturating_mul(10);
        };
        let count = span.length().div_euclid(length_ns) + 1;
        Bins { start_ns: span.start, length_ns, count: usize::try_from(count).unwrap_or(1) }
    }

    pub(crate) fn seconds_each(&self) -> f64 {
        self.length_ns as f64 / 1e9
    }

    /// A time in seconds since the start of the bins.
    pub(crate) fn second(&self, time_ns: i64) -> f64 {
        (time_ns - self.start_ns) as f64 / 1e9
    }

    /// The bin that holds a time; the first or last bin for a time outside of the span.
    pub(crate) fn of(&self, time_ns: i64) -> usize {
        let bin = (time_ns - self.start_ns).div_euclid(self.length_ns);
        usize::try_from(bin).unwrap_or(0).min(self.count - 1)
    }

    /// Start of a bin, in seconds.
    pub(crate) fn at(&self, bin: usize) -> f64 {
        bin as f64 * self.length_ns as f64 / 1e9
    }

    /// Start and end of a bin, in ns since the Unix epoch.
    pub(crate) fn window(&self, bin: usize) -> Interval {
        let start = self.start_ns + self.length_ns * i64::try_from(bin).unwrap_or(0);
        Interval::of_length(start, self.length_ns)
    }

    /// Start of each bin, in seconds.
    pub(crate) fn seconds(&self) -> Vec<f64> {
        (0..self.count).map(|bin| self.at(bin)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round_and_not_too_many() {
        let bins =
            |seconds: i64| Bins::over(Interval { start: 7, end: 7 + seconds * 1_000_000_000 }, 1800, 100_000_000);
        assert_eq!((bins(90).seconds_each(), bins(90).count), (0.1, 901));
        assert_eq!(bins(200).seconds_each(), 0.2);
        assert_eq!(bins(600).seconds_each(), 0.5);
        assert_eq!(bins(1000).seconds_each(), 1.0);
        assert_eq!(bins(86_400).seconds_each(), 50.0);
        for seconds in [0, 1, 179, 180, 181, 3599, 100_000] {
            assert!(bins(seconds).count <= 1800 && bins(seconds).count >= 1);
        }
        assert_eq!(bins(90).of(7), 0);
        assert_eq!(bins(90).of(7 + 90 * 1_000_000_000), 900);
        assert_eq!(bins(90).of(0), 0);
        assert_eq!(bins(90).of(i64::MAX / 2), 900);
    }
}
