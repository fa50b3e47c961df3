//! The driver's own pauses: what must not be blamed on the server.

mod lateness;
mod watcher;

pub(crate) use lateness::{Late, Lateness, Stall};
pub(crate) use watcher::Watcher;
