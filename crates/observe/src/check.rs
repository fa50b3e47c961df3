//! Checks of this machine: which sources work, and how to enable the others.

use crate::Unavailable;
use serde::Serialize;

/// A capability of this machine.
#[derive(Debug, Serialize)]
pub struct Check {
    pub what: String,
    pub state: CheckState,
    /// The observation behind the verdict.
    pub found: String,
    /// The one command or change that would make it work; empty if there is nothing to do.
    pub way_out: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    Works,
    Degraded,
    Missing,
}

impl Check {
    pub fn new(what: impl Into<String>, state: CheckState, found: impl Into<String>, way_out: &str) -> Check {
        Check {
            what: what.into(),
            state,
            found: found.into(),
            way_out: if state == CheckState::Works { String::new() } else { way_out.into() },
        }
    }

    /// A check with two outcomes: fully available, or not at all.
    pub(crate) fn of(what: &str, available: Result<(), Unavailable>, found: &str) -> Check {
        match available {
            Ok(()) => Check::new(what, CheckState::Works, found, ""),
            Err(missing) => Check::new(what, CheckState::Missing, missing.reason, &missing.way_out),
        }
    }
}
