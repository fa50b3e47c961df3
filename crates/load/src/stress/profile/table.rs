//! The columns of a table, from the statement that creates it.

use super::cql::{Token, created, tokens};
use crate::driver::KnownColumn;
use crate::rows::{Role, ValueType};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub keyspace: Option<String>,
    pub name: String,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub cql_type: CqlType,
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CqlType {
    /// A column with generated values.
    Plain(ValueType),
    Counter,
    /// A set or list that is not frozen, to which cassandra-stress adds its items.
    Growing,
    /// Another collection, a tuple, a vector or a type of the user's own.
    Compound,
}

impl Table {
    /// Parses `CREATE TABLE`. The error names the problem.
    pub fn parse(cql: &str) -> Result<Table, String> {
        let tokens = tokens(cql);
        let wrong = || "this is not a CREATE TABLE statement with its columns and a PRIMARY KEY".to_string();
        let (keyspace, name, rest) = created(&tokens, "TABLE").ok_or_else(wrong)?;
        let mut columns: Vec<Column> = Vec::new();
        let (mut partition, mut clustering) = (Vec::new(), Vec::new());
        for part in parts(rest).ok_or_else(wrong)? {
            match part {
                // A comma at the end is valid CQL.
                [] => {}
                [primary, key, inner @ ..] if primary.is("PRIMARY") && key.is("KEY") => {
                    let mut names = parts(inner).ok_or_else(wrong)?.into_iter();
                    let first = names.next().ok_or_else(wrong)?;
                    partition = match parts(first) {
                        Some(several) => several.into_iter().filter_map(|name| name.first()?.name()).collect(),
                        None => first.first().and_then(Token::name).into_iter().collect(),
                    };
                    clustering = names.filter_map(|name| name.first()?.name()).collect();
                }
                [name, cql_type @ ..] if !cql_type.is_empty() => {
                    let name = name.name().ok_or_else(wrong)?;
                    if let [.., primary, key] = cql_type
                        && (primary.is("PRIMARY") && key.is("KEY"))
                    {
                        partition = vec![name.clone()];
                    }
                    columns.push(Column { name, cql_type: CqlType::of(cql_type), role: Role::Regular });
                }
                _ => return Err(wrong()),
            }
        }
        if partition.is_empty() {
            return Err(wrong());
        }
        Table::in_order(keyspace, name, columns, (partition, clustering))
    }

    /// The table with these columns of a node.
    pub fn known(keyspace: &str, name: &str, columns: &[KnownColumn]) -> Result<Table, String> {
        let column = |known: &KnownColumn| Column {
            name: known.name.clone(),
            cql_type: CqlType::of(&tokens(&known.cql_type)),
            role: Role::Regular,
        };
        let keys = |kind: &str| {
            let mut keys: Vec<&KnownColumn> = columns.iter().filter(|column| column.kind == kind).collect();
            keys.sort_by_key(|column| column.position.parse::<i32>().unwrap_or(0));
            keys.into_iter().map(|column| column.name.clone()).collect::<Vec<String>>()
        };
        let all = columns.iter().map(column).collect();
        Table::in_order(Some(keyspace.to_string()), name.to_string(), all, (keys("partition_key"), keys("clustering")))
    }

    /// The columns of the key come first, in the key's order.
    fn in_order(
        keyspace: Option<String>,
        name: String,
        mut columns: Vec<Column>,
        (partition, clustering): (Vec<String>, Vec<String>),
    ) -> Result<Table, String> {
        let mut in_order = Vec::with_capacity(columns.len());
        for (names, role) in [(partition, Role::Partition), (clustering, Role::Clustering)] {
            for key in names {
                match columns.iter().position(|column| column.name == key) {
                    Some(position) => in_order.push(Column { role, ..columns.remove(position) }),
                    None => return Err(format!("the PRIMARY KEY has `{key}`, which is no column")),
                }
            }
        }
        in_order.extend(columns);
        Ok(Table { keyspace, name, columns: in_order })
    }
}

/// The tokens between the opening bracket at the start of `tokens` and its closing one, split at commas outside of
/// inner brackets.
fn parts<'t, 'c>(tokens: &'t [Token<'c>]) -> Option<Vec<&'t [Token<'c>]>> {
    let (first, tokens) = tokens.split_first()?;
    if first.text != "(" {
        return None;
    }
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (position, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "<" => depth += 1,
            ")" if depth == 0 => {
                parts.push(&tokens[start..position]);
                return Some(parts);
            }
            ")" | ">" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&tokens[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    None
}

impl CqlType {
    fn of(tokens: &[Token<'_>]) -> CqlType {
        let Some((first, after)) = tokens.split_first() else { return CqlType::Compound };
        if after.first().is_some_and(|next| next.text == "<" || next.text == ".") {
            return if first.is("set") || first.is("list") { CqlType::Growing } else { CqlType::Compound };
        }
        match first.text.to_ascii_lowercase().as_str() {
            "counter" => CqlType::Counter,
            "varchar" | "ascii" => CqlType::Plain(ValueType::Text),
            name => ValueType::of_cql(name).map_or(CqlType::Compound, CqlType::Plain),
        }
    }

    /// The type of generated values.
    pub fn made(self) -> ValueType {
        match self {
            CqlType::Plain(value_type) => value_type,
            CqlType::Counter => ValueType::BigInt,
            CqlType::Growing | CqlType::Compound => ValueType::Compound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_their_types_and_roles() {
        let table = Table::parse(
            "CREATE TABLE IF NOT EXISTS ks.\"Events\" (tenant text, shard tinyint, at timeuuid, \"Kind\" ascii, \
             tags frozen<map<text, int>>, place tuple<int, int>, total counter static, \
             PRIMARY KEY ((tenant, shard), at, \"Kind\")) WITH CLUSTERING ORDER BY (at DESC)",
        )
        .unwrap();
        let shown =
            table.columns.iter().map(|column| format!("{} {:?} {:?}", column.name, column.cql_type, column.role));
        insta::assert_snapshot!(format!(
            "{:?}.{}\n{}",
            table.keyspace,
            table.name,
            shown.collect::<Vec<_>>().join("\n")
        ));
        let single = Table::parse("create table t (k int primary key, v text,)").unwrap();
        assert_eq!(single.columns[0].role, Role::Partition);
    }

    #[test]
    fn the_columns_of_a_node_are_those_of_its_definition() {
        let known = |name: &str, kind: &str, position: i32, cql_type: &str| KnownColumn {
            name: name.to_string(),
            kind: kind.to_string(),
            position: position.to_string(),
            cql_type: cql_type.to_string(),
        };
        let columns = [
            known("Kind", "clustering", 1, "ascii"),
            known("at", "clustering", 0, "timeuuid"),
            known("count", "static", -1, "counter"),
            known("shard", "partition_key", 1, "tinyint"),
            known("tags", "regular", -1, "frozen<set<text>>"),
            known("tenant", "partition_key", 0, "text"),
        ];
        let definition = "CREATE TABLE ks.events (count counter static, tags frozen<set<text>>, tenant text, \
                          shard tinyint, at timeuuid, \"Kind\" ascii, PRIMARY KEY ((tenant, shard), at, \"Kind\"))";
        assert_eq!(Table::known("ks", "events", &columns), Table::parse(definition));
    }

    #[test]
    fn what_is_no_table_is_told() {
        for cql in ["", "CREATE INDEX i ON t (a)", "CREATE TABLE t (a int)", "CREATE TABLE t (a int, PRIMARY KEY (b))"]
        {
            assert!(Table::parse(cql).is_err(), "{cql}");
        }
    }
}
