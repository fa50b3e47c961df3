//! Measures the overhead of a valve that can gain nothing, on one node under one closed loop.
//!
//! `cargo run --release --workspace --example valve_rest -- [TURNS] [WORKLOAD…]`, of lwt, scans, inserts and reads; node, workload
//! and valves are those of experiments/adaptive-valves*.toml. A workload takes two to three minutes until the node is warm, and
//! then five to six seconds for each of the TURNS (100).
//!
//! 1. A valve that has no limit, against none: 12 s each, compared by how long ago the valve was added or removed, because the
//!    JVM recompiles methods after each retransformation; one such pair for ten TURNS.
//! 2. A law that has nothing left to do: in one valve each law that searches, held at no limit, and `fixed` at the same limit,
//!    in turns of a second.
//!
//! The order in a turn is random. Ratios are also reported relative to the CPU speed in each turn, see `yardstick`, and for the
//! CPU time of a request at that speed, in the threads that process requests and the agent's threads. Flushes, compactions and
//! collections, which come and go, are not part of that time. Intervals are 95 % intervals of the mean over turns, of the
//! logarithms of the ratios within each turn.

mod node_cpu;
mod valve_study;

use helenus_cassandra::target::{self, TargetName};
use helenus_control::Link;
use helenus_load::{Cancel, Phase, Until};
use node_cpu::CpuTime;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use valve_study::{FEW, Failure, Ratio, Reading, SEARCHING, Study, WOVEN, Yardstick, mean_per_s, wanted};

const TICK: Duration = Duration::from_secs(1);
/// Run both once before measuring: the valve's code is new to the JVM.
const STANDS: Turn = Turn { stretches: 3, ticks: 4, rehearsals: 1 };
/// Run all settings ten times before measuring: each law is new to the JVM.
const RESTS: Turn = Turn { stretches: 1, ticks: 1, rehearsals: 10 };
/// Turns of the laws for each pair of turns with and without a valve.
const RESTS_EACH: usize = 10;
/// Ticks between two reports of progress.
const SAID_EVERY: usize = 30;

/// Length of one setting's turn.
struct Turn {
    /// Each turn is one observation.
    stretches: usize,
    /// Ticks of a stretch.
    ticks: usize,
    /// Rounds of all settings that are run first and not counted.
    rehearsals: usize,
}

impl Turn {
    fn lasts(&self) -> usize {
        self.stretches * self.ticks
    }
}

type Setting<'a> = &'a mut dyn FnMut(&mut Link, usize) -> Result<(), Failure>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let turns: usize = arguments.first().map_or(Ok(100), |turns| turns.parse())?;
    for name in wanted(arguments.get(1..).unwrap_or_default())? {
        let mut study = Study::open(name)?;
        println!("{name}: {} in flight, valve at {}", study.in_flight, study.place()?);
        stand(&mut study, turns.div_ceil(RESTS_EACH))?;
        rest(&mut study, turns)?;
        study.close()?;
    }
    Ok(())
}

/// A valve without a limit.
fn open_valve(study: &Study) -> Result<Value, Failure> {
    let mut valve = study.law(SEARCHING[0])?;
    valve["min"] = valve["max"].clone();
    valve["law"] = json!("fixed");
    valve["parameters"] = json!({"limit": valve["max"].to_string()});
    Ok(valve)
}

fn stand(study: &mut Study, turns: usize) -> Result<(), Failure> {
    let valve = open_valve(study)?;
    study.restore()?;
    let mut stands = false;
    let rates = in_turn(study, &STANDS, (2, turns), &mut |link, setting| {
        let with = setting > 0;
        if with && !stands {
            link.command("valve.add", valve.clone())?;
        } else if stands && !with {
            link.remove_valve(None)?;
        }
        stands = with;
        Ok(())
    });
    if stands {
        study.link.remove_valve(None)?;
    }
    let [none, valve] = &rates?[..] else { return Err("no settings".into()) };
    println!("  none: {:.0} requests/s", mean(none.iter().flatten().map(|one| one.completed_per_s)));
    for (stretch, (none, valve)) in none.iter().zip(valve).enumerate() {
        let (from, to) = (stretch * STANDS.ticks, (stretch + 1) * STANDS.ticks);
        println!("  a valve at no limit, {from} to {to} s: {}", against(none, valve));
        let compilers = |stretches: &[Stretch]| mean(stretches.iter().map(|one| one.compilers));
        println!("    compilers took {:.2} CPUs, and {:.2} without", compilers(valve), compilers(none));
    }
    Ok(())
}

fn rest(study: &mut Study, turns: usize) -> Result<(), Failure> {
    let valve = open_valve(study)?;
    let max = valve["max"].clone();
    let mut settings = vec![(valve["law"].clone(), valve["parameters"].clone())];
    for law in SEARCHING {
        let valve = study.law(law)?;
        settings.push((valve["law"].clone(), valve.get("parameters").cloned().unwrap_or(json!({}))));
    }
    study.restore()?;
    let added = study.link.command("valve.add", valve)?;
    let rates = in_turn(study, &RESTS, (settings.len(), turns), &mut |link, setting| {
        let (law, parameters) = &settings[setting];
        link.command("valve.set", json!({"name": added["valve"], "law": law, "parameters": parameters}))?;
        Ok(())
    });
    study.link.remove_valve(None)?;
    let rates = rates?;
    let [fixed, laws @ ..] = &rates[..] else { return Err("no settings".into()) };
    println!("  fixed at {max}: {:.0} requests/s", mean(fixed[0].iter().map(|one| one.completed_per_s)));
    for ((law, _), of) in settings[1..].iter().zip(laws) {
        println!("  {}: {}", law.as_str().unwrap_or_default(), against(&fixed[0], &of[0]));
    }
    Ok(())
}

/// The figures of one stretch of a round.
struct Stretch {
    completed_per_s: f64,
    /// See [`Yardstick`].
    speed: f64,
    /// CPUs busy with requests; see [`CpuTime`].
    cpus: f64,
    compilers: f64,
}

impl Stretch {
    fn for_the_speed(&self) -> f64 {
        self.completed_per_s / self.speed
    }

    fn cpu_per_request(&self) -> f64 {
        self.cpus * self.speed / self.completed_per_s
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0), |(sum, count), figure| (sum + figure, count + 1));
    sum / f64::from(count)
}

fn against(to: &[Stretch], of: &[Stretch]) -> String {
    let ratio = |figure: fn(&Stretch) -> f64| {
        let logs: Vec<f64> = of.iter().zip(to).map(|(of, to)| (figure(of) / figure(to)).ln()).collect();
        Ratio::of(&logs).text()
    };
    format!(
        "{} of it in {} turns, {} for the speed; {} of its CPU time per request",
        ratio(|one| one.completed_per_s),
        of.len(),
        ratio(Stretch::for_the_speed),
        ratio(Stretch::cpu_per_request),
    )
}

/// The stretches of each setting, one per round.
///
/// # Arguments
/// * `settings` and `turns`: how many there are of each
fn in_turn(
    study: &mut Study,
    turn: &Turn,
    (settings, turns): (usize, usize),
    set: Setting,
) -> Result<Vec<Vec<Vec<Stretch>>>, Failure> {
    let mut random = StdRng::seed_from_u64(1);
    let mut order: Vec<usize> = Vec::new();
    for _ in 0..turn.rehearsals + turns {
        let mut drawn: Vec<usize> = (0..settings).collect();
        drawn.shuffle(&mut random);
        order.extend(drawn);
    }
    let ticks = order.len() * turn.lasts();
    let phases = vec![
        Phase::in_flight(FEW, Until::Elapsed(WOVEN)),
        // Longer than needed, because ticks are late on busy CPUs; it is ended after the last round.
        Phase::in_flight(study.in_flight, Until::Elapsed(2 * TICK * ticks as u32)),
    ];
    let mut plan = study.plan(phases);
    plan.progress_every = TICK;
    let began = Instant::now();
    let now_ns = || began.elapsed().as_nanos() as i64;
    let ended = AtomicBool::new(false);
    let yardstick = Yardstick::new();
    let pid = target::find(TargetName::Address(study.node))?.pid;
    let mut ends: Vec<End> = Vec::new();
    let mut failed = None;
    let cancel = Cancel::new();
    let (driven, speeds) = std::thread::scope(|scope| {
        let speeds = scope.spawn(|| yardstick.read(now_ns, &ended));
        let driven = study.drive(&plan, &cancel, &mut |link, progress| {
            let passed = ends.len();
            if progress.elapsed < WOVEN + TICK || passed > ticks {
                return;
            }
            ends.push(End { at_ns: now_ns(), ok_per_s: progress.ok_per_s, cpu: CpuTime::of(pid) });
            if passed.is_multiple_of(SAID_EVERY) {
                eprintln!("{} s to go, {:.0}/s", ticks - passed, progress.ok_per_s);
            }
            let result = match order.get(passed / turn.lasts()) {
                Some(setting) if passed.is_multiple_of(turn.lasts()) => set(link, *setting),
                Some(_) => Ok(()),
                None => {
                    cancel.stop();
                    Ok(())
                }
            };
            if let Err(error) = result {
                failed = Some(error);
                cancel.stop();
            }
        });
        ended.store(true, Ordering::Relaxed);
        (driven, speeds.join())
    });
    driven?;
    if let Some(error) = failed {
        return Err(error);
    }
    let speeds = speeds.map_err(|_| "the yardstick ended badly")??;
    let mut given: Vec<Vec<Vec<Stretch>>> =
        (0..settings).map(|_| (0..turn.stretches).map(|_| Vec::new()).collect()).collect();
    for (index, setting) in order.iter().enumerate().skip(turn.rehearsals * settings) {
        for (stretch, given) in given[*setting].iter_mut().enumerate() {
            let first = index * turn.lasts() + stretch * turn.ticks;
            let ends = ends.get(first..=first + turn.ticks).ok_or("the load ended before its turns")?;
            given.push(stretch_of(ends, &speeds));
        }
    }
    Ok(given)
}

/// Figures of a tick.
struct End {
    at_ns: i64,
    /// Completed requests per second since the previous tick.
    ok_per_s: f64,
    cpu: CpuTime,
}

/// The figures between the first tick and the last.
fn stretch_of(ends: &[End], speeds: &[Reading]) -> Stretch {
    let (first, last) = (&ends[0], &ends[ends.len() - 1]);
    let seconds = (last.at_ns - first.at_ns) as f64 / 1e9;
    Stretch {
        completed_per_s: mean(ends[1..].iter().map(|end| end.ok_per_s)),
        speed: mean_per_s(speeds, first.at_ns..last.at_ns),
        cpus: (last.cpu.requests_s - first.cpu.requests_s) / seconds,
        compilers: (last.cpu.compilers_s - first.cpu.compilers_s) / seconds,
    }
}
