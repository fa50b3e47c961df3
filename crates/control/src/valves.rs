//! Valves: each governs how much may be inside a point or a stage of the server at once.

use crate::{Error, Link};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where a valve stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A gate at these points, by name or pattern.
    At(Vec<String>),
    /// A stage of the server, whose own size is steered.
    Stage(String),
}

/// What a valve is to be, or what of it is to change: whatever is none stays as it is, or as the agent has it by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    pub law: Option<String>,
    /// Of the law.
    pub parameters: BTreeMap<String, String>,
    pub min: Option<u32>,
    pub max: Option<u32>,
    /// Who goes first of those that wait: fifo, lifo, or class with weights by point.
    pub order: Option<String>,
    pub weights: BTreeMap<String, u32>,
    /// After which one that waits is let through, or refused.
    pub max_wait_ms: Option<u64>,
    /// Answer with the server's Overloaded instead of letting through.
    pub refuse: Option<bool>,
    /// Open when nothing goes through for so long while some wait.
    pub watchdog_ms: Option<u64>,
    /// Open when nobody renews the lease for so long; 0 for never.
    pub lease_ms: Option<u64>,
    /// Methods that the points may stand for.
    pub at_most: Option<u32>,
    /// Of a valve that is added: even where the JVM throws its compiled code away for it.
    pub cold: bool,
}

/// A valve as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Valve {
    pub valve: String,
    /// Its points, or else its stage.
    pub at: Option<Vec<String>>,
    pub stage: Option<String>,
    pub law: String,
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    pub min: i64,
    pub max: i64,
    /// None when it is open.
    pub limit: Option<i64>,
    pub in_flight: i64,
    pub waiting: i64,
    /// `on` or `open`.
    pub state: String,
    pub open_reason: Option<String>,
    /// What it measured and decided last; none before the first window has ended.
    pub last: Option<Window>,
}

/// What a valve measured in a window and decided at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub valve: String,
    pub limit: Option<i64>,
    pub next_limit: Option<i64>,
    pub in_flight: f64,
    pub waiting: f64,
    pub completed: i64,
    pub failed: i64,
    pub refused: i64,
    pub let_through: i64,
    pub throughput_per_s: f64,
    pub mean_ns: Option<i64>,
    pub wait_mean_ns: Option<i64>,
    /// Of wait and time inside together; not known of a stage.
    pub p50_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    /// Why the limit is what it is from then on, in a sentence.
    pub reason: String,
}

impl Change {
    /// The members of a command; what is none is left out.
    fn members(&self) -> Value {
        let mut members = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_string(), value);
            }
        };
        add("law", self.law.as_deref().map(Value::from));
        add("parameters", (!self.parameters.is_empty()).then(|| json!(self.parameters)));
        add("min", self.min.map(Value::from));
        add("max", self.max.map(Value::from));
        add("order", self.order.as_deref().map(Value::from));
        add("weights", (!self.weights.is_empty()).then(|| json!(self.weights)));
        add("max_wait_ms", self.max_wait_ms.map(Value::from));
        add("refuse", self.refuse.map(Value::from));
        add("watchdog_ms", self.watchdog_ms.map(Value::from));
        add("lease_ms", self.lease_ms.map(Value::from));
        add("at_most", self.at_most.map(Value::from));
        add("cold", self.cold.then_some(json!(true)));
        Value::Object(members)
    }
}

impl Link {
    /// Adds a valve. It governs from now on, and when this link is closed.
    pub fn add_valve(&mut self, name: &str, place: &Place, change: &Change) -> Result<Valve, Error> {
        let mut with = change.members();
        with["name"] = json!(name);
        match place {
            Place::At(points) => with["at"] = json!(points),
            Place::Stage(stage) => with["stage"] = json!(stage),
        }
        self.ask("valve.add", with)
    }

    /// Changes a valve; one that was open governs again.
    pub fn set_valve(&mut self, name: &str, change: &Change) -> Result<Valve, Error> {
        let mut with = change.members();
        with["name"] = json!(name);
        self.ask("valve.set", with)
    }

    pub fn valves(&mut self) -> Result<Vec<Valve>, Error> {
        self.ask("valve.list", json!({}))
    }

    /// Removes a valve, or all of them: the server is as it was before. Returns those that are left.
    pub fn remove_valve(&mut self, name: Option<&str>) -> Result<Vec<Valve>, Error> {
        self.ask("valve.remove", name.map_or_else(|| json!({"all": true}), |name| json!({"name": name})))
    }

    /// Renews the leases of all valves.
    pub fn renew_leases(&mut self) -> Result<Vec<Valve>, Error> {
        self.ask("lease.renew", json!({}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_what_it_changes_and_nothing_else() {
        let change = Change {
            law: Some("throughput".to_string()),
            max: Some(64),
            refuse: Some(false),
            parameters: [("seed".to_string(), "7".to_string())].into(),
            ..Change::default()
        };
        let members = change.members();
        assert_eq!(members, json!({"law": "throughput", "max": 64, "refuse": false, "parameters": {"seed": "7"}}));
        assert_eq!(Change::default().members(), json!({}));
    }
}
