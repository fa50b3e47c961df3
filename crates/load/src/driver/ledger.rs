//! Records the requests of one driver thread: rows for the recording, and tallies for the summary.

use super::job::Job;
use super::request::Answer;
use super::route::{NO_NODE, NodeNumber};
use super::tally::{Mailbox, Tally};
use crate::intervals::{Collector, Timed};
use crate::outcome::Outcome;
use crate::stalls::{Late, Lateness, Stall, StallView};
use helenus_recording::Recorder;
use helenus_recording::rows;

/// The number of rows written under one lock: enough to make the lock cheap, few enough not to delay the event loop.
const ROWS_AT_ONCE: usize = 256;

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub job: Job,
    pub start_ns: i64,
    pub end_ns: i64,
    pub node: NodeNumber,
    pub operation: usize,
    pub outcome: Outcome,
    pub answer: Answer,
    /// Sizes and the like; None if the driver does not report them.
    pub wire: Option<WireFacts>,
}

/// A connection, as it is named in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionId {
    /// Its number within the load.
    pub number: i64,
    /// Its local port, which stays the same when it reconnects.
    pub port: u16,
}

/// Details of a request on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct WireFacts {
    pub line: ConnectionId,
    pub stream: i16,
    pub request_bytes: u32,
    /// Size of the response; None without a response.
    pub response_bytes: Option<u32>,
}

struct Row {
    intended_ns: i64,
    start_ns: i64,
    end_ns: i64,
    node: NodeNumber,
    operation: u16,
    outcome: Outcome,
    wire: Option<WireFacts>,
    number: i64,
    phase: usize,
    /// Whether the driver started the request late.
    late: bool,
}

pub(super) struct Ledger {
    recorder: Recorder,
    mailbox: Mailbox,
    operations: Vec<String>,
    addresses: Vec<String>,
    rows: Vec<Row>,
    /// Tallies by index of the phase, created when needed.
    tallies: Vec<Option<Box<Tally>>>,
    lateness: Lateness,
    stall_view: StallView,
    /// Receives the times of measured phases, if intervals are requested.
    collector: Option<Collector>,
    measured: Vec<bool>,
    /// For each phase of the segment: position, start, end.
    windows: Vec<(usize, i64, i64)>,
    window: usize,
    seen: [bool; Outcome::ALL.len()],
    cpu_ns: i64,
}

impl Ledger {
    pub fn new(
        recorder: &Recorder,
        mailbox: &Mailbox,
        operations: Vec<String>,
        phases: usize,
        bound_ns: i64,
        stall_view: StallView,
    ) -> Ledger {
        Ledger {
            recorder: recorder.clone(),
            mailbox: mailbox.clone(),
            operations,
            addresses: Vec::new(),
            rows: Vec::with_capacity(ROWS_AT_ONCE),
            tallies: (0..phases).map(|_| None).collect(),
            lateness: Lateness::new(bound_ns),
            stall_view,
            collector: None,
            measured: Vec::new(),
            windows: Vec::new(),
            window: 0,
            seen: [false; Outcome::ALL.len()],
            cpu_ns: helenus_recording::cpu_time_of_this_thread_ns(),
        }
    }

    /// Also collects the times of requests of measured phases by operation. `measured` is by position of the phase.
    pub fn collect(mut self, collector: Option<Collector>, measured: Vec<bool>) -> Ledger {
        (self.collector, self.measured) = (collector, measured);
        self
    }

    /// Begins a segment, with start and end of each of its phases.
    pub fn begin(&mut self, windows: Vec<(usize, i64, i64)>) {
        self.windows = windows;
        self.window = 0;
    }

    pub fn started(&mut self, job: &Job, start_ns: i64) {
        let Some(intended_ns) = job.intended_ns else { return };
        let (late, stall) = self.lateness.started(intended_ns, job.ready_ns, start_ns);
        match late {
            None => {}
            Some(Late::InFlight) => self.tally(job.phase).counts.late_in_flight += 1,
            Some(Late::Driver) => self.tally(job.phase).counts.late_driver += 1,
        }
        if let Some(stall) = stall {
            self.stalled(stall);
        }
    }

    pub fn ended(&mut self, ended: &Ended) {
        let intended_ns = ended.job.intended_ns.unwrap_or(ended.start_ns);
        self.rows.push(Row {
            intended_ns,
            start_ns: ended.start_ns,
            end_ns: ended.end_ns,
            node: ended.node,
            operation: ended.operation as u16,
            outcome: ended.outcome,
            wire: ended.wire,
            number: ended.job.row_number(),
            phase: ended.job.phase,
            late: ended.job.intended_ns.is_some() && self.lateness.is_late(ended.job.ready_ns, ended.start_ns),
        });
        let tally = self.tally(ended.job.phase);
        tally.counts.outcomes[ended.outcome as usize] += 1;
        tally.counts.empty += u64::from(ended.answer.rows == Some(0));
        tally.counts.not_applied += u64::from(ended.answer.not_applied);
        if ended.outcome.is_timed() {
            tally.service.record(ended.end_ns - ended.start_ns);
            tally.response.record(ended.end_ns - intended_ns);
        }
        if let Some(collector) = &self.collector
            && self.measured[ended.job.phase]
        {
            collector.record(&Timed {
                operation: ended.operation,
                outcome: ended.outcome,
                intended_ns: ended.job.intended_ns,
                start_ns: ended.start_ns,
                end_ns: ended.end_ns,
                rows: ended.answer.rows,
                partitions: match (ended.answer.partitions, ended.answer.written) {
                    (Some(read), _) => read,
                    (None, Some(_)) => ended.job.taken.count,
                    (None, None) => 0,
                },
                written: ended.answer.written,
            });
        }
        if let Some(phase) = self.phase_at(ended.end_ns) {
            let tally = self.tally(phase);
            match ended.outcome {
                Outcome::Ok => tally.counts.ended_ok += 1,
                _ => tally.counts.ended_failed += 1,
            }
        }
        if self.rows.len() >= ROWS_AT_ONCE {
            self.write_rows();
        }
    }

    /// Whether an outcome is the first of its kind in this thread, so that its message is worth formatting.
    pub fn is_new(&mut self, outcome: Outcome) -> bool {
        !std::mem::replace(&mut self.seen[outcome as usize], true)
    }

    pub fn first_error(&mut self, outcome: Outcome, node: NodeNumber, message: String) {
        let address = self.address(node);
        self.mailbox.open().first_errors.push((outcome, address, message));
    }

    pub fn unsent(&mut self, phase: usize, count: u64) {
        self.tally(phase).counts.unsent += count;
    }

    /// Called at the end of a segment: no later start can end a stall.
    pub fn end(&mut self) {
        if let Some(stall) = self.lateness.end() {
            self.stalled(stall);
        }
    }

    /// Publishes rows and tallies since the last call.
    pub fn publish(&mut self, now_ns: i64, in_flight: u64, lost: Vec<String>, back: Vec<String>) {
        self.write_rows();
        let cpu_ns = helenus_recording::cpu_time_of_this_thread_ns();
        let used_ns = cpu_ns - self.cpu_ns;
        self.cpu_ns = cpu_ns;
        if let Some(phase) = self.phase_at(now_ns) {
            self.tally(phase).counts.cpu_ns += used_ns;
        }
        let mut report = self.mailbox.open();
        for (phase, tally) in self.tallies.iter_mut().enumerate() {
            if let Some(tally) = tally.take() {
                report.tallies.entry(phase).or_default().push(*tally);
            }
        }
        report.in_flight = in_flight;
        report.cpu_ns = cpu_ns;
        report.lost.extend(lost);
        report.back.extend(back);
    }

    fn tally(&mut self, phase: usize) -> &mut Tally {
        self.tallies[phase].get_or_insert_with(|| Box::new(Tally::new()))
    }

    fn phase_at(&mut self, now_ns: i64) -> Option<usize> {
        // Times are ascending, except for a few that were measured earlier and are reported later.
        while self.windows.get(self.window + 1).is_some_and(|(_, start_ns, _)| *start_ns <= now_ns) {
            self.window += 1;
        }
        let (phase, _, end_ns) = self.windows.get(self.window)?;
        (now_ns < *end_ns).then_some(*phase)
    }

    fn stalled(&mut self, stall: Stall) {
        let duration_ns = stall.end_ns - stall.start_ns;
        self.recorder.append(rows::Stall {
            start_ns: stall.start_ns,
            duration_ns,
            side: "load",
            kind: "schedule",
            ..rows::Stall::default()
        });
        let mut report = self.mailbox.open();
        report.stalls += 1;
        report.longest_stall_ns = report.longest_stall_ns.max(duration_ns);
    }

    fn write_rows(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        self.stall_view.refresh(self.recorder.clock().now_ns());
        let (addresses, operations, stall_view) = (&self.addresses, &self.operations, &self.stall_view);
        let stalled = |row: &Row| row.late || stall_view.overlaps(row.intended_ns, row.end_ns);
        for row in self.rows.iter().filter(|row| stalled(row)) {
            let tally = self.tallies[row.phase].get_or_insert_with(|| Box::new(Tally::new()));
            tally.counts.stalled += 1;
        }
        self.recorder.append_all(self.rows.iter().map(|row| rows::Request {
            intended_start_ns: row.intended_ns,
            start_ns: row.start_ns,
            end_ns: row.end_ns,
            node: addresses.get(usize::from(row.node)).map_or("", String::as_str),
            operation: &operations[usize::from(row.operation)],
            outcome: row.outcome.name(),
            connection: row.wire.map(|wire| wire.line.number),
            client_port: row.wire.map(|wire| i64::from(wire.line.port)),
            stream: row.wire.map(|wire| i64::from(wire.stream)),
            request_bytes: row.wire.map(|wire| i64::from(wire.request_bytes)),
            response_bytes: row.wire.and_then(|wire| wire.response_bytes).map(i64::from),
            number: Some(row.number),
            stalled: stalled(row),
        }));
        self.rows.clear();
    }

    /// Stores the addresses of the nodes up to and including this one.
    pub fn meet(&mut self, node: NodeNumber, address: impl Fn(NodeNumber) -> String) {
        while node != NO_NODE && self.addresses.len() <= usize::from(node) {
            self.addresses.push(address(self.addresses.len() as NodeNumber));
        }
    }

    fn address(&self, node: NodeNumber) -> String {
        self.addresses.get(usize::from(node)).cloned().unwrap_or_default()
    }
}
