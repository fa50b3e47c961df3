//! What a valve costs where nothing is to be won, on one node under one closed loop.
//!
//! `cargo run --release --workspace --example valve_rest -- [TURNS] [WORKLOAD…]`, of lwt, scans, inserts and reads; node, workload
//! and valves are those of experiments/adaptive-valves*.toml. A workload takes two to three minutes until the node is warm, and
//! then five seconds for each of the TURNS (100).
//!
//! 1. A valve that stands at no limit, against none: 8 s each, of which the last four count, so that the JVM has compiled what
//!    was woven, or is no more; one such pair for ten TURNS.
//! 2. A law that has nothing left to do: in one valve each law that searches, held at no limit, and `fixed` at the same limit,
//!    in turns of a second.
//!
//! The order in a turn is drawn. Ratios are also told for the speed that the CPUs had in each turn; see `yardstick`. Intervals
//! hold 95 % of the means of turns, of the logarithms of the ratios within each.

mod valve_study;

use helenus_control::Link;
use helenus_load::{Cancel, Phase, Until};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use valve_study::{FEW, Failure, Ratio, SEARCHING, Study, WOVEN, Yardstick, mean_per_s, wanted};

const TICK: Duration = Duration::from_secs(1);
/// How long a valve is there or is not, and what of it counts; ticks.
const STANDS: Turn = Turn { lasts: 8, counts: 4, rehearsals: 1 };
/// Of all settings ten times before what is measured: each law is new to the JVM.
const RESTS: Turn = Turn { lasts: 1, counts: 1, rehearsals: 10 };
/// So many turns of the laws for one pair of with and without a valve.
const RESTS_EACH: usize = 10;
/// How it goes is said once in so many ticks.
const SAID_EVERY: usize = 30;

/// How long one setting holds; ticks.
struct Turn {
    lasts: usize,
    /// The last of them.
    counts: usize,
    /// Turns of all settings before those that count.
    rehearsals: usize,
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

/// A valve that lets all in.
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
    println!("  none: {:.0} requests/s", mean(none));
    println!("  a valve at no limit: {}", against(none, valve));
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
    println!("  fixed at {max}: {:.0} requests/s", mean(fixed));
    for ((law, _), of) in settings[1..].iter().zip(laws) {
        println!("  {}: {}", law.as_str().unwrap_or_default(), against(fixed, of));
    }
    Ok(())
}

/// What was completed per second in one turn of a setting.
struct Rate {
    as_it_was: f64,
    for_the_speed: f64,
}

fn mean(rates: &[Rate]) -> f64 {
    rates.iter().map(|rate| rate.as_it_was).sum::<f64>() / rates.len() as f64
}

fn against(to: &[Rate], of: &[Rate]) -> String {
    let ratio = |figure: fn(&Rate) -> f64| {
        let logs: Vec<f64> = of.iter().zip(to).map(|(of, to)| (figure(of) / figure(to)).ln()).collect();
        Ratio::of(&logs).text()
    };
    let (as_it_was, for_the_speed) = (ratio(|rate| rate.as_it_was), ratio(|rate| rate.for_the_speed));
    format!("{as_it_was} of it in {} turns, {for_the_speed} for the speed", of.len())
}

/// Those of each setting, one in each turn.
///
/// # Arguments
/// * `settings` and `turns`: how many there are of each
fn in_turn(
    study: &mut Study,
    turn: &Turn,
    (settings, turns): (usize, usize),
    set: Setting,
) -> Result<Vec<Vec<Rate>>, Failure> {
    let mut random = StdRng::seed_from_u64(1);
    let mut order: Vec<usize> = Vec::new();
    for _ in 0..turn.rehearsals + turns {
        let mut drawn: Vec<usize> = (0..settings).collect();
        drawn.shuffle(&mut random);
        order.extend(drawn);
    }
    let ticks = order.len() * turn.lasts;
    let phases = vec![
        Phase::in_flight(FEW, Until::Elapsed(WOVEN)),
        Phase::in_flight(study.in_flight, Until::Elapsed(TICK * (ticks as u32 + 10))),
    ];
    let mut plan = study.plan(phases);
    plan.progress_every = TICK;
    let began = Instant::now();
    let now_ns = || began.elapsed().as_nanos() as i64;
    let ended = AtomicBool::new(false);
    let yardstick = Yardstick::new();
    // What was completed per second until then, since the one before; the first begins the first turn.
    let mut ends: Vec<(i64, f64)> = Vec::new();
    let mut failed = None;
    let cancel = Cancel::new();
    let (driven, speeds) = std::thread::scope(|scope| {
        let speeds = scope.spawn(|| yardstick.read(now_ns, &ended));
        let driven = study.drive(&plan, &cancel, &mut |link, progress| {
            let passed = ends.len();
            if progress.elapsed < WOVEN + TICK || passed > ticks {
                return;
            }
            ends.push((now_ns(), progress.ok_per_s));
            if passed.is_multiple_of(SAID_EVERY) {
                eprintln!("{} s to go, {:.0}/s", ticks - passed, progress.ok_per_s);
            }
            let result = match order.get(passed / turn.lasts) {
                Some(setting) if passed.is_multiple_of(turn.lasts) => set(link, *setting),
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
    let mut rates: Vec<Vec<Rate>> = (0..settings).map(|_| Vec::new()).collect();
    for (index, setting) in order.iter().enumerate().skip(turn.rehearsals * settings) {
        let last = (index + 1) * turn.lasts;
        let counted = ends.get(last - turn.counts..=last).ok_or("the load ended before its turns")?;
        let as_it_was = counted[1..].iter().map(|(_, rate)| rate).sum::<f64>() / turn.counts as f64;
        let speed = mean_per_s(&speeds, counted[0].0..counted[turn.counts].0);
        rates[*setting].push(Rate { as_it_was, for_the_speed: as_it_was / speed });
    }
    Ok(rates)
}
