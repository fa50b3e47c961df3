//! Counts and times of requests, passed from driver threads to the thread that shows them.

use crate::outcome::Outcome;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bounds of the recorded times: shorter times share the first bin, times above an hour the last one. The maximum is
/// kept exactly.
const LOWEST_NS: u64 = 100;
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// A histogram of times, with 3 significant digits.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    histogram: Histogram<u32>,
    max_ns: u64,
}

impl Times {
    pub fn new() -> Times {
        let histogram = Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 3);
        // Fails only for invalid bounds, and the bounds are constants.
        #[allow(clippy::expect_used)]
        let histogram = histogram.expect("the bounds are valid");
        Times { histogram, max_ns: 0 }
    }

    pub fn record(&mut self, ns: i64) {
        let ns = ns.max(0) as u64;
        self.histogram.saturating_record(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub fn add(&mut self, other: &Times) {
        // Fails only if the bounds of the two differ.
        let _ = self.histogram.add(&other.histogram);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns None if nothing was recorded.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.histogram.is_empty()).then(|| self.histogram.value_at_quantile(quantile).min(self.max_ns))
    }

    /// The distinct times, to 3 digits, each with its count.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u32)> {
        self.histogram.iter_recorded().map(|times| (times.value_iterated_to(), times.count_at_value()))
    }

    pub fn max_ns(&self) -> Option<u64> {
        (!self.histogram.is_empty()).then_some(self.max_ns)
    }
}

/// Numbers of requests of a phase, by how they ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Number by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Requests that started later than the bound, because too many were in flight or because the driver was late.
    pub late_in_flight: u64,
    pub late_driver: u64,
    /// Requests that should have started and were never sent.
    pub unsent: u64,
    /// Reads whose answer had no row.
    pub empty: u64,
    /// Conditional writes whose condition did not hold.
    pub not_applied: u64,
    /// Requests during which the driver was stalled, or that it started late.
    pub stalled: u64,
    /// Requests that ended while the phase was on, whichever phase they belong to; used for its throughput.
    pub ended_ok: u64,
    pub ended_failed: u64,
    /// CPU time of the driver threads while the phase was on.
    pub cpu_ns: i64,
}

/// Outcomes and times of the requests of a phase.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub counts: Counts,
    pub service: Times,
    pub response: Times,
}

impl Tally {
    pub fn new() -> Tally {
        Tally { counts: Counts::default(), service: Times::new(), response: Times::new() }
    }

    pub fn add(&mut self, other: &Tally) {
        self.counts.add(&other.counts);
        self.service.add(&other.service);
        self.response.add(&other.response);
    }
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(sum, count)| *sum += count);
        self.late_in_flight += other.late_in_flight;
        self.late_driver += other.late_driver;
        self.unsent += other.unsent;
        self.empty += other.empty;
        self.not_applied += other.not_applied;
        self.stalled += other.stalled;
        self.ended_ok += other.ended_ok;
        self.ended_failed += other.ended_failed;
        self.cpu_ns += other.cpu_ns;
    }

    pub fn requests(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    pub fn ok(&self) -> u64 {
        self.outcomes[Outcome::Ok as usize]
    }

    pub fn failed(&self) -> u64 {
        self.requests() - self.ok()
    }
}

/// The report of a driver thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadReport {
    /// Tallies by position of the phase.
    pub tallies: BTreeMap<usize, Vec<Tally>>,
    pub in_flight: u64,
    pub stalls: u64,
    pub longest_stall_ns: i64,
    /// CPU time of the thread since it started.
    pub cpu_ns: i64,
    /// Outcomes that occurred for the first time, with node and message.
    pub first_errors: Vec<(Outcome, String, String)>,
    /// Nodes whose connections were lost, and those that are connected again.
    pub lost: Vec<String>,
    pub back: Vec<String>,
}

/// Shared by a driver thread and the thread that shows the figures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mailbox {
    report: Arc<Mutex<ThreadReport>>,
}

impl Mailbox {
    pub fn open(&self) -> MutexGuard<'_, ThreadReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns and resets the counts since the last call; the current state is kept.
    pub fn take(&self) -> ThreadReport {
        let mut report = self.open();
        let (in_flight, cpu_ns) = (report.in_flight, report.cpu_ns);
        std::mem::replace(&mut *report, ThreadReport { in_flight, cpu_ns, ..ThreadReport::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_kept_to_three_digits_and_the_maximum_exactly() {
        let mut times = Times::new();
        assert_eq!((times.quantile_ns(0.5), times.max_ns()), (None, None));
        (1..=1000).for_each(|ms| times.record(ms * 1_000_000));
        times.record(i64::MAX);
        let median = times.quantile_ns(0.5).unwrap() as f64;
        assert!((median / 501e6 - 1.0).abs() < 2e-3, "{median}");
        assert_eq!(times.max_ns(), Some(i64::MAX as u64));
    }

    #[test]
    fn tallies_add_up() {
        let mut one = Tally::new();
        one.counts.outcomes[Outcome::Ok as usize] = 3;
        one.response.record(5_000);
        let mut sum = Tally::new();
        sum.add(&one);
        sum.add(&one);
        sum.counts.outcomes[Outcome::Timeout as usize] += 1;
        assert_eq!((sum.counts.requests(), sum.counts.ok(), sum.counts.failed()), (7, 6, 1));
        assert_eq!(sum.response.max_ns(), Some(5_000));
    }
}
