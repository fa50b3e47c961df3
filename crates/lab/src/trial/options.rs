//! The candidates of a try, and its options.

use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A name with quotes if CQL needs them.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A table's full name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    pub keyspace: String,
    pub table: String,
}

impl TableName {
    pub(super) fn quoted(&self) -> String {
        format!("{}.{}", quoted(&self.keyspace), quoted(&self.table))
    }

    /// A statement with the table's full name in place of a name without keyspace.
    pub(super) fn qualify(&self, statement: &str) -> String {
        let lower = statement.to_ascii_lowercase();
        let Some(from) = lower.find(" from ").map(|at| at + " from ".len()) else { return statement.to_string() };
        let name = statement[from..].trim_start();
        let end = name.find(|letter: char| letter.is_whitespace() || letter == ';').unwrap_or(name.len());
        format!("{}{}{}", &statement[..from], self.quoted(), &name[end..])
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.table)
    }
}

/// A candidate: a change to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    pub name: String,
    /// Table options and their values, in CQL notation.
    pub options: Vec<(String, String)>,
}

impl Candidate {
    /// The statement that makes the change on all nodes of a ring.
    pub fn alter(&self, table: &TableName) -> String {
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("ALTER TABLE {} WITH {}", table.quoted(), options.join(" AND "))
    }
}

/// A statement of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    pub statement: String,
    pub count: u64,
}

/// Options of a try.
#[derive(Debug, Clone)]
pub struct Options {
    /// Heap of each trial node.
    pub heap: String,
    /// Further JVM options of all trial nodes.
    pub jvm_options: Vec<String>,
    /// "key=value" for cassandra.yaml of all trial nodes.
    pub settings: Vec<String>,
    /// Folder for the trial nodes; None for one beside the node's data.
    pub folder: Option<PathBuf>,
    /// The share of all tokens that is tried; None for the whole table.
    pub sample: Option<f64>,
    /// Reads from a recording; None for reads of whole partitions.
    pub replayed: Vec<Replayed>,
    pub blocks: usize,
    /// The longest time for compaction; SSTables that are not compacted by then stay as they are.
    pub settle_within: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_named_whole() {
        let table = TableName { keyspace: "Shop".into(), table: "orders".into() };
        let whole = "SELECT a FROM \"Shop\".\"orders\" WHERE k = ?";
        assert_eq!(table.qualify("SELECT a FROM orders WHERE k = ?"), whole);
        assert_eq!(table.qualify("SELECT a FROM \"Shop\".orders WHERE k = ?"), whole);
        assert_eq!(table.qualify("select a from orders"), "select a from \"Shop\".\"orders\"");
        let leveled = Candidate { name: "l".into(), options: vec![("gc_grace_seconds".into(), "1".into())] };
        assert_eq!(leveled.alter(&table), "ALTER TABLE \"Shop\".\"orders\" WITH gc_grace_seconds = 1");
    }
}
