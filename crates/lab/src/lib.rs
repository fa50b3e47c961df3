//! The laboratory: an experiment file, run on a node, recorded.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod experiment;
mod run;

pub use experiment::{Calibrate, Error as ExperimentError, Experiment, Node};
pub use run::{Error, Outcome, Progress, Run};
