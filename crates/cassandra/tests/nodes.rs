//! Real processes: one Cassandra node, a ring of two, and JVMs to attach to.
//!
//! The nodes use addresses that no other test uses, and a state folder of their own. Releases come from the user's
//! cache, where the first run fetches them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use helenus_cassandra::state::{NodeState, Registry};
use helenus_cassandra::target::{Target, TargetName, Vm};
use helenus_cassandra::{
    Cancel, Cluster, ClusterOptions, Error, Lifetime, Places, Progress, Version, attach, cql, java, target,
};

const PATIENCE: Duration = Duration::from_secs(180);

/// A state folder that goes with the test.
struct Place {
    _folder: tempfile::TempDir,
    places: Places,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { cache: Places::of_user().unwrap().cache, state: folder.path().join("state") };
        Self { _folder: folder, places }
    }

    /// Tied to this process, whatever becomes of the test.
    fn options(&self, name: &str, first: [u8; 4]) -> ClusterOptions {
        let mut options = ClusterOptions::new(self.places.clone(), name);
        options.heap = "512m".to_owned();
        options.first_address = Some(Ipv4Addr::from(first));
        options.lifetime = Lifetime::Tied;
        // The optimizing compiler takes a third of what a node needs to start.
        options.jvm_options = vec!["-XX:TieredStopAtLevel=1".to_owned()];
        options
    }

    fn registry(&self) -> Registry {
        Registry::new(self.places.clone())
    }
}

fn start(options: &ClusterOptions) -> Result<Cluster, Error> {
    Cluster::start(options, &mut |_| {}, &Cancel::new())
}

fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(pid: i32, signal: i32) {
    // SAFETY: a plain system call on a process that this test started.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

fn find(pid: u32) -> Target {
    target::find(TargetName::Pid(pid as i32)).unwrap()
}

#[test]
fn a_node_lives_from_up_to_down() {
    let place = Place::new();
    let mut options = place.options("troy", [127, 0, 10, 11]);
    options.settings =
        vec!["concurrent_reads=7".to_owned(), "memtable.configurations.default.class_name=TrieMemtable".to_owned()];
    options.jvm_options = vec!["-Dhelenus.test=kept".to_owned()];
    let mut events = Vec::new();
    let cluster = Cluster::start(&options, &mut |step| events.push(step), &Cancel::new()).unwrap();
    let node = cluster.nodes()[0].clone();
    assert_eq!(node.address, SocketAddr::from(([127, 0, 10, 11], 9042)));
    assert!(
        matches!(events[events.len() - 2..], [Progress::Starting { number: 1, of: 1, .. }, Progress::Ready { .. }]),
        "{events:?}"
    );

    // Settings are the given ones, else those of the stock file, else Cassandra's defaults.
    let mut connection = cql::Connection::open(node.address, PATIENCE, None).unwrap();
    let identity = connection.identify().unwrap();
    assert_eq!((identity.version.parse::<Version>().unwrap(), identity.cluster.as_str()), (options.version, "troy"));
    assert!(identity.partitioner.ends_with("Murmur3Partitioner") && identity.peers.is_empty());
    assert_eq!(identity.host_id.len(), 36);
    let mut setting = |name: &str| {
        let rows = connection.query(&format!("SELECT value FROM system_views.settings WHERE name = '{name}'")).unwrap();
        rows.get(0, "value").to_string()
    };
    for (name, expected) in [
        ("concurrent_reads", "7"),
        ("num_tokens", "16"),
        ("internode_compression", "dc"),
        ("disk_failure_policy", "stop"),
        ("concurrent_writes", "32"),
    ] {
        assert_eq!(setting(name), expected, "{name}");
    }

    // It is listed, its data is private, and another cluster of the same name or address is refused.
    let status = place.registry().list().unwrap().remove(0);
    assert_eq!((status.states.as_slice(), status.word()), (&[NodeState::Up][..], "up"));
    assert_eq!(std::fs::metadata(cluster.data()).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(matches!(start(&options), Err(Error::NameTaken { .. })));
    options.name = "sparta".to_owned();
    let error = start(&options).unwrap_err().to_string();
    assert!(error.starts_with(&format!("port 9042 on 127.0.10.11 is in use by PID {} (java)", node.pid)), "{error}");

    // It is found as a target, and its JVM answers.
    let target = target::find(TargetName::Address(node.address)).unwrap();
    assert_eq!(
        (target.pid, target.vm, target.is_cassandra, target.cql),
        (node.pid, Vm::HotSpot, true, Some(node.address))
    );
    assert_eq!(target.heap.as_deref(), Some("512m"));
    let properties = attach::properties(&target).unwrap();
    assert_eq!(properties.get("helenus.test").map(String::as_str), Some("kept"));
    assert_eq!(properties.get("java.version"), Some(&node.java));
    assert!(attach::jcmd(&target, "VM.flags").unwrap().contains("-XX:+UseG1GC"));

    // Suspended, then killed by hand: ps says so, down cleans up, the log stays.
    kill(node.pid, libc::SIGSTOP);
    await_that("ps says suspended", || place.registry().list().unwrap()[0].states == [NodeState::Suspended]);
    assert!(matches!(attach::properties(&target), Err(attach::Error::Suspended { .. })));
    kill(node.pid, libc::SIGKILL);
    await_that("ps says dead", || place.registry().list().unwrap()[0].word() == "dead");
    assert!(matches!(attach::properties(&target), Err(attach::Error::Ended { .. })));
    let data = cluster.data().to_owned();
    cluster.stop(false, &mut |_| {}).unwrap();
    assert!(!data.exists() && node.log.exists());
    assert!(place.registry().list().unwrap().is_empty());
}

#[test]
fn a_ring_knows_itself_survives_its_starter_and_stops_in_order() {
    let place = Place::new();
    let mut options = place.options("ring", [127, 0, 10, 21]);
    options.nodes = 2;
    options.heap = "384m".to_owned();
    options.lifetime = Lifetime::Detached;
    let cluster = start(&options).unwrap();
    let nodes = cluster.nodes().to_vec();
    drop(cluster);
    for node in &nodes {
        let mut connection = cql::Connection::open(node.address, PATIENCE, None).unwrap();
        assert_eq!(connection.identify().unwrap().peers.len(), 1);
    }
    let mut connection = cql::Connection::open(nodes[1].address, PATIENCE, None).unwrap();
    connection
        .query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}")
        .unwrap();
    let mut events = Vec::new();
    let stopped = place.registry().down("ring", false, &mut |step| events.push(step)).unwrap();
    assert_eq!(stopped.data, None);
    // A kill would have been reported.
    assert!(
        matches!(
            events[..],
            [Progress::Stopping { .. }, Progress::Stopping { .. }, Progress::Stopped { .. }, Progress::Stopped { .. }]
        ),
        "{events:?}"
    );
    let log = std::fs::read_to_string(&nodes[0].log).unwrap();
    assert!(log.contains("Announcing shutdown"), "the node was not asked but killed");
}

#[test]
fn a_start_that_fails_says_why_and_leaves_nothing() {
    let place = Place::new();
    let mut options = place.options("fails", [127, 0, 10, 31]);
    let fails = |options: &ClusterOptions| {
        let error = Cluster::start(options, &mut |_| {}, &Cancel::new()).unwrap_err();
        assert!(place.registry().list().unwrap().is_empty());
        let Error::NodeDied { reason, .. } = error else { panic!("{error}") };
        reason
    };
    options.settings = vec!["nonsense_key=1".to_owned()];
    let reason = fails(&options);
    assert!(reason.contains("Please remove properties [nonsense_key] from your cassandra.yaml"), "{reason}");
    options.settings = vec!["num_tokens=many".to_owned()];
    let reason = fails(&options);
    assert!(reason.contains("num_tokens") && reason.contains("many"), "{reason}");
    options.settings.clear();
    options.jvm_options = vec!["-XX:+Nonsense".to_owned()];
    assert!(fails(&options).starts_with("Unrecognized VM option 'Nonsense'"));
    options.jvm_options.clear();
    options.heap = "4000g".to_owned();
    assert!(!fails(&options).is_empty());
}

#[test]
fn a_cancelled_start_and_a_hanging_one_leave_nothing_running() {
    let place = Place::new();
    let mut options = place.options("cancelled", [127, 0, 10, 41]);
    let cancel = Cancel::new();
    let error = Cluster::start(
        &options,
        &mut |step| {
            if let Progress::Starting { .. } = step {
                cancel.cancel()
            }
        },
        &cancel,
    )
    .unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert!(place.registry().list().unwrap().is_empty());

    // The JVM waits for a debugger that never comes.
    options.jvm_options =
        vec!["-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.10.41:0".to_owned()];
    options.start_timeout = Duration::from_secs(6);
    let error = start(&options).unwrap_err();
    let Error::NodeHangs { last, .. } = &error else { panic!("{error}") };
    assert!(last.contains("Listening for transport"), "{last}");
    let registry = place.registry();
    assert!(registry.list().unwrap().is_empty());
    // No process of either is left.
    let in_it = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd"))
            .is_ok_and(|cwd| cwd.to_string_lossy().contains("helenus-cancelled-"))
    };
    let left: Vec<_> = std::fs::read_dir("/proc").unwrap().flatten().filter(in_it).map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The JDK that the tests compile with and attach to.
fn jdk() -> PathBuf {
    java::installed()
        .into_iter()
        .find(|java| java.home.join("bin/javac").exists())
        .expect("these tests need a JDK")
        .home
}

/// Compiles the classes in tests/jvm and packs the agent's into a jar.
fn compile(jdk: &Path) -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    // Another user's JVM reads it in one test.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let status =
            Command::new(jdk.join("bin").join(program)).args(arguments).current_dir(folder.path()).status().unwrap();
        assert!(status.success(), "{program}");
    };
    // Cargo runs tests in the package's folder. Another clone may have built this test, as clones share what they build.
    let package = std::env::current_dir().unwrap();
    let source = |name: &str| format!("{}/tests/jvm/{name}.java", package.display());
    run("javac", &["--release", "11", "-d", "agent", &source("Agent")]);
    run("javac", &["--release", "11", "-d", "classes", &source("Sleeper")]);
    std::fs::write(folder.path().join("manifest"), "Agent-Class: Agent\n").unwrap();
    run("jar", &["-c", "-f", "agent.jar", "-m", "manifest", "-C", "agent", "."]);
    let jar = std::fs::read(folder.path().join("agent.jar")).unwrap();
    (folder, jar)
}

/// A JVM that is killed at the end.
struct Jvm(Child);

impl Jvm {
    /// Runs Sleeper, as another user with `uid`, and waits until it is up.
    fn start(jdk: &Path, classes: &Path, options: &[&str], uid: Option<u32>) -> Self {
        let mut command = Command::new(jdk.join("bin/java"));
        command.args(options).arg("-cp").arg(classes.join("classes")).arg("Sleeper").current_dir("/");
        if let Some(uid) = uid {
            command.uid(uid).gid(uid);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
        Self(child)
    }

    fn target(&self) -> Target {
        find(self.0.id())
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn agent_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".helenus-agent-")).collect()
}

/// The answers differ between Java versions, so every one that is installed is tried.
#[test]
fn agents_are_loaded_and_classes_come_from_the_removed_jar() {
    let (folder, jar) = compile(&jdk());
    for java in java::installed().iter().filter(|java| java.feature >= 11) {
        load_agents(java, folder.path(), &jar);
    }
}

fn load_agents(java: &java::Java, classes: &Path, jar: &[u8]) {
    let jvm = Jvm::start(&java.home, classes, &[], None);
    let target = jvm.target();
    assert_eq!((target.main_class.as_deref(), target.is_cassandra, target.cql), (Some("Sleeper"), false, None));
    attach::load_agent(&target, jar, "late=one,x=ü").unwrap();
    let mine = |path: &PathBuf| path.to_string_lossy().contains(&format!("-{}-", target.pid));
    assert!(!agent_files().iter().any(mine), "the jar is still there");
    let property = |name: &str| attach::properties(&target).unwrap().get(name).cloned();
    let options = property("agent.options").unwrap_or_default();
    assert!(options.starts_with("late=one,x=ü,jar=/tmp/.helenus-agent-"), "{options}");
    await_that("a class was loaded from the removed jar", || property("agent.late").as_deref() == Some("loaded"));
    attach::load_agent(&target, jar, "two").unwrap();
    assert_eq!(property("agent.loads").as_deref(), Some("2"));

    let failed = |jar: &[u8], options: &str| match attach::load_agent(&target, jar, options).unwrap_err() {
        attach::Error::AgentFailed { message, .. } => message,
        other => panic!("{other}"),
    };
    assert!(failed(jar, "fail").contains("agentmain"));
    assert!(failed(b"no jar", "").contains("Agent-Class"));
    assert!(matches!(attach::load_agent(&target, jar, &"x".repeat(1100)), Err(attach::Error::TooLong { .. })));
    assert!(matches!(attach::execute(&target, "nonsense", &[]), Err(attach::Error::Refused { .. })));
    assert!(!agent_files().iter().any(mine));
    load_at_the_same_time(&target, jar);
    assert!(!agent_files().iter().any(mine));
    // The trigger is gone too: a thread dump can be asked for as before.
    assert!(!Path::new(&format!("/.attach_pid{}", target.pid)).exists());
}

/// Each load has its jar until its `agentmain` has returned, even if others load and remove the same bytes meanwhile.
fn load_at_the_same_time(target: &Target, jar: &[u8]) {
    const THREADS: usize = 3;
    const LOADS: usize = 20;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..LOADS {
                    attach::load_agent(target, jar, "opens").unwrap();
                }
            });
        }
    });
    let opened = attach::properties(target).unwrap().get("agent.opened").cloned();
    assert_eq!(opened, Some((THREADS * LOADS).to_string()));
}

#[test]
fn what_cannot_be_attached_to_is_refused_without_harm() {
    let jdk = jdk();
    let (folder, _) = compile(&jdk);
    let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
    let error = attach::properties(&find(sleep.id())).unwrap_err();
    assert!(matches!(error, attach::Error::NotJvm { .. }), "{error}");
    assert!(sleep.try_wait().unwrap().is_none(), "it must not have got a signal");
    sleep.kill().unwrap();
    sleep.wait().unwrap();

    let mut jvm = Jvm::start(&jdk, folder.path(), &["-XX:+DisableAttachMechanism"], None);
    let error = attach::properties(&jvm.target()).unwrap_err();
    assert!(matches!(error, attach::Error::Disabled { .. }), "{error}");
    assert!(jvm.0.try_wait().unwrap().is_none());

    // -Xrs leaves SIGQUIT deadly, but the JVM opens its socket at start.
    let mut jvm = Jvm::start(&jdk, folder.path(), &["-Xrs"], None);
    let target = jvm.target();
    await_that("the socket is open", || Path::new(&format!("/tmp/.java_pid{}", target.pid)).exists());
    assert!(attach::properties(&target).unwrap().contains_key("java.version"));
    assert!(jvm.0.try_wait().unwrap().is_none());
}

/// Root attaches to another user's JVM as that user; that user cannot attach to root's.
#[test]
fn users_are_kept_apart() {
    const NOBODY: u32 = 65534;
    // SAFETY: cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    let jdk = jdk();
    let (folder, jar) = compile(&jdk);
    if root {
        let jvm = Jvm::start(&jdk, folder.path(), &[], Some(NOBODY));
        let target = jvm.target();
        assert_eq!(target.uid, NOBODY);
        attach::load_agent(&target, &jar, "root").unwrap();
        let options = attach::properties(&target).unwrap().get("agent.options").cloned().unwrap_or_default();
        assert!(options.starts_with("root,jar="), "{options}");
        // SAFETY: cannot fail.
        assert_eq!(unsafe { libc::geteuid() }, 0, "other threads keep their user");
    } else {
        // Process 1 is root's.
        let error = target::find(TargetName::Pid(1)).unwrap_err();
        assert!(matches!(error, target::Error::NoPermission { .. }), "{error}");
    }
}
