//! Advice for the tables and nodes of a recording: small rules, each with its check, its evidence, what to do, how to
//! verify it, and its source. A rule whose facts are missing says so.
//!
//! A rule is a function of facts in a file of its family, and a line in `listing.rs`. The rule compares facts with
//! [`thresholds`].

mod caches;
mod clients;
mod collector;
mod columns;
mod compaction;
mod compression;
mod costs;
mod debugging;
mod deletes;
mod disk;
mod drivers;
mod facts;
mod habits;
#[cfg(test)]
mod healthy;
mod heap;
mod indexes;
mod jvm_options;
mod limits;
mod listing;
mod machine;
mod outdated;
mod partitions;
mod pressure;
mod reads;
mod report;
mod rows;
mod rule;
mod sending;
mod strategy;
mod thresholds;
mod timeouts;
mod tombstones;

pub use listing::rules_as_markdown;
pub use report::{Advice, AdviceReport, Evidence, NotChecked, advise, by_reason};
