//! Searches for findings of a window in the background, with the code of `helenus explain`.

use anyhow::Result;
use helenus_explain::{Engine, Finding, LiveWindow, Options, explain};
use helenus_recording::{Recording, freeze};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// The number of circular shifts: p-values have a resolution of 1/400, at a fifth of the usual cost.
const SHIFTS: usize = 399;
/// The least time between two searches, while the page of findings is visible and otherwise.
const WHILE_VISIBLE: Duration = Duration::from_secs(10);
const OTHERWISE: Duration = Duration::from_secs(60);
/// A pause is this many times as long as the search before it, which limits the share of a CPU.
const PAUSES_WHILE_VISIBLE: u32 = 9;
const PAUSES_OTHERWISE: u32 = 99;

/// The findings of a window.
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) answer: String,
    pub(super) window: LiveWindow,
    pub(super) took: Duration,
}

enum State {
    Idle,
    Searching(Receiver<Result<Found>>),
}

pub(super) struct Findings {
    /// The recording to search; None if there is none.
    recording: Option<PathBuf>,
    state: State,
    found: Option<Found>,
    error: Option<String>,
    ended: Option<Instant>,
}

impl Findings {
    pub(super) fn of(recording: Option<&Path>) -> Findings {
        Findings {
            recording: recording.map(Path::to_path_buf),
            state: State::Idle,
            found: None,
            error: None,
            ended: None,
        }
    }

    pub(super) fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// The text to show when there is no finding.
    pub(super) fn nothing(&self) -> &'static str {
        match (&self.state, &self.found) {
            (_, Some(_)) => "Nothing was found in that window.",
            (State::Searching(_), None) => "Searching …",
            (State::Idle, None) => "Nothing was searched for yet.",
        }
    }

    /// The state of the search, in a line.
    pub(super) fn status(&self) -> String {
        let error = self.error.as_ref().map(|error| format!("the last search failed: {error}"));
        match (&self.state, error) {
            (State::Searching(_), _) => "searching …".to_string(),
            (State::Idle, Some(error)) => error,
            (State::Idle, None) => self.found.as_ref().map_or(String::new(), |found| {
                format!("searched for {:.1} s in the background", found.took.as_secs_f64())
            }),
        }
    }

    /// Takes the result of a finished search, and begins the next one when it is due. Returns whether there is a new
    /// result.
    pub(super) fn update(&mut self, window: Option<LiveWindow>, is_visible: bool, grows: bool) -> bool {
        let mut is_new = false;
        if let State::Searching(result) = &self.state {
            let ended = match result.try_recv() {
                Ok(ended) => ended,
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => Err(anyhow::anyhow!("it broke off; please report this")),
            };
            self.state = State::Idle;
            self.ended = Some(Instant::now());
            match ended {
                Ok(found) => (self.found, self.error) = (Some(found), None),
                Err(error) => self.error = Some(format!("{error:#}")),
            }
            is_new = true;
        }
        let (Some(window), Some(recording)) = (window, &self.recording) else { return is_new };
        let is_known = self.found.as_ref().is_some_and(|found| found.window == window);
        // A recording that has ended is searched only while the page of findings is open.
        if is_known || (!grows && !is_visible) || !self.is_due(is_visible) {
            return is_new;
        }
        let (send, result) = channel();
        let recording = recording.clone();
        let begun = std::thread::Builder::new().name("findings".to_string()).spawn(move || {
            // The receiver may be dropped when the program ends.
            let _ = send.send(search(&recording, window));
        });
        if begun.is_ok() {
            self.state = State::Searching(result);
        }
        true
    }

    fn is_due(&self, is_visible: bool) -> bool {
        let Some(ended) = self.ended else { return true };
        let took = self.found.as_ref().map_or(Duration::ZERO, |found| found.took);
        let pause = match is_visible {
            true => WHILE_VISIBLE.max(took * PAUSES_WHILE_VISIBLE),
            false => OTHERWISE.max(took * PAUSES_OTHERWISE),
        };
        ended.elapsed() >= pause
    }
}

fn search(recording: &Path, window: LiveWindow) -> Result<Found> {
    // SAFETY: no pointers. Lowers the priority of this thread and the threads that it starts, so that the node comes
    // first.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
    let begun = Instant::now();
    let whole = Recording::open(recording)?;
    let folder = tempfile::Builder::new().prefix("helenus-top-").tempdir()?;
    // Search a copy of the window while the recording grows: explain reads all requests of a recording.
    let part = match whole.is_growing() {
        true => {
            let part = folder.path().join("window.helenus");
            freeze(&whole, (window.from_ns, window.to_ns), &part, "window", "helenus top")?;
            Recording::open(&part)?
        }
        false => whole,
    };
    let engine = Engine::open(&[part])?;
    let options = Options { shifts: SHIFTS, window: Some((window.from_ns, window.to_ns)), ..Options::default() };
    let explanation = explain(&engine, &options)?;
    Ok(Found { findings: explanation.findings, answer: explanation.answer, window, took: begun.elapsed() })
}
