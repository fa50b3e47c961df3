//! A running node of any user: its process, and the facts that can be read from outside.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::Serialize;

use crate::foreign::{read_memory_of, read_proc};
use crate::network;
use crate::process;
use crate::sockets::{self, Listener};

/// How a target is named on a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetName {
    Pid(i32),
    /// The process that listens there on this machine.
    Address(SocketAddr),
}

/// Why there is no such target.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("there is no process {pid}; `helenus ps` lists local nodes")]
    NoProcess { pid: i32 },
    #[error("nobody listens on {address} on this machine; {}", elsewhere(apart))]
    NobodyListens {
        address: SocketAddr,
        /// Nodes of this machine in other network namespaces, such as containers.
        apart: Vec<i32>,
    },
    #[error(
        "{address} belongs to a process of user {user}, which this user may not look into; run as {}",
        as_whom(user)
    )]
    NoPermissionForAddress { address: SocketAddr, user: String },
    #[error("process {pid} belongs to user {user} and may not be looked into; run as {}", as_whom(user))]
    NoPermission { pid: i32, user: String },
    #[error(
        "the process behind {address} could not be found: it is in another PID namespace, or it has just ended; give its --pid"
    )]
    Hidden { address: SocketAddr },
    #[error("cannot look for the process behind {address}: {source}")]
    Unsearched { address: SocketAddr, source: std::io::Error },
    #[error("cannot read /proc/{pid}/{file}: {source}")]
    Unreadable { pid: i32, file: &'static str, source: std::io::Error },
}

/// The users who may inspect a process: its own and root, each once.
pub(crate) fn as_whom(user: &str) -> String {
    if user == "root" { "root".to_string() } else { format!("{user} or as root") }
}

/// A process and its facts at the time of reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    pub pid: i32,
    /// Field 22 of /proc/PID/stat; with the pid it names this process for good.
    pub start_ticks: u64,
    /// Its effective user and group.
    pub uid: u32,
    pub gid: u32,
    pub user: String,
    /// The kernel's short name of the process.
    pub command: String,
    /// Whether it runs a Java virtual machine, and whose.
    pub vm: Vm,
    /// The class or jar it was started with.
    pub main_class: Option<String>,
    /// The value of -Xmx, such as "1g".
    pub heap: Option<String>,
    pub is_cassandra: bool,
    /// CQL address of a Cassandra: the requested address, else its port 9042, else a port of its command line. In the
    /// process's own network, which may be another one ([`network`]).
    ///
    /// [`network`]: crate::network
    pub cql: Option<SocketAddr>,
    /// All it listens on.
    pub listens: Vec<SocketAddr>,
    /// The pid in its innermost PID namespace.
    pub inner_pid: i32,
    #[serde(skip)]
    pub arguments: Vec<String>,
}

/// A Java virtual machine, recognized by its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vm {
    HotSpot,
    OpenJ9,
    None,
}

/// Finds the process and reads its facts. A process that is no JVM is found too: what to make of that
/// is the caller's.
///
/// # Errors
/// [`Error`]: no process listens there, or this user may not see it.
pub fn find(which: TargetName) -> Result<Target, Error> {
    match which {
        TargetName::Pid(pid) => inspect(pid, None),
        TargetName::Address(address) => inspect(owner(address)?, Some(address)),
    }
}

/// The Cassandra nodes on this machine, each with its facts or the reason why it could not be inspected.
#[must_use]
pub fn nodes() -> Vec<Result<Target, Error>> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|process| process.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let line = read_memory_of(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').any(|part| CASSANDRA_MAINS.contains(&part))
    })
    .map(|pid| find(TargetName::Pid(pid)))
    // Another program may have the name among its arguments, or have ended.
    .filter(|found| match found {
        Ok(target) => target.is_cassandra,
        Err(error) => !matches!(error, Error::NoProcess { .. }),
    })
    .collect()
}

/// Nodes of this machine in network namespaces of their own, where they may have any address.
fn apart() -> Vec<i32> {
    let pids = nodes().into_iter().flatten().map(|target| target.pid);
    pids.filter(|pid| network::is_apart(*pid).unwrap_or(false)).collect()
}

/// Where else a node may be.
fn elsewhere(apart: &[i32]) -> String {
    match apart {
        [] => "`helenus doctor` lists the nodes of this machine, and `helenus up` starts one".to_string(),
        [pid] => format!(
            "a Cassandra runs in a network namespace of its own (a container?) and may have that address there: name it by --pid {pid}"
        ),
        pids => {
            let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
            format!(
                "Cassandras run in network namespaces of their own (containers?), and one may have that address there: name it by --pid, one of {}",
                pids.join(", ")
            )
        }
    }
}

fn owner(address: SocketAddr) -> Result<i32, Error> {
    let serving: Vec<Listener> = sockets::listeners().into_iter().filter(|listener| listener.serves(address)).collect();
    // The most specific listener gets the connections: an address of its own before a wildcard.
    let best = serving.iter().find(|listener| !listener.address.ip().is_unspecified()).or(serving.first());
    let best = best.ok_or_else(|| Error::NobodyListens { address, apart: apart() })?;
    let owners =
        sockets::owners(&HashSet::from([best.inode])).map_err(|source| Error::Unsearched { address, source })?;
    match owners.pids.first() {
        Some(pid) => Ok(*pid),
        None if owners.hidden => Err(Error::NoPermissionForAddress { address, user: process::user_name(best.uid) }),
        None => Err(Error::Hidden { address }),
    }
}

fn inspect(pid: i32, asked: Option<SocketAddr>) -> Result<Target, Error> {
    let gone = || Error::NoProcess { pid };
    let unread = |file: &'static str, source: io::Error| match source.raw_os_error() {
        // The second case means that it ended while it was read.
        Some(libc::ENOENT | libc::ESRCH) => gone(),
        _ => Error::Unreadable { pid, file, source },
    };
    let read = |file| read_proc(format!("/proc/{pid}/{file}")).map_err(|source| unread(file, source));
    let stat = process::parse_stat(&read("stat")?).ok_or_else(gone)?;
    let status = read("status")?;
    let (uid, gid) = (number(&status, "Uid:", 1).ok_or_else(gone)?, number(&status, "Gid:", 1).ok_or_else(gone)?);
    let user = process::user_name(uid);
    let no_permission = |error: Error| match error {
        Error::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            Error::NoPermission { pid, user: user.clone() }
        }
        error => error,
    };
    let cmdline =
        read_memory_of(format!("/proc/{pid}/cmdline")).map_err(|source| no_permission(unread("cmdline", source)))?;
    let maps = read("maps").map_err(no_permission)?;
    let held =
        sockets::socket_inodes(pid).map_err(|source| no_permission(Error::Unreadable { pid, file: "fd", source }))?;
    let arguments: Vec<String> = cmdline.split('\0').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let vm = vm_of(&maps);
    let line = if vm == Vm::None { JavaLine::default() } else { JavaLine::read(&arguments) };
    let is_cassandra = line.main.as_deref().is_some_and(|main| CASSANDRA_MAINS.contains(&main));
    let mut listens: Vec<SocketAddr> = sockets::listeners_near(pid)
        .into_iter()
        .filter(|listener| held.contains(&listener.inode))
        .map(|listener| listener.address)
        .collect();
    listens.sort_unstable();
    listens.dedup();
    Ok(Target {
        pid,
        start_ticks: stat.start_ticks,
        uid,
        gid,
        command: read_proc(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned(),
        vm,
        cql: if is_cassandra { cql_address(asked, &listens, &arguments) } else { None },
        main_class: line.main,
        heap: line.heap,
        is_cassandra,
        listens,
        inner_pid: inner_pid(&status).unwrap_or(pid),
        arguments,
        user,
    })
}

/// Cassandra's main class, and the class that wraps it in DataStax's and k8ssandra's images.
const CASSANDRA_MAINS: [&str; 3] =
    ["org.apache.cassandra.service.CassandraDaemon", "com.datastax.bdp.DseModule", "io.k8ssandra.CassandraDaemon"];

impl Target {
    /// Whether the process number still belongs to the process that was read.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        process::stat(self.pid)
            .is_some_and(|stat| stat.start_ticks == self.start_ticks && !matches!(stat.state, 'Z' | 'X'))
    }

    /// Whether its JVM was started so that its first probe, gate or executor does not make it throw its compiled code
    /// away: with the agent, or with a debugger's. Of other agents that may change classes only the JVM knows.
    #[must_use]
    pub fn was_started_ready(&self) -> bool {
        started_ready(&self.arguments)
    }

    /// Its root folder as seen from here; it may be in another mount namespace.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        format!("/proc/{}/root", self.pid).into()
    }
}

fn started_ready(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| {
        argument.starts_with("-agentlib:jdwp")
            || argument.strip_prefix("-javaagent:").is_some_and(|agent| {
                let (jar, options) = agent.split_once('=').unwrap_or((agent, ""));
                options == "ready" || jar.ends_with("helenus-agent.jar")
            })
    })
}

/// The `at`th number of a line of /proc/PID/status.
fn number(status: &str, label: &str, at: usize) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix(label))?.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// The last of NSpid: one pid per namespace, from ours inwards.
fn inner_pid(status: &str) -> Option<i32> {
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_ascii_whitespace().last()?.parse().ok()
}

fn vm_of(maps: &str) -> Vm {
    let maps_library = |name: &str| maps.lines().any(|line| line.trim_end_matches(" (deleted)").ends_with(name));
    match () {
        // OpenJ9 has a libjvm.so, too, which only forwards.
        () if maps.contains("/libj9vm") => Vm::OpenJ9,
        () if maps_library("/libjvm.so") => Vm::HotSpot,
        () => Vm::None,
    }
}

/// The parts of a java command line that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
struct JavaLine {
    main: Option<String>,
    heap: Option<String>,
    /// Options of the JVM itself, without system properties, which can hold secrets.
    options: Vec<String>,
}

/// The options of the JVM itself among the arguments of a process, without system properties.
#[must_use]
pub fn jvm_options(arguments: &[String]) -> Vec<String> {
    JavaLine::read(arguments).options
}

impl JavaLine {
    /// Reads options as the `java` launcher does (its manual page): some take the next argument
    /// as their value, `-jar` and `-m` bring the main class, else the first argument that is no
    /// option is it.
    fn read(arguments: &[String]) -> Self {
        const WITH_VALUE: [&str; 13] = [
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--add-opens",
            "--add-exports",
            "--add-reads",
            "--patch-module",
            "--limit-modules",
            "--enable-native-access",
        ];
        let mut line = Self::default();
        let mut rest = arguments.iter().skip(1);
        while let Some(argument) = rest.next() {
            if argument.starts_with("-X") {
                line.options.push(argument.clone());
            }
            if matches!(argument.as_str(), "-jar" | "-m" | "--module") {
                line.main = rest.next().cloned();
                break;
            }
            if let Some(heap) = argument.strip_prefix("-Xmx").or_else(|| argument.strip_prefix("-XX:MaxHeapSize=")) {
                line.heap = Some(heap.to_owned());
            } else if WITH_VALUE.contains(&argument.as_str()) {
                rest.next();
            } else if !argument.starts_with(['-', '@']) {
                line.main = Some(argument.clone());
                break;
            }
        }
        line
    }
}

fn cql_address(asked: Option<SocketAddr>, listens: &[SocketAddr], arguments: &[String]) -> Option<SocketAddr> {
    const DEFAULT_PORT: u16 = 9042;
    if asked.is_some() {
        return asked;
    }
    let named = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("-Dcassandra.native_transport_port=")?.parse::<u16>().ok());
    let port = named.unwrap_or(DEFAULT_PORT);
    let address = listens.iter().find(|address| address.port() == port)?;
    // A wildcard is no address to connect to.
    Some(if address.ip().is_unspecified() { SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port) } else { *address })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    #[test]
    fn nodes_in_other_networks_are_named_where_nobody_listens() {
        let hint = |apart: &[i32]| {
            Error::NobodyListens { address: ([172, 17, 0, 2], 9042).into(), apart: apart.to_vec() }.to_string()
        };
        assert!(hint(&[]).contains("helenus up"), "{}", hint(&[]));
        assert!(hint(&[7]).ends_with("--pid 7"), "{}", hint(&[7]));
        assert!(hint(&[7, 8]).ends_with("one of 7, 8"), "{}", hint(&[7, 8]));
    }

    #[test]
    fn root_is_named_once() {
        let error = |user: &str| Error::NoPermission { pid: 7, user: user.to_string() }.to_string();
        assert!(error("root").ends_with("looked into; run as root"), "{}", error("root"));
        assert!(error("cassandra").ends_with("run as cassandra or as root"), "{}", error("cassandra"));
        let address = Error::NoPermissionForAddress { address: ([127, 0, 0, 1], 9042).into(), user: "root".into() };
        assert!(address.to_string().ends_with("run as root"), "{address}");
    }

    fn line(text: &str) -> JavaLine {
        JavaLine::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_main_class_is_found_behind_options_with_values() {
        let found = line(
            "java -Xms1g -Xmx1g -Xmx2g --add-opens java.base/x=ALL-UNNAMED -cp a:b org.apache.cassandra.service.CassandraDaemon start",
        );
        assert_eq!(
            found,
            JavaLine {
                main: Some("org.apache.cassandra.service.CassandraDaemon".into()),
                heap: Some("2g".into()),
                options: ["-Xms1g", "-Xmx1g", "-Xmx2g"].map(String::from).into(),
            }
        );
        assert_eq!(line("java -jar app.jar -Xmx9g").heap, None);
        assert_eq!(line("java @args --add-opens=a/b=c -m mod/Main").main.as_deref(), Some("mod/Main"));
        assert_eq!(line("java").main, None);
    }

    #[test]
    fn the_command_line_says_what_was_started_ready() {
        let ready = |argument: &str| started_ready(&["java".to_owned(), argument.to_owned()]);
        assert!(ready("-javaagent:/opt/helenus-agent.jar=valves.toml") && ready("-javaagent:agent.jar=ready"));
        assert!(ready("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n"));
        assert!(!ready("-javaagent:/usr/share/cassandra/lib/jamm-0.4.0.jar") && !ready("-Dhelenus-agent.jar=ready"));
    }

    #[test]
    fn virtual_machines_are_told_by_their_library() {
        let library = |path: &str| vm_of(&format!("7f00-7f01 r-xp 00000000 fe:00 12   {path}\n"));
        assert_eq!(library("/usr/lib/jvm/x/lib/server/libjvm.so"), Vm::HotSpot);
        assert_eq!(library("/usr/lib/jvm/x/lib/server/libjvm.so (deleted)"), Vm::HotSpot);
        assert_eq!(library("/opt/j9/lib/default/libj9vm29.so"), Vm::OpenJ9);
        assert_eq!(library("/lib/libjvm.so.bak"), Vm::None);
    }

    #[test]
    fn the_innermost_pid_counts() {
        assert_eq!(inner_pid("Name:\tjava\nNSpid:\t4711\t1\nUid:\t5\t6\t7\t8\n"), Some(1));
        assert_eq!(number("Uid:\t5\t6\t7\t8\n", "Uid:", 1), Some(6));
    }

    #[test]
    fn this_process_is_found_by_pid_and_address_and_is_no_jvm() {
        let listener = TcpListener::bind("127.0.10.240:0").unwrap();
        let address = listener.local_addr().unwrap();
        let target = find(TargetName::Address(address)).unwrap();
        assert_eq!((target.pid, target.vm, target.cql), (std::process::id() as i32, Vm::None, None));
        assert!(target.listens.contains(&address) && target.is_alive());
        assert_eq!(find(TargetName::Pid(target.pid)).unwrap().start_ticks, target.start_ticks);
        drop(listener);
        let error = find(TargetName::Address(address)).unwrap_err();
        assert!(matches!(error, Error::NobodyListens { .. }), "{error}");
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        // Above the kernel's greatest possible pid (2^22).
        assert!(matches!(find(TargetName::Pid(1 << 23)).unwrap_err(), Error::NoProcess { .. }));
    }

    #[test]
    fn the_cql_address_is_one_to_connect_to() {
        let of = |listens: &[&str], arguments: &[&str]| {
            let listens: Vec<_> = listens.iter().map(|address| address.parse().unwrap()).collect();
            let arguments: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            cql_address(None, &listens, &arguments).map(|address| address.to_string())
        };
        assert_eq!(of(&["127.0.0.1:7000", "0.0.0.0:9042"], &[]).as_deref(), Some("127.0.0.1:9042"));
        assert_eq!(
            of(&["127.0.0.3:9142"], &["-Dcassandra.native_transport_port=9142"]).as_deref(),
            Some("127.0.0.3:9142")
        );
        assert_eq!(of(&["127.0.0.3:7000"], &[]), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(arguments: Vec<String>, text in "(.|\n){0,200}") {
            let _ = JavaLine::read(&arguments);
            let _ = (vm_of(&text), inner_pid(&text), number(&text, "Uid:", 1));
        }
    }
}
