//! Measurement points: the methods at which probes and valves can be placed.

use crate::{Error, Link};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The result of a search for points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The release whose preset is used, such as `cassandra-5.0`; null in a JVM without Cassandra.
    pub preset: Option<String>,
    pub points: Vec<Point>,
}

/// A method that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The point's name in the preset, or the method.
    pub point: String,
    pub method: String,
    /// Whether a valve is allowed there; if not, the reason.
    #[serde(default)]
    pub gate: bool,
    pub why_no_gate: Option<String>,
    /// Whether a request may be refused there with the server's Overloaded error.
    #[serde(default)]
    pub refuse: bool,
}

impl Link {
    /// Points that match a name or pattern, at most `most`; without a pattern, all points of the preset.
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
