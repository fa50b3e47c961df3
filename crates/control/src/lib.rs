//! Changes to a running server and their reversal: valves, the probes that show where a valve would pay, settings of one
//! node, and the [`placement`] of its threads.
//!
//! ```text
//! valve add ─▶ Link ─▶ agent in the JVM ─▶ control MBean ─▶ gate or stage
//!                                             └─ lives on when the link is closed, until its last valve is removed
//! tune apply ─▶ Journal ─▶ Link ─▶ control MBean ─▶ MBean of Cassandra's
//! ```
//!
//! agent/PROTOCOL.md describes the protocol of the link.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod declared;
mod error;
mod executors;
mod link;
pub mod placement;
mod points;
mod probes;
mod trial;
mod tuning;
mod valves;

pub use declared::{Declared, Limits, Range, Use, check_point, gates};
pub use error::Error;
pub use executors::{Executor, Running};
pub use link::Link;
pub use points::{Found, Point};
pub use probes::{Calls, Model, Probe, ProbeOptions};
pub use trial::{Original, ReadCounts, THROWAWAY, Trimming, TypedColumn, UserType};
pub use tuning::{
    Compacting, Entry, Figures, Level, Measured, Outcome, PeerComparison, Reading, Setting, State, Tuner, Tuning,
    Undone,
};
pub use valves::{Change, Site, Valve, Window};
