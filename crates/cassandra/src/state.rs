//! The running clusters, stored in files: what `ps` shows and `down` stops, long after the process that started them
//! has ended.

use std::collections::HashSet;
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::journal::{Journal, Journaled};
use crate::places::make_private;
use crate::process::{self, Process};
use crate::{Error, Places, Progress, Version, cql};

/// How long a node may take to stop before it is killed. Cassandra drains in two to five seconds.
pub const STOP_BOUND: Duration = Duration::from_secs(30);

/// A node that was started here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// From 1, in order of their start.
    pub number: usize,
    /// CQL address.
    pub address: SocketAddr,
    pub storage_port: u16,
    pub pid: i32,
    /// Start time of its process (field 22 of /proc/PID/stat), because the pid may be reused.
    pub start_ticks: u64,
    pub version: Version,
    /// The full Java version it runs on.
    pub java: String,
    /// Its configuration, data and temporary files.
    pub folder: PathBuf,
    /// Its system.log.
    pub log: PathBuf,
}

impl Node {
    fn process(&self) -> Option<Process> {
        Process::find(self.pid, self.start_ticks)
    }
}

/// The registry's entry of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    pub version: Version,
    /// Seconds since the Unix epoch.
    pub created_s: u64,
    /// The folder of all its nodes' folders.
    pub data: PathBuf,
    /// Whether `data` is removed when the cluster is stopped.
    pub temporary: bool,
    pub logs: PathBuf,
    /// The process that starts the cluster: pid and start time.
    starter: (i32, u64),
    /// All nodes have answered.
    pub complete: bool,
    /// Addresses that its nodes have or will have, storage ports included.
    addresses: Vec<SocketAddr>,
    pub nodes: Vec<Node>,
}

/// The current state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    /// The node answers CQL.
    Up,
    /// Its process lives but does not answer CQL.
    Silent,
    /// Its process is stopped by a signal (SIGSTOP).
    Suspended,
    /// Its process has ended.
    Dead,
}

/// A cluster and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    #[serde(flatten)]
    pub record: Record,
    /// One per node of the record, in its order.
    pub states: Vec<NodeState>,
    /// Whether it is still starting.
    pub starting: bool,
}

impl Status {
    #[must_use]
    pub fn word(&self) -> &'static str {
        match () {
            () if self.starting => "starting",
            () if self.states.is_empty() || self.states.iter().all(|state| *state == NodeState::Dead) => "dead",
            () if self.states.iter().all(|state| *state == NodeState::Up) => "up",
            () => "partly up",
        }
    }
}

/// The files that a stopped cluster left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    pub name: String,
    /// Its data folder; None if it was temporary and is gone.
    pub data: Option<PathBuf>,
    pub logs: PathBuf,
}

impl Journaled for Record {
    const FOLDER: &'static str = "clusters";
    const WAY_OUT: &'static str = "if no node of it runs, delete it";

    fn id(&self) -> String {
        self.name.clone()
    }
}

/// All the clusters of a user.
#[derive(Debug, Clone)]
pub struct Registry {
    places: Places,
    journal: Journal<Record>,
}

impl Registry {
    #[must_use]
    pub fn new(places: Places) -> Self {
        Self { journal: Journal::within(&places.state), places }
    }

    /// The logs of a cluster's nodes; they stay after it is stopped, until the next of its name.
    pub(crate) fn logs(&self, name: &str) -> PathBuf {
        self.places.state.join("logs").join(name)
    }

    /// Removes the logs of a cluster that is stopped.
    ///
    /// # Errors
    /// [`Error::File`]; that there are none is no error.
    pub fn remove_logs(&self, name: &str) -> Result<(), Error> {
        let logs = self.logs(name);
        match std::fs::remove_dir_all(&logs) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", &logs)(error)),
            _ => Ok(()),
        }
    }

    /// All clusters with the state of their nodes, by name.
    ///
    /// # Errors
    /// [`Error::Journal`].
    pub fn list(&self) -> Result<Vec<Status>, Error> {
        Ok(self.records()?.into_iter().map(status_of).collect())
    }

    pub(crate) fn records(&self) -> Result<Vec<Record>, Error> {
        Ok(self.journal.entries()?)
    }

    /// Lets one process at a time choose names and addresses; held until the file is dropped.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        make_private(&self.places.state)?;
        let path = self.places.state.join(".lock");
        let file = File::create(&path).map_err(Error::file("make the lock", &path))?;
        // SAFETY: plain system call on a descriptor that outlives it. Held for milliseconds only.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
            0 => Ok(file),
            _ => Err(Error::file("lock", &path)(std::io::Error::last_os_error())),
        }
    }

    pub(crate) fn save(&self, record: &Record) -> Result<(), Error> {
        Ok(self.journal.write(record)?)
    }

    pub(crate) fn remove(&self, record: &Record) -> Result<(), Error> {
        Ok(self.journal.remove(record)?)
    }

    /// Stops the cluster `name`: asks its nodes to end (SIGTERM), kills those that do not within
    /// [`STOP_BOUND`], forgets it, and removes its data if that is temporary and `keep_data` is
    /// false. Only processes that were started here are touched. Dead nodes are no error.
    ///
    /// # Errors
    /// [`Error::NoSuchCluster`]; [`Error::CannotStop`] when a node belongs to another user.
    pub fn down(&self, name: &str, keep_data: bool, progress: &mut dyn FnMut(Progress)) -> Result<Stopped, Error> {
        let records = self.records()?;
        let known = || match records.iter().map(|record| record.name.as_str()).collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => "none is running".to_owned(),
            names => format!("there is {names}"),
        };
        let record = records.iter().find(|record| record.name == name);
        let record = record.ok_or_else(|| Error::NoSuchCluster { name: name.to_owned(), known: known() })?;
        self.stop(record, keep_data, STOP_BOUND, progress)
    }

    /// [`Registry::down`] for every cluster.
    ///
    /// # Errors
    /// The first failure; nodes before it are stopped.
    pub fn down_all(&self, keep_data: bool, progress: &mut dyn FnMut(Progress)) -> Result<Vec<Stopped>, Error> {
        self.records()?.iter().map(|record| self.stop(record, keep_data, STOP_BOUND, progress)).collect()
    }

    /// A `bound` of zero kills at once.
    pub(crate) fn stop(
        &self,
        record: &Record,
        keep_data: bool,
        bound: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stopped, Error> {
        let running: Vec<_> = record.nodes.iter().filter_map(|node| Some((node, node.process()?))).collect();
        let refused = |node: &Node, source| Error::CannotStop { address: node.address, pid: node.pid, source };
        if !bound.is_zero() {
            for (node, process) in &running {
                progress(Progress::Stopping { address: node.address, pid: node.pid });
                process.signal(libc::SIGTERM).map_err(|error| refused(node, error))?;
                // A stopped process acts on no other signal.
                process.signal(libc::SIGCONT).map_err(|error| refused(node, error))?;
            }
        }
        let begun = std::time::Instant::now();
        for (node, process) in &running {
            if !process.wait(bound.saturating_sub(begun.elapsed())) {
                if !bound.is_zero() {
                    progress(Progress::Killing { address: node.address, pid: node.pid, after: bound });
                }
                process.signal(libc::SIGKILL).map_err(|error| refused(node, error))?;
                if !process.wait(Duration::from_secs(10)) {
                    let source = std::io::Error::other("it does not end even when killed (it hangs in the kernel)");
                    return Err(refused(node, source));
                }
            }
            progress(Progress::Stopped { address: node.address, pid: node.pid });
        }
        self.forget(record, keep_data)
    }

    fn forget(&self, record: &Record, keep_data: bool) -> Result<Stopped, Error> {
        let goes = record.temporary && !keep_data;
        if goes && record.data.join(MARKER).exists() {
            std::fs::remove_dir_all(&record.data).map_err(Error::file("remove", &record.data))?;
        }
        self.remove(record)?;
        Ok(Stopped { name: record.name.clone(), data: (!goes).then(|| record.data.clone()), logs: record.logs.clone() })
    }

    /// Addresses of running and starting clusters.
    pub(crate) fn addresses_taken(&self) -> Result<HashSet<SocketAddr>, Error> {
        let alive = |record: &Record| record.starts() || record.nodes.iter().any(|node| node.process().is_some());
        Ok(self.records()?.into_iter().filter(alive).flat_map(|record| record.addresses).collect())
    }
}

/// A file in every data folder made here: nothing without it is ever removed or built upon.
pub(crate) const MARKER: &str = ".helenus-cluster";

impl Record {
    pub(crate) fn new(
        name: &str,
        version: Version,
        data: PathBuf,
        temporary: bool,
        logs: PathBuf,
        addresses: Vec<SocketAddr>,
    ) -> Self {
        let own = std::process::id() as i32;
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            name: name.to_owned(),
            version,
            created_s: since.map_or(0, |since| since.as_secs()),
            data,
            temporary,
            logs,
            starter: (own, process::stat(own).map_or(0, |stat| stat.start_ticks)),
            complete: false,
            addresses,
            nodes: Vec::new(),
        }
    }

    /// Whether the cluster is still being started.
    fn starts(&self) -> bool {
        !self.complete && Process::find(self.starter.0, self.starter.1).is_some()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.starts() || self.nodes.iter().any(|node| node.process().is_some())
    }
}

fn status_of(record: Record) -> Status {
    let state = |node: &Node| match (node.process(), process::stat(node.pid)) {
        (None, _) | (_, None) => NodeState::Dead,
        (_, Some(stat)) if matches!(stat.state, 'T' | 't') => NodeState::Suspended,
        _ if cql::answers(node.address, Duration::from_secs(1)) => NodeState::Up,
        _ => NodeState::Silent,
    };
    let states = record.nodes.iter().map(state).collect();
    Status { starting: record.starts(), states, record }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> (tempfile::TempDir, Registry) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { cache: folder.path().join("cache"), state: folder.path().join("state") };
        (folder, Registry::new(places))
    }

    /// A record of one node whose process is `child`.
    fn record(registry: &Registry, child: &std::process::Child, ticks: u64) -> Record {
        let data = registry.places.cache.join("data");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(data.join(MARKER), "").unwrap();
        let address = "127.0.10.230:9042".parse().unwrap();
        let mut record =
            Record::new("troy", Version::default(), data.clone(), true, registry.logs("troy"), vec![address]);
        record.complete = true;
        record.nodes.push(Node {
            number: 1,
            address,
            storage_port: 7000,
            pid: child.id() as i32,
            start_ticks: ticks,
            version: Version::default(),
            java: "17".into(),
            folder: data,
            log: "/log".into(),
        });
        registry.save(&record).unwrap();
        record
    }

    fn sleeper() -> (std::process::Child, u64) {
        let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ticks = process::stat(child.id() as i32).unwrap().start_ticks;
        (child, ticks)
    }

    #[test]
    fn a_record_comes_back_as_it_was_saved() {
        let (_folder, registry) = registry();
        assert!(registry.list().unwrap().is_empty());
        let (mut child, ticks) = sleeper();
        let record = record(&registry, &child, ticks);
        let status = registry.list().unwrap().remove(0);
        assert_eq!(
            (&status.record, status.states.as_slice(), status.word()),
            (&record, &[NodeState::Silent][..], "partly up")
        );
        assert!(registry.addresses_taken().unwrap().contains(&record.addresses[0]));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(registry.list().unwrap()[0].word(), "dead");
        assert!(registry.addresses_taken().unwrap().is_empty());
    }

    #[test]
    fn down_stops_even_a_suspended_process_and_removes_temporary_data() {
        let (_folder, registry) = registry();
        let (mut child, ticks) = sleeper();
        let record = record(&registry, &child, ticks);
        Process::find(record.nodes[0].pid, ticks).unwrap().signal(libc::SIGSTOP).unwrap();
        let mut reported = Vec::new();
        let stopped = registry.down("troy", false, &mut |step| reported.push(step)).unwrap();
        assert_eq!(stopped.data, None);
        assert!(!record.data.exists() && registry.list().unwrap().is_empty());
        assert!(matches!(reported[..], [Progress::Stopping { .. }, Progress::Stopped { .. }]), "{reported:?}");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(libc::SIGTERM));
    }

    #[test]
    fn down_keeps_data_when_asked() {
        let (_folder, registry) = registry();
        let (mut child, ticks) = sleeper();
        let record = record(&registry, &child, ticks);
        let stopped = registry.down("troy", true, &mut |_| {}).unwrap();
        assert_eq!(stopped.data.as_ref(), Some(&record.data));
        assert!(record.data.exists());
        child.wait().unwrap();
    }

    #[test]
    fn a_reused_pid_is_left_alone() {
        let (_folder, registry) = registry();
        let (mut child, ticks) = sleeper();
        record(&registry, &child, ticks - 1);
        assert_eq!(registry.list().unwrap()[0].states, [NodeState::Dead]);
        registry.down("troy", false, &mut |_| {}).unwrap();
        assert!(child.try_wait().unwrap().is_none(), "it is another process and must live");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn data_without_our_marker_is_never_removed() {
        let (_folder, registry) = registry();
        let (mut child, ticks) = sleeper();
        let record = record(&registry, &child, ticks);
        std::fs::remove_file(record.data.join(MARKER)).unwrap();
        registry.down("troy", false, &mut |_| {}).unwrap();
        assert!(record.data.exists());
        child.wait().unwrap();
    }

    #[test]
    fn an_unknown_name_says_what_there_is() {
        let (_folder, registry) = registry();
        let error = registry.down("sparta", false, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("none is running"), "{error}");
        let (mut child, ticks) = sleeper();
        record(&registry, &child, ticks);
        let error = registry.down("sparta", false, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("there is troy"), "{error}");
        registry.down_all(false, &mut |_| {}).unwrap();
        child.wait().unwrap();
    }
}
