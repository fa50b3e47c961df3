//! The operation `insert` of a profile: a statement for one row, or a batch of several.

use super::columns::{Columns, Place};
use super::table::{CqlType, Role};
use super::yaml::Map;
use crate::Error;
use crate::stress::distribution::Distribution;
use crate::stress::draft::{Draft, Effect, KeyDraw, OperationDraft, quoted};
use crate::stress::words::{Words, number};

/// Markers of a statement are counted in 16 bits (CQL protocol, section 4.1.4).
const MOST_MARKERS: u64 = 65_535;

/// What a profile and `-insert` say of inserts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::stress) struct Inserts {
    partitions: Option<Distribution>,
    /// Which share of a partition's rows a request writes.
    select: Option<f64>,
    batch: Option<Batch>,
    condition: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Batch {
    Logged,
    Unlogged,
    Counter,
}

impl Inserts {
    /// From `-insert`.
    pub fn read(words: &mut Words) -> Result<Inserts, Error> {
        let partitions = words.parsed("partitions=", Distribution::parse)?;
        let select = words.parsed("select-ratio=", share)?;
        let batch = words.parsed("batchtype=", batch)?;
        let once = |value: Option<Distribution>| value.is_none_or(|value| value.only() == Some(1));
        let visits = "a partition is not visited in turns; let select-ratio= say how many rows a request writes";
        if !once(words.parsed("visits=", Distribution::parse)?) {
            return Err(words.wrong("visits=", visits));
        }
        if words.parsed("row-population-ratio=", share)?.is_some_and(|share| share < 1.0) {
            return Err(words.wrong("row-population-ratio=", "is 1 here: rows have all of their columns"));
        }
        words.refuse(&[("revisit=", visits)])?;
        words.finish()?;
        Ok(Inserts { partitions, select, batch, condition: None })
    }

    /// From a profile, where `-insert` does not say otherwise.
    pub(super) fn or_of_profile(self, map: Option<Map<'_>>) -> Result<Inserts, Error> {
        let Some(mut map) = map else { return Ok(self) };
        let partitions = map.parsed("partitions", Distribution::parse)?;
        let select = map.parsed("select", share)?;
        let batch = map.parsed("batchtype", batch)?;
        let condition = map.optional("condition")?.map(|text| text.text);
        if map.parsed("row-population", share)?.is_some_and(|share| share < 1.0) {
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

/// `fixed(1)/10`: the mean of the distribution over the number below it.
fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not a ratio such as fixed(1)/10");
    let (above, below) = text.rsplit_once('/').ok_or_else(wrong)?;
    let (above, below) = (Distribution::parse(above)?, number(below)?);
    let share = above.mean() / below.max(1) as f64;
    if share > 0.0 && share <= 1.0 { Ok(share) } else { Err(format!("`{text}` is not above 0 and at most 1")) }
}

fn batch(text: &str) -> Result<Batch, String> {
    match text.to_ascii_uppercase().as_str() {
        "LOGGED" => Ok(Batch::Logged),
        "UNLOGGED" => Ok(Batch::Unlogged),
        "COUNTER" => Ok(Batch::Counter),
        _ => Err(format!("`{text}` is none of LOGGED, UNLOGGED and COUNTER")),
    }
}

/// Adds the operation to the draft.
pub(super) fn add(
    draft: &mut Draft,
    columns: &Columns<'_>,
    inserts: &Inserts,
    table: &str,
    weight: f64,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let wrong = |message: String| Error::Argument { argument: "profile insert".to_string(), message };
    let partitions = inserts.partitions.unwrap_or(Distribution::fixed(1));
    let clustering = columns.table.with_role(Role::Clustering);
    let in_partition = clustering.map(|column| columns.values_in_partition(column)).fold(1, u64::saturating_mul);
    let each = ((in_partition as f64 * inserts.select.unwrap_or(1.0)).round() as u64).clamp(1, in_partition);
    let count = partitions.mean().round().max(1.0) as u64;
    let rows = count.saturating_mul(each);
    if rows.saturating_mul(columns.table.columns.len() as u64) > MOST_MARKERS {
        return Err(wrong(format!(
            "a request would write {rows} rows ({count} partitions with {each} rows each), more than one statement holds; \
             make `partitions` or `select` smaller"
        )));
    }
    if count > 1 && inserts.condition.is_some() {
        return Err(wrong("a `condition` is for one partition; write partitions: fixed(1)".to_string()));
    }
    if inserts.condition.as_ref().is_some_and(|condition| condition.contains(['?', ':'])) {
        return Err(wrong("a `condition` with markers is not taken; write the value into it".to_string()));
    }
    if rows > 1 || in_partition > 1 || partitions.only().is_none() {
        notes.push(format!(
            "rows that each insert writes: {rows} (partitions: {count}; rows of each: {each} of {in_partition}; means of \
             what the profile says)"
        ));
    }
    if count > 1 && columns.partitions.draw == KeyDraw::Sequential {
        notes.push(
            "of the partitions of an insert, the first is in sequence, and the others are drawn evenly".to_string(),
        );
    }
    let mut statements = Vec::new();
    for row in 0..rows {
        let number = (each == in_partition).then_some(row % each);
        let place = Place { partition: row / each, row, number };
        statements.push(statement(draft, columns, table, place, inserts.condition.as_deref(), notes)?);
    }
    let counters = columns.table.columns.iter().any(|column| column.cql_type == CqlType::Counter);
    let cql = match statements.as_slice() {
        [only] => only.clone(),
        several => {
            let kind = match inserts.batch.unwrap_or(Batch::Logged) {
                _ if counters => "COUNTER ",
                Batch::Counter => "COUNTER ",
                Batch::Unlogged => "UNLOGGED ",
                Batch::Logged => "",
            };
            format!("BEGIN {kind}BATCH {}; APPLY BATCH", several.join("; "))
        }
    };
    let effect = Effect { partitions: count, rows: Some(rows), must_find: false };
    draft.operations.push(OperationDraft { name: "insert".to_string(), cql, weight, effect });
    Ok(())
}

/// One row, as an UPDATE where there is something to set.
fn statement(
    draft: &mut Draft,
    columns: &Columns<'_>,
    table: &str,
    place: Place,
    condition: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<String, Error> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for column in &columns.table.columns {
        let name = quoted(&column.name);
        let Some(value) = columns.value(draft, column, place)? else {
            let note = format!("{} stays empty: the driver makes no {}", column.name, column.cql_type.name());
            if !notes.contains(&note) {
                notes.push(note);
            }
            continue;
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
        return Ok(format!("INSERT INTO {table} ({}) VALUES ({}){condition}", names.join(", "), values.join(", ")));
    }
    let keys: Vec<String> = keys.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
    Ok(format!("UPDATE {table} SET {} WHERE {}{condition}", values.join(", "), keys.join(" AND ")))
}
