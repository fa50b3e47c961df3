//! Measures the gain of a valve on the workloads of the study: each law against the best fixed limit and against no valve, on
//! one Cassandra, in closed loop with as many requests in flight as the study's surge has at its peak.
//!
//! `cargo run --release --workspace --example valve_gain -- [ROUNDS] [SECONDS] [WORKLOAD…]`, of lwt, scans, inserts and reads;
//! node, workload and valves are those of experiments/adaptive-valves*.toml. One workload takes about six minutes
//! and four more a round.
//!
//! 1. The warm-up runs until the node's throughput does not grow any more, for two minutes at most: with a few requests in
//!    flight, and with all. The node's JVM is started ready for retransformation. A valve is added and removed before.
//! 2. The sweep: no valve and fixed limits from 2 to 128, SECONDS (5) each, twice in an order that is drawn. With 0 there is no
//!    sweep, no step 4 and no variant but none and the laws that search, for a first look within ten minutes.
//! 3. ROUNDS (3): no valve, the limit that did best in the sweep, and each law; for 20 s from the surge on, in which a law may
//!    learn, and 16 s that are judged. Figures of the sweep are not judged: the best of eight noisy figures is biased upwards.
//!    Every block of the sweep and of the rounds begins with a few requests in flight, for 8 s in which the JVM recompiles the
//!    retransformed methods; then all requests come at once.
//!    The reported movement of a limit is the share of the judged time in which it is further than a tenth from its median.
//! 4. In the last round the laws that search go on with a tenth in flight for 40 s, and with all again for as long.
//!
//! The speed of a shared host's CPUs varies by half from one block to the next, and by more the more CPUs a node keeps busy;
//! see `yardstick`. So each figure is also reported relative to the CPU speed in its phase: completions per piece of work that
//! could be done, and a time as a number of such pieces. Verdicts use these relative figures.
//!
//! Intervals are 95 % intervals of the mean over rounds by Student's t, of the logarithms of the ratios within each round. A
//! figure is MISSED if its whole interval misses the bound, and NOT SHOWN if the mean misses the bound but the interval
//! contains it: more rounds would decide. One round has no interval.

mod valve_study;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::json;
use std::time::Duration;
use valve_study::{Block, FEW, Failure, Ratio, SEARCHING, Study, Valve, WOVEN, summary, wanted};

const LIMITS: [u32; 7] = [2, 4, 8, 16, 32, 64, 128];
const LAWS: [&str; 3] = ["throughput", "response-time", "gradient2"];
const LEARNS: Duration = Duration::from_secs(20);
const JUDGED: Duration = Duration::from_secs(16);
/// Long enough to tell a short trial, which a settled law makes now and then, from a move to another limit.
const STEP: Duration = Duration::from_secs(40);
/// Time until a fixed limit takes effect and requests that entered before it have left.
const SETTLES: Duration = Duration::from_secs(1);
/// The phases of a block in a round; the steps are those of the last round.
const LEARNING: usize = 1;
const SETTLED: usize = 2;
const STEPS: [(usize, &str); 2] = [(3, "a tenth in flight"), (4, "all again")];
/// Ratios of at least this count as gains.
const GAIN: f64 = 0.05;

/// The bounds that are required.
const OF_BEST: f64 = 0.97;
const OF_NONE: f64 = 0.98;
const OF_GAIN: f64 = 0.9;
const MOVES: f64 = 0.1;
const SETTLES_S: f64 = 15.0;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = arguments.first().map_or(Ok(3), |rounds| rounds.parse())?;
    let sweeps_for = Duration::from_secs(arguments.get(1).map_or(Ok(5), |seconds| seconds.parse())?);
    for name in wanted(arguments.get(2..).unwrap_or_default())? {
        study(name, (rounds, sweeps_for))?;
    }
    Ok(())
}

fn study(name: &str, (rounds, sweeps_for): (usize, Duration)) -> Result<(), Failure> {
    let mut study = Study::open(name)?;
    let mut random = StdRng::seed_from_u64(1);
    println!("{name}: {} in flight, valve at {}", study.in_flight, study.place()?);
    let mut variants = vec![("none".to_string(), None)];
    let sweeps = !sweeps_for.is_zero();
    if sweeps {
        let found = sweep(&mut study, sweeps_for, &mut random)?;
        let (none, of_limits) = found.split_first().ok_or("no sweep")?;
        let best = (0..LIMITS.len()).max_by(|a, b| of_limits[*a].total_cmp(&of_limits[*b])).ok_or("no limits")?;
        println!(
            "  sweep, requests/s at its mean CPU speed: none {none:.0}{}",
            LIMITS
                .iter()
                .zip(of_limits)
                .fold(String::new(), |text, (limit, rate)| { format!("{text}, {limit} {rate:.0}") })
        );
        variants.push((format!("best, {}", LIMITS[best]), study.fixed(LIMITS[best])?));
    }
    let laws: &[&str] = if sweeps { &LAWS } else { &SEARCHING };
    for law in laws {
        variants.push((law.to_string(), Some(study.law(law)?)));
    }
    let mut blocks: Vec<Vec<Block>> = variants.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..variants.len()).collect();
        order.shuffle(&mut random);
        for index in order {
            let (name, valve) = &variants[index];
            let all = study.in_flight;
            let mut phases = vec![(FEW, WOVEN), (all, LEARNS), (all, JUDGED)];
            if sweeps && round == rounds && SEARCHING.contains(&name.as_str()) {
                phases.extend([((all / 10).max(1), STEP), (all, STEP)]);
            }
            study.restore()?;
            let block = study.block(valve, &phases)?;
            eprintln!("round {round}: {name}: {}", summary(&block));
            blocks[index].push(block);
        }
    }
    report(&variants, &blocks, sweeps);
    study.close()
}

/// Completed requests per second with no valve, and at each limit, relative to the mean speed of the CPUs.
fn sweep(study: &mut Study, lasts: Duration, random: &mut StdRng) -> Result<Vec<f64>, Failure> {
    let mut valves = vec![None];
    for limit in LIMITS {
        valves.push(study.fixed(limit)?);
    }
    let mut rates = vec![0.0; valves.len()];
    let mut speeds = 0.0;
    const TIMES: usize = 2;
    for _ in 0..TIMES {
        let mut order: Vec<usize> = (0..valves.len()).collect();
        order.shuffle(random);
        for index in order {
            study.restore()?;
            let all = study.in_flight;
            let block = study.block(&valves[index], &[(FEW, WOVEN), (all, SETTLES), (all, lasts)])?;
            eprintln!(
                "sweep: {}: {}",
                valves[index].as_ref().map_or(&json!("none"), |v| &v["parameters"]["limit"]),
                summary(&block)
            );
            rates[index] += Told::ForTheSpeed.rate(&block, SETTLED) / TIMES as f64;
            speeds += block.speed(SETTLED) / (TIMES * valves.len()) as f64;
        }
    }
    Ok(rates.into_iter().map(|rate| rate * speeds).collect())
}

/// Whether a figure is reported as measured, or corrected for the speed of the CPUs.
#[derive(Clone, Copy)]
enum Told {
    AsItWas,
    ForTheSpeed,
}

impl Told {
    fn rate(self, block: &Block, phase: usize) -> f64 {
        block.phases[phase].throughput_per_s / self.speed(block, phase)
    }

    fn p99(self, block: &Block, phase: usize) -> f64 {
        let p99_ns = block.phases[phase].response.p99_ns;
        p99_ns.map_or(f64::NAN, |ns| ns as f64 * self.speed(block, phase))
    }

    fn speed(self, block: &Block, phase: usize) -> f64 {
        match self {
            Told::AsItWas => 1.0,
            Told::ForTheSpeed => block.speed(phase),
        }
    }
}

impl Block {
    /// The limits of a phase that were below the maximum, each with its duration in s.
    fn limits_of(&self, phase: usize) -> Vec<(f64, f64)> {
        let phase = &self.phases[phase];
        let most = f64::from(phase.in_flight.unwrap_or(u32::MAX));
        let ends = self.limits.iter().skip(1).map(|held| held.since_ns).chain([i64::MAX]);
        let stretches = self.limits.iter().zip(ends).map(|(held, until_ns)| {
            let held_ns = until_ns.min(phase.end_ns) - held.since_ns.max(phase.start_ns);
            (held.limit.min(most), held_ns as f64 / 1e9)
        });
        stretches.filter(|(_, seconds)| *seconds > 0.0).collect()
    }

    /// The share of a phase for which the limit is further than a tenth from its median.
    fn moves(&self, phase: usize) -> f64 {
        let limits = self.limits_of(phase);
        let home = median(&limits);
        let all: f64 = limits.iter().map(|(_, seconds)| seconds).sum();
        let away = limits.iter().filter(|(limit, _)| (limit / home - 1.0).abs() > MOVES);
        // The sum of no values is −0.
        away.map(|(_, seconds)| seconds).sum::<f64>().abs() / all
    }

    /// Seconds from the start of a phase until the limit stays within a tenth of its final value for four fifths of the
    /// time; None if it never does.
    fn settles(&self, phase: usize) -> Option<f64> {
        let limits = self.limits_of(phase);
        let all: f64 = limits.iter().map(|(_, seconds)| seconds).sum();
        let home = median(&after(&limits, all * 2.0 / 3.0));
        let is_home = |from: f64| {
            let rest = after(&limits, from);
            let there = rest.iter().filter(|(limit, _)| (limit / home - 1.0).abs() <= MOVES);
            there.map(|(_, seconds)| seconds).sum::<f64>() >= 0.8 * (all - from)
        };
        let halves = (0..((all * 2.0) as usize).saturating_sub(1)).map(|half| half as f64 / 2.0);
        halves.into_iter().find(|from| is_home(*from))
    }
}

/// The part of the stretches after `from`.
fn after(stretches: &[(f64, f64)], from: f64) -> Vec<(f64, f64)> {
    let mut begun = 0.0;
    let mut rest = Vec::new();
    for (limit, seconds) in stretches {
        let left = (begun + seconds - from).min(*seconds);
        if left > 0.0 {
            rest.push((*limit, left));
        }
        begun += seconds;
    }
    rest
}

/// The median limit by time.
fn median(stretches: &[(f64, f64)]) -> f64 {
    let mut sorted = stretches.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half: f64 = sorted.iter().map(|(_, seconds)| seconds).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let reaches = |(limit, seconds): &(f64, f64)| {
        passed += seconds;
        (passed >= half).then_some(*limit)
    };
    sorted.iter().find_map(reaches).unwrap_or(f64::NAN)
}

/// Prints each valve compared with none and with the best limit, and which of them miss the requirement.
fn report(variants: &[(String, Valve)], blocks: &[Vec<Block>], sweeps: bool) {
    let [none, best, ..] = blocks else { return };
    let mean = |blocks: &[Block], of: &dyn Fn(&Block) -> f64| blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
    for (told, called) in [(Told::AsItWas, "as it was"), (Told::ForTheSpeed, "for the speed")] {
        println!(
            "  {called:>14} {:>21} {:>21} {:>21} {:>21} {:>21} {:>6} {:>6}",
            "of none, first 20 s", "of none, after", "of best, after", "p99, first 20 s", "p99, after", "moves", "CPUs"
        );
        for ((name, _), of) in variants.iter().zip(blocks) {
            let cells = [
                ratio(of, none, &|block| told.rate(block, LEARNING)),
                ratio(of, none, &|block| told.rate(block, SETTLED)),
                ratio(of, best, &|block| told.rate(block, SETTLED)),
                ratio(of, none, &|block| told.p99(block, LEARNING)),
                ratio(of, none, &|block| told.p99(block, SETTLED)),
            ];
            let moves = if of.iter().all(|block| block.limits.is_empty()) {
                String::new()
            } else {
                format!("{:.0} %", 100.0 * mean(of, &|block| block.moves(SETTLED)))
            };
            println!(
                "  {name:>14} {:>21} {:>21} {:>21} {:>21} {:>21} {moves:>6} {:>6.0}",
                cells[0].text(),
                cells[1].text(),
                if sweeps { cells[2].text() } else { String::new() },
                cells[3].text(),
                cells[4].text(),
                mean(of, &|block| block.speed(SETTLED))
            );
        }
    }
    if !sweeps {
        return;
    }
    let settled = |block: &Block| Told::ForTheSpeed.rate(block, SETTLED);
    let gain = ratio(best, none, &settled);
    let of_gain = 1.0 + OF_GAIN * (gain.mean - 1.0);
    for (index, (name, _)) in variants.iter().enumerate().filter(|(_, (name, _))| LAWS.contains(&name.as_str())) {
        let of = &blocks[index];
        let mut says = Vec::new();
        if gain.mean <= 1.0 + GAIN {
            says.push("there is nothing to be won".to_string());
        } else if gain.low <= 1.0 {
            says.push(format!("the gain of {} is not sure", gain.text()));
        } else {
            let share = (mean(of, &settled) - mean(none, &settled)) / (mean(best, &settled) - mean(none, &settled));
            let text = format!("{:.0} % of the gain after 20 s", 100.0 * share);
            says.push(of_rounds(share - OF_GAIN, ratio(of, none, &settled).high - of_gain, text));
        }
        let (of_best, of_none) = (ratio(of, best, &settled), ratio(of, none, &settled));
        for (ratio, least, called) in [(of_best, OF_BEST, "the best limit"), (of_none, OF_NONE, "none")] {
            says.push(of_rounds(ratio.mean - least, ratio.high - least, format!("{:.3} of {called}", ratio.mean)));
        }
        let p99 = ratio(of, none, &|block| Told::ForTheSpeed.p99(block, SETTLED));
        says.push(of_rounds(1.0 - p99.mean, 1.0 - p99.low, format!("p99 {:.2} of none's", p99.mean)));
        let moves = mean(of, &|block| block.moves(SETTLED));
        says.push(verdict(moves < MOVES, format!("moves {:.0} %", 100.0 * moves)));
        for (phase, called) in STEPS {
            if let Some(block) = of.iter().find(|block| block.phases.len() > phase) {
                let settles = block.settles(phase);
                let after = settles.map_or("not at all".to_string(), |s| format!("after {s:.1} s"));
                let well = settles.is_some_and(|s| s <= SETTLES_S);
                says.push(verdict(well, format!("with {called} settles {after}")));
            }
        }
        println!("  {name}: {}", says.join(", "));
    }
}

/// The verdict on a figure with one value for each round.
///
/// # Arguments
/// * `mean` and `at_best`: how far its mean, and the better end of its interval, are above the requirement
fn of_rounds(mean: f64, at_best: f64, text: String) -> String {
    if mean < 0.0 && at_best >= 0.0 { format!("NOT SHOWN {text}") } else { verdict(mean >= 0.0, text) }
}

fn verdict(well: bool, text: String) -> String {
    if well { text } else { format!("MISSED {text}") }
}

fn ratio(of: &[Block], to: &[Block], figure: &dyn Fn(&Block) -> f64) -> Ratio {
    let logs: Vec<f64> = of.iter().zip(to).map(|(of, to)| (figure(of) / figure(to)).ln()).collect();
    Ratio::of(&logs)
}
