//! Our end of the connection that an agent opens: where it knocks, how it shows that it was sent by us, and what both say.
//!
//! The agent connects out to a socket of ours on loopback and shows a token; nothing in the server listens.

mod listener;
pub mod protocol;

pub use listener::{AgentListener, ConnectedAgent};
