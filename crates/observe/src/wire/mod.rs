//! Requests on the wire: each with its answer, as they passed the node's network, whatever client and node did.
//!
//! ```text
//! packet socket ─▶ packets ─▶ order of each direction ─▶ messages ─▶ request and answer paired ─▶ wire
//! ```
//!
//! Packets are taken where they come in and go out, and not where the node reads and writes them: a request that waits
//! in the socket while the node is paused is waiting.

mod answers;
mod bodies;
mod budget;
mod conversation;
mod filter;
mod messages;
mod normalized;
mod ordered;
mod packet;
mod parameters;
mod ring;
mod sample;
mod statements;

use crate::Watched;
use crate::check::Check;
use crate::ebpf::Missing;
use crate::error::Error;
use crate::source::{Context, Running, Source};
use crate::worker::Worker;
use budget::{Budget, Share};
use clap::{Args, ValueEnum};
use conversation::{Conversations, Exchange, LOST_REASONS};
use helenus_cassandra::cql;
use helenus_cassandra::network;
use helenus_cassandra::target::{self, Which};
use helenus_recording::rows::{SourceReport, WireRequest};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use ring::{HANDED_OVER_AFTER, Ring};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const SOURCE: &str = "wire";
const PROVIDER: &str = "packet-socket";

const READ_EVERY: Duration = Duration::from_millis(50);
const READ_EVERY_IF_MUCH: Duration = Duration::from_millis(10);
const APPEND_EVERY: Duration = Duration::from_millis(200);
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// How long a node may take to say which statements are prepared.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

/// Which requests on the wire are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WireMode {
    #[default]
    Off,
    /// Of all connections.
    On,
    /// Of as many connections as about 2 % of the node's CPU time allows, where packets may be read
    Auto,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct WireOptions {
    /// Record each request on the wire with its answer, from the packets (needs root or CAP_NET_RAW). Auto leaves connections
    /// out where all would cost the node more than about 2 % of its CPU time
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub wire: WireMode,
}

pub(crate) struct Wire;

impl Source for Wire {
    type Options = WireOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &WireOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        if options.wire == WireMode::Off {
            return Ok(());
        }
        for (node, _) in context.servers() {
            match listen(context, &node, options.wire) {
                Ok(worker) => running.push(Box::new(worker)),
                Err(missing) => {
                    let reason = format!("requests on the wire are not recorded: {missing}");
                    context.recorder.append(SourceReport {
                        time_ns: context.recorder.clock().now_ns(),
                        source: SOURCE,
                        node: &node.node,
                        provider: PROVIDER,
                        lost_reason: &reason,
                        ..SourceReport::default()
                    });
                    context.degrade(&node.node, SOURCE, reason);
                }
            }
        }
        Ok(())
    }

    /// By listening to packets for a moment.
    fn checks(&self) -> Vec<Check> {
        let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
        let found = "a packet socket; what is in TLS can't be read";
        vec![Check::of("requests on the wire", Ring::open(nobody).map(drop), found)]
    }
}

/// Begins to listen to the requests of a node.
fn listen(context: &Context<'_>, node: &Watched, mode: WireMode) -> Result<Worker, Missing> {
    let found = target::find(Which::Pid(node.pid.cast_signed()));
    let address = found.ok().and_then(|target| target.cql).ok_or_else(|| {
        Missing::new(
            format!("process {} is no node whose CQL address is known", node.pid),
            "name it with --node ADDRESS:PORT",
        )
    })?;
    let (recorder, node_there) = (context.recorder.clone(), node.clone());
    let prepare = move || {
        // Before packets are taken, so that this question is not among them.
        let mut conversations = Conversations::new(address);
        // This thread does nothing else, and stays in the node's network.
        network::enter(node_there.pid.cast_signed())
            .map_err(|error| Missing::new(error.to_string(), "run as root on the host"))?;
        let unknown = learn_prepared(&mut conversations, address);
        let ring = Ring::open(address)?;
        let budget = (mode == WireMode::Auto).then(|| Budget::new(node_there.pid.cast_signed()));
        Ok::<_, Missing>((Listener::new(recorder, node_there.node, ring, conversations, budget), unknown))
    };
    let (worker, unknown) = Worker::start(SOURCE, prepare, Listener::run)?;
    let note = match unknown {
        None => String::new(),
        Some(reason) => format!("statements that were prepared before are known by their ids alone: {reason}"),
    };
    context.note([(SOURCE, node.node.as_str(), PROVIDER, note.as_str())]);
    Ok(worker)
}

/// Asks the node which statements are prepared; says why not.
fn learn_prepared(conversations: &mut Conversations, node: SocketAddr) -> Option<String> {
    let mut here = node;
    if here.ip().is_unspecified() {
        here.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let asked = cql::Connection::open(here, ASKED_WITHIN, None).and_then(|mut connection| {
        connection.query("SELECT prepared_id, query_string, logged_keyspace FROM system.prepared_statements")
    });
    match asked {
        Ok(rows) => {
            for row in 0..rows.rows.len() {
                let (id, text) = (rows.get(row, "prepared_id"), rows.get(row, "query_string"));
                if let (cql::Value::Bytes(id), Some(text)) = (id, text.text()) {
                    let keyspace = rows.get(row, "logged_keyspace").text();
                    conversations.statements.learn(id, text, keyspace.filter(|name| !name.is_empty()));
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
    /// None where all connections are followed, whatever that costs.
    budget: Option<Budget>,
    /// Requests that each recorded one stands for.
    weight: f64,
}

impl Listener {
    fn new(
        recorder: Recorder,
        node: String,
        ring: Ring,
        conversations: Conversations,
        budget: Option<Budget>,
    ) -> Listener {
        Listener {
            recorder,
            node,
            ring,
            conversations,
            waiting: Vec::new(),
            captured: 0,
            reported: Instant::now(),
            cpu_ns: cpu_time_of_this_thread_ns(),
            budget,
            weight: 1.0,
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
                rows,
                has_more_pages,
                is_warned,
                answer_bytes,
            } = exchange;
            let asked = &request.asked;
            WireRequest {
                start_ns: clock.from_monotonic_ns(request.last_ns),
                // The kernel's stamps of two packets at once on two CPUs can be some nanoseconds the wrong way round.
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
        let untold = std::mem::take(&mut self.conversations.statements.untold);
        if untold > 0 {
            reasons.push(format!(
                "requests of more than {} different statements, which are recorded as '{}' ({untold})",
                statements::MOST,
                statements::OTHERS
            ));
        }
        let share = self.budget.as_mut().and_then(|budget| budget.spend(cpu_ns, interval));
        if let Some(share) = share {
            self.keep_to_budget(share);
            reasons.push(self.cost(share));
        }
        self.conversations.forget_requests();
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

    /// Follows fewer connections where they cost more than the budget.
    fn keep_to_budget(&mut self, share: Share) {
        let Some(fewer) = share.fewer() else { return };
        // What has passed counts as it did until now.
        self.append();
        if let Some(left_out) = self.conversations.narrow(fewer)
            && self.ring.narrow(self.conversations.sample()).is_ok()
        {
            self.weight *= left_out.weight;
        }
    }

    fn cost(&self, share: Share) -> String {
        let sample = self.conversations.sample();
        let followed = match sample.one_in() {
            1 => "all connections are followed".to_string(),
            one_in => format!("one in {one_in} connections is followed, and a request counts for {:.1}", self.weight),
        };
        format!("{followed}: {:.1} % of the node's CPU time", share.percent())
    }
}
