//! What a law costs that has nothing left to do: in one valve, under one closed loop, each law that searches, held at no limit,
//! and `fixed` at the same limit, in turn.
//!
//! `cargo run --release --workspace --example valve_rest -- [TURNS] [WORKLOAD…]`, of lwt, scans, inserts and reads; node, workload
//! and valves are those of experiments/adaptive-valves*.toml. A workload takes two to three minutes until the node is warm, and
//! three seconds for each of the TURNS (100): one of each setting, in an order that is drawn.
//!
//! Intervals hold 95 % of the means of turns, of the logarithms of the ratios within each.

mod valve_study;

use helenus_load::{Cancel, Phase, Until};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::time::Duration;
use valve_study::{FEW, Failure, Ratio, SEARCHING, Study, WOVEN, wanted};

const TURN: Duration = Duration::from_secs(1);
/// How it goes is said once in so many of them.
const SAID_EVERY: usize = 30;
/// Of all settings, before what is measured: each law is new to the JVM.
const REHEARSALS: usize = 10;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let turns: usize = arguments.first().map_or(Ok(100), |turns| turns.parse())?;
    for name in wanted(arguments.get(1..).unwrap_or_default())? {
        let mut study = Study::open(name)?;
        println!("{name}: {} in flight, valve at {}", study.in_flight, study.place()?);
        rest(&mut study, turns)?;
        study.close()?;
    }
    Ok(())
}

fn rest(study: &mut Study, turns: usize) -> Result<(), Failure> {
    let mut valve = study.law(SEARCHING[0])?;
    let max = valve["max"].clone();
    valve["min"] = max.clone();
    valve["law"] = json!("fixed");
    let mut settings = vec![(json!("fixed"), json!({"limit": max.to_string()}))];
    for law in SEARCHING {
        let valve = study.law(law)?;
        settings.push((valve["law"].clone(), valve.get("parameters").cloned().unwrap_or(json!({}))));
    }
    study.restore()?;
    let added = study.link.command("valve.add", valve)?;
    let rates = in_turn(study, &added["valve"], &settings, turns);
    study.link.remove_valve(None)?;
    let rates = rates?;
    let [fixed, laws @ ..] = &rates[..] else { return Err("no settings".into()) };
    println!("  fixed at {max}: {:.0} requests/s", fixed.iter().sum::<f64>() / fixed.len() as f64);
    for ((law, _), of) in settings[1..].iter().zip(laws) {
        let logs: Vec<f64> = of.iter().zip(fixed).map(|(of, fixed)| (of / fixed).ln()).collect();
        println!("  {}: {} of it in {} turns", law.as_str().unwrap_or_default(), Ratio::of(&logs).text(), logs.len());
    }
    Ok(())
}

/// Completed per second in each turn of each setting.
fn in_turn(
    study: &mut Study,
    valve: &Value,
    settings: &[(Value, Value)],
    turns: usize,
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut random = StdRng::seed_from_u64(1);
    let mut order: Vec<usize> = Vec::new();
    for _ in 0..REHEARSALS + turns {
        let mut turn: Vec<usize> = (0..settings.len()).collect();
        turn.shuffle(&mut random);
        order.extend(turn);
    }
    let phases = vec![
        Phase::in_flight(FEW, Until::Elapsed(WOVEN)),
        Phase::in_flight(study.in_flight, Until::Elapsed(TURN * (order.len() as u32 + 10))),
    ];
    let mut plan = study.plan(phases);
    plan.progress_every = TURN;
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); settings.len()];
    let mut next = order.iter();
    let mut current: Option<usize> = None;
    let mut failed = None;
    let cancel = Cancel::new();
    study.drive(&plan, &cancel, &mut |link, progress| {
        if progress.elapsed < WOVEN + TURN {
            return;
        }
        if let Some(setting) = current {
            rates[setting].push(progress.ok_per_s);
        }
        if next.len().is_multiple_of(SAID_EVERY) {
            eprintln!("{} s to go, {:.0}/s", TURN.as_secs() as usize * next.len(), progress.ok_per_s);
        }
        current = next.next().copied();
        match current.map(|setting| &settings[setting]) {
            Some((law, parameters)) => {
                let with = json!({"name": valve, "law": law, "parameters": parameters});
                if let Err(error) = link.command("valve.set", with) {
                    failed = Some(error);
                    cancel.stop();
                }
            }
            None => cancel.stop(),
        }
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(rates.into_iter().map(|rates| rates[REHEARSALS.min(rates.len())..].to_vec()).collect()),
    }
}
