//! Checks of this machine: which sources work, which don't, and how to make them work.

use crate::Unavailable;
use serde::Serialize;

/// One thing that Helenus can do here, or not.
#[derive(Debug, Serialize)]
pub struct Check {
    pub what: String,
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// The one command or change that would make it better; empty when there is nothing to do.
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

    /// Of something that is there with all it needs, or not at all.
    pub(crate) fn of(what: &str, available: Result<(), Unavailable>, found: &str) -> Check {
        match available {
            Ok(()) => Check::new(what, CheckState::Works, found, ""),
            Err(missing) => Check::new(what, CheckState::Missing, missing.reason, &missing.way_out),
        }
    }
}
