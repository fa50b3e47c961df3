//! Requests that started later than intended, and the reason.

/// Judges the starts of one driver thread.
#[derive(Debug)]
pub(crate) struct Lateness {
    bound_ns: i64,
    open: Option<Stall>,
}

/// A time in which the driver was behind its schedule although a slot was free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stall {
    pub start_ns: i64,
    pub end_ns: i64,
}

/// Why a request started late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    /// The limit of requests in flight delayed the request.
    InFlight,
    /// The driver did not run, or not fast enough.
    Driver,
}

impl Lateness {
    pub fn new(bound_ns: i64) -> Lateness {
        Lateness { bound_ns, open: None }
    }

    /// Judges a request that could have started at `ready_ns`: at its intended start, or when a slot became free.
    /// Returns why it was late, and the stall that ended with it, if any.
    pub fn started(&mut self, intended_ns: i64, ready_ns: i64, start_ns: i64) -> (Option<Late>, Option<Stall>) {
        if self.is_late(ready_ns, start_ns) {
            // Requests that were all due during one pause are late together: they form one stall, up to the last of
            // them.
            match &mut self.open {
                Some(stall) if ready_ns <= stall.end_ns => stall.end_ns = stall.end_ns.max(start_ns),
                open => {
                    let ended = open.replace(Stall { start_ns: ready_ns, end_ns: start_ns });
                    return (Some(Late::Driver), ended);
                }
            }
            return (Some(Late::Driver), None);
        }
        let late = (ready_ns - intended_ns > self.bound_ns).then_some(Late::InFlight);
        // A punctual request ends the stall. A request that waited for a free slot says nothing about the driver.
        let ended = if late.is_none() { self.open.take() } else { None };
        (late, ended)
    }

    /// Whether only the driver delayed a request that could have started at `ready_ns`.
    pub fn is_late(&self, ready_ns: i64, start_ns: i64) -> bool {
        start_ns - ready_ns > self.bound_ns
    }

    /// The stall that is still open when no request is left to start.
    pub fn end(&mut self) -> Option<Stall> {
        self.open.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(starts: &[(i64, i64, i64)]) -> (Vec<Option<Late>>, Vec<Stall>) {
        let mut lateness = Lateness::new(10);
        let (mut lates, mut stalls) = (Vec::new(), Vec::new());
        for (intended, ready, start) in starts {
            let (late, stall) = lateness.started(*intended, *ready, *start);
            lates.push(late);
            stalls.extend(stall);
        }
        stalls.extend(lateness.end());
        (lates, stalls)
    }

    #[test]
    fn requests_late_together_are_one_stall() {
        let (lates, stalls) = judge(&[(0, 0, 1), (20, 20, 120), (60, 60, 121), (100, 100, 122), (130, 130, 131)]);
        assert_eq!(lates, [None, Some(Late::Driver), Some(Late::Driver), Some(Late::Driver), None]);
        assert_eq!(stalls, [Stall { start_ns: 20, end_ns: 122 }]);
    }

    #[test]
    fn two_stalls_without_a_request_between_them_stay_two() {
        let (_, stalls) = judge(&[(0, 0, 50), (100, 100, 150)]);
        assert_eq!(stalls, [Stall { start_ns: 0, end_ns: 50 }, Stall { start_ns: 100, end_ns: 150 }]);
    }

    #[test]
    fn a_request_that_was_held_back_is_late_and_no_stall() {
        let (lates, stalls) = judge(&[(0, 100, 101), (1, 101, 102)]);
        assert_eq!(lates, [Some(Late::InFlight), Some(Late::InFlight)]);
        assert_eq!(stalls, []);
    }

    #[test]
    fn within_the_bound_nothing_is_late() {
        assert_eq!(judge(&[(0, 0, 10), (5, 5, 12)]), (vec![None, None], vec![]));
    }
}
