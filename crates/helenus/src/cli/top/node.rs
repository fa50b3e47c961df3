//! Running nodes, recorded while the terminal shows them.

use crate::assets::AGENT_JAR;
use crate::cli::{self, nodes};
use crate::scratch::{Purpose, Scratch};
use crate::terminal::{self, Steps};
use anyhow::{Context, Result, bail};
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_observe::{
    AgentOptions, Event, Observation, Options, ProcessKind, RequestsFrom, SyscallsMode, SyscallsOptions, Watched,
    WireOptions,
};
use helenus_recording::{Keeper, Kept, Manifest};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// Limits of the recording: the time that the pages can show, and the size on disk.
const KEEP: Duration = Duration::from_secs(15 * 60);
const MOST_BYTES: u64 = 2 << 30;
/// How often a node that is down is searched for.
const POLL_EVERY: Duration = Duration::from_secs(3);

/// A recording of nodes in a private temporary folder, which is deleted with this value.
pub(super) struct Node {
    keeper: Keeper,
    addresses: Vec<String>,
    /// The running sources; None while the node is down.
    attached: Option<(Observation, Vec<Watched>)>,
    searched: Instant,
    options: Options,
    events: Sender<Event>,
    heard: Receiver<Event>,
    _folder: Scratch,
}

impl Node {
    pub(super) fn record(addresses: &[String], no_agent: bool, files: bool) -> Result<Node> {
        let mut steps = Steps::new();
        steps.step(format_args!("attaching to {} node(s)", addresses.len()));
        let folder = Scratch::new(Purpose::Top)?;
        let kept = Kept::new(KEEP, Some(MOST_BYTES));
        let manifest = Manifest::new("live", &cli::command_line());
        let keeper = Keeper::begin(&folder.path().join("live.helenus"), manifest, kept)?;
        let syscalls = if files { SyscallsMode::Summary } else { SyscallsMode::Off };
        let options = Options {
            agent: AgentOptions { jar: Some(AGENT_JAR), no_agent, ..AgentOptions::default() },
            wire: WireOptions::of(RequestsFrom::Auto),
            syscalls: SyscallsOptions { syscalls, ..SyscallsOptions::default() },
            ..Options::default()
        };
        let (events, heard) = std::sync::mpsc::channel();
        let addresses = addresses.to_vec();
        let searched = Instant::now();
        let mut node = Node { keeper, addresses, attached: None, searched, options, events, heard, _folder: folder };
        node.attach()?;
        Ok(node)
    }

    pub(super) fn path(&self) -> &Path {
        self.keeper.folder()
    }

    fn attach(&mut self) -> Result<()> {
        let watched = self.addresses.iter().map(|address| found(address)).collect::<Result<Vec<Watched>>>()?;
        let observation = Observation::start(self.keeper.recorder(), &watched, &self.options, &self.events)?;
        self.attached = Some((observation, watched));
        Ok(())
    }

    fn detach(&mut self) -> Vec<String> {
        self.attached.take().map(|(observation, _)| observation.stop()).unwrap_or_default()
    }

    /// Begins a new segment when it is due, deletes old ones, and attaches to a restarted node again. Returns a message
    /// to show.
    pub(super) fn keep(&mut self) -> Option<String> {
        let mut said = None;
        let mut has_gone = false;
        for event in self.heard.try_iter() {
            match event {
                Event::Degraded { node, reason, .. } => said = Some(format!("{node}: {reason}")),
                Event::AgentGone { node, reason } => {
                    has_gone = true;
                    said = Some(format!("{node}: the agent has gone ({reason})"));
                }
                Event::TargetEnded { node, pid } => {
                    has_gone = true;
                    said = Some(format!("{node} (pid {pid}) has ended; waiting for it"));
                }
                Event::AgentConnected { .. } | Event::AgentLog { .. } => {}
            }
        }
        if has_gone {
            self.detach();
            self.searched = Instant::now();
        }
        if self.attached.is_none() && self.searched.elapsed() >= POLL_EVERY {
            self.searched = Instant::now();
            said = match self.attach() {
                Ok(()) => said,
                Err(error) => Some(format!("{error:#}; trying again")),
            };
        }
        if self.keeper.is_due() {
            said = self.turn().err().map(|error| error.to_string()).or(said);
        }
        let failed = self.keeper.sweep().into_iter().next();
        failed.map(|error| error.to_string()).or(said)
    }

    fn turn(&mut self) -> Result<()> {
        let next = self.keeper.begin_next()?;
        let turned = match &mut self.attached {
            Some((observation, watched)) => observation.continue_in(&next, watched, &self.options, &self.events),
            None => Ok(()),
        };
        if turned.is_err() {
            // Only some sources continued: restart all of them in the new segment.
            self.detach();
        }
        self.keeper.turned(next);
        Ok(turned?)
    }

    /// Detaches from the nodes. The recording goes with its folder.
    pub(super) fn end(mut self) {
        let mut steps = Steps::new();
        steps.step("detaching");
        for undone in self.detach() {
            steps.keep(|| terminal::warn(undone));
        }
    }
}

fn found(address: &str) -> Result<Watched> {
    let address = nodes::address(address)?;
    let target: Target =
        target::find(TargetName::Address(address)).context("only nodes on this machine can be watched")?;
    let node = address.ip().to_string();
    if !target.is_cassandra {
        bail!("{node} (pid {}, {}) is no Cassandra; give the CQL address of a node", target.pid, target.command);
    }
    Ok(Watched { process: ProcessKind::Server, node, pid: target.pid.unsigned_abs() })
}
