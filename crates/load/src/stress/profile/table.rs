//! The columns of a table, from the statement that creates it.

use super::cql::{Token, tokens};
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
    Duration,
    /// A collection, a tuple, a vector or a user-defined type, for which no values are generated.
    Compound,
}

impl Table {
    /// Parses `CREATE TABLE`. The error names the problem.
    pub fn parse(cql: &str) -> Result<Table, String> {
        let tokens = tokens(cql);
        let wrong = || "this is not a CREATE TABLE statement with its columns and a PRIMARY KEY".to_string();
        let mut rest = tokens.as_slice();
        for word in ["CREATE", "TABLE"] {
            rest = match rest {
                [first, after @ ..] if first.is(word) => after,
                _ => return Err(wrong()),
            };
        }
        if let [first, second, third, after @ ..] = rest
            && (first.is("IF") && second.is("NOT") && third.is("EXISTS"))
        {
            rest = after;
        }
        let (keyspace, name, rest) = match rest {
            [keyspace, dot, name, after @ ..] if dot.text == "." => (keyspace.name(), name.name(), after),
            [name, after @ ..] => (None, name.name(), after),
            [] => return Err(wrong()),
        };
        let name = name.ok_or_else(wrong)?;
        let mut columns: Vec<Column> = Vec::new();
        let (mut partition, mut clustering) = (Vec::new(), Vec::new());
        for part in parts(rest).ok_or_else(wrong)? {
            match part {
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
        // The columns of the key come first, in the key's order.
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
            return CqlType::Compound;
        }
        match first.text.to_ascii_lowercase().as_str() {
            "counter" => CqlType::Counter,
            "duration" => CqlType::Duration,
            "varchar" | "ascii" => CqlType::Plain(ValueType::Text),
            name => ValueType::of_cql(name).map_or(CqlType::Compound, CqlType::Plain),
        }
    }

    /// The type of generated values; the error names a type that is not supported.
    pub fn made(self) -> Result<ValueType, &'static str> {
        match self {
            CqlType::Plain(value_type) => Ok(value_type),
            CqlType::Counter => Ok(ValueType::BigInt),
            CqlType::Duration => Err("duration"),
            CqlType::Compound => Err("collection or type of your own"),
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
        let single = Table::parse("create table t (k int primary key, v text)").unwrap();
        assert_eq!(single.columns[0].role, Role::Partition);
    }

    #[test]
    fn what_is_no_table_is_told() {
        for cql in ["", "CREATE INDEX i ON t (a)", "CREATE TABLE t (a int)", "CREATE TABLE t (a int, PRIMARY KEY (b))"]
        {
            assert!(Table::parse(cql).is_err(), "{cql}");
        }
    }
}
