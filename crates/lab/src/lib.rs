//! The laboratory: an experiment file, run on a node, recorded; its variants in blocks.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod blocks;
mod change;
mod changes;
mod check;
mod compilers;
mod controls;
mod experiment;
mod hold;
mod link;
mod peak;
mod placement;
mod points;
mod probes;
mod restore;
mod run;
mod site;
mod stage;
mod tables;
pub mod trial;
mod variants;
mod wanted;
mod warmup;

pub use change::Change;
pub use check::COMPACTION_STRATEGIES;
pub use experiment::{Before, Calibrate, Error as ExperimentError, Experiment, Node, Observe, Part};
pub use restore::truncate;
pub use run::{Error, Outcome, Progress, Run};
pub use tables::TableSettings;
pub use variants::{Restore, Variant, Variants};
