//! How people write to Helenus and read from it: durations, rates, counts and sizes, and TOML files that are read strictly.
//!
//! Every mistake in a file has its line and column, and a misspelt name the one that was meant.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod document;
mod error;
pub mod given;
pub mod quantity;
mod suggestion;

pub use document::{Document, Section};
pub use error::Error;
pub use quantity::{BadQuantity, Bytes, Count, Rate, Span, show_bytes};
pub use suggestion::{did_you_mean, nearest};
