//! Valves and executors: a variant has the agent install them in a node and remove them again.

use crate::change::Change;
use crate::hold::{LEASE, LeaseKeeper};
use crate::link::link;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// The agent's commands to add and to remove one kind of control.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    name: &'static str,
    add: &'static str,
    remove: &'static str,
    /// The member of a command that names the object.
    key: &'static str,
}

pub(crate) const VALVE: Kind = Kind { name: "valve", add: "valve.add", remove: "valve.remove", key: "name" };
pub(crate) const EXECUTOR: Kind =
    Kind { name: "executor", add: "executor.set", remove: "executor.remove", key: "stage" };

/// Controls of one kind (valves or executors) in one node.
pub(crate) struct NodeControls {
    kind: Kind,
    node: SocketAddr,
    agent: &'static [u8],
    /// The members of the commands that add the objects.
    wanted: Vec<Value>,
    /// Names of the objects that are in the node now.
    installed: Vec<Value>,
    hold: Option<LeaseKeeper>,
}

impl NodeControls {
    pub fn new(kind: Kind, node: SocketAddr, agent: &'static [u8], wanted: &[Value]) -> NodeControls {
        let with_lease = |control: &Value| {
            let mut control = control.clone();
            if control.get("lease_ms").is_none() {
                control["lease_ms"] = json!(LEASE.as_secs() * 1000);
            }
            control
        };
        NodeControls {
            kind,
            node,
            agent,
            wanted: wanted.iter().map(with_lease).collect(),
            installed: Vec::new(),
            hold: None,
        }
    }
}

impl Change for NodeControls {
    fn apply(&mut self) -> Result<(), String> {
        let mut link = link(self.node, self.agent)?;
        for control in &self.wanted {
            if let Err(error) = link.command(self.kind.add, control.clone()) {
                drop(link);
                let left = self.undo().err().map_or(String::new(), |left| format!("; {left}"));
                return Err(format!("{}: {error}{left}", self.node));
            }
            self.installed.push(control[self.kind.key].clone());
        }
        self.hold = Some(LeaseKeeper::start(link, |link| {
            // If the node can't be reached, the leases end by themselves.
            let _ = link.renew_leases();
        }));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        if self.installed.is_empty() {
            return Ok(());
        }
        self.hold = None;
        let Kind { name, remove, key, .. } = self.kind;
        let left = |reason: String| format!("the {name}s in {} may be left: {reason}", self.node);
        let mut link = link(self.node, self.agent).map_err(left)?;
        for control in std::mem::take(&mut self.installed) {
            let which = Map::from_iter([(key.to_string(), control.clone())]);
            link.command(remove, Value::Object(which))
                .map_err(|error| format!("the {name} {control} may be left in {}: {error}", self.node))?;
        }
        Ok(())
    }
}
