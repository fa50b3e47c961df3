//! Helenus as a user runs it: the binary, real nodes, real kernels.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod cli;
mod control;
mod exchange;
#[path = "../harness/mod.rs"]
mod harness;
mod lab;
mod networks;
// Where there is a JDK 11 to be had for them.
#[cfg(target_arch = "x86_64")]
mod older_lines;
mod placement;
mod recorded;
mod requests;
mod shadow;
mod tables;
mod tune;
