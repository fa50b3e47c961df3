//! The laboratory: an experiment file, run on a node, recorded.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod experiment;
mod run;

pub use experiment::{Before, Calibrate, Error as ExperimentError, Experiment, Node, Observe, Part};
pub use run::{Error, Outcome, Progress, Run};
