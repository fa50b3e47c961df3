//! The statements that were sent: the wire has their text, and so has the workload of a load that was recorded.

use crate::cql::{deleted_from, is_name_of, is_select, table_of_statement};
use crate::engine::Engine;
use crate::io::Io;
use crate::workloads;
use crate::{Error, query};

/// A statement that reads, without the values that it was sent with, and how often it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub statement: String,
    /// As the statement names it, with a keyspace where it names one.
    pub table: String,
    pub requests: i64,
}

impl Select {
    /// Whether it is about the table of this full name.
    pub fn is_of(&self, table: &str) -> bool {
        is_name_of(&self.table, table)
    }
}

/// The statements that were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// Statements that read.
    pub selects: Vec<Select>,
    /// Tables that rows or columns were deleted of, as statements name them.
    pub deleted_from: Vec<String>,
}

/// All statements: of the wire or, where that was not recorded, of the load. None where neither was.
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
