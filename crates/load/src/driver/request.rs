//! The ways in which an operation is sent.

use super::scan::Scan;
use crate::workload::{BatchKind, BoundOperation, Call, Made, MadeRow, Operation};
use scylla::client::session::Session;
use scylla::deserialize::row::ColumnIterator;
use scylla::errors::ExecutionError;
use scylla::response::query_result::QueryResult;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;

/// An operation that is ready to be executed.
pub(crate) struct Statement {
    pub prepared: PreparedStatement,
    pub bound: BoundOperation,
    pub execution: Execution,
}

pub(crate) enum Execution {
    /// A single EXECUTE; see [`Operation::is_plain`].
    Plain,
    /// A single EXECUTE, whose response tells whether its condition held.
    Conditional,
    /// An EXECUTE for each page of the result.
    Pages,
    /// One BATCH that repeats the statement with different values.
    Batch(Box<Batch>),
    /// One statement per generated row: a single EXECUTE, or BATCHes of this kind.
    Made(BatchType),
    /// An EXECUTE for one page of a range of tokens.
    Ranges(Scan),
}

/// The content of an answer that is not an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Number of rows in the response; None if it can't have rows.
    pub rows: Option<u64>,
    /// Generated rows that an insert has written.
    pub written: Option<u64>,
    /// Number of partitions in the response, if they are counted.
    pub partitions: Option<u64>,
    /// Whether the condition of a conditional statement did not hold.
    pub not_applied: bool,
}

impl Execution {
    /// `ring` has the tokens of the ring in order.
    pub fn of(operation: &Operation, prepared: &PreparedStatement, ring: &[i64]) -> Execution {
        match &operation.batch {
            None if let Some(Made::Ranges { split }) = operation.made => Execution::Ranges(Scan::new(ring, split)),
            None if operation.page_size.is_some() => Execution::Pages,
            None if let Some(Made::Inserts { kind, single: false, .. }) = operation.made => {
                Execution::Made(batch_type(kind))
            }
            None if operation.is_conditional() => Execution::Conditional,
            None => Execution::Plain,
            Some(rows) => Execution::Batch(Box::new(batch_of(prepared, rows.rows as usize, batch_type(rows.kind)))),
        }
    }
}

fn batch_type(kind: BatchKind) -> BatchType {
    match kind {
        BatchKind::Unlogged => BatchType::Unlogged,
        BatchKind::Logged => BatchType::Logged,
        BatchKind::Counter => BatchType::Counter,
    }
}

/// A batch of one statement with the statement's consistency.
fn batch_of(prepared: &PreparedStatement, statements: usize, kind: BatchType) -> Batch {
    let mut batch = Batch::new(kind);
    (0..statements).for_each(|_| batch.append_statement(prepared.clone()));
    if let Some(consistency) = prepared.get_consistency() {
        batch.set_consistency(consistency);
    }
    batch.set_serial_consistency(prepared.get_serial_consistency());
    batch
}

/// Sends a request as its operation requires.
pub(super) async fn send(session: &Session, statement: &Statement, call: Call<'_>) -> Result<Answer, ExecutionError> {
    match &statement.execution {
        Execution::Plain => {
            let result = session.execute_unpaged(&statement.prepared, call).await?;
            let rows = if result.is_rows() { result.into_rows_result().ok() } else { None };
            let rows = rows.map(|rows| rows.rows_num() as u64);
            Ok(Answer { rows, written: statement.bound.writes(), ..Answer::default() })
        }
        Execution::Conditional => {
            let answer = conditional(session.execute_unpaged(&statement.prepared, call).await?);
            Ok(Answer { written: statement.bound.writes(), ..answer })
        }
        Execution::Made(kind) => made(session, statement, *kind, &call.made()).await,
        Execution::Pages => pages(session, statement, call).await,
        Execution::Ranges(scan) => scan.page(session, &statement.prepared).await,
        Execution::Batch(batch) => {
            let rows: Vec<Call<'_>> = call.rows().collect();
            session.batch(batch, rows).await.map(conditional)
        }
    }
}

/// A single row is sent without a batch; a batch has a limited number of statements.
async fn made(
    session: &Session,
    statement: &Statement,
    kind: BatchType,
    rows: &[MadeRow<'_>],
) -> Result<Answer, ExecutionError> {
    const MOST_STATEMENTS: usize = 65_535;
    let mut answer = match rows {
        [row] => conditional(session.execute_unpaged(&statement.prepared, row).await?),
        rows => {
            let mut answer = Answer::default();
            for part in rows.chunks(MOST_STATEMENTS) {
                let batch = batch_of(&statement.prepared, part.len(), kind);
                answer = conditional(session.batch(&batch, part).await?);
            }
            answer
        }
    };
    answer.written = Some(rows.len() as u64);
    Ok(answer)
}

async fn pages(session: &Session, statement: &Statement, call: Call<'_>) -> Result<Answer, ExecutionError> {
    let mut state = PagingState::start();
    let mut rows = 0;
    loop {
        let (page, rest) = session.execute_single_page(&statement.prepared, call, state).await?;
        rows += page.into_rows_result().map_or(0, |page| page.rows_num() as u64);
        state = match rest {
            PagingStateResponse::HasMorePages { state } => state,
            PagingStateResponse::NoMorePages => return Ok(Answer { rows: Some(rows), ..Answer::default() }),
        };
    }
}

/// The first column of such a response tells whether the statement was applied. If not, the other columns have the
/// existing row.
fn conditional(result: QueryResult) -> Answer {
    let not_applied = || {
        let rows = result.into_rows_result().ok()?;
        let says = rows.column_specs().get_by_index(0)?.name() == "[applied]";
        let mut columns = rows.maybe_first_row::<ColumnIterator<'_, '_>>().ok()??;
        let applied = columns.next()?.ok()?.slice?;
        Some(says && applied.as_slice() == [0])
    };
    Answer { not_applied: not_applied().unwrap_or(false), ..Answer::default() }
}
