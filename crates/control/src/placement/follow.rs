//! Giving new threads their CPUs, for as long as a process is pinned.

use super::{Error, Pin, Restored};
use helenus_recording::cpu_time_of_this_thread_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks for new threads. One that was made right after a look waits for so long, and for a CPU: within 100 ms
/// it has its own. Waking up is what a look costs most, so that there are no more of them than that needs.
const EVERY: Duration = Duration::from_millis(90);
/// Looks between two at whether somebody wants it ended, or the process has.
const LOOKS_PER_WISH: u64 = looks(500);
/// Looks between two at all threads: to see which have ended, and which were missed.
const LOOKS_PER_ALL: u64 = looks(10_000);
/// Looks between two at the names of all threads.
const LOOKS_PER_NAMES: u64 = looks(20_000);
/// A thread is made with the name of the one that made it, and takes its own soon after: its name is looked at so often.
const LOOKS_WHILE_YOUNG: u64 = looks(1_000);

/// About as many as there are in that time.
const fn looks(milliseconds: u64) -> u64 {
    milliseconds.div_ceil(EVERY.as_millis() as u64)
}

/// A pin with a thread of ours that looks for new threads. Dropped, everything is put back.
#[derive(Debug)]
pub struct Following {
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

/// The result of following.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Followed {
    pub lasted: Duration,
    /// Threads that came, and were given their CPUs.
    pub placed: u64,
    /// Looks at which a thread could not be given its CPUs.
    pub failed: u64,
    /// Share of one CPU that it took.
    pub cpu_share: f64,
}

impl Pin {
    /// Gives new threads their CPUs from now on. If following can't start, returns an error and restores everything.
    pub fn follow(self) -> Result<Following, Error> {
        let (end, ended) = channel();
        let progress = Arc::new(Progress {
            started: Instant::now(),
            placed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
        });
        let told = Arc::clone(&progress);
        let thread = std::thread::Builder::new()
            .name("pin-follower".to_string())
            .spawn(move || follow(self, &ended, &told))
            .map_err(Error::read("the threads: no thread can be made here"))?;
        Ok(Following { end: Some(end), thread: Some(thread), progress })
    }
}

impl Following {
    /// Whether it has ended by itself: the process has, or another helenus has asked for it.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub fn progress(&self) -> Followed {
        let lasted = self.progress.started.elapsed();
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Followed {
            lasted,
            placed: of(&self.progress.placed),
            failed: of(&self.progress.failed),
            cpu_share: of(&self.progress.cpu_ns) as f64 / lasted.as_nanos().max(1) as f64,
        }
    }

    /// Makes everything as it was, where that is not done yet.
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

impl Drop for Following {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // On an error the rest stays in the journal.
            let _ = self.join();
        }
    }
}

fn follow(mut pin: Pin, ended: &Receiver<()>, progress: &Progress) -> Result<Restored, Error> {
    let mut young: Vec<(i32, u64)> = Vec::new();
    for look in 1_u64.. {
        if ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        if look.is_multiple_of(LOOKS_PER_WISH) && (pin.is_asked_to_end() || !pin.has_process()) {
            break;
        }
        match look_once(&mut pin, look, &mut young) {
            Ok(placed) => progress.placed.fetch_add(placed as u64, Ordering::Relaxed),
            Err(Error::Ended { .. }) => break,
            // One that its cpuset keeps from a CPU, say: the others are looked after all the same.
            Err(_) => progress.failed.fetch_add(1, Ordering::Relaxed),
        };
        progress.cpu_ns.store(cpu_time_of_this_thread_ns().unsigned_abs(), Ordering::Relaxed);
    }
    pin.put_back()
}

fn look_once(pin: &mut Pin, look: u64, young: &mut Vec<(i32, u64)>) -> Result<usize, Error> {
    let new = if look.is_multiple_of(LOOKS_PER_ALL) { pin.place_all()? } else { pin.place_new()? };
    if pin.depends_on_names() {
        young.retain(|(_, seen_at)| look - seen_at <= LOOKS_WHILE_YOUNG);
        let tids: Vec<i32> = young.iter().map(|(tid, _)| *tid).collect();
        pin.place_renamed(&tids)?;
        young.extend(new.iter().map(|tid| (*tid, look)));
    }
    if look.is_multiple_of(LOOKS_PER_NAMES) && pin.depends_on_names() {
        let tids = pin.tids();
        pin.place_renamed(&tids)?;
    }
    Ok(new.len())
}
