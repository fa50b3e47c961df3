//! Runs helenus as a user does: its binary, arguments and output.

use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A temporary folder for everything that a test writes, with helenus's state in it. Local clusters that are left at
/// its end are stopped.
pub struct Place {
    folder: tempfile::TempDir,
    /// The Java that nodes are started with; None for the default choice.
    java: Option<PathBuf>,
}

/// The output and exit status of a command.
#[derive(Debug)]
pub struct CommandOutput {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        // Not in /tmp if that is in memory, because nodes are measured on a disk.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Place { folder, java: None }
    }

    pub fn with_java(java: PathBuf) -> Place {
        let mut place = Place::new();
        place.java = Some(java);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_helenus"));
        command.args(arguments.split_whitespace());
        // The optimizing compiler takes a third of what a node needs to start, and few tests measure its speed.
        let starts_nodes = arguments.starts_with("up ") || arguments.starts_with("try --node ");
        if starts_nodes && env!("CARGO_CRATE_NAME") != "measured" {
            command.args(["--jvm-opt", "-XX:TieredStopAtLevel=1"]);
        }
        command
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("NO_COLOR", "1")
            .envs(self.java.iter().map(|java| ("HELENUS_JAVA_HOME", java)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs helenus to its end. Words are split at spaces.
    pub fn run(&self, arguments: &str) -> CommandOutput {
        let began = Instant::now();
        let output = Running::of(self.command(arguments)).end();
        // Shown for a test that fails, or for all with --nocapture: where the time of a slow test goes.
        eprintln!("{:6.1} s  helenus {arguments}", began.elapsed().as_secs_f64());
        output
    }

    /// Runs helenus, which must succeed, and returns its stdout.
    pub fn well(&self, arguments: &str) -> String {
        let result = self.run(arguments);
        assert!(result.status.success(), "helenus {arguments}: {}\n{}\n{}", result.status, result.out, result.err);
        result.out
    }

    pub fn json(&self, arguments: &str) -> Value {
        let out = self.well(arguments);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("helenus {arguments}: {error} in {out}"))
    }

    /// The first value of the first row of a query.
    pub fn ask(&self, recording: &str, query: &str) -> i64 {
        let mut command = self.command(&format!("sql {recording} --csv"));
        command.arg(query);
        let result = Running::of(command).end();
        assert!(result.status.success(), "{query}: {}", result.err);
        let value = result.out.lines().nth(1).unwrap_or_else(|| panic!("no row: {query}"));
        value.split(',').next().unwrap().parse().unwrap_or_else(|_| panic!("{query}: {value}"))
    }

    pub fn start(&self, arguments: &str) -> Running {
        Running::of(self.command(arguments))
    }
}

impl Place {
    /// The ends of what the nodes logged: the test that fails may not fail again.
    fn show_logs(&self) {
        let entries =
            |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for node in entries(&self.path("state/helenus/logs")).flat_map(|cluster| entries(&cluster).collect::<Vec<_>>())
        {
            let log = std::fs::read_to_string(node.join("system.log")).unwrap_or_default();
            let from = log.lines().count().saturating_sub(15);
            eprintln!("{}:", node.display());
            log.lines().skip(from).for_each(|line| eprintln!("    {line}"));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.path("state").exists() {
            if std::thread::panicking() {
                self.show_logs();
            }
            let result = self.run("down --all");
            if !result.status.success() {
                eprintln!("helenus down --all: {}", result.err);
            }
        }
    }
}

/// A running helenus process, which ends at the latest with the test that started it.
pub struct Running {
    child: KilledOnDrop,
    out: Saying,
    err: Saying,
}

/// A process that is ended even if its test fails.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // The process may have ended, which is fine.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// The output of a process so far.
struct Saying {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: std::thread::JoinHandle<()>,
}

impl Saying {
    fn of(mut from: impl Read + Send + 'static) -> Saying {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut chunk) {
                read.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        Saying { bytes, reader }
    }

    fn until_now(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn whole(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

impl Running {
    pub fn of(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let (out, err) = (Saying::of(child.stdout.take().unwrap()), Saying::of(child.stderr.take().unwrap()));
        Running { child: KilledOnDrop(child), out, err }
    }

    pub fn pid(&self) -> i32 {
        self.child.0.id() as i32
    }

    pub fn signal(&self, signal: i32) {
        signal_to(self.pid(), signal);
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.0.try_wait(), Ok(None))
    }

    pub fn end(mut self) -> CommandOutput {
        let status = self.child.0.wait().unwrap();
        CommandOutput { status, out: self.out.whole(), err: self.err.whole() }
    }

    /// Its standard output so far.
    pub fn printed(&self) -> String {
        self.out.until_now()
    }

    /// Whether its standard error contains this text.
    pub fn has_said(&self, text: &str) -> bool {
        self.err.until_now().contains(text)
    }
}

pub fn signal_to(pid: i32, signal: i32) {
    // SAFETY: kill takes no pointers; the pid is of a process that the test started and has not waited for.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "signal {signal} to {pid}");
}

/// Waits for a condition, for as long as a slow machine with other work to do may take.
pub fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    assert!(comes_true(holds), "waited in vain for {what}");
}

/// Waits for a condition as [`wait_for`] does, and returns whether it came true.
pub fn comes_true(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(180);
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Expects that no request of a load failed. A busy machine makes some of them wait for too long.
pub fn nothing_failed(summary: &Value) {
    let is_late = |error: &Value| error["outcome"].as_str().unwrap().ends_with("timeout");
    assert!(summary["errors"].as_array().unwrap().iter().all(is_late), "{}", summary["errors"]);
}

/// Bytes of all files under a folder, 0 while there is none.
pub fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size_of(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(size).sum()
}

/// Records a node and drives it at the same time, in two processes; `meanwhile` is called when rows are being written.
/// Merges both recordings into `name`.
pub fn record_under_load(place: &Place, name: &str, address: &str, load: &str, meanwhile: impl FnOnce(&Running)) {
    let (server, client) = (format!("{name}-server"), format!("{name}-client"));
    let record = place.start(&format!("record --node {address} -o {server}"));
    wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
    let load = place.start(&format!("load {load} --node {address} -o {client}"));
    wait_for("requests to be recorded", || size_of(&place.path(&format!("{client}/requests"))) > 0);
    meanwhile(&load);
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);
    record.signal(libc::SIGINT);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    place.well(&format!("recording merge {client} {server} -o {name}"));
}

/// The pid of the first node of the only cluster.
pub fn pid_of_node(place: &Place) -> i32 {
    i32::try_from(place.json("ps --json")[0]["nodes"][0]["pid"].as_i64().unwrap()).unwrap()
}

/// Where the requests' time went, measured at both sides of the wire, from the output of explain.
pub fn origin(explanation: &Value) -> Value {
    let findings = explanation["findings"].as_array().unwrap();
    let origin = findings.iter().find(|finding| finding["finding"] == "latency-origin");
    origin.unwrap_or_else(|| panic!("no latency-origin in {explanation:#}"))["evidence"].clone()
}
