//! The requests of a recording in memory: 40 bytes each, in the order in which they were due.

mod large_answers;

use crate::engine::{Engine, booleans, integers, numbers, texts};
use crate::timeline::Interval;
use crate::{Error, query};
use arrow::array::{Array, AsArray, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
pub(crate) use large_answers::{BEHIND_NS, LARGE_BYTES};
use large_answers::{Connection, LargeAnswers};
use std::collections::HashMap;
use std::rc::Rc;

/// One request. Node, operation, outcome and client are indices into the names of [`Requests`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Request {
    pub(crate) intended_ns: i64,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) node: u16,
    pub(crate) operation: u16,
    pub(crate) outcome: u16,
    pub(crate) client: u16,
    /// Port of the client; 0 if it is not known.
    pub(crate) client_port: u16,
    pub(crate) request_size: Size,
    pub(crate) response_size: Size,
    /// Class of the number of rows in the answer plus one, in powers of two.
    pub(crate) rows: Size,
    pub(crate) traits: Traits,
    /// The first 16 bits of the partition's token.
    pub(crate) token: i16,
}

/// Packed flags: consistency level, further page, known token, sent to a node that is no replica, answered right behind a
/// large answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Traits(u8);

/// The consistency levels as the column `wire.consistency` names them.
const LEVELS: [&str; 11] = [
    "ANY",
    "ONE",
    "TWO",
    "THREE",
    "QUORUM",
    "ALL",
    "LOCAL_QUORUM",
    "EACH_QUORUM",
    "SERIAL",
    "LOCAL_SERIAL",
    "LOCAL_ONE",
];

impl Traits {
    const FURTHER_PAGE: u8 = 0x10;
    const HAS_TOKEN: u8 = 0x20;
    const NOT_TO_REPLICA: u8 = 0x40;
    const BEHIND_LARGE: u8 = 0x80;

    fn of(level: Option<&str>, further_page: bool, has_token: bool, to_replica: Option<bool>) -> Traits {
        let level = level.and_then(|level| LEVELS.iter().position(|known| *known == level));
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        // At most 11 consistency levels, so that the index fits into its bits.
        let level = level.map_or(0, |place| place as u8 + 1);
        Traits(
            level
                | bit(further_page, Traits::FURTHER_PAGE)
                | bit(has_token, Traits::HAS_TOKEN)
                | bit(to_replica == Some(false), Traits::NOT_TO_REPLICA),
        )
    }
}

/// A size class: sizes in bytes that have the same binary logarithm, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Size(u8);

impl Size {
    fn of(values: &Int64Array, row: usize) -> Size {
        if values.is_null(row) { Size::default() } else { Size::of_number(values.value(row)) }
    }

    fn of_number(number: i64) -> Size {
        u64::try_from(number)
            .map_or_else(|_| Size::default(), |number| Size((u64::BITS - number.leading_zeros()) as u8))
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

/// The tokens that begin with the same 16 bits: at most one partition of such a group is usually hot, and it dominates
/// the group. A token is a hash, so one in 65,536 of the other requests is in the group.
pub(crate) fn tokens_like(first_bits: i16) -> (i64, i64) {
    let least = i64::from(first_bits) << 48;
    (least, least + ((1 << 48) - 1))
}

impl Request {
    /// Consistency level, as an index into its names.
    pub(crate) fn consistency(&self) -> Option<u8> {
        (self.traits.0 & 0x0f).checked_sub(1)
    }

    pub(crate) fn consistency_name(place: usize) -> &'static str {
        LEVELS.get(place).copied().unwrap_or_default()
    }

    /// Whether the request asks for a page that is not the first.
    pub(crate) fn is_further_page(&self) -> bool {
        self.traits.0 & Traits::FURTHER_PAGE != 0
    }

    /// Whether the coordinator is known not to be a replica of the request's partition.
    pub(crate) fn is_not_to_replica(&self) -> bool {
        self.traits.0 & Traits::NOT_TO_REPLICA != 0
    }

    /// Whether its small answer left with a large one on its connection, or right behind it.
    pub(crate) fn is_behind_large(&self) -> bool {
        self.traits.0 & Traits::BEHIND_LARGE != 0
    }

    pub(crate) fn has_large_answer(&self) -> bool {
        self.response_size.least_bytes().is_some_and(|bytes| bytes >= LARGE_BYTES)
    }

    fn connection(&self) -> Connection {
        (self.node, self.client, self.client_port)
    }

    /// The first 16 bits of the request's token; None if the token is not known.
    pub(crate) fn token(&self) -> Option<i16> {
        (self.traits.0 & Traits::HAS_TOKEN != 0).then_some(self.token)
    }

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
    /// The requests, by intended start.
    pub(crate) rows: Vec<Request>,
    pub(crate) nodes: Vec<String>,
    pub(crate) operations: Vec<String>,
    pub(crate) outcomes: Vec<String>,
    pub(crate) clients: Vec<String>,
    /// By node and time, the times from which on each recorded request represents several, and how many, because some
    /// connections were not followed. The number of followed connections only decreases while a node is recorded.
    pub(crate) weights: Vec<(u16, i64, f64)>,
}

/// The name for all clients or operations beyond the last free number.
const OTHERS: &str = "(others)";

/// Assigns numbers to names in the order of their appearance.
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
        let mut weights = HashMap::new();
        let mut large = LargeAnswers::default();
        engine.each(&query::REQUESTS.fill(&[]), |batch| requests.take(&batch, &mut names, &mut weights, &mut large))?;
        large.mark(&mut requests.rows);
        requests.weights =
            weights.into_iter().map(|((node, weight), from_ns)| (node, from_ns, f64::from_bits(weight))).collect();
        requests.weights.sort_by(|(one, from_ns, _), (other, later_ns, _)| (one, from_ns).cmp(&(other, later_ns)));
        [requests.nodes, requests.operations, requests.outcomes, requests.clients] = names.map(|names| names.names);
        requests.rows.sort_unstable_by_key(|request| (request.intended_ns, request.end_ns));
        Ok(requests)
    }

    /// Adds rows. `weights` receives, by node, the first time of each weight other than 1.
    fn take(
        &mut self,
        batch: &RecordBatch,
        names: &mut [Names; 4],
        weights: &mut HashMap<(u16, u64), i64>,
        large: &mut LargeAnswers,
    ) -> Result<(), Error> {
        let weight = numbers(batch, "weight")?;
        let number = |name| integers(batch, name);
        let (intended, start, end) = (number("intended_start_ns")?, number("start_ns")?, number("end_ns")?);
        let (port, asked, answered) = (number("client_port")?, number("request_bytes")?, number("response_bytes")?);
        let sending = number("sending_ns")?;
        let sending = sending.as_primitive::<Int64Type>();
        let (rows, tokens, levels) = (number("rows_returned")?, number("token")?, texts(batch, "consistency")?);
        let (pages, replicas) = (booleans(batch, "further_page")?, booleans(batch, "to_replica")?);
        let (rows, tokens) = (rows.as_primitive::<Int64Type>(), tokens.as_primitive::<Int64Type>());
        let levels = levels.as_string::<i32>();
        let texts =
            [texts(batch, "node")?, texts(batch, "operation")?, texts(batch, "outcome")?, texts(batch, "client")?];
        let [intended, start, end, port, asked, answered] =
            [&intended, &start, &end, &port, &asked, &answered].map(|array| array.as_primitive::<Int64Type>());
        let texts = [&texts[0], &texts[1], &texts[2], &texts[3]].map(|array| array.as_string::<i32>());
        for row in 0..batch.num_rows() {
            let [node, operation, outcome, client] =
                std::array::from_fn(|place| names[place].number_of(texts[place], row));
            let weight = weight.value(row);
            if weight > 1.0 {
                let first_ns = weights.entry((node, weight.to_bits())).or_insert(i64::MAX);
                *first_ns = intended.value(row).min(*first_ns);
            }
            let request = Request {
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
                rows: if rows.is_null(row) {
                    Size::default()
                } else {
                    Size::of_number(rows.value(row).saturating_add(1))
                },
                traits: Traits::of(
                    levels.is_valid(row).then(|| levels.value(row)),
                    pages.is_valid(row) && pages.value(row),
                    tokens.is_valid(row),
                    replicas.is_valid(row).then(|| replicas.value(row)),
                ),
                token: if tokens.is_null(row) { 0 } else { (tokens.value(row) >> 48) as i16 },
            };
            if sending.is_valid(row) && answered.is_valid(row) && answered.value(row) >= LARGE_BYTES {
                large.add(&request, sending.value(row));
            }
            self.rows.push(request);
        }
        Ok(())
    }

    /// Some of the requests, by their indices in ascending order, with the numbers and names of all.
    pub(crate) fn subset(&self, rows: &[usize]) -> Requests {
        Requests {
            rows: rows.iter().map(|row| self.rows[*row]).collect(),
            nodes: self.nodes.clone(),
            operations: self.operations.clone(),
            outcomes: self.outcomes.clone(),
            clients: self.clients.clone(),
            weights: self.weights.clone(),
        }
    }

    /// The number of requests that this one stands for.
    pub(crate) fn weight(&self, request: &Request) -> f64 {
        let is_before = |(node, from_ns, _): &(u16, i64, f64)| (*node, *from_ns) <= (request.node, request.intended_ns);
        let after = self.weights.partition_point(is_before);
        match after.checked_sub(1).map(|at| self.weights[at]) {
            Some((node, _, weight)) if node == request.node => weight,
            _ => 1.0,
        }
    }

    pub(crate) fn outcome(&self, request: &Request) -> &str {
        self.outcomes.get(usize::from(request.outcome)).map_or("", String::as_str)
    }

    /// Whether the node coordinated the request.
    pub(crate) fn is_of(&self, request: &Request, node: &str) -> bool {
        self.nodes.get(usize::from(request.node)).is_some_and(|address| address == node)
    }

    /// The operation's name in the workload, or its statement; empty if the recording has neither.
    pub(crate) fn operation(&self, request: &Request) -> &str {
        self.operations.get(usize::from(request.operation)).map_or("", String::as_str)
    }

    pub(crate) fn is_ok(&self, request: &Request) -> bool {
        self.outcome(request) == "ok"
    }

    /// Whether the request's time is a latency: it was answered, or it timed out. The time of a request that failed for
    /// another reason says nothing about latency.
    pub(crate) fn is_timed(&self, request: &Request) -> bool {
        matches!(self.outcome(request), "ok" | "timeout" | "write_timeout" | "read_timeout")
    }

    /// The requests that were due within the window.
    pub(crate) fn due_in(&self, window: Interval) -> &[Request] {
        let from = self.rows.partition_point(|request| request.intended_ns < window.start);
        let to = self.rows.partition_point(|request| request.intended_ns < window.end);
        &self.rows[from..to.max(from)]
    }

    /// The interval from the first request due to the last answer.
    pub(crate) fn span(&self) -> Option<Interval> {
        let start = self.rows.first()?.intended_ns;
        let end = self.rows.iter().map(|request| request.end_ns).max()?;
        Some(Interval { start, end: end.max(start + 1) })
    }
}

impl Names {
    fn number_of(&mut self, values: &StringArray, row: usize) -> u16 {
        /// Below this number of requests a linear search is faster.
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
