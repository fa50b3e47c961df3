//! The commands of `helenus try` to nodes: a snapshot of the user's node, and the actions in its trial nodes.

use crate::{Error, Link};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timeout of a command: a snapshot flushes the table and makes many links if it has many SSTables; an import opens as
/// many.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The JVM option of trial nodes, without which an agent refuses their commands: `TrialCommands.MARK` in the agent.
pub const THROWAWAY: &str = "-Dhelenus.throwaway=true";

/// The properties of a node that its trial nodes must share.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Original {
    /// The release, such as 5.0.9.
    pub release: String,
    pub host_id: Option<String>,
    /// Size of the table's live SSTables.
    pub live_disk_bytes: u64,
    /// The data folders, as the node sees them.
    pub data: Vec<PathBuf>,
    /// Settings by their names in cassandra.yaml.
    pub settings: BTreeMap<String, String>,
    /// The schema rows that define the table; None if they can't be read.
    pub schema: Option<String>,
    /// The user-defined types of the keyspace; None if they can't be read.
    pub types: Option<Vec<UserType>>,
    /// The table's columns and their types; None if they can't be read.
    pub columns: Option<Vec<TypedColumn>>,
}

/// A row of `system_schema.types`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UserType {
    #[serde(rename = "type_name")]
    pub name: String,
    pub field_names: Vec<String>,
    /// Types as CQL writes them.
    pub field_types: Vec<String>,
}

/// The type in a row of `system_schema.columns`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TypedColumn {
    /// The type as CQL writes it.
    #[serde(rename = "type")]
    pub cql_type: String,
}

/// Counts of a table's reads since the node started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ReadCounts {
    pub reads: i64,
    pub read_total_us: i64,
    /// Counts by bucket of Cassandra's EstimatedHistogram, in which 0 has a bucket of its own.
    pub sstables_per_read: Vec<i64>,
    /// Counts in which 0 and 1 share the first bucket.
    pub tombstones_per_slice: Vec<i64>,
    pub live_per_slice: Vec<i64>,
}

/// Progress of trimming a table to the token ranges of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Trimming {
    pub done: bool,
    pub error: Option<String>,
}

impl Link {
    pub fn original(&mut self, table: &str) -> Result<Original, Error> {
        self.ask("snapshot.node", json!({"table": table}))
    }

    /// Makes Cassandra create hard links of a table's SSTables. From 4.1 on Cassandra removes them after `ttl`, whether
    /// this process still runs or not.
    pub fn take_snapshot(&mut self, tag: &str, table: &str, ttl: Duration) -> Result<(), Error> {
        let with = json!({"tag": tag, "table": table, "ttl": format!("{}s", ttl.as_secs())});
        self.patiently(PATIENCE, |link| link.command("snapshot.take", with)).map(drop)
    }

    /// A missing snapshot is no error.
    pub fn clear_snapshot(&mut self, tag: &str, keyspace: &str) -> Result<(), Error> {
        let with = json!({"tag": tag, "keyspace": keyspace});
        self.patiently(PATIENCE, |link| link.command("snapshot.clear", with)).map(drop)
    }

    /// Moves the SSTables of a folder into a table, unchanged.
    pub fn import_sstables(&mut self, table: &str, folder: &Path) -> Result<i64, Error> {
        let with = json!({"table": table, "folder": folder.to_string_lossy()});
        self.patiently(PATIENCE, |link| link.ask("trial.import", with))
    }

    /// Enables or disables a table's automatic compactions; enabled ones begin at once.
    pub fn compact(&mut self, table: &str, on: bool) -> Result<(), Error> {
        self.command("trial.compact", json!({"table": table, "on": on})).map(drop)
    }

    /// Begins to remove token ranges of a table. A range is kept if it begins at one of these tokens; it ends at the
    /// node's next own token.
    pub fn trim(&mut self, table: &str, others: &[String]) -> Result<Trimming, Error> {
        self.ask("trial.trim", json!({"table": table, "others": others}))
    }

    pub fn trimming(&mut self) -> Result<Trimming, Error> {
        self.ask("trial.trimming", json!({}))
    }

    pub fn read_counts(&mut self, table: &str) -> Result<ReadCounts, Error> {
        self.ask("trial.reads", json!({"table": table}))
    }
}
