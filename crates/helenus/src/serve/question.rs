//! The queries of the API, one for each path.

use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};

/// A query of the API. Its path is its name in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Question {
    Ping,
    Recordings,
    Report,
    ReportPage,
    Answer,
    Statements,
    Statement,
    Clients,
    Slowest,
    Flame,
    FlameEvents,
    Files,
    Tables,
    Gc,
    Events,
    Schema,
    Sql,
    Compare,
    Live,
    LiveTable,
    LiveFindings,
    Save,
    Controls,
    AddValve,
    Set,
    Place,
    Switch,
    Undo,
}

impl Question {
    pub(super) fn named(name: &str) -> Option<Question> {
        Question::deserialize(StrDeserializer::<ValueError>::new(name)).ok()
    }

    /// Whether the answer can be cached: a closed recording does not change, but the list of recordings does.
    pub(super) fn is_kept(self) -> bool {
        !matches!(
            self,
            Question::Ping
                | Question::Recordings
                | Question::Sql
                | Question::ReportPage
                | Question::Live
                | Question::LiveTable
                | Question::LiveFindings
                | Question::Save
                | Question::Controls
        ) && !self.controls()
    }

    /// Whether it changes something: the disk or a node.
    pub(super) fn writes(self) -> bool {
        self == Question::Save || self.controls()
    }

    /// Whether it changes a node, or how it is recorded.
    pub(super) fn controls(self) -> bool {
        use Question::{AddValve, Place, Set, Switch, Undo};
        matches!(self, AddValve | Set | Place | Switch | Undo)
    }
}
