//! Measures the overhead of recording on the node: each source alone, all of them together, and the tools that people use
//! instead. Each block is compared with blocks right before and after it on the same Cassandra with nothing attached.
//!
//! `cargo run --release --workspace --example source_cost -- [ROUNDS] [SECONDS] [NAME…]`, as root; with names, only these
//! sources or tools are attached. Each block warms up under load first. Then a closed loop finds the peak, and an open loop at
//! a third of the peak (about 70 % of the open loop's capacity) gives p99. Both give the machine's busy CPU time for each
//! request, of all processes. The order of blocks is random in each round, with an idle block between any two: the drift of a
//! shared machine from minute to minute is larger than the overhead. Intervals are 95 % bootstrap intervals of the mean over
//! rounds.

mod common;

use common::{Failure, Figure, Node, busy, interval, sources};
use helenus_load::{Cancel, Phase, Plan, Summary, Until, Workload, run};
use helenus_observe::Options;
use helenus_recording::{Manifest, Recorder};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const IN_FLIGHT: u32 = 128;
/// Share of the closed loop's peak. An open loop's requests come one by one and cost so much more CPU time that half of that
/// peak saturates the node. CPU use alone does not show saturation, since Cassandra's idle threads poll for work.
const SHARE_OF_PEAK: f64 = 0.35;
/// Warm-up of a block, until the agent's own code is compiled. Blocks without sources have the same, because a node
/// that has just rested does a fifth more than one that has been at its peak for a quarter of a minute.
const SETTLES: Duration = Duration::from_secs(15);

/// A source or tool that is attached in a block.
struct Variant {
    name: &'static str,
    watch: Watch,
    /// For each round: without sources before, with the source, and without sources after.
    measured: Vec<[Measured; 3]>,
}

enum Watch {
    Nothing,
    Ours(Box<Options>),
    /// A program and its arguments; PID stands for the node's process.
    Peer(&'static [&'static str]),
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = arguments.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let lasts = Duration::from_secs(arguments.get(1).map_or(Ok(6), |seconds| seconds.parse())?);
    let folder = tempfile::tempdir()?;
    let node = Node::start(folder.path(), Ipv4Addr::new(127, 0, 20, 62))?;

    let mut variants = variants()?;
    let wanted = arguments.get(2..).unwrap_or_default();
    variants.retain(|variant| wanted.is_empty() || wanted.iter().any(|name| name == variant.name));
    // The JVM compiles for some tens of seconds, and the first attach of the agent costs more than later ones, so both
    // happen before the blocks.
    let warm_up = Duration::from_secs(30);
    let first = &variants.first().ok_or("nothing to attach is of that name")?.watch;
    let peak_per_s = block(&node, folder.path(), first, warm_up, 1000.0)?.peak_per_s;
    let mut random = StdRng::seed_from_u64(1);
    let nothing = |rate_per_s: f64| block(&node, folder.path(), &Watch::Nothing, lasts, rate_per_s);
    // The node is warm by now.
    let rate_per_s = SHARE_OF_PEAK * nothing(peak_per_s * SHARE_OF_PEAK)?.peak_per_s;
    eprintln!("open loop at {rate_per_s:.0}/s");
    let mut before = nothing(rate_per_s)?;
    // The first round warms up further, and is not counted.
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..variants.len()).collect();
        order.shuffle(&mut random);
        for index in order {
            let variant = &mut variants[index];
            let with = block(&node, folder.path(), &variant.watch, lasts, rate_per_s)?;
            let after = nothing(rate_per_s)?;
            eprintln!("round {round}: {}: {with}; nothing, before and after it: {before}; {after}", variant.name);
            if round > 0 {
                variant.measured.push([before, with, after]);
            }
            before = after;
        }
    }
    let figures: [(&str, Figure<Measured>); 4] = [
        ("peak", |measured| measured.peak_per_s),
        ("CPU a request at the peak", |measured| measured.busy_at_peak_ns),
        ("p99 at the fixed rate", |measured| measured.p99_ns),
        ("CPU a request at it", |measured| measured.busy_ns),
    ];
    let row =
        |name: &str, cells: [String; 4]| println!("{name:>24} {}", cells.map(|cell| format!("{cell:>25}")).join(" "));
    row("% of nothing attached", figures.map(|(name, _)| name.to_string()));
    for variant in &variants {
        row(variant.name, figures.map(|(_, figure)| interval(&variant.measured, figure, &mut random)));
    }
    Ok(())
}

/// All sources that can be attached here.
fn variants() -> Result<Vec<Variant>, Failure> {
    let ours = sources()?.into_iter().map(|(name, options)| (name, Watch::Ours(Box::new(options))));
    let mut variants: Vec<(&str, Watch)> = ours.collect();
    const COUNT: &str = "tracepoint:raw_syscalls:sys_enter /pid == PID/ { @[args->id] = count(); }";
    let peers: [(&str, &'static [&'static str]); 5] = [
        ("strace -f -c", &["strace", "-f", "-c", "-o", "/dev/null", "-p", "PID"]),
        ("perf trace -s", &["perf", "trace", "-s", "-o", "/dev/null", "-p", "PID"]),
        ("bpftrace, calls counted", &["bpftrace", "-q", "-o", "/dev/null", "-e", COUNT]),
        ("perf record -g 99 Hz", &["perf", "record", "-q", "-F", "99", "-g", "-o", "/dev/null", "-p", "PID"]),
        ("tcpdump -w", &["tcpdump", "-i", "any", "-w", "/dev/null", "tcp", "port", "9042"]),
    ];
    for (name, words) in peers {
        match Command::new(words[0]).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status() {
            Ok(_) => variants.push((name, Watch::Peer(words))),
            Err(_) => eprintln!("{name} is not measured: there is no {} here", words[0]),
        }
    }
    let variant = |(name, watch)| Variant { name, watch, measured: Vec::new() };
    Ok(variants.into_iter().map(variant).collect())
}

#[derive(Clone, Copy)]
struct Measured {
    peak_per_s: f64,
    p99_ns: f64,
    /// Time of the machine's CPUs for a request in the open loop.
    busy_ns: f64,
    busy_at_peak_ns: f64,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [p99, at_peak, busy] = [self.p99_ns / 1e6, self.busy_at_peak_ns / 1e3, self.busy_ns / 1e3];
        write!(out, "{:.0}/s, p99 {p99:.2} ms, CPU a request {at_peak:.1} µs and {busy:.1} µs", self.peak_per_s)
    }
}

/// Drives a closed loop and then an open loop while the source runs. The load has a recording of its own.
fn block(node: &Node, folder: &Path, watch: &Watch, lasts: Duration, rate_per_s: f64) -> Result<Measured, Failure> {
    let (load_folder, node_folder) = (folder.join("load"), folder.join("node"));
    let recorder = Recorder::create(&node_folder, Manifest::new("cost", "source_cost"))?;
    let [watched] = &node.watched;
    let mut peer = None;
    let observation = match watch {
        Watch::Nothing => None,
        Watch::Ours(options) => Some(node.watch(&recorder, options)?),
        Watch::Peer(words) => {
            let words: Vec<String> = words.iter().map(|word| word.replace("PID", &watched.pid.to_string())).collect();
            let started =
                Command::new(&words[0]).args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            peer = Some(started);
            // Wait until the tool has attached to some hundred threads.
            std::thread::sleep(Duration::from_secs(2));
            None
        }
    };
    let load = Recorder::create(&load_folder, Manifest::new("cost", "source_cost"))?;
    let drive = |phases| -> Result<Summary, Failure> {
        let plan = Plan::new(Workload::open("keyvalue/mixed")?, phases, vec![node.address.clone()]);
        Ok(run(&plan, &load, &Cancel::new(), &mut |_| {})?)
    };
    let closed = |lasts| Phase::in_flight(IN_FLIGHT, Until::Elapsed(lasts));
    let timed = |phase| -> Result<(Summary, f64), Failure> {
        let before = busy()?;
        let summary = drive(vec![phase])?;
        let busy_ns = (busy()? - before).as_nanos() as f64 / summary.requests as f64;
        Ok((summary, busy_ns))
    };
    drive(vec![closed(SETTLES).unmeasured()])?;
    let (peak, busy_at_peak_ns) = timed(closed(lasts))?;
    let (open, busy_ns) = timed(Phase::rate(rate_per_s, Until::Elapsed(lasts)))?;
    if let Some(observation) = observation {
        observation.stop();
    }
    if let Some(peer) = peer {
        end(peer)?;
    }
    load.close()?;
    recorder.close()?;
    std::fs::remove_dir_all(&load_folder)?;
    std::fs::remove_dir_all(&node_folder)?;
    let of_last = |summary: &Summary| summary.phases.last().cloned().ok_or("a load without phases");
    Ok(Measured {
        peak_per_s: of_last(&peak)?.throughput_per_s,
        p99_ns: of_last(&open)?.response.p99_ns.map_or(f64::NAN, |ns| ns as f64),
        busy_ns,
        busy_at_peak_ns,
    })
}

fn end(mut peer: Child) -> Result<(), Failure> {
    let pid = i32::try_from(peer.id())?;
    // SAFETY: kill takes no pointers, and the child has not been waited for, so that the pid is still its own.
    unsafe { libc::kill(pid, libc::SIGINT) };
    peer.wait()?;
    Ok(())
}
