//! Writes requests to the recording, and reports how they were captured.

use super::bodies::Driver;
use super::conversation::{Client, Conversations, Exchange, LOST_REASONS, Silence};
use super::{SOURCE, statements};
use crate::bounded::Kept;
use helenus_recording::Recorder;
use helenus_recording::rows::{ClientConnection, NodeEvent, SourceReport, WireRequest};
use std::rc::Rc;
use std::time::{Duration, Instant};

const APPEND_EVERY: Duration = Duration::from_millis(200);
/// The most bytes of the drivers that are kept for the next recording: those of some 30,000 connections.
const DRIVERS: usize = 16 << 20;
/// The most requests that wait to be written.
const MOST_WAITING: usize = 1 << 15;
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// A node that answers nobody for this long is silent.
const SILENT_AFTER: Duration = Duration::from_secs(2);
/// A node has answered requests, or let them time out, after this time.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// Writes the rows of one node.
pub(super) struct Rows {
    recorder: Recorder,
    node: String,
    provider: &'static str,
    waiting: Vec<Exchange>,
    captured: u64,
    /// Drivers by connection, including ended connections.
    drivers: Kept<Client, Driver>,
    /// Number of requests that each recorded request represents.
    pub(super) weight: f64,
    appended: Instant,
    reported: Instant,
}

/// Costs and losses since the last report.
pub(super) struct Account {
    pub(super) cpu_ns: i64,
    /// Number of packets that the kernel dropped.
    pub(super) dropped: u64,
    pub(super) remark: Option<String>,
}

impl Rows {
    pub(super) fn new(recorder: Recorder, node: String, provider: &'static str) -> Rows {
        let now = Instant::now();
        let (waiting, captured, weight) = (Vec::new(), 0, 1.0);
        Rows {
            recorder,
            node,
            provider,
            waiting,
            captured,
            drivers: Kept::new(DRIVERS),
            weight,
            appended: now,
            reported: now,
        }
    }

    pub(super) fn add(&mut self, exchange: Exchange) {
        if let Some(driver) = &exchange.request.driver {
            let client = Client { address: Rc::clone(&exchange.client), port: exchange.client_port };
            self.learn(client, Driver::clone(driver));
        }
        if self.waiting.len() >= MOST_WAITING {
            self.append();
        }
        self.waiting.push(exchange);
    }

    /// Writes the driver of a connection into this recording and later ones.
    pub(super) fn learn(&mut self, client: Client, driver: Driver) {
        self.append_driver(&client, &driver);
        let bytes = client.address.len() + driver.bytes();
        self.drivers.insert(client, driver, bytes);
    }

    fn append_driver(&self, client: &Client, driver: &Driver) {
        self.recorder.append(ClientConnection {
            time_ns: self.recorder.clock().now_ns(),
            node: &self.node,
            client: &client.address,
            client_port: i64::from(client.port),
            driver: driver.name.as_deref(),
            driver_version: driver.version.as_deref(),
        });
    }

    pub(super) fn continue_in(&mut self, recorder: &Recorder) {
        self.recorder = recorder.clone();
        for (client, driver) in self.drivers.iter() {
            self.append_driver(client, driver);
        }
    }

    /// Writes the rows that are due; at the end, all of them.
    pub(super) fn write(&mut self, is_last: bool) {
        if is_last || self.appended.elapsed() >= APPEND_EVERY {
            self.appended = Instant::now();
            self.append();
        }
    }

    pub(super) fn since_report(&self) -> Duration {
        self.reported.elapsed()
    }

    pub(super) fn is_report_due(&self) -> bool {
        self.since_report() >= REPORT_EVERY
    }

    pub(super) fn append(&mut self) {
        let clock = self.recorder.clock();
        self.captured += self.waiting.len() as u64;
        self.recorder.append_all(self.waiting.iter().map(|exchange| {
            let Exchange {
                client,
                client_port,
                stream,
                request,
                first_answer_ns,
                last_answer_ns,
                kind,
                error,
                rows,
                has_more_pages,
                is_warned,
                answer_bytes,
            } = exchange;
            let asked = &request.asked;
            let start_ns = clock.from_monotonic_ns(request.last_ns);
            WireRequest {
                start_ns,
                // Timestamps of two packets that two CPUs processed at the same time may be reversed by some
                // nanoseconds.
                duration_ns: (first_answer_ns - request.last_ns).max(0),
                receiving_ns: (request.last_ns - request.first_ns).max(0),
                sending_ns: (last_answer_ns - first_answer_ns).max(0),
                node: &self.node,
                client,
                client_port: i64::from(*client_port),
                weight: Some(self.weight),
                stream: i64::from(*stream),
                opcode: statements::opcode_name(request.opcode),
                statement: &asked.statement,
                keyspace: asked.keyspace.as_deref(),
                consistency: asked.consistency,
                serial_consistency: asked.serial_consistency,
                further_page: asked.is_further_page,
                page_size: asked.page_size.map(i64::from),
                client_ahead_ns: asked.timestamp_us.map(|us| us.saturating_mul(1000).saturating_sub(start_ns)),
                batch_size: asked.batch_size.map(i64::from),
                token: asked.token,
                to_replica: asked.to_replica,
                compressed: request.is_compressed,
                traced: request.is_traced,
                answer: kind,
                error: error.as_deref(),
                rows_returned: *rows,
                more_pages: *has_more_pages,
                warned: *is_warned,
                request_bytes: i64::try_from(request.bytes).unwrap_or(i64::MAX),
                response_bytes: i64::try_from(*answer_bytes).unwrap_or(i64::MAX),
            }
        }));
        self.waiting.clear();
    }

    /// Writes an event if a node has answered nobody for long, again with each report.
    pub(super) fn say_silent(&self, silence: Silence) {
        let clock = self.recorder.clock();
        let now_ns = clock.now_ns();
        let since = |monotonic_ns: i64| {
            u64::try_from(now_ns - clock.from_monotonic_ns(monotonic_ns)).map_or(Duration::ZERO, Duration::from_nanos)
        };
        let lasts = since(silence.since_ns);
        // A request that is never answered is no sign of a node that is silent.
        if lasts < SILENT_AFTER || since(silence.newest_ns) > FORGOTTEN_AFTER {
            return;
        }
        let wait =
            if silence.requests == 1 { "1 request waits" } else { &format!("{} requests wait", silence.requests) };
        let what = format!("answers no client for {} s, {wait}", lasts.as_secs());
        self.recorder.append(NodeEvent {
            time_ns: now_ns,
            node: &self.node,
            kind: "silent",
            what: &what,
            ..NodeEvent::default()
        });
    }

    /// Writes the costs and losses since the last report.
    pub(super) fn report(&mut self, conversations: &mut Conversations, account: Account) {
        let Account { cpu_ns, dropped, remark } = account;
        let interval = std::mem::replace(&mut self.reported, Instant::now()).elapsed();
        let lost = conversations.lost();
        let tls_bytes = std::mem::take(&mut conversations.tls_bytes);
        let mut reasons: Vec<String> = LOST_REASONS
            .iter()
            .zip(lost)
            .filter(|(_, lost)| *lost > 0)
            .map(|(reason, lost)| format!("{reason} ({lost})"))
            .collect();
        if dropped > 0 {
            reasons.push(format!("packets for which the buffer had no room ({dropped})"));
        }
        if tls_bytes > 0 {
            reasons.push(format!("TLS, which can't be read ({tls_bytes} bytes)"));
        }
        let untold = std::mem::take(&mut conversations.statements.untold);
        if untold > 0 {
            reasons.push(format!(
                "requests of more than {} different statements, which are recorded as '{}' ({untold})",
                statements::MOST,
                statements::OTHERS
            ));
        }
        let forgotten = conversations.statements.forgotten();
        if forgotten > 0 {
            reasons.push(format!("prepared statements that are known by their ids from now on ({forgotten})"));
        }
        reasons.extend(remark);
        conversations.forget_requests();
        self.recorder.append(SourceReport {
            time_ns: self.recorder.clock().now_ns(),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            source: SOURCE,
            node: &self.node,
            provider: self.provider,
            captured: i64::try_from(std::mem::take(&mut self.captured)).unwrap_or(i64::MAX),
            lost: i64::try_from(lost.iter().sum::<u64>().max(dropped)).unwrap_or(i64::MAX),
            lost_reason: &reasons.join(", "),
            cpu_ns: Some(cpu_ns),
        });
    }
}
