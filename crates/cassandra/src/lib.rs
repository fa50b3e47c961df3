//! The target of a measurement: a real Cassandra node.
//!
//! Two halves that know little of each other:
//! - *ours*: [`Cluster::start`] fetches a release, writes its configuration, starts nodes on
//!   loopback addresses and waits until they answer CQL; [`state::Registry`] remembers them over
//!   the life of the process that started them, for `ps` and `down`.
//! - *anybody's*: [`target::find`] names the process behind an address or a pid and says what it
//!   is, [`attach`] talks to its JVM and loads an agent into it, [`cql::identify`] asks the node
//!   who it is.
//!
//! Nothing here prints. What takes time reports through a [`Progress`] callback and looks at a
//! [`Cancel`] flag; what fails says in its error what to do about it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod addresses;
pub mod agent;
mod apart;
pub mod attach;
mod cluster;
pub mod cql;
mod cql_type;
mod error;
mod failure;
pub mod foreign;
pub mod foreseen;
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
mod settings;
mod sockets;
pub mod sstable_files;
pub mod state;
pub mod target;
pub mod threads;
mod versions;

pub use apart::apart;
pub use cluster::{Cluster, ClusterOptions, Lifetime};
pub use cql_type::{CqlType, NotAType};
pub use error::Error;
pub use places::Places;
pub use progress::{Cancel, Progress};
pub use state::Node;
pub use versions::{Line, Version};
