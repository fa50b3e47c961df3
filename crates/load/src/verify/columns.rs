//! Determines which columns are compared with which values.

use super::Verify;
use crate::Error;
use crate::driver::Statement;
use crate::workload::{BoundOperation, Generator, Verification, Workload};
use scylla::client::session::Session;
use scylla::frame::response::result::{ColumnSpec, ColumnType, NativeType};
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
pub(super) async fn find(
    session: &Session,
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
    let specs = reader.prepared.get_current_result_set_col_specs();
    let specs = specs.get();
    let keys = match specs.iter().next() {
        Some(first) => primary_key(session, first).await.map_err(&refused)?,
        None => BTreeSet::new(),
    };
    let mut compared = Vec::new();
    for (column, spec) in specs.iter().enumerate() {
        let named = how.columns.iter().find(|(name, _)| name == spec.name()).map(|(_, parameter)| parameter.as_str());
        let parameter = match (named, how.columns.is_empty()) {
            (Some(parameter), _) => parameter,
            // Key columns identify the row, whichever other columns are compared.
            (None, empty) if empty || keys.contains(spec.name()) => spec.name(),
            (None, _) => continue,
        };
        let marker = writer.parameters().position(|at| workload.parameters[at].name.eq_ignore_ascii_case(parameter));
        let Some(marker) = marker else { continue };
        let position = writer.parameters().nth(marker).unwrap_or_default();
        let counts = matches!(spec.typ(), ColumnType::Native(NativeType::Counter));
        if counts || follows_clock(workload, position) {
            if named.is_some() {
                let why = if counts { "is a counter" } else { "is written with the time of a request" };
                return Err(refused(format!("column `{}` {why}, which cannot be made again", spec.name())));
            }
            continue;
        }
        compared.push(Compared {
            name: spec.name().to_string(),
            column,
            marker,
            key: keys.contains(spec.name()),
            typ: spec.typ().clone().into_owned(),
        });
    }
    if let Some((absent, _)) = how.columns.iter().find(|(name, _)| compared.iter().all(|column| column.name != *name)) {
        return Err(refused(format!("the operation that reads has no column `{absent}`")));
    }
    Ok(compared)
}

fn follows_clock(workload: &Workload, parameter: usize) -> bool {
    matches!(workload.parameters[parameter].generator.single(), Generator::Timestamp { .. })
}

/// Names of the columns of the primary key of a column's table.
async fn primary_key(session: &Session, of: &ColumnSpec<'_>) -> Result<BTreeSet<String>, String> {
    let cql = "SELECT column_name, kind FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?";
    let table = of.table_spec();
    let answer = session.query_unpaged(cql, (table.ks_name(), table.table_name())).await;
    let rows = answer.map_err(|error| error.to_string())?.into_rows_result().map_err(|error| error.to_string())?;
    let rows = rows.rows::<(String, String)>().map_err(|error| error.to_string())?;
    let keys = rows.filter_map(Result::ok).filter(|(_, kind)| kind == "partition_key" || kind == "clustering");
    Ok(keys.map(|(name, _)| name).collect())
}
