//! Chooses the next request of a driver thread.

use super::job::{Job, Next};
use super::surge::Surge;
use crate::schedule::{Due, Load, OpenLoop, Phase, Until, Work};
use crate::workload::{PartitionRange, Sequence};

/// The requests of one driver thread in one segment of the run.
pub(super) enum Feed {
    Open(Open),
    Closed(Closed),
    Surge(Surge),
    Over,
}

pub(super) struct Open {
    due: std::iter::Peekable<Box<dyn Iterator<Item = Due>>>,
    start_ns: i64,
    first_number: u64,
    populates: Vec<usize>,
    /// When the limit on requests in flight last delayed a request.
    full_ns: i64,
}

pub(super) struct Closed {
    phase: usize,
    next: u64,
    step: u64,
    end_ns: i64,
    count: u64,
    first_number: u64,
    populates: bool,
}

impl Feed {
    /// This thread's share of an open loop.
    pub fn open(open: &OpenLoop, phases: &[Phase], start_ns: i64, first_number: u64, share: (u64, u64)) -> Feed {
        let due: Box<dyn Iterator<Item = Due>> = Box::new(open.share(share.0, share.1));
        let populates = |(position, phase): (usize, &Phase)| (phase.work == Work::Populate).then_some(position);
        Feed::Open(Open {
            due: due.peekable(),
            start_ns,
            first_number,
            populates: phases.iter().enumerate().filter_map(populates).collect(),
            full_ns: i64::MIN,
        })
    }

    /// This thread's share of a closed loop.
    pub fn closed(phase: usize, phases: &[Phase], start_ns: i64, first_number: u64, share: (u64, u64)) -> Feed {
        let populates = phases[phase].work == Work::Populate;
        let share = match phases[phase].load {
            Load::Surge { every, in_flight, count, groups } => {
                let every_ns = i64::try_from(every.as_nanos()).unwrap_or(i64::MAX);
                let groups = (share.0..u64::from(groups)).step_by(share.1 as usize);
                let surge = Surge::new(phase, start_ns, every_ns, (in_flight, count), groups);
                return Feed::Surge(surge.numbered(first_number, populates));
            }
            // A thread whose share is not even one request in flight gets no requests.
            Load::InFlight(in_flight) if share.0 >= u64::from(in_flight) => return Feed::Over,
            Load::InFlight(in_flight) => (share.0, share.1.min(u64::from(in_flight))),
            _ => share,
        };
        let (end_ns, count) = match phases[phase].until {
            Until::Elapsed(lasts) => {
                (start_ns.saturating_add(i64::try_from(lasts.as_nanos()).unwrap_or(i64::MAX)), u64::MAX)
            }
            Until::Count(count) => (i64::MAX, count),
        };
        Feed::Closed(Closed { phase, next: share.0, step: share.1, end_ns, count, first_number, populates })
    }

    /// The next due request. `free` means that no other request waits for a free slot, so that this one could have been
    /// sent earlier.
    pub fn next(&mut self, now_ns: i64, free: bool) -> Next {
        match self {
            Feed::Over => Next::Over,
            Feed::Open(open) => open.next(now_ns, free),
            Feed::Closed(closed) => closed.next(now_ns),
            Feed::Surge(surge) => surge.next(now_ns),
        }
    }

    /// The next request for a slot whose request has ended: in a surge, one of the same group.
    pub fn after(&mut self, ended: &Job, now_ns: i64, free: bool) -> Next {
        match self {
            Feed::Surge(surge) => surge.after(ended, now_ns),
            feed => feed.next(now_ns, free),
        }
    }

    /// Notes that there is no free slot for a due request of an open loop.
    pub fn full(&mut self, now_ns: i64) {
        if let Feed::Open(open) = self {
            open.full_ns = now_ns;
        }
    }

    /// Ends the feed. Returns how many requests were due by `now_ns` and will not be sent.
    pub fn end(&mut self, now_ns: i64) -> Vec<(usize, u64)> {
        let mut unsent: Vec<(usize, u64)> = Vec::new();
        if let Feed::Open(open) = self {
            let start_ns = open.start_ns;
            while let Some(due) = open.due.next_if(|due| start_ns + due.offset_ns <= now_ns) {
                match unsent.last_mut() {
                    Some((phase, count)) if *phase == due.phase => *count += 1,
                    _ => unsent.push((due.phase, 1)),
                }
            }
        }
        *self = Feed::Over;
        unsent
    }
}

impl Open {
    fn next(&mut self, now_ns: i64, free: bool) -> Next {
        let Some(due) = self.due.peek() else { return Next::Over };
        let intended_ns = self.start_ns + due.offset_ns;
        if intended_ns > now_ns {
            return Next::At(intended_ns);
        }
        if !free {
            self.full_ns = now_ns;
        }
        let populates = self.populates.contains(&due.phase);
        // The populated rows do not depend on earlier runs, so that they can be verified.
        let number = if populates { due.number } else { self.first_number + due.number };
        let sequence = if populates { Sequence::Populate(due.number) } else { Sequence::Distributed };
        let ready_ns = intended_ns.max(self.full_ns);
        let (intended_ns, taken) = (Some(intended_ns), PartitionRange::default());
        let job = Job { phase: due.phase, number, sequence, populates, intended_ns, ready_ns, taken };
        self.due.next();
        Next::Job(job)
    }
}

impl Closed {
    fn next(&mut self, now_ns: i64) -> Next {
        if now_ns >= self.end_ns || self.next >= self.count {
            return Next::Over;
        }
        let place = self.next;
        self.next += self.step;
        Next::Job(Job::closed(self.phase, self.first_number, place, self.populates, now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Segment, segments};

    fn open(per_s: f64, count: u64) -> Feed {
        let phases = [Phase::rate(per_s, Until::Count(count))];
        match &segments(&phases)[0] {
            Segment::Open(open) => Feed::open(open, &phases, 1000, 7, (0, 1)),
            Segment::Closed(_) => panic!("closed"),
        }
    }

    fn intended(next: Next) -> (i64, i64, u64) {
        match next {
            Next::Job(job) => (job.intended_ns.unwrap(), job.ready_ns, job.number),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_open_loop_waits_for_the_time_and_keeps_it_when_late() {
        let mut feed = open(1e9 / 10.0, 3);
        assert!(matches!(feed.next(999, true), Next::At(1000)));
        assert_eq!(intended(feed.next(1005, true)), (1000, 1000, 7));
        assert_eq!(intended(feed.next(1500, true)), (1010, 1010, 8));
        assert_eq!(intended(feed.next(1500, true)), (1020, 1020, 9));
        assert!(matches!(feed.next(1500, true), Next::Over));
    }

    #[test]
    fn a_request_without_room_is_ready_when_there_was_room() {
        let mut feed = open(1e9 / 10.0, 3);
        feed.full(1400);
        assert_eq!(intended(feed.next(1500, true)), (1000, 1400, 7));
        assert_eq!(intended(feed.next(1600, false)), (1010, 1600, 8));
    }

    #[test]
    fn what_was_due_and_not_sent_is_counted_at_the_end() {
        let mut feed = open(1e9 / 10.0, 5);
        feed.next(1000, true);
        assert_eq!(feed.end(1025), [(0, 2)]);
        assert!(matches!(feed.next(5000, true), Next::Over));
    }

    #[test]
    fn a_closed_loop_ends_by_count_or_by_time() {
        let phases = [
            Phase::in_flight(2, Until::Count(5)),
            Phase::in_flight(2, Until::Elapsed(std::time::Duration::from_nanos(50))),
        ];
        let mut counted = Feed::closed(0, &phases, 1000, 10, (1, 2));
        let numbers: Vec<u64> = std::iter::from_fn(|| match counted.next(1_000_000, true) {
            Next::Job(job) => Some(job.number),
            _ => None,
        })
        .collect();
        assert_eq!(numbers, [11, 13]);
        assert!(matches!(Feed::closed(0, &phases, 1000, 10, (2, 3)), Feed::Over));
        let mut timed = Feed::closed(1, &phases, 1000, 0, (0, 1));
        assert!(matches!(timed.next(1049, true), Next::Job(_)));
        assert!(matches!(timed.next(1050, true), Next::Over));
    }
}
