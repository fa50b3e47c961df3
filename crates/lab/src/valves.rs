//! The valves of a variant in one node.

use crate::change::Change;
use helenus_cassandra::target::{self, Which};
use helenus_control::Link;
use serde_json::{Value, json};
use std::net::SocketAddr;

pub(crate) struct Valves {
    node: SocketAddr,
    agent: &'static [u8],
    /// Commands to add them, without what is to be done.
    wanted: Vec<Value>,
    /// Names of those that are in the node.
    added: Vec<Value>,
}

impl Valves {
    pub fn new(node: SocketAddr, agent: &'static [u8], wanted: &[Value]) -> Valves {
        Valves { node, agent, wanted: wanted.to_vec(), added: Vec::new() }
    }

    fn link(&self) -> Result<Link, String> {
        let target = target::find(Which::Address(self.node)).map_err(|error| error.to_string())?;
        Link::open(&target, self.agent).map_err(|error| error.to_string())
    }
}

impl Change for Valves {
    fn apply(&mut self) -> Result<(), String> {
        let mut link = self.link()?;
        for valve in &self.wanted {
            if let Err(error) = link.command("valve.add", valve.clone()) {
                drop(link);
                let left = self.undo().err().map_or(String::new(), |left| format!("; {left}"));
                return Err(format!("{}: {error}{left}", self.node));
            }
            self.added.push(valve["name"].clone());
        }
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        if self.added.is_empty() {
            return Ok(());
        }
        let left = |reason: String| format!("the valves in {} may be left: {reason}", self.node);
        let mut link = self.link().map_err(left)?;
        for name in std::mem::take(&mut self.added) {
            link.command("valve.remove", json!({"name": name}))
                .map_err(|error| format!("the valve {name} may be left in {}: {error}", self.node))?;
        }
        Ok(())
    }
}
