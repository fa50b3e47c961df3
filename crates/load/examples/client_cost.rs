//! CPU time (user and system, all threads, recording included) that the client process spends per request: with the
//! thin driver, with the driver crate, and with the bare crate. The requests go to a responder process that answers at
//! once, and to a real node. The drivers take turns in several rounds, so that other work on the machine affects all of
//! them alike. `xtask/peers` measures other load generators.
//!
//! `cargo run --release -p helenus-load --example client_cost -- [ROUNDS] [node|ADDRESS]`: with `node`, a Cassandra is
//! started and driven too.

use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::responder::Responder;
use helenus_load::{Cancel, DriverKind, Phase, Plan, Until, Workload, run};
use helenus_recording::{Manifest, Recorder, Recording};
use scylla::client::session_builder::SessionBuilder;
use std::cell::Cell;
use std::io::BufRead;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const LASTS: Duration = Duration::from_secs(5);
const IN_FLIGHT: u32 = 128;

const WORKLOAD: &str = include_str!("client_cost.toml");

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "responder") {
        let responder = Responder::start(SocketAddr::from((Ipv4Addr::new(127, 0, 20, 61), 0)))?;
        println!("{}", responder.address());
        // Runs until the other end of the pipe is closed.
        std::io::stdin().lines().for_each(drop);
        return Ok(());
    }
    let rounds: usize = arguments.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let folder = tempfile::tempdir()?;
    let (responder, _child) = responder()?;
    let mut targets = vec![("responder", responder)];
    let mut cluster = None;
    match arguments.get(1).map(String::as_str) {
        None => {}
        Some("node") => {
            let places = Places { cache: Places::of_user()?.cache, state: folder.path().join("state") };
            let mut options = ClusterOptions::new(places, "cost");
            options.first_address = Some(Ipv4Addr::new(127, 0, 20, 60));
            options.lifetime = Lifetime::Tied;
            let started = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?;
            targets.push(("Cassandra", started.nodes()[0].address.to_string()));
            cluster = Some(started);
        }
        Some(address) => targets.push(("Cassandra", address.to_string())),
    }
    println!(
        "{:>10} {:>24} {:>9} {:>9} {:>11} {:>9} {:>9} {:>9}",
        "target", "driver", "req/s", "CPU us", "with close", "p50 us", "p99 us", "bytes/row"
    );
    // The first round warms up and is not shown.
    for round in 0..=rounds {
        for (target, address) in &targets {
            let shown = (round > 0).then_some(*target);
            bare(address, shown)?;
            for (name, driver) in [("thin", DriverKind::Thin), ("scylla", DriverKind::Scylla)] {
                let closed = Phase::in_flight(IN_FLIGHT, Until::Elapsed(LASTS));
                ours(address, folder.path(), driver, closed, shown.map(|target| (target, name.to_string())))?;
            }
            for per_s in [5_000.0, 50_000.0] {
                let open = Phase::rate(per_s, Until::Elapsed(LASTS));
                let name = format!("thin {}k/s", per_s / 1e3);
                ours(address, folder.path(), DriverKind::Thin, open, shown.map(|target| (target, name)))?;
            }
        }
    }
    drop(cluster);
    Ok(())
}

/// Starts a responder process, which ends with this one.
fn responder() -> Result<(String, Child), Failure> {
    let mut child =
        Command::new(std::env::current_exe()?).arg("responder").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut address = String::new();
    let output = child.stdout.take().ok_or("no output")?;
    std::io::BufReader::new(output).read_line(&mut address)?;
    Ok((address.trim().to_string(), child))
}

/// User and system time of this process so far, in ns.
fn cpu_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn ours(
    node: &str,
    folder: &Path,
    driver: DriverKind,
    load: Phase,
    shown: Option<(&str, String)>,
) -> Result<(), Failure> {
    let path = folder.join("recording");
    let recorder = Recorder::create(&path, Manifest::new("cost", "client_cost"))?;
    let workload = Workload::from_toml("cost", "cost", WORKLOAD)?;
    let plan = Plan { driver, max_in_flight: 4096, ..Plan::new(workload, vec![load], vec![node.to_string()]) };
    let began_ns = cpu_ns();
    let summary = run(&plan, &recorder, &Cancel::new(), &mut |_| {})?;
    let ran_ns = cpu_ns() - began_ns;
    recorder.close()?;
    let closed_ns = cpu_ns() - began_ns;
    let requests = summary.requests as f64;
    let bytes = Recording::open(&path)?.manifest().tables.get("requests").map_or(0, |table| table.bytes);
    std::fs::remove_dir_all(&path)?;
    if summary.failed() > 0 {
        return Err(format!("{} requests failed: {:?}", summary.failed(), summary.errors).into());
    }
    if let (Some(phase), Some((target, name))) = (summary.phases.first(), shown) {
        let us = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e3);
        println!(
            "{target:>10} {name:>24} {:>9.0} {:>9.2} {:>11.2} {:>9.0} {:>9.0} {:>9.2}",
            phase.throughput_per_s,
            ran_ns as f64 / 1e3 / requests,
            closed_ns as f64 / 1e3 / requests,
            us(phase.response.p50_ns),
            us(phase.response.p99_ns),
            bytes as f64 / requests,
        );
    }
    Ok(())
}

/// Drives the crate without our engine: one thread, a loop for each request in flight, the same statement and size of
/// values.
fn bare(node: &str, shown: Option<&str>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let session = SessionBuilder::new().known_node(node).build().await?;
        for statement in Workload::from_toml("cost", "cost", WORKLOAD)?.schema {
            session.query_unpaged(statement, ()).await?;
        }
        let cql = "INSERT INTO cost.standard (key, c0, c1, c2, c3, c4) VALUES (?, ?, ?, ?, ?, ?)";
        let prepared = session.prepare(cql).await?;
        let (number, value) = (Cell::new(0i64), vec![7u8; 34]);
        let (began, began_ns) = (Instant::now(), cpu_ns());
        let each = (0..IN_FLIGHT).map(|_| async {
            while began.elapsed() < LASTS {
                number.set(number.get() + 1);
                let key = number.get() % 1_000_000;
                session.execute_unpaged(&prepared, (key, &value, &value, &value, &value, &value)).await?;
            }
            Ok::<(), scylla::errors::ExecutionError>(())
        });
        futures::future::try_join_all(each).await?;
        let cpu_us = (cpu_ns() - began_ns) as f64 / 1e3 / number.get() as f64;
        let per_s = number.get() as f64 / began.elapsed().as_secs_f64();
        if let Some(target) = shown {
            println!("{target:>10} {:>24} {per_s:>9.0} {cpu_us:>9.2}", "bare crate");
        }
        Ok(())
    })
}
