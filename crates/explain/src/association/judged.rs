//! The requests that are judged: stretches of time, and which requests in them were slow.

use super::effects::{Nature, effects, first_effect, meets};
use super::slow_request::{Length, Place, SlowRequest};
use crate::requests::{Request, Requests};
use crate::timeline::{Bursts, Interval, within};
use std::rc::Rc;

/// From this median on, all requests count as slow.
const SLOW_MEDIAN_NS: i64 = 100_000_000;

/// A stretch of time that is judged, such as a phase of the load.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) window: Interval,
    /// Number of requests in the stretch, slow or not.
    pub(crate) requests: usize,
    /// The slow requests, by start.
    pub(crate) slow: Vec<SlowRequest>,
    pub(crate) bursts: Bursts,
    /// The index of the stretch's first request in [`Requests`].
    first: usize,
}

/// All judged stretches with their requests.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) threshold_ns: i64,
    pub(crate) median_ns: i64,
    requests: Rc<Requests>,
    /// An SQL condition on the driver's requests, if only some of them are judged.
    only: Option<String>,
}

impl Judged {
    /// Judges the requests that were due in the windows. Requests that took longer than the threshold are slow.
    pub(crate) fn new(requests: &Rc<Requests>, windows: &[Interval], threshold_ns: i64, median_ns: i64) -> Judged {
        let stretches = windows
            .iter()
            .map(|window| {
                let due = requests.due_in(*window);
                let is_slow = |request: &Request| requests.is_timed(request) && request.response_ns() > threshold_ns;
                let first = requests.rows.partition_point(|request| request.intended_ns < window.start);
                let slow = due
                    .iter()
                    .enumerate()
                    .filter(|(_, request)| is_slow(request))
                    .map(|(place, request)| SlowRequest {
                        start: request.intended_ns,
                        sent: request.start_ns,
                        end: request.end_ns.min(window.end),
                        excess_ns: (request.response_ns() - median_ns).max(0),
                        length: Length::Unusual,
                        response_ns: request.response_ns(),
                        node: request.node,
                        row: first + place,
                        place: None,
                    })
                    .collect();
                Stretch {
                    window: *window,
                    requests: due.len(),
                    slow,
                    bursts: Bursts::find(due.iter().map(|request| (request.intended_ns, is_slow(request))), window.end),
                    first,
                }
            })
            .collect::<Vec<_>>();
        let mut judged = Judged { stretches, threshold_ns, median_ns, requests: Rc::clone(requests), only: None };
        judged.stretches.retain(|stretch| stretch.requests > 0);
        judged
    }

    /// Sets the place at which each slow request spent its excess time. `place` takes the times at which the request was due and
    /// answered, and its response time above the median.
    pub(crate) fn tell_places(&mut self, place: impl Fn(i64, i64, i64) -> Option<Place>) {
        for request in self.stretches.iter_mut().flat_map(|stretch| &mut stretch.slow) {
            request.place = place(request.start, request.start.saturating_add(request.response_ns), request.excess_ns);
        }
    }

    /// Sets the usual time of kinds of work that are slow by themselves. A cause that comes and goes has to explain
    /// only what a request took beyond that time: a read of a large partition is long whatever else happens.
    pub(crate) fn set_usual(&mut self, usual_ns: impl Fn(&Request) -> Option<i64>) {
        for request in self.stretches.iter_mut().flat_map(|stretch| &mut stretch.slow) {
            let Some(usual) = usual_ns(&self.requests.rows[request.row]) else { continue };
            request.excess_ns = request.excess_ns.min((request.response_ns - usual).max(0));
            let is_usual = request.excess_ns.saturating_mul(2) <= request.response_ns;
            request.length = if is_usual { Length::Usual } else { Length::BeyondUsual };
        }
    }

    /// The requests of the recording, judged or not; where the user chose some, only those.
    pub(crate) fn all(&self) -> &Requests {
        &self.requests
    }

    /// The judged requests whose time is a latency, and whether each was slow.
    pub(crate) fn timed(&self) -> impl Iterator<Item = (&Request, bool)> {
        let of = |stretch: &Stretch| &self.requests.rows[stretch.first..stretch.first + stretch.requests];
        let timed = self.stretches.iter().flat_map(of).filter(|request| self.requests.is_timed(request));
        timed.map(|request| (request, request.response_ns() > self.threshold_ns))
    }

    /// The address of a node.
    pub(crate) fn node(&self, number: u16) -> &str {
        self.requests.nodes.get(usize::from(number)).map_or("", String::as_str)
    }

    /// Whether the median itself is slow: then all requests may have one cause, and none is much slower than the others.
    pub(crate) fn is_slow_throughout(&self) -> bool {
        self.median_ns >= SLOW_MEDIAN_NS
    }

    pub(crate) fn slow_requests(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.slow.len()).sum()
    }

    pub(crate) fn requests(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.requests).sum()
    }

    pub(crate) fn length_ns(&self) -> i64 {
        self.stretches.iter().map(|stretch| stretch.window.length()).sum()
    }

    /// Notes that only some of the driver's requests are judged.
    pub(crate) fn judge_only(&mut self, condition: String) {
        self.only = Some(condition);
    }

    /// The SQL condition that a request is judged.
    pub(crate) fn due(&self) -> String {
        let within =
            |window: Interval| format!("intended_start_ns >= {} AND intended_start_ns < {}", window.start, window.end);
        let due = match self.stretches.as_slice() {
            [] => "true".to_string(),
            stretches => {
                let windows: Vec<String> = stretches.iter().map(|stretch| within(stretch.window)).collect();
                format!("({})", windows.join(" OR "))
            }
        };
        match &self.only {
            Some(only) => format!("{due} AND {only}"),
            None => due,
        }
    }

    /// The interval from the start of the first judged stretch to the end of the last.
    pub(crate) fn hull(&self) -> Option<Interval> {
        let start = self.stretches.iter().map(|stretch| stretch.window.start).min()?;
        let end = self.stretches.iter().map(|stretch| stretch.window.end).max()?;
        Some(Interval { start, end })
    }

    /// How many requests of a stretch overlapped a cause.
    pub(super) fn met(&self, stretch: &Stretch, cause: &[Interval], nature: Nature) -> Met {
        let effects = effects(&within(cause, stretch.window), &stretch.bursts, nature);
        let mut met = Met::default();
        let mut first = 0;
        for request in &self.requests.rows[stretch.first..stretch.first + stretch.requests] {
            first = first_effect(&effects, first, request.intended_ns);
            if meets(&effects, first, request.end_ns.min(stretch.window.end)) {
                if self.requests.is_timed(request) && request.response_ns() > self.threshold_ns {
                    met.slow += 1;
                } else {
                    met.others += 1;
                }
            }
        }
        met
    }
}

/// Numbers of requests that overlapped a cause.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Met {
    pub(super) slow: usize,
    pub(super) others: usize,
}
