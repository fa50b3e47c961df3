//! Stalls of the driver itself, which must not be blamed on the server.

mod counters;
mod lateness;
mod stall_register;
mod watcher;

pub(crate) use lateness::{Late, Lateness, Stall};
pub(crate) use stall_register::{StallRegister, StallView};
pub(crate) use watcher::Watcher;
