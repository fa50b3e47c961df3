//! Starts a cluster: all nodes or none.

use std::fs::Permissions;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use crate::addresses::{self, Ports, ReservedAddresses};
use crate::jars::{self, Release};
use crate::java::{self, Java};
use crate::launch::{Folders, Launcher, Plan};
use crate::places::{in_memory, make_private};
use crate::settings::Settings;
use crate::state::{MARKER, Node, Record, Registry, STOP_BOUND, Stopped};
use crate::{Cancel, Error, Places, Progress, Version, cql, jvm_options, process};

/// The most nodes of a cluster; more on one machine would only measure the machine.
const MOST_NODES: usize = 32;
/// Nodes on one machine know each other a few gossip rounds (1 s each) after they run.
const MEETING_BOUND: Duration = Duration::from_secs(60);

/// Whether the nodes outlive the process that started them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// The nodes run until they are stopped, for `helenus up`.
    Detached,
    /// They are killed when the [`Cluster`] is dropped or its process ends, for tests and the lab. Their data is
    /// removed only on drop.
    Tied,
}

/// The nodes to start; [`ClusterOptions::new`] gives one node of the newest release.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    pub places: Places,
    /// The name of the cluster, also for Cassandra's `cluster_name`.
    pub name: String,
    pub version: Version,
    pub nodes: usize,
    /// -Xms and -Xmx of each node, such as "1g".
    pub heap: String,
    /// Further JVM options; they come last and override others.
    pub jvm_options: Vec<String>,
    /// "key=value" for cassandra.yaml; dotted keys reach into maps.
    pub settings: Vec<String>,
    /// The agent's jar, which makes the JVMs track which compiled code depends on which class. Without it, the first
    /// weave deoptimizes all code. None: Cassandra without the jar.
    pub ready: Option<&'static [u8]>,
    /// The first node's address; the other nodes follow it. None: the first free addresses from 127.0.0.1 on.
    pub first_address: Option<Ipv4Addr>,
    pub native_port: u16,
    pub storage_port: u16,
    /// The folder for data, kept when the cluster stops. None: a temporary one.
    pub data: Option<PathBuf>,
    pub lifetime: Lifetime,
    /// The Java installation. None: the best that fits.
    pub java_home: Option<PathBuf>,
    /// How long one node may take until it answers.
    pub start_timeout: Duration,
}

impl ClusterOptions {
    #[must_use]
    pub fn new(places: Places, name: &str) -> Self {
        Self {
            places,
            name: name.to_owned(),
            version: Version::default(),
            nodes: 1,
            heap: "1g".to_owned(),
            jvm_options: Vec::new(),
            settings: Vec::new(),
            ready: None,
            first_address: None,
            native_port: 9042,
            storage_port: 7000,
            data: None,
            lifetime: Lifetime::Detached,
            java_home: None,
            start_timeout: Duration::from_secs(180),
        }
    }

    /// Checks what can be checked before anything is fetched, written or started.
    ///
    /// # Errors [`Error`] that names the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        let inside = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let name = self.name.as_bytes();
        if name.len() > 48 || !name.first().is_some_and(u8::is_ascii_alphabetic) || !name.iter().all(|b| inside(*b)) {
            return Err(Error::BadName { name: self.name.clone() });
        }
        if !(1..=MOST_NODES).contains(&self.nodes) {
            return Err(Error::NodeCount { asked: self.nodes, most: MOST_NODES });
        }
        jvm_options::check_heap(&self.heap)?;
        Settings::check(&self.settings)?;
        match self.jvm_options.iter().find(|option| !option.starts_with('-')) {
            Some(option) => Err(Error::BadJvmOption { given: option.clone() }),
            None => Ok(()),
        }
    }
}

/// A running cluster, in the process that started it.
#[derive(Debug)]
pub struct Cluster {
    registry: Registry,
    record: Record,
    lifetime: Lifetime,
    children: Vec<Child>,
    /// None once the cluster has been stopped or abandoned.
    launcher: Option<Launcher>,
}

impl Cluster {
    /// Starts all nodes, one after the other, and returns when each answers CQL and knows all the
    /// others. On an error, or when cancelled, what was started is killed, temporary data removed
    /// and the name free again; the logs stay.
    ///
    /// # Errors
    /// [`Error`]; a node that ends while starting gives the reason at once.
    pub fn start(options: &ClusterOptions, progress: &mut dyn FnMut(Progress), cancel: &Cancel) -> Result<Self, Error> {
        options.check()?;
        let java = java::for_version(options.version, options.java_home.as_deref())?;
        let release = jars::fetch(&options.places, options.version, progress, cancel)?;
        let (mut cluster, held) = Self::register(options)?;
        match cluster.start_nodes(options, &java, &release, &held.row, progress, cancel) {
            Ok(()) => Ok(cluster),
            Err(error) => {
                // The first error is reported; a failure to clean up follows from it.
                let _ = cluster.discard();
                Err(error)
            }
        }
    }

    /// Has the JVM and the release take the settings and the JVM options of a node, as at its start, without starting it.
    ///
    /// # Errors
    /// [`Error`] with the message of the tool that refuses.
    pub fn rehearse(
        options: &ClusterOptions,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<(), Error> {
        options.check()?;
        let java = java::for_version(options.version, options.java_home.as_deref())?;
        let release = jars::fetch(&options.places, options.version, progress, cancel)?;
        let folder = tempfile::tempdir().map_err(Error::file("make a folder in", &std::env::temp_dir()))?;
        let folders = Folders { home: folder.path().join("node"), logs: folder.path().join("logs") };
        let (ip, seed) = (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
        Plan { options, release: &release, java: &java, ip, seed, folders: &folders }.rehearse(cancel)
    }

    /// Registers the name and the addresses, so that no other start can use them.
    fn register(options: &ClusterOptions) -> Result<(Self, ReservedAddresses), Error> {
        let registry = Registry::new(options.places.clone());
        let _lock = registry.lock()?;
        for record in registry.records()? {
            if record.name == options.name {
                let state = if record.is_alive() { "running or starting" } else { "its nodes are dead" };
                return Err(Error::NameTaken { name: record.name, state });
            }
            if options.data.as_ref().is_some_and(|data| data.canonicalize().is_ok_and(|data| data == record.data)) {
                return Err(Error::DataInUse { path: record.data, name: record.name });
            }
        }
        let ports = Ports { native: options.native_port, storage: options.storage_port };
        let held = addresses::choose(options.first_address, options.nodes, ports, &registry.addresses_taken()?)?;
        let data = data_folder(options)?;
        let addresses =
            held.row.iter().flat_map(|ip| [ports.native, ports.storage].map(|port| SocketAddr::from((*ip, port))));
        let logs = registry.logs(&options.name);
        let record =
            Record::new(&options.name, options.version, data, options.data.is_none(), logs, addresses.collect());
        if record.logs.exists() {
            std::fs::remove_dir_all(&record.logs).map_err(Error::file("remove", &record.logs))?;
        }
        registry.save(&record)?;
        let launcher = match options.lifetime {
            Lifetime::Detached => Launcher::Detached,
            Lifetime::Tied => Launcher::tied(),
        };
        let cluster =
            Self { registry, record, lifetime: options.lifetime, children: Vec::new(), launcher: Some(launcher) };
        Ok((cluster, held))
    }

    fn start_nodes(
        &mut self,
        options: &ClusterOptions,
        java: &Java,
        release: &Release,
        addresses: &[Ipv4Addr],
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let mut joined = Vec::new();
        for (at, ip) in addresses.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let number = at + 1;
            let address = SocketAddr::from((*ip, options.native_port));
            let folder = format!("node{number}");
            let folders = Folders { home: self.record.data.join(&folder), logs: self.record.logs.join(&folder) };
            let plan = Plan { options, release, java, ip: *ip, seed: addresses[0], folders: &folders };
            let command = plan.prepare()?;
            progress(Progress::Starting { address, number, of: addresses.len() });
            let launcher = self.launcher.as_ref().ok_or(Error::Cancelled)?;
            let mut child = launcher.launch(command)?;
            let pid = child.id() as i32;
            // Our own child, not reaped yet: the entry is there even if it has ended.
            let start_ticks = process::stat(pid).map_or(0, |stat| stat.start_ticks);
            self.record.nodes.push(Node {
                number,
                address,
                storage_port: options.storage_port,
                pid,
                start_ticks,
                version: options.version,
                java: java.version.clone(),
                log: folders.log(),
                folder: folders.home.clone(),
            });
            let saved = self.registry.save(&self.record);
            let ready = saved.and_then(|()| plan.wait_ready(&mut child, cancel));
            self.children.push(child);
            progress(Progress::Ready { address, pid, after: ready? });
            joined.push(folders);
        }
        if addresses.len() > 1 {
            progress(Progress::Meeting { nodes: addresses.len() });
            self.meet(cancel)?;
        }
        self.record.complete = true;
        self.registry.save(&self.record)
    }

    /// Waits until every node knows every other.
    fn meet(&self, cancel: &Cancel) -> Result<(), Error> {
        let begun = Instant::now();
        let others = self.record.nodes.len() - 1;
        for node in &self.record.nodes {
            loop {
                if cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let known = match cql::identify(node.address, Duration::from_secs(2)) {
                    Ok(identity) => identity.peers.len(),
                    // Without a login the node does not answer this query.
                    Err(cql::Error::NeedsPassword { .. } | cql::Error::Closed { .. }) => others,
                    Err(_) => 0,
                };
                if known >= others {
                    break;
                }
                if begun.elapsed() > MEETING_BOUND {
                    return Err(Error::NotMet {
                        address: node.address,
                        known,
                        others,
                        waited: MEETING_BOUND,
                        log: node.log.clone(),
                    });
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// The nodes in the order of their start.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.record.nodes
    }

    /// The folder of all nodes' folders.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.record.data
    }

    /// Stops the nodes as [`Registry::down`] does.
    ///
    /// # Errors
    /// As [`Registry::down`].
    pub fn stop(mut self, keep_data: bool, progress: &mut dyn FnMut(Progress)) -> Result<Stopped, Error> {
        let stopped = self.registry.stop(&self.record, keep_data, STOP_BOUND, progress);
        self.reap();
        stopped
    }

    /// Kills the nodes and removes what is temporary.
    fn discard(&mut self) -> Result<Stopped, Error> {
        let result = self.registry.stop(&self.record, false, Duration::ZERO, &mut |_| {});
        self.reap();
        result
    }

    fn reap(&mut self) {
        self.launcher = None;
        for mut child in self.children.drain(..) {
            // The process has ended by now, or the failure was already reported.
            let _ = child.try_wait();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.lifetime == Lifetime::Tied && self.launcher.is_some() {
            // There is nowhere to report the error; the end of the launcher kills the rest.
            let _ = self.discard();
        }
    }
}

/// The folder for all nodes, marked as ours.
fn data_folder(options: &ClusterOptions) -> Result<PathBuf, Error> {
    let folder = match &options.data {
        Some(given) => {
            make_private(given)?;
            let folder = given.canonicalize().map_err(Error::file("find", given))?;
            let empty = std::fs::read_dir(&folder).map_err(Error::file("read the folder", &folder))?.next().is_none();
            if !empty && !folder.join(MARKER).exists() {
                return Err(Error::DataForeign { path: folder });
            }
            folder
        }
        None => {
            let mut parent = std::env::temp_dir();
            if in_memory(&parent) {
                // In a memory file system no disk would be measured, and data would take memory from the heap.
                parent = options.places.cache.join("tmp");
                make_private(&parent)?;
            }
            let prefix = format!("helenus-{}-", options.name);
            let folder =
                tempfile::Builder::new().prefix(&prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(&parent);
            folder.map_err(Error::file("make a folder in", &parent))?.keep()
        }
    };
    let marker = folder.join(MARKER);
    std::fs::write(&marker, format!("{}\n", options.name)).map_err(Error::file("write", &marker))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(change: impl Fn(&mut ClusterOptions)) -> (tempfile::TempDir, Error) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { cache: folder.path().join("cache"), state: folder.path().join("state") };
        let mut options = ClusterOptions::new(places, "troy");
        change(&mut options);
        let error = Cluster::start(&options, &mut |step| panic!("{step:?}"), &Cancel::new()).unwrap_err();
        (folder, error)
    }

    #[test]
    fn bad_options_are_refused_before_anything_is_done() {
        for name in ["", "1a", "a b", "a/b", "..", "-a", &"a".repeat(49)] {
            assert!(matches!(start(|o| o.name = name.to_owned()).1, Error::BadName { .. }), "{name}");
        }
        assert!(matches!(start(|o| o.nodes = 0).1, Error::NodeCount { .. }));
        assert!(matches!(start(|o| o.settings = vec!["a".into()]).1, Error::BadSetting { .. }));
        assert!(matches!(start(|o| o.heap = "much".into()).1, Error::BadHeap { .. }));
        assert!(matches!(start(|o| o.jvm_options = vec!["Xmx1g".into()]).1, Error::BadJvmOption { .. }));
        let (folder, error) = start(|o| o.java_home = Some("/no/such/java".into()));
        assert!(matches!(error, Error::BadJava { .. }));
        assert!(!folder.path().join("state").exists());
    }

    #[test]
    fn foreign_data_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("thesis.txt"), "").unwrap();
        let places = Places { cache: folder.path().join("cache"), state: folder.path().join("state") };
        let mut options = ClusterOptions::new(places, "troy");
        options.data = Some(folder.path().to_owned());
        assert!(matches!(data_folder(&options).unwrap_err(), Error::DataForeign { .. }));
        options.data = Some(folder.path().join("new"));
        let made = data_folder(&options).unwrap();
        assert_eq!(data_folder(&options).unwrap(), made, "our own may be used again");
    }
}
