//! Stacks of the watched processes' threads: by async-profiler within a JVM, and by a program in the kernel where that
//! can't be loaded, or where the process is no JVM.

mod frames;
pub mod jfr;
mod kernel;
mod known;
mod profiler;
mod ticks;

pub use frames::Frames;
pub use kernel::ebpf_stacks_available;
pub(crate) use known::KnownStacks;

use crate::names::ThreadNames;
use crate::{Event, Events, ProcessKind, Watched};
use helenus_cassandra::target::{self, Target, Vm, Which};
use helenus_recording::Recorder;
use kernel::KernelSampler;
use profiler::Profiler;
use std::time::Duration;

const SOURCE: &str = "stacks";

/// Unless another is wanted. No multiple of a time at which load comes, or a timer runs: samples in step with them would show
/// one part of what is done, again and again.
const INTERVAL: Duration = Duration::from_micros(19_700);

/// What is sampled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackOptions {
    /// The profiler's library, which is loaded into JVMs; none to load nothing, and sample CPU time by eBPF.
    pub profiler: Option<&'static [u8]>,
    /// CPU time, or with `wall` time that goes by, between two samples of a thread.
    pub interval: Duration,
    pub cpu: bool,
    pub wall: bool,
    /// Bytes between two samples of what is allocated.
    pub alloc_bytes: Option<u64>,
    /// Locks that are waited for at least so long.
    pub lock: Option<Duration>,
}

impl Default for StackOptions {
    fn default() -> StackOptions {
        StackOptions { profiler: None, interval: INTERVAL, cpu: true, wall: false, alloc_bytes: None, lock: None }
    }
}

/// The running source.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    profilers: Vec<Profiler>,
    kernel: Option<KernelSampler>,
}

impl Stacks {
    /// Begins to sample the servers among the processes. What can't be is said, and the rest goes on.
    pub(crate) fn start(
        recorder: &Recorder,
        watched: &[Watched],
        names: &[ThreadNames],
        options: &StackOptions,
        events: &Events,
    ) -> Stacks {
        let mut stacks = Stacks::default();
        let mut without = Vec::new();
        let servers = watched.iter().zip(names).filter(|(watched, _)| watched.process == ProcessKind::Server);
        for (watched, names) in servers {
            let heard = (names.clone(), events.clone());
            let profiler = match options.profiler {
                None => Err("no library is to be loaded into it".to_string()),
                Some(library) => jvm(watched).and_then(|target| {
                    Profiler::start(recorder, (&watched.node, target), library, options.clone(), heard)
                }),
            };
            match profiler {
                Ok(profiler) => stacks.profilers.push(profiler),
                Err(reason) => without.push((watched.clone(), names.clone(), reason)),
            }
        }
        stacks.kernel = in_the_kernel(recorder, without, options, events);
        stacks
    }

    /// Takes the profilers and the program off, after the last samples are in the recording.
    pub(crate) fn stop(self) {
        if let Some(kernel) = self.kernel {
            kernel.stop();
        }
        self.profilers.into_iter().for_each(Profiler::stop);
    }
}

/// The JVM that a process is, or why it can't have a profiler.
fn jvm(watched: &Watched) -> Result<Target, String> {
    match target::find(Which::Pid(watched.pid.cast_signed())) {
        Ok(target) if target.vm == Vm::None => Err("it is no Java virtual machine".to_string()),
        Ok(target) => Ok(target),
        Err(error) => Err(error.to_string()),
    }
}

/// Samples those by eBPF that have no profiler, and says so with the reason.
fn in_the_kernel(
    recorder: &Recorder,
    without: Vec<(Watched, ThreadNames, String)>,
    options: &StackOptions,
    events: &Events,
) -> Option<KernelSampler> {
    if without.is_empty() {
        return None;
    }
    let followed: Vec<_> = without.iter().map(|(watched, names, _)| (watched.clone(), names.clone())).collect();
    let sampler = match options.cpu {
        true => {
            KernelSampler::start(recorder, &followed, options.interval, events).map_err(|missing| missing.to_string())
        }
        false => Err("eBPF samples CPU time alone; ask for cpu as well".to_string()),
    };
    for (watched, _, reason) in without {
        let reason = match &sampler {
            Ok(_) => format!(
                "CPU time is sampled by eBPF ({reason}): by frame pointers, and what the process compiled itself has names only where it writes /tmp/perf-PID.map"
            ),
            Err(missing) => format!("no stacks are sampled: {reason}, and by eBPF they can't be: {missing}"),
        };
        // The one who listened may have had enough.
        let _ = events.send(Event::Degraded { node: watched.node, source: SOURCE, reason });
    }
    sampler.ok()
}
