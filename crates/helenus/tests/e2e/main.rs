//! Helenus as a user runs it: the binary, real nodes, real kernels.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod cli;
mod clients;
mod control;
mod exchange;
#[path = "../harness/mod.rs"]
mod harness;
mod lab;
mod networks;
// JDK 11, which Cassandra 4.0 and 4.1 need, is available on this architecture only.
#[cfg(target_arch = "x86_64")]
mod older_lines;
mod placement;
mod questions;
mod recorded;
mod requests;
mod tables;
mod top;
mod trial;
mod tune;
