//! The summary of a run.

use crate::driver::{Counts, Tally};
use crate::outcome::Outcome;
use crate::precision::{Confidence, Stretches};
use crate::progress::{ErrorCount, Lag, Percentiles};
use crate::schedule::Phase;
use crate::{DriverKind, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// Version of this format: it changes when a member is removed or redefined, and not when one is added.
    pub format: u32,
    pub workload: String,
    /// The driver that sent the requests.
    pub driver: DriverKind,
    pub phases: Vec<PhaseSummary>,
    /// Number of rows in the table `requests`: all that were sent, including those of unmeasured phases.
    pub requests: u64,
    pub errors: Vec<ErrorSummary>,
    pub lag: Lag,
    pub stalls: StallSummary,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
}

/// A phase. A request belongs to the phase of its intended start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PhaseSummary {
    pub name: String,
    pub measured: bool,
    /// Intended rates at the start and at the end of the phase, in open loop.
    pub rate_per_s: Option<f64>,
    pub end_rate_per_s: Option<f64>,
    /// The most requests in flight, in closed loop.
    pub in_flight: Option<u32>,
    /// Start and end, on the clock of the recording.
    pub start_ns: i64,
    pub end_ns: i64,
    pub requests: u64,
    pub ok: u64,
    pub failed: u64,
    pub errors: Vec<ErrorCount>,
    /// Reads that were answered without a row.
    pub empty: u64,
    /// Conditional writes that were answered successfully but not applied, because their condition did not hold.
    pub not_applied: u64,
    /// Successful requests that ended while the phase was on, per second.
    pub throughput_per_s: f64,
    /// Service times (from the actual start) and response times (from the intended start), of requests that were
    /// answered or timed out. Refused requests (unavailable, overloaded, connection, invalid…) are counted and not
    /// timed.
    pub service: Percentiles,
    pub response: Percentiles,
    /// Confidence intervals of these percentiles.
    pub service_confidence: Confidence,
    pub response_confidence: Confidence,
    /// User and system CPU time of the driver threads per request that ended while the phase was on, in µs.
    pub client_cpu_us_per_request: Option<f64>,
    /// Share of the phase in which the driver threads were on a CPU, from 0 to 1, over all of them. Near 1 the driver
    /// was the limit, and not the database.
    pub driver_busy: f64,
    pub lag: Lag,
    /// Requests that overlapped a stall of the driver, or that the driver started late: `stalled` in the recording.
    pub stalled: u64,
}

/// Requests with one outcome other than ok.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorSummary {
    pub outcome: Outcome,
    pub count: u64,
    /// Node and message of the first such request.
    pub first_node: String,
    pub first_message: String,
}

/// Stalls of the driver longer than the bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StallSummary {
    /// Stalls seen by the watcher thread.
    pub watcher: u64,
    pub watcher_total_ns: i64,
    pub watcher_longest_ns: i64,
    /// Kernel counters during those stalls: run-queue delay of the watcher thread, major page faults of the process,
    /// and steal time of the machine.
    pub run_queue_ns: i64,
    pub major_faults: i64,
    pub steal_ns: i64,
    /// Stalls seen in the schedule.
    pub schedule: u64,
    pub schedule_longest_ns: i64,
    /// Requests that overlapped a stall of either kind.
    pub requests: u64,
}

impl Summary {
    pub(crate) const FORMAT: u32 = 1;

    /// The JSON schema of the object.
    pub fn json_schema() -> schemars::Schema {
        schemars::schema_for!(Summary)
    }

    /// The summary of a run that was stopped before its first request.
    pub(crate) fn of_nothing(plan: &Plan) -> Summary {
        Summary {
            format: Summary::FORMAT,
            workload: plan.workload.name.clone(),
            driver: plan.driven_by(),
            phases: Vec::new(),
            requests: 0,
            errors: Vec::new(),
            lag: Lag::default(),
            stalls: StallSummary::default(),
            stopped: true,
        }
    }

    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

impl PhaseSummary {
    pub(crate) fn new(
        phase: &Phase,
        (start_ns, end_ns): (i64, i64),
        tally: &Tally,
        course: &Course,
        threads: usize,
    ) -> PhaseSummary {
        let seconds = (end_ns - start_ns) as f64 / 1e9;
        let thread_ns = (end_ns - start_ns) as f64 * threads as f64;
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
            service_confidence: course.service.confidence(&tally.service),
            response_confidence: course.response.confidence(&tally.response),
            client_cpu_us_per_request: (ended > 0).then(|| counts.cpu_ns as f64 / 1e3 / ended as f64),
            driver_busy: if thread_ns > 0.0 { (counts.cpu_ns as f64 / thread_ns).min(1.0) } else { 0.0 },
            lag: lag(counts),
            stalled: counts.stalled,
        }
    }
}

impl PhaseSummary {
    /// Divides the rate by the number of shards.
    pub(crate) fn of_shard(mut self, shards: usize) -> PhaseSummary {
        for rate in [&mut self.rate_per_s, &mut self.end_rate_per_s].into_iter().flatten() {
            *rate /= shards as f64;
        }
        self
    }
}

/// Collects the times of a phase, in order.
#[derive(Debug, Default)]
pub(crate) struct Course {
    service: Stretches,
    response: Stretches,
}

impl Course {
    /// Adds the tallies of the threads for the next piece of time.
    pub fn add(&mut self, pieces: &[&Tally]) {
        self.service.add(pieces.iter().map(|tally| &tally.service));
        self.response.add(pieces.iter().map(|tally| &tally.response));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `HELENUS_BLESS=1 cargo test` writes the file again.
    #[test]
    fn the_schema_in_the_docs_is_that_of_the_summary() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/load.schema.json");
        let schema = serde_json::to_string_pretty(&Summary::json_schema()).unwrap() + "\n";
        if std::env::var_os("HELENUS_BLESS").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), schema);
    }
}
