//! All that changes a running server, and how each change is undone: valves, the probes that say where one would pay, and
//! settings of one node, and the [`placement`] of its threads.
//!
//! ```text
//! valve add ─▶ Link ─▶ agent in the JVM ─▶ resident ─▶ gate or stage
//!                                             └─ lives on when the link is closed, until its last valve is removed
//! tune apply ─▶ Journal ─▶ Link ─▶ resident ─▶ MBean of Cassandra's
//! ```
//!
//! What is said is in agent/PROTOCOL.md.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod declared;
mod error;
mod executors;
mod link;
pub mod placement;
mod points;
mod probes;
mod shadows;
mod tuning;
mod valves;

pub use declared::{Declared, Limits, Range, Use, check_point};
pub use error::Error;
pub use executors::{Executor, Running};
pub use link::Link;
pub use points::{Found, Point};
pub use probes::{Calls, Model, Probe, ProbeOptions};
pub use shadows::{Cutting, Original, ReadCounts, THROWAWAY, TypedColumn, UserType};
pub use tuning::{
    Beside, Compacting, Entry, Figures, Level, Measured, Outcome, Reading, Setting, State, Tuner, Tuning, Undone,
};
pub use valves::{Change, Place, Valve, Window};
