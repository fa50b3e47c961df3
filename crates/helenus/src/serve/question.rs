//! The queries of the API, one for each path.

/// A query of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    Save,
    Controls,
    AddValve,
    Undo,
}

impl Question {
    pub(super) fn named(name: &str) -> Option<Question> {
        Some(match name {
            "ping" => Question::Ping,
            "recordings" => Question::Recordings,
            "report" => Question::Report,
            "report-page" => Question::ReportPage,
            "answer" => Question::Answer,
            "statements" => Question::Statements,
            "statement" => Question::Statement,
            "clients" => Question::Clients,
            "slowest" => Question::Slowest,
            "flame" => Question::Flame,
            "flame-events" => Question::FlameEvents,
            "files" => Question::Files,
            "tables" => Question::Tables,
            "gc" => Question::Gc,
            "events" => Question::Events,
            "schema" => Question::Schema,
            "sql" => Question::Sql,
            "compare" => Question::Compare,
            "live" => Question::Live,
            "live-table" => Question::LiveTable,
            "save" => Question::Save,
            "controls" => Question::Controls,
            "add-valve" => Question::AddValve,
            "undo" => Question::Undo,
            _ => return None,
        })
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
                | Question::Save
                | Question::Controls
                | Question::AddValve
                | Question::Undo
        )
    }

    /// Whether it changes something: the disk or a node.
    pub(super) fn writes(self) -> bool {
        self == Question::Save || self.controls()
    }

    /// Whether it changes a node.
    pub(super) fn controls(self) -> bool {
        matches!(self, Question::AddValve | Question::Undo)
    }
}
