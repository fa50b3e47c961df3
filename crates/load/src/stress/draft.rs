//! A workload under construction, and its text.

use crate::rows::{Fields, Insert, Rows};
use crate::workload::BatchKind;
use std::fmt::{self, Display};

/// The content of a workload file, and facts that the driver does not need.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub description: String,
    pub consistency: String,
    /// The connections' keyspace, for statements that name a table without its keyspace.
    pub keyspace: Option<String>,
    pub schema: Vec<String>,
    pub truncate: Vec<String>,
    pub rows: Rows,
    pub operations: Vec<OperationDraft>,
}

#[derive(Debug, Clone)]
pub(super) struct OperationDraft {
    pub name: String,
    pub cql: String,
    pub weight: f64,
    pub made: MadeDraft,
    pub effect: Effect,
}

/// The rows of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MadeDraft {
    Inserts(Insert, BatchKind),
    Queries(Fields),
}

/// How the partitions and rows of an operation are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The operation writes generated rows.
    Writes,
    /// The operation counts the rows of its response. `must_find`: the row must exist.
    Reads { must_find: bool },
}

/// A valid name for a bind marker: not a reserved word of CQL.
pub(super) fn marker_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    format!("c_{plain}")
}

/// A name in CQL, quoted if necessary.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A text literal in CQL.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Generates the text of the workload file.
impl Display for Draft {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "description = {}", text(&self.description))?;
        writeln!(out, "consistency = {}", text(&self.consistency))?;
        if let Some(keyspace) = &self.keyspace {
            writeln!(out, "keyspace = {}", text(keyspace))?;
        }
        writeln!(out, "schema = [")?;
        for statement in &self.schema {
            writeln!(out, "  {},", text(statement))?;
        }
        writeln!(out, "]")?;
        write!(out, "\n{}", self.rows)?;
        for operation in &self.operations {
            writeln!(out, "\n[operations.{}]", key(&operation.name))?;
            writeln!(out, "cql = {}\nweight = {:?}", text(&operation.cql), operation.weight)?;
            match operation.made {
                MadeDraft::Inserts(Insert { partitions, select }, kind) => {
                    writeln!(out, "partitions = \"{partitions}\"\nselect = \"{select}\"")?;
                    let kind = match kind {
                        BatchKind::Unlogged => "unlogged",
                        BatchKind::Logged => "logged",
                        BatchKind::Counter => "counter",
                    };
                    writeln!(out, "batch_type = \"{kind}\"")?;
                }
                MadeDraft::Queries(Fields::SameRow) => writeln!(out, "fields = \"samerow\"")?,
                MadeDraft::Queries(Fields::MultiRow) => writeln!(out, "fields = \"multirow\"")?,
            }
        }
        Ok(())
    }
}

fn text(value: &str) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A TOML key, quoted if necessary.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { text(name) }
}
