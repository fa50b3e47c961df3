//! Requests on the wire, each with its answer, captured on the node's network independently of client and node.
//!
//! ```text
//! packet socket ─▶ packets ─▶ order of each direction ─▶ messages ─▶ request and answer paired ─▶ wire
//! ```
//!
//! Packets are captured when they arrive and leave, and not when the node reads and writes them. So the time that a
//! request waits in the socket while the node is paused is counted.

mod answers;
mod bodies;
mod budget;
mod conversation;
mod filter;
mod keys;
mod learned;
mod messages;
mod normalized;
mod ordered;
mod packet;
mod parameters;
mod partition_key;
mod provider;
mod replicas;
mod ring;
mod rows;
mod sample;
mod statements;
mod tapped;

use crate::Watched;
use crate::check::Check;
use crate::ebpf::Unavailable;
use crate::error::Error;
use crate::source::{Context, Running, Source, facts};
use crate::worker::{Instruction, Instructions, Worker};
use budget::{Budget, Share};
use clap::Args;
use conversation::Conversations;
use helenus_cassandra::network;
use helenus_cassandra::target::{self, TargetName};
use helenus_recording::cpu_time_of_this_thread_ns;
use helenus_recording::rows::SourceReport;
pub use keys::Keys;
pub use provider::RequestsFrom;
use ring::{HANDED_OVER_AFTER, Ring};
use rows::{Account, Rows};
pub(crate) use sample::Halvings;
use sample::Sample;
use std::net::SocketAddr;
use std::time::Duration;
pub(crate) use tapped::{Tapped, facts as facts_of_the_jvm};

const SOURCE: &str = "wire";
const PROVIDER: &str = "packet-socket";

const READ_EVERY: Duration = Duration::from_millis(50);
const READ_EVERY_IF_MUCH: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct WireOptions {
    /// Provider of the clients' requests
    #[arg(long, alias = "wire", value_name = "FROM", default_value = "auto")]
    pub requests: RequestsFrom,
    /// Whether an agent is loaded that can record requests inside the JVM.
    #[arg(skip)]
    pub(crate) has_agent: bool,
    /// Receives the texts of partition keys of requests on the wire.
    #[arg(skip)]
    pub keys: Option<Keys>,
    /// Halves the connections while they are followed. None to follow as many as `requests` says.
    #[arg(skip)]
    pub(crate) halvings: Option<Halvings>,
}

impl WireOptions {
    pub fn of(requests: RequestsFrom) -> WireOptions {
        WireOptions { requests, ..WireOptions::default() }
    }
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
        if options.requests == RequestsFrom::Off {
            return Ok(());
        }
        for (node, _) in context.servers() {
            // By default, no requests are recorded of a JVM that is no Cassandra node.
            if options.requests == RequestsFrom::Auto && !is_cassandra(&node) {
                continue;
            }
            match start_one(context, &node, options) {
                Ok(worker) => running.extend(worker.map(|worker| Box::new(worker) as Box<dyn Running>)),
                Err(missing) => {
                    let reason = format!("requests are not recorded: {missing}");
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

    /// Checks it by capturing packets for a moment.
    fn checks(&self) -> Vec<Check> {
        let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
        let found = "a packet socket; what is in TLS can't be read";
        vec![Check::of("requests on the wire", Ring::open(nobody).map(drop), found)]
    }
}

fn is_cassandra(node: &Watched) -> bool {
    target::find(TargetName::Pid(node.pid.cast_signed())).is_ok_and(|target| target.is_cassandra)
}

/// The address on which a node listens to clients.
pub(crate) fn address_of(node: &Watched) -> Result<SocketAddr, Unavailable> {
    let found = target::find(TargetName::Pid(node.pid.cast_signed()));
    found.ok().and_then(|target| target.cql).ok_or_else(|| {
        Unavailable::new(
            format!("process {} is no node whose CQL address is known", node.pid),
            "name it with --node ADDRESS:PORT",
        )
    })
}

/// Begins to record the requests of a node. If the agent records them, nothing has to run here.
fn start_one(context: &Context<'_>, node: &Watched, options: &WireOptions) -> Result<Option<Worker>, Unavailable> {
    let address = address_of(node)?;
    match options.requests.of(node, address, options.has_agent) {
        RequestsFrom::Jvm if options.has_agent => Ok(None),
        RequestsFrom::Jvm => Err(Unavailable::new("the agent reads them inside the JVM", "leave out --no-agent")),
        from => listen(context, node, address, from == RequestsFrom::Auto, options.clone()).map(Some),
    }
}

/// Begins to capture a node's packets; within a budget, only a share of the connections.
fn listen(
    context: &Context<'_>,
    node: &Watched,
    address: SocketAddr,
    has_budget: bool,
    options: WireOptions,
) -> Result<Worker, Unavailable> {
    let (recorder, node_there) = (context.recorder.clone(), node.clone());
    let prepare = move || {
        // Ask before packets are captured, so that this query is not recorded.
        let mut conversations = Conversations::new(address);
        conversations.statements.keys = options.keys;
        // This thread does nothing else, and stays in the node's network namespace.
        network::enter(node_there.pid.cast_signed())
            .map_err(|error| Unavailable::new(error.to_string(), "run as root on the host"))?;
        let answers = learned::learn(&mut conversations, address);
        let ring = Ring::open(address)?;
        let budget = has_budget.then(|| Budget::new(node_there.pid.cast_signed()));
        let mut rows = Rows::new(recorder, node_there.node, PROVIDER);
        answers.drivers.into_iter().for_each(|(client, driver)| rows.learn(client, driver));
        let cpu_ns = cpu_time_of_this_thread_ns();
        let halvings = options.halvings.filter(|_| has_budget);
        let listener = Listener { ring, conversations, rows, cpu_ns, budget, halvings, own: 0, fuller: Vec::new() };
        Ok::<_, Unavailable>((listener, answers.note))
    };
    let (worker, note) = Worker::start(SOURCE, prepare, Listener::run)?;
    Ok(worker.noted(context, vec![facts(SOURCE, &node.node, PROVIDER, &note)]))
}

/// The thread that captures packets.
struct Listener {
    ring: Ring,
    conversations: Conversations,
    rows: Rows,
    cpu_ns: i64,
    /// The budget; None to follow all connections at any cost.
    budget: Option<Budget>,
    /// Halvings that the budget of the whole recorder asks for.
    halvings: Option<Halvings>,
    /// Halvings that this listener's own budget asked for, which stay.
    own: u32,
    /// The connections before each narrowing, with the weight of their requests.
    fuller: Vec<(Sample, f64)>,
}

impl Listener {
    fn run(mut self, instructions: &Instructions) {
        let mut wait = READ_EVERY_IF_MUCH;
        loop {
            let instruction = instructions.wait(wait);
            let is_over = instruction.is_stop();
            if is_over {
                // The kernel delivers the packets that it has captured so far within this time.
                std::thread::sleep(2 * HANDED_OVER_AFTER);
            }
            let Listener { ring, conversations, rows, .. } = &mut self;
            let was_much = ring.read(|passed| {
                conversations.take(passed.time_ns, passed.bytes, |exchange| rows.add(exchange));
            });
            wait = if was_much { READ_EVERY_IF_MUCH } else { READ_EVERY };
            if let Instruction::Continue(next) = instruction {
                rows.append();
                rows.continue_in(&next.begin());
            }
            rows.write(is_over);
            if is_over || rows.is_report_due() {
                self.report();
            }
            if is_over {
                return;
            }
        }
    }

    fn report(&mut self) {
        if let Some(silence) = self.conversations.silence() {
            self.rows.say_silent(silence);
        }
        let now_ns = cpu_time_of_this_thread_ns();
        let cpu_ns = now_ns - std::mem::replace(&mut self.cpu_ns, now_ns);
        let interval = self.rows.since_report();
        let share = self.budget.as_mut().and_then(|budget| budget.spend(cpu_ns, interval));
        let mut remark = None;
        if let Some(share) = share {
            if self.conversations.follows_too_few() {
                self.follow_all();
            }
            if let Some(fewer) = share.fewer() {
                self.narrow(fewer);
                self.own = self.conversations.sample().level;
            }
            self.follow_as_wanted();
            remark = Some(self.cost(share));
        }
        let dropped = self.ring.dropped();
        self.rows.report(&mut self.conversations, Account { cpu_ns, dropped, remark });
    }

    /// Follows fewer connections, as far as enough are left.
    fn narrow(&mut self, halvings: u32) {
        // The requests so far keep their weight.
        self.rows.append();
        let before = (self.conversations.sample(), self.rows.weight);
        if let Some(left_out) = self.conversations.narrow(halvings) {
            // Packets that the kernel goes on to pass are left out here.
            let _ = self.ring.follow(self.conversations.sample());
            self.fuller.push(before);
            self.rows.weight *= left_out.weight;
        }
    }

    /// Follows all connections, so that others can be chosen by what they send now.
    fn follow_all(&mut self) {
        if self.ring.follow(Sample::default()).is_ok() {
            self.rows.append();
            self.conversations.widen(Sample::default());
            self.rows.weight = 1.0;
            self.own = 0;
            self.fuller.clear();
        }
    }

    /// Follows as few connections as the budget of the whole recorder asks for, or more of them again.
    fn follow_as_wanted(&mut self) {
        let Some(halvings) = &self.halvings else { return };
        let wanted = halvings.wanted().max(self.own);
        let level = self.conversations.sample().level;
        if wanted > level {
            self.narrow(wanted - level);
        }
        let fewer = self.fuller.partition_point(|(sample, _)| sample.level < wanted);
        if let Some((sample, weight)) = self.fuller.get(fewer).copied()
            && self.ring.follow(sample).is_ok()
        {
            self.rows.append();
            self.conversations.widen(sample);
            self.rows.weight = weight;
            self.fuller.truncate(fewer);
        }
    }

    fn cost(&self, share: Share) -> String {
        let sample = self.conversations.sample();
        let followed = match sample.one_in() {
            1 => "all connections are followed".to_string(),
            one_in => {
                format!("one in {one_in} connections is followed, and a request counts for {:.1}", self.rows.weight)
            }
        };
        format!("{followed}: {:.1} % of the node's CPU time", share.percent())
    }
}
