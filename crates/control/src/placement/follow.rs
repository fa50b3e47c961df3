//! Places the new threads of a pinned process on their CPUs.

use super::{Error, Pin, Restored};
use helenus_recording::cpu_time_of_this_thread_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval of passes for new threads. A new thread waits for the next pass, and the pass waits for a CPU; within 100
/// ms the thread is placed. Waking up is the main cost of a pass, so passes are not more frequent.
const PASS_EVERY: Duration = Duration::from_millis(90);
/// Number of passes between two checks whether the pin should end or the process has ended.
const PASSES_PER_END_CHECK: u64 = passes(500);
/// Number of passes between two scans of all threads, which find ended and missed threads.
const PASSES_PER_FULL_SCAN: u64 = passes(10_000);
/// Number of passes between two reads of all threads' names.
const PASSES_PER_RENAME_CHECK: u64 = passes(20_000);
/// A new thread has the name of its parent and sets its own soon after. So its name is read again in this many passes.
const PASSES_WHILE_YOUNG: u64 = passes(1_000);

/// Approximately the number of passes in a given time.
const fn passes(milliseconds: u64) -> u64 {
    milliseconds.div_ceil(PASS_EVERY.as_millis() as u64)
}

/// A pin, with a thread that places new threads of the process. Dropping it restores all threads.
#[derive(Debug)]
pub struct PinFollower {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<Restored, Error>>>,
    progress: Arc<Progress>,
}

/// Counters of the following thread while it runs.
#[derive(Debug)]
struct Progress {
    started: Instant,
    placed: AtomicU64,
    failed: AtomicU64,
    cpu_ns: AtomicU64,
}

/// The result of following a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FollowSummary {
    pub lasted: Duration,
    /// New threads that were placed.
    pub placed: u64,
    /// Passes in which a thread could not be placed.
    pub failed: u64,
    /// CPU time of following, as a share of one CPU.
    pub cpu_share: f64,
}

impl Pin {
    /// Starts to place new threads. If that fails, returns an error and restores everything.
    pub fn follow(self) -> Result<PinFollower, Error> {
        let (end, ended) = channel();
        let progress = Arc::new(Progress {
            started: Instant::now(),
            placed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
        });
        let shared_progress = Arc::clone(&progress);
        let thread = std::thread::Builder::new()
            .name("pin-follower".to_string())
            .spawn(move || follow(self, &ended, &shared_progress))
            .map_err(Error::read("the threads: no thread can be made here"))?;
        Ok(PinFollower { end: Some(end), thread: Some(thread), progress })
    }
}

impl PinFollower {
    /// Whether following has ended by itself, because the process has ended, the lease is over, or another helenus process
    /// requested it.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub fn progress(&self) -> FollowSummary {
        let lasted = self.progress.started.elapsed();
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        FollowSummary {
            lasted,
            placed: of(&self.progress.placed),
            failed: of(&self.progress.failed),
            cpu_share: of(&self.progress.cpu_ns) as f64 / lasted.as_nanos().max(1) as f64,
        }
    }

    /// Restores all masks, if that is not done yet.
    pub fn unpin(mut self) -> Result<Restored, Error> {
        self.join()
    }

    fn join(&mut self) -> Result<Restored, Error> {
        drop(self.end.take());
        let outcome = self.thread.take().map(JoinHandle::join);
        let broke = || Error::NotRestored("following the threads broke off".to_string());
        outcome.and_then(Result::ok).unwrap_or_else(|| Err(broke()))
    }
}

impl Drop for PinFollower {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // After an error the remaining threads stay in the journal.
            let _ = self.join();
        }
    }
}

fn follow(mut pin: Pin, ended: &Receiver<()>, progress: &Progress) -> Result<Restored, Error> {
    let mut young: Vec<(i32, u64)> = Vec::new();
    for pass in 1_u64.. {
        if ended.recv_timeout(PASS_EVERY) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        if pass.is_multiple_of(PASSES_PER_END_CHECK) && (pin.has_to_end() || !pin.has_process()) {
            break;
        }
        match run_pass(&mut pin, pass, &mut young) {
            Ok(placed) => progress.placed.fetch_add(placed as u64, Ordering::Relaxed),
            Err(Error::Ended { .. }) => break,
            // One thread failed, for example because of its cpuset. The others are still placed.
            Err(_) => progress.failed.fetch_add(1, Ordering::Relaxed),
        };
        progress.cpu_ns.store(cpu_time_of_this_thread_ns().unsigned_abs(), Ordering::Relaxed);
    }
    pin.put_back()
}

fn run_pass(pin: &mut Pin, pass: u64, young: &mut Vec<(i32, u64)>) -> Result<usize, Error> {
    let new = if pass.is_multiple_of(PASSES_PER_FULL_SCAN) { pin.place_all()? } else { pin.place_new()? };
    if pin.depends_on_names() {
        young.retain(|(_, seen_at)| pass - seen_at <= PASSES_WHILE_YOUNG);
        let tids: Vec<i32> = young.iter().map(|(tid, _)| *tid).collect();
        pin.place_renamed(&tids)?;
        young.extend(new.iter().map(|tid| (*tid, pass)));
    }
    if pass.is_multiple_of(PASSES_PER_RENAME_CHECK) && pin.depends_on_names() {
        let tids = pin.tids();
        pin.place_renamed(&tids)?;
    }
    Ok(new.len())
}
