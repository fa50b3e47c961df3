//! Which keys requests take: what `-pop` says, in the driver's terms.

use super::command::{Command, Length};
use super::distribution::Distribution;
use super::draft::KeyDraw;
use super::options::Keys;
use crate::Error;

/// Keys in the driver's terms, where they begin at 0; seed 1 of cassandra-stress is key 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DrawnKeys {
    pub population: u64,
    pub draw: KeyDraw,
    /// The number of the first request, where keys in sequence don't begin at 0.
    pub first_number: u64,
    /// All that there are to send, where they are not to come again.
    pub most_requests: Option<u64>,
}

/// As many as there are without `-pop`, when the number of requests is not known.
const DEFAULT_KEYS: u64 = 1_000_000;

pub(super) fn keys(given: Option<Keys>, command: &Command) -> Result<DrawnKeys, Error> {
    let requests = match command.length {
        Length::Count(count) => Some(count),
        _ => None,
    };
    let default = || {
        let keys = requests.unwrap_or(DEFAULT_KEYS);
        match command.writes_only() {
            true => Keys::Sequence { from: 1, to: keys, wraps: true },
            false => Keys::Drawn(Distribution::gaussian(1, keys)),
        }
    };
    match given.unwrap_or_else(default) {
        Keys::Sequence { from, to, wraps } => sequence(from, to, wraps, requests),
        Keys::Drawn(distribution) => {
            let (population, draw) = drawn("-pop dist=", distribution)?;
            Ok(DrawnKeys { population, draw, first_number: 0, most_requests: None })
        }
    }
}

fn sequence(from: u64, to: u64, wraps: bool, requests: Option<u64>) -> Result<DrawnKeys, Error> {
    let length = to - from + 1;
    let fits = !wraps || requests.is_some_and(|requests| requests <= length);
    if from > 1 && !fits {
        // Keys in sequence are the request's number modulo the population, so that they would come again from 0.
        return Err(Error::Argument {
            argument: "-pop seq=".to_string(),
            message: format!(
                "a sequence that begins at {from} is gone through once: give n={length} or less, or add no-wrap"
            ),
        });
    }
    Ok(DrawnKeys {
        population: to,
        draw: KeyDraw::Sequential,
        first_number: from - 1,
        most_requests: (!wraps).then_some(length),
    })
}

/// A population and how it is drawn from, for a distribution that begins at 1.
pub(super) fn drawn(argument: &str, distribution: Distribution) -> Result<(u64, KeyDraw), Error> {
    let refused = |message: String| Err(Error::Argument { argument: argument.to_string(), message });
    if let Some(only) = distribution.only() {
        return Ok((only.max(1), KeyDraw::Fixed(only.max(1) - 1)));
    }
    match distribution.min {
        2.. => {
            let max = distribution.max;
            refused(format!("{distribution}: what is drawn begins at 1 here; write {}(1..{max})", distribution.name()))
        }
        _ => Ok((distribution.max, KeyDraw::of(distribution))),
    }
}
