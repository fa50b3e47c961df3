//! The trial nodes, which are removed at the end: each has the table, unchanged or with a candidate's change.

use super::schema::Schema;
use super::{Candidate, Error, Options, Progress, TableName};
use helenus_cassandra::cql::Connection;
use helenus_cassandra::target::{self, TargetName};
use helenus_cassandra::{Cancel, Cluster, ClusterOptions, Lifetime, Line, Node, Places, Version};
use helenus_control::{Link, Original, Setting, THROWAWAY};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Not the default ports, so that no client connects to a trial node by mistake.
const NATIVE_PORT: u16 = 19042;
const STORAGE_PORT: u16 = 17000;
/// Timeout of reads: reading a partition full of tombstones takes long.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A trial node. It ends with this process at the latest.
#[derive(Debug)]
pub(super) struct TrialNode {
    pub name: String,
    pub node: Node,
    pub link: Link,
    /// Whether the table's definition has compaction enabled.
    pub compacts: bool,
    cluster: Cluster,
}

impl TrialNode {
    /// Folder of its SSTables.
    pub fn data(&self) -> PathBuf {
        self.node.folder.join("data/data")
    }

    pub fn connect(&self) -> Result<Connection, Error> {
        Connection::open(self.node.address, ANSWER_WITHIN, None)
            .map_err(|source| Error::Ask { name: self.name.clone(), source })
    }

    /// # Errors
    /// [`Error::Ended`], with the end of its log.
    pub fn is_alive(&self) -> Result<(), Error> {
        let alive = helenus_cassandra::process::Process::find(self.node.pid, self.node.start_ticks).is_some();
        if alive {
            return Ok(());
        }
        let log = std::fs::read_to_string(&self.node.log).unwrap_or_default();
        let reason = match log.lines().rfind(|line| line.starts_with("ERROR")) {
            Some(line) => line.to_string(),
            None => "its log has no error; was it killed, or the machine out of memory?".to_string(),
        };
        Err(Error::Ended { name: self.name.clone(), address: self.node.address, reason })
    }

    pub fn end(self) {
        // The agent ends with the node, so it need not be detached first.
        drop(self.cluster);
        drop(self.link);
    }
}

/// Options that all trial nodes of a try share.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub places: &'a Places,
    pub agent: &'static [u8],
    pub version: Version,
    pub options: &'a Options,
    pub original: &'a Original,
    /// Its tokens, if the tokens of the ring matter.
    pub tokens: Vec<i64>,
    pub schema: &'a Schema,
    pub table: &'a TableName,
}

impl Plan<'_> {
    /// Starts a node of its own ring, and creates the table in it, empty and with compactions disabled.
    ///
    /// # Errors
    /// [`Error::Candidate`] if Cassandra refuses the candidate.
    pub fn start(
        &self,
        (cluster, folder): (&str, &Path),
        name: &str,
        candidate: Option<&Candidate>,
        tell: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<TrialNode, Error> {
        let options = ClusterOptions {
            version: self.version,
            heap: self.options.heap.clone(),
            settings: self.settings(),
            jvm_options: [&self.options.jvm_options[..], &[THROWAWAY.to_string()]].concat(),
            native_port: NATIVE_PORT,
            storage_port: STORAGE_PORT,
            data: Some(folder.to_path_buf()),
            lifetime: Lifetime::Tied,
            ..ClusterOptions::new(self.places.clone(), cluster)
        };
        let cluster = Cluster::start(&options, &mut |progress| tell(Progress::Cluster(progress)), cancel)
            .map_err(|error| if cancel.is_cancelled() { Error::Cancelled } else { error.into() })?;
        let node = cluster.nodes()[0].clone();
        let link = Link::open(&target::find(TargetName::Pid(node.pid))?, self.agent)?;
        let mut trial_node = TrialNode { name: name.to_string(), node, link, compacts: true, cluster };
        let mut connection = trial_node.connect()?;
        for statement in self.schema.statements(&self.table.keyspace) {
            connection.query(&statement).map_err(|source| Error::NoTable { source })?;
        }
        if let Some(candidate) = candidate {
            let refused = |source| Error::Candidate { candidate: candidate.name.clone(), source };
            connection.query(&candidate.alter(self.table)).map_err(refused)?;
        }
        let table = self.table.to_string();
        trial_node.compacts = trial_node.link.read_setting(&Setting::compaction(&table))?.value["enabled"] != "false";
        trial_node.link.compact(&table, false)?;
        Ok(trial_node)
    }

    /// Settings for cassandra.yaml: those of the node, then those of a trial node, then the user's.
    fn settings(&self) -> Vec<String> {
        let mut settings: Vec<String> = self
            .original
            .settings
            .iter()
            .filter(|(name, _)| *name != "partitioner" && is_of(name, self.version.line()))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        // Raise the limits at which the node itself would abort a read: reads with many tombstones are what the try measures.
        let patience = ANSWER_WITHIN.as_millis();
        settings.extend(["warn", "failure"].map(|bound| format!("tombstone_{bound}_threshold={}", i32::MAX)));
        settings.extend(["read", "range"].map(|kind| match self.version.line() {
            Line::V4_0 => format!("{kind}_request_timeout_in_ms={patience}"),
            _ => format!("{kind}_request_timeout={patience}ms"),
        }));
        settings.push("auto_snapshot=false".to_string());
        if !self.tokens.is_empty() {
            let tokens: Vec<String> = self.tokens.iter().map(ToString::to_string).collect();
            settings.extend([
                format!("num_tokens={}", tokens.len()),
                "allocate_tokens_for_local_replication_factor=".to_string(),
                format!("initial_token={}", tokens.join(",")),
            ]);
        }
        settings.extend(self.options.settings.iter().cloned());
        settings
    }
}

/// Whether a setting can be given to another node. From 4.1 on nodes also report settings under their names in 4.0.
fn is_of(name: &str, line: Line) -> bool {
    line == Line::V4_0 || !["_in_mb", "_mb_per_sec"].iter().any(|unit| name.ends_with(unit))
}
