//! Changes of running nodes from the workbench, each with who made it and how it is undone. Off unless the user allows it.

use super::library::Library;
use crate::assets::AGENT_JAR;
use anyhow::{Context, Result, bail, ensure};
use chrono::Utc;
use helenus_cassandra::cql;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_control::{Change, Declared, Link, Site};
use helenus_explain::{Controlled, Controls};
use helenus_recording::NodeFacts;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Changes that are listed; no more are made before some are undone.
const MOST: usize = 100;
/// A valve opens by itself after this time at the latest.
const LONGEST_MINUTES: u64 = 24 * 60;
const LONGEST_NAME: usize = 40;

/// The changes so far, the oldest first.
#[derive(Debug, Default)]
pub struct Control {
    is_allowed: bool,
    made: Mutex<Vec<Made>>,
    /// One node is changed at a time. True once the server ends, when nothing is added any more.
    one: Mutex<bool>,
}

/// A valve that was added.
#[derive(Debug, Clone)]
struct Made {
    shown: Controlled,
    valve: String,
    facts: NodeFacts,
}

/// A valve as the page asks for it.
#[derive(Debug)]
pub(super) struct WantedValve {
    pub(super) node: String,
    pub(super) name: String,
    pub(super) at: Option<String>,
    pub(super) stage: Option<String>,
    pub(super) law: String,
    /// Of the law `fixed` the limit, of others the largest one.
    pub(super) limit: Option<u32>,
    /// Until it opens by itself.
    pub(super) minutes: Option<u64>,
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    pub fn new(is_allowed: bool) -> Control {
        Control { is_allowed, ..Control::default() }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The possible changes, and those that were made.
    pub(super) fn shown(&self, library: &Library, recording: &str) -> Result<Controls> {
        let declared = Declared::get();
        Ok(Controls {
            is_allowed: self.is_allowed,
            nodes: nodes(library, recording)?.into_iter().map(|node| node.address).collect(),
            stages: declared.stages.clone(),
            laws: declared.laws.keys().cloned().collect(),
            made: open(&self.made).iter().map(|made| made.shown.clone()).collect(),
        })
    }

    pub(super) fn add_valve(
        &self,
        library: &Library,
        recording: &str,
        wanted: &WantedValve,
        who: &str,
    ) -> Result<Controls> {
        let facts = nodes(library, recording)?.into_iter().find(|node| node.address == wanted.node);
        let facts =
            facts.with_context(|| format!("{} is no node of a recording that is being written", wanted.node))?;
        let (site, change) = wanted.settings()?;
        let one = open(&self.one);
        ensure!(!*one, "the server is ending");
        let is_full = open(&self.made).iter().filter(|made| made.shown.undone.is_none()).count() >= MOST;
        ensure!(!is_full, "{MOST} changes are in force; undo some first");
        let valve = link(&facts)?.add_valve(&wanted.name, &site, &change)?;
        let mut made = open(&self.made);
        // Undone changes make room.
        if made.len() >= MOST
            && let Some(place) = made.iter().position(|made| made.shown.undone.is_some())
        {
            made.remove(place);
        }
        let number = made.last().map_or(1, |made| made.shown.number + 1);
        let shown = Controlled {
            number,
            when: now(),
            who: who.to_string(),
            node: wanted.node.clone(),
            what: wanted.said(),
            undone: None,
        };
        made.push(Made { shown, valve: valve.valve, facts });
        drop(made);
        drop(one);
        self.shown(library, recording)
    }

    /// Takes a change back.
    pub(super) fn undo(&self, number: u32, who: &str) -> Result<()> {
        let _one = open(&self.one);
        let found = open(&self.made).iter().find(|made| made.shown.number == number).cloned();
        let made = found.with_context(|| format!("there is no change {number}"))?;
        if made.shown.undone.is_some() {
            return Ok(());
        }
        let how = remove(&made)?;
        if let Some(made) = open(&self.made).iter_mut().find(|made| made.shown.number == number) {
            made.shown.undone = Some(format!("{how} by {who} at {}", now()));
        }
        Ok(())
    }

    /// Undoes all changes at the end of the server, the newest first. Returns what was done, or why it could not be.
    pub fn undo_all(&self) -> Vec<Result<String>> {
        *open(&self.one) = true;
        let left: Vec<Made> = open(&self.made).iter().filter(|made| made.shown.undone.is_none()).cloned().collect();
        let undo = |made: &Made| {
            let Controlled { number, node, .. } = &made.shown;
            let undone = self.undo(*number, "the end of helenus serve");
            undone.map(|()| format!("removed the valve {} from {node}", made.valve)).with_context(|| {
                format!(
                    "the valve {} may still be in {node}; helenus valve remove --node {node} removes it",
                    made.valve
                )
            })
        };
        left.iter().rev().map(undo).collect()
    }
}

impl WantedValve {
    fn settings(&self) -> Result<(Site, Change)> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let is_fine = (1..=LONGEST_NAME).contains(&self.name.len()) && self.name.chars().all(is_name);
        ensure!(is_fine, "`{}` is no name for a valve: give letters, digits, dots, dashes and underscores", self.name);
        let site = match (&self.at, &self.stage) {
            (Some(at), None) => Site::At(vec![at.clone()]),
            (None, Some(stage)) => Site::Stage(stage.clone()),
            _ => bail!("say where the valve is to be: at= a point, or stage="),
        };
        let minutes = self.minutes.unwrap_or(LONGEST_MINUTES);
        ensure!((1..=LONGEST_MINUTES).contains(&minutes), "a valve may last from 1 to {LONGEST_MINUTES} minutes");
        let is_fixed = self.law == "fixed";
        let limit = self.limit.filter(|_| is_fixed).map(|limit| ("limit".to_string(), limit.to_string()));
        let change = Change {
            law: Some(self.law.clone()),
            parameters: limit.into_iter().collect(),
            max: self.limit.filter(|_| !is_fixed),
            lease_ms: Some(minutes * 60_000),
            ..Change::default()
        };
        change.check(Some(&site)).map_err(anyhow::Error::msg)?;
        Ok((site, change))
    }

    /// The change as text.
    fn said(&self) -> String {
        let site = self.at.as_ref().or(self.stage.as_ref()).map_or("", String::as_str);
        let limit = match (self.limit, self.law.as_str()) {
            (Some(limit), "fixed") => format!(", limit {limit}"),
            (Some(limit), _) => format!(", limit up to {limit}"),
            (None, _) => String::new(),
        };
        let minutes = self.minutes.unwrap_or(LONGEST_MINUTES);
        format!("added the valve {} at {site}: law {}{limit}; opens by itself after {minutes} min", self.name, self.law)
    }
}

/// The nodes of a recording that is being written: those that run here can be changed.
fn nodes(library: &Library, recording: &str) -> Result<Vec<NodeFacts>> {
    let recording = library.recording(recording)?;
    Ok(if recording.is_growing() { recording.manifest().nodes.clone() } else { Vec::new() })
}

/// Removes a valve if it is still there.
fn remove(made: &Made) -> Result<&'static str> {
    let target = match find(&made.facts) {
        Ok(target) => target,
        // The valve ended with its process.
        Err(_) if made.facts.pid.is_some() => return Ok("no longer there; noticed"),
        Err(error) => return Err(error),
    };
    let mut link = Link::open(&target, AGENT_JAR)?;
    if link.valves()?.iter().all(|valve| valve.valve != made.valve) {
        return Ok("no longer there; noticed");
    }
    link.remove_valve(Some(&made.valve))?;
    Ok("undone")
}

fn link(facts: &NodeFacts) -> Result<Link> {
    Ok(Link::open(&find(facts)?, AGENT_JAR)?)
}

/// The process of a node.
fn find(facts: &NodeFacts) -> Result<Target> {
    let by_pid = facts.pid.and_then(|pid| target::find(TargetName::Pid(pid.cast_signed())).ok());
    if let Some(target) = by_pid.filter(|target| target.is_cassandra) {
        return Ok(target);
    }
    let address = cql::parse_address(&facts.address).with_context(|| format!("{} is no address", facts.address))?;
    let target = target::find(TargetName::Address(address)).context("only a node on this machine can be changed")?;
    ensure!(target.is_cassandra, "{} (pid {}) is no Cassandra", facts.address, target.pid);
    Ok(target)
}

fn now() -> String {
    Utc::now().format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str, law: &str, limit: Option<u32>) -> WantedValve {
        WantedValve {
            node: "127.0.0.1".to_string(),
            name: name.to_string(),
            at: Some("lwt".to_string()),
            stage: None,
            law: law.to_string(),
            limit,
            minutes: Some(15),
        }
    }

    #[test]
    fn a_valve_has_a_limit_and_ends_by_itself() {
        let (site, change) = wanted("lwt", "fixed", Some(8)).settings().unwrap();
        assert_eq!(site, Site::At(vec!["lwt".to_string()]));
        assert_eq!((change.lease_ms, change.max), (Some(900_000), None));
        assert_eq!(change.parameters["limit"], "8");
        assert_eq!(wanted("lwt", "throughput", Some(64)).settings().unwrap().1.max, Some(64));
        for wrong in [wanted("a b", "fixed", None), wanted("", "fixed", None), wanted("lwt", "fixd", None)] {
            assert!(wrong.settings().is_err(), "{wrong:?}");
        }
        assert!(WantedValve { minutes: Some(0), ..wanted("lwt", "fixed", None) }.settings().is_err());
        assert!(WantedValve { stage: Some("read".into()), ..wanted("lwt", "fixed", None) }.settings().is_err());
    }
}
