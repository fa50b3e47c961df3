//! Determines which columns are compared with which values.

use super::Verify;
use super::session::Statement;
use crate::Error;
use crate::workload::{BoundOperation, Generator, Verification, Workload};
use helenus_cassandra::cql::Connection;
use scylla::frame::response::result::{ColumnType, NativeType};
use std::collections::BTreeSet;

/// A column of the answer and the marker of the writing operation that it was written with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compared {
    pub name: String,
    /// Index of the column in a row of the answer.
    pub column: usize,
    /// Index of the marker in the writing operation.
    pub marker: usize,
    /// Whether it is part of the primary key.
    pub key: bool,
    pub typ: ColumnType<'static>,
}

/// Finds the columns, and refuses values that can't be recomputed.
pub(super) fn find(
    connection: &mut Connection,
    order: &Verify,
    how: &Verification,
    reader: &Statement,
    writer: &BoundOperation,
) -> Result<Vec<Compared>, Error> {
    let workload = &order.workload;
    let refused = |reason: String| Error::Verify { workload: workload.name.clone(), reason };
    if let Some(position) = reader.bound.parameters().find(|position| follows_clock(workload, *position)) {
        let name = &workload.parameters[position].name;
        return Err(refused(format!("`:{name}` of the operation that reads is the time of a request, which is over")));
    }
    let keys = match &reader.table {
        Some(table) => primary_key(connection, table).map_err(&refused)?,
        None => BTreeSet::new(),
    };
    let mut compared = Vec::new();
    for (column, (name, typ)) in reader.columns.iter().enumerate() {
        let named = how.columns.iter().find(|(other, _)| other == name).map(|(_, parameter)| parameter.as_str());
        let parameter = match (named, how.columns.is_empty()) {
            (Some(parameter), _) => parameter,
            // Key columns identify the row, whichever other columns are compared.
            (None, empty) if empty || keys.contains(name) => name.as_str(),
            (None, _) => continue,
        };
        let marker = writer.parameters().position(|at| workload.parameters[at].name.eq_ignore_ascii_case(parameter));
        let Some(marker) = marker else { continue };
        let position = writer.parameters().nth(marker).unwrap_or_default();
        let counts = matches!(typ, ColumnType::Native(NativeType::Counter));
        if counts || follows_clock(workload, position) {
            if named.is_some() {
                let why = if counts { "is a counter" } else { "is written with the time of a request" };
                return Err(refused(format!("column `{name}` {why}, which cannot be made again")));
            }
            continue;
        }
        compared.push(Compared { name: name.clone(), column, marker, key: keys.contains(name), typ: typ.clone() });
    }
    if let Some((absent, _)) = how.columns.iter().find(|(name, _)| compared.iter().all(|column| column.name != *name)) {
        return Err(refused(format!("the operation that reads has no column `{absent}`")));
    }
    Ok(compared)
}

fn follows_clock(workload: &Workload, parameter: usize) -> bool {
    matches!(workload.parameters[parameter].generator.single(), Generator::Timestamp { .. })
}

/// Names of the columns of the primary key of a table.
fn primary_key(connection: &mut Connection, (keyspace, table): &(String, String)) -> Result<BTreeSet<String>, String> {
    let quoted = |name: &str| name.replace('\'', "''");
    let cql = format!(
        "SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = '{}' AND table_name = '{}'",
        quoted(keyspace),
        quoted(table)
    );
    let rows = connection.query(&cql).map_err(|error| error.to_string())?;
    let is_key = |row: &usize| matches!(rows.get(*row, "kind").text(), Some("partition_key" | "clustering"));
    let name = |row| rows.get(row, "column_name").text().map(str::to_string);
    Ok((0..rows.rows.len()).filter(is_key).filter_map(name).collect())
}
