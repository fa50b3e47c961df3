//! What two measurements of what watching costs have in common: the sources by name, and the node that they watch.

use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_observe::{
    Event, Observation, Options, ProcessKind, SchedOptions, StackOptions, SyscallsMode, SyscallsOptions, Watched,
};
use helenus_recording::Recorder;
use std::net::Ipv4Addr;
use std::path::Path;

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

    /// Attaches sources to it, all of them or none.
    pub fn watch(&self, recorder: &Recorder, options: &Options) -> Result<Observation, Failure> {
        let (events, heard) = std::sync::mpsc::channel();
        let observation = Observation::start(recorder, &self.watched, options, &events)?;
        // Without the agent there are no figures of the JVM, without the profiler stacks are eBPF's, which is on purpose, and a
        // virtual machine may have no counters of hardware, but those of the kernel.
        let is_meant = |source: &str, reason: &str| {
            source == "jvm" || reason.contains("sampled by eBPF") || (source == "counters" && reason.contains("no PMU"))
        };
        let is_missing =
            |event: &Event| matches!(event, Event::Degraded { source, reason, .. } if !is_meant(source, reason));
        match heard.try_iter().find(is_missing) {
            None => Ok(observation),
            Some(missing) => {
                observation.stop();
                Err(format!("nothing can be said of a source that is not there: {missing:?}").into())
            }
        }
    }
}

/// The sources that can be attached: all together, and each alone.
pub fn sources() -> Result<Vec<(&'static str, Options)>, Failure> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agent/target");
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let read = |path: String| -> Result<&'static [u8], Failure> {
        let bytes = std::fs::read(built.join(&path)).map_err(|error| format!("{path}: {error}; `make build` first"))?;
        Ok(Box::leak(bytes.into_boxed_slice()))
    };
    let agent = Some(read("helenus-agent.jar".into())?);
    let profiler = Some(read(format!("profiler/linux-{architecture}/libasyncProfiler.so"))?);
    let stacks = || Some(StackOptions { profiler, ..StackOptions::default() });
    let syscalls = |mode| SyscallsOptions { mode, ..SyscallsOptions::default() };
    let sched = || SchedOptions { on: true, ..SchedOptions::default() };
    let none = Options::default;
    let everything = Options {
        agent,
        stacks: stacks(),
        syscalls: syscalls(SyscallsMode::Summary),
        page_cache: true,
        sched: sched(),
        counters: true,
        wire: true,
        ..none()
    };
    Ok(vec![
        ("all, calls summed", everything),
        ("/proc alone", none()),
        ("agent", Options { agent, ..none() }),
        ("stacks", Options { stacks: stacks(), ..none() }),
        ("stacks by eBPF", Options { stacks: Some(StackOptions::default()), ..none() }),
        ("page cache", Options { page_cache: true, ..none() }),
        ("calls summed", Options { syscalls: syscalls(SyscallsMode::Summary), ..none() }),
        ("calls, a row each", Options { syscalls: syscalls(SyscallsMode::Full), ..none() }),
        ("sched", Options { sched: sched(), ..none() }),
        ("counters", Options { counters: true, ..none() }),
        ("wire", Options { wire: true, ..none() }),
    ])
}
