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
    /// The rows of each table.
    pub tables: Vec<Rows>,
    pub operations: Vec<OperationDraft>,
}

#[derive(Debug, Clone)]
pub(super) struct OperationDraft {
    pub name: String,
    pub cql: String,
    pub weight: f64,
    /// The index of its table.
    pub table: usize,
    pub made: MadeDraft,
    pub effect: Effect,
    /// Its consistency levels, if they differ from the workload's.
    pub consistency: Option<String>,
    pub serial_consistency: Option<String>,
}

impl OperationDraft {
    /// An operation without a name, in the first table.
    pub fn new(cql: &str, made: MadeDraft, effect: Effect) -> OperationDraft {
        OperationDraft {
            name: String::new(),
            cql: cql.to_string(),
            weight: 1.0,
            table: 0,
            made,
            effect,
            consistency: None,
            serial_consistency: None,
        }
    }
}

/// The rows of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MadeDraft {
    Inserts(Insert, BatchKind),
    Queries(Fields),
    /// A page of a range of tokens.
    Ranges {
        /// The number of parts into which each range of the ring is split.
        split: u64,
        page_size: u64,
    },
}

/// How the partitions and rows of an operation are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The operation writes generated rows.
    Writes,
    /// The operation counts the rows of its response. `must_find`: the row must exist.
    Reads { must_find: bool },
    /// The operation counts the rows and partitions of its response.
    Scans,
}

/// Words of CQL that are names only in quotes.
const RESERVED: &str = "add allow alter and apply asc authorize batch begin by columnfamily create default delete desc \
    describe drop entries execute from full grant if in index infinity insert into is keyspace limit materialized modify \
    nan norecursive not null of on or order primary rename replace revoke schema select set table to token truncate \
    unlogged update use using view where with";

/// A name in CQL, quoted if necessary.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.split_ascii_whitespace().any(|word| word == name);
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
        for (table, rows) in self.tables.iter().enumerate() {
            writeln!(out)?;
            rows.write(out, &self.section(table))?;
        }
        for operation in &self.operations {
            writeln!(out, "\n[operations.{}]", key(&operation.name))?;
            writeln!(out, "cql = {}\nweight = {:?}", text(&operation.cql), operation.weight)?;
            if self.tables.len() > 1 && !matches!(operation.made, MadeDraft::Ranges { .. }) {
                writeln!(out, "table = \"{}\"", operation.table + 1)?;
            }
            let levels =
                [("consistency", &operation.consistency), ("serial_consistency", &operation.serial_consistency)];
            for (name, level) in levels {
                level.as_ref().map_or(Ok(()), |level| writeln!(out, "{name} = {}", text(level)))?;
            }
            match operation.made {
                MadeDraft::Inserts(insert, kind) => {
                    write!(out, "{}", insert.to_toml())?;
                    let kind = match kind {
                        BatchKind::Unlogged => "unlogged",
                        BatchKind::Logged => "logged",
                        BatchKind::Counter => "counter",
                    };
                    writeln!(out, "batch_type = \"{kind}\"")?;
                }
                MadeDraft::Queries(Fields::SameRow) => writeln!(out, "fields = \"samerow\"")?,
                MadeDraft::Queries(Fields::MultiRow) => writeln!(out, "fields = \"multirow\"")?,
                MadeDraft::Ranges { split, page_size } => writeln!(out, "ranges = {split}\npage_size = {page_size}")?,
            }
        }
        Ok(())
    }
}

impl Draft {
    /// The section of a table's rows.
    fn section(&self, table: usize) -> String {
        if self.tables.len() == 1 { "rows".to_string() } else { format!("tables.{}", table + 1) }
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
