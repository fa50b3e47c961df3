//! Connects to the agent in a node, for its commands.

use helenus_cassandra::target::{self, TargetName};
use helenus_control::Link;
use std::net::SocketAddr;

/// Finds the node's process, which must run on this machine, and loads the agent if it is not loaded.
pub(crate) fn link(node: SocketAddr, agent: &'static [u8]) -> Result<Link, String> {
    let target = target::find(TargetName::Address(node)).map_err(|error| error.to_string())?;
    Link::open(&target, agent).map_err(|error| error.to_string())
}
