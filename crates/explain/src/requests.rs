//! The requests of a recording in memory: 32 bytes each, in the order in which the schedule wanted them.

use crate::engine::{Engine, integers, texts};
use crate::timeline::Interval;
use crate::{Error, query};
use arrow::array::{Array, AsArray, StringArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use std::rc::Rc;

/// One request; node, operation and outcome are numbers of [`Requests`]' names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) intended_ns: i64,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) node: u16,
    pub(crate) operation: u16,
    pub(crate) outcome: u16,
}

impl Request {
    /// What the user waited: from when the request was due.
    pub(crate) fn response_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.intended_ns)
    }

    /// What the server and the way to it took: from when it was sent.
    pub(crate) fn service_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// By intended start.
    pub(crate) rows: Vec<Request>,
    pub(crate) nodes: Vec<String>,
    pub(crate) operations: Vec<String>,
    pub(crate) outcomes: Vec<String>,
}

impl Requests {
    /// All requests of the recordings, loaded once.
    pub(crate) fn of(engine: &Engine) -> Result<Rc<Requests>, Error> {
        engine.once(Requests::load)
    }

    fn load(engine: &Engine) -> Result<Requests, Error> {
        let tables = engine.manifests().iter().filter_map(|manifest| manifest.tables.get("requests"));
        let rows = tables.map(|table| table.rows).fold(0, u64::saturating_add);
        engine.can_hold(rows)?;
        let rows = Vec::with_capacity(usize::try_from(rows).unwrap_or(0));
        let mut requests = Requests { rows, ..Requests::default() };
        engine.each(&query::REQUESTS.fill(&[]), |batch| requests.take(&batch))?;
        requests.rows.sort_unstable_by_key(|request| (request.intended_ns, request.end_ns));
        Ok(requests)
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let intended = integers(batch, "intended_start_ns")?;
        let start = integers(batch, "start_ns")?;
        let end = integers(batch, "end_ns")?;
        let node = texts(batch, "node")?;
        let operation = texts(batch, "operation")?;
        let outcome = texts(batch, "outcome")?;
        let (intended, start, end) =
            (intended.as_primitive::<Int64Type>(), start.as_primitive::<Int64Type>(), end.as_primitive::<Int64Type>());
        for row in 0..batch.num_rows() {
            self.rows.push(Request {
                intended_ns: intended.value(row),
                start_ns: start.value(row),
                end_ns: end.value(row),
                node: number_of(&mut self.nodes, node.as_string::<i32>(), row),
                operation: number_of(&mut self.operations, operation.as_string::<i32>(), row),
                outcome: number_of(&mut self.outcomes, outcome.as_string::<i32>(), row),
            });
        }
        Ok(())
    }

    pub(crate) fn outcome(&self, request: &Request) -> &str {
        self.outcomes.get(usize::from(request.outcome)).map_or("", String::as_str)
    }

    /// Its name in the workload; empty where the recording has none.
    pub(crate) fn operation(&self, request: &Request) -> &str {
        self.operations.get(usize::from(request.operation)).map_or("", String::as_str)
    }

    pub(crate) fn is_ok(&self, request: &Request) -> bool {
        self.outcome(request) == "ok"
    }

    /// Whether the request's time is a latency: it was answered, or it was given up on because of the time it took.
    /// A request that failed for another reason says nothing about how long an answer takes.
    pub(crate) fn is_timed(&self, request: &Request) -> bool {
        matches!(self.outcome(request), "ok" | "timeout" | "write_timeout" | "read_timeout")
    }

    /// The requests that were due within the window.
    pub(crate) fn due_in(&self, window: Interval) -> &[Request] {
        let from = self.rows.partition_point(|request| request.intended_ns < window.start);
        let to = self.rows.partition_point(|request| request.intended_ns < window.end);
        &self.rows[from..to.max(from)]
    }

    /// From the first request due to the last answer.
    pub(crate) fn span(&self) -> Option<Interval> {
        let start = self.rows.first()?.intended_ns;
        let end = self.rows.iter().map(|request| request.end_ns).max()?;
        Some(Interval { start, end: end.max(start + 1) })
    }
}

/// A recording has few nodes, operations and outcomes: a linear search is faster than a map.
fn number_of(names: &mut Vec<String>, values: &StringArray, row: usize) -> u16 {
    let value = if values.is_null(row) { "" } else { values.value(row) };
    let position = names.iter().position(|name| name == value).unwrap_or_else(|| {
        names.push(value.to_string());
        names.len() - 1
    });
    u16::try_from(position).unwrap_or(u16::MAX)
}
