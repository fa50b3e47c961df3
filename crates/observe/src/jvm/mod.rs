//! What the JVM reports about itself: pauses, pools, tables and stalls, from the agent inside it.

mod link;

pub use link::{AgentLink, StartRequest};

use crate::check::{Check, CheckState};
use crate::error::Error;
use crate::names::ThreadNames;
use crate::source::{Context, Running, STALL_BOUND, Source, facts};
use crate::wire::{self, RequestsFrom};
use crate::{Event, Watched};
use clap::Args;
use helenus_cassandra::agent::protocol::Hello;
use helenus_cassandra::attach;
use helenus_cassandra::target::{self, TargetName};
use helenus_recording::rows::SourceReport;
use std::time::Duration;

/// The sources that the agent provides.
pub const SOURCES: &[&str] =
    &["pauses", "pools", "tables", "stalls", "client_requests", "node_metrics", "definitions", "probes", "valves"];

/// How long an agent may take from being loaded to its hello, and from the request to detach until it has detached.
const WITHIN: Duration = Duration::from_secs(20);

/// Between two readings of pools and tables.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct AgentOptions {
    /// Leave the JVM alone: GC, safepoints, pools and tables are not recorded, and stacks by eBPF only
    #[arg(long)]
    pub no_agent: bool,
    /// The agent's jar; None leaves the JVMs unchanged.
    #[arg(skip)]
    pub jar: Option<&'static [u8]>,
    /// Whether recording goes on without an agent that can't be attached.
    #[arg(skip)]
    pub optional: bool,
    /// Where requests are to be recorded.
    #[arg(skip)]
    pub requests: RequestsFrom,
}

pub(crate) struct Agents;

impl Source for Agents {
    type Options = AgentOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &AgentOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        let jar = options.jar.filter(|_| !options.no_agent);
        for (node, names) in context.servers() {
            let Some(jar) = jar else {
                let reason = "no agent was wanted: GC, safepoints, pools and tables are not recorded";
                context.degrade(&node.node, "jvm", reason);
                continue;
            };
            let requests_at = wire::address_of(&node)
                .ok()
                .filter(|address| options.requests.of(&node, *address, true) == RequestsFrom::Jvm);
            let wanted = StartRequest {
                node: node.node.clone(),
                interval: INTERVAL,
                stall_bound: STALL_BOUND,
                sources: SOURCES,
                provider: None,
                requests_at,
            };
            // Requests that were asked for from inside the JVM are nowhere else.
            let is_needed = !options.optional || options.requests == RequestsFrom::Jvm;
            let address = node.node.clone();
            match Agent::start(context, node, names, wanted, jar) {
                Ok((agent, hello)) => {
                    running.push(Box::new(agent));
                    context.say(Event::AgentConnected { node: address, java: hello.java, cassandra: hello.cassandra });
                }
                Err(error) if is_needed => return Err(error),
                Err(error) => report_missing(context, &address, requests_at.is_some(), &error),
            }
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        let what = "the agent in a running JVM";
        // SAFETY: takes no arguments and can't fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        vec![match is_root {
            true => Check::new(what, CheckState::Works, "root: nodes of every user", ""),
            false => {
                Check::new(what, CheckState::Degraded, "nodes of this user only", "run as the node's user, or as root")
            }
        }]
    }
}

/// Reports in the recording and to the user what is missing without the agent, why, and what to do.
fn report_missing(context: &Context<'_>, node: &str, with_requests: bool, error: &Error) {
    let and_requests = if with_requests { ", and requests" } else { "" };
    let reason = format!(
        "no agent: {}. GC, safepoints, pools and tables{and_requests} are not recorded. To try again, start the recording again; \
         --no-agent records without it",
        error.reason()
    );
    for source in ["agent"].into_iter().chain(with_requests.then_some("wire")) {
        context.recorder.append(SourceReport {
            time_ns: context.recorder.clock().now_ns(),
            source,
            node,
            provider: "jvm",
            lost_reason: &reason,
            ..SourceReport::default()
        });
    }
    context.note(&[facts("agent", node, "none", &reason)]);
    context.degrade(node, "jvm", reason);
}

/// The agent in one node.
#[derive(Debug)]
struct Agent {
    node: Watched,
    link: AgentLink,
}

impl Agent {
    fn start(
        context: &Context<'_>,
        node: Watched,
        names: ThreadNames,
        wanted: StartRequest,
        jar: &[u8],
    ) -> Result<(Agent, Hello), Error> {
        let link = AgentLink::listen(node.pid, context.recorder.clone(), wanted, names, context.events.clone())?;
        let agent = Box::new(Agent { node, link });
        match agent.attach(jar) {
            Ok(hello) => Ok((*agent, hello)),
            Err(error) => {
                // An agent that connects later is turned away, and changes nothing.
                agent.stop();
                Err(error)
            }
        }
    }

    fn attach(&self, jar: &[u8]) -> Result<Hello, Error> {
        let target = target::find(TargetName::Pid(self.node.pid.cast_signed()))?;
        attach::check_memory(&target)?;
        attach::load_agent(&target, jar, self.link.agent_options())?;
        self.link.wait(WITHIN).map_err(|reason| self.gone(reason))
    }

    fn gone(&self, reason: String) -> Error {
        Error::Agent { node: self.node.node.clone(), pid: self.node.pid, reason }
    }
}

impl Running for Agent {
    fn continue_in(&mut self, context: &Context<'_>) -> Result<bool, Error> {
        self.link.continue_in(context.recorder, WITHIN).map_err(|reason| self.gone(reason))?;
        Ok(true)
    }

    fn stop(self: Box<Self>) -> Option<String> {
        let Agent { node, link } = *self;
        link.detach(WITHIN).err().map(|why| format!("{}: {why}", node.node))
    }
}
