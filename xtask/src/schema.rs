//! Reads `schema/*.toml`: the only declaration of the tables of a recording.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;

/// Version of the recording format. It is raised if older readers could misread a recording.
pub const FORMAT: u32 = 1;

/// The unit of points in time, which a merge moves from one clock to another.
pub const TIME_UNIT: &str = "ns since the Unix epoch";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: String,
    /// The name of one row in code.
    pub row: String,
    pub since: u32,
    /// The column that says when a row happened.
    pub time: String,
    pub meaning: String,
    /// How two recorders may have the same rows; None for facts that only the recorder itself can know, such as the
    /// requests that it sent.
    pub seen: Option<Seen>,
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
}

/// That two recorders may have the same rows, which are then counted once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub of: Subject,
    /// Names of the sources, as in the table `sources`, that write the table; their reports tell when a recorder was
    /// watching.
    pub sources: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    Machine,
    Node,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: Type,
    pub unit: String,
    #[serde(default)]
    pub nullable: bool,
    /// The format version in which the column was added, if later than its table's.
    pub since: Option<u32>,
    pub meaning: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Type {
    Int64,
    Double,
    String,
    Bool,
}

impl Type {
    /// The type's name in the format and its documents.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int64 => "INT64",
            Type::Double => "DOUBLE",
            Type::String => "STRING",
            Type::Bool => "BOOL",
        }
    }
}

/// All tables in the order of their names, which is also their index in the agent's protocol.
pub fn read(folder: &Path) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path)?;
        let table: Table = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        check(&table).with_context(|| format!("in {}", path.display()))?;
        tables.push(table);
    }
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tables)
}

fn check(table: &Table) -> Result<()> {
    let named = |name: &str| table.columns.iter().find(|column| column.name == name);
    ensure!(
        named(&table.time).is_some_and(|column| column.unit == TIME_UNIT && !column.nullable),
        "the time column `{}` must exist, hold {TIME_UNIT} and never be null",
        table.time
    );
    if let Some(seen) = &table.seen {
        ensure!(!seen.sources.is_empty(), "`seen` must name the sources that write the table");
        ensure!(named("node").is_some(), "`seen` needs a column `node`");
    }
    for column in &table.columns {
        ensure!(column.unit != TIME_UNIT || column.ty == Type::Int64, "`{}` is a time and must be INT64", column.name);
        ensure!(
            column.since.is_none() || column.nullable,
            "`{}` is newer than its table and must be nullable",
            column.name
        );
    }
    Ok(())
}

/// A number for the whole schema, by which two processes can tell whether theirs are the same (FNV-1a, 64 bits).
pub fn fingerprint(tables: &[Table]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for table in tables {
        add(&table.name);
        for column in &table.columns {
            add(&column.name);
            add(&format!("{:?}{}", column.ty, column.nullable));
        }
    }
    format!("{hash:016x}")
}
