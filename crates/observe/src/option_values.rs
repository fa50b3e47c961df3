//! Types of values that options of several sources share.

use clap::ValueEnum;
use std::time::Duration;

/// An option of a source that has only one provider: on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Switch {
    #[default]
    Off,
    On,
}

/// Parses a duration such as 90s.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    helenus_notation::quantity::duration(text).map_err(|error| error.to_string())
}

/// Reads a size such as 2GiB.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    helenus_notation::quantity::bytes(text).map_err(|error| error.to_string())
}
