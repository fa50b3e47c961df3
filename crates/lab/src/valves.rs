//! The valves of a variant in one node.

use crate::change::Change;
use crate::hold::{Hold, LEASE};
use crate::link::link;
use serde_json::{Value, json};
use std::net::SocketAddr;

pub(crate) struct Valves {
    node: SocketAddr,
    agent: &'static [u8],
    /// Commands to add them, without what is to be done.
    wanted: Vec<Value>,
    /// Names of those that are in the node.
    added: Vec<Value>,
    hold: Option<Hold>,
}

impl Valves {
    pub fn new(node: SocketAddr, agent: &'static [u8], wanted: &[Value]) -> Valves {
        let with_lease = |valve: &Value| {
            let mut valve = valve.clone();
            if valve.get("lease_ms").is_none() {
                valve["lease_ms"] = json!(LEASE.as_secs() * 1000);
            }
            valve
        };
        Valves { node, agent, wanted: wanted.iter().map(with_lease).collect(), added: Vec::new(), hold: None }
    }
}

impl Change for Valves {
    fn apply(&mut self) -> Result<(), String> {
        let mut link = link(self.node, self.agent)?;
        for valve in &self.wanted {
            if let Err(error) = link.command("valve.add", valve.clone()) {
                drop(link);
                let left = self.undo().err().map_or(String::new(), |left| format!("; {left}"));
                return Err(format!("{}: {error}{left}", self.node));
            }
            self.added.push(valve["name"].clone());
        }
        self.hold = Some(Hold::start(link, |link| {
            // A node that can't be reached opens its valves by itself, and is in no figure.
            let _ = link.renew_leases();
        }));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        if self.added.is_empty() {
            return Ok(());
        }
        self.hold = None;
        let left = |reason: String| format!("the valves in {} may be left: {reason}", self.node);
        let mut link = link(self.node, self.agent).map_err(left)?;
        for name in std::mem::take(&mut self.added) {
            link.command("valve.remove", json!({"name": name}))
                .map_err(|error| format!("the valve {name} may be left in {}: {error}", self.node))?;
        }
        Ok(())
    }
}
