//! Helenus as a user runs it: the binary, real nodes, real kernels.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod control;
mod exchange;
mod harness;
mod honesty;
mod lab;
mod placement;
mod shadow;
mod tables;
mod truths;
mod tune;
