//! The valves of a variant in one node.

use crate::change::Change;
use crate::link::link;
use helenus_control::Link;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// When this process is killed, nobody renews the leases, and the valves open.
const LEASE: Duration = Duration::from_secs(30);

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
        self.hold = Some(Hold::start(link));
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

/// Renews the leases of a node's valves until it is dropped.
struct Hold {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Hold {
    fn start(mut link: Link) -> Hold {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(LEASE / 3) == Err(RecvTimeoutError::Timeout) {
                // A node that can't be reached opens its valves by itself, and is in no figure.
                let _ = link.renew_leases();
            }
        });
        Hold { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic there would have been the link's, and the valves open without it.
            let _ = thread.join();
        }
    }
}
