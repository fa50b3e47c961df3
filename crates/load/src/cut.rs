//! The early end of an open loop that asks for more than it can ever get.
//!
//! Past the limit of a server, requests that are due wait for those before them. If that goes on, a whole step passes in
//! which only requests of earlier steps are sent. If no later step asks for less, none of theirs will be sent within
//! their time either, so the load ends there.

use crate::schedule::Phase;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A step in which the server answered less than this share of the best step so far says nothing: it stood still, and
/// may catch up.
const LEAST_SHARE: f64 = 0.5;

/// The segment that is to send nothing more. Clones share their state.
#[derive(Debug, Clone)]
pub(crate) struct Cut(Arc<AtomicUsize>);

impl Cut {
    pub fn none() -> Cut {
        Cut(Arc::new(AtomicUsize::new(usize::MAX)))
    }

    pub fn end(&self, segment: usize) {
        self.0.store(segment, Ordering::Relaxed);
    }

    pub fn is_of(&self, segment: usize) -> bool {
        self.0.load(Ordering::Relaxed) == segment
    }
}

/// A phase of an open loop that is over.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Passed {
    pub lasted_s: f64,
    /// Requests that were due in it.
    pub due: f64,
    /// Of those, how many have ended.
    pub ended: u64,
    /// Requests of any phase that were answered while it lasted.
    pub answered: u64,
}

impl Passed {
    fn answered_per_s(&self) -> f64 {
        self.answered as f64 / self.lasted_s.max(1e-9)
    }
}

/// Whether nothing of the later phases can be sent within their time.
pub(crate) fn is_hopeless(before: &[Passed], passed: Passed, phase: &Phase, later: &[Phase]) -> bool {
    let best_per_s = before.iter().map(Passed::answered_per_s).fold(0.0, f64::max);
    let Some((_, end_per_s)) = phase.rates_per_s() else { return false };
    let asks_for_no_less = |later: &Phase| later.rates_per_s().is_some_and(|(from, to)| from.min(to) >= end_per_s);
    passed.ended == 0
        && (passed.answered as f64) < passed.due
        && passed.answered_per_s() >= LEAST_SHARE * best_per_s
        && !later.is_empty()
        && later.iter().all(asks_for_no_less)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Until;
    use std::time::Duration;

    fn rate(per_s: f64) -> Phase {
        Phase::rate(per_s, Until::Elapsed(Duration::from_secs(10)))
    }

    #[test]
    fn a_load_ends_where_nothing_of_a_step_was_sent() {
        let passed = |due_per_s: f64, ended, answered_per_s: u64| Passed {
            lasted_s: 10.0,
            due: due_per_s * 10.0,
            ended,
            answered: answered_per_s * 10,
        };
        let before = [passed(20e3, 200_000, 20_000), passed(30e3, 40_000, 22_000)];
        let late = passed(40e3, 0, 22_000);
        let is_hopeless = |passed, later: &[f64]| {
            let later: Vec<Phase> = later.iter().map(|per_s| rate(*per_s)).collect();
            is_hopeless(&before, passed, &rate(40e3), &later)
        };
        assert!(is_hopeless(late, &[50e3, 60e3]));
        assert!(!is_hopeless(late, &[50e3, 10e3]), "the last step asks for less, and the load may catch up");
        assert!(!is_hopeless(late, &[]), "nothing is left out");
        assert!(!is_hopeless(passed(40e3, 1, 22_000), &[50e3]), "some of it was sent");
        assert!(!is_hopeless(passed(40e3, 0, 45_000), &[50e3]), "it is catching up");
        assert!(!is_hopeless(passed(40e3, 0, 3_000), &[50e3]), "the server stood still for most of the step");
    }

    #[test]
    fn only_rates_can_be_compared() {
        let late = Passed { lasted_s: 10.0, due: 1e5, ended: 0, answered: 1000 };
        let ramp = Phase::ramp(50e3, 5e3, Duration::from_secs(5));
        assert!(!is_hopeless(&[], late, &rate(10e3), &[ramp]), "a ramp that falls below");
        assert!(is_hopeless(&[], late, &rate(10e3), &[Phase::ramp(10e3, 50e3, Duration::from_secs(5))]));
    }
}
