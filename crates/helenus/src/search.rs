//! The search for findings in the newest part of a growing recording, beside other work and at a low priority.

use anyhow::{Result, anyhow};
use helenus_explain::{Engine, Explanation, LiveWindow, Options, Stop, explain};
use helenus_recording::Recording;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The number of circular shifts: p-values have a resolution of 1/400, at a fifth of the usual cost.
const SHIFTS: usize = 399;
const LIMIT: Duration = Duration::from_secs(120);
/// The lowest priority, so that the node comes first.
const NICE: libc::c_int = 19;

/// How long to wait between two searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    pub(crate) least: Duration,
    /// The pause is this many times as long as the search before it, which limits the share of a CPU,
    pub(crate) times: u32,
    /// but not longer than this: where CPUs are short, a search takes long without using much of them.
    pub(crate) most: Duration,
}

/// A search at a time, in a thread of its own.
#[derive(Debug)]
pub(crate) struct Search<T> {
    running: Option<Receiver<(Result<T>, Duration)>>,
    ended: Option<Instant>,
    took: Duration,
}

impl<T> Default for Search<T> {
    fn default() -> Search<T> {
        Search { running: None, ended: None, took: Duration::ZERO }
    }
}

impl<T: Send + 'static> Search<T> {
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// How long the last search took.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// Whether none runs and the pause after the last one is over.
    pub(crate) fn is_due(&self, pause: Pause) -> bool {
        let is_over = |ended: Instant| ended.elapsed() >= (self.took * pause.times).clamp(pause.least, pause.most);
        !self.is_running() && self.ended.is_none_or(is_over)
    }

    /// Begins to explain a window of a recording; `found` makes the result of the explanation.
    pub(crate) fn begin(
        &mut self,
        recording: PathBuf,
        window: LiveWindow,
        found: impl FnOnce(Explanation) -> T + Send + 'static,
    ) {
        let (send, running) = channel();
        let begun = std::thread::Builder::new().name("findings".to_string()).spawn(move || {
            let begun = Instant::now();
            let result = search(&recording, window).map(found);
            // The receiver may be dropped when the program ends.
            let _ = send.send((result, begun.elapsed()));
        });
        if begun.is_ok() {
            self.running = Some(running);
        }
    }

    /// Takes the result of a search that has ended; None if there is none.
    pub(crate) fn result(&mut self) -> Option<Result<T>> {
        let (result, took) = match self.running.as_ref()?.try_recv() {
            Ok(ended) => ended,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => (Err(anyhow!("it broke off; please report this")), Duration::ZERO),
        };
        (self.running, self.ended, self.took) = (None, Some(Instant::now()), took);
        Some(result)
    }
}

fn search(recording: &Path, window: LiveWindow) -> Result<Explanation> {
    // SAFETY: no pointers. Lowers the priority of this thread and the threads that it starts.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    let mut engine = Engine::open_within(&[Recording::open(recording)?], (window.from_ns, window.to_ns))?;
    let (_stopper, stop) = Stop::after(LIMIT);
    engine.stop_when(stop);
    let options = Options { shifts: SHIFTS, window: Some((window.from_ns, window.to_ns)), ..Options::default() };
    Ok(explain(&engine, &options)?)
}
