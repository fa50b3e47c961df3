use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Version;

/// Errors of local clusters. Every message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("no place for files: neither {variable} nor HOME is set; set one of them to a folder of yours")]
    NoHome { variable: &'static str },
    #[error("Cassandra {asked:?} is not supported; give one of {supported}, or an exact release of them such as 5.0.3")]
    UnknownVersion { asked: String, supported: String },
    #[error(
        "Cassandra {version} needs Java {needs}, and {found}; install one ({install}) or name its folder in HELENUS_JAVA_HOME"
    )]
    NoJava { version: Version, needs: String, found: String, install: String },
    #[error("{} is no Java installation: {why}", home.display())]
    BadJava { home: PathBuf, why: String },
    #[error(
        "Maven is needed to fetch Cassandra {version}, and there is no mvn on the PATH; install it (Debian, Ubuntu: apt install maven)"
    )]
    NoMaven { version: Version },
    #[error("there is no Cassandra {version} in the repositories that Maven knows; Maven said:\n{output}")]
    NoSuchRelease { version: Version, output: String },
    #[error(
        "Maven could not reach its repository to fetch Cassandra {version}; check the network and the proxy in ~/.m2/settings.xml; Maven said:\n{output}"
    )]
    NoNetwork { version: Version, output: String },
    #[error("Maven failed to fetch Cassandra {version}; it said:\n{output}")]
    Maven { version: Version, output: String },
    #[error(
        "there is no SSTable under {}: a folder with data has KEYSPACE/TABLE-ID/…-Data.db in it; one that is encrypted must be \
         unlocked before, and other users' files take their rights", folder.display()
    )]
    NoSstables { folder: PathBuf },
    #[error("cancelled")]
    Cancelled,
    #[error("{name:?} cannot name a cluster: use letters, digits, '-' and '_', at most 48 of them, a letter first")]
    BadName { name: String },
    #[error(
        "a cluster named {name:?} is there already ({state}); stop it with `helenus down {name}` or give this one another name"
    )]
    NameTaken { name: String, state: &'static str },
    #[error("{} belongs to the cluster {name:?}; stop that first, or give another folder", path.display())]
    DataInUse { path: PathBuf, name: String },
    #[error("{} holds files that Helenus did not put there; give an empty or a new folder", path.display())]
    DataForeign { path: PathBuf },
    #[error("there is no cluster named {name:?}; {known}")]
    NoSuchCluster { name: String, known: String },
    #[error("a cluster needs between 1 and {most} nodes, not {asked}")]
    NodeCount { asked: usize, most: usize },
    #[error("{0} is no loopback address; local nodes run on 127.0.0.0/8 only")]
    NotLoopback(IpAddr),
    #[error("{nodes} addresses from {first} on do not fit below 127.255.255.255; start lower")]
    NoRoom { first: IpAddr, nodes: usize },
    #[error("port {} on {} is in use by {by}; stop it, or give other ports or another address", address.port(), address.ip())]
    PortInUse { address: SocketAddr, by: String },
    #[error("cannot listen on {address}: {source}")]
    CannotListen { address: SocketAddr, source: io::Error },
    #[error("no {nodes} neighbouring loopback addresses are free on ports {native_port} and {storage_port}; port {} on {} is in use by {by}; stop it or give other ports", in_use.port(), in_use.ip())]
    NoFreeAddresses { nodes: usize, native_port: u16, storage_port: u16, in_use: SocketAddr, by: String },
    #[error(
        "{given:?} is no setting: {why}; write key=value, for example concurrent_reads=64 or memtable.configurations.default.class_name=TrieMemtable"
    )]
    BadSetting { given: String, why: String },
    #[error("{given:?} is no heap size: write a number and k, m or g, for example 512m or 2g")]
    BadHeap { given: String },
    #[error("{given:?} is no JVM option: it must begin with '-'")]
    BadJvmOption { given: String },
    #[error("the JVM does not start with {given}: {why}")]
    JvmRefuses { given: String, why: String },
    #[error("Cassandra {version} does not take its settings: {why}")]
    SettingsRefused { version: Version, why: String },
    #[error("cannot start {}: {source}", program.display())]
    Spawn { program: PathBuf, source: io::Error },
    #[error("the node on {address} ended while starting ({how}):\n{reason}\nIts log: {}", log.display())]
    NodeDied { address: SocketAddr, how: String, reason: String, log: PathBuf },
    #[error("the node on {address} did not answer within {} s; the last of its log:\n{last}\nIts log: {}", waited.as_secs(), log.display())]
    NodeHangs { address: SocketAddr, waited: Duration, last: String, log: PathBuf },
    #[error("the nodes did not find each other within {} s: {address} knows {known} of {others} others; its log: {}", waited.as_secs(), log.display())]
    NotMet { address: SocketAddr, known: usize, others: usize, waited: Duration, log: PathBuf },
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    #[error("cannot stop the node on {address} (PID {pid}): {source}; stop it as the user who started it")]
    CannotStop { address: SocketAddr, pid: i32, source: io::Error },
}

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }
}
