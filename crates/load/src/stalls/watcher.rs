//! A thread that sleeps for a millisecond and measures how late it wakes up, as jHiccup does (Tene, 2012).

use super::StallRegister;
use super::counters::StallCounters;
use crate::Error;
use helenus_recording::rows::Stall;
use helenus_recording::{Clock, Recorder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;

const SLEEP_NS: i64 = 1_000_000;
/// Number of sleeps between two reads of the thread's counters; a read takes as long as a wake-up.
const SLEEPS_BETWEEN_READS: u32 = 10;
/// After a sleep that was this much too long the counters are read at once, so that the next stall gets only its own
/// increase.
const LATE_NS: i64 = SLEEP_NS / 2;
/// Number of sleeps between two reads of the steal time: a tenth of a second.
const SLEEPS_BETWEEN_STEAL_READS: u32 = 100;

/// The watcher, which runs until it is dropped.
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
    run_queue_ns: AtomicI64,
    major_faults: AtomicI64,
    steal_ns: AtomicI64,
}

/// Totals of the stalls that the watcher has seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    pub count: u64,
    pub total_ns: i64,
    pub longest_ns: i64,
    /// Run-queue delay of the watcher during these stalls.
    pub run_queue_ns: i64,
    pub major_faults: i64,
    /// Steal time of the machine around these stalls.
    pub steal_ns: i64,
}

impl Watcher {
    /// Writes a stall each time that the process, or the machine, was stopped, and tells the driver threads.
    pub fn start(recorder: &Recorder, stall_register: &StallRegister) -> Result<Watcher, Error> {
        let shared = Arc::new(Shared::default());
        let (seen, recorder, stall_register) = (Arc::clone(&shared), recorder.clone(), stall_register.clone());
        let thread = std::thread::Builder::new()
            .name("load-watcher".to_string())
            .spawn(move || watch(&seen, &recorder, &stall_register))
            .map_err(|source| Error::Start { what: "the thread that watches the driver for stalls", source })?;
        Ok(Watcher { shared, thread: Some(thread) })
    }

    pub fn pauses(&self) -> Pauses {
        let Shared { count, total_ns, longest_ns, run_queue_ns, major_faults, steal_ns, .. } = &*self.shared;
        let [total_ns, longest_ns, run_queue_ns, major_faults, steal_ns] =
            [total_ns, longest_ns, run_queue_ns, major_faults, steal_ns].map(|sum| sum.load(Ordering::Relaxed));
        let count = count.load(Ordering::Relaxed);
        Pauses { count, total_ns, longest_ns, run_queue_ns, major_faults, steal_ns }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed, and the run has a result without it.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &Shared, recorder: &Recorder, stall_register: &StallRegister) {
    let clock = recorder.clock();
    let mut counters = StallCounters::of_this_thread();
    let mut sleeps = 0;
    while !shared.stop.load(Ordering::Relaxed) {
        let due_ns = clock.now_ns() + SLEEP_NS;
        stall_register.due(due_ns);
        sleep_until(&clock, due_ns);
        let now_ns = clock.now_ns();
        let late_ns = now_ns - due_ns;
        sleeps += 1;
        if stall_register.woke(due_ns, now_ns) {
            let (growth, steal_ns) = (counters.thread_growth(), counters.steal_growth());
            // The counter includes waits of earlier sleeps since the last read, which do not belong to this stall.
            let run_queue_ns = growth.run_queue_ns.map(|waited_ns| waited_ns.min(late_ns));
            recorder.append(Stall {
                start_ns: due_ns,
                duration_ns: late_ns,
                side: "load",
                node: "",
                kind: "watcher",
                run_queue_ns,
                major_faults: Some(growth.major_faults),
                steal_ns,
            });
            shared.count.fetch_add(1, Ordering::Relaxed);
            shared.total_ns.fetch_add(late_ns, Ordering::Relaxed);
            shared.longest_ns.fetch_max(late_ns, Ordering::Relaxed);
            shared.run_queue_ns.fetch_add(run_queue_ns.unwrap_or(0), Ordering::Relaxed);
            shared.major_faults.fetch_add(growth.major_faults, Ordering::Relaxed);
            shared.steal_ns.fetch_add(steal_ns.unwrap_or(0), Ordering::Relaxed);
            sleeps = 0;
        } else {
            if late_ns > LATE_NS || sleeps % SLEEPS_BETWEEN_READS == 0 {
                counters.thread_growth();
            }
            if sleeps >= SLEEPS_BETWEEN_STEAL_READS {
                counters.steal_growth();
                sleeps = 0;
            }
        }
    }
    stall_register.due(i64::MAX);
}

/// Sleep until an absolute time: after SIGCONT the kernel continues a relative sleep with its remaining time.
fn sleep_until(clock: &Clock, due_ns: i64) {
    let monotonic_ns = due_ns - clock.epoch_offset_ns();
    let due = libc::timespec { tv_sec: monotonic_ns / 1_000_000_000, tv_nsec: monotonic_ns % 1_000_000_000 };
    // SAFETY: the pointers are to a timespec of ours and to none; a signal only ends the sleep early.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &due, std::ptr::null_mut()) };
}
