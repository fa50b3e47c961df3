//! What one source after the other costs the peak: each is switched on and off again and again, some seconds at a time, under one
//! load that never pauses.
//!
//! `cargo run --release --workspace --example source_toggle -- WORKLOAD WARM_UP_S ROUNDS SECONDS NAME…`, as root, with the
//! names of source_cost. A closed loop's throughput with a source is compared with that without it right before and right after. Peaks of
//! Cassandra drift by a fifth from one stretch of three seconds to the next, so that it takes forty rounds for a standard error of 2 to
//! 3 %. What a source costs as it starts is left out: the two seconds after a switch.

mod common;

use common::{Failure, Node, sources};
use helenus_load::{Cancel, Phase, Plan, Until, Workload, run};
use helenus_recording::{Manifest, Recorder};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const IN_FLIGHT: u32 = 128;
const SETTLES: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(24 * 3600);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, warm_up_s, rounds, seconds, names @ ..] = &arguments[..] else {
        return Err(
            "source_toggle WORKLOAD WARM_UP_S ROUNDS SECONDS NAME…, such as keyvalue/read 180 40 3 stacks".into()
        );
    };
    let (warm_up, rounds) = (Duration::from_secs(warm_up_s.parse()?), rounds.parse::<usize>()?);
    let lasts = Duration::from_secs_f64(seconds.parse()?);
    let mut wanted = sources()?;
    wanted.retain(|(name, _)| names.iter().any(|wanted| wanted == name));
    if wanted.len() != names.len() || names.is_empty() {
        return Err("not all of these are sources".into());
    }
    let folder = tempfile::tempdir()?;
    let node = Node::start(folder.path(), Ipv4Addr::new(127, 0, 20, 63))?;
    let done = Arc::new(AtomicU64::new(0));
    let cancel = Cancel::new();
    let load = {
        let plan = Plan::new(
            Workload::open(workload)?,
            vec![Phase::in_flight(IN_FLIGHT, Until::Elapsed(LONGEST))],
            vec![node.address.clone()],
        );
        let recorder = Recorder::create(&folder.path().join("load"), Manifest::new("cost", "source_toggle"))?;
        let (done, cancel) = (Arc::clone(&done), cancel.clone());
        std::thread::spawn(move || {
            run(&plan, &recorder, &cancel, &mut |now| done.store(now.ok + now.failed, Ordering::Relaxed))
        })
    };
    std::thread::sleep(warm_up);
    let measure = || -> f64 {
        std::thread::sleep(SETTLES);
        let (before, begun) = (done.load(Ordering::Relaxed), Instant::now());
        std::thread::sleep(lasts);
        (done.load(Ordering::Relaxed) - before) as f64 / begun.elapsed().as_secs_f64()
    };
    let mut logs: Vec<Vec<f64>> = vec![Vec::new(); wanted.len()];
    let mut before = measure();
    for round in 0..rounds {
        for position in (0..wanted.len()).map(|position| (position + round) % wanted.len()) {
            let (name, options) = &wanted[position];
            let recorder = Recorder::create(&folder.path().join("node"), Manifest::new("cost", "source_toggle"))?;
            let observation = node.watch(&recorder, options)?;
            let with = measure();
            observation.stop();
            recorder.close()?;
            std::fs::remove_dir_all(folder.path().join("node"))?;
            let after = measure();
            eprintln!("round {round}: {name}: {before:.0}/s, with it {with:.0}/s, {after:.0}/s");
            logs[position].push(with.ln() - f64::midpoint(before, after).ln());
            before = after;
        }
    }
    cancel.stop();
    load.join().map_err(|_| "the load's thread panicked")??;
    println!("{:>20}  % of the peak without it, and standard error", "");
    for ((name, _), logs) in wanted.iter().zip(&logs) {
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        println!("{name:>20}  {:.1} ± {:.1}", mean.exp() * 100.0, (variance / count).sqrt() * 100.0);
    }
    Ok(())
}
