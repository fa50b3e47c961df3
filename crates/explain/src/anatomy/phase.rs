//! Phases of the load, each with its intended and achieved rate and its times.

use super::unjudged::{Unjudged, rest};
use crate::engine::Engine;
use crate::percentiles::{Percentiles, median, ms};
use crate::requests::{Request, Requests};
use crate::timeline::Interval;
use crate::{Error, query};
use serde::Serialize;
use std::collections::BTreeSet;

/// A phase kept up if it achieved this share of the intended rate.
const KEPT_UP_SHARE: f64 = 0.95;
/// The system kept up with a phase if half of the requests took at most this much longer than usual. At most this much
/// work is left at its end, in seconds of the intended rate.
const KEPT_UP_WAIT_S: f64 = 0.1;
/// The usual time is the least median of a stretch of this length, if it has enough requests.
const STRETCH_NS: i64 = 1_000_000_000;
const ENOUGH_REQUESTS: usize = 10;

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
    /// The median response time while requests waited least: the least of any second of the phases with the same
    /// operations. None unless the rate is constant.
    pub usual_ms: Option<f64>,
    /// Whether the system kept up: 95 % of the rate was achieved, and at most 0.1 s of work was left. Half of the
    /// requests took at most 0.1 s longer than usual. None unless the rate is constant.
    pub kept_up: Option<bool>,
    /// The phase achieved less than its rate or left a backlog, and no higher step kept up. It is judged apart, because
    /// queueing makes everything slow.
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
        if let (true, Some(span)) = (phases.is_empty(), requests.span()) {
            phases = Phase::without_marks(&Unjudged::load(engine)?, span);
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
        judge(&mut phases, requests);
        Ok(phases)
    }

    /// The phases of a recording without a load of its own: what other loads on the machine do not judge, and the rest.
    fn without_marks(unjudged: &[Unjudged], span: Interval) -> Vec<Phase> {
        let name = if unjudged.is_empty() { "the whole recording" } else { "the rest of the recording" };
        let whole = |window| Phase { marked: !unjudged.is_empty(), ..Phase::named(name.into(), window, true) };
        let rest = rest(unjudged, span).into_iter().map(whole);
        let others = unjudged.iter().map(|other| Phase::named(other.name.clone(), other.window.clip(span), false));
        let mut phases: Vec<Phase> = rest.chain(others).filter(|phase| phase.window().length() > 0).collect();
        phases.sort_by_key(|phase| phase.start_ns);
        phases
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
            usual_ms: None,
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
        self.backlog_s = self.constant_rate_per_s().map(|rate| least_backlog(due, self.window()) as f64 / rate);
    }

    /// Whether the system kept up, from the figures and the usual time.
    pub(super) fn judge(&mut self) {
        let kept_up = !self.fell_short() && !self.left_backlog() && !self.waited();
        self.kept_up = self.constant_rate_per_s().map(|_| kept_up);
    }

    /// Whether requests were waiting at the end of the phase, whatever share of the rate was achieved.
    pub(crate) fn left_backlog(&self) -> bool {
        self.backlog_s.is_some_and(|backlog_s| self.is_long(backlog_s))
    }

    /// Whether the phase achieved less than its constant rate.
    pub(crate) fn fell_short(&self) -> bool {
        self.constant_rate_per_s().is_some_and(|rate| self.throughput_per_s < KEPT_UP_SHARE * rate)
    }

    /// Whether half of the requests waited, although the rate may have been achieved.
    fn waited(&self) -> bool {
        self.response_ms.p50.is_some_and(|median_ms| self.is_long(median_ms / 1e3))
    }

    fn is_long(&self, time_s: f64) -> bool {
        time_s > self.usual_ms.unwrap_or_default() / 1e3 + KEPT_UP_WAIT_S
    }
}

/// Judges which phases of a constant rate the system kept up with.
///
/// Requests may take long by themselves, so they are compared with the time that they take where they wait least. By
/// Little's law, the requests in the system divided by their rate are the mean response time, so that the backlog and
/// the response times have one bound.
fn judge(phases: &mut [Phase], requests: &Requests) {
    let paces: Vec<Option<Pace>> = phases
        .iter()
        .map(|phase| phase.constant_rate_per_s().and_then(|_| Pace::of(requests, phase.window())))
        .collect();
    for (phase, pace) in phases.iter_mut().zip(&paces) {
        let alike = |pace: &Pace| {
            let same = paces.iter().flatten().filter(|other| other.operations == pace.operations);
            same.map(|other| other.least_ns).min()
        };
        phase.usual_ms = pace.as_ref().and_then(alike).map(ms);
        phase.judge();
    }
}

/// How fast the requests of a phase were answered while they waited least.
struct Pace {
    least_ns: i64,
    operations: BTreeSet<u16>,
}

impl Pace {
    fn of(requests: &Requests, window: Interval) -> Option<Pace> {
        let median_of = |due: &[Request]| {
            let timed = due.iter().filter(|request| requests.is_timed(request));
            median(&mut timed.map(Request::response_ns).collect::<Vec<_>>())
        };
        let due = requests.due_in(window);
        let stretches = (0..window.length() / STRETCH_NS)
            .map(|number| Interval::of_length(window.start + number * STRETCH_NS, STRETCH_NS))
            .map(|stretch| requests.due_in(stretch))
            .filter(|due| due.len() >= ENOUGH_REQUESTS);
        let least_ns = stretches.filter_map(median_of).min().or_else(|| median_of(due))?;
        Some(Pace { least_ns, operations: due.iter().map(|request| request.operation).collect() })
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
