//! Progress reports of a run.

use crate::driver::Times;
use crate::outcome::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The progress of a run at one time, reported some times a second.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Progress {
    /// Time since the first segment was started; 0 while connecting.
    pub elapsed: Duration,
    /// The current phase; None while connecting.
    pub phase: Option<PhaseProgress>,
    /// The current rate of an open loop's schedule, in requests/s.
    pub target_per_s: Option<f64>,
    /// Successful and failed requests per second since the last progress.
    pub ok_per_s: f64,
    pub failed_per_s: f64,
    pub in_flight: u64,
    /// Response times since the last progress.
    pub response: Percentiles,
    pub service: Percentiles,
    /// Totals since the start.
    pub ok: u64,
    pub failed: u64,
    pub errors: Vec<ErrorCount>,
    /// Started late by more than the bound, or never sent.
    pub lag: Lag,
    /// Pauses of the driver longer than the bound.
    pub stalls: u64,
    /// The requests of the current phase since the last progress.
    #[serde(skip)]
    pub recent: Recent,
    /// Events since the last progress.
    pub events: Vec<Event>,
}

/// Requests of a phase in a part of its time. Those of successive parts add up.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    pub(crate) lasts: Duration,
    pub(crate) ok: u64,
    /// Requests of an open loop's schedule that were due.
    pub(crate) due: Option<f64>,
    /// None if no request has ended.
    pub(crate) response: Option<Times>,
}

impl Recent {
    /// Adds the requests of a later part.
    pub fn add(&mut self, later: &Recent) {
        self.lasts += later.lasts;
        self.ok += later.ok;
        if let Some(due) = later.due {
            *self.due.get_or_insert(0.0) += due;
        }
        match (&mut self.response, &later.response) {
            (Some(times), Some(more)) => times.add(more),
            (times @ None, more) => times.clone_from(more),
            (Some(_), None) => {}
        }
    }

    /// Successful requests per second.
    pub fn ok_per_s(&self) -> f64 {
        self.ok as f64 / self.seconds()
    }

    /// The mean rate of an open loop's schedule, in requests/s.
    pub fn target_per_s(&self) -> Option<f64> {
        self.due.map(|due| due / self.seconds())
    }

    /// Percentiles of the response times.
    pub fn response(&self) -> Percentiles {
        self.response.as_ref().map(Percentiles::of).unwrap_or_default()
    }

    fn seconds(&self) -> f64 {
        self.lasts.as_secs_f64().max(1e-9)
    }
}

/// The progress of the phase.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseProgress {
    /// Number of the phase, from 1.
    pub number: usize,
    pub of: usize,
    pub name: String,
    pub measured: bool,
    pub elapsed: Duration,
    /// Its duration, if known.
    pub lasts: Option<Duration>,
    /// How many requests the phase has, if that is known, and how many of them have ended.
    pub count: Option<u64>,
    pub ended: u64,
}

/// An event that is printed as a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Some of the given nodes are unreachable; the load runs without them.
    Unreachable { reasons: Vec<String> },
    /// The workload's rows are written first, with this many requests, so many at a time and as fast as the nodes take
    /// them. `empty` is the table that is read and was found empty, if that is the reason; `then` is the first phase after
    /// it.
    Populates { empty: Option<String>, requests: u64, in_flight: u32, then: Option<String> },
    /// The workload's rows are written.
    Populated { requests: u64, failed: u64, after: Duration },
    /// Nothing of a phase was sent within its time, and no later one asks for less: the load ends without these.
    LeftOut { phase: String, later: usize },
    /// Connected, and the operations are prepared.
    Connected { nodes: Vec<String> },
    /// All connections to a node are lost; the driver retries with growing backoff.
    Lost { node: String },
    /// A lost node is connected again.
    Back { node: String, after: Duration },
    /// The first request with this outcome.
    FirstError { outcome: Outcome, node: String, message: String },
    /// The run was told to stop.
    Stopping,
}

/// Percentiles in ns; None if there was no request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Percentiles {
    pub p50_ns: Option<u64>,
    pub p95_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub max_ns: Option<u64>,
}

/// Number of requests that ended with one outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorCount {
    pub outcome: Outcome,
    pub count: u64,
}

/// Deviations of the driver from its own schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lag {
    /// Requests delayed by the limit of requests in flight; the wait is in their response time.
    pub late_in_flight: u64,
    /// Requests that started late because the driver did not run or was not fast enough; the wait is in their response
    /// time.
    pub late_driver: u64,
    /// Requests that were never sent, and so are in no percentile.
    pub unsent: u64,
}

impl Lag {
    pub fn total(&self) -> u64 {
        self.late_in_flight + self.late_driver + self.unsent
    }

    /// A sentence on the driver's losses; empty if there are none.
    pub fn reason(&self, max_in_flight: u32) -> String {
        let parts = [
            (self.unsent, "never sent: the schedule was over before their turn".to_string()),
            (self.late_in_flight, format!("started late for lack of room among {max_in_flight} in flight")),
            (self.late_driver, "started late because the driver was behind".to_string()),
        ];
        let reasons = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, why)| why);
        reasons.collect::<Vec<_>>().join("; ")
    }
}

impl Percentiles {
    pub(crate) fn of(times: &Times) -> Percentiles {
        Percentiles {
            p50_ns: times.quantile_ns(0.5),
            p95_ns: times.quantile_ns(0.95),
            p99_ns: times.quantile_ns(0.99),
            p999_ns: times.quantile_ns(0.999),
            max_ns: times.max_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_parts_add_up() {
        let part = |ok, due, ms: i64| {
            let mut times = Times::new();
            times.record(ms * 1_000_000);
            Recent { lasts: Duration::from_millis(500), ok, due, response: Some(times) }
        };
        let mut sum = Recent::default();
        assert_eq!((sum.ok_per_s(), sum.target_per_s(), sum.response()), (0.0, None, Percentiles::default()));
        for one in [part(10, Some(20.0), 900), Recent::default(), part(30, Some(30.0), 1)] {
            sum.add(&one);
        }
        assert_eq!((sum.ok_per_s(), sum.target_per_s()), (40.0, Some(50.0)));
        assert_eq!(sum.response().max_ns, Some(900_000_000), "of the first part");
        assert!(sum.response().p50_ns.unwrap() < 2_000_000, "of the last part");
    }

    #[test]
    fn lag_says_why() {
        assert_eq!(Lag::default().reason(10), "");
        let lag = Lag { late_in_flight: 2, late_driver: 0, unsent: 1 };
        let reasons =
            "never sent: the schedule was over before their turn; started late for lack of room among 10 in flight";
        assert_eq!(lag.reason(10), reasons);
    }
}
