//! Whether a server's throughput falls when more requests are in flight.
//!
//! Only closed loops can tell, because there the load chooses how many requests are in flight. In an open loop requests
//! pile up whenever the server is slow, so many requests in flight and low throughput go together whatever the reason.

use crate::anatomy::Phase;
use crate::requests::{Request, Requests};
use crate::timeline::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

const WINDOW_NS: i64 = 1_000_000_000;
/// A level with fewer windows than this is not judged.
const FEWEST_WINDOWS: usize = 5;
/// If the most crowded level has less than this share of the best level's throughput, a lower limit would help.
const LOSS_SHARE: f64 = 0.8;
/// How many standard errors the difference must have. Neighbouring windows are alike, so their standard errors are too
/// small.
const STANDARD_ERRORS: f64 = 4.0;

/// A load whose throughput fell when more requests were in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Crowding {
    /// The levels of concurrency, ascending.
    pub(crate) levels: Vec<Level>,
    /// Indices in `levels` of the best level and of the most crowded one.
    pub(crate) best: usize,
    pub(crate) crowded: usize,
    /// The operation with the most requests in flight at the crowded level, and its share of them.
    pub(crate) operation: String,
    pub(crate) operation_share: f64,
    #[serde(skip)]
    pub(crate) window: Interval,
}

/// Windows of one second in which about the same number of requests was in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Level {
    /// Mean number of requests in flight.
    pub(crate) in_flight: f64,
    pub(crate) windows: usize,
    /// Mean number of successful requests per second.
    pub(crate) throughput_per_s: f64,
    pub(crate) standard_error_per_s: f64,
    /// Mean service time of requests that ended in the windows.
    pub(crate) service_ms: f64,
}

#[derive(Debug, Clone, Default)]
struct Window {
    /// Time in flight within the window, by operation.
    in_flight_ns: BTreeMap<u16, i64>,
    ok: usize,
    ended: usize,
    service_ns: i64,
}

impl Window {
    fn in_flight(&self) -> f64 {
        self.in_flight_ns.values().sum::<i64>() as f64 / WINDOW_NS as f64
    }

    fn throughput_per_s(&self) -> f64 {
        self.ok as f64 * 1e9 / WINDOW_NS as f64
    }
}

impl Level {
    fn of(windows: &[&Window]) -> Level {
        let count = windows.len() as f64;
        let mean = |of: &dyn Fn(&Window) -> f64| windows.iter().map(|window| of(window)).sum::<f64>() / count;
        let throughput_per_s = mean(&Window::throughput_per_s);
        let variance = mean(&|window| (window.throughput_per_s() - throughput_per_s).powi(2)) * count / (count - 1.0);
        let ended = windows.iter().map(|window| window.ended).sum::<usize>().max(1);
        Level {
            in_flight: mean(&Window::in_flight),
            windows: windows.len(),
            throughput_per_s,
            standard_error_per_s: (variance / count).sqrt(),
            service_ms: windows.iter().map(|window| window.service_ns).sum::<i64>() as f64 / ended as f64 / 1e6,
        }
    }
}

impl Crowding {
    /// None if the load did not vary the requests in flight, or the highest level achieved as much as the best.
    ///
    /// `only` limits it to some stretches, such as the runs of an experiment's baseline; empty means all.
    pub(crate) fn find(requests: &Requests, phases: &[Phase], only: Option<&[Interval]>) -> Option<Crowding> {
        let of_interest =
            |phase: &Interval| only.is_none_or(|only| only.iter().any(|stretch| stretch.overlaps(*phase)));
        let closed = |phase: &&Phase| phase.measured && phase.rate_per_s.is_none() && phase.in_flight.is_some();
        let loops: Vec<Interval> = phases.iter().filter(closed).map(Phase::window).filter(of_interest).collect();
        let windows: Vec<Window> = loops.iter().flat_map(|phase| windows(requests, *phase)).collect();
        // A level is a power of two.
        let mut by_level: BTreeMap<u32, Vec<&Window>> = BTreeMap::new();
        for window in windows.iter().filter(|window| window.in_flight() >= 1.0) {
            by_level.entry(window.in_flight().log2().round() as u32).or_default().push(window);
        }
        by_level.retain(|_, windows| windows.len() >= FEWEST_WINDOWS);
        let levels: Vec<Level> = by_level.values().map(|windows| Level::of(windows)).collect();
        let crowded = levels.len().checked_sub(1)?;
        let best =
            (0..levels.len()).max_by(|a, b| levels[*a].throughput_per_s.total_cmp(&levels[*b].throughput_per_s))?;
        let (most, least) = (&levels[best], &levels[crowded]);
        let error = most.standard_error_per_s.hypot(least.standard_error_per_s);
        let lost = most.throughput_per_s - least.throughput_per_s;
        if least.throughput_per_s > LOSS_SHARE * most.throughput_per_s || lost < STANDARD_ERRORS * error {
            return None;
        }
        let mut held: BTreeMap<u16, i64> = BTreeMap::new();
        for (operation, ns) in by_level.values().next_back()?.iter().flat_map(|window| &window.in_flight_ns) {
            *held.entry(*operation).or_default() += ns;
        }
        let all: i64 = held.values().sum();
        let (operation, ns) = held.into_iter().max_by_key(|(_, ns)| *ns)?;
        let window = loops
            .into_iter()
            .reduce(|all, next| Interval { start: all.start.min(next.start), end: all.end.max(next.end) })?;
        Some(Crowding {
            levels,
            best,
            crowded,
            operation: requests.operations.get(usize::from(operation)).cloned().unwrap_or_default(),
            operation_share: ns as f64 / all as f64,
            window,
        })
    }

    /// The throughput lost by crowding, as a share of the best level's throughput.
    pub(crate) fn loss_share(&self) -> f64 {
        1.0 - self.levels[self.crowded].throughput_per_s / self.levels[self.best].throughput_per_s
    }
}

/// The whole one-second windows of a phase.
fn windows(requests: &Requests, phase: Interval) -> Vec<Window> {
    let count = usize::try_from(phase.length() / WINDOW_NS).unwrap_or(0);
    let mut windows = vec![Window::default(); count];
    let index = |time: i64| usize::try_from((time - phase.start).max(0) / WINDOW_NS).unwrap_or(0);
    for request in requests.due_in(phase) {
        let (first, last) = (index(request.start_ns), index(request.end_ns));
        for (at, window) in windows.iter_mut().enumerate().take(last + 1).skip(first) {
            let start = phase.start + at as i64 * WINDOW_NS;
            let within = request.end_ns.min(start + WINDOW_NS) - request.start_ns.max(start);
            *window.in_flight_ns.entry(request.operation).or_default() += within.max(0);
        }
        if let Some(window) = windows.get_mut(last) {
            window.ended += 1;
            window.ok += usize::from(requests.is_ok(request));
            window.service_ns += Request::service_ns(request);
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    /// A simulated closed loop that stays 12 s on each level. The server takes `need_ns` for a request at that number
    /// in flight.
    fn surge(in_flight: &[i64], need_ns: impl Fn(i64) -> i64) -> (Requests, Vec<Phase>) {
        let mut requests =
            Requests { operations: vec!["claim".into()], outcomes: vec!["ok".into()], ..Requests::default() };
        let mut phases = Vec::new();
        for (step, in_flight) in in_flight.iter().enumerate() {
            let start = step as i64 * 12 * S;
            for client in 0..*in_flight {
                let mut now = start + client * 1000;
                while now < start + 12 * S {
                    let end_ns = now + need_ns(*in_flight);
                    requests.rows.push(Request { intended_ns: now, start_ns: now, end_ns, ..Request::default() });
                    now = end_ns;
                }
            }
            let mut phase =
                Phase::named(format!("{in_flight} in flight"), Interval { start, end: start + 12 * S }, true);
            phase.in_flight = Some(*in_flight);
            phases.push(phase);
        }
        requests.rows.sort_unstable_by_key(|request| request.intended_ns);
        (requests, phases)
    }

    /// The server does at most 1,000/s with 8 requests in flight, and half of it with 64.
    fn gets_in_its_own_way(in_flight: i64) -> i64 {
        in_flight * S / 1000 * if in_flight > 8 { 2 } else { 1 }
    }

    #[test]
    fn a_server_that_gets_less_done_is_crowded() {
        let (requests, phases) = surge(&[4, 8, 64], gets_in_its_own_way);
        let found = Crowding::find(&requests, &phases, None).unwrap();
        assert_eq!(found.levels.len(), 3);
        assert_eq!((found.crowded, found.operation.as_str(), found.operation_share), (2, "claim", 1.0));
        assert!((found.levels[2].in_flight - 64.0).abs() < 8.0, "{found:?}");
        assert!((found.loss_share() - 0.5).abs() < 0.1, "{found:?}");
        assert_eq!(found.window, Interval { start: 0, end: 36 * S });
    }

    #[test]
    fn a_server_that_only_gets_slower_is_not() {
        let (requests, phases) = surge(&[4, 8, 64], |in_flight| in_flight * S / 1000);
        assert_eq!(Crowding::find(&requests, &phases, None), None);
    }

    #[test]
    fn an_open_loop_or_a_warm_up_cannot_tell() {
        let (requests, mut phases) = surge(&[4, 8, 64], gets_in_its_own_way);
        for phase in &mut phases {
            phase.rate_per_s = Some(500.0);
        }
        assert_eq!(Crowding::find(&requests, &phases, None), None);
        let (requests, mut phases) = surge(&[4, 8, 64], gets_in_its_own_way);
        for phase in &mut phases {
            phase.measured = false;
        }
        assert_eq!(Crowding::find(&requests, &phases, None), None);
    }

    #[test]
    fn only_what_is_asked_for_is_looked_at() {
        let (requests, phases) = surge(&[4, 8, 64], gets_in_its_own_way);
        let calm = Interval { start: 0, end: 24 * S };
        assert_eq!(Crowding::find(&requests, &phases, Some(&[calm])), None);
    }
}
