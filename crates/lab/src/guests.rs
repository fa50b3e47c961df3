//! Valves and executors: a variant has the agent install them in a node and remove them again.

use crate::change::Change;
use crate::hold::{Hold, LEASE};
use crate::link::link;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// The agent's commands to add and to remove one kind of guest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    name: &'static str,
    take_in: &'static str,
    let_go: &'static str,
    /// The member of the command that identifies a guest.
    key: &'static str,
}

pub(crate) const VALVE: Kind = Kind { name: "valve", take_in: "valve.add", let_go: "valve.remove", key: "name" };
pub(crate) const EXECUTOR: Kind =
    Kind { name: "executor", take_in: "executor.set", let_go: "executor.remove", key: "stage" };

/// The guests of one kind in one node.
pub(crate) struct Guests {
    kind: Kind,
    node: SocketAddr,
    agent: &'static [u8],
    /// Commands to take them in, without what is to be done.
    wanted: Vec<Value>,
    /// The keys of those that are in the node.
    there: Vec<Value>,
    hold: Option<Hold>,
}

impl Guests {
    pub fn new(kind: Kind, node: SocketAddr, agent: &'static [u8], wanted: &[Value]) -> Guests {
        let with_lease = |guest: &Value| {
            let mut guest = guest.clone();
            if guest.get("lease_ms").is_none() {
                guest["lease_ms"] = json!(LEASE.as_secs() * 1000);
            }
            guest
        };
        Guests { kind, node, agent, wanted: wanted.iter().map(with_lease).collect(), there: Vec::new(), hold: None }
    }
}

impl Change for Guests {
    fn apply(&mut self) -> Result<(), String> {
        let mut link = link(self.node, self.agent)?;
        for guest in &self.wanted {
            if let Err(error) = link.command(self.kind.take_in, guest.clone()) {
                drop(link);
                let left = self.undo().err().map_or(String::new(), |left| format!("; {left}"));
                return Err(format!("{}: {error}{left}", self.node));
            }
            self.there.push(guest[self.kind.key].clone());
        }
        self.hold = Some(Hold::start(link, |link| {
            // In a node that can't be reached their leases end, and it is in no figure.
            let _ = link.renew_leases();
        }));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        if self.there.is_empty() {
            return Ok(());
        }
        self.hold = None;
        let Kind { name, let_go, key, .. } = self.kind;
        let left = |reason: String| format!("the {name}s in {} may be left: {reason}", self.node);
        let mut link = link(self.node, self.agent).map_err(left)?;
        for guest in std::mem::take(&mut self.there) {
            let which = Map::from_iter([(key.to_string(), guest.clone())]);
            link.command(let_go, Value::Object(which))
                .map_err(|error| format!("the {name} {guest} may be left in {}: {error}", self.node))?;
        }
        Ok(())
    }
}
