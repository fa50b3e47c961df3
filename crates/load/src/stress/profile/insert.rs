//! The operation `insert` of a profile, which sends a statement for each row.

use super::columns::Columns;
use super::source::Profile;
use super::table::CqlType;
use super::yaml::Map;
use crate::Error;
use crate::rows::{Distribution, Insert, Ratio, Role, Rows, ValueType};
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
    /// The number of requests into which a partition's rows are divided, and which partition is continued.
    visits: Option<Distribution>,
    revisit: Option<Distribution>,
    batch: Option<BatchKind>,
    condition: Option<String>,
}

impl Inserts {
    /// Parses the settings of `-insert`.
    pub fn read(words: &mut Words) -> Result<Inserts, Error> {
        let partitions = words.parsed("partitions=", Distribution::parse)?;
        let select = words.parsed("select-ratio=", Ratio::parse)?;
        let batch = words.parsed("batchtype=", batch)?;
        let visits = words.parsed("visits=", Distribution::parse)?;
        let revisit = words.parsed("revisit=", Distribution::parse)?;
        if words.parsed("row-population-ratio=", Ratio::parse)?.is_some_and(|ratio| ratio.mean() < 1.0) {
            return Err(words.wrong("row-population-ratio=", "is 1 here: rows have all of their columns"));
        }
        words.finish()?;
        let inserts = Inserts { partitions, select, visits, revisit, batch, condition: None };
        inserts.insert().check().map_err(|message| words.wrong("revisit=", &message))?;
        Ok(inserts)
    }

    /// Fills in the profile's settings that `-insert` does not give.
    pub(super) fn or_of_profile(self, map: Option<Map<'_>>, notes: &mut Vec<String>) -> Result<Inserts, Error> {
        let Some(mut map) = map else { return Ok(self) };
        let partitions = map.parsed("partitions", Distribution::parse)?;
        let select = map.parsed("select", Ratio::parse)?;
        let batch = map.parsed("batchtype", batch)?;
        let condition = map.optional("condition")?.map(|text| text.text);
        if map.parsed("row-population", Ratio::parse)?.is_some_and(|ratio| ratio.mean() < 1.0) {
            return Err(map.error(map.line(), "`insert.row-population` is 1 here: rows have all of their columns"));
        }
        let (visits, revisit) =
            (map.parsed("visits", Distribution::parse)?, map.parsed("revisit", Distribution::parse)?);
        map.finish(notes)?;
        Ok(Inserts {
            partitions: self.partitions.or(partitions),
            select: self.select.or(select),
            visits: self.visits.or(visits),
            revisit: self.revisit.or(revisit),
            batch: self.batch.or(batch),
            condition,
        })
    }

    /// The settings, with the defaults of cassandra-stress for those that are not given.
    fn insert(&self) -> Insert {
        let usual = Insert::default();
        Insert {
            partitions: self.partitions.unwrap_or(usual.partitions),
            select: self.select.unwrap_or(usual.select),
            visits: self.visits.unwrap_or(usual.visits),
            revisit: self.revisit.unwrap_or(usual.revisit),
        }
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
    profile: &Profile,
    notes: &mut Vec<String>,
) -> Result<OperationDraft, Error> {
    let wrong = |message: String| Error::Argument { argument: "profile insert".to_string(), message };
    let inserts = &profile.inserts;
    let insert = inserts.insert();
    insert.check().map_err(wrong)?;
    let share = insert.select.mean() / insert.visits.mean().max(1.0);
    let mean = insert.partitions.mean() * (rows.mean_rows() * share).max(1.0);
    if mean > MOST_ROWS {
        return Err(wrong(format!(
            "a request would write {mean:.0} rows; make `partitions`, `cluster` or `select` smaller"
        )));
    }
    if insert.partitions.max > 1 && inserts.condition.is_some() {
        return Err(wrong("a `condition` is for one partition; write partitions: fixed(1)".to_string()));
    }
    for column in columns.table.columns.iter().filter(|column| column.cql_type.made() == ValueType::Duration) {
        notes.push(format!("{} is always 1h30m", column.name));
    }
    let counters = columns.table.columns.iter().any(|column| column.cql_type == CqlType::Counter);
    let kind = if counters { BatchKind::Counter } else { inserts.batch.unwrap_or(BatchKind::Logged) };
    let cql = statement(columns, &profile.full_name(), inserts.condition.as_deref());
    Ok(OperationDraft::new(&cql, MadeDraft::Inserts(insert, kind), Effect::Writes))
}

/// The statement for one row: an UPDATE if there is a column to set, otherwise an INSERT.
fn statement(columns: &Columns<'_>, table: &str, condition: Option<&str>) -> String {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for column in &columns.table.columns {
        let name = quoted(&column.name);
        match (column.role, column.cql_type) {
            (Role::Partition | Role::Clustering, _) => keys.push(name),
            (Role::Regular, CqlType::Counter | CqlType::Growing) => values.push(format!("{name} = {name} + ?")),
            (Role::Regular, _) => values.push(format!("{name} = ?")),
        }
    }
    let condition = condition.map_or(String::new(), |condition| format!(" {}", condition.trim()));
    if values.is_empty() {
        let markers = vec!["?"; keys.len()].join(", ");
        return format!("INSERT INTO {table} ({}) VALUES ({markers}){condition}", keys.join(", "));
    }
    let keys: Vec<String> = keys.into_iter().map(|name| format!("{name} = ?")).collect();
    format!("UPDATE {table} SET {} WHERE {}{condition}", values.join(", "), keys.join(" AND "))
}
