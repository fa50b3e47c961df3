//! Reads CQL's virtual tables (`system_views`, from 4.0 on) and the schema of a node, for nodes whose JVM must not be
//! changed; and the files of its SSTables, where they are readable.
//!
//! The overhead on the node is that of the queries. Values that the virtual tables don't have stay null: the droppable
//! ratio, flushed and compacted bytes, pauses. Latencies are left out: 5.0 has them a thousand times too small, with
//! three digits after the point.

use crate::sstables;
use helenus_cassandra::cql::{Connection, Error, Rows, Value};
use helenus_recording::{Recorder, SourceFacts, rows};
use std::collections::BTreeMap;
use std::path::PathBuf;

const PROVIDER: &str = "cql-virtual-tables";
const MIB: f64 = 1_048_576.0;

/// A CQL connection to one node, to read its virtual tables.
#[derive(Debug)]
pub struct Views {
    connection: Connection,
    recorder: Recorder,
    node: String,
    /// The root of the node's file system as seen from here; None if the node is on another machine.
    root: Option<PathBuf>,
    folders: Vec<PathBuf>,
    sources: &'static [&'static str],
}

/// Which values are recorded. Definitions are read once, the others repeatedly.
const ALL: &[&str] = &["tables", "pools", "node_metrics", DEFINITIONS];
const DEFINITIONS: &str = "definitions";

impl Views {
    /// Records the node's settings and the definitions of its tables.
    ///
    /// # Errors
    /// If the connection fails, or the node has no such tables (before 4.0).
    pub fn open(
        recorder: &Recorder,
        node: &str,
        connection: Connection,
        root: Option<PathBuf>,
    ) -> Result<Views, Error> {
        Views::of(recorder, node, connection, root, ALL)
    }

    /// Like [`Views::open`], for use when another source reads the changing tables.
    ///
    /// # Errors
    /// As [`Views::open`].
    pub fn of_definitions(recorder: &Recorder, node: &str, connection: Connection) -> Result<Views, Error> {
        Views::of(recorder, node, connection, None, &[DEFINITIONS])
    }

    fn of(
        recorder: &Recorder,
        node: &str,
        connection: Connection,
        root: Option<PathBuf>,
        sources: &'static [&'static str],
    ) -> Result<Views, Error> {
        let (recorder, node) = (recorder.clone(), node.to_string());
        let mut views = Views { connection, recorder, node, root, folders: Vec::new(), sources };
        views.begin()?;
        Ok(views)
    }

    /// Continues in another recording, which gets the settings and the schema, too.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn continue_in(&mut self, recorder: &Recorder) -> Result<(), Error> {
        self.recorder = recorder.clone();
        self.begin()
    }

    fn begin(&mut self) -> Result<(), Error> {
        let identity = self.connection.identify()?;
        let node = &self.node;
        let facts = self.sources.iter().map(|source| SourceFacts {
            name: (*source).to_string(),
            node: node.clone(),
            provider: PROVIDER.to_string(),
            note: String::new(),
        });
        // If the manifest can't be written, closing the recording reports it.
        let _ = self.recorder.update_manifest(|manifest| {
            manifest.sources.extend(facts);
            if let Some(known) = manifest.nodes.iter_mut().find(|known| known.address == *node) {
                known.cassandra = Some(identity.version.clone());
            }
        });
        self.settings()?;
        self.schema()
    }

    /// Reads and records all changing tables; does nothing if only definitions are recorded.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn read(&mut self) -> Result<(), Error> {
        if self.sources == [DEFINITIONS] {
            return Ok(());
        }
        self.tables()?;
        self.pools()?;
        self.caches()
    }

    fn settings(&mut self) -> Result<(), Error> {
        let settings = self.connection.query("SELECT name, value FROM system_views.settings")?;
        let time_ns = self.recorder.clock().now_ns();
        for at in 0..settings.rows.len() {
            let (name, value) = (text(&settings, at, "name"), text(&settings, at, "value"));
            if name == "data_file_directories" {
                self.folders = folders(&value);
            }
            if is_recorded(&name) {
                let source = "system_views.settings";
                self.recorder.append(rows::Setting {
                    time_ns,
                    node: &self.node,
                    setting: &name,
                    value: &value,
                    source,
                });
            }
        }
        Ok(())
    }

    fn schema(&mut self) -> Result<(), Error> {
        for (source, statement) in [
            ("system_schema.keyspaces", "SELECT JSON keyspace_name, replication FROM system_schema.keyspaces"),
            ("system_schema.tables", "SELECT JSON * FROM system_schema.tables"),
            ("system_schema.indexes", "SELECT JSON * FROM system_schema.indexes"),
        ] {
            let found = self.connection.query(statement)?;
            for at in 0..found.rows.len() {
                self.facts(source, &text(&found, at, "[json]"));
            }
        }
        self.columns()
    }

    /// The columns by table and kind, in their order.
    fn columns(&mut self) -> Result<(), Error> {
        let source = "system_schema.columns";
        let found = self.connection.query(
            "SELECT keyspace_name, table_name, column_name, kind, position, clustering_order, type \
             FROM system_schema.columns",
        )?;
        // Columns by keyspace, table and kind, each with its position.
        let mut keys = BTreeMap::<_, Vec<(i64, String)>>::new();
        for at in 0..found.rows.len() {
            let (keyspace, table) = (text(&found, at, "keyspace_name"), text(&found, at, "table_name"));
            let kind = match text(&found, at, "kind").as_str() {
                "partition_key" => "partition_key",
                "clustering" => "clustering",
                "regular" => "columns",
                _ => continue,
            };
            let order = text(&found, at, "clustering_order");
            let order = if order == "none" { String::new() } else { format!(" {order}") };
            let column = format!("{} {}{order}", text(&found, at, "column_name"), text(&found, at, "type"));
            let position = integer(&found, at, "position").unwrap_or(0);
            keys.entry((keyspace, table, kind)).or_default().push((position, column));
        }
        for ((keyspace, table, fact), mut columns) in keys {
            columns.sort();
            let columns: Vec<String> = columns.into_iter().map(|(_, column)| column).collect();
            self.fact(&keyspace, &table, fact, &columns.join(", "), source);
        }
        Ok(())
    }

    /// Turns a row of the schema, as JSON, into facts: one for each of its columns; for an index one in total.
    fn facts(&self, source: &str, json: &str) {
        let Ok(serde_json::Value::Object(row)) = serde_json::from_str(json) else { return };
        let text_of = |name: &str| row.get(name).map_or(String::new(), text_of);
        let (keyspace, table) = (text_of("keyspace_name"), text_of("table_name"));
        if row.contains_key("index_name") {
            let value = format!("{} {}", text_of("kind"), text_of("options"));
            return self.fact(&keyspace, &table, &format!("index {}", text_of("index_name")), &value, source);
        }
        for (name, value) in &row {
            if !["keyspace_name", "table_name", "extensions", "comment"].contains(&name.as_str()) && !value.is_null() {
                self.fact(&keyspace, &table, name, &self::text_of(value), source);
            }
        }
    }

    fn fact(&self, keyspace: &str, table_name: &str, fact: &str, value: &str, source: &str) {
        if is_own(keyspace) {
            return;
        }
        let time_ns = self.recorder.clock().now_ns();
        self.recorder.append(rows::TableFact { time_ns, node: &self.node, keyspace, table_name, fact, value, source });
    }

    fn tables(&mut self) -> Result<(), Error> {
        let mut tables: BTreeMap<(String, String), Figures> = BTreeMap::new();
        for (view, take) in VIEWS {
            let found = match self.connection.query(&format!("SELECT * FROM system_views.{view}")) {
                // Older releases lack some of these columns.
                Err(Error::Refused { .. }) => continue,
                found => found?,
            };
            for at in 0..found.rows.len() {
                let name = (text(&found, at, "keyspace_name"), text(&found, at, "table_name"));
                if !is_own(&name.0) {
                    take(tables.entry(name).or_default(), &found, at);
                }
            }
        }
        let files = self.files();
        let time_ns = self.recorder.clock().now_ns();
        for ((keyspace, table_name), figures) in tables {
            let files = files.get(&(keyspace.clone(), table_name.clone())).copied();
            self.recorder.append(rows::TableSample {
                time_ns,
                node: &self.node,
                keyspace: &keyspace,
                table_name: &table_name,
                sstables: files.map(|files| files.count),
                // Sizes in bytes; the virtual table has only whole MiB.
                live_disk_bytes: files.map(|files| files.bytes).or(figures.row.live_disk_bytes),
                largest_sstable_bytes: files.map(|files| files.largest_bytes).or(figures.row.largest_sstable_bytes),
                largest_sstable_age_s: files.map(|files| files.largest_age_s),
                ..figures.row
            });
        }
        Ok(())
    }

    fn files(&self) -> BTreeMap<(String, String), sstables::Files> {
        let Some(root) = &self.root else { return BTreeMap::new() };
        let within = |folder: &PathBuf| root.join(folder.strip_prefix("/").unwrap_or(folder));
        let folders: Vec<PathBuf> = self.folders.iter().map(within).collect();
        sstables::read(&folders.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }

    fn pools(&mut self) -> Result<(), Error> {
        let found = self.connection.query("SELECT * FROM system_views.thread_pools")?;
        let time_ns = self.recorder.clock().now_ns();
        for at in 0..found.rows.len() {
            let number = |column| integer(&found, at, column);
            self.recorder.append(rows::PoolSample {
                time_ns,
                node: &self.node,
                pool: &text(&found, at, "name"),
                kind: "",
                active: number("active_tasks").unwrap_or(0),
                pending: number("pending_tasks").unwrap_or(0),
                completed: number("completed_tasks").unwrap_or(0),
                blocked: number("blocked_tasks").unwrap_or(0),
                total_blocked: number("blocked_tasks_all_time").unwrap_or(0),
                max_size: number("active_tasks_limit"),
            });
        }
        Ok(())
    }

    fn caches(&mut self) -> Result<(), Error> {
        let found = self.connection.query("SELECT * FROM system_views.caches")?;
        let time_ns = self.recorder.clock().now_ns();
        for at in 0..found.rows.len() {
            let scope = match text(&found, at, "name").as_str() {
                "keys" => "KeyCache",
                "rows" => "RowCache",
                "counters" => "CounterCache",
                "chunks" => "ChunkCache",
                _ => continue,
            };
            for (column, metric, attribute) in [
                ("hit_count", "Hits", "Count"),
                ("request_count", "Requests", "Count"),
                ("size_bytes", "Size", "Value"),
                ("capacity_bytes", "Capacity", "Value"),
            ] {
                if let Some(value) = integer(&found, at, column) {
                    let node = &self.node;
                    self.recorder.append(rows::NodeMetric {
                        time_ns,
                        node,
                        kind: "Cache",
                        scope,
                        metric,
                        attribute,
                        value,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Prefixes of the settings that are recorded, one per line: the same file that the agent uses.
const SETTINGS: &str = include_str!("../../../agent/src/main/resources/io/helenus/agent/settings");

fn is_recorded(setting: &str) -> bool {
    SETTINGS.lines().filter(|line| !line.starts_with('#')).any(|beginning| setting.starts_with(beginning))
}

#[derive(Debug, Default)]
struct Figures {
    row: rows::TableSample<'static>,
}

type Take = fn(&mut Figures, &Rows, usize);

/// The virtual tables with a row for each table, and the function that reads their values.
const VIEWS: [(&str, Take); 9] = [
    ("local_read_latency", |figures, rows, at| figures.row.reads = integer(rows, at, "count")),
    ("local_write_latency", |figures, rows, at| figures.row.writes = integer(rows, at, "count")),
    ("coordinator_read_latency", |figures, rows, at| figures.row.coordinator_reads = integer(rows, at, "count")),
    ("coordinator_write_latency", |figures, rows, at| figures.row.coordinator_writes = integer(rows, at, "count")),
    ("disk_usage", |figures, rows, at| figures.row.live_disk_bytes = mib_as_bytes(rows, at)),
    // These tables exist from 5.0 on.
    ("max_sstable_size", |figures, rows, at| figures.row.largest_sstable_bytes = mib_as_bytes(rows, at)),
    ("max_partition_size", |figures, rows, at| figures.row.max_partition_bytes = mib_as_bytes(rows, at)),
    ("tombstones_per_read", |figures, rows, at| {
        figures.row.tombstones_per_slice_p99 = seen(rows, at).and_then(|()| number(rows, at, "p99th"));
    }),
    ("rows_per_read", |figures, rows, at| {
        figures.row.live_cells_per_slice_p99 = seen(rows, at).and_then(|()| number(rows, at, "p99th"));
    }),
];

/// Whether a histogram has any counts.
fn seen(rows: &Rows, at: usize) -> Option<()> {
    integer(rows, at, "count").filter(|count| *count > 0).map(drop)
}

fn mib_as_bytes(rows: &Rows, at: usize) -> Option<i64> {
    number(rows, at, "mebibytes").map(|mib| (mib * MIB) as i64)
}

fn number(rows: &Rows, at: usize, column: &str) -> Option<f64> {
    match rows.get(at, column) {
        Value::Double(number) => Some(*number).filter(|number| number.is_finite()),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

fn integer(rows: &Rows, at: usize, column: &str) -> Option<i64> {
    number(rows, at, column).map(|number| number as i64)
}

fn text(rows: &Rows, at: usize, column: &str) -> String {
    match rows.get(at, column) {
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// A text without quotes, other values as JSON.
fn text_of(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The setting may be a list, or a single folder.
fn folders(setting: &str) -> Vec<PathBuf> {
    let list = setting.trim_start_matches('[').trim_end_matches(']');
    list.split(',').map(str::trim).filter(|folder| folder.starts_with('/')).map(PathBuf::from).collect()
}

/// Keyspaces that Cassandra creates for itself.
fn is_own(keyspace: &str) -> bool {
    keyspace == "system" || keyspace.starts_with("system_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_recorded_that_the_agent_records() {
        for name in ["concurrent_reads", "memtable_heap_space", "disk_access_mode", "trickle_fsync"] {
            assert!(is_recorded(name), "{name}");
        }
        for name in ["server_encryption_options_keystore_password", "cluster_name", "", "# None"] {
            assert!(!is_recorded(name), "{name}");
        }
    }

    #[test]
    fn folders_are_read_as_they_are_written() {
        assert_eq!(folders("[/a/b, /c]"), [PathBuf::from("/a/b"), PathBuf::from("/c")]);
        assert_eq!(folders("/a"), [PathBuf::from("/a")]);
        assert!(folders("null").is_empty());
    }
}
