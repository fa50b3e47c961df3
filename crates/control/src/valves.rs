//! Valves: each limits how many requests may be inside a point or a stage of the server at the same time.

use crate::{Declared, Error, Limits, Link, Use, check_point};
use helenus_notation::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where a valve is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// A gate at these points, by name or pattern.
    At(Vec<String>),
    /// A stage of the server, limited by its own setting.
    Stage(String),
}

/// The settings of a new valve, or changes of an existing one. None leaves a setting unchanged, or gives it the agent's
/// default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    pub law: Option<String>,
    /// Parameters of the law.
    pub parameters: BTreeMap<String, String>,
    pub min: Option<u32>,
    pub max: Option<u32>,
    /// The order in which waiting requests enter: fifo, lifo, or class with weights by point.
    pub order: Option<String>,
    pub weights: BTreeMap<String, u32>,
    /// The longest wait, after which a request is let through or refused.
    pub max_wait_ms: Option<u64>,
    /// Whether to refuse with the server's Overloaded error instead of letting the request through.
    pub refuse: Option<bool>,
    /// The valve opens if no request leaves for this time while some wait.
    pub watchdog_ms: Option<u64>,
    /// Without a renewed lease the valve opens after this time; 0 for never.
    pub lease_ms: Option<u64>,
    /// The most methods that each point may match.
    pub at_most: Option<u32>,
    /// When a valve is added: whether to proceed even if this deoptimizes the whole JVM.
    pub cold: bool,
}

/// The current state of a valve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Valve {
    pub valve: String,
    /// Its points; None for a stage.
    pub at: Option<Vec<String>>,
    pub stage: Option<String>,
    pub law: String,
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    pub min: i64,
    pub max: i64,
    /// The limit; None if the valve is open.
    pub limit: Option<i64>,
    pub in_flight: i64,
    pub waiting: i64,
    /// `on` or `open`.
    pub state: String,
    pub open_reason: Option<String>,
    /// The measurements and the decision of its last window; None before the first window has ended.
    pub last: Option<Window>,
}

/// A valve's measurements in a window, and its decision at the window's end.
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
    /// Median of the time waited and inside together; None for a stage.
    pub p50_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    /// The reason for the new limit, in a sentence.
    pub reason: String,
}

impl Change {
    /// Checks everything that is declared, to find mistakes before an agent is loaded. `place` is where a new valve is
    /// added.
    ///
    /// # Errors
    /// Fails with a sentence that names the error and the allowed values.
    pub fn check(&self, place: Option<&Site>) -> Result<(), String> {
        let declared = Declared::get();
        match place {
            Some(Site::Stage(stage)) => one_of("stage", stage, &declared.stages)?,
            // Only the agent knows why a valve is not allowed at a point.
            Some(Site::At(points)) => points.iter().try_for_each(|at| check_point(at, None, Use::Probe))?,
            None => {}
        }
        if let Some(order) = &self.order {
            one_of("order", order, &declared.orders)?;
        }
        for (key, number) in [
            ("min", self.min.map(u64::from)),
            ("max", self.max.map(u64::from)),
            ("max_wait_ms", self.max_wait_ms),
            ("watchdog_ms", self.watchdog_ms),
            ("lease_ms", self.lease_ms),
            ("at_most", self.at_most.map(u64::from)),
        ] {
            if let Some((number, range)) = number.zip(declared.valve.get(key)) {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                range.check(number).map_err(|reason| format!("`{key}`: {reason}"))?;
            }
        }
        let Some(law) = &self.law else { return Ok(()) };
        one_of("law", law, declared.laws.keys())?;
        let limits = self.limits(place);
        if limits.max.is_some_and(|max| max < limits.min) {
            return Err(format!("the limit of a valve is from `min` to `max`, and `min` {} is more", limits.min));
        }
        let each = |(name, value): (&String, &String)| declared.check_parameter(law, name, value, limits);
        self.parameters.iter().try_for_each(each)
    }

    /// Bounds of the limit that are known before the node is asked.
    fn limits(&self, place: Option<&Site>) -> Limits {
        let default = |key: &str| Declared::get().valve.get(key).and_then(|range| range.default);
        let at_points = matches!(place, Some(Site::At(_)));
        Limits {
            min: self.min.map(i64::from).or(default("min")).unwrap_or(1),
            max: self.max.map(i64::from).or(default("max").filter(|_| at_points)),
        }
    }

    /// The members of a command; settings that are None are left out.
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
    /// Adds a valve, which works from now on, also after this link is closed.
    pub fn add_valve(&mut self, name: &str, place: &Site, change: &Change) -> Result<Valve, Error> {
        let mut with = change.members();
        with["name"] = json!(name);
        match place {
            Site::At(points) => with["at"] = json!(points),
            Site::Stage(stage) => with["stage"] = json!(stage),
        }
        self.ask("valve.add", with)
    }

    /// Changes a valve; an open valve limits again.
    pub fn set_valve(&mut self, name: &str, change: &Change) -> Result<Valve, Error> {
        let mut with = change.members();
        with["name"] = json!(name);
        self.ask("valve.set", with)
    }

    pub fn valves(&mut self) -> Result<Vec<Valve>, Error> {
        self.ask("valve.list", json!({}))
    }

    /// Removes a valve, or all. The server then runs as without them. Returns the remaining ones.
    pub fn remove_valve(&mut self, name: Option<&str>) -> Result<Vec<Valve>, Error> {
        self.ask("valve.remove", name.map_or_else(|| json!({"all": true}), |name| json!({"name": name})))
    }

    /// Renews the leases of all valves.
    pub fn renew_leases(&mut self) -> Result<Vec<Valve>, Error> {
        self.ask("lease.renew", json!({}))
    }
}

/// Checks that a name is declared.
pub(crate) fn one_of<'n>(
    what: &str,
    name: &str,
    declared: impl IntoIterator<Item = &'n String, IntoIter: Clone>,
) -> Result<(), String> {
    let known = declared.into_iter().map(String::as_str);
    if known.clone().any(|known| known == name) {
        return Ok(());
    }
    let meant = did_you_mean(name, known.clone());
    Err(format!("there is no {what} `{name}`{meant} (there are {})", known.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_valve_is_refused_before_there_is_an_agent() {
        let law = |name: &str, parameters: &[(&str, &str)]| Change {
            law: Some(name.to_string()),
            parameters: parameters.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            ..Change::default()
        };
        let at = |point: &str| Site::At(vec![point.to_string()]);
        let fixed = law("fixed", &[("limit", "8")]);
        assert_eq!(fixed.check(Some(&at("scans"))), Ok(()));
        assert_eq!(fixed.check(Some(&Site::Stage("read".to_string()))), Ok(()));
        assert_eq!(fixed.check(Some(&at("StorageProxy.cas"))), Ok(()), "only the node can find a method");
        assert_eq!(Change { max: Some(8), ..Change::default() }.check(None), Ok(()));
        let error = |change: &Change, place| change.check(Some(&place)).unwrap_err();
        assert!(error(&fixed, at("scanz")).contains("no point \"scanz\""));
        assert!(error(&fixed, Site::Stage("reed".to_string())).contains("did you mean `read`?"));
        assert!(error(&law("throughputt", &[]), at("scans")).contains("did you mean `throughput`?"));
        assert!(error(&law("fixed", &[("limits", "8")]), at("scans")).contains("it has limit"));
        assert!(error(&law("fixed", &[("limit", "129")]), at("scans")).contains("from 1 to 128"));
        assert!(
            error(&Change { order: Some("lief".to_string()), ..fixed.clone() }, at("scans")).contains("fifo, lifo")
        );
        assert!(error(&Change { max_wait_ms: Some(0), ..fixed.clone() }, at("scans")).contains("`max_wait_ms`"));
        assert!(error(&Change { min: Some(9), max: Some(8), ..fixed }, at("scans")).contains("`min` 9 is more"));
    }

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
