//! Runs an experiment: node, sources and load together, into one recording.

use crate::{Before, Experiment, ExperimentError};
use helenus_cassandra::target::{self, Which};
use helenus_cassandra::{Cancel, Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::{Phase, Plan, Until, Workload};
use helenus_observe::{
    Event, Observation, Options, ProcessKind, SchedOptions, StackOptions, SyscallsMode, SyscallsOptions, Watched,
};
use helenus_recording::{Manifest, Recorder, Summary};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Why an experiment could not be run to its end. What was recorded until then is kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Cassandra(#[from] helenus_cassandra::Error),
    #[error(transparent)]
    Observe(#[from] helenus_observe::Error),
    #[error(transparent)]
    Load(#[from] helenus_load::Error),
    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),
    #[error("cannot drop the page cache: {0}. Run as root, or leave `before` out: reads come from memory then")]
    PageCache(std::io::Error),
    #[error("the closed loop before the phases completed no request: {0}")]
    NoPeak(String),
}

/// What is under way.
#[derive(Debug)]
pub enum Progress<'a> {
    Cluster(helenus_cassandra::Progress),
    Observe(Event),
    /// A sentence about the step that begins.
    Step(String),
    Load(&'a helenus_load::Progress),
}

/// An experiment, and where and how to run it.
#[derive(Debug)]
pub struct Run<'a> {
    pub experiment: &'a Experiment,
    /// Running nodes to measure; none to start a local cluster as the experiment says, and to stop it at the end.
    pub nodes: Vec<SocketAddr>,
    pub agent: &'static [u8],
    /// The library of the profiler that samples their stacks.
    pub profiler: &'static [u8],
    /// The new recording's folder.
    pub folder: PathBuf,
    /// The command, for the manifest.
    pub command: String,
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    pub recording: Summary,
    /// One for each part of the experiment that was begun.
    pub loads: Vec<helenus_load::Summary>,
    /// What the closed loop found, when there was one.
    pub peak_per_s: Option<f64>,
    /// Whether it was cut short.
    pub cancelled: bool,
    /// What is not sure to have been undone.
    pub left: Vec<String>,
}

impl Run<'_> {
    /// Runs it. A local cluster is stopped and its data removed, however this ends.
    pub fn run(&self, cancel: &Cancel, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Outcome, Error> {
        let workload = Workload::open(&self.experiment.workload)?;
        let cluster = match self.nodes.is_empty() {
            true => Some(self.start_cluster(cancel, tell)?),
            false => None,
        };
        let outcome = self.measure(workload, cluster.as_ref(), cancel, tell);
        if let Some(cluster) = cluster {
            let stopped = cluster.stop(false, &mut |progress| tell(Progress::Cluster(progress)));
            // What was measured is worth more than a clean end; dropping the cluster has killed it.
            if let (Err(error), Ok(_)) = (stopped, &outcome) {
                tell(Progress::Step(format!("the cluster did not stop well: {error}")));
            }
        }
        outcome
    }

    fn start_cluster(&self, cancel: &Cancel, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Cluster, Error> {
        let node = &self.experiment.node;
        let options = ClusterOptions {
            version: node.version.parse()?,
            nodes: node.nodes,
            heap: node.heap.clone(),
            jvm_options: node.jvm_options.clone(),
            settings: node.settings.clone(),
            lifetime: Lifetime::Tied,
            ..ClusterOptions::new(Places::of_user()?, &format!("lab-{}", std::process::id()))
        };
        Ok(Cluster::start(&options, &mut |progress| tell(Progress::Cluster(progress)), cancel)?)
    }

    fn measure(
        &self,
        workload: Workload,
        cluster: Option<&Cluster>,
        cancel: &Cancel,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Outcome, Error> {
        let nodes: Vec<SocketAddr> = match cluster {
            Some(cluster) => cluster.nodes().iter().map(|node| node.address).collect(),
            None => self.nodes.clone(),
        };
        let recorder = Recorder::create(&self.folder, Manifest::new(&self.experiment.title, &self.command))?;
        let (events, heard) = channel();
        let (watched, unseen) = watched(&nodes);
        for reason in unseen {
            tell(Progress::Step(reason));
        }
        let stacks = Some(StackOptions { profiler: Some(self.profiler), ..StackOptions::default() });
        let observe = self.experiment.observe;
        if let Some(bytes) = observe.max_size_bytes {
            recorder.limit_size(bytes);
        }
        let options = Options {
            agent: Some(self.agent),
            stacks,
            wire: true,
            page_cache: observe.syscalls != SyscallsMode::Off,
            syscalls: SyscallsOptions { mode: observe.syscalls, ..SyscallsOptions::default() },
            sched: SchedOptions { on: observe.sched, ..SchedOptions::default() },
            ..Options::default()
        };
        let observation = match Observation::start(&recorder, &watched, &options, &events) {
            Ok(observation) => observation,
            Err(error) => {
                recorder.close()?;
                return Err(error.into());
            }
        };
        let result = self.drive(workload, nodes, &recorder, cancel, &heard, tell);
        let left = observation.stop();
        heard.try_iter().for_each(|event| tell(Progress::Observe(event)));
        tell(Progress::Step("closing the recording".into()));
        let recording = recorder.close()?;
        let (loads, peak_per_s) = result?;
        Ok(Outcome { recording, loads, peak_per_s, cancelled: cancel.is_cancelled(), left })
    }

    fn drive(
        &self,
        workload: Workload,
        nodes: Vec<SocketAddr>,
        recorder: &Recorder,
        cancel: &Cancel,
        heard: &Receiver<Event>,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Vec<helenus_load::Summary>, Option<f64>), Error> {
        let stop = helenus_load::Cancel::new();
        let nodes: Vec<String> = nodes.iter().map(SocketAddr::to_string).collect();
        let load = |workload: &Workload, phases: Vec<Phase>, tell: &mut dyn FnMut(Progress<'_>)| {
            let plan = Plan::new(workload.clone(), phases, nodes.clone());
            let mut relay = |progress: helenus_load::Progress| {
                if cancel.is_cancelled() && !stop.is_asked() {
                    stop.stop();
                }
                heard.try_iter().for_each(|event| tell(Progress::Observe(event)));
                tell(Progress::Load(&progress));
            };
            helenus_load::run(&plan, recorder, &stop, &mut relay)
        };
        let peak_per_s = match self.experiment.calibrate {
            None => None,
            Some(calibrate) => {
                // A JVM that has just started is slow at first; the peak is that of the end.
                let last = calibrate.lasts / 3;
                let closed = |lasts| Phase::in_flight(calibrate.in_flight, Until::Elapsed(lasts)).unmeasured();
                let summary = load(
                    &workload,
                    vec![closed(calibrate.lasts - last).named("heat up"), closed(last).named("calibrate")],
                    tell,
                )?;
                let peak_per_s = summary.phases.last().map_or(0.0, |phase| phase.throughput_per_s);
                if peak_per_s < 1.0 && !cancel.is_cancelled() {
                    let first = summary.errors.first().map_or("no answer came", |error| &error.first_message);
                    return Err(Error::NoPeak(first.to_string()));
                }
                Some(peak_per_s)
            }
        };
        if cancel.is_cancelled() {
            return Err(helenus_cassandra::Error::Cancelled.into());
        }
        let mut loads = Vec::new();
        for part in self.experiment.parts(peak_per_s.unwrap_or(1.0))? {
            let workload = match &part.mix {
                Some(mix) => Workload::open(&format!("{}/{mix}", self.experiment.workload))?,
                None => workload.clone(),
            };
            rest(part.rest, cancel);
            for step in &part.before {
                match step {
                    Before::DropPageCache => self.drop_page_cache(tell)?,
                }
            }
            if cancel.is_cancelled() {
                break;
            }
            loads.push(load(&workload, part.phases, tell)?);
        }
        Ok((loads, peak_per_s))
    }

    /// Only for nodes of our own: other people's machines keep their caches.
    fn drop_page_cache(&self, tell: &mut dyn FnMut(Progress<'_>)) -> Result<(), Error> {
        if !self.nodes.is_empty() {
            tell(Progress::Step("the page cache is left as it is: the nodes are not the experiment's own".into()));
            return Ok(());
        }
        tell(Progress::Step("dropping the page cache".into()));
        // SAFETY: sync takes no pointers. What is not on the disk yet can't be dropped.
        unsafe { libc::sync() };
        std::fs::write("/proc/sys/vm/drop_caches", "1").map_err(Error::PageCache)
    }
}

/// Waits, unless it is cancelled.
fn rest(lasts: Duration, cancel: &Cancel) {
    let until = Instant::now() + lasts;
    while Instant::now() < until && !cancel.is_cancelled() {
        std::thread::sleep(Duration::from_millis(50).min(until - Instant::now()));
    }
}

/// The processes to watch: this one, and the nodes that run on this machine; and why others can't be.
fn watched(nodes: &[SocketAddr]) -> (Vec<Watched>, Vec<String>) {
    let mut watched = Vec::new();
    let mut unseen = Vec::new();
    for address in nodes {
        match target::find(Which::Address(*address)) {
            Ok(target) => watched.push(Watched {
                process: ProcessKind::Server,
                node: address.ip().to_string(),
                pid: target.pid.unsigned_abs(),
            }),
            Err(error) => unseen.push(format!(
                "{address} is only seen from outside: {error}. Run `helenus record` on its machine and merge the recordings"
            )),
        }
    }
    watched.push(Watched { process: ProcessKind::Load, node: String::new(), pid: std::process::id() });
    (watched, unseen)
}
