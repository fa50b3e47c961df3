//! A thread that sleeps for a millisecond and looks how much later it woke, as jHiccup does (Tene, 2012).

use crate::Error;
use helenus_recording::rows::Stall;
use helenus_recording::{Clock, Recorder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const SLEEP_NS: i64 = 1_000_000;

/// Runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    count: AtomicU64,
    total_ns: AtomicI64,
    longest_ns: AtomicI64,
}

/// What the watcher has seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    pub count: u64,
    pub total_ns: i64,
    pub longest_ns: i64,
}

impl Watcher {
    /// Writes a stall for each time that the process, or the machine, stood still for longer than `bound`.
    pub fn start(recorder: &Recorder, bound: Duration) -> Result<Watcher, Error> {
        let shared = Arc::new(Shared::default());
        let (seen, recorder) = (Arc::clone(&shared), recorder.clone());
        let bound_ns = i64::try_from(bound.as_nanos()).unwrap_or(i64::MAX);
        let thread = std::thread::Builder::new()
            .name("load-watcher".to_string())
            .spawn(move || watch(&seen, &recorder, bound_ns))
            .map_err(|source| Error::Start { what: "the thread that watches the driver for stalls", source })?;
        Ok(Watcher { shared, thread: Some(thread) })
    }

    pub fn pauses(&self) -> Pauses {
        Pauses {
            count: self.shared.count.load(Ordering::Relaxed),
            total_ns: self.shared.total_ns.load(Ordering::Relaxed),
            longest_ns: self.shared.longest_ns.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed, and the run has its result without it.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &Shared, recorder: &Recorder, bound_ns: i64) {
    let clock = recorder.clock();
    while !shared.stop.load(Ordering::Relaxed) {
        let due_ns = clock.now_ns() + SLEEP_NS;
        sleep_until(&clock, due_ns);
        let late_ns = clock.now_ns() - due_ns;
        if late_ns > bound_ns {
            recorder.append(Stall { start_ns: due_ns, duration_ns: late_ns, side: "load", node: "", kind: "watcher" });
            shared.count.fetch_add(1, Ordering::Relaxed);
            shared.total_ns.fetch_add(late_ns, Ordering::Relaxed);
            shared.longest_ns.fetch_max(late_ns, Ordering::Relaxed);
        }
    }
}

/// Until a time and not for a time: after SIGCONT the kernel goes on with the rest of a relative sleep.
fn sleep_until(clock: &Clock, due_ns: i64) {
    let monotonic_ns = due_ns - clock.epoch_offset_ns();
    let due = libc::timespec { tv_sec: monotonic_ns / 1_000_000_000, tv_nsec: monotonic_ns % 1_000_000_000 };
    // SAFETY: the pointers are to a timespec of ours and to none; a signal only ends the sleep early.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &due, std::ptr::null_mut()) };
}
