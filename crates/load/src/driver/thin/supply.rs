//! A thread's next requests, and the results of those that were sent.

use crate::Outcome;
use crate::driver::feed::Feed;
use crate::driver::job::{Job, Next};
use crate::driver::ledger::{Ended, Ledger};

/// Backoff of a closed loop that finds no connection: the first, and the longest.
const REST_NS: (i64, i64) = (10_000_000, 1_000_000_000);

pub(super) struct Supply {
    pub ledger: Ledger,
    feed: Feed,
    /// The next requests of groups of a surge, one for each request that ended.
    following: Vec<Job>,
    /// The most requests in flight, and the number that are.
    room: usize,
    in_flight: usize,
    /// Whether the limit of requests in flight was reached at the last attempt.
    full: bool,
    closed_loop: bool,
    rest_until_ns: i64,
    rest_ns: i64,
}

impl Supply {
    pub fn new(ledger: Ledger) -> Supply {
        Supply {
            ledger,
            feed: Feed::Over,
            following: Vec::new(),
            room: 0,
            in_flight: 0,
            full: false,
            closed_loop: false,
            rest_until_ns: i64::MIN,
            rest_ns: REST_NS.0,
        }
    }

    /// Begins a segment: an open loop or a closed loop with this many requests in flight.
    pub fn begin(&mut self, feed: Feed, windows: Vec<(usize, i64, i64)>, room: usize, closed_loop: bool) {
        self.ledger.begin(windows);
        (self.feed, self.room, self.closed_loop, self.full) = (feed, room, closed_loop, false);
        (self.rest_until_ns, self.rest_ns) = (i64::MIN, REST_NS.0);
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub fn is_over(&self) -> bool {
        matches!(self.feed, Feed::Over) && self.following.is_empty()
    }

    /// Ends the segment, and counts the requests that were due and are not sent.
    pub fn end(&mut self, now_ns: i64) {
        self.following.clear();
        for (phase, count) in self.feed.end(now_ns) {
            self.ledger.unsent(phase, count);
        }
    }

    /// The next request. At the end of time if it depends on those in flight.
    pub fn next(&mut self, now_ns: i64) -> Next {
        if self.is_over() {
            return Next::Over;
        }
        if self.closed_loop && now_ns < self.rest_until_ns {
            return Next::At(self.rest_until_ns);
        }
        if self.in_flight >= self.room {
            self.full = true;
            self.feed.full(now_ns);
            return Next::At(i64::MAX);
        }
        if let Some(job) = self.following.pop() {
            return Next::Job(job);
        }
        match self.feed.next(now_ns, !self.full) {
            Next::Job(job) => Next::Job(job),
            Next::At(at_ns) => {
                self.full = false;
                Next::At(at_ns)
            }
            // All groups of a surge have joined; from now on, each ended request starts the next one.
            Next::Over if matches!(self.feed, Feed::Surge(_)) && self.in_flight > 0 => Next::At(i64::MAX),
            Next::Over => {
                self.feed = Feed::Over;
                Next::Over
            }
        }
    }

    /// Notes that a request was sent.
    pub fn sent(&mut self) {
        self.in_flight += 1;
        self.rest_ns = REST_NS.0;
    }

    /// Notes that a request in flight has ended. `reason` is the reason for a failure.
    pub fn ended(&mut self, ended: &Ended, reason: &str) {
        self.in_flight -= 1;
        self.enter(ended, reason);
    }

    /// Notes that a request could not be sent.
    pub fn refused(&mut self, ended: &Ended, reason: &str) {
        self.ledger.started(&ended.job, ended.start_ns);
        self.enter(ended, reason);
        if ended.outcome == Outcome::Connection {
            self.rest_until_ns = ended.end_ns + self.rest_ns;
            self.rest_ns = (self.rest_ns * 2).min(REST_NS.1);
        }
    }

    fn enter(&mut self, ended: &Ended, reason: &str) {
        if ended.outcome != Outcome::Ok && self.ledger.is_new(ended.outcome) {
            self.ledger.first_error(ended.outcome, ended.node, reason.to_string());
        }
        self.ledger.ended(ended);
        // In a surge, the request's group sends the next one.
        if matches!(self.feed, Feed::Surge(_)) {
            match self.feed.after(&ended.job, ended.end_ns, true) {
                Next::Job(job) => self.following.push(job),
                Next::At(_) => {}
                Next::Over => self.feed = Feed::Over,
            }
        }
    }
}
