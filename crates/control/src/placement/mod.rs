//! Placement: which CPUs the threads of a process may run on, and which serve the interrupts of devices.
//!
//! ```text
//! topology, limits ─▶ Room ─┐
//! threads of a process ─────┼─▶ Policy ─▶ Plan ─▶ Journal ─▶ masks ─▶ Following ─▶ restored
//! interrupts in a window ───┘   (pure)           (on disk)            (new threads)
//! ```
//!
//! The process is not stopped, needs no agent, and is not informed.

mod affinity;
mod cpus;
mod error;
mod follow;
mod groups;
mod guard;
mod interrupts;
mod journal;
mod limits;
mod newest;
mod pin;
mod plan;
mod policy;
mod restore;
mod room;
mod strategy;
mod tasks;
mod threads;
mod topology;

pub use cpus::{CpuSet, NoCpuList};
pub use error::Error;
pub use follow::{FollowSummary, PinFollower};
pub use groups::{Cpus, Group};
pub use guard::{guard, guard_with, renew};
pub use interrupts::{Interrupt, InterruptCounts, Rate, Served};
pub use journal::{Journals, Saved};
pub use limits::{Cpuset, Limits, Quota};
pub use pin::Pin;
pub use plan::{Move, Plan, Planned};
pub use restore::{Restored, unpin};
pub use room::UsableCpus;
pub use strategy::{Settings, Strategy};
pub use threads::Thread;
pub use topology::Topology;
