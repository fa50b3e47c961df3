//! The loop of a driver thread.

use super::connection::{Broken, Connection};
use super::frame::{Answer, Framing, HEADER_BYTES};
use super::inbox::Received;
use super::ring::{Ring, Shared};
use super::session_thread::Statement;
use super::streams::{Flight, Purpose};
use super::supply::Supply;
use crate::driver::alarm::Timer;
use crate::driver::job::{Job, Next};
use crate::driver::ledger::{ConnectionId, Ended, Ledger, WireFacts};
use crate::driver::request;
use crate::driver::route::NO_NODE;
use crate::workload::{Pool, Workload};
use crate::{Access, Outcome};
use helenus_cassandra::cql::frame::Malformed;
use helenus_recording::Clock;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

const TIMER: Token = Token(usize::MAX);
/// For shorter waits a system call to set the timer is not worth it: the loop polls again instead.
const SHORT_NS: i64 = 3_000;
/// Requests that are due within this time after the last write are sent together with the next ones: above 20,000/s a
/// wake-up for each would cost more than the requests. This delay is part of their response time, and shorter than the
/// kernel's timers are late.
const TOGETHER_NS: i64 = 50_000;
/// The most requests that are built before they are written, so that the first does not wait for thousands of others.
const MOST_UNSENT: usize = 64;
/// A connection with this many orphaned streams is closed, because the node has lost them.
const MOST_ORPHANS: usize = 16_384;

/// The parts that an engine is built from.
pub(super) struct Parts {
    pub statements: Arc<Vec<Statement>>,
    pub ring: Shared,
    pub workload: Arc<Workload>,
    pub pool: Arc<Pool>,
    pub clock: Clock,
    pub ledger: Ledger,
    pub access: Access,
    pub connections_per_node: usize,
    /// The thread's number, and the number of threads.
    pub share: (usize, usize),
}

pub(super) struct Engine {
    statements: Arc<Vec<Statement>>,
    /// For each statement, the index of its table in the ring.
    tables: Vec<Option<usize>>,
    shared_ring: Shared,
    ring: Arc<Ring>,
    ring_version: u64,
    workload: Arc<Workload>,
    pool: Arc<Pool>,
    clock: Clock,
    pub supply: Supply,
    access: Access,
    connections_per_node: usize,
    share: (usize, usize),
    connections: Vec<Connection>,
    /// The connections by node.
    of_node: Vec<Vec<usize>>,
    poll: Poll,
    events: Events,
    timer: Timer,
    /// The time for which the timer is set.
    timer_ns: i64,
    /// The time at which requests were last sent.
    sent_ns: i64,
    /// Connections with unwritten bytes.
    dirty: Vec<usize>,
    values: Vec<u8>,
    next_number: u64,
    /// The error that broke the last connection.
    last_failure: String,
}

impl Engine {
    pub fn new(parts: Parts) -> io::Result<Engine> {
        let (poll, timer) = (Poll::new()?, Timer::new(parts.clock)?);
        poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), TIMER, Interest::READABLE)?;
        let mut engine = Engine {
            statements: parts.statements,
            tables: Vec::new(),
            ring: Arc::default(),
            ring_version: 0,
            shared_ring: parts.ring,
            workload: parts.workload,
            pool: parts.pool,
            clock: parts.clock,
            supply: Supply::new(parts.ledger),
            access: parts.access,
            connections_per_node: parts.connections_per_node,
            share: parts.share,
            connections: Vec::new(),
            of_node: Vec::new(),
            poll,
            events: Events::with_capacity(1024),
            timer,
            timer_ns: i64::MIN,
            sent_ns: 0,
            dirty: Vec::new(),
            values: Vec::new(),
            next_number: 0,
            last_failure: String::new(),
        };
        engine.follow_ring();
        Ok(engine)
    }

    /// One more than the highest request number of the mix so far.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// The reason, if there is no connection.
    pub fn failure(&self) -> &str {
        &self.last_failure
    }

    /// Whether every connection has been tried, and how many are ready.
    pub fn ready(&self) -> usize {
        self.connections.iter().filter(|connection| connection.is_ready()).count()
    }

    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Address of each node, and whether a connection to it is ready.
    pub fn nodes(&self) -> impl Iterator<Item = (String, bool)> {
        self.ring.nodes.iter().zip(&self.of_node).map(|(address, connections)| {
            let ready = connections.iter().any(|connection| self.connections[*connection].is_ready());
            (address.ip().to_string(), ready)
        })
    }

    /// One iteration: sends due requests, waits for responses or the next due request until `until_ns` at most, and
    /// reads the responses.
    pub fn step(&mut self, until_ns: i64) {
        let next_ns = self.send_due();
        self.wait(next_ns.unwrap_or(i64::MAX).min(until_ns));
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            let Token(index) = event.token();
            if index >= self.connections.len() {
                continue;
            }
            if event.is_writable()
                && let Err(broken) = self.connections[index].writable()
            {
                self.lose(index, &broken);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.receive(index);
            }
        }
        self.events = events;
    }

    /// Maintains the connections, and abandons requests that started before `before_ns`.
    pub fn tick(&mut self, now_ns: i64, before_ns: i64) {
        self.follow_ring();
        self.abandon(before_ns, Outcome::Timeout, "no answer within the client's timeout");
        for index in 0..self.connections.len() {
            let orphans = self.connections[index].streams.orphans();
            if orphans > MOST_ORPHANS {
                self.lose(index, &Broken::Orphans(orphans));
            }
            if let Err(broken) = self.connections[index].tick(self.poll.registry(), &self.access, now_ns) {
                self.lose(index, &broken);
            }
        }
    }

    /// Abandons the requests that started before a time.
    pub fn abandon(&mut self, before_ns: i64, outcome: Outcome, reason: &str) {
        let end_ns = self.clock.now_ns();
        let mut given_up = Vec::new();
        for connection in &mut self.connections {
            let (node, line) = (connection.node, connection.line);
            connection.streams.abandon(before_ns, |stream, flight| given_up.push((node, line, stream, flight)));
        }
        for (node, line, stream, flight) in given_up {
            self.supply.ended(&ended(&flight, end_ns, node, line, stream, outcome), reason);
        }
    }

    /// Sends the due requests. Returns when the next one is due, if that is known.
    fn send_due(&mut self) -> Option<i64> {
        let mut now_ns = self.clock.now_ns();
        let mut made = 0;
        let next_ns = loop {
            match self.supply.next(now_ns) {
                Next::Job(job) => self.make(job, now_ns),
                Next::At(at_ns) => break Some(at_ns.max(self.sent_ns.saturating_add(TOGETHER_NS))),
                Next::Over => break None,
            }
            made += 1;
            if made % MOST_UNSENT == 0 {
                self.flush();
                now_ns = self.clock.now_ns();
            }
        };
        if made > 0 {
            self.flush();
            self.sent_ns = now_ns;
        }
        next_ns
    }

    /// Builds a request into the buffer of a connection.
    fn make(&mut self, job: Job, now_ns: i64) {
        let operation = job.operation(&self.workload);
        if !job.populates {
            self.next_number = self.next_number.max(job.number + 1);
        }
        let statement = &self.statements[operation];
        let job = job.taking(self.workload.seed, &statement.bound, &self.pool);
        let call = job.call(self.workload.seed, &statement.bound, &self.pool, now_ns);
        self.values.clear();
        if let Err(error) = call.write_values(&mut self.values) {
            return self.supply.refused(&unsent(job, operation, now_ns, Outcome::Invalid), &error.to_string());
        }
        let replicas = match self.tables[operation] {
            Some(table) => statement.partition_key.token(&self.values).map(|token| self.ring.replicas(table, token)),
            None => None,
        };
        let chosen = self.choose(replicas.unwrap_or(&[]), job.number);
        let Some(index) = chosen else {
            let reason = match self.last_failure.as_str() {
                "" => "no connection to any node",
                failure => failure,
            };
            return self.supply.refused(&unsent(job, operation, now_ns, Outcome::Connection), reason);
        };
        let connection = &mut self.connections[index];
        let purpose = Purpose::Request;
        let flight = Flight { job, operation, request_bytes: 0, start_ns: i64::MAX, purpose };
        // choose() has checked that a stream is free.
        let Some(stream) = connection.streams.begin(flight) else { return };
        let request_bytes = connection.execute(stream, operation, &self.values);
        if let Some(flight) = connection.streams.get_mut(stream) {
            flight.request_bytes = request_bytes as u32;
        }
        if connection.unsent.is_empty() {
            self.dirty.push(index);
        }
        connection.unsent.push(stream);
        self.supply.sent();
    }

    /// The connection with the fewest requests in flight to the first replica that has a free one; to any node if no
    /// replica has.
    fn choose(&self, replicas: &[u16], number: u64) -> Option<usize> {
        if let [only] = self.connections.as_slice() {
            return only.can_take().then_some(0);
        }
        let least = |node: usize| {
            let connections = self.of_node.get(node)?.iter().copied();
            let open = connections.filter(|connection| self.connections[*connection].can_take());
            open.min_by_key(|connection| self.connections[*connection].streams.taken())
        };
        let turned = |length: usize| (0..length).map(move |step| (number as usize).wrapping_add(step) % length);
        turned(replicas.len())
            .find_map(|place| least(usize::from(replicas[place])))
            .or_else(|| turned(self.of_node.len()).find_map(least))
    }

    /// Writes the built requests to the sockets.
    fn flush(&mut self) {
        while let Some(index) = self.dirty.pop() {
            let connection = &mut self.connections[index];
            let start_ns = self.clock.now_ns();
            for place in 0..connection.unsent.len() {
                let stream = connection.unsent[place];
                if let Some(flight) = connection.streams.get_mut(stream) {
                    flight.start_ns = start_ns;
                    self.supply.ledger.started(&flight.job, start_ns);
                }
            }
            connection.unsent.clear();
            if let Err(broken) = connection.flush() {
                self.lose(index, &broken);
            }
        }
    }

    fn wait(&mut self, until_ns: i64) {
        let wait_ns = until_ns.saturating_sub(self.clock.now_ns());
        let timeout = if wait_ns <= SHORT_NS {
            Some(Duration::ZERO)
        } else {
            if until_ns != self.timer_ns {
                self.timer.set(until_ns);
                self.timer_ns = until_ns;
            }
            None
        };
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            // Interrupted by a signal; the loop tries again.
            Err(_) => self.events.clear(),
        }
    }

    /// Reads a connection until it is empty.
    fn receive(&mut self, index: usize) {
        loop {
            match self.connections[index].receive() {
                Ok(Received::Nothing) => return,
                Ok(Received::End) => return self.lose(index, &Broken::Closed),
                Ok(Received::Bytes { all }) => {
                    if let Err(broken) = self.take_answers(index) {
                        return self.lose(index, &broken);
                    }
                    if all {
                        return;
                    }
                }
                Err(broken) => return self.lose(index, &broken),
            }
        }
    }

    /// Processes the complete answers. Their time is that of the last bytes that came.
    fn take_answers(&mut self, index: usize) -> Result<(), Broken> {
        let end_ns = self.clock.now_ns();
        let mut unprepared = Vec::new();
        while self.connections[index].is_ready() {
            let connection = &mut self.connections[index];
            let Some((header, message)) = connection.inbox.next()? else { break };
            if header.stream < 0 {
                // An event message, which was not requested.
                continue;
            }
            let Some(flight) = connection.streams.get_mut(header.stream) else {
                return Err(Malformed("an answer to a request that was not sent").into());
            };
            let answer = Answer::read(header.opcode, message)?;
            let (outcome, rows, reason) = match (flight.purpose, answer) {
                (Purpose::Request, Answer::Done { rows }) => (Outcome::Ok, rows, ""),
                (Purpose::Request, Answer::Failed { outcome, message }) => (outcome, None, message),
                (Purpose::Request, Answer::Unprepared) => {
                    unprepared.push(header.stream);
                    continue;
                }
                (Purpose::Prepare(waiting), Answer::Failed { message, .. }) => {
                    let refused = message.to_string();
                    connection.streams.end(header.stream);
                    self.prepared_again(index, waiting, Some(refused));
                    continue;
                }
                (Purpose::Prepare(waiting), _) => {
                    let (operation, message) = (flight.operation, message.to_vec());
                    connection.prepared(operation, &self.statements[operation], &message)?;
                    connection.streams.end(header.stream);
                    self.prepared_again(index, waiting, None);
                    continue;
                }
                (Purpose::Orphan, _) => {
                    connection.streams.end(header.stream);
                    continue;
                }
            };
            let (node, line) = (connection.node, connection.line);
            let Some(flight) = connection.streams.end(header.stream) else { continue };
            let mut ended = ended(&flight, end_ns, node, line, header.stream, outcome);
            ended.answer.rows = rows;
            ended.answer.written = self.statements[flight.operation].bound.writes();
            if let Some(wire) = &mut ended.wire {
                wire.response_bytes = Some((HEADER_BYTES + header.body_bytes) as u32);
            }
            self.supply.ended(&ended, reason);
        }
        for stream in unprepared {
            self.prepare_again(index, stream);
        }
        if !self.connections[index].is_ready() {
            self.shake_hands(index)?;
        }
        Ok(())
    }

    fn shake_hands(&mut self, index: usize) -> Result<(), Broken> {
        loop {
            let connection = &mut self.connections[index];
            let Some((header, message)) = connection.inbox.next()? else { return Ok(()) };
            let message = message.to_vec();
            if connection.shake_hands((header, &message), &self.statements, self.access.login.as_ref())? {
                self.last_failure.clear();
                return Ok(());
            }
        }
    }

    /// The node has forgotten a statement: the statement is prepared again, and then the request is sent a second time.
    fn prepare_again(&mut self, index: usize, stream: i16) {
        let connection = &mut self.connections[index];
        let Some(flight) = connection.streams.get_mut(stream).map(|flight| *flight) else { return };
        let preparing = Flight { purpose: Purpose::Prepare(stream), ..flight };
        if let Some(own) = connection.streams.begin(preparing) {
            connection.prepare(own, &self.statements[flight.operation]);
            if let Err(broken) = connection.flush() {
                self.lose(index, &broken);
            }
        }
    }

    fn prepared_again(&mut self, index: usize, stream: i16, refused: Option<String>) {
        let connection = &mut self.connections[index];
        let Some(flight) = connection.streams.get_mut(stream).map(|flight| *flight) else { return };
        if flight.purpose != Purpose::Request {
            return;
        }
        let statement = &self.statements[flight.operation];
        let call = flight.job.call(self.workload.seed, &statement.bound, &self.pool, flight.start_ns);
        self.values.clear();
        let written = || call.write_values(&mut self.values).map_err(|error| error.to_string());
        match refused.map_or_else(written, Err) {
            Ok(()) => {
                connection.execute(stream, flight.operation, &self.values);
                if let Err(broken) = connection.flush() {
                    self.lose(index, &broken);
                }
            }
            Err(reason) => {
                connection.streams.end(stream);
                let (node, line, end_ns) = (connection.node, connection.line, self.clock.now_ns());
                self.supply.ended(&ended(&flight, end_ns, node, line, stream, Outcome::Invalid), &reason);
            }
        }
    }

    /// Records the requests that were in flight on a broken connection, and lets the connection be retried.
    fn lose(&mut self, index: usize, why: &Broken) {
        let end_ns = self.clock.now_ns();
        let connection = &mut self.connections[index];
        self.last_failure = format!("{}: {why}", self.ring.nodes[usize::from(connection.node)]);
        let (node, line) = (connection.node, connection.line);
        for (stream, flight) in connection.streams.clear() {
            if flight.purpose == Purpose::Request {
                let ended = ended(&flight, end_ns, node, line, stream, Outcome::Connection);
                self.supply.ended(&ended, &self.last_failure);
            }
        }
        self.connections[index].close(self.poll.registry(), end_ns);
    }

    /// Applies a changed ring: opens connections to new nodes. Connections to nodes that have left stay, without being
    /// connected.
    fn follow_ring(&mut self) {
        let version = self.shared_ring.version();
        if version == self.ring_version {
            return;
        }
        self.ring_version = version;
        self.ring = self.shared_ring.get();
        for node in self.of_node.len()..self.ring.nodes.len() {
            let address = self.ring.nodes[node];
            self.supply.ledger.meet(node as u16, |_| address.ip().to_string());
            let mut own = Vec::new();
            for _ in 0..self.connections_per_node {
                let index = self.connections.len();
                let number = (index * self.share.1 + self.share.0) as i64;
                let framing = Framing::of(&self.access);
                self.connections.push(Connection::new(node as u16, number, address, Token(index), framing));
                own.push(index);
            }
            self.of_node.push(own);
        }
        let place = |statement: &Statement| statement.table.as_ref().and_then(|table| self.ring.table(table));
        self.tables = self.statements.iter().map(place).collect();
    }
}

fn ended(flight: &Flight, end_ns: i64, node: u16, line: ConnectionId, stream: i16, outcome: Outcome) -> Ended {
    // The end of a request that was never sent is its start.
    let start_ns = if flight.start_ns == i64::MAX { end_ns } else { flight.start_ns };
    Ended {
        job: flight.job,
        start_ns,
        end_ns,
        node,
        operation: flight.operation,
        outcome,
        answer: request::Answer::default(),
        wire: Some(WireFacts { line, stream, request_bytes: flight.request_bytes, response_bytes: None }),
    }
}

fn unsent(job: Job, operation: usize, now_ns: i64, outcome: Outcome) -> Ended {
    Ended {
        job,
        start_ns: now_ns,
        end_ns: now_ns,
        node: NO_NODE,
        operation,
        outcome,
        answer: request::Answer::default(),
        wire: None,
    }
}
