//! A thread's next requests, and the outcomes of its sent ones.

use crate::Outcome;
use crate::driver::feed::Feed;
use crate::driver::job::{Job, Next};
use crate::driver::ledger::{Ended, Ledger};

/// A closed loop that finds no connection rests so long before it tries again: at first, and at most.
const REST_NS: (i64, i64) = (10_000_000, 1_000_000_000);

pub(super) struct Supply {
    pub ledger: Ledger,
    feed: Feed,
    /// Requests that follow others of their group in a surge.
    following: Vec<Job>,
    /// Requests that may be in flight, and those that are.
    room: usize,
    in_flight: usize,
    /// Whether there was no room at the last attempt.
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

    /// Begins a segment: an open loop with so much room, or a closed loop of so many.
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

    /// Ends it, and counts what was due and is not sent.
    pub fn end(&mut self, now_ns: i64) {
        self.following.clear();
        for (phase, count) in self.feed.end(now_ns) {
            self.ledger.unsent(phase, count);
        }
    }

    /// The next request to be sent. At the end of time, when that depends on those in flight.
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
            // All groups of a surge have joined, and go on by themselves.
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

    /// A request that was on its way has ended, well or not. `reason` is the reason, where it did not end well.
    pub fn ended(&mut self, ended: &Ended, reason: &str) {
        self.in_flight -= 1;
        self.enter(ended, reason);
    }

    /// A request could not even be sent.
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
        // In a surge, its group sends the next.
        if matches!(self.feed, Feed::Surge(_)) {
            match self.feed.after(&ended.job, ended.end_ns, true) {
                Next::Job(job) => self.following.push(job),
                Next::At(_) => {}
                Next::Over => self.feed = Feed::Over,
            }
        }
    }
}
