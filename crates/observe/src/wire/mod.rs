//! Requests on the wire: each with its answer, as they passed the node's network, whatever client and node did.
//!
//! ```text
//! packet socket ─▶ packets ─▶ order of each direction ─▶ messages ─▶ request and answer paired ─▶ wire
//! ```
//!
//! Packets are taken where they come in and go out, and not where the node reads and writes them: a request that waits
//! in the socket while the node is paused is waiting.

mod conversation;
mod filter;
mod messages;
mod ordered;
mod packet;
mod ring;
mod statements;

use crate::ebpf::Missing;
use crate::{Event, Events, ProcessKind, Watched};
use conversation::{Conversations, Exchange, LOST_REASONS};
use helenus_cassandra::cql;
use helenus_cassandra::network;
use helenus_cassandra::target::{self, Which};
use helenus_recording::rows::{SourceReport, WireRequest};
use helenus_recording::{Recorder, SourceFacts, cpu_time_of_this_thread_ns};
use ring::{HANDED_OVER_AFTER, Ring};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) const SOURCE: &str = "wire";
const PROVIDER: &str = "packet-socket";

const READ_EVERY: Duration = Duration::from_millis(50);
const READ_EVERY_IF_MUCH: Duration = Duration::from_millis(10);
const APPEND_EVERY: Duration = Duration::from_millis(200);
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// How long a node may take to say which statements are prepared.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

/// Says whether packets can be listened to here, by doing it for a moment.
pub fn wire_available() -> Result<(), Missing> {
    let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
    Ring::open(nobody).map(drop)
}

/// The running source: a thread for each node.
#[derive(Debug)]
pub(crate) struct Wire {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Wire {
    /// Begins to listen to the requests of each node. Where that can't be, the node is told to be without.
    pub(crate) fn start(recorder: &Recorder, watched: &[Watched], events: &Events) -> Vec<Wire> {
        let mut running = Vec::new();
        for node in watched.iter().filter(|watched| watched.process == ProcessKind::Server) {
            match Wire::start_one(recorder, node) {
                Ok(wire) => running.push(wire),
                Err(missing) => {
                    let reason = format!("requests on the wire are not recorded: {missing}");
                    // The one who listened may have had enough.
                    let _ = events.send(Event::Degraded { node: node.node.clone(), source: SOURCE, reason });
                }
            }
        }
        running
    }

    fn start_one(recorder: &Recorder, node: &Watched) -> Result<Wire, Missing> {
        let found = target::find(Which::Pid(node.pid.cast_signed()));
        let address = found.ok().and_then(|target| target.cql).ok_or_else(|| {
            Missing::new(
                format!("process {} is no node whose CQL address is known", node.pid),
                "name it with --node ADDRESS:PORT",
            )
        })?;
        let (stop, stopped) = channel();
        let (say_ready, ready) = channel();
        let no_thread = |error: &dyn std::fmt::Display| {
            Missing::new(format!("its thread could not start: {error}"), "look for limits on threads (ulimit -a)")
        };
        let (recorder_there, node_there) = (recorder.clone(), node.clone());
        let thread = std::thread::Builder::new().name(SOURCE.into()).spawn(move || {
            // Before packets are taken, so that this question is not among them.
            let mut conversations = Conversations::new(address);
            // This thread does nothing else, and stays in the node's network.
            let entered = network::enter(node_there.pid.cast_signed());
            let unknown = if entered.is_ok() { learn_prepared(&mut conversations, address) } else { None };
            let opened = entered.map_err(|error| Missing::new(error.to_string(), "run as root on the host"));
            match opened.and_then(|()| Ring::open(address)) {
                Ok(ring) => {
                    // Nobody waits any more only if the whole start was given up.
                    let _ = say_ready.send(Ok(unknown));
                    Listener::new(recorder_there, node_there.node, ring, conversations).run(&stopped);
                }
                Err(missing) => {
                    let _ = say_ready.send(Err(missing));
                }
            }
        });
        let thread = thread.map_err(|error| no_thread(&error))?;
        let unknown = ready.recv().map_err(|_| no_thread(&"it ended"))??;
        let note = match unknown {
            None => String::new(),
            Some(reason) => format!("statements that were prepared before are known by their ids alone: {reason}"),
        };
        let facts = SourceFacts { name: SOURCE.into(), node: node.node.clone(), provider: PROVIDER.into(), note };
        // A manifest that can't be written is what the rows of the recorder itself tell about.
        let _ = recorder.update_manifest(|manifest| manifest.sources.push(facts));
        Ok(Wire { stop, thread })
    }

    /// Ends, after the last packets are in the recording.
    pub(crate) fn stop(self) {
        drop(self.stop);
        // A panic has been printed; what was recorded is there.
        let _ = self.thread.join();
    }
}

/// Asks the node which statements are prepared; says why not.
fn learn_prepared(conversations: &mut Conversations, node: SocketAddr) -> Option<String> {
    let mut here = node;
    if here.ip().is_unspecified() {
        here.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let asked = cql::Connection::open(here, ASKED_WITHIN, None).and_then(|mut connection| {
        connection.query("SELECT prepared_id, query_string FROM system.prepared_statements")
    });
    match asked {
        Ok(rows) => {
            for row in 0..rows.rows.len() {
                let (id, text) = (rows.get(row, "prepared_id"), rows.get(row, "query_string"));
                if let (cql::Value::Bytes(id), Some(text)) = (id, text.text()) {
                    conversations.statements.learn(id, text);
                }
            }
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// The thread that listens.
struct Listener {
    recorder: Recorder,
    node: String,
    ring: Ring,
    conversations: Conversations,
    waiting: Vec<Exchange>,
    captured: u64,
    reported: Instant,
    cpu_ns: i64,
}

impl Listener {
    fn new(recorder: Recorder, node: String, ring: Ring, conversations: Conversations) -> Listener {
        Listener {
            recorder,
            node,
            ring,
            conversations,
            waiting: Vec::new(),
            captured: 0,
            reported: Instant::now(),
            cpu_ns: cpu_time_of_this_thread_ns(),
        }
    }

    fn run(mut self, stopped: &Receiver<()>) {
        let mut appended = Instant::now();
        let mut wait = READ_EVERY_IF_MUCH;
        loop {
            let going_on = stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
            if !going_on {
                // What has passed by now is handed over by then.
                std::thread::sleep(2 * HANDED_OVER_AFTER);
            }
            let (conversations, waiting) = (&mut self.conversations, &mut self.waiting);
            let was_much = self.ring.read(|passed| {
                conversations.take(passed.time_ns, passed.bytes, |exchange| waiting.push(exchange));
            });
            wait = if was_much { READ_EVERY_IF_MUCH } else { READ_EVERY };
            if !going_on || appended.elapsed() >= APPEND_EVERY {
                appended = Instant::now();
                self.append();
            }
            if !going_on || self.reported.elapsed() >= REPORT_EVERY {
                self.report();
            }
            if !going_on {
                return;
            }
        }
    }

    fn append(&mut self) {
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
                answer_bytes,
            } = exchange;
            WireRequest {
                start_ns: clock.from_monotonic_ns(request.last_ns),
                // The kernel's stamps of two packets at once on two CPUs can be some nanoseconds the wrong way round.
                duration_ns: (first_answer_ns - request.last_ns).max(0),
                receiving_ns: (request.last_ns - request.first_ns).max(0),
                sending_ns: (last_answer_ns - first_answer_ns).max(0),
                node: &self.node,
                client,
                client_port: i64::from(*client_port),
                stream: i64::from(*stream),
                opcode: statements::opcode_name(request.opcode),
                statement: &request.statement,
                answer: kind,
                error: error.as_deref(),
                request_bytes: i64::try_from(request.bytes).unwrap_or(i64::MAX),
                response_bytes: i64::try_from(*answer_bytes).unwrap_or(i64::MAX),
            }
        }));
        self.waiting.clear();
    }

    fn report(&mut self) {
        let interval = self.reported.elapsed();
        self.reported = Instant::now();
        let now_ns = cpu_time_of_this_thread_ns();
        let cpu_ns = now_ns - std::mem::replace(&mut self.cpu_ns, now_ns);
        let lost = self.conversations.lost();
        let dropped = self.ring.dropped();
        let tls_bytes = std::mem::take(&mut self.conversations.tls_bytes);
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
        self.recorder.append(SourceReport {
            time_ns: self.recorder.clock().now_ns(),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            source: SOURCE,
            node: &self.node,
            provider: PROVIDER,
            captured: i64::try_from(std::mem::take(&mut self.captured)).unwrap_or(i64::MAX),
            lost: i64::try_from(lost.iter().sum::<u64>().max(dropped)).unwrap_or(i64::MAX),
            lost_reason: &reasons.join(", "),
            cpu_ns: Some(cpu_ns),
        });
    }
}
