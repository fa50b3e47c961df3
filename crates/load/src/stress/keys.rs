//! The seeds, and so the partitions, of requests: `-pop`.

use super::command::{Command, Length};
use super::options::Keys;
use crate::rows::{Distribution, Seeds};

/// The number of keys without `-pop` if the number of partitions is unknown.
const DEFAULT_KEYS: i64 = 1_000_000;

/// The seeds of the requests. If seeds must not repeat, also the number of partitions to send.
pub(super) fn seeds(given: Option<Keys>, command: &Command) -> (Seeds, Option<u64>) {
    let count = match command.length {
        Length::Count(count) => i64::try_from(count).unwrap_or(i64::MAX),
        _ => DEFAULT_KEYS,
    };
    match given {
        Some(Keys::Sequence { from, to, wraps }) => {
            (Seeds::Sequence { from, to }, (!wraps).then(|| to.wrapping_sub(from) as u64 + 1))
        }
        Some(Keys::Drawn(distribution)) => (Seeds::Drawn(distribution), None),
        None if command.writes_only() => (Seeds::Sequence { from: 1, to: count }, None),
        None => (Seeds::Drawn(Distribution::gaussian(1, count)), None),
    }
}
