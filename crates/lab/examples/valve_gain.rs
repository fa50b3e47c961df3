//! What a valve gains on the workloads of the study: each law against the best fixed limit and against no valve, on one
//! Cassandra, in closed loop with as many in flight as the study's surge has at its peak.
//!
//! `cargo run --release --workspace --example valve_gain -- [ROUNDS] [SECONDS] [WORKLOAD…]`, of lwt, scans, inserts and reads;
//! node, workload and valves are those of experiments/adaptive-valves*.toml. One workload takes about six minutes
//! and four more a round.
//!
//! 1. The node, whose JVM is ready to be woven, is warmed up until it does not get faster any more, for two minutes at most: with
//!    a few in flight, and with all. A valve is added and removed before.
//! 2. The sweep: no valve and fixed limits from 2 to 128, SECONDS (5) each, twice in an order that is drawn.
//! 3. ROUNDS (3): no valve, the limit that did best in the sweep, and each law; for 20 s from the surge on, in which a law may
//!    learn, and 16 s that are judged. What the sweep measured is judged by none of it: the best of eight noisy figures is
//!    too good.
//!    Every block of the sweep and of the rounds begins with a few in flight, for 8 s in which the JVM compiles again what the
//!    valve was woven into; then all come at once.
//!    A limit moves for the share of the judged time for which it is further than a tenth from its median.
//! 4. In the last round the laws that search go on with a tenth in flight for 25 s, and with all again for as long.
//!
//! Intervals hold 95 % of the means of rounds by Student's t, of the logarithms of the ratios within each round.

mod built;

use helenus_cassandra::target::{self, Which};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_control::Link;
use helenus_lab::{Experiment, Restore};
use helenus_load::{Cancel, Phase, PhaseSummary, Plan, Until, Workload};
use helenus_recording::{Manifest, Recorder};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

const WORKLOADS: [(&str, &str); 4] = [
    ("lwt", "adaptive-valves.toml"),
    ("scans", "adaptive-valves-scans.toml"),
    ("inserts", "adaptive-valves-inserts.toml"),
    ("reads", "adaptive-valves-reads.toml"),
];
/// So many limits of a block are said.
const MOST_SAID: usize = 24;
const LIMITS: [u32; 7] = [2, 4, 8, 16, 32, 64, 128];
const LAWS: [&str; 3] = ["throughput", "response-time", "gradient2"];
/// Those that stay for the steps.
const SEARCHING: [&str; 2] = ["throughput", "response-time"];
/// Warm is who does no more in a stretch than in the one before, by this share, or has had so many.
const WARM_UP: Duration = Duration::from_secs(10);
const WARM: f64 = 0.03;
const WARM_UPS: usize = 12;
/// With these the CPUs have time to compile.
const FEW: u32 = 4;
/// With few in flight, until what was woven is compiled again for the most part.
const WOVEN: Duration = Duration::from_secs(8);
const LEARNS: Duration = Duration::from_secs(20);
const JUDGED: Duration = Duration::from_secs(16);
const STEP: Duration = Duration::from_secs(25);
/// Until a fixed limit holds, and those before it are out.
const SETTLES: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The phases of a block of a round; the steps are of its last.
const LEARNING: usize = 1;
const SETTLED: usize = 2;
const STEPS: [(usize, &str); 2] = [(3, "a tenth in flight"), (4, "all again")];
/// From here on a gain is one.
const GAIN: f64 = 0.05;

/// What the issue asks for.
const OF_BEST: f64 = 0.97;
const OF_NONE: f64 = 0.98;
const OF_GAIN: f64 = 0.9;
const MOVES: f64 = 0.1;
const SETTLES_S: f64 = 15.0;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = arguments.first().map_or(Ok(3), |rounds| rounds.parse())?;
    let sweeps_for = Duration::from_secs(arguments.get(1).map_or(Ok(5), |seconds| seconds.parse())?);
    let wanted = arguments.get(2..).unwrap_or_default();
    if let Some(unknown) = wanted.iter().find(|name| WORKLOADS.iter().all(|(known, _)| known != name)) {
        return Err(format!("there is no workload {unknown}; there are lwt, scans, inserts, reads").into());
    }
    let agent = built::agent()?;
    for (name, file) in WORKLOADS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(file);
            study(name, &Experiment::read(&path)?, agent, (rounds, sweeps_for))?;
        }
    }
    Ok(())
}

/// One workload of the study on its node.
struct Study<'s> {
    experiment: &'s Experiment,
    workload: Workload,
    node: SocketAddr,
    link: Link,
    in_flight: u32,
    folder: &'s Path,
}

/// A valve that is to be there while load is, as `valve.add` takes it; none for none.
type Valve = Option<Value>;

/// What came of some load under a valve.
struct Block {
    phases: Vec<PhaseSummary>,
    /// Since when, on the clock of the phases, which limit held. With no valve there are none.
    limits: Vec<(i64, f64)>,
}

fn study(
    name: &str,
    experiment: &Experiment,
    agent: &'static [u8],
    (rounds, sweeps_for): (usize, Duration),
) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let cluster = start(experiment, folder.path(), agent)?;
    let node = cluster.nodes()[0].address;
    let phases = experiment.parts(1.0)?.into_iter().flat_map(|part| part.phases);
    let open = || -> Result<Link, Failure> { Ok(Link::open(&target::find(Which::Address(node))?, agent)?) };
    let mut study = Study {
        experiment,
        workload: experiment.open_workload(None)?,
        node,
        link: open()?,
        in_flight: phases.filter_map(|phase| phase.in_flight_at_most()).max().ok_or("a study without a closed loop")?,
        folder: folder.path(),
    };
    study.fill()?;
    // Filling takes longer than the agent waits to be told something.
    study.link = open()?;
    study.warm_up()?;

    let mut random = StdRng::seed_from_u64(1);
    let found = study.sweep(sweeps_for, &mut random)?;
    let (none, of_limits) = found.split_first().ok_or("no sweep")?;
    let best = (0..LIMITS.len()).max_by(|a, b| of_limits[*a].total_cmp(&of_limits[*b])).ok_or("no limits")?;
    println!("{name}: {} in flight, valve at {}", study.in_flight, study.place()?);
    println!(
        "  sweep, requests/s: none {none:.0}{}",
        LIMITS
            .iter()
            .zip(of_limits)
            .fold(String::new(), |text, (limit, rate)| { format!("{text}, {limit} {rate:.0}") })
    );

    let mut variants =
        vec![("none".to_string(), None), (format!("best, {}", LIMITS[best]), study.fixed(LIMITS[best])?)];
    for law in LAWS {
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
            if round == rounds && SEARCHING.contains(&name.as_str()) {
                phases.extend([((all / 10).max(1), STEP), (all, STEP)]);
            }
            study.restore()?;
            let block = study.block(valve, &phases)?;
            eprintln!("round {round}: {name}: {}", said(&block));
            blocks[index].push(block);
        }
    }
    report(&variants, &blocks);
    drop(study);
    cluster.stop(false, &mut |_| {})?;
    Ok(())
}

fn start(experiment: &Experiment, folder: &Path, agent: &'static [u8]) -> Result<Cluster, Failure> {
    let places = Places { cache: Places::of_user()?.cache, state: folder.join("state") };
    let options = ClusterOptions {
        version: experiment.node.version.parse()?,
        heap: experiment.node.heap.clone(),
        jvm_options: experiment.node.jvm_options.clone(),
        // Emptying a table would keep what was in it.
        settings: [&experiment.node.settings[..], &["auto_snapshot=false".to_string()]].concat(),
        ready: Some(agent),
        first_address: Some(Ipv4Addr::new(127, 0, 20, 63)),
        lifetime: Lifetime::Tied,
        ..ClusterOptions::new(places, "gain")
    };
    Ok(Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?)
}

impl Study<'_> {
    fn law(&self, name: &str) -> Result<Value, Failure> {
        let variants = self.experiment.variants.as_ref().ok_or("a study without variants")?;
        let variant = variants.list.iter().find(|variant| variant.name == name);
        let valve = variant.and_then(|variant| variant.valves.first());
        Ok(valve.ok_or_else(|| format!("the study has no variant {name} with a valve"))?.clone())
    }

    fn fixed(&self, limit: u32) -> Result<Valve, Failure> {
        let mut valve = self.law("throughput")?;
        valve["law"] = json!("fixed");
        valve["parameters"] = json!({"limit": limit.to_string()});
        Ok(Some(valve))
    }

    fn place(&self) -> Result<String, Failure> {
        let valve = self.law("throughput")?;
        Ok(valve.get("at").or(valve.get("stage")).map_or_else(String::new, Value::to_string))
    }

    fn restores(&self) -> Restore {
        self.experiment.variants.as_ref().map_or(Restore::Nothing, |variants| variants.restore)
    }

    fn fill(&self) -> Result<(), Failure> {
        if matches!(self.restores(), Restore::Populate | Restore::Once) {
            let mut plan = Plan::new(self.workload.clone(), Vec::new(), vec![self.node.to_string()]);
            plan.populate = true;
            self.drive(&plan)?;
        }
        Ok(())
    }

    /// What is written grows, and is taken away; what is only read stays.
    fn restore(&self) -> Result<(), Failure> {
        if self.restores() == Restore::Truncate {
            helenus_lab::truncate(self.node, &self.workload.schema)?;
        }
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Failure> {
        self.block(&self.fixed(LIMITS[0])?, &[(FEW, Duration::from_secs(1))])?;
        for in_flight in [FEW, self.in_flight] {
            let mut before = 0.0;
            for _ in 0..WARM_UPS / 2 {
                let block = self.block(&None, &[(in_flight, WARM_UP)])?;
                eprintln!("warm-up, {in_flight} in flight: {}", said(&block));
                let rate = block.rate(0..1);
                if rate < before * (1.0 + WARM) {
                    break;
                }
                before = rate;
            }
        }
        Ok(())
    }

    /// Completed per second with no valve, and at each limit.
    fn sweep(&mut self, lasts: Duration, random: &mut StdRng) -> Result<Vec<f64>, Failure> {
        let mut valves = vec![None];
        for limit in LIMITS {
            valves.push(self.fixed(limit)?);
        }
        let mut rates = vec![0.0; valves.len()];
        const TIMES: usize = 2;
        for _ in 0..TIMES {
            let mut order: Vec<usize> = (0..valves.len()).collect();
            order.shuffle(random);
            for index in order {
                self.restore()?;
                let all = self.in_flight;
                let block = self.block(&valves[index], &[(FEW, WOVEN), (all, SETTLES), (all, lasts)])?;
                eprintln!(
                    "sweep: {}: {}",
                    valves[index].as_ref().map_or(&json!("none"), |v| &v["parameters"]["limit"]),
                    said(&block)
                );
                rates[index] += block.phases[2].throughput_per_s / TIMES as f64;
            }
        }
        Ok(rates)
    }

    /// Closed loops one after another, with a valve that is there from the first to the last.
    fn block(&mut self, valve: &Valve, loops: &[(u32, Duration)]) -> Result<Block, Failure> {
        if let Some(valve) = valve {
            self.link.command("valve.add", valve.clone())?;
        }
        let phases = loops.iter().map(|(in_flight, lasts)| Phase::in_flight(*in_flight, Until::Elapsed(*lasts)));
        let plan = Plan::new(self.workload.clone(), phases.collect(), vec![self.node.to_string()]);
        let folder = self.folder.join("load");
        let recorder = Recorder::create(&folder, Manifest::new("gain", "valve_gain"))?;
        let clock = recorder.clock();
        let ended = AtomicBool::new(false);
        let link = &mut self.link;
        let (summary, limits) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| -> Result<Vec<(i64, f64)>, helenus_control::Error> {
                let mut limits: Vec<(i64, f64)> = Vec::new();
                while valve.is_some() && !ended.load(Ordering::Relaxed) {
                    if let Some(limit) = link.valves()?.first().and_then(|valve| valve.limit) {
                        let limit = limit as f64;
                        if limits.last().is_none_or(|(_, last)| *last != limit) {
                            limits.push((clock.now_ns(), limit));
                        }
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
                Ok(limits)
            });
            let summary = helenus_load::run(&plan, &recorder, &Cancel::new(), &mut |_| {});
            ended.store(true, Ordering::Relaxed);
            (summary, watch.join())
        });
        recorder.close()?;
        std::fs::remove_dir_all(&folder)?;
        if valve.is_some() {
            self.link.remove_valve(None)?;
        }
        let limits = limits.map_err(|_| "the watch of the limit ended badly")??;
        Ok(Block { phases: summary?.phases, limits })
    }

    fn drive(&self, plan: &Plan) -> Result<(), Failure> {
        let folder = self.folder.join("load");
        let recorder = Recorder::create(&folder, Manifest::new("gain", "valve_gain"))?;
        helenus_load::run(plan, &recorder, &Cancel::new(), &mut |_| {})?;
        recorder.close()?;
        Ok(std::fs::remove_dir_all(&folder)?)
    }
}

impl Block {
    /// Completed per second over the phases from the first to one.
    fn rate(&self, phases: std::ops::Range<usize>) -> f64 {
        let phases = &self.phases[phases];
        let seconds = |phase: &PhaseSummary| (phase.end_ns - phase.start_ns) as f64 / 1e9;
        let completed: f64 = phases.iter().map(|phase| phase.throughput_per_s * seconds(phase)).sum();
        completed / phases.iter().map(seconds).sum::<f64>()
    }

    fn p99_ms(&self, phase: usize) -> f64 {
        self.phases[phase].response.p99_ns.map_or(f64::NAN, |ns| ns as f64 / 1e6)
    }

    /// The limits of a phase, as far as they bind, each with for how long it held, s.
    fn limits_of(&self, phase: usize) -> Vec<(f64, f64)> {
        let phase = &self.phases[phase];
        let most = f64::from(phase.in_flight.unwrap_or(u32::MAX));
        let ends = self.limits.iter().skip(1).map(|(since_ns, _)| *since_ns).chain([i64::MAX]);
        let stretches = self.limits.iter().zip(ends).map(|((since_ns, limit), until_ns)| {
            let held_ns = until_ns.min(phase.end_ns) - (*since_ns).max(phase.start_ns);
            (limit.min(most), held_ns as f64 / 1e9)
        });
        stretches.filter(|(_, seconds)| *seconds > 0.0).collect()
    }

    /// The share of a phase for which the limit is further than a tenth from its median.
    fn moves(&self, phase: usize) -> f64 {
        let limits = self.limits_of(phase);
        let home = median(&limits);
        let all: f64 = limits.iter().map(|(_, seconds)| seconds).sum();
        let away = limits.iter().filter(|(limit, _)| (limit / home - 1.0).abs() > MOVES);
        // The sum of none is −0.
        away.map(|(_, seconds)| seconds).sum::<f64>().abs() / all
    }

    /// From the beginning of a phase, s: from then on the limit is for four fifths of the time within a tenth of what it
    /// comes to. None when it never is.
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

/// What is left of stretches from a time on.
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

/// The limit that half of the time is at or below.
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

fn said(block: &Block) -> String {
    let each = block.phases.iter().map(|phase| {
        let p99_ms = phase.response.p99_ns.map_or(f64::NAN, |ns| ns as f64 / 1e6);
        let failed = if phase.failed > 0 { format!(", {} failed", phase.failed) } else { String::new() };
        format!("{:.0}/s, p99 {p99_ms:.1} ms{failed}", phase.throughput_per_s)
    });
    let start_ns = block.phases.first().map_or(0, |phase| phase.start_ns);
    let after_s = |since_ns: i64| (since_ns - start_ns).max(0) as f64 / 1e9;
    let limits = block.limits.iter().map(|(since_ns, limit)| format!("{limit} at {:.0} s", after_s(*since_ns)));
    let limits: Vec<String> = limits.take(MOST_SAID).collect();
    let more = match block.limits.len() - limits.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}; limits {}{more}", each.collect::<Vec<_>>().join("; "), limits.join(", "))
}

/// Prints each valve against none and against the best limit, and what misses what was asked for.
fn report(variants: &[(String, Valve)], blocks: &[Vec<Block>]) {
    let [none, best, ..] = blocks else { return };
    let learning = |block: &Block| block.rate(LEARNING..LEARNING + 1);
    let settled = |block: &Block| block.rate(SETTLED..SETTLED + 1);
    let mean = |blocks: &[Block], of: &dyn Fn(&Block) -> f64| blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
    println!(
        "  {:>14} {:>21} {:>21} {:>21} {:>21} {:>21} {:>6}",
        "", "of none, first 20 s", "of none, after", "of best, after", "p99, first 20 s", "p99, after", "moves"
    );
    for ((name, _), of) in variants.iter().zip(blocks) {
        let cells = [
            ratio(of, none, &learning),
            ratio(of, none, &settled),
            ratio(of, best, &settled),
            ratio(of, none, &|block| block.p99_ms(LEARNING)),
            ratio(of, none, &|block| block.p99_ms(SETTLED)),
        ];
        let moves = if of.iter().all(|block| block.limits.is_empty()) {
            String::new()
        } else {
            format!("{:.0} %", 100.0 * mean(of, &|block| block.moves(SETTLED)))
        };
        println!(
            "  {name:>14} {:>21} {:>21} {:>21} {:>21} {:>21} {moves:>6}",
            cells[0].text(),
            cells[1].text(),
            cells[2].text(),
            cells[3].text(),
            cells[4].text()
        );
    }
    let gain = ratio(best, none, &settled);
    for (index, (name, _)) in variants.iter().enumerate().filter(|(_, (name, _))| LAWS.contains(&name.as_str())) {
        let of = &blocks[index];
        let mut says = Vec::new();
        if gain.mean <= 1.0 + GAIN {
            says.push("there is nothing to be won".to_string());
        } else if gain.low <= 1.0 {
            says.push(format!("the gain of {} is not sure", gain.text()));
        } else {
            let share = (mean(of, &settled) - mean(none, &settled)) / (mean(best, &settled) - mean(none, &settled));
            says.push(verdict(share >= OF_GAIN, format!("{:.0} % of the gain after 20 s", 100.0 * share)));
        }
        let (of_best, of_none) = (ratio(of, best, &settled), ratio(of, none, &settled));
        says.push(verdict(of_best.mean >= OF_BEST, format!("{:.3} of the best limit", of_best.mean)));
        says.push(verdict(of_none.mean >= OF_NONE, format!("{:.3} of none", of_none.mean)));
        let p99 = ratio(of, none, &|block| block.p99_ms(SETTLED));
        says.push(verdict(p99.low <= 1.0, format!("p99 {:.2} of none's", p99.mean)));
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

fn verdict(well: bool, text: String) -> String {
    if well { text } else { format!("MISSED {text}") }
}

/// A ratio of means, and the interval in which it lies.
struct Ratio {
    mean: f64,
    low: f64,
    high: f64,
}

impl Ratio {
    fn text(&self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.mean, self.low, self.high)
    }
}

fn ratio(of: &[Block], to: &[Block], figure: &dyn Fn(&Block) -> f64) -> Ratio {
    /// Of 95 %, by degrees of freedom from 1.
    const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    let logs: Vec<f64> = of.iter().zip(to).map(|(of, to)| (figure(of) / figure(to)).ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    // One round tells nothing of how two would differ.
    let quantile = logs.len().checked_sub(2).map(|position| STUDENT.get(position).copied().unwrap_or(2.0));
    let margin = quantile.map_or(f64::INFINITY, |quantile| quantile * (variance / count).sqrt());
    Ratio { mean: mean.exp(), low: (mean - margin).exp(), high: (mean + margin).exp() }
}
