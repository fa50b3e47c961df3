//! Restores the tables of a workload before a run: truncates them, or drops and recreates them.

use helenus_cassandra::cql::{Connection, Error};
use helenus_load::Workload;
use std::net::SocketAddr;
use std::time::Duration;

/// Timeout for truncating a table, which flushes it and waits for all nodes.
const WITHIN: Duration = Duration::from_secs(60);

/// Truncates the tables that the statements of a workload's schema create, if they exist.
pub fn truncate(node: SocketAddr, schema: &[String]) -> Result<(), Error> {
    for_each_table(node, schema, "TRUNCATE TABLE")
}

/// Drops the tables that a workload's schema creates, if they exist.
pub(crate) fn drop_tables(node: SocketAddr, schema: &[String]) -> Result<(), Error> {
    for_each_table(node, schema, "DROP TABLE")
}

/// Runs the statements of a workload's schema.
pub(crate) fn create(node: SocketAddr, workload: &Workload) -> Result<(), Error> {
    let mut connection = Connection::open(node, WITHIN, None)?;
    workload.schema_statements().try_for_each(|statement| connection.query(&statement).map(drop))
}

/// The tables that the statements of a workload's schema create, as `keyspace.table`.
pub(crate) fn tables(schema: &[String]) -> Vec<String> {
    let tables = schema.iter().filter_map(|statement| created(statement));
    tables.map(|table| format!("{}.{}", table.keyspace, table.name)).collect()
}

fn for_each_table(node: SocketAddr, schema: &[String], what: &str) -> Result<(), Error> {
    let mut connection = Connection::open(node, WITHIN, None)?;
    for table in schema.iter().filter_map(|statement| created(statement)) {
        let found = connection.query(&format!(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{}' AND table_name = '{}'",
            table.keyspace, table.name
        ))?;
        if !found.rows.is_empty() {
            connection.query(&format!("{what} \"{}\".\"{}\"", table.keyspace, table.name))?;
        }
    }
    Ok(())
}

/// A table's name as the node stores it: without quotes, and in lower case if it was not quoted.
#[derive(Debug, PartialEq, Eq)]
struct TableName {
    keyspace: String,
    name: String,
}

/// The table that a statement creates. None for other statements, and for a name without keyspace, because a workload
/// has no keyspace in use.
fn created(statement: &str) -> Option<TableName> {
    let words = statement.replace('(', " ( ");
    let mut words = words.split_whitespace();
    let mut is = |expected: &str| words.next().is_some_and(|word| word.eq_ignore_ascii_case(expected));
    if !is("CREATE") || !is("TABLE") {
        return None;
    }
    let mut name = words.next()?;
    if name.eq_ignore_ascii_case("IF") {
        name = words.nth(2)?;
    }
    let (keyspace, name) = name.split_once('.')?;
    let known = |name: &str| match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.to_string(),
        None => name.to_lowercase(),
    };
    Some(TableName { keyspace: known(keyspace), name: known(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_other_statements() {
        let table = |keyspace: &str, name: &str| Some(TableName { keyspace: keyspace.into(), name: name.into() });
        assert_eq!(created("CREATE TABLE IF NOT EXISTS helenus.keyvalue (key bigint)"), table("helenus", "keyvalue"));
        assert_eq!(created("create table Ks.\"Big\"(key bigint)"), table("ks", "Big"));
        assert_eq!(created("CREATE KEYSPACE IF NOT EXISTS helenus WITH x"), None);
        assert_eq!(created("CREATE INDEX ON a.b (c)"), None);
        assert_eq!(created("CREATE TABLE alone (c int)"), None);
        let built_in = helenus_load::Workload::open("wide-rows").unwrap();
        assert!(built_in.schema.iter().filter_map(|statement| created(statement)).count() > 0);
    }
}
