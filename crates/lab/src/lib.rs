//! The laboratory: an experiment file, run on a node, recorded; its variants in blocks.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod blocks;
mod change;
mod changes;
mod check;
mod experiment;
mod guests;
mod hold;
mod link;
mod peak;
mod placement;
mod points;
mod probes;
mod restore;
mod run;
pub mod shadow;
mod site;
mod stage;
mod tables;
mod variants;
mod wanted;

pub use change::Change;
pub use experiment::{Before, Calibrate, Error as ExperimentError, Experiment, Node, Observe, Part};
pub use restore::truncate;
pub use run::{Error, Outcome, Progress, Run};
pub use tables::TableSettings;
pub use variants::{Restore, Variant, Variants};
