//! The operation `insert` of a profile, which sends a statement for each row.

use super::columns::{self, Columns};
use super::table::CqlType;
use super::yaml::Map;
use crate::Error;
use crate::rows::{Distribution, Insert, Ratio, Role, Rows};
use crate::stress::draft::{Effect, MadeDraft, OperationDraft, quoted};
use crate::stress::words::Words;
use crate::workload::BatchKind;

/// The most rows of a request, all of which are in memory at the same time.
const MOST_ROWS: f64 = 1e6;

/// The settings of inserts in a profile and in `-insert`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::stress) struct Inserts {
    partitions: Option<Distribution>,
    /// The share of a partition's rows that a request writes.
    select: Option<Ratio>,
    batch: Option<BatchKind>,
    condition: Option<String>,
}

impl Inserts {
    /// Parses the settings of `-insert`.
    pub fn read(words: &mut Words) -> Result<Inserts, Error> {
        let partitions = words.parsed("partitions=", Distribution::parse)?;
        let select = words.parsed("select-ratio=", Ratio::parse)?;
        let batch = words.parsed("batchtype=", batch)?;
        let once = |value: Option<Distribution>| value.is_none_or(|value| value.only() == Some(1));
        let visits = "a partition is not visited in turns; let select-ratio= say how many rows a request writes";
        if !once(words.parsed("visits=", Distribution::parse)?) {
            return Err(words.wrong("visits=", visits));
        }
        if words.parsed("row-population-ratio=", Ratio::parse)?.is_some_and(|ratio| ratio.mean() < 1.0) {
            return Err(words.wrong("row-population-ratio=", "is 1 here: rows have all of their columns"));
        }
        words.refuse(&[("revisit=", visits)])?;
        words.finish()?;
        Ok(Inserts { partitions, select, batch, condition: None })
    }

    /// Fills in the profile's settings that `-insert` does not give.
    pub(super) fn or_of_profile(self, map: Option<Map<'_>>) -> Result<Inserts, Error> {
        let Some(mut map) = map else { return Ok(self) };
        let partitions = map.parsed("partitions", Distribution::parse)?;
        let select = map.parsed("select", Ratio::parse)?;
        let batch = map.parsed("batchtype", batch)?;
        let condition = map.optional("condition")?.map(|text| text.text);
        if map.parsed("row-population", Ratio::parse)?.is_some_and(|ratio| ratio.mean() < 1.0) {
            return Err(map.error(map.line(), "`insert.row-population` is 1 here: rows have all of their columns"));
        }
        if map.parsed("visits", Distribution::parse)?.is_some_and(|visits| visits.only() != Some(1)) {
            let message = "`insert.visits` is 1 here; let `select` say how many rows a request writes";
            return Err(map.error(map.line(), message));
        }
        map.finish()?;
        Ok(Inserts {
            partitions: self.partitions.or(partitions),
            select: self.select.or(select),
            batch: self.batch.or(batch),
            condition,
        })
    }
}

fn batch(text: &str) -> Result<BatchKind, String> {
    match text.to_ascii_uppercase().as_str() {
        "LOGGED" => Ok(BatchKind::Logged),
        "UNLOGGED" => Ok(BatchKind::Unlogged),
        "COUNTER" => Ok(BatchKind::Counter),
        _ => Err(format!("`{text}` is none of LOGGED, UNLOGGED and COUNTER")),
    }
}

/// Builds the operation.
pub(super) fn operation(
    columns: &Columns<'_>,
    rows: &Rows,
    inserts: &Inserts,
    table: &str,
    weight: f64,
    notes: &mut Vec<String>,
) -> Result<OperationDraft, Error> {
    let wrong = |message: String| Error::Argument { argument: "profile insert".to_string(), message };
    let usual = Insert::default();
    let insert = Insert {
        partitions: inserts.partitions.unwrap_or(usual.partitions),
        select: inserts.select.unwrap_or(usual.select),
    };
    let mean = insert.partitions.mean() * (rows.mean_rows() * insert.select.mean()).max(1.0);
    if mean > MOST_ROWS {
        return Err(wrong(format!(
            "a request would write {mean:.0} rows; make `partitions`, `cluster` or `select` smaller"
        )));
    }
    if insert.partitions.max > 1 && inserts.condition.is_some() {
        return Err(wrong("a `condition` is for one partition; write partitions: fixed(1)".to_string()));
    }
    if inserts.condition.as_ref().is_some_and(|condition| condition.contains(['?', ':'])) {
        return Err(wrong("a `condition` with markers is not taken; write the value into it".to_string()));
    }
    let counters = columns.table.columns.iter().any(|column| column.cql_type == CqlType::Counter);
    let kind = if counters { BatchKind::Counter } else { inserts.batch.unwrap_or(BatchKind::Logged) };
    let cql = statement(columns, table, inserts.condition.as_deref(), notes);
    let (name, made) = ("insert".to_string(), MadeDraft::Inserts(insert, kind));
    Ok(OperationDraft { name, cql, weight, made, effect: Effect::Writes })
}

/// The statement for one row: an UPDATE if there is a column to set, otherwise an INSERT.
fn statement(columns: &Columns<'_>, table: &str, condition: Option<&str>, notes: &mut Vec<String>) -> String {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for column in &columns.table.columns {
        let name = quoted(&column.name);
        let value = match columns::value(column) {
            Ok(value) => value,
            Err(kind) => {
                notes.push(format!("{} stays empty: the driver makes no {kind}", column.name));
                continue;
            }
        };
        match column.role {
            Role::Partition | Role::Clustering => keys.push((name, value)),
            Role::Regular if column.cql_type == CqlType::Counter => values.push(format!("{name} = {name} + {value}")),
            Role::Regular => values.push(format!("{name} = {value}")),
        }
    }
    let condition = condition.map_or(String::new(), |condition| format!(" {}", condition.trim()));
    if values.is_empty() {
        let (names, values): (Vec<String>, Vec<String>) = keys.into_iter().unzip();
        return format!("INSERT INTO {table} ({}) VALUES ({}){condition}", names.join(", "), values.join(", "));
    }
    let keys: Vec<String> = keys.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("UPDATE {table} SET {} WHERE {}{condition}", values.join(", "), keys.join(" AND "))
}
