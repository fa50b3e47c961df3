//! Figures of an interval or a run, computed as cassandra-stress does.

use super::draft::Effect;
use crate::OperationTimes;
use hdrhistogram::Histogram;

/// Figures of one operation, or of all together.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub requests: u64,
    pub partitions: u64,
    pub rows: u64,
    pub errors: u64,
    /// Response times in ns; service times without a schedule.
    pub latency: Histogram<u64>,
    pub seconds: f64,
}

impl Figures {
    pub fn of(times: &OperationTimes, effect: Effect, empty_reads_fail: bool, seconds: f64) -> Figures {
        let must_find = effect == Effect::Reads { must_find: true };
        let empty = if must_find && empty_reads_fail { times.empty } else { 0 };
        let (partitions, rows) = match effect {
            Effect::Writes => (times.partitions, times.written),
            Effect::Scans => (times.partitions, times.rows),
            // A query counts as reading one partition, if the partition exists.
            Effect::Reads { .. } => (times.requests - times.failed - times.empty, times.rows),
        };
        Figures {
            requests: times.requests,
            partitions,
            rows,
            errors: times.failed + empty,
            latency: times.latency().clone(),
            seconds,
        }
    }

    /// The sum over all operations; None without operations.
    pub fn sum(all: &[Figures]) -> Option<Figures> {
        let (first, rest) = all.split_first()?;
        let mut sum = first.clone();
        for figures in rest {
            sum.requests += figures.requests;
            sum.partitions += figures.partitions;
            sum.rows += figures.rows;
            sum.errors += figures.errors;
            // Can't fail, because the histogram resizes itself.
            let _ = sum.latency.add(&figures.latency);
        }
        Some(sum)
    }

    pub fn per_s(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }

    pub fn mean_ms(&self) -> f64 {
        self.latency.mean() / 1e6
    }

    pub fn percentile_ms(&self, percentile: f64) -> f64 {
        self.latency.value_at_percentile(percentile) as f64 / 1e6
    }

    pub fn max_ms(&self) -> f64 {
        self.latency.max() as f64 / 1e6
    }
}

/// The standard error of the mean so far, relative to the mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Uncertainty {
    pub measurements: u64,
    sum: f64,
    squares: f64,
}

impl Uncertainty {
    pub fn add(&mut self, measured: f64) {
        self.measurements += 1;
        self.sum += measured;
        self.squares += measured * measured;
    }

    /// √(variance / n) / mean, with the variance of the measurements themselves (over n, not n − 1).
    pub fn share(&self) -> f64 {
        let count = self.measurements as f64;
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0);
        (variance / count).sqrt() / mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncertainty_is_the_standard_error_of_the_mean() {
        let mut uncertainty = Uncertainty::default();
        [90.0, 110.0, 90.0, 110.0].into_iter().for_each(|rate| uncertainty.add(rate));
        assert!((uncertainty.share() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn reads_that_find_nothing_are_errors_unless_told_otherwise() {
        let mut times = OperationTimes::new();
        (times.requests, times.failed, times.empty, times.rows) = (10, 1, 2, 7);
        let effect = Effect::Reads { must_find: true };
        let strict = Figures::of(&times, effect, true, 2.0);
        assert_eq!((strict.errors, strict.partitions, strict.rows), (3, 7, 7));
        assert_eq!(Figures::of(&times, effect, false, 2.0).errors, 1);
        (times.partitions, times.written) = (18, 54);
        let batch = Figures::of(&times, Effect::Writes, true, 2.0);
        assert_eq!((batch.partitions, batch.rows, batch.per_s(batch.requests)), (18, 54, 5.0));
    }
}
