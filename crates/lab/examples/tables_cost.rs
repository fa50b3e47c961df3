//! Measures the overhead of reading the health of many tables on their node: the CPU time of the agent's threads that read
//! tables, pools and metrics of the node and send the results, at the default interval, while the tables are idle and while all
//! of them are written and read each second. Also the CPU time of all the agent's threads, one of which watches for stalls.
//!
//! `cargo run --release --workspace --example tables_cost -- [TABLES] [SECONDS] [RECORDING]`; RECORDING, if given, has each
//! source's own report of its cost. Exits with 1 if the CPU time exceeds the bound.

mod built;

use helenus_cassandra::cql::Connection;
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_observe::{AgentOptions, Event, Observation, Options, ProcessKind, Watched};
use helenus_recording::{Manifest, Recorder};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// Share of one CPU that reading may cost.
const BOUND: f64 = 0.01;
const TIMEOUT: Duration = Duration::from_secs(60);
/// Wait after attaching, until the loaded code is compiled and all tables were read once.
const SETTLES: Duration = Duration::from_secs(20);

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tables: usize = arguments.first().map_or(Ok(1000), |tables| tables.parse())?;
    let lasts = Duration::from_secs(arguments.get(1).map_or(Ok(30), |seconds| seconds.parse())?);
    let folder = tempfile::tempdir()?;
    let places = Places { cache: Places::of_user()?.cache, state: folder.path().join("state") };
    let mut options = ClusterOptions::new(places, "tables");
    options.first_address = Some(Ipv4Addr::new(127, 0, 20, 64));
    options.lifetime = Lifetime::Tied;
    options.heap = "2g".to_string();
    let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?;
    let node = &cluster.nodes()[0];
    let made = Instant::now();
    make(node.address, tables)?;
    eprintln!("made {tables} tables in {:.0} s", made.elapsed().as_secs_f64());

    let path = arguments.get(2).map_or_else(|| folder.path().join("recording"), PathBuf::from);
    let recorder = Recorder::create(&path, Manifest::new("tables", "tables_cost"))?;
    let wanted =
        Options { agent: AgentOptions { jar: Some(built::agent()?), ..AgentOptions::default() }, ..Options::default() };
    let pid = node.pid.unsigned_abs();
    let watched = [Watched { process: ProcessKind::Server, node: node.address.ip().to_string(), pid }];
    let (events, received) = std::sync::mpsc::channel();
    let observation = Observation::start(&recorder, &watched, &wanted, &events)?;
    if let Some(missing) = received.try_iter().find(|event| matches!(event, Event::Degraded { .. })) {
        return Err(format!("nothing can be said of a source that is not there: {missing:?}").into());
    }
    std::thread::sleep(SETTLES);
    let idle = share(pid, lasts)?;
    println!("{tables} tables at rest: {idle}");

    let (stop, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let driver = {
        let (address, stop, requests) = (node.address, Arc::clone(&stop), Arc::clone(&requests));
        std::thread::spawn(move || drive(address, tables, &stop, &requests).map_err(|error| error.to_string()))
    };
    // The first round of requests is compiled too.
    std::thread::sleep(SETTLES);
    let before = requests.load(Ordering::Relaxed);
    let busy = share(pid, lasts)?;
    let rate = (requests.load(Ordering::Relaxed) - before) as f64 / lasts.as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    driver.join().map_err(|_| "the driver broke off")??;
    println!("{tables} tables with {rate:.0} requests a second over all of them: {busy}");
    for undone in observation.stop() {
        eprintln!("{undone}");
    }
    recorder.close()?;
    drop(cluster);
    Ok(if idle.reading.max(busy.reading) < BOUND { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A time as a share of one CPU.
struct Share {
    reading: f64,
    agent: f64,
}

impl std::fmt::Display for Share {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.2} % of one CPU to read, {:.2} % the agent in all", self.reading * 100.0, self.agent * 100.0)
    }
}

fn make(address: SocketAddr, tables: usize) -> Result<(), Failure> {
    let mut connection = Connection::open(address, TIMEOUT, None)?;
    connection.query(
        "CREATE KEYSPACE many WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = false",
    )?;
    for table in 0..tables {
        // Flush within a minute, so that there are SSTables.
        connection.query(&format!(
            "CREATE TABLE many.t{table} (key bigint PRIMARY KEY, value text) WITH memtable_flush_period_in_ms = 60000"
        ))?;
    }
    for table in 0..tables {
        connection.query(&format!("INSERT INTO many.t{table} (key, value) VALUES ({table}, 'value')"))?;
    }
    Ok(())
}

/// Writes and reads each table in turn until `stop` is set.
fn drive(address: SocketAddr, tables: usize, stop: &AtomicBool, requests: &AtomicU64) -> Result<(), Failure> {
    let mut connection = Connection::open(address, TIMEOUT, None)?;
    for round in 0_u64.. {
        for table in 0..tables {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            match (round + table as u64) % 2 {
                0 => connection.query(&format!("INSERT INTO many.t{table} (key, value) VALUES ({round}, 'value')"))?,
                _ => connection.query(&format!("SELECT value FROM many.t{table} WHERE key = {table}"))?,
            };
            requests.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// The share of one CPU that the agent's threads use in this time.
fn share(pid: u32, lasts: Duration) -> Result<Share, Failure> {
    let (before, begun) = (cpu_ns(pid)?, Instant::now());
    std::thread::sleep(lasts);
    let (after, passed) = (cpu_ns(pid)?, begun.elapsed().as_nanos() as f64);
    let of = |prefix: &str| {
        let sum = |all: &[(String, u64)]| -> u64 {
            all.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, ns)| ns).sum()
        };
        (sum(&after) - sum(&before)) as f64 / passed
    };
    // The kernel keeps 15 characters of a name, of the sampler's and of the sender's alike.
    Ok(Share { reading: of("helenus-agent-s"), agent: of("helenus-agent") })
}

/// CPU time of the agent's threads so far, by name; they live as long as the agent.
fn cpu_ns(pid: u32) -> Result<Vec<(String, u64)>, Failure> {
    let mut threads = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.path();
        // A thread may end at any moment.
        let (Ok(name), Ok(times)) =
            (std::fs::read_to_string(task.join("comm")), std::fs::read_to_string(task.join("schedstat")))
        else {
            continue;
        };
        if name.starts_with("helenus-agent") {
            threads.push((name, times.split_whitespace().next().unwrap_or("0").parse()?));
        }
    }
    Ok(threads)
}
