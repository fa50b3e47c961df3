//! Reads rows and compares them.

use super::columns::{self, Compared};
use super::show::show;
use super::writes::{Write, Writes, cells};
use super::{Example, Found, Kind, Verified, Verify};
use crate::driver::{self, Statement};
use crate::workload::Pool;
use crate::{Cancel, Error, Plan, outcome};
use futures::StreamExt;
use scylla::client::session::Session;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::QueryRowsResult;
use std::net::SocketAddr;
use std::time::Duration;

const SHOW_EVERY: u64 = 1000;

struct Comparer<'r> {
    session: &'r Session,
    statement: &'r Statement,
    writes: &'r Writes<'r>,
    columns: &'r [Compared],
    order: &'r Verify,
}

pub(super) async fn all(
    order: &Verify,
    plan: &Plan,
    points: &[SocketAddr],
    cancel: &Cancel,
    progress: &mut dyn FnMut(&Verified),
) -> Result<Verified, Error> {
    let workload = &order.workload;
    let refused = |reason: String| Error::Verify { workload: workload.name.clone(), reason };
    let how = workload.verify.as_ref().ok_or_else(|| {
        refused("it has no [verify] that names the `operation` which reads a row back (see docs/load.md)".to_string())
    })?;
    let set_up = async {
        let session = driver::open(plan, points).await?;
        let statements = driver::prepare(&session, plan).await?;
        Ok::<_, Error>((session, statements))
    };
    let (session, statements) = tokio::select! {
        set_up = set_up => set_up?,
        () = asked(cancel) => return Err(Error::Stopped),
    };
    let mut statements: Vec<Option<Statement>> = statements.into_iter().map(Some).collect();
    // One of the operations is a SELECT, and the columns of the other were checked.
    let (Some(mut statement), Some(writer)) = (statements[how.operation].take(), statements[how.written_by].take())
    else {
        return Err(refused("the operation that reads is the one that writes".to_string()));
    };
    statement.bound = statement.bound.with_keys_of(&writer.bound).map_err(|parameter| {
        let name = &workload.parameters[parameter].name;
        refused(format!("`:{name}` is a key of the operation that reads and not of the one that writes"))
    })?;
    let columns = columns::find(&session, order, how, &statement, &writer.bound).await?;
    let pool = Pool::new(workload.seed, &workload.parameters);
    let writes = Writes::new(order, &writer.bound, how.written_by, &pool);
    if writes.populated == 0 && writes.requests == 0 {
        return Err(refused(
            "it populates nothing with that operation; say how many requests of its mix were run".into(),
        ));
    }
    let comparer = &Comparer { session: &session, statement: &statement, writes: &writes, columns: &columns, order };
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let mut verified = Verified { workload: workload.name.clone(), columns: names, ..Verified::default() };
    let rows = writes.rows().take_while(|_| !cancel.is_asked());
    // Sorted, so that the examples are the first ones.
    let mut found =
        std::pin::pin!(futures::stream::iter(rows).map(|row| comparer.check(row)).buffered(order.in_flight.max(1)));
    while let Some(found) = found.next().await {
        verified.add(found, order.examples);
        if verified.checked.is_multiple_of(SHOW_EVERY) {
            progress(&verified);
        }
    }
    verified.stopped = cancel.is_asked();
    progress(&verified);
    Ok(verified)
}

/// Waits for the signal to stop.
async fn asked(cancel: &Cancel) {
    while !cancel.is_asked() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

impl Comparer<'_> {
    async fn check(&self, row: Vec<Write>) -> Found {
        let Some(first) = row.first().copied() else { return Found::Right };
        let read =
            self.session.execute_unpaged(&self.statement.prepared, self.writes.call(&self.statement.bound, first));
        let answer = match tokio::time::timeout(self.order.request_timeout, read).await {
            Ok(Ok(answer)) => answer.into_rows_result().map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(outcome::message(&error)),
            Err(_) => Err(format!("no answer within {:?}", self.order.request_timeout)),
        };
        let found = answer.and_then(|rows| self.compare(&rows, &row));
        let (kind, detail) = match found {
            Ok(None) => return Found::Right,
            Ok(Some((Kind::Missing, _))) if !row.iter().any(|write| self.writes.may_be_demanded(*write)) => {
                return Found::Unacknowledged;
            }
            Ok(Some(damage)) => damage,
            Err(detail) => (Kind::Unreadable, detail),
        };
        Found::Example(Example { kind, key: self.key(first), detail })
    }

    /// Finds the row in the answer by its key, and compares its other columns.
    fn compare(&self, rows: &QueryRowsResult, writes: &[Write]) -> Result<Option<(Kind, String)>, String> {
        let accepted: Vec<Vec<Vec<u8>>> = writes.iter().map(|write| self.writes.cells(*write)).collect();
        let mut difference = None;
        for row in rows.rows::<ColumnIterator<'_, '_>>().map_err(|error| error.to_string())? {
            let columns: Result<Vec<_>, _> = row.map_err(|error| error.to_string())?.collect();
            let columns = columns.map_err(|error| error.to_string())?;
            let found = |compared: &Compared| columns[compared.column].slice.map(|slice| slice.as_slice());
            // The keys are the same in all writes of a row.
            let same_key = self.columns.iter().filter(|compared| compared.key);
            if !same_key.into_iter().all(|compared| found(compared) == Some(&accepted[0][compared.marker])) {
                continue;
            }
            // Compare with the most similar of the row's writes.
            let differences = accepted.iter().rev().map(|cells| {
                let differs = |compared: &&Compared| found(compared) != Some(&cells[compared.marker]);
                (cells, self.columns.iter().filter(differs).collect::<Vec<_>>())
            });
            let Some((cells, differs)) = differences.min_by_key(|(_, differs)| differs.len()) else { continue };
            let Some(first) = differs.first() else { return Ok(None) };
            let (is, should) =
                (found(first).map(|bytes| show(bytes, &first.typ)), show(&cells[first.marker], &first.typ));
            let is = is.unwrap_or_else(|| "null".to_string());
            difference.get_or_insert_with(|| match writes.len() {
                1 => format!("{} is {is} and should be {should}", first.name),
                many => format!("{} is {is}, which none of the {many} requests that wrote it wrote", first.name),
            });
        }
        Ok(Some(match difference {
            Some(difference) => (Kind::Wrong, difference),
            None => (Kind::Missing, String::new()),
        }))
    }

    /// The values that the read selects the row by.
    fn key(&self, write: Write) -> String {
        let cells = cells(&self.writes.call(&self.statement.bound, write));
        let specs = self.statement.prepared.get_variable_col_specs();
        let shown =
            specs.iter().zip(&cells).map(|(spec, cell)| format!("{} = {}", spec.name(), show(cell, spec.typ())));
        shown.collect::<Vec<_>>().join(", ")
    }
}
