//! Stalls of the driver process, for the threads that mark the requests affected by them.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stalls, written by the watcher and read by the driver threads. Clones share their state.
#[derive(Debug, Clone)]
pub(crate) struct StallRegister {
    shared: Arc<Shared>,
    bound_ns: i64,
}

#[derive(Debug)]
struct Shared {
    /// The time at which the watcher should wake up next.
    due_ns: AtomicI64,
    /// Length of `ended`, which can be read without the lock.
    count: AtomicUsize,
    /// Start and end of each stall that is over, ascending.
    ended: Mutex<Vec<(i64, i64)>>,
}

/// One driver thread's copy of the stalls in the register.
#[derive(Debug)]
pub(crate) struct StallView {
    stall_register: StallRegister,
    known: Vec<(i64, i64)>,
    /// A stall in progress: the watcher should have woken up long ago.
    going_on: Option<(i64, i64)>,
}

impl StallRegister {
    /// Stalls shorter than `bound_ns` are not registered.
    pub fn new(bound_ns: i64) -> StallRegister {
        let shared =
            Shared { due_ns: AtomicI64::new(i64::MAX), count: AtomicUsize::new(0), ended: Mutex::new(Vec::new()) };
        StallRegister { shared: Arc::new(shared), bound_ns }
    }

    /// Sets when the watcher should wake up; `i64::MAX` when it stops watching.
    pub fn due(&self, due_ns: i64) {
        self.shared.due_ns.store(due_ns, Ordering::Relaxed);
    }

    /// Notes that the watcher should have woken up at `due_ns` and woke up now. Returns whether that was a stall.
    pub fn woke(&self, due_ns: i64, now_ns: i64) -> bool {
        let stall_view = now_ns - due_ns > self.bound_ns;
        if stall_view {
            let mut ended = self.ended();
            ended.push((due_ns, now_ns));
            self.shared.count.store(ended.len(), Ordering::Release);
        }
        stall_view
    }

    pub fn view(&self) -> StallView {
        StallView { stall_register: self.clone(), known: Vec::new(), going_on: None }
    }

    fn ended(&self) -> MutexGuard<'_, Vec<(i64, i64)>> {
        self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StallView {
    /// Reads the stalls registered so far. A driver thread may run again before the watcher does, so a stall in
    /// progress counts from the time at which the watcher should have woken up.
    pub fn refresh(&mut self, now_ns: i64) {
        let due_ns = self.stall_register.shared.due_ns.load(Ordering::Relaxed);
        self.going_on = (now_ns.saturating_sub(due_ns) > self.stall_register.bound_ns).then_some((due_ns, now_ns));
        if self.stall_register.shared.count.load(Ordering::Acquire) > self.known.len() {
            let ended = self.stall_register.ended();
            self.known.extend_from_slice(&ended[self.known.len()..]);
        }
    }

    /// Whether the driver was stalled at any time between the two, both included.
    pub fn overlaps(&self, from_ns: i64, to_ns: i64) -> bool {
        let overlaps = |(start_ns, end_ns): &(i64, i64)| *start_ns <= to_ns && from_ns <= *end_ns;
        if self.going_on.as_ref().is_some_and(overlaps) {
            return true;
        }
        // Usually the last stall ended before.
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
    fn requests_that_overlap_a_stall_are_marked() {
        let stall_register = StallRegister::new(10);
        let mut stall_view = stall_register.view();
        assert!(!stall_register.woke(100, 110));
        assert!(stall_register.woke(100, 150));
        stall_view.refresh(200);
        let overlaps =
            [(0, 99), (0, 100), (120, 130), (150, 160), (151, 160)].map(|(from, to)| stall_view.overlaps(from, to));
        assert_eq!(overlaps, [false, true, true, true, false]);
    }

    #[test]
    fn one_that_is_not_over_counts_too() {
        let stall_register = StallRegister::new(10);
        let mut stall_view = stall_register.view();
        stall_view.refresh(1000);
        assert!(!stall_view.overlaps(0, 1000), "nobody watches yet");
        stall_register.due(1000);
        stall_view.refresh(1010);
        assert!(!stall_view.overlaps(0, 1010));
        stall_view.refresh(1011);
        assert_eq!([stall_view.overlaps(0, 999), stall_view.overlaps(990, 1000)], [false, true]);
        stall_register.woke(1000, 1020);
        stall_register.due(1021);
        stall_view.refresh(1025);
        assert_eq!([stall_view.overlaps(1021, 1025), stall_view.overlaps(1005, 1006)], [false, true]);
    }

    proptest! {
        #[test]
        fn overlaps_agrees_with_checking_each_stall(
            gaps in prop::collection::vec((1i64..50, 11i64..40), 0..30),
            from in 0i64..2000,
            length in 0i64..100,
        ) {
            let stall_register = StallRegister::new(10);
            let mut all = Vec::new();
            let mut now = 0;
            for (gap, lasts) in gaps {
                all.push((now + gap, now + gap + lasts));
                stall_register.woke(now + gap, now + gap + lasts);
                now += gap + lasts;
            }
            let mut stall_view = stall_register.view();
            stall_view.refresh(now);
            let each = all.iter().any(|(start, end)| *start <= from + length && from <= *end);
            prop_assert_eq!(stall_view.overlaps(from, from + length), each);
        }
    }
}
