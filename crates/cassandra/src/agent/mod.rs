//! The recorder's side of an agent's connection: listening, checking the token, and the protocol.
//!
//! The agent connects out to a socket of ours on loopback and shows a token; nothing in the server listens.

mod listener;
pub mod protocol;

pub use listener::{AgentListener, ConnectedAgent};
