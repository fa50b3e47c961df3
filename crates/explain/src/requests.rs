//! The requests of a recording in memory: 40 bytes each, in the order in which they were due.

use crate::engine::{Engine, integers, texts};
use crate::timeline::Interval;
use crate::{Error, query};
use arrow::array::{Array, AsArray, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use std::collections::HashMap;
use std::rc::Rc;

/// One request; node, operation, outcome and client are numbers of [`Requests`]' names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Request {
    pub(crate) intended_ns: i64,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) node: u16,
    pub(crate) operation: u16,
    pub(crate) outcome: u16,
    pub(crate) client: u16,
    /// 0 where it is not known.
    pub(crate) client_port: u16,
    pub(crate) request_size: Size,
    pub(crate) response_size: Size,
}

/// A size in bytes, to the power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Size(u8);

impl Size {
    fn of(values: &Int64Array, row: usize) -> Size {
        match u64::try_from(values.value(row)) {
            Ok(bytes) if !values.is_null(row) => Size((u64::BITS - bytes.leading_zeros()) as u8),
            _ => Size::default(),
        }
    }

    /// The binary logarithm of the size, rounded down; None if the size is not known.
    pub(crate) fn power(self) -> Option<u8> {
        self.0.checked_sub(1)
    }

    /// The lower bound of the size class in bytes; the class ends just below twice that.
    pub(crate) fn least_bytes(self) -> Option<i64> {
        self.power().map(|power| 1 << power.min(62))
    }
}

impl Request {
    /// Response time: from when the request was due.
    pub(crate) fn response_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.intended_ns)
    }

    /// Service time: from when the driver sent the request.
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
    pub(crate) clients: Vec<String>,
}

/// The name for all clients or operations beyond the last free number.
const OTHERS: &str = "(others)";

/// Numbers for names as they come.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Requests {
    /// All requests of the recordings, loaded once.
    pub(crate) fn of(engine: &Engine) -> Result<Rc<Requests>, Error> {
        engine.once(Requests::load)
    }

    fn load(engine: &Engine) -> Result<Requests, Error> {
        let rows = engine.request_rows()?;
        engine.can_hold(rows)?;
        let rows = Vec::with_capacity(usize::try_from(rows).unwrap_or(0));
        let mut requests = Requests { rows, ..Requests::default() };
        let mut names = <[Names; 4]>::default();
        engine.each(&query::REQUESTS.fill(&[]), |batch| requests.take(&batch, &mut names))?;
        [requests.nodes, requests.operations, requests.outcomes, requests.clients] = names.map(|names| names.names);
        requests.rows.sort_unstable_by_key(|request| (request.intended_ns, request.end_ns));
        Ok(requests)
    }

    fn take(&mut self, batch: &RecordBatch, names: &mut [Names; 4]) -> Result<(), Error> {
        let number = |name| integers(batch, name);
        let (intended, start, end) = (number("intended_start_ns")?, number("start_ns")?, number("end_ns")?);
        let (port, asked, answered) = (number("client_port")?, number("request_bytes")?, number("response_bytes")?);
        let texts =
            [texts(batch, "node")?, texts(batch, "operation")?, texts(batch, "outcome")?, texts(batch, "client")?];
        let [intended, start, end, port, asked, answered] =
            [&intended, &start, &end, &port, &asked, &answered].map(|array| array.as_primitive::<Int64Type>());
        let texts = [&texts[0], &texts[1], &texts[2], &texts[3]].map(|array| array.as_string::<i32>());
        for row in 0..batch.num_rows() {
            let [node, operation, outcome, client] =
                std::array::from_fn(|place| names[place].number_of(texts[place], row));
            self.rows.push(Request {
                intended_ns: intended.value(row),
                start_ns: start.value(row),
                end_ns: end.value(row),
                node,
                operation,
                outcome,
                client,
                client_port: if port.is_null(row) { 0 } else { u16::try_from(port.value(row)).unwrap_or(0) },
                request_size: Size::of(asked, row),
                response_size: Size::of(answered, row),
            });
        }
        Ok(())
    }

    pub(crate) fn outcome(&self, request: &Request) -> &str {
        self.outcomes.get(usize::from(request.outcome)).map_or("", String::as_str)
    }

    /// Its name in the workload, or its statement; empty where the recording has neither.
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

impl Names {
    fn number_of(&mut self, values: &StringArray, row: usize) -> u16 {
        /// Fewer than this are found faster one by one.
        const FEW: usize = 8;
        let value = if values.is_null(row) { "" } else { values.value(row) };
        let known = match self.names.len() <= FEW {
            true => self.names.iter().position(|name| name == value).and_then(|place| u16::try_from(place).ok()),
            false => self.numbers.get(value).copied(),
        };
        known.unwrap_or_else(|| self.add(value))
    }

    fn add(&mut self, name: &str) -> u16 {
        let number = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        if number < u16::MAX {
            self.names.push(name.to_string());
            self.numbers.insert(name.to_string(), number);
        } else if self.names.len() == usize::from(u16::MAX) {
            self.names.push(OTHERS.to_string());
        }
        number
    }
}
