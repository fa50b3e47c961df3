//! The driver's own pauses: what must not be blamed on the server.

mod lateness;
mod standstill;
mod strain;
mod watcher;

pub(crate) use lateness::{Late, Lateness, Stall};
pub(crate) use standstill::{Standstills, Stood};
pub(crate) use watcher::Watcher;
