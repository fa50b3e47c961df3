//! Measures the overhead of sources, one after the other or all together: each is switched on and off repeatedly, some
//! seconds at a time, under one load that never pauses.
//!
//! `cargo run --release --workspace --example source_toggle -- WORKLOAD peak|RATE WARM_UP_S ROUNDS SECONDS NAME…`, as root,
//! with the names of source_cost. At the peak 128 requests are in flight; at a rate the schedule sends them. Each stretch with
//! a source is compared with the stretches without the source right before and right after. Peaks of Cassandra drift by a fifth
//! from one stretch of some seconds to the next, so a standard error of 2 % takes tens of rounds. The start of a source does
//! not count: the first seconds after a switch and the whole first round, in which the JVM compiles the source's code, are left
//! out.

mod common;

use common::{Failure, Figure, Node, busy, interval, sources};
use helenus_load::{Cancel, Phase, PhaseSummary, Plan, Until, Workload, run};
use helenus_observe::Options;
use helenus_recording::{Manifest, Recorder};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const IN_FLIGHT: u32 = 128;
/// Time after a switch until all programs are in the kernel and the agent's own code has run for a while.
const SETTLES: Duration = Duration::from_secs(6);
const POLL_EVERY: Duration = Duration::from_millis(50);

const USAGE: &str =
    "source_toggle WORKLOAD peak|RATE WARM_UP_S ROUNDS SECONDS NAME…, such as keyvalue/read peak 180 40 3 stacks";

/// The figures of a measured stretch.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    per_s: f64,
    p99_ns: f64,
    /// CPU time of the machine per request.
    busy_ns: f64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, rate, warm_up_s, rounds, seconds, names @ ..] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let warm_up = Duration::from_secs(warm_up_s.parse()?);
    let lasts = Duration::from_secs_f64(seconds.parse()?);
    let mut wanted = sources()?;
    wanted.retain(|(name, _)| names.iter().any(|wanted| wanted == name));
    if wanted.len() != names.len() || names.is_empty() {
        return Err("not all of these are sources".into());
    }
    let rate_per_s = (rate != "peak").then(|| rate.parse::<f64>()).transpose()?;
    let load = |until| match rate_per_s {
        None => Phase::in_flight(IN_FLIGHT, until),
        Some(rate_per_s) => Phase::rate(rate_per_s, until),
    };
    // The idle setting attaches nothing; the first round is not counted.
    let switched: Vec<usize> =
        (0..=rounds.parse::<usize>()?).flat_map(|round| (0..wanted.len()).map(move |at| at + round)).collect();
    let switched: Vec<usize> = switched.iter().map(|at| at % wanted.len()).collect();
    let stretches: Vec<Option<usize>> =
        std::iter::once(None).chain(switched.iter().flat_map(|at| [Some(*at), None])).collect();
    let stretch = || [load(Until::Elapsed(SETTLES)).unmeasured(), load(Until::Elapsed(lasts))];
    let mut phases = vec![load(Until::Elapsed(warm_up)).unmeasured()];
    phases.extend(stretches.iter().flat_map(|_| stretch()));

    let folder = tempfile::tempdir()?;
    let node = Node::start(folder.path(), Ipv4Addr::new(127, 0, 20, 63))?;
    let mut plan = Plan::new(Workload::open(workload)?, phases, vec![node.address.clone()]);
    plan.progress_every = POLL_EVERY;
    let recorder = Recorder::create(&folder.path().join("load"), Manifest::new("cost", "source_toggle"))?;
    let cancel = Cancel::new();
    let (say, begun) = channel();
    let (summary, switches) = std::thread::scope(|scope| {
        let (stretches, wanted, node, folder, cancel) = (&stretches, &wanted, &node, folder.path(), &cancel);
        let switches = scope.spawn(move || {
            let switches = follow(begun, stretches, wanted, node, folder);
            if switches.is_err() {
                cancel.stop();
            }
            switches.map_err(|error| error.to_string())
        });
        let mut phase = 0;
        let summary = run(&plan, &recorder, cancel, &mut |now| {
            let number = now.phase.map_or(0, |phase| phase.number);
            if number != phase {
                phase = number;
                // Sending fails only if the receiving thread ended after an error, which that thread reports.
                let _ = say.send(number);
            }
        });
        drop(say);
        (summary, switches.join())
    });
    let busy_s = switches.map_err(|_| "the thread that switches sources panicked")??;
    let measured: Vec<PhaseSummary> = summary?.phases.into_iter().filter(|phase| phase.measured).collect();
    let measured: Vec<Stretch> =
        measured.iter().zip(&busy_s).map(|(phase, busy_s)| Stretch::of(phase, *busy_s)).collect();
    let figures: [(&str, Figure<Stretch>); 3] = [
        ("throughput", |stretch| stretch.per_s),
        ("p99", |stretch| stretch.p99_ns),
        ("CPU a request", |stretch| stretch.busy_ns),
    ];
    let mut random = StdRng::seed_from_u64(1);
    println!("% of the same without it, mean and 95 % interval of it, and standard error");
    for (at, (name, _)) in wanted.iter().enumerate() {
        let counted = measured.windows(3).enumerate().step_by(2).skip(wanted.len());
        let rounds: Vec<[Stretch; 3]> = counted
            .filter(|(first, _)| stretches[first + 1] == Some(at))
            .filter_map(|(_, stretches)| stretches.try_into().ok())
            .collect();
        for [before, with, after] in &rounds {
            eprintln!("{name}: {before:?}, with it {with:?}, {after:?}");
        }
        for (figure_name, figure) in &figures {
            println!("{name:>20} {figure_name:>14}: {}", interval(&rounds, *figure, &mut random));
        }
    }
    Ok(())
}

impl Stretch {
    fn of(phase: &PhaseSummary, busy_s: f64) -> Stretch {
        let p99_ns = phase.response.p99_ns.map_or(f64::NAN, |ns| ns as f64);
        Stretch { per_s: phase.throughput_per_s, p99_ns, busy_ns: busy_s * 1e9 / phase.requests.max(1) as f64 }
    }
}

/// Switches sources when the phases of the load begin; returns the busy CPU time of each measured stretch.
fn follow(
    begun: Receiver<usize>,
    stretches: &[Option<usize>],
    wanted: &[(&'static str, Options)],
    node: &Node,
    folder: &Path,
) -> Result<Vec<f64>, Failure> {
    let node_folder = folder.join("node");
    let (mut attached, mut since, mut busy_s) = (None, None, Vec::new());
    for number in begun {
        let now = busy()?;
        // The first phase is the warm-up; then each stretch has two phases.
        let Some((stretch, is_measured)) = number.checked_sub(2).map(|at| (at / 2, at % 2 == 1)) else { continue };
        busy_s.extend(since.take().map(|since| (now - since).as_secs_f64()));
        if is_measured {
            since = Some(now);
            continue;
        }
        if let Some((observation, recorder)) = attached.take() {
            let (observation, recorder): (helenus_observe::Observation, Recorder) = (observation, recorder);
            observation.stop();
            recorder.close()?;
            std::fs::remove_dir_all(&node_folder)?;
        }
        if let Some(at) = stretches.get(stretch).copied().flatten() {
            let recorder = Recorder::create(&node_folder, Manifest::new("cost", "source_toggle"))?;
            attached = Some((node.watch(&recorder, &wanted[at].1)?, recorder));
        }
        eprint!("\rstretch {} of {}", stretch + 1, stretches.len());
    }
    if let Some(since) = since {
        busy_s.push((busy()? - since).as_secs_f64());
    }
    eprintln!();
    Ok(busy_s)
}
