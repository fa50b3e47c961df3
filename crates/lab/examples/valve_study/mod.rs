//! The node, workload and valves of a study `experiments/adaptive-valves*.toml`, for additional measurements: closed
//! loops with the concurrency of the study's surge at its peak.

#[path = "../built/mod.rs"]
mod built;
#[path = "../yardstick/mod.rs"]
mod yardstick;

use helenus_cassandra::target::{self, TargetName};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_control::Link;
use helenus_lab::{Experiment, Restore};
use helenus_load::{Cancel, Phase, PhaseSummary, Plan, Progress, Until, Workload};
use helenus_recording::{Manifest, Recorder};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
pub use yardstick::{Reading, Yardstick, mean_per_s};

pub type Failure = Box<dyn std::error::Error>;

const WORKLOADS: [(&str, &str); 4] = [
    ("lwt", "adaptive-valves.toml"),
    ("scans", "adaptive-valves-scans.toml"),
    ("inserts", "adaptive-valves-inserts.toml"),
    ("reads", "adaptive-valves-reads.toml"),
];
/// The most limit changes of a block that are printed.
const MOST_SAID: usize = 40;
/// The node is warm if a stretch gains no more than this share over the one before, or after this many stretches.
const WARM_UP: Duration = Duration::from_secs(10);
const WARM: f64 = 0.03;
const WARM_UPS: usize = 12;
/// The limit of the valve that is added once and removed before anything is measured.
const WEAVES: u32 = 2;
/// Number of requests in flight that leaves the CPUs time to compile.
pub const FEW: u32 = 4;
/// A load of low concurrency, until most woven code is compiled again.
pub const WOVEN: Duration = Duration::from_secs(8);
/// The laws that search for a limit.
pub const SEARCHING: [&str; 2] = ["throughput", "response-time"];
/// Interval between two polls of the valve; a poll costs the node half a millisecond.
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The selected workloads; all if none was selected.
pub fn wanted(names: &[String]) -> Result<Vec<&str>, Failure> {
    let all = WORKLOADS.map(|(name, _)| name);
    if let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("there is no workload {unknown}; there are {}", all.join(", ")).into());
    }
    Ok(if names.is_empty() { all.to_vec() } else { names.iter().map(String::as_str).collect() })
}

/// One workload of the study on its own node.
pub struct Study {
    experiment: Experiment,
    workload: Workload,
    pub node: SocketAddr,
    pub link: Link,
    pub in_flight: u32,
    cluster: Cluster,
    folder: tempfile::TempDir,
}

/// A valve that exists during the load, as the members of `valve.add`; None for no valve.
pub type Valve = Option<Value>;

/// The result of some load under a valve.
pub struct Block {
    pub phases: Vec<PhaseSummary>,
    /// One after another; empty without a valve.
    pub limits: Vec<Held>,
    speeds: Vec<Reading>,
}

impl Block {
    /// The speed of the CPUs in a phase, see [`Yardstick`].
    pub fn speed(&self, phase: usize) -> f64 {
        let phase = &self.phases[phase];
        mean_per_s(&self.speeds, phase.start_ns..phase.end_ns)
    }
}

/// A limit with its reason.
pub struct Held {
    /// Time on the clock of the phases.
    pub since_ns: i64,
    pub limit: f64,
    /// The reason; None before the law has given one.
    pub reason: Option<String>,
}

impl Held {
    /// Whether the reason differs in more than its figures from another one.
    fn differs(&self, other: &Held) -> bool {
        let words = |held: &Held| held.reason.as_deref().map(|reason| reason.replace(|c: char| c.is_ascii_digit(), ""));
        self.limit != other.limit || words(self) != words(other)
    }
}

impl Study {
    /// A warm node with the study's data, whose JVM is ready to be woven.
    ///
    /// # Arguments
    /// * `name` of the workload: lwt, scans, inserts or reads
    pub fn open(name: &str) -> Result<Study, Failure> {
        let (_, file) = WORKLOADS.iter().find(|(known, _)| *known == name).ok_or("no such workload")?;
        let experiment = Experiment::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(file))?;
        let agent = built::agent()?;
        let folder = tempfile::tempdir()?;
        let cluster = start(&experiment, folder.path(), agent)?;
        let node = cluster.nodes()[0].address;
        let phases = experiment.parts(1.0)?.into_iter().flat_map(|part| part.phases);
        let open = || -> Result<Link, Failure> { Ok(Link::open(&target::find(TargetName::Address(node))?, agent)?) };
        let mut study = Study {
            workload: experiment.open_workload(None)?,
            node,
            link: open()?,
            in_flight: phases
                .filter_map(|phase| phase.in_flight_at_most())
                .max()
                .ok_or("a study without a closed loop")?,
            experiment,
            cluster,
            folder,
        };
        study.fill()?;
        // Filling takes longer than the agent waits for a command, so the link is opened again.
        study.link = open()?;
        study.warm_up()?;
        Ok(study)
    }

    pub fn close(self) -> Result<(), Failure> {
        self.cluster.stop(false, &mut |_| {})?;
        Ok(())
    }

    pub fn law(&self, name: &str) -> Result<Value, Failure> {
        let variants = self.experiment.variants.as_ref().ok_or("a study without variants")?;
        let variant = variants.list.iter().find(|variant| variant.name == name);
        let valve = variant.and_then(|variant| variant.valves.first());
        Ok(valve.ok_or_else(|| format!("the study has no variant {name} with a valve"))?.clone())
    }

    pub fn fixed(&self, limit: u32) -> Result<Valve, Failure> {
        let mut valve = self.law("throughput")?;
        valve["law"] = json!("fixed");
        valve["parameters"] = json!({"limit": limit.to_string()});
        Ok(Some(valve))
    }

    pub fn place(&self) -> Result<String, Failure> {
        let valve = self.law("throughput")?;
        Ok(valve.get("at").or(valve.get("stage")).map_or_else(String::new, Value::to_string))
    }

    fn restores(&self) -> Restore {
        self.experiment.variants.as_ref().map_or(Restore::Nothing, |variants| variants.restore)
    }

    fn fill(&mut self) -> Result<(), Failure> {
        if matches!(self.restores(), Restore::Populate | Restore::Once) {
            let mut plan = self.plan(Vec::new());
            plan.populate = true;
            self.drive(&plan, &Cancel::new(), &mut |_, _| {})?;
        }
        Ok(())
    }

    /// Truncates tables that the workload writes to, so that they don't grow; tables that are only read stay.
    pub fn restore(&self) -> Result<(), Failure> {
        if self.restores() == Restore::Truncate {
            helenus_lab::truncate(self.node, &self.workload.schema)?;
        }
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Failure> {
        self.block(&self.fixed(WEAVES)?, &[(FEW, Duration::from_secs(1))])?;
        for in_flight in [FEW, self.in_flight] {
            let mut before = 0.0;
            for _ in 0..WARM_UPS / 2 {
                let block = self.block(&None, &[(in_flight, WARM_UP)])?;
                eprintln!("warm-up, {in_flight} in flight: {}", summary(&block));
                let rate = block.phases[0].throughput_per_s;
                if rate < before * (1.0 + WARM) {
                    break;
                }
                before = rate;
            }
        }
        Ok(())
    }

    /// Closed loops one after another, with a valve that is there from the first to the last.
    pub fn block(&mut self, valve: &Valve, loops: &[(u32, Duration)]) -> Result<Block, Failure> {
        if let Some(valve) = valve {
            self.link.command("valve.add", valve.clone())?;
        }
        let phases = loops.iter().map(|(in_flight, lasts)| Phase::in_flight(*in_flight, Until::Elapsed(*lasts)));
        let plan = self.plan(phases.collect());
        let ended = AtomicBool::new(false);
        let link = &mut self.link;
        let yardstick = Yardstick::new();
        let (summary, limits, speeds) = recorded(self.folder.path(), |recorder| {
            let clock = recorder.clock();
            std::thread::scope(|scope| {
                let speeds = scope.spawn(|| yardstick.read(|| clock.now_ns(), &ended));
                let watch = scope.spawn(|| -> Result<Vec<Held>, helenus_control::Error> {
                    let mut limits: Vec<Held> = Vec::new();
                    while valve.is_some() && !ended.load(Ordering::Relaxed) {
                        let valve = link.valves()?.into_iter().next();
                        if let Some((limit, last)) = valve.and_then(|valve| Some((valve.limit? as f64, valve.last))) {
                            let reason = last.map(|window| window.reason);
                            let held = Held { since_ns: clock.now_ns(), limit, reason };
                            if limits.last().is_none_or(|before| before.differs(&held)) {
                                limits.push(held);
                            }
                        }
                        std::thread::sleep(POLL_EVERY);
                    }
                    Ok(limits)
                });
                let summary = helenus_load::run(&plan, recorder, &Cancel::new(), &mut |_| {});
                ended.store(true, Ordering::Relaxed);
                (summary, watch.join(), speeds.join())
            })
        })?;
        if valve.is_some() {
            self.link.remove_valve(None)?;
        }
        let limits = limits.map_err(|_| "the watch of the limit ended badly")??;
        let speeds = speeds.map_err(|_| "the yardstick ended badly")??;
        Ok(Block { phases: summary?.phases, limits, speeds })
    }

    /// Load on the node.
    pub fn plan(&self, phases: Vec<Phase>) -> Plan {
        Plan::new(self.workload.clone(), phases, vec![self.node.to_string()])
    }

    /// Runs the load until it ends or is cancelled.
    pub fn drive(
        &mut self,
        plan: &Plan,
        cancel: &Cancel,
        shows: &mut dyn FnMut(&mut Link, Progress),
    ) -> Result<(), Failure> {
        let link = &mut self.link;
        recorded(self.folder.path(), |recorder| {
            helenus_load::run(plan, recorder, cancel, &mut |progress| shows(link, progress))
        })??;
        Ok(())
    }
}

/// Runs with a recorder whose recording is removed afterwards.
fn recorded<T>(folder: &Path, run: impl FnOnce(&Recorder) -> T) -> Result<T, Failure> {
    let folder = folder.join("load");
    let recorder = Recorder::create(&folder, Manifest::new("valves", "valve_study"))?;
    let done = run(&recorder);
    recorder.close()?;
    std::fs::remove_dir_all(&folder)?;
    Ok(done)
}

fn start(experiment: &Experiment, folder: &Path, agent: &'static [u8]) -> Result<Cluster, Failure> {
    let places = Places { cache: Places::of_user()?.cache, state: folder.join("state") };
    let options = ClusterOptions {
        version: experiment.node.version.parse()?,
        heap: experiment.node.heap.clone(),
        jvm_options: experiment.node.jvm_options.clone(),
        // Truncating a table would otherwise keep a snapshot.
        settings: [&experiment.node.settings[..], &["auto_snapshot=false".to_string()]].concat(),
        ready: Some(agent),
        first_address: Some(Ipv4Addr::new(127, 0, 20, 63)),
        lifetime: Lifetime::Tied,
        ..ClusterOptions::new(places, "gain")
    };
    Ok(Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?)
}

/// A block in one line, and each of its limits in another.
pub fn summary(block: &Block) -> String {
    let each = block.phases.iter().enumerate().map(|(index, phase)| {
        let p99_ms = phase.response.p99_ns.map_or(f64::NAN, |ns| ns as f64 / 1e6);
        let failed = if phase.failed > 0 { format!(", {} failed", phase.failed) } else { String::new() };
        let speed = block.speed(index);
        format!("{:.0}/s, p99 {p99_ms:.1} ms{failed}, CPUs at {speed:.0}", phase.throughput_per_s)
    });
    let start_ns = block.phases.first().map_or(0, |phase| phase.start_ns);
    let after_s = |since_ns: i64| (since_ns - start_ns).max(0) as f64 / 1e9;
    let limits = block.limits.iter().take(MOST_SAID).map(|held| {
        let reason = held.reason.as_deref().unwrap_or("as it was set");
        format!("\n    {:5.1} s {:4} {reason}", after_s(held.since_ns), held.limit)
    });
    let more = match block.limits.len().saturating_sub(MOST_SAID) {
        0 => String::new(),
        more => format!("\n    and {more} more"),
    };
    format!("{}{}{more}", each.collect::<Vec<_>>().join("; "), limits.collect::<String>())
}

/// A ratio of means with its interval.
pub struct Ratio {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// From the log ratios of pairs, with a 95 % interval by Student's t.
    pub fn of(logs: &[f64]) -> Ratio {
        /// Student's t for 95 %, by degrees of freedom from 1.
        const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        // A single pair has no interval.
        let quantile = logs.len().checked_sub(2).map(|position| STUDENT.get(position).copied().unwrap_or(2.0));
        let margin = quantile.map_or(f64::INFINITY, |quantile| quantile * (variance / count).sqrt());
        Ratio { mean: mean.exp(), low: (mean - margin).exp(), high: (mean + margin).exp() }
    }

    pub fn text(&self) -> String {
        if self.high.is_infinite() {
            return format!("{:.3} (of one)", self.mean);
        }
        format!("{:.3} ({:.3} to {:.3})", self.mean, self.low, self.high)
    }
}
