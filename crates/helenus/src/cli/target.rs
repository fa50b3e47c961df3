//! The one running node that a command changes.

use super::nodes;
use crate::assets::AGENT_JAR;
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_control::Link;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct TargetArguments {
    /// The node, by its CQL address; it runs on this machine
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: Option<String>,
    /// The node, or any JVM, by its process
    #[arg(long, value_name = "PID")]
    pid: Option<i32>,
}

impl TargetArguments {
    /// The node's name for display.
    pub fn name(&self) -> String {
        self.node.clone().unwrap_or_else(|| format!("pid {}", self.pid.unwrap_or_default()))
    }

    /// The option that names the node in another command.
    pub fn option(&self) -> String {
        match &self.node {
            Some(node) => format!("--node {node}"),
            None => format!("--pid {}", self.pid.unwrap_or_default()),
        }
    }

    /// The node's address, if the node is named by its address.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Loads the agent into the node.
    pub fn link(&self) -> Result<Link> {
        Ok(Link::open(&find(self.node.as_deref(), self.pid)?, AGENT_JAR)?)
    }
}

/// The process at a node's address or, without an address, the process with a pid.
pub fn find(node: Option<&str>, pid: Option<i32>) -> Result<Target> {
    let which = match node {
        Some(node) => TargetName::Address(nodes::address(node)?),
        None => TargetName::Pid(pid.unwrap_or_default()),
    };
    Ok(target::find(which)?)
}

/// Prints the agent's log.
pub fn say_log(link: &mut Link) {
    for line in link.take_log() {
        terminal::talk(terminal::dim(format_args!("agent: {line}")));
    }
}
