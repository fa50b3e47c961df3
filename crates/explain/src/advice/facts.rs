//! The facts that the rules check: each node with its settings, figures and tables, as recorded.

use super::costs::{Costs, costs};
use super::sending::{self, Sending};
use crate::compaction_options::simple_name;
use crate::cql::is_name_of;
use crate::engine::Engine;
use crate::io::Io;
use crate::statements::{Select, Sent, sent};
use crate::{Error, GcFigures, NodeGc, TableHealth, TableIo, query};
use std::collections::BTreeMap;

/// A fact that a rule needs and that was not recorded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MissingFact(pub String);

/// The fact, or what is missing.
pub(super) fn need<T>(fact: Option<T>, what: &str) -> Result<T, MissingFact> {
    fact.ok_or_else(|| MissingFact(what.to_string()))
}

#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub name: String,
    /// The release of Cassandra, such as (5, 0).
    pub version: Option<(u32, u32)>,
    pub settings: BTreeMap<String, String>,
    pub metrics: BTreeMap<MetricName, Figure>,
    pub gc: Option<GcFigures>,
    /// Share of its CPU time in concurrent marking of G1; None if no thread was recorded.
    pub marking_share: Option<f64>,
    /// Tables that were compacted when the heap was fullest after a collection, with the bytes of these compactions.
    pub compacting_when_fullest: Vec<(String, i64)>,
    pub costs: Costs,
    pub pools: Vec<Pool>,
    pub tables: Vec<Table>,
    /// The requests of its clients; None where the wire was not recorded.
    pub sending: Option<Sending>,
    /// Repair sessions in the node's replica of the repair history; None if it was not read.
    pub repair_sessions: Option<i64>,
    /// Wall time of the recording's end, s since the Unix epoch.
    pub now_s: i64,
}

/// A metric's kind, scope, name and attribute.
pub(super) type MetricName = (String, String, String, String);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figure {
    /// The last recorded value.
    pub value: i64,
    /// How much the value grew since the recording began.
    pub grown: i64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    pub name: String,
    pub pending: i64,
    pub max_size: Option<i64>,
    pub blocked: i64,
    /// Tasks that the pool completed since the recording began.
    pub completed: i64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub health: TableHealth,
    /// Values by the name of the fact; empty if no definition was recorded.
    pub definition: BTreeMap<String, String>,
    /// Replication factor of the keyspace, summed over all datacenters.
    pub replicas: Option<i64>,
    /// Mean size of a row before compression; None if no SSTable of the table is recorded.
    pub mean_row_bytes: Option<i64>,
    /// Reads and writes of the table's files on all nodes; None where no system calls were recorded.
    pub io: Option<TableIo>,
    /// Statements that read the table; None if no statement was recorded.
    pub selects: Option<Vec<Select>>,
    /// Whether a recorded statement deletes from the table; None where no statement was recorded.
    pub deleted_from: Option<bool>,
    /// The shortest TTL of cells in the table's SSTables, 0 if some have none; None if no SSTable is recorded.
    pub min_ttl_s: Option<i64>,
}

const NO_DEFINITION: &str = "the table's definition is not recorded";

impl Table {
    pub fn name(&self) -> &str {
        &self.health.table
    }

    pub fn option(&self, name: &str) -> Option<&str> {
        self.definition.get(name).map(String::as_str).filter(|value| !value.is_empty() && *value != "null")
    }

    pub fn need_option(&self, name: &str) -> Result<&str, MissingFact> {
        match self.definition.is_empty() {
            true => Err(MissingFact(NO_DEFINITION.to_string())),
            false => need(self.option(name), &format!("its {name} is not recorded")),
        }
    }

    pub fn seconds(&self, name: &str) -> Result<i64, MissingFact> {
        need(self.need_option(name)?.parse().ok(), &format!("its {name} is no number"))
    }

    /// A member of an option that is a map; None where it has none.
    pub fn member(&self, option: &str, member: &str) -> Result<Option<String>, MissingFact> {
        let text = self.need_option(option)?;
        let map: BTreeMap<String, String> =
            serde_json::from_str(text).map_err(|_| MissingFact(format!("its {option} can't be read: {text}")))?;
        Ok(map.get(member).cloned())
    }

    /// An option of the table's compaction; None if it has its default.
    pub fn compaction_option(&self, name: &str) -> Result<Option<String>, MissingFact> {
        let options: BTreeMap<String, String> =
            need(serde_json::from_str(self.compaction()?).ok(), "its compaction can't be read")?;
        Ok(options.get(name).cloned())
    }

    /// Its compaction options: those in force on the node, or else those of the schema.
    pub fn compaction(&self) -> Result<&str, MissingFact> {
        self.option("compaction_in_force").map_or_else(|| self.need_option("compaction"), Ok)
    }

    /// Whether all rows of the table expire, because of its default TTL or because every cell on disk has a TTL.
    pub fn expires(&self) -> Result<bool, MissingFact> {
        Ok(self.seconds("default_time_to_live")? > 0 || self.min_ttl_s.is_some_and(|ttl| ttl > 0))
    }

    /// Name of a Java class without its package.
    pub fn strategy(&self) -> Result<String, MissingFact> {
        let class = need(self.compaction_option("class")?, "its compaction has no class")?;
        Ok(simple_name(&class).to_string())
    }
}

impl Node {
    /// The value of a setting whose name depends on the release: the first of the names that was recorded.
    pub fn setting(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.settings.get(*name)).map(String::as_str)
    }

    pub fn need_setting(&self, names: &[&str]) -> Result<&str, MissingFact> {
        match (self.settings.is_empty(), names.first()) {
            (true, _) => Err(MissingFact("the node's settings are not recorded".to_string())),
            (false, name) => {
                need(self.setting(names), &format!("the node says nothing of {}", name.copied().unwrap_or_default()))
            }
        }
    }

    /// The options of its JVM, from the JVM itself or else from the command line of its process.
    pub fn jvm_options(&self) -> Result<&str, MissingFact> {
        self.need_setting(&["jvm.options", "process.jvm_options"])
    }

    pub fn number(&self, name: &str) -> Result<f64, MissingFact> {
        need(self.need_setting(&[name])?.parse().ok(), &format!("{name} is no number"))
    }

    pub fn metric(&self, kind: &str, scope: &str, metric: &str, attribute: &str) -> Result<Figure, MissingFact> {
        let name = (kind.to_string(), scope.to_string(), metric.to_string(), attribute.to_string());
        need(self.metrics.get(&name).copied(), &format!("the metric {kind} {scope} {metric} is not recorded"))
    }

    /// How long the node keeps hints for an unreachable node.
    pub fn hint_window_s(&self) -> Result<f64, MissingFact> {
        let text = self.need_setting(&["max_hint_window", "max_hint_window_in_ms"])?;
        need(duration_s(text), "max_hint_window can't be read")
    }

    pub fn gc(&self) -> Result<&GcFigures, MissingFact> {
        need(self.gc.as_ref(), "no collection is recorded")
    }
}

/// Parses a duration: `3h`, `180m`, `10800000ms`. A number without a unit is milliseconds, as in 4.0.
pub(super) fn duration_s(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * unit)
}

/// Everything that was recorded, by node, without Cassandra's own tables.
pub(super) fn nodes(engine: &Engine) -> Result<Vec<Node>, Error> {
    let span = engine.span()?;
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    for manifest in engine.manifests() {
        for facts in &manifest.nodes {
            let node = nodes.entry(facts.address.clone()).or_default();
            node.version = facts.cassandra.as_deref().and_then(release);
        }
    }
    let mut definitions = definitions(engine, &mut nodes)?;
    let (rows, sent, io) = (rows_on_disk(engine)?, sent(engine)?, Io::of(engine)?);
    for health in crate::tables(engine)?.into_iter().filter(|table| !table.is_of_system()) {
        let keyspace = health.table.split('.').next().unwrap_or_default().to_string();
        let replicas = definitions
            .get(&(health.node.clone(), format!("{keyspace}.")))
            .and_then(|facts| replicas(facts.get("replication")?));
        let name = (health.node.clone(), health.table.clone());
        let definition = definitions.remove(&name).unwrap_or_default();
        let of_table = |sent: &Sent| sent.selects.iter().filter(|one| one.is_of(&health.table)).cloned().collect();
        let selects = sent.as_ref().map(of_table);
        let deleted_from = sent.as_ref().map(|sent| sent.deleted_from.iter().any(|of| is_name_of(of, &health.table)));
        let io = io.tables.iter().find(|table| is_name_of(&table.table, &health.table)).cloned();
        let OnDisk { mean_row_bytes, min_ttl_s } = rows.get(&name).copied().unwrap_or_default();
        let table = Table { health, definition, replicas, mean_row_bytes, io, selects, deleted_from, min_ttl_s };
        nodes.entry(name.0).or_default().tables.push(table);
    }
    settings(engine, &mut nodes)?;
    metrics(engine, &mut nodes)?;
    pools(engine, &mut nodes)?;
    marking(engine, &mut nodes)?;
    compacting_when_fullest(engine, &mut nodes)?;
    sending::sending(engine, &mut nodes)?;
    costs(engine, &mut nodes)?;
    for NodeGc { node, whole, .. } in crate::gc(engine, span.length())? {
        nodes.entry(node).or_default().gc = Some(whole);
    }
    for (name, node) in &mut nodes {
        node.name.clone_from(name);
        node.now_s = span.end / 1_000_000_000;
    }
    Ok(nodes.into_values().collect())
}

/// Facts by node and by `keyspace.table`; facts of a keyspace itself have no table.
type Definitions = BTreeMap<(String, String), BTreeMap<String, String>>;

fn definitions(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<Definitions, Error> {
    let rows = engine.sql(&query::DEFINITIONS.fill(&[]))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (fact, value) = (rows.texts("fact")?, rows.texts("value")?);
    let mut definitions = Definitions::new();
    for row in 0..rows.rows() {
        if fact[row] == "repair_sessions" {
            nodes.entry(node[row].clone()).or_default().repair_sessions = value[row].parse().ok();
        }
        let name = (node[row].clone(), format!("{}.{}", keyspace[row], table[row]));
        definitions.entry(name).or_default().insert(fact[row].clone(), value[row].clone());
    }
    Ok(definitions)
}

/// Mean row sizes of the tables, computed from the recorded SSTables.
#[derive(Debug, Clone, Copy, Default)]
struct OnDisk {
    mean_row_bytes: Option<i64>,
    min_ttl_s: Option<i64>,
}

/// Recorded facts by node and by `keyspace.table`.
fn rows_on_disk(engine: &Engine) -> Result<BTreeMap<(String, String), OnDisk>, Error> {
    let rows = engine.sql(&query::ROW_SIZES.fill(&[]))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (size, ttl) = (rows.integers_or_null("mean_row_bytes")?, rows.integers_or_null("min_ttl_s")?);
    let named = |row: usize| (node[row].clone(), format!("{}.{}", keyspace[row], table[row]));
    let on_disk = |row: usize| OnDisk { mean_row_bytes: size[row], min_ttl_s: ttl[row] };
    Ok((0..rows.rows()).map(|row| (named(row), on_disk(row))).collect())
}

fn settings(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::SETTINGS.fill(&[]))?;
    let (node, setting, value) = (rows.texts("node")?, rows.texts("setting")?, rows.texts("value")?);
    for row in 0..rows.rows() {
        let settings = &mut nodes.entry(node[row].clone()).or_default().settings;
        settings.insert(setting[row].clone(), value[row].clone());
    }
    Ok(())
}

fn metrics(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::NODE_METRICS.fill(&[]))?;
    let node = rows.texts("node")?;
    let (kind, scope) = (rows.texts("kind")?, rows.texts("scope")?);
    let (metric, attribute) = (rows.texts("metric")?, rows.texts("attribute")?);
    let (value, grown) = (rows.integers("value")?, rows.integers("grown")?);
    for row in 0..rows.rows() {
        let name = (kind[row].clone(), scope[row].clone(), metric[row].clone(), attribute[row].clone());
        let figure = Figure { value: value[row], grown: grown[row] };
        nodes.entry(node[row].clone()).or_default().metrics.insert(name, figure);
    }
    Ok(())
}

fn pools(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::FULL_POOLS.fill(&[]))?;
    let (node, name) = (rows.texts("node")?, rows.texts("pool")?);
    let (pending, blocked) = (rows.integers("pending")?, rows.integers("blocked")?);
    let (completed, max_size) = (rows.integers("completed")?, rows.integers_or_null("max_size")?);
    for row in 0..rows.rows() {
        let pool = Pool {
            name: name[row].clone(),
            pending: pending[row],
            max_size: max_size[row],
            blocked: blocked[row],
            completed: completed[row],
        };
        nodes.entry(node[row].clone()).or_default().pools.push(pool);
    }
    Ok(())
}

fn marking(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::MARKING.fill(&[]))?;
    let node = rows.texts("node")?;
    let (marking, cpu) = (rows.integers("marking_ns")?, rows.integers("cpu_ns")?);
    for row in 0..rows.rows() {
        nodes.entry(node[row].clone()).or_default().marking_share = Some(marking[row] as f64 / cpu[row].max(1) as f64);
    }
    Ok(())
}

fn compacting_when_fullest(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::COMPACTING_WHEN_FULLEST.fill(&[]))?;
    let (node, bytes) = (rows.texts("node")?, rows.integers("compacting_bytes")?);
    for (row, table) in rows.texts("table_name")?.into_iter().enumerate() {
        nodes.entry(node[row].clone()).or_default().compacting_when_fullest.push((table, bytes[row]));
    }
    Ok(())
}

/// The first two numbers of a release string.
fn release(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Number of copies in all datacenters, from a keyspace's replication options as JSON.
fn replicas(replication: &str) -> Option<i64> {
    let map: BTreeMap<String, String> = serde_json::from_str(replication).ok()?;
    // A replication factor with transient replicas is written 3/1: three replicas, one of them transient.
    let count = |factor: &String| factor.split('/').next().and_then(|whole| whole.parse::<i64>().ok());
    Some(map.iter().filter(|(name, _)| *name != "class").filter_map(|(_, factor)| count(factor)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_each_line_writes_them() {
        assert_eq!(["3h", "180m", "10800000ms", "10800000"].map(duration_s), [Some(10_800.0); 4]);
        assert_eq!(["", "h", "3 weeks"].map(duration_s), [None; 3]);
    }

    #[test]
    fn replicas_are_those_of_all_datacenters() {
        assert_eq!(replicas(r#"{"class":"a.SimpleStrategy","replication_factor":"3"}"#), Some(3));
        assert_eq!(replicas(r#"{"class":"a.NetworkTopologyStrategy","one":"3","two":"3/1"}"#), Some(6));
        assert_eq!(replicas("3"), None);
        assert_eq!([release("5.0.9"), release("4.1-SNAPSHOT"), release("x")], [Some((5, 0)), Some((4, 1)), None]);
    }
}
