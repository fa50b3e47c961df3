//! Measurement points: the methods at which probes and valves can be placed.

use crate::{Error, Link};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The release whose named points are known, such as `cassandra-5.0`; null in a JVM that is none.
    pub preset: Option<String>,
    pub points: Vec<Point>,
}

/// A method that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Its name in the preset, or the method.
    pub point: String,
    pub method: String,
    /// Whether a valve is allowed there, and why not.
    #[serde(default)]
    pub gate: bool,
    pub why_no_gate: Option<String>,
    /// Whether a request may be refused there with the server's Overloaded.
    #[serde(default)]
    pub refuse: bool,
}

impl Link {
    /// Points that match a name or pattern, at most so many; without one, all points of the preset.
    pub fn find_points(&mut self, pattern: Option<&str>, at_most: Option<u32>) -> Result<Found, Error> {
        let mut with = json!({});
        for (key, value) in [("pattern", pattern.map(Value::from)), ("at_most", at_most.map(Value::from))] {
            if let Some(value) = value {
                with[key] = value;
            }
        }
        self.ask("points.find", with)
    }
}
