//! The target of a measurement: a real Cassandra node.
//!
//! Two independent halves:
//! - *our clusters*: [`Cluster::start`] fetches a release, writes its configuration, starts nodes
//!   on loopback addresses and waits until they answer CQL; [`state::Registry`] remembers them
//!   after the process that started them has ended, for `ps` and `down`.
//! - *any node*: [`target::find`] finds the process behind an address or a pid and describes it,
//!   [`attach`] talks to its JVM and loads an agent into it, [`cql::identify`] asks the node for
//!   its identity.
//!
//! Nothing here prints. Slow operations report through a [`Progress`] callback and check a [`Cancel`] flag; errors have
//! hints.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod addresses;
pub mod agent;
mod apart;
pub mod attach;
pub mod cgroup;
mod cluster;
pub mod cql;
mod cql_type;
mod error;
mod failure;
pub mod foreign;
pub mod interrupts;
pub mod jars;
pub mod java;
pub mod journal;
mod jvm_options;
mod launch;
pub mod network;
mod places;
pub mod process;
mod progress;
pub mod release_check;
mod settings;
mod sockets;
pub mod sstable_files;
pub mod state;
pub mod target;
pub mod threads;
mod token;
mod unjudged;
mod versions;

pub use apart::apart;
pub use cluster::{Cluster, ClusterOptions, Lifetime};
pub use cql_type::{CqlType, NotAType};
pub use error::Error;
pub use places::Places;
pub use progress::{Cancel, Progress};
pub use sockets::{connected, remotes, serving};
pub use state::Node;
pub use token::murmur3_token;
pub use unjudged::{Announcement, UnjudgedPhase, unjudged_phases};
pub use versions::{Line, Version};
