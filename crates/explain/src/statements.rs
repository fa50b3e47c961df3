//! The recorded statements: from the wire, which has their text, or from the workload of a recorded load.

use crate::cql::{deleted_from, is_name_of, is_select, table_of_statement};
use crate::engine::Engine;
use crate::io::Io;
use crate::workloads;
use crate::{Error, query};

/// A SELECT statement without its values, and how often it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub statement: String,
    /// The table as the statement names it, with a keyspace if it names one.
    pub table: String,
    pub requests: i64,
}

impl Select {
    /// Whether the statement reads the table with this full name.
    pub fn is_of(&self, table: &str) -> bool {
        is_name_of(&self.table, table)
    }
}

/// The statements in a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// The SELECT statements.
    pub selects: Vec<Select>,
    /// Tables that DELETE statements name, as they spell them.
    pub deleted_from: Vec<String>,
}

/// Loads all statements from the wire or, if it was not recorded, from the load. None if neither was recorded.
pub fn sent(engine: &Engine) -> Result<Option<Sent>, Error> {
    let mut sent: Vec<(String, i64)> =
        Io::of(engine)?.statements.iter().map(|one| (one.statement.clone(), one.requests)).collect();
    if sent.is_empty() {
        let rows = engine.sql(&query::OPERATIONS.fill(&[]))?;
        let (operation, requests) = (rows.texts("operation")?, rows.integers("requests")?);
        let workloads = workloads::statements(engine.manifests());
        let known =
            operation.iter().zip(requests).filter_map(|(name, count)| Some((workloads.get(name)?.clone(), count)));
        sent.extend(known);
    }
    let selects = sent.iter().filter(|(statement, _)| is_select(statement)).filter_map(|(statement, requests)| {
        let table = table_of_statement(statement)?;
        Some(Select { statement: statement.clone(), table, requests: *requests })
    });
    let selects = selects.collect();
    let deleted_from = sent.iter().flat_map(|(statement, _)| deleted_from(statement)).collect();
    Ok((!sent.is_empty()).then_some(Sent { selects, deleted_from }))
}

/// All statements that read; None where no statement was recorded.
pub fn selects(engine: &Engine) -> Result<Option<Vec<Select>>, Error> {
    Ok(sent(engine)?.map(|sent| sent.selects))
}
