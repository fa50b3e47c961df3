//! The columns of a table as its definition names them, and the CQL that creates such a table.

use super::facts::{MissingFact, Table};

/// A column of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// The name without quotes.
    pub name: String,
    /// The type as CQL writes it.
    pub cql_type: String,
    /// Whether a clustering column is in descending order.
    pub is_descending: bool,
}

/// The columns of a table by role (partition key, clustering, regular); static columns are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub partition_key: Vec<Column>,
    pub clustering: Vec<Column>,
    pub regular: Vec<Column>,
}

/// Types whose values can have any length.
const UNBOUNDED: [&str; 4] = ["blob", "text", "varchar", "ascii"];
/// Words that can't name a column unless they are quoted; the reserved ones of Cassandra's grammar.
const RESERVED: &str = " add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe \
                        drop entries execute from full grant if in index infinity insert into is keyspace limit \
                        materialized mbean mbeans modify nan norecursive not null of on or order primary rename replace \
                        revoke schema select set table to token truncate unlogged update use using view where with ";
/// The longest table name that Cassandra accepts, in characters.
const NAME_LENGTH: usize = 48;

impl Column {
    fn new(name: &str, cql_type: &str) -> Column {
        Column { name: name.to_string(), cql_type: cql_type.to_string(), is_descending: false }
    }

    /// Whether values of the column's type can have any length.
    pub fn is_unbounded(&self) -> bool {
        let frozen = self.cql_type.strip_prefix("frozen<").and_then(|inner| inner.strip_suffix('>'));
        UNBOUNDED.contains(&self.cql_type.as_str()) || frozen.is_some()
    }

    fn quoted(&self) -> String {
        quoted(&self.name)
    }

    fn defined(&self) -> String {
        format!("{} {}", self.quoted(), self.cql_type)
    }
}

/// A name with quotes if CQL needs them.
fn quoted(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(plain);
    match is_plain && !RESERVED.contains(&format!(" {name} ")) {
        true => name.to_string(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

impl Columns {
    pub fn of(table: &Table) -> Result<Columns, MissingFact> {
        let all = |option: &str| table.option(option).map(list).unwrap_or_default();
        let partition_key = list(table.need_option("partition_key")?);
        Ok(Columns { partition_key, clustering: all("clustering"), regular: all("columns") })
    }

    /// A table that stores columns of this type as rows.
    pub fn table_by_column(&self, keyspace: &str, table: &str, cql_type: &str) -> Proposed {
        let name = Column::new(&self.free_name("column_name"), "text");
        let value = Column::new(&self.free_name("value"), cql_type);
        let clustering = [self.clustering.clone(), vec![name.clone()]].concat();
        let named = table_name(table, "_by_column");
        let cql = create(keyspace, &named, &self.partition_key, &clustering, std::slice::from_ref(&value));
        Proposed { table: named, cql, column_name: name.quoted() }
    }

    /// A table with these columns only and the same primary key.
    pub fn table_of(&self, keyspace: &str, table: &str, columns: &[Column]) -> Proposed {
        let named = table_name(table, "_large");
        let cql = create(keyspace, &named, &self.partition_key, &self.clustering, columns);
        Proposed { table: named, cql, column_name: String::new() }
    }

    /// A column name that no key column has: the wanted name, followed by as many `_` as needed.
    fn free_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        while self.partition_key.iter().chain(&self.clustering).any(|column| column.name == name) {
            name.push('_');
        }
        name
    }
}

/// A table that is proposed in place of an existing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposed {
    /// The table's name without its keyspace.
    pub table: String,
    /// A CREATE TABLE statement that can be run.
    pub cql: String,
    /// The new column that holds the former column names; empty if there is none.
    pub column_name: String,
}

fn table_name(table: &str, ending: &str) -> String {
    let kept: String = table.chars().take(NAME_LENGTH - ending.len()).collect();
    kept + ending
}

fn create(keyspace: &str, table: &str, partition_key: &[Column], clustering: &[Column], regular: &[Column]) -> String {
    let names = |columns: &[Column]| columns.iter().map(Column::quoted).collect::<Vec<_>>().join(", ");
    let defined: Vec<String> = partition_key.iter().chain(clustering).chain(regular).map(Column::defined).collect();
    let key = match clustering {
        [] => format!("({})", names(partition_key)),
        some => format!("({}), {}", names(partition_key), names(some)),
    };
    let order: Vec<String> = clustering
        .iter()
        .map(|column| format!("{} {}", column.quoted(), if column.is_descending { "DESC" } else { "ASC" }))
        .collect();
    let order = match clustering.iter().any(|column| column.is_descending) {
        true => format!(" WITH CLUSTERING ORDER BY ({})", order.join(", ")),
        false => String::new(),
    };
    format!("CREATE TABLE {}.{} ({}, PRIMARY KEY ({key})){order};", quoted(keyspace), quoted(table), defined.join(", "))
}

/// Parses the columns in the form of the recorded facts of a table: `a int, b frozen<map<int, text>> desc`.
pub(super) fn list(text: &str) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, letter) in text.char_indices().chain([(text.len(), ',')]) {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                columns.extend(column(text[start..at].trim()));
                start = at + 1;
            }
            _ => {}
        }
    }
    columns
}

fn column(text: &str) -> Option<Column> {
    let (text, is_descending) = match text.strip_suffix(" desc") {
        Some(text) => (text, true),
        None => (text.strip_suffix(" asc").unwrap_or(text), false),
    };
    let mut depth = 0_usize;
    let at = text.char_indices().rev().find(|(_, letter)| {
        match letter {
            '>' | ')' => depth += 1,
            '<' | '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *letter == ' ' && depth == 0
    })?;
    let (name, cql_type) = text.split_at(at.0);
    Some(Column { is_descending, ..Column::new(name, cql_type.trim()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(partition_key: &str, clustering: &str, regular: &str) -> Columns {
        Columns { partition_key: list(partition_key), clustering: list(clustering), regular: list(regular) }
    }

    #[test]
    fn a_definition_is_read_column_by_column() {
        let read = list("a int, Big Name frozen<map<int, tuple<text, int>>>, at timestamp desc, id uuid asc");
        let short: Vec<_> =
            read.iter().map(|one| (one.name.as_str(), one.cql_type.as_str(), one.is_descending)).collect();
        assert_eq!(
            short,
            [
                ("a", "int", false),
                ("Big Name", "frozen<map<int, tuple<text, int>>>", false),
                ("at", "timestamp", true),
                ("id", "uuid", false),
            ]
        );
        assert_eq!(list(""), []);
    }

    #[test]
    fn a_row_for_each_column() {
        let plain = columns("key int", "", "c0 blob, c1 blob").table_by_column("ks", "t", "blob");
        assert_eq!(
            plain.cql,
            "CREATE TABLE ks.t_by_column (key int, column_name text, value blob, PRIMARY KEY ((key), column_name));"
        );
        let much = columns("Id uuid, value text", "at timestamp desc", "a text").table_by_column("Ks", "order", "text");
        assert_eq!(
            much.cql,
            "CREATE TABLE \"Ks\".order_by_column (\"Id\" uuid, value text, at timestamp, column_name text, value_ text, \
             PRIMARY KEY ((\"Id\", value), at, column_name)) WITH CLUSTERING ORDER BY (at DESC, column_name ASC);"
        );
        assert_eq!(plain.column_name, "column_name");
    }

    #[test]
    fn large_columns_by_themselves() {
        let of = columns("k int", "c int", "a int, order blob");
        let large: Vec<Column> = of.regular.iter().filter(|column| column.is_unbounded()).cloned().collect();
        assert_eq!(
            of.table_of("ks", "t", &large).cql,
            "CREATE TABLE ks.t_large (k int, c int, \"order\" blob, PRIMARY KEY ((k), c));"
        );
    }
}
