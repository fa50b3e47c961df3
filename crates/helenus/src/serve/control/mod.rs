//! Changes of running nodes and of their recording from the workbench, each with who made it and how it is undone. Off unless the
//! user allows it. Each kind of change has a file: adding one needs its type, a path in `question.rs` and a form in the page.

mod placement;
mod setting;
mod source;
mod valve;

pub(super) use placement::WantedPlacement;
pub(super) use setting::WantedSetting;
pub(super) use source::WantedSource;
pub(super) use valve::WantedValve;

use super::library::Library;
use crate::assets::AGENT_JAR;
use crate::settings::OfNode;
use anyhow::{Context, Result, ensure};
use chrono::Utc;
use helenus_cassandra::cql;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_control::{Declared, Link, gates};
use helenus_explain::{Controlled, Controls, SettingNow};
use helenus_observe::SourceSwitches;
use helenus_recording::NodeFacts;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Changes that are listed; no more are made before some are undone.
const MOST: usize = 100;
/// A change with a lease is undone by itself after this time at the latest.
const LONGEST_MINUTES: u64 = 24 * 60;

/// A change that a browser asks for.
pub(super) trait Wanted {
    /// Makes the change. Returns what was done as text, and how it is undone.
    fn make(&self, node: &NodeFacts) -> Result<(String, Box<dyn Undo>)>;
}

/// The way back from a change.
pub(super) trait Undo: fmt::Debug + Send {
    /// Returns how it ended, such as `undone`.
    fn undo(&mut self, node: &NodeFacts) -> Result<&'static str>;

    /// The command that undoes it, for when the server cannot; None if the change ends with the server.
    fn by_hand(&self, node: &NodeFacts) -> Option<String>;
}

/// The changes so far, the oldest first.
#[derive(Debug, Default)]
pub struct Control {
    is_allowed: bool,
    /// The sources of the recorder that runs in this process, if one does.
    sources: Option<SourceSwitches>,
    made: Mutex<Vec<Made>>,
    /// One node is changed at a time. True once the server ends, when nothing is added any more.
    one: Mutex<bool>,
}

/// A change that was made.
#[derive(Debug)]
struct Made {
    shown: Controlled,
    facts: NodeFacts,
    /// None while it is being undone, and after.
    undo: Option<Box<dyn Undo>>,
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    pub fn new(is_allowed: bool, sources: Option<SourceSwitches>) -> Control {
        Control { is_allowed, sources, ..Control::default() }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The switches of the recorder's sources.
    pub(super) fn sources(&self) -> Result<&SourceSwitches> {
        self.sources
            .as_ref()
            .context("another process records this; only a `helenus serve` that records it can change its sources")
    }

    /// The possible changes, and those that were made.
    pub(super) fn shown(&self, library: &Library, recording: &str) -> Result<Controls> {
        let declared = Declared::get();
        Ok(Controls {
            is_allowed: self.is_allowed,
            nodes: nodes(library, recording)?.into_iter().map(|node| node.address).collect(),
            points: gates().into_iter().map(str::to_string).collect(),
            stages: declared.stages.clone(),
            laws: declared.laws.keys().cloned().collect(),
            settings: OfNode::choices().to_vec(),
            strategies: placement::STRATEGIES.map(|strategy| strategy.name().to_string()).to_vec(),
            sources: self.sources.iter().flat_map(SourceSwitches::states).map(source::shown).collect(),
            made: open(&self.made).iter().map(|made| made.shown.clone()).collect(),
        })
    }

    /// The current value of a setting that can be changed, as the node reports it.
    pub(super) fn setting(
        &self,
        (library, recording): (&Library, &str),
        node: &str,
        (name, table): (&str, Option<&str>),
    ) -> Result<SettingNow> {
        ensure!(
            self.is_allowed,
            "this server reads no settings of nodes; start helenus serve with --allow-control if it may"
        );
        let facts = node_of(library, recording, node)?;
        let _one = open(&self.one);
        setting::now(&facts, name, table)
    }

    /// Makes a change of a node of a recording that is being written.
    pub(super) fn change(
        &self,
        (library, recording): (&Library, &str),
        node: &str,
        wanted: &dyn Wanted,
        who: &str,
    ) -> Result<Controls> {
        let facts = node_of(library, recording, node)?;
        let one = open(&self.one);
        ensure!(!*one, "the server is ending");
        let is_full = open(&self.made).iter().filter(|made| made.shown.undone.is_none()).count() >= MOST;
        ensure!(!is_full, "{MOST} changes are in force; undo some first");
        let (what, undo) = wanted.make(&facts)?;
        let mut made = open(&self.made);
        // Undone changes make room.
        if made.len() >= MOST
            && let Some(place) = made.iter().position(|made| made.shown.undone.is_some())
        {
            made.remove(place);
        }
        let number = made.last().map_or(1, |made| made.shown.number + 1);
        let shown =
            Controlled { number, when: now(), who: who.to_string(), node: node.to_string(), what, undone: None };
        made.push(Made { shown, facts, undo: Some(undo) });
        drop(made);
        drop(one);
        self.shown(library, recording)
    }

    /// Takes a change back.
    pub(super) fn undo(&self, number: u32, who: &str) -> Result<()> {
        let _one = open(&self.one);
        let (place, facts, undo) = {
            let mut made = open(&self.made);
            let place = made.iter().position(|made| made.shown.number == number);
            let place = place.with_context(|| format!("there is no change {number}"))?;
            (place, made[place].facts.clone(), made[place].undo.take())
        };
        let Some(mut undo) = undo else { return Ok(()) };
        let outcome = undo.undo(&facts);
        let made = &mut open(&self.made)[place];
        match outcome {
            Ok(how) => made.shown.undone = Some(format!("{how} by {who} at {}", now())),
            Err(error) => {
                made.undo = Some(undo);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Undoes all changes of nodes at the end of the server, the newest first. Returns what was done, or why it could not be.
    pub fn undo_all(&self) -> Vec<Result<String>> {
        *open(&self.one) = true;
        let left = |made: &Made| {
            let by_hand = made.undo.as_ref()?.by_hand(&made.facts)?;
            Some((made.shown.clone(), by_hand))
        };
        let left: Vec<(Controlled, String)> = open(&self.made).iter().filter_map(left).collect();
        let undo = |(shown, by_hand): &(Controlled, String)| {
            let Controlled { number, node, what, .. } = shown;
            let undone = self.undo(*number, "the end of helenus serve");
            undone
                .map(|()| format!("undid a change of {node}: {what}"))
                .with_context(|| format!("{node} may still be changed ({what}); `{by_hand}` undoes it"))
        };
        left.iter().rev().map(undo).collect()
    }
}

/// The nodes of a recording that is being written: those that run here can be changed.
fn nodes(library: &Library, recording: &str) -> Result<Vec<NodeFacts>> {
    let recording = library.recording(recording)?;
    Ok(if recording.is_growing() { recording.manifest().nodes.clone() } else { Vec::new() })
}

fn node_of(library: &Library, recording: &str, node: &str) -> Result<NodeFacts> {
    let facts = nodes(library, recording)?.into_iter().find(|known| known.address == node);
    facts.with_context(|| format!("{node} is no node of a recording that is being written"))
}

fn link(target: &Target) -> Result<Link> {
    Ok(Link::open(target, AGENT_JAR)?)
}

/// The process of a node.
fn process(facts: &NodeFacts) -> Result<Target> {
    let by_pid = facts.pid.and_then(|pid| target::find(TargetName::Pid(pid.cast_signed())).ok());
    if let Some(target) = by_pid.filter(|target| target.is_cassandra) {
        return Ok(target);
    }
    let address = cql::parse_address(&facts.address).with_context(|| format!("{} is no address", facts.address))?;
    let target = target::find(TargetName::Address(address)).context("only a node on this machine can be changed")?;
    ensure!(target.is_cassandra, "{} (pid {}) is no Cassandra", facts.address, target.pid);
    Ok(target)
}

/// How long a change lasts, which a browser may leave open.
fn lease(minutes: Option<u64>) -> Result<u64> {
    let minutes = minutes.unwrap_or(LONGEST_MINUTES);
    ensure!((1..=LONGEST_MINUTES).contains(&minutes), "a change may last from 1 to {LONGEST_MINUTES} minutes");
    Ok(minutes)
}

fn now() -> String {
    Utc::now().format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
