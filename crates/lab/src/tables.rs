//! Settings of tables and nodes that a variant changes while the nodes run.

use crate::change::Change;
use crate::hold::{LEASE, LeaseKeeper};
use crate::link::link;
use helenus_cassandra::cql::{self, Connection};
use helenus_control::{Setting, Tuning};
use helenus_notation::{Error, Section};
use serde_json::{Map, Value};
use std::net::SocketAddr;
use std::time::Duration;

/// Timeout for schema agreement of all nodes.
const WITHIN: Duration = Duration::from_secs(30);

/// Settings of one table in a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSettings {
    /// The table as `keyspace.table`.
    pub name: String,
    /// Compaction parameters with a class: set on each node separately, and not in the schema.
    pub compaction: Option<Value>,
    /// Table options that are set in the schema.
    pub gc_grace_seconds: Option<u64>,
}

impl TableSettings {
    pub(crate) fn read(
        section: &mut Section<'_>,
        compaction: Option<Map<String, Value>>,
    ) -> Result<TableSettings, Error> {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let compaction = compaction.map(|parameters| {
            Value::Object(parameters.into_iter().map(|(name, value)| (name, Value::String(text(value)))).collect())
        });
        if compaction.as_ref().is_some_and(|parameters| parameters.get("class").is_none()) {
            return Err(
                section.error_at("compaction", "a compaction has a `class`, such as \"LeveledCompactionStrategy\"")
            );
        }
        let settings = TableSettings {
            name: section.required("name")?,
            compaction,
            gc_grace_seconds: section.optional::<i64>("gc_grace_seconds")?.map(i64::unsigned_abs),
        };
        if settings.name.split('.').filter(|part| !part.is_empty()).count() != 2 {
            return Err(section.error_at("name", format!("`{}` is no keyspace.table", settings.name)));
        }
        if settings.compaction.is_none() && settings.gc_grace_seconds.is_none() {
            return Err(section.error("a table of a variant has a `compaction`, or `gc_grace_seconds`"));
        }
        Ok(settings)
    }
}

/// Another process may attach to the node at the same moment.
const ATTEMPTS: usize = 4;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(500);

/// Settings that a variant makes on one node.
pub(crate) struct Tunings {
    node: SocketAddr,
    agent: &'static [u8],
    wanted: Vec<(Setting, Value)>,
    /// The settings that were applied.
    set: Vec<Tuning>,
    hold: Option<LeaseKeeper>,
}

impl Tunings {
    pub fn new(node: SocketAddr, agent: &'static [u8], wanted: Vec<(Setting, Value)>) -> Tunings {
        Tunings { node, agent, wanted, set: Vec::new(), hold: None }
    }

    /// Restores the settings. A setting that could not be restored stays in `set`.
    fn put_back(&mut self) -> Result<(), String> {
        if self.set.is_empty() {
            return Ok(());
        }
        let mut link = link(self.node, self.agent)?;
        while let Some(tuning) = self.set.last() {
            link.undo_tuning(tuning).map_err(|error| format!("{}: {error}", tuning.setting))?;
            self.set.pop();
        }
        Ok(())
    }
}

impl Change for Tunings {
    fn apply(&mut self) -> Result<(), String> {
        let mut link = link(self.node, self.agent)?;
        for (number, (setting, value)) in self.wanted.clone().iter().enumerate() {
            let id = format!("lab-{}-{number}", std::process::id());
            let set = link.read_setting(setting).and_then(|reading| {
                // The node may already have the wanted value.
                match is_same(&reading.value, value) {
                    true => Ok(None),
                    false => link.apply_setting(&id, setting, (&reading.value, value), Some(LEASE)).map(Some),
                }
            });
            match set {
                Ok(tuning) => self.set.extend(tuning),
                Err(error) => {
                    drop(link);
                    let left = self.undo().err().map_or(String::new(), |left| format!("; {left}"));
                    return Err(format!("{}: {setting}: {error}{left}", self.node));
                }
            }
        }
        let ids: Vec<String> = self.set.iter().map(|tuning| tuning.id.clone()).collect();
        self.hold = Some(LeaseKeeper::start(link, move |link| {
            for id in &ids {
                // A node that can't be reached restores its settings when their leases end.
                let _ = link.renew_tuning(id, None);
            }
        }));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        self.hold = None;
        let mut last = self.put_back();
        for _ in 1..ATTEMPTS {
            if last.is_ok() {
                break;
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
            last = self.put_back();
        }
        last.map_err(|reason| format!("settings of {} may be left until their lease ends: {reason}", self.node))
    }
}

/// Whether a node with the one value already has the other, apart from the package of a class.
fn is_same(now: &Value, wanted: &Value) -> bool {
    let (Value::Object(now), Value::Object(wanted)) = (now, wanted) else { return now == wanted };
    let short = |value: &Value| value.as_str().and_then(|name| name.rsplit('.').next()).map(str::to_string);
    let is_default = |name: &str| matches!(name, "class" | "min_threshold" | "max_threshold");
    now.keys().all(|name| is_default(name) || wanted.contains_key(name))
        && wanted.iter().all(|(name, value)| match name.as_str() {
            "class" => now.get(name).and_then(short) == short(value),
            _ => now.get(name) == Some(value),
        })
}

/// Changes `gc_grace_seconds` of a table in the schema.
pub(crate) struct Grace {
    node: SocketAddr,
    table: String,
    seconds: u64,
    before: Option<String>,
}

impl Grace {
    pub fn new(node: SocketAddr, table: &str, seconds: u64) -> Grace {
        Grace { node, table: table.to_string(), seconds, before: None }
    }

    fn alter(&self, connection: &mut Connection, seconds: &str) -> Result<(), cql::Error> {
        connection.query(&format!("ALTER TABLE {} WITH gc_grace_seconds = {seconds}", self.table)).map(drop)
    }
}

impl Change for Grace {
    fn apply(&mut self) -> Result<(), String> {
        let set = || -> Result<Option<String>, cql::Error> {
            let mut connection = Connection::open(self.node, WITHIN, None)?;
            let (keyspace, name) = self.table.split_once('.').unwrap_or_default();
            let found = connection.query(&format!(
                "SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = '{keyspace}' AND table_name = '{name}'"
            ))?;
            if found.rows.is_empty() {
                return Ok(None);
            }
            let before = found.get(0, "gc_grace_seconds").to_string();
            self.alter(&mut connection, &self.seconds.to_string())?;
            Ok(Some(before))
        };
        match set() {
            Ok(Some(before)) => self.before = Some(before),
            Ok(None) => return Err(format!("there is no table {}", self.table)),
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }

    fn undo(&mut self) -> Result<(), String> {
        let Some(before) = self.before.take() else { return Ok(()) };
        Connection::open(self.node, WITHIN, None)
            .and_then(|mut connection| self.alter(&mut connection, &before))
            .map_err(|error| format!("gc_grace_seconds of {} may be left at {}: {error}", self.table, self.seconds))
    }
}
