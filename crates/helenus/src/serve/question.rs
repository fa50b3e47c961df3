//! The queries of the API, one for each path.

use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

/// A query of the API. Its path is its name in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    Shared,
    Flame,
    FlameEvents,
    Files,
    Tables,
    Gc,
    Events,
    Schema,
    Sql,
    Compare,
    Changes,
    Live,
    LiveTable,
    LiveFindings,
    Save,
    Controls,
    SettingNow,
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

    /// Whether it reads the rows of recordings, which a process of its own does.
    pub(super) fn reads(self) -> bool {
        use Question::{Controls, Live, LiveFindings, LiveTable, Ping, Recordings, SettingNow};
        !matches!(self, Ping | Recordings | Live | LiveTable | LiveFindings | Controls | SettingNow) && !self.controls()
    }

    /// Whether the answer can be cached: a closed recording does not change.
    pub(super) fn is_kept(self) -> bool {
        self.reads() && !matches!(self, Question::Sql | Question::ReportPage | Question::Save)
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
