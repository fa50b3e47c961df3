//! Standstills of the driver process, for threads that mark the requests affected by them.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Written by the watcher, read by the driver threads. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Standstills {
    shared: Arc<Shared>,
    bound_ns: i64,
}

#[derive(Debug)]
struct Shared {
    /// When the watcher is to wake next.
    due_ns: AtomicI64,
    /// Length of `ended`, to be looked at without its lock.
    count: AtomicUsize,
    /// Start and end of each, ascending.
    ended: Mutex<Vec<(i64, i64)>>,
}

/// One driver thread's copy of the standstills.
#[derive(Debug)]
pub(crate) struct Stood {
    standstills: Standstills,
    known: Vec<(i64, i64)>,
    /// One that is not over: the watcher should have woken long ago.
    going_on: Option<(i64, i64)>,
}

impl Standstills {
    /// Shorter ones than `bound_ns` are none.
    pub fn new(bound_ns: i64) -> Standstills {
        let shared =
            Shared { due_ns: AtomicI64::new(i64::MAX), count: AtomicUsize::new(0), ended: Mutex::new(Vec::new()) };
        Standstills { shared: Arc::new(shared), bound_ns }
    }

    /// The watcher will sleep until then; `i64::MAX` when it watches no more.
    pub fn due(&self, due_ns: i64) {
        self.shared.due_ns.store(due_ns, Ordering::Relaxed);
    }

    /// The watcher was to wake at `due_ns` and woke now: whether that was a standstill.
    pub fn woke(&self, due_ns: i64, now_ns: i64) -> bool {
        let stood = now_ns - due_ns > self.bound_ns;
        if stood {
            let mut ended = self.ended();
            ended.push((due_ns, now_ns));
            self.shared.count.store(ended.len(), Ordering::Release);
        }
        stood
    }

    pub fn stood(&self) -> Stood {
        Stood { standstills: self.clone(), known: Vec::new(), going_on: None }
    }

    fn ended(&self) -> MutexGuard<'_, Vec<(i64, i64)>> {
        self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stood {
    /// Learns what there was up to now. A driver thread may run again before the watcher does, so that one which is not
    /// over counts from when the watcher was to wake.
    pub fn look(&mut self, now_ns: i64) {
        let due_ns = self.standstills.shared.due_ns.load(Ordering::Relaxed);
        self.going_on = (now_ns.saturating_sub(due_ns) > self.standstills.bound_ns).then_some((due_ns, now_ns));
        if self.standstills.shared.count.load(Ordering::Acquire) > self.known.len() {
            let ended = self.standstills.ended();
            self.known.extend_from_slice(&ended[self.known.len()..]);
        }
    }

    /// Whether the driver stood still at any time between the two, both among them.
    pub fn met(&self, from_ns: i64, to_ns: i64) -> bool {
        let overlaps = |(start_ns, end_ns): &(i64, i64)| *start_ns <= to_ns && from_ns <= *end_ns;
        if self.going_on.as_ref().is_some_and(overlaps) {
            return true;
        }
        // Nearly always the last one was over before.
        if self.known.last().is_none_or(|(_, end_ns)| *end_ns < from_ns) {
            return false;
        }
        let first = self.known.partition_point(|(_, end_ns)| *end_ns < from_ns);
        self.known.get(first).is_some_and(overlaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_overlaps_a_standstill_met_it() {
        let standstills = Standstills::new(10);
        let mut stood = standstills.stood();
        assert!(!standstills.woke(100, 110));
        assert!(standstills.woke(100, 150));
        stood.look(200);
        let met = [(0, 99), (0, 100), (120, 130), (150, 160), (151, 160)].map(|(from, to)| stood.met(from, to));
        assert_eq!(met, [false, true, true, true, false]);
    }

    #[test]
    fn one_that_is_not_over_counts_too() {
        let standstills = Standstills::new(10);
        let mut stood = standstills.stood();
        stood.look(1000);
        assert!(!stood.met(0, 1000), "nobody watches yet");
        standstills.due(1000);
        stood.look(1010);
        assert!(!stood.met(0, 1010));
        stood.look(1011);
        assert_eq!([stood.met(0, 999), stood.met(990, 1000)], [false, true]);
        standstills.woke(1000, 1020);
        standstills.due(1021);
        stood.look(1025);
        assert_eq!([stood.met(1021, 1025), stood.met(1005, 1006)], [false, true]);
    }

    proptest! {
        #[test]
        fn it_is_as_if_each_was_looked_at(
            gaps in prop::collection::vec((1i64..50, 11i64..40), 0..30),
            from in 0i64..2000,
            length in 0i64..100,
        ) {
            let standstills = Standstills::new(10);
            let mut all = Vec::new();
            let mut now = 0;
            for (gap, lasts) in gaps {
                all.push((now + gap, now + gap + lasts));
                standstills.woke(now + gap, now + gap + lasts);
                now += gap + lasts;
            }
            let mut stood = standstills.stood();
            stood.look(now);
            let each = all.iter().any(|(start, end)| *start <= from + length && from <= *end);
            prop_assert_eq!(stood.met(from, from + length), each);
        }
    }
}
