//! Client CPU per request: ours, that of the bare driver crate beside it, and what recording has of ours. Several rounds,
//! one of each after the other, so that what the machine does meanwhile meets all of them.
//!
//! `cargo run --release -p helenus-load --example client_cost -- [ROUNDS] [NODE]`; without a node, one is started.

use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::{Cancel, Phase, Plan, Until, Workload, run};
use helenus_recording::{Manifest, Recorder, cpu_time_of_this_thread_ns, rows};
use scylla::client::session_builder::SessionBuilder;
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const LASTS: Duration = Duration::from_secs(5);

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let folder = tempfile::tempdir()?;
    let (node, _cluster) = match arguments.next() {
        Some(node) => (node, None),
        None => {
            let places = Places { cache: Places::of_user()?.cache, state: folder.path().join("state") };
            let mut options = ClusterOptions::new(places, "cost");
            options.first_address = Some(Ipv4Addr::new(127, 0, 20, 60));
            options.lifetime = Lifetime::Tied;
            let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?;
            (cluster.nodes()[0].address.to_string(), Some(cluster))
        }
    };
    println!(
        "{:>20} {:>8} {:>8} {:>8} {:>8} {:>9} {:>6}",
        "load", "req/s", "CPU us", "p50 us", "p99 us", "lag99 us", "late"
    );
    // The first round warms the node up and is not shown.
    for round in 0..=rounds {
        for in_flight in [1, 32, 128] {
            ours(&node, folder.path(), Phase::in_flight(in_flight, Until::Elapsed(LASTS)), round > 0)?;
            bare(&node, in_flight, round > 0)?;
        }
        for per_s in [1000.0, 5000.0] {
            ours(&node, folder.path(), Phase::rate(per_s, Until::Elapsed(LASTS)), round > 0)?;
        }
        recording(folder.path(), round > 0)?;
    }
    Ok(())
}

fn ours(node: &str, folder: &Path, load: Phase, shown: bool) -> Result<(), Failure> {
    let path = folder.join("recording");
    let recorder = Recorder::create(&path, Manifest::new("cost", "client_cost"))?;
    let plan = Plan::new(Workload::open("keyvalue/write")?, vec![load], vec![node.to_string()]);
    let summary = run(&plan, &recorder, &Cancel::new(), &mut |_| {})?;
    recorder.close()?;
    std::fs::remove_dir_all(&path)?;
    if let (Some(phase), true) = (summary.phases.first(), shown) {
        let us = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e3);
        println!(
            "{:>20} {:>8.0} {:>8.2} {:>8.0} {:>8.0} {:>9.0} {:>6}",
            phase.name,
            phase.throughput_per_s,
            phase.client_cpu_us_per_request.unwrap_or(f64::NAN),
            us(phase.service.p50_ns),
            us(phase.service.p99_ns),
            us(phase.response.p99_ns) - us(phase.service.p99_ns),
            phase.lag.total(),
        );
    }
    Ok(())
}

/// The driver crate alone: one thread, as many loops as requests in flight, the same statement and size of value.
fn bare(node: &str, in_flight: u32, shown: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let session = SessionBuilder::new().known_node(node).build().await?;
        let cql = "INSERT INTO helenus.keyvalue (key, value) VALUES (?, ?)";
        let prepared = session.prepare(cql).await?;
        let (number, value) = (Cell::new(0i64), vec![7u8; 100]);
        let (began, cpu_ns) = (Instant::now(), cpu_time_of_this_thread_ns());
        let each = (0..in_flight).map(|_| async {
            while began.elapsed() < LASTS {
                number.set(number.get() + 1);
                session.execute_unpaged(&prepared, (number.get() % 1_000_000, &value)).await?;
            }
            Ok::<(), scylla::errors::ExecutionError>(())
        });
        futures::future::try_join_all(each).await?;
        let cpu_us = (cpu_time_of_this_thread_ns() - cpu_ns) as f64 / 1e3 / number.get() as f64;
        let per_s = number.get() as f64 / began.elapsed().as_secs_f64();
        if shown {
            println!("{:>20} {per_s:>8.0} {cpu_us:>8.2}", format!("bare {in_flight} in flight"));
        }
        Ok(())
    })
}

/// What the driver thread spends on a row, 256 at a time as it writes them, and the whole process with it.
fn recording(folder: &Path, shown: bool) -> Result<(), Failure> {
    const ROWS: i64 = 2_000_000;
    let path = folder.join("recording");
    let recorder = Recorder::create(&path, Manifest::new("cost", "client_cost"))?;
    let mut time_ns = recorder.clock().now_ns();
    let cpu_ns = cpu_time_of_this_thread_ns();
    for _ in 0..ROWS / 256 {
        recorder.append_all((0..256).map(|row| {
            time_ns += 9_000 + (row * 7919) % 1000;
            rows::Request {
                intended_start_ns: time_ns,
                start_ns: time_ns + 1_000 + (row * 104_729) % 5_000,
                end_ns: time_ns + 300_000 + (row * 15_485_863) % 90_000,
                node: "127.0.0.1",
                operation: "write",
                outcome: "ok",
                ..rows::Request::default()
            }
        }));
    }
    let per_row_ns = (cpu_time_of_this_thread_ns() - cpu_ns) / ROWS;
    recorder.close()?;
    std::fs::remove_dir_all(&path)?;
    if shown {
        println!("{:>20} {:>8} {:>8.3}", "recording a row", "", per_row_ns as f64 / 1e3);
    }
    Ok(())
}
