//! The search for findings in the newest part of a growing recording, in a process of its own, beside other work and at a low
//! priority.

use crate::apart::{Limits, Reply, Task, ask};
use anyhow::{Result, anyhow};
use helenus_explain::{Engine, LiveFindings, LiveWindow, Options, explain};
use helenus_recording::Recording;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The number of circular shifts: p-values have a resolution of 1/400, at a fifth of the usual cost.
const SHIFTS: usize = 399;
/// The lowest priority, so that the node comes first.
const NICE: i32 = 19;

/// How long to wait between two searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    pub(crate) least: Duration,
    /// The pause is this many times as long as the search before it, which limits the share of a CPU,
    pub(crate) times: u32,
    /// but not longer than this: where CPUs are short, a search takes long without using much of them.
    pub(crate) most: Duration,
}

/// The order to search a window for findings.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// A path need not be UTF-8.
    recording: Vec<u8>,
    window_ns: (i64, i64),
}

impl Wanted {
    fn of(recording: &Path, window: LiveWindow) -> Wanted {
        let recording = recording.as_os_str().as_bytes().to_vec();
        Wanted { recording, window_ns: (window.from_ns, window.to_ns) }
    }

    /// Searches, in the child.
    pub(crate) fn answer(&self) -> Result<Reply> {
        let recording = PathBuf::from(std::ffi::OsString::from_vec(self.recording.clone()));
        let engine = Engine::open_within(&[Recording::open(&recording)?], self.window_ns)?;
        let options = Options { shifts: SHIFTS, window: Some(self.window_ns), ..Options::default() };
        let (from_ns, to_ns) = self.window_ns;
        let found = LiveFindings::of(&explain(&engine, &options)?, LiveWindow::of_all(from_ns, to_ns));
        Ok(Reply { body: serde_json::to_string(&found)?, span: None })
    }
}

/// A search at a time, with a thread that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Search {
    running: Option<Receiver<(Result<LiveFindings>, Duration)>>,
    ended: Option<Instant>,
    took: Duration,
}

impl Search {
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

    /// Begins to explain a window of a recording.
    pub(crate) fn begin(&mut self, recording: PathBuf, window: LiveWindow) {
        let (send, running) = channel();
        let begun = std::thread::Builder::new().name("findings".to_string()).spawn(move || {
            let begun = Instant::now();
            let result = search(&recording, window);
            // The receiver may be dropped when the program ends.
            let _ = send.send((result, begun.elapsed()));
        });
        if begun.is_ok() {
            self.running = Some(running);
        }
    }

    /// Takes the result of a search that has ended; None if there is none.
    pub(crate) fn result(&mut self) -> Option<Result<LiveFindings>> {
        let (result, took) = match self.running.as_ref()?.try_recv() {
            Ok(ended) => ended,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => (Err(anyhow!("it broke off; please report this")), Duration::ZERO),
        };
        (self.running, self.ended, self.took) = (None, Some(Instant::now()), took);
        Some(result)
    }
}

fn search(recording: &Path, window: LiveWindow) -> Result<LiveFindings> {
    let task = Task::Findings(Wanted::of(recording, window));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let reply = runtime.block_on(ask(&task, &Limits::beside_a_node(NICE)))?;
    Ok(serde_json::from_str(&reply.body)?)
}
