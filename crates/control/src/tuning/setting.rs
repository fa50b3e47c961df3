//! The settings that can be changed, and the agent's commands for them.

use super::Figures;
use crate::{Error, Link};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// A setting of a node that can be changed while it runs; a restart resets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The name: `compaction`, `requests-per-second`, or a number of the node such as `compaction-throughput` or
    /// `read-threads`.
    #[serde(rename = "setting")]
    pub name: String,
    /// The table as `keyspace.table`, for the setting `compaction`.
    pub table: Option<String>,
}

impl Setting {
    pub fn compaction(table: &str) -> Setting {
        Setting { name: "compaction".to_string(), table: Some(table.to_string()) }
    }

    pub fn of_node(name: &str) -> Setting {
        Setting { name: name.to_string(), table: None }
    }

    /// The limit of requests per second that the node accepts; no limit if it is 0.
    pub fn requests_per_second(limit: u64) -> (Setting, Value) {
        let value = match limit {
            0 => json!({"enabled": "false"}),
            limit => json!({"enabled": "true", "per_second": limit.to_string()}),
        };
        (Setting::of_node("requests-per-second"), value)
    }

    fn members(&self) -> Value {
        json!({"setting": self.name, "table": self.table})
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.table {
            Some(table) => write!(f, "{} of {table}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The current value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// An integer, or parameters by name.
    pub value: Value,
    /// The schema's value, which holds for all nodes; None if there is none or it is unknown.
    pub schema: Option<Value>,
    pub host_id: Option<String>,
}

/// A setting that the agent has changed and will restore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    pub id: String,
    #[serde(flatten)]
    pub setting: Setting,
    pub before: Value,
    /// The value that the node reports, which may have more parts than the requested one.
    pub set: Value,
    /// The schema's value when the setting was changed.
    pub schema: Option<Value>,
    pub lease_ms: u64,
    /// Time until the lease ends.
    pub left_ms: Option<u64>,
}

/// The result of undoing a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    pub outcome: Outcome,
    /// The current value.
    pub now: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The setting has its former value again.
    Undone,
    /// The setting had been restored already.
    Gone,
    /// The setting was changed since, on this node or in the schema. That value stays.
    Altered,
    /// The table no longer exists.
    Dropped,
    /// The process that had the setting has ended, and the change with it.
    Restarted,
}

impl Link {
    pub fn read_setting(&mut self, setting: &Setting) -> Result<Reading, Error> {
        self.ask("tune.read", setting.members())
    }

    /// Changes a setting whose current value is `before`. The change lasts until the lease ends or, without a lease,
    /// until it is undone.
    pub fn apply_setting(
        &mut self,
        id: &str,
        setting: &Setting,
        (before, value): (&Value, &Value),
        lease: Option<Duration>,
    ) -> Result<Tuning, Error> {
        let mut with = setting.members();
        with["id"] = json!(id);
        with["before"] = before.clone();
        with["value"] = value.clone();
        with["lease_ms"] = json!(lease.map_or(0, millis));
        self.ask("tune.apply", with)
    }

    pub fn tunings(&mut self) -> Result<Vec<Tuning>, Error> {
        self.ask("tune.list", json!({}))
    }

    /// Renews a lease, with the same length or another one.
    pub fn renew_tuning(&mut self, id: &str, lease: Option<Duration>) -> Result<Tuning, Error> {
        self.ask("tune.renew", json!({"id": id, "lease_ms": lease.map_or(0, millis)}))
    }

    /// Restores the former value. An agent that does not know the tuning uses the value given here.
    pub fn undo_tuning(&mut self, tuning: &Tuning) -> Result<Undone, Error> {
        let mut with = tuning.setting.members();
        with["id"] = json!(tuning.id);
        with["before"] = tuning.before.clone();
        with["set"] = tuning.set.clone();
        with["schema"] = json!(tuning.schema);
        self.ask("tune.undo", with)
    }

    /// Current figures of a table, `keyspace.table`.
    pub fn table_figures(&mut self, table: &str) -> Result<Figures, Error> {
        self.ask("tune.figures", json!({"table": table}))
    }
}

/// A lease of at least 1, because 0 stands for none.
pub(super) fn millis(lease: Duration) -> u64 {
    u64::try_from(lease.as_millis()).unwrap_or(u64::MAX).max(1)
}
