//! A table on one node and on its peers, side by side.

use super::nodes;
use crate::assets::AGENT_JAR;
use crate::settings::length;
use crate::terminal::{self, Steps};
use anyhow::{Context, Result};
use clap::Args;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_cassandra::{Cancel, cql};
use helenus_control::{Figures, Link, Measured, PeerComparison};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time between two polls of the compactions.
const EVERY: Duration = Duration::from_secs(2);
/// If this many polls in a row find nothing to compact, the wait ends; the node's estimate lags behind.
const STEADY_READINGS: u32 = 3;
const CQL_WITHIN: Duration = Duration::from_secs(5);

/// How long a table is measured, and which peers to compare with.
#[derive(Debug, Args)]
pub struct Watch {
    /// With a comparison: end when compactions are not done by then
    #[arg(long = "for", value_name = "DURATION", default_value = "10m", value_parser = super::duration)]
    lasts: Duration,
    /// With --compare: length of the windows of read latency, before and at the end
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = super::duration)]
    window: Duration,
    /// With --compare: a peer on this machine (repeatable) [default: the nodes of the ring that run here]
    #[arg(long = "peer", value_name = "ADDRESS[:PORT]")]
    peers: Vec<String>,
}

/// A node, and those of its peers that can be reached.
pub struct Peers {
    table: String,
    node: Asked,
    peers: Vec<Asked>,
}

/// A node on which the table is read.
struct Asked {
    name: String,
    process: Target,
    link: Link,
}

impl Peers {
    /// Links to the node and its peers; prints which can't be reached.
    pub fn find(node: &str, table: &str, watch: &Watch) -> Result<Peers> {
        let mut found = Peers { table: table.to_string(), node: Asked::open(node, table)?, peers: Vec::new() };
        let peers = if watch.peers.is_empty() { of_ring(node) } else { watch.peers.clone() };
        for peer in peers {
            match Asked::open(&peer, table) {
                Ok(asked) => found.peers.push(asked),
                Err(error) => terminal::warn(format_args!("not compared with {peer}: {error:#}")),
            }
        }
        if found.peers.is_empty() {
            terminal::warn(format_args!("{node} has no peer on this machine: it is compared with itself before"));
        }
        Ok(found)
    }

    pub fn table(&self) -> &str {
        &self.table
    }

    /// Measures the table on each node over the window. A peer that can't be reached any more is left out.
    pub fn measure(&mut self, watch: &Watch, when: &str, cancel: &Cancel) -> Result<BTreeMap<String, Measured>> {
        let mut steps = Steps::new();
        steps.step(format_args!("measuring {} for {} ({when})", self.table, length(watch.window)));
        let first = self.read()?;
        rest(watch.window, cancel);
        let last = self.read()?;
        let both =
            last.iter().filter_map(|(node, last)| Some((node.clone(), Measured::between(first.get(node)?, last))));
        Ok(both.collect())
    }

    /// Waits until the node has nothing of the table left to compact; returns whether it came to that.
    pub fn settle(&mut self, watch: &Watch, cancel: &Cancel) -> Result<bool> {
        let mut steps = Steps::new();
        steps.step(format_args!("{}: waiting for its compactions", self.table));
        let started = Instant::now();
        let mut steady = 0;
        while steady < STEADY_READINGS {
            if cancel.is_cancelled() || started.elapsed() >= watch.lasts {
                return Ok(false);
            }
            let figures = self.node.figures(&self.table)?;
            steady = if figures.is_settled() { steady + 1 } else { 0 };
            let text = progress(&figures, started.elapsed());
            // Without a terminal that redraws in place, each poll prints a line.
            if steps.is_plain() {
                steps.step(text);
            } else {
                steps.live(text);
            }
            rest(EVERY, cancel);
        }
        Ok(true)
    }

    fn read(&mut self) -> Result<BTreeMap<String, Figures>> {
        let mut figures = BTreeMap::from([(self.node.name.clone(), self.node.figures(&self.table)?)]);
        self.peers.retain_mut(|peer| match peer.figures(&self.table) {
            Ok(found) => {
                figures.insert(peer.name.clone(), found);
                true
            }
            Err(error) => {
                terminal::warn(format_args!("not compared with {} any more: {error:#}", peer.name));
                false
            }
        });
        Ok(figures)
    }
}

impl Asked {
    /// Connects to a node that has the table. The agent ends if its first command does not come within some seconds, so
    /// the figures are read at once.
    fn open(node: &str, table: &str) -> Result<Asked> {
        let process = target::find(TargetName::Address(nodes::address(node)?))?;
        let mut link = Link::open(&process, AGENT_JAR)?;
        link.table_figures(table)?;
        Ok(Asked { name: node.to_string(), process, link })
    }

    fn figures(&mut self, table: &str) -> Result<Figures> {
        self.link.table_figures(table).with_context(|| {
            let (node, pid) = (&self.name, self.process.pid);
            if self.has_ended() {
                format!(
                    "the process of {node} (pid {pid}) has ended, and all that was set on it with it; its log says why"
                )
            } else {
                format!("{node} can't be asked any more")
            }
        })
    }

    /// The sockets of the process close shortly before it ends.
    fn has_ended(&self) -> bool {
        let ended = || !self.process.is_alive();
        (0..20).any(|_| {
            ended() || {
                std::thread::sleep(super::POLL_EVERY);
                false
            }
        })
    }
}

/// The peers of a node by CQL address; empty if the node can't be asked.
fn of_ring(node: &str) -> Vec<String> {
    let asked = nodes::address(node).and_then(|address| Ok(cql::identify(address, CQL_WITHIN)?));
    match asked {
        Ok(identity) => {
            identity.peers.iter().filter_map(|peer| peer.address).map(|address| address.to_string()).collect()
        }
        Err(error) => {
            terminal::warn(format_args!("{node} does not say who its peers are, name them with --peer: {error:#}"));
            Vec::new()
        }
    }
}

fn progress(figures: &Figures, after: Duration) -> String {
    let (done, total) = figures.compacted_bytes();
    let share = if total > 0 { done as f64 / total as f64 } else { 0.0 };
    let compacting = match figures.running.len() {
        0 => "none runs".to_string(),
        running => format!(
            "{running} running, {} of {} ({:.0} %)",
            terminal::bytes(done),
            terminal::bytes(total),
            share * 100.0
        ),
    };
    format!(
        "compactions after {}: {compacting}, {} to come; {} SSTables, {}",
        length(after),
        figures.pending_compactions.unwrap_or(0),
        figures.sstables.unwrap_or(0),
        terminal::bytes(figures.live_disk_bytes.unwrap_or(0))
    )
}

fn rest(lasts: Duration, cancel: &Cancel) {
    let until = Instant::now() + lasts;
    while Instant::now() < until && !cancel.is_cancelled() {
        std::thread::sleep(super::POLL_EVERY.min(until - Instant::now()));
    }
}

/// The node's figures before and now, beside the mean of its peers; and how many peers those are.
pub fn beside(
    node: &str,
    before: &BTreeMap<String, Measured>,
    now: &BTreeMap<String, Measured>,
) -> (Vec<PeerComparison>, usize) {
    // Peers that were measured both times.
    let names: Vec<&String> =
        now.keys().filter(|name| *name != node && (before.is_empty() || before.contains_key(*name))).collect();
    let mean = |of: &BTreeMap<String, Measured>| {
        let peers: Vec<&Measured> = names.iter().filter_map(|name| of.get(*name)).collect();
        (!peers.is_empty()).then(|| Measured::mean(&peers))
    };
    let nothing = Measured::default();
    let figures = PeerComparison::all(
        (before.get(node), now.get(node).unwrap_or(&nothing)),
        (mean(before).as_ref(), mean(now).as_ref()),
    );
    (figures, names.len())
}

pub fn table(figures: &[PeerComparison], peers: usize) -> terminal::Table {
    let of_peers = format!("{peers} {}", if peers == 1 { "peer" } else { "peers" });
    let header =
        ["figure", "before", "now", &format!("{of_peers} before"), &format!("{of_peers} now"), "against peers"];
    let rows = figures.iter().map(|beside| {
        let value = |value: Option<f64>| value.map_or("–".to_string(), |value| shown(beside.unit, value));
        vec![
            beside.figure.replace('_', " ").replace(" bytes", "").replace(" us", ""),
            value(beside.before),
            value(beside.now),
            value(beside.peers_before),
            value(beside.peers_now),
            beside.against_peers.map_or("–".to_string(), |ratio| format!("× {ratio:.2}")),
        ]
    });
    terminal::table(&header, rows, 1)
}

fn shown(unit: &str, value: f64) -> String {
    match unit {
        "bytes" => terminal::bytes(value.max(0.0) as u64),
        "µs" => format!("{value:.0} µs"),
        "ratio" => format!("{value:.3}"),
        "1/s" => format!("{value:.0}/s"),
        _ => format!("{value:.1}"),
    }
}
