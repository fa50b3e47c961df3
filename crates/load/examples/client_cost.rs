//! Client CPU per request, several rounds of each load, and what recording has of it.
//!
//! `cargo run --release -p helenus-load --example client_cost -- [ROUNDS] [NODE]`; without a node, one is started.

use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::{Cancel, Phase, Plan, Until, Workload, run};
use helenus_recording::{Manifest, Recorder};
use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
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
    let lasts = Until::Elapsed(Duration::from_secs(5));
    let loads = [
        Phase::in_flight(1, lasts),
        Phase::in_flight(32, lasts),
        Phase::in_flight(128, lasts),
        Phase::rate(1000.0, lasts),
        Phase::rate(5000.0, lasts),
    ];
    println!(
        "{:>14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "load", "req/s", "CPU µs", "p50 µs", "p99 µs", "start p99", "late"
    );
    for round in 0..=rounds {
        for load in &loads {
            let path = folder.path().join(format!("{round}-{}", load.name.replace('/', "-")));
            let recorder = Recorder::create(&path, Manifest::new("cost", "client_cost"))?;
            let plan = Plan::new(Workload::open("keyvalue/write")?, vec![load.clone()], vec![node.clone()]);
            let summary = run(&plan, &recorder, &Cancel::new(), &mut |_| {})?;
            recorder.close()?;
            let (Some(phase), true) = (summary.phases.first(), round > 0) else { continue };
            let us = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e3);
            // How late requests start: what response time has over service time.
            let behind = us(phase.response.p99_ns) - us(phase.service.p99_ns);
            println!(
                "{:>14} {:>9.0} {:>9.2} {:>9.0} {:>9.0} {:>9.0} {:>8}",
                load.name,
                phase.throughput_per_s,
                phase.client_cpu_us_per_request.unwrap_or(f64::NAN),
                us(phase.service.p50_ns),
                us(phase.service.p99_ns),
                behind,
                phase.lag.total(),
            );
            std::fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
