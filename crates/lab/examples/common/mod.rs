//! Shared code of the two measurements of recording overhead: the sources by name, and the recorded node.

#[path = "../built/mod.rs"]
mod built;

use clap::{Args, FromArgMatches};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_observe::{
    AgentOptions, Event, Observation, Options, PageCacheOptions, ProcessKind, RequestsFrom, SamplingOptions,
    SchedOptions, StackEvents, StackOptions, Switch, SyscallsMode, SyscallsOptions, Watched, WireOptions,
};
use helenus_recording::Recorder;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

pub type Failure = Box<dyn std::error::Error>;

/// A node of a cluster that ends with this program.
pub struct Node {
    pub address: String,
    pub watched: [Watched; 1],
    _cluster: Cluster,
}

impl Node {
    pub fn start(folder: &Path, address: Ipv4Addr) -> Result<Node, Failure> {
        let places = Places { cache: Places::of_user()?.cache, state: folder.join("state") };
        let mut options = ClusterOptions::new(places, "cost");
        options.first_address = Some(address);
        options.lifetime = Lifetime::Tied;
        let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new())?;
        let started = &cluster.nodes()[0];
        let (node, pid) = (started.address.ip().to_string(), started.pid.unsigned_abs());
        Ok(Node {
            address: started.address.to_string(),
            watched: [Watched { process: ProcessKind::Server, node, pid }],
            _cluster: cluster,
        })
    }

    /// Attaches sources to the node; if one fails, none stays attached.
    pub fn watch(&self, recorder: &Recorder, options: &Options) -> Result<Observation, Failure> {
        let (events, received) = std::sync::mpsc::channel();
        let observation = Observation::start(recorder, &self.watched, options, &events)?;
        // Notes that are expected: JVM figures without the agent, profiler stacks if eBPF samples them, and hardware
        // counters on a virtual machine.
        let is_meant = |source: &str, reason: &str| {
            source == "jvm" || reason.contains("sampled by eBPF") || (source == "counters" && reason.contains("no PMU"))
        };
        let is_missing =
            |event: &Event| matches!(event, Event::Degraded { source, reason, .. } if !is_meant(source, reason));
        match received.try_iter().find(is_missing) {
            None => Ok(observation),
            Some(missing) => {
                observation.stop();
                Err(format!("nothing can be said of a source that is not there: {missing:?}").into())
            }
        }
    }
}

/// The sources that can be attached: all together except counters, which cost each context switch and are off by
/// default, and each alone.
pub fn sources() -> Result<Vec<(&'static str, Options)>, Failure> {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let agent = AgentOptions { jar: Some(built::agent()?), ..AgentOptions::default() };
    let profiler = Some(built::read(&format!("profiler/linux-{architecture}/libasyncProfiler.so"))?);
    let cpu = StackEvents { cpu: true, ..StackEvents::default() };
    let stacks = |profiler| StackOptions { stacks: cpu, profiler, ..StackOptions::default() };
    let page_cache = |wanted| PageCacheOptions { page_cache: Some(wanted) };
    let none = Options::default;
    let syscalls = |syscalls| Options {
        syscalls: SyscallsOptions { syscalls, ..SyscallsOptions::default() },
        page_cache: page_cache(Switch::Off),
        ..none()
    };
    let sched = SchedOptions { sched: Switch::On, ..SchedOptions::default() };
    let counters = SamplingOptions { counters: Switch::On, ..SamplingOptions::default() };
    let wire = WireOptions::of(RequestsFrom::Wire);
    let everything = Options {
        agent,
        stacks: stacks(profiler),
        page_cache: page_cache(Switch::On),
        sched,
        wire: wire.clone(),
        ..syscalls(SyscallsMode::Summary)
    };
    let command = Options::augment_args(clap::Command::new("record"));
    let mut as_by_default = Options::from_arg_matches(&command.get_matches_from(["record"]))?;
    as_by_default.agent.jar = agent.jar;
    as_by_default.stacks.profiler = profiler;
    Ok(vec![
        ("as by default", as_by_default),
        ("all, calls summed", everything),
        ("/proc alone", none()),
        ("agent", Options { agent, ..none() }),
        ("stacks", Options { stacks: stacks(profiler), ..none() }),
        ("stacks by eBPF", Options { stacks: stacks(None), ..none() }),
        ("page cache", Options { page_cache: page_cache(Switch::On), ..none() }),
        ("calls summed", syscalls(SyscallsMode::Summary)),
        ("calls, a row each", syscalls(SyscallsMode::Full)),
        ("sched", Options { sched, ..none() }),
        ("counters", Options { sampling: counters, ..none() }),
        ("wire", Options { wire, ..none() }),
        ("wire auto", Options { wire: WireOptions::of(RequestsFrom::Auto), ..none() }),
    ])
}

/// Busy time of this machine's CPUs, summed up.
pub fn busy() -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let ticks: Vec<u64> = stat.lines().next().unwrap_or("").split_whitespace().skip(1).flat_map(str::parse).collect();
    let [user, nice, system, _idle, _iowait, interrupt, soft_interrupt, ..] = ticks[..] else {
        return Err("/proc/stat has no line of all CPUs".into());
    };
    // SAFETY: sysconf takes no pointers.
    let per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    Ok(Duration::from_secs_f64((user + nice + system + interrupt + soft_interrupt) as f64 / per_s))
}

/// A figure of a measurement.
pub type Figure<T> = fn(&T) -> f64;

const REDRAWN: usize = 10_000;

/// The mean of the rounds' ratios to the blocks before and after, its 95 % bootstrap interval, and its standard error.
pub fn interval<T>(rounds: &[[T; 3]], figure: Figure<T>, random: &mut StdRng) -> String {
    let logs: Vec<f64> = rounds
        .iter()
        .map(|round| round.each_ref().map(|measured| figure(measured).ln()))
        .map(|[before, with, after]| with - f64::midpoint(before, after))
        .collect();
    let count = logs.len() as f64;
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / count;
    let percent = |log: f64| log.exp() * 100.0;
    let mut means: Vec<f64> = (0..REDRAWN)
        .map(|_| percent(mean(&logs.iter().map(|_| *logs.choose(random).unwrap_or(&0.0)).collect::<Vec<_>>())))
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((means.len() - 1) as f64 * share) as usize];
    let variance = logs.iter().map(|log| (log - mean(&logs)).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt() * 100.0;
    format!("{:.1} ({:.1} to {:.1}) ± {error:.1}", percent(mean(&logs)), at(0.025), at(0.975))
}
