//! Driver threads. Each has a runtime, a session and connections of its own, so that they share nothing while they run.

mod alarm;
mod engine;
mod feed;
mod job;
mod ledger;
mod probe;
mod request;
mod route;
mod scan;
mod session;
mod slots;
mod surge;
mod tally;
mod thin;
mod thread;

pub(crate) use probe::{KnownColumn, columns, open as open_bounded, probe};
pub(crate) use session::{ContactPoints, reach};
pub(crate) use tally::{Counts, Tally, Times};
pub(crate) use thin::SessionThread;
pub(crate) use thread::{Driver, Run};
