//! One statement of a workload, and how it is sent.

use super::file::{consistency, serial_consistency};
use super::{Consistency, Parameter, SerialConsistency, markers};
use crate::rows::{self, Fields, Insert, Rows};
use helenus_notation::did_you_mean;
use helenus_notation::{Count, Error, Section};

/// A named statement that is prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    pub name: String,
    /// The statement with named markers, each the name of a parameter.
    pub cql: String,
    /// Its consistency level, if it differs from the workload's.
    pub consistency: Option<Consistency>,
    /// Consistency of the Paxos rounds of a conditional statement; SERIAL by default.
    pub serial_consistency: Option<SerialConsistency>,
    /// Rows per page. A request reads all pages one after the other, and ends with the last one.
    pub page_size: Option<u32>,
    pub batch: Option<Batch>,
    /// The generated rows, for an operation whose markers are columns of the workload's rows.
    pub(crate) made: Option<Made>,
    /// The index of the table with these rows.
    pub(crate) table: usize,
}

/// How the generated rows of a request are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Made {
    /// An insert: a statement for each row, sent as a batch if there are several.
    Inserts {
        insert: Insert,
        kind: BatchKind,
        /// Whether it always has one row.
        single: bool,
    },
    Queries(Fields),
    /// A page of a range of tokens; each range of the ring is split into this many.
    Ranges {
        split: u32,
    },
}

/// A batch: one request that executes the statement many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Number of executions of the statement.
    pub rows: u32,
    pub kind: BatchKind,
    /// Parameters that have one value for all rows of a request, such as the partition key.
    pub by: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchKind {
    Unlogged,
    /// Logged: written to the batch log first, so that eventually all or none of the statements are applied.
    Logged,
    /// A batch of counter updates.
    Counter,
}

const MOST_ROWS: u64 = 65_535;
const MOST_SPLIT: u64 = 1_000_000;

impl Operation {
    /// Instead of a batch, a plain request for each execution.
    pub fn new(name: &str, cql: &str) -> Operation {
        Operation {
            name: name.to_string(),
            cql: cql.to_string(),
            consistency: None,
            serial_consistency: None,
            page_size: None,
            batch: None,
            made: None,
            table: 0,
        }
    }

    /// Whether a request is a single EXECUTE whose result rows need not be read: no batch, no pages, no condition.
    pub fn is_plain(&self) -> bool {
        let several = matches!(self.made, Some(Made::Inserts { single: false, .. }));
        self.batch.is_none() && !several && self.page_size.is_none() && !self.is_conditional()
    }

    /// Whether it is a lightweight transaction, which may succeed without being applied.
    pub fn is_conditional(&self) -> bool {
        markers::is_conditional(&self.cql)
    }

    /// Whether it is a SELECT.
    pub fn is_query(&self) -> bool {
        markers::begins_with(&self.cql, "SELECT")
    }

    /// The table that it writes to, as the statement names it.
    pub fn written_table(&self) -> Option<&str> {
        markers::written_table(&self.cql)
    }

    /// Number of executions of the statement in one request.
    pub fn rows(&self) -> u64 {
        self.batch.as_ref().map_or(1, |batch| u64::from(batch.rows))
    }
}

/// Reads an operation and its weight from the file.
pub(super) fn read(
    name: &str,
    mut section: Section<'_>,
    parameters: &[Parameter],
    tables: &[(String, Rows)],
) -> Result<(Operation, f64), Error> {
    let cql: String = section.required("cql")?;
    let weight = section.optional::<f64>("weight")?.unwrap_or(1.0);
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(section.error_at("weight", "a `weight` is a number that is 0 or more"));
    }
    let mut operation = Operation::new(name, &cql);
    operation.consistency = consistency(&mut section)?;
    operation.serial_consistency = serial_consistency(&mut section)?;
    operation.page_size = page_size(&mut section)?;
    operation.table = table(&mut section, tables)?;
    let rows = tables.get(operation.table).map(|(_, rows)| rows);
    let markers = markers::markers(&cql);
    operation.made = made(&mut section, &operation, &markers, rows)?;
    let markers = match operation.made {
        Some(_) => Vec::new(),
        None => markers.map_err(|message| section.error_at("cql", message))?,
    };
    for marker in &markers {
        let mut known = parameters.iter().map(|parameter| parameter.name.as_str());
        if !known.clone().any(|name| name == marker) {
            let meant = did_you_mean(marker, known.clone());
            let known = if known.next().is_none() { "" } else { " beside those that are there" };
            let message = format!("`:{marker}` has no parameter{meant} (add [parameters.{marker}]{known})");
            return Err(section.error_at("cql", message));
        }
    }
    operation.batch = if operation.made.is_some() { None } else { batch(&mut section, &markers)? };
    section.finish()?;
    let reads = operation.is_query();
    let wrong = |key, message: &str| Err(section.error_at(key, message));
    match &operation {
        Operation { serial_consistency: Some(_), .. } if !operation.is_conditional() => {
            wrong("serial_consistency", "`serial_consistency` is for a statement with a condition (IF …)")
        }
        Operation { page_size: Some(_), .. } if !reads => wrong("page_size", "`page_size` is for a SELECT"),
        Operation { batch: Some(_), .. } if reads => wrong("batch", "a `batch` is of writes, not of a SELECT"),
        Operation { made: Some(Made::Ranges { .. }), .. } if !reads => wrong("ranges", "`ranges` is for a SELECT"),
        _ => Ok((operation, weight)),
    }
}

/// The index of the table that an operation names.
fn table(section: &mut Section<'_>, tables: &[(String, Rows)]) -> Result<usize, Error> {
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    match tables {
        [] => Ok(0),
        [(name, _)] if name.is_empty() => Ok(0),
        _ => Ok(section.choice("table", &names)?.unwrap_or(0)),
    }
}

/// Reads the generated rows of an operation; None if its markers are parameters. `markers` are the named ones, or an
/// error if some have no name; those are named by the node.
fn made(
    section: &mut Section<'_>,
    operation: &Operation,
    markers: &Result<Vec<String>, String>,
    rows: Option<&Rows>,
) -> Result<Option<Made>, Error> {
    if let Some(Count(split)) = section.optional::<Count>("ranges")? {
        if operation.page_size.is_none() {
            return Err(section.error_at("ranges", "`ranges` needs a `page_size`: a request reads one page of a range"));
        }
        return Ok(Some(Made::Ranges { split: split.clamp(1, MOST_SPLIT) as u32 }));
    }
    let Some(rows) = rows else { return Ok(None) };
    let fields = section.choice("fields", &["multirow", "samerow"])?;
    let insert = rows::read_insert(section)?;
    let columns =
        |markers: &Vec<String>| !markers.is_empty() && markers.iter().all(|marker| rows.position(marker).is_some());
    if fields.is_none() && insert.is_none() && !markers.as_ref().is_ok_and(columns) {
        return Ok(None);
    }
    let Some(insert) = insert else {
        return Ok(Some(Made::Queries(if fields == Some(1) { Fields::SameRow } else { Fields::MultiRow })));
    };
    // Markers without a name are named by the node later.
    let missing = |markers: &Vec<String>| {
        let mut keys = rows.columns().iter().filter(|column| column.role != rows::Role::Regular);
        keys.find(|column| !markers.iter().any(|marker| column.name.eq_ignore_ascii_case(marker)))
    };
    if let Some(missing) = markers.as_ref().ok().and_then(missing) {
        let message = format!("an insert of rows needs a marker for the key's :{}", missing.name);
        return Err(section.error_at("cql", message));
    }
    let kind = section.optional("batch_type")?.unwrap_or(BatchKind::Unlogged);
    Ok(Some(Made::Inserts { insert, kind, single: insert.partitions.only() == Some(1) && rows.is_single() }))
}

fn page_size(section: &mut Section<'_>) -> Result<Option<u32>, Error> {
    match section.optional::<Count>("page_size")? {
        Some(Count(rows)) if rows > i32::MAX as u64 => {
            Err(section.error_at("page_size", "a page has at most 2,147,483,647 rows"))
        }
        found => Ok(found.map(|Count(rows)| rows as u32)),
    }
}

fn batch(section: &mut Section<'_>, markers: &[String]) -> Result<Option<Batch>, Error> {
    let rows = section.optional::<Count>("batch")?;
    let kind = section.optional::<BatchKind>("batch_type")?;
    let by = section.optional::<Vec<String>>("batch_by")?;
    let Some(Count(rows)) = rows else {
        return match (kind, by) {
            (None, None) => Ok(None),
            (Some(_), _) => Err(section.error_at("batch_type", "`batch_type` needs `batch`: how many rows")),
            _ => Err(section.error_at("batch_by", "`batch_by` needs `batch`: how many rows")),
        };
    };
    if rows > MOST_ROWS {
        return Err(section.error_at("batch", "a batch has at most 65,535 statements"));
    }
    let by = by.unwrap_or_default();
    if let Some(unknown) = by.iter().find(|name| !markers.contains(name)) {
        let meant = did_you_mean(unknown, markers.iter().map(String::as_str));
        let message = format!("`batch_by` names `{unknown}`, which is no marker of the statement{meant}");
        return Err(section.error_at("batch_by", message));
    }
    Ok(Some(Batch { rows: rows as u32, kind: kind.unwrap_or(BatchKind::Unlogged), by }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_one_execute_is_plain() {
        let plain = Operation::new("write", "INSERT INTO t (a) VALUES (:a)");
        assert!(plain.is_plain());
        assert!(!Operation::new("lwt", "INSERT INTO t (a) VALUES (:a) IF NOT EXISTS").is_plain());
        assert!(!Operation { page_size: Some(10), ..plain.clone() }.is_plain());
        let batch = Batch { rows: 10, kind: BatchKind::Logged, by: Vec::new() };
        assert!(!Operation { batch: Some(batch), ..plain }.is_plain());
    }
}
