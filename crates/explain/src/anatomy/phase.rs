//! Phases of the load, each with its intended and achieved rate and its times.

use crate::engine::Engine;
use crate::percentiles::Percentiles;
use crate::requests::{Request, Requests};
use crate::timeline::Interval;
use crate::{Error, query};
use serde::Serialize;

/// A phase kept up if it achieved this share of the intended rate.
const KEPT_UP_SHARE: f64 = 0.95;
/// Requests that may wait at the end of a phase that the system kept up with, as seconds of the intended rate.
const KEPT_UP_BACKLOG_S: f64 = 0.1;

/// A phase of the load. Requests belong to the phase in which they were due; throughput counts an answer in the phase
/// in which it came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    pub name: String,
    /// Whether the load marked this phase; false for the one phase of a recording without marks.
    pub marked: bool,
    pub start_ns: i64,
    pub end_ns: i64,
    /// Intended rate at the start of the phase, in requests per second; None in a closed loop.
    pub rate_per_s: Option<f64>,
    /// Intended rate at the end of a ramp, in requests per second.
    pub end_rate_per_s: Option<f64>,
    /// Requests in flight, for a closed loop.
    pub in_flight: Option<i64>,
    pub measured: bool,
    pub requests: usize,
    pub errors: usize,
    /// Successful requests that ended within the phase, per second.
    pub throughput_per_s: f64,
    /// Latencies from the actual start (service time), of answered and timed-out requests.
    pub service_ms: Percentiles,
    /// Latencies from the intended start (response time), of answered and timed-out requests.
    pub response_ms: Percentiles,
    /// Work that waited at the end, in seconds at the intended rate: requests that were due and not answered. It is the
    /// minimum over the last fifth of the phase, so that a pause near the end does not count as a backlog. None unless
    /// the rate is constant.
    pub backlog_s: Option<f64>,
    /// Whether the phase achieved 95 % of its rate and left no more than 0.1 s of work; None unless the rate is
    /// constant.
    pub kept_up: Option<bool>,
    /// The phase did not keep up, and neither did any higher step. It is judged apart, because queueing makes
    /// everything slow.
    pub overloaded: bool,
}

impl Phase {
    pub(crate) fn window(&self) -> Interval {
        Interval { start: self.start_ns, end: self.end_ns }
    }

    /// The phases of a recording, by start. A load without marks is one phase that is measured.
    pub(crate) fn load(engine: &Engine, requests: &Requests) -> Result<Vec<Phase>, Error> {
        let rows = engine.sql(&query::MARKS.fill(&[]))?;
        let (start, end) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
        let (rate, end_rate) = (rows.numbers_or_null("rate_per_s")?, rows.numbers_or_null("end_rate_per_s")?);
        let (in_flight, measured) = (rows.integers_or_null("in_flight")?, rows.booleans("measured")?);
        let mut phases: Vec<Phase> = Vec::new();
        for (row, name) in rows.texts("name")?.into_iter().enumerate() {
            let window = Interval { start: start[row], end: end[row] };
            if window.length() > 0 {
                let mut phase = Phase::named(name, window, measured[row]);
                phase.rate_per_s = rate[row].filter(|rate| *rate > 0.0);
                phase.end_rate_per_s = end_rate[row];
                phase.in_flight = in_flight[row];
                match phases.last_mut().filter(|last| phase.continues(last)) {
                    Some(last) => last.end_ns = phase.end_ns,
                    None => phases.push(phase),
                }
            }
        }
        if phases.is_empty() {
            let whole = |span| Phase { marked: false, ..Phase::named("the whole recording".into(), span, true) };
            phases.extend(requests.span().map(whole));
        }
        let mut answered = vec![0usize; phases.len()];
        for request in requests.rows.iter().filter(|request| requests.is_ok(request)) {
            for (phase, answered) in phases.iter().zip(&mut answered) {
                *answered += usize::from(phase.window().contains(request.end_ns));
            }
        }
        for (phase, answered) in phases.iter_mut().zip(answered) {
            phase.count(requests, answered);
        }
        Ok(phases)
    }

    pub(crate) fn named(name: String, window: Interval, measured: bool) -> Phase {
        Phase {
            name,
            marked: true,
            start_ns: window.start,
            end_ns: window.end,
            rate_per_s: None,
            end_rate_per_s: None,
            in_flight: None,
            measured,
            requests: 0,
            errors: 0,
            throughput_per_s: 0.0,
            service_ms: Percentiles::default(),
            response_ms: Percentiles::default(),
            backlog_s: None,
            kept_up: None,
            overloaded: false,
        }
    }

    /// Whether this phase continues the warm-up or calibration before it: it is not measured, and has the same load.
    fn continues(&self, last: &Phase) -> bool {
        let load = |phase: &Phase| (phase.rate_per_s, phase.end_rate_per_s, phase.in_flight);
        !self.measured && !last.measured && self.name == last.name && load(self) == load(last)
    }

    /// Length of the phase in seconds.
    pub(crate) fn length_s(&self) -> f64 {
        self.window().length() as f64 / 1e9
    }

    /// The rate of an open-loop phase whose rate is constant.
    pub(crate) fn constant_rate_per_s(&self) -> Option<f64> {
        self.rate_per_s.filter(|rate| self.end_rate_per_s.is_none_or(|end| (end - rate).abs() < 1e-9))
    }

    fn count(&mut self, requests: &Requests, answered: usize) {
        let due = requests.due_in(self.window());
        let timed = || due.iter().filter(|request| requests.is_timed(request));
        self.requests = due.len();
        self.errors = due.iter().filter(|request| !requests.is_ok(request)).count();
        self.throughput_per_s = answered as f64 / self.length_s();
        self.service_ms = Percentiles::of(&mut timed().map(Request::service_ns).collect::<Vec<_>>());
        self.response_ms = Percentiles::of(&mut timed().map(Request::response_ns).collect::<Vec<_>>());
        if let Some(rate) = self.constant_rate_per_s() {
            let backlog_s = least_backlog(due, self.window()) as f64 / rate;
            self.backlog_s = Some(backlog_s);
            self.kept_up = Some(self.throughput_per_s >= KEPT_UP_SHARE * rate && backlog_s <= KEPT_UP_BACKLOG_S);
        }
    }

    /// Whether requests were waiting at the end of the phase, whatever share of the rate was achieved.
    pub(crate) fn left_backlog(&self) -> bool {
        self.backlog_s.is_some_and(|backlog| backlog > KEPT_UP_BACKLOG_S)
    }
}

/// Number of requests due and not answered: the minimum over 20 instants in the last fifth of the window.
fn least_backlog(due: &[Request], window: Interval) -> usize {
    (1..=20)
        .map(|point| window.end - window.length() / 100 * point)
        .map(|instant| {
            let arrived = due.partition_point(|request| request.intended_ns <= instant);
            due[..arrived].iter().filter(|request| request.end_ns > instant).count()
        })
        .min()
        .unwrap_or(0)
}
