//! What a run amounts to.

use crate::DriverKind;
use crate::driver::{Counts, Tally};
use crate::outcome::Outcome;
use crate::progress::{ErrorCount, Lag, Percentiles};
use crate::schedule::Phase;
use serde::Serialize;

/// The result of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub workload: String,
    /// What carried the requests.
    pub driver: DriverKind,
    pub phases: Vec<PhaseSummary>,
    /// Rows of the table `requests`: all that were sent, those of phases that aren't measured included.
    pub requests: u64,
    pub errors: Vec<ErrorSummary>,
    pub lag: Lag,
    pub stalls: StallSummary,
    /// True when it was told to stop before its end.
    pub stopped: bool,
}

/// One phase. A request belongs to the phase that its intended start lies in.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseSummary {
    pub name: String,
    pub measured: bool,
    /// Intended rates at its start and at its end, in open loop.
    pub rate_per_s: Option<f64>,
    pub end_rate_per_s: Option<f64>,
    /// Requests in flight at most, in closed loop.
    pub in_flight: Option<u32>,
    /// On the clock of the recording.
    pub start_ns: i64,
    pub end_ns: i64,
    pub requests: u64,
    pub ok: u64,
    pub failed: u64,
    pub errors: Vec<ErrorCount>,
    /// Reads that were answered without a row.
    pub empty: u64,
    /// Conditional writes that were answered well and not applied, because their condition did not hold.
    pub not_applied: u64,
    /// Requests that ended well while the phase was on, per second.
    pub throughput_per_s: f64,
    /// From the actual start, and from the intended start. Of requests that were answered or waited for in vain;
    /// refusals (unavailable, overloaded, connection, invalid…) are counted and not timed.
    pub service: Percentiles,
    pub response: Percentiles,
    /// User and system CPU time of the driver threads per request that ended while the phase was on, in µs.
    pub client_cpu_us_per_request: Option<f64>,
    pub lag: Lag,
}

/// Requests that ended in one way other than well.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorSummary {
    pub outcome: Outcome,
    pub count: u64,
    /// What was said the first time, and by or about which node.
    pub first_node: String,
    pub first_message: String,
}

/// Pauses of the driver longer than the bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StallSummary {
    /// Seen by the thread that watches.
    pub watcher: u64,
    pub watcher_total_ns: i64,
    pub watcher_longest_ns: i64,
    /// Seen in the schedule.
    pub schedule: u64,
    pub schedule_longest_ns: i64,
}

impl Summary {
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

impl PhaseSummary {
    pub(crate) fn new(phase: &Phase, (start_ns, end_ns): (i64, i64), tally: &Tally) -> PhaseSummary {
        let seconds = (end_ns - start_ns) as f64 / 1e9;
        let counts = &tally.counts;
        let ended = counts.ended_ok + counts.ended_failed;
        let (rate, end_rate) = phase.rates_per_s().unzip();
        PhaseSummary {
            name: phase.name.clone(),
            measured: phase.measured,
            rate_per_s: rate,
            end_rate_per_s: end_rate,
            in_flight: phase.in_flight_at_most(),
            start_ns,
            end_ns,
            requests: counts.requests(),
            ok: counts.ok(),
            failed: counts.failed(),
            errors: errors(counts),
            empty: counts.empty,
            not_applied: counts.not_applied,
            throughput_per_s: if seconds > 0.0 { counts.ended_ok as f64 / seconds } else { 0.0 },
            service: Percentiles::of(&tally.service),
            response: Percentiles::of(&tally.response),
            client_cpu_us_per_request: (ended > 0).then(|| counts.cpu_ns as f64 / 1e3 / ended as f64),
            lag: lag(counts),
        }
    }
}

/// Outcomes other than ok that occurred.
pub(crate) fn errors(counts: &Counts) -> Vec<ErrorCount> {
    Outcome::ALL
        .into_iter()
        .zip(counts.outcomes)
        .filter(|(outcome, count)| *outcome != Outcome::Ok && *count > 0)
        .map(|(outcome, count)| ErrorCount { outcome, count })
        .collect()
}

pub(crate) fn lag(counts: &Counts) -> Lag {
    Lag { late_in_flight: counts.late_in_flight, late_driver: counts.late_driver, unsent: counts.unsent }
}
