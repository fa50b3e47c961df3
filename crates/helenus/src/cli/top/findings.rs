//! Searches for findings in the window that is shown, while the screen goes on.

use crate::search::{Pause, Search};
use helenus_explain::{LiveFindings, LiveWindow};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two searches, while the page of findings is visible and otherwise.
const WHILE_VISIBLE: Pause = Pause { least: Duration::from_secs(10), times: 9, most: Duration::from_secs(60) };
const OTHERWISE: Pause = Pause { least: Duration::from_secs(60), times: 199, most: Duration::from_secs(600) };

pub(super) struct Findings {
    /// The recording to search; None if there is none.
    recording: Option<PathBuf>,
    search: Search,
    found: Option<LiveFindings>,
    /// The windows that were searched, and that is searched.
    known: Option<LiveWindow>,
    begun: Option<LiveWindow>,
    error: Option<String>,
}

impl Findings {
    pub(super) fn of(recording: Option<&Path>) -> Findings {
        Findings {
            recording: recording.map(Path::to_path_buf),
            search: Search::default(),
            found: None,
            known: None,
            begun: None,
            error: None,
        }
    }

    pub(super) fn found(&self) -> Option<&LiveFindings> {
        self.found.as_ref()
    }

    /// The text to show when there is no finding.
    pub(super) fn nothing(&self) -> &'static str {
        match (self.search.is_running(), &self.found) {
            (_, Some(_)) => "Nothing was found in that window.",
            (true, None) => "Searching …",
            (false, None) => "Nothing was searched for yet.",
        }
    }

    /// The state of the search, in a line.
    pub(super) fn status(&self) -> String {
        if self.search.is_running() {
            return "searching …".to_string();
        }
        match (&self.error, &self.found) {
            (Some(error), _) => format!("the last search failed: {error}"),
            (None, Some(_)) => {
                format!("searched for {:.1} s in the background", self.search.took().as_secs_f64())
            }
            (None, None) => String::new(),
        }
    }

    /// Takes the result of a finished search, and begins the next one when it is due. Returns whether there is a new
    /// result.
    pub(super) fn update(&mut self, window: Option<LiveWindow>, is_visible: bool, grows: bool) -> bool {
        let ended = self.search.result();
        let is_new = ended.is_some();
        match ended {
            Some(Ok(found)) => (self.found, self.known, self.error) = (Some(found), self.begun, None),
            Some(Err(error)) => self.error = Some(format!("{error:#}")),
            None if self.search.is_running() => return false,
            None => {}
        }
        let (Some(window), Some(recording)) = (window, &self.recording) else { return is_new };
        let is_known = self.known == Some(window);
        let length = |window: LiveWindow| window.to_ns.saturating_sub(window.from_ns);
        // The first findings are those of a few seconds.
        let is_longer = |known: LiveWindow| length(window) >= length(known).saturating_mul(2);
        // A recording that has ended is searched only while the page of findings is open.
        let pause = match self.known.is_some_and(is_longer) {
            true => Pause { times: 0, ..WHILE_VISIBLE },
            false if is_visible => WHILE_VISIBLE,
            false => OTHERWISE,
        };
        if is_known || (!grows && !is_visible) || !self.search.is_due(pause) {
            return is_new;
        }
        self.search.begin(recording.clone(), window);
        self.begun = Some(window);
        true
    }
}
