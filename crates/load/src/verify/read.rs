//! Reads rows and compares them.

use super::columns::{self, Compared};
use super::session::{self, Reader, Statement};
use super::show::show;
use super::writes::{Write, Writes, cells};
use super::{Example, Found, Kind, Verified, Verify};
use crate::workload::Pool;
use crate::{Cancel, Error, Plan};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are read before they are counted, in their order.
const AT_ONCE: usize = 1000;
/// The most connections; each has one read in flight.
const MOST_CONNECTIONS: usize = 64;

struct Comparer<'r> {
    statement: &'r Statement,
    writes: &'r Writes<'r>,
    columns: &'r [Compared],
}

pub(super) fn all(
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
    if how.operation == how.written_by {
        return Err(refused("the operation that reads is the one that writes".to_string()));
    }
    let mut connection = session::connect(plan, points)?;
    let nodes = session::nodes(plan, points, &mut connection)?;
    let mut prepare = |operation: usize| session::prepare(&mut connection, plan, &workload.operations[operation]);
    let (mut statement, writer) = (prepare(how.operation)?, prepare(how.written_by)?);
    statement.bound = statement.bound.with_keys_of(&writer.bound).map_err(|parameter| {
        let name = &workload.parameters[parameter].name;
        refused(format!("`:{name}` is a key of the operation that reads and not of the one that writes"))
    })?;
    let columns = columns::find(&mut connection, order, how, &statement, &writer.bound)?;
    drop(connection);
    let pool = Pool::new(workload.seed, &workload.parameters);
    let writes = Writes::new(order, &writer.bound, how.written_by, &pool);
    if writes.populated == 0 && writes.requests == 0 {
        return Err(refused(
            "it populates nothing with that operation; say how many requests of its mix were run".into(),
        ));
    }
    let comparer = Comparer { statement: &statement, writes: &writes, columns: &columns };
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let mut verified = Verified { workload: workload.name.clone(), columns: names, ..Verified::default() };
    let connections = 0..order.in_flight.clamp(1, MOST_CONNECTIONS);
    let mut readers: Vec<Reader<'_>> = connections.map(|number| Reader::new(order, plan, &nodes, number)).collect();
    let mut rows = writes.rows();
    while !cancel.is_asked() {
        let some: Vec<Vec<Write>> = rows.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        comparer
            .check_all(&mut readers, &some, cancel)
            .into_iter()
            .for_each(|found| verified.add(found, order.examples));
        progress(&verified);
    }
    verified.stopped = cancel.is_asked();
    progress(&verified);
    Ok(verified)
}

impl Comparer<'_> {
    /// Checks rows on all connections. The results are in the order of the rows, so that examples are the first ones; rows
    /// that were not read when it was stopped have none.
    fn check_all(&self, readers: &mut [Reader<'_>], rows: &[Vec<Write>], cancel: &Cancel) -> Vec<Found> {
        let next = AtomicUsize::new(0);
        let work = |reader: &mut Reader<'_>| {
            let mut found = Vec::new();
            while !cancel.is_asked() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(row) = rows.get(at) else { break };
                found.push((at, self.check(reader, row)));
            }
            found
        };
        let mut found: Vec<(usize, Found)> = std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = readers.iter_mut().map(|reader| scope.spawn(move || work(reader))).collect();
            // A panic of a thread goes on here.
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        found.sort_unstable_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, found)| found).collect()
    }

    fn check(&self, reader: &mut Reader<'_>, row: &[Write]) -> Found {
        let Some(first) = row.first().copied() else { return Found::Right };
        let mut comparison = Comparison::new(self, row);
        let call = self.writes.call(&self.statement.bound, first);
        let read = reader.read(self.statement, &call, &mut |row| comparison.take(row));
        let (kind, detail) = match read.map(|()| comparison.end()) {
            Ok(None) => return Found::Right,
            Ok(Some((Kind::Missing, _))) if !row.iter().any(|write| self.writes.may_be_demanded(*write)) => {
                return Found::Unacknowledged;
            }
            Ok(Some(damage)) => damage,
            Err(detail) => (Kind::Unreadable, detail),
        };
        Found::Example(Example { kind, key: self.key(first), detail })
    }

    /// The values that the read selects the row by.
    fn key(&self, write: Write) -> String {
        let cells = cells(&self.writes.call(&self.statement.bound, write));
        let markers = self.statement.markers.iter().zip(&cells);
        markers.map(|((name, typ), cell)| format!("{name} = {}", show(cell, typ))).collect::<Vec<_>>().join(", ")
    }
}

/// Finds the row in an answer by its key, and compares its other columns.
struct Comparison<'c> {
    columns: &'c [Compared],
    /// The values of each write of the row.
    accepted: Vec<Vec<Vec<u8>>>,
    is_right: bool,
    difference: Option<String>,
}

impl<'c> Comparison<'c> {
    fn new(comparer: &Comparer<'c>, row: &[Write]) -> Comparison<'c> {
        let accepted = row.iter().map(|write| comparer.writes.cells(*write)).collect();
        Comparison { columns: comparer.columns, accepted, is_right: false, difference: None }
    }

    fn take(&mut self, row: &[Option<&[u8]>]) {
        if self.is_right {
            return;
        }
        let found = |compared: &Compared| row.get(compared.column).copied().flatten();
        // The keys are the same in all writes of a row.
        let mut keys = self.columns.iter().filter(|compared| compared.key);
        if !keys.all(|compared| found(compared) == Some(self.accepted[0][compared.marker].as_slice())) {
            return;
        }
        // Compare with the most similar of the row's writes.
        let differences = self.accepted.iter().rev().map(|cells| {
            let differs = |compared: &&Compared| found(compared) != Some(cells[compared.marker].as_slice());
            (cells, self.columns.iter().filter(differs).collect::<Vec<_>>())
        });
        let Some((cells, differs)) = differences.min_by_key(|(_, differs)| differs.len()) else { return };
        let Some(first) = differs.first() else {
            self.is_right = true;
            return;
        };
        let (is, should) = (found(first).map(|bytes| show(bytes, &first.typ)), show(&cells[first.marker], &first.typ));
        let is = is.unwrap_or_else(|| "null".to_string());
        let writes = self.accepted.len();
        self.difference.get_or_insert_with(|| match writes {
            1 => format!("{} is {is} and should be {should}", first.name),
            many => format!("{} is {is}, which none of the {many} requests that wrote it wrote", first.name),
        });
    }

    /// The damage of the row; None if the row is right.
    fn end(self) -> Option<(Kind, String)> {
        match (self.is_right, self.difference) {
            (true, _) => None,
            (false, Some(difference)) => Some((Kind::Wrong, difference)),
            (false, None) => Some((Kind::Missing, String::new())),
        }
    }
}
