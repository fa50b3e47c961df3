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
pub(crate) use profiler::profiler_files;

use crate::Watched;
use crate::check::{Check, CheckState};
use crate::error::Error;
use crate::names::ThreadNames;
use crate::option_values::duration;
use crate::source::{Context, Running, Source};
use crate::worker::Worker;
use clap::Args;
use helenus_cassandra::attach;
use helenus_cassandra::target::{self, Target, TargetName, Vm};
use std::str::FromStr;
use std::time::Duration;

const SOURCE: &str = "stacks";

/// The default interval. It is not a multiple of common periods of loads or timers: samples in step with such a period
/// would always show the same part of the work.
const INTERVAL: Duration = Duration::from_micros(19_700);

/// Allocated bytes between two samples, the profiler's own default, and the shortest recorded wait for a lock.
const ALLOC_BYTES: u64 = 512 << 10;
const LOCK: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct StackOptions {
    /// Stacks to sample: cpu, wall, alloc and lock, with commas between them; ebpf for CPU time without a profiler in the
    /// JVM (needs root); or off
    #[arg(long, value_name = "EVENTS", default_value = "cpu")]
    pub stacks: StackEvents,
    /// CPU time, or with wall time that goes by, between two samples of a thread's stack
    #[arg(long, value_name = "DURATION", default_value = "19.7ms", value_parser = duration)]
    pub stack_interval: Duration,
    #[arg(skip = ALLOC_BYTES)]
    pub alloc_bytes: u64,
    /// The profiler's library, which is loaded into JVMs; none to load nothing, and sample CPU time by eBPF.
    #[arg(skip)]
    pub profiler: Option<&'static [u8]>,
}

impl Default for StackOptions {
    fn default() -> StackOptions {
        StackOptions {
            stacks: StackEvents::default(),
            stack_interval: INTERVAL,
            alloc_bytes: ALLOC_BYTES,
            profiler: None,
        }
    }
}

/// The events at which stacks are sampled; all off for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackEvents {
    pub cpu: bool,
    pub wall: bool,
    pub alloc: bool,
    pub lock: bool,
    /// CPU time by eBPF, with nothing loaded into the JVM.
    pub ebpf: bool,
}

impl FromStr for StackEvents {
    type Err = String;

    fn from_str(text: &str) -> Result<StackEvents, String> {
        let mut events = StackEvents::default();
        for word in text.split(',').filter(|word| *word != "off") {
            match word {
                "cpu" => events.cpu = true,
                "wall" => events.wall = true,
                "alloc" => events.alloc = true,
                "lock" => events.lock = true,
                "ebpf" => events.ebpf = true,
                _ => return Err("there are cpu, wall, alloc and lock, ebpf, and off".to_string()),
            }
        }
        if events.ebpf && (events.wall || events.alloc || events.lock) {
            return Err("eBPF samples CPU time alone; wall, alloc and lock need the profiler".to_string());
        }
        Ok(events)
    }
}

pub(crate) struct Stacks;

impl Source for Stacks {
    type Options = StackOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &StackOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        if options.stacks == StackEvents::default() {
            return Ok(());
        }
        let library = options.profiler.filter(|_| !options.stacks.ebpf);
        let mut without = Vec::new();
        for (watched, names) in context.servers() {
            let profiler = match library {
                None => Err("no library is to be loaded into it".to_string()),
                Some(library) => jvm(&watched).and_then(|target| {
                    profiler::start(context, (&watched.node, target), library, *options, names.clone())
                }),
            };
            match profiler {
                Ok(profiler) => running.push(Box::new(profiler)),
                Err(reason) => without.push((watched, names, reason)),
            }
        }
        if let Some(worker) = in_the_kernel(context, without, options) {
            running.push(if library.is_some() { Box::new(Instead(worker)) } else { Box::new(worker) });
        }
        Ok(())
    }

    fn check(&self, options: &StackOptions) -> Result<(), String> {
        let interval = options.stack_interval;
        if interval < Duration::from_millis(1) {
            return Err(format!(
                "--stack-interval {interval:?} is too short: sampling would be what is measured; take 1ms or more"
            ));
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        let available = ebpf_stacks_available();
        let with_profiler = with_profiler(available.is_ok());
        let what = "stacks without a profiler in the JVM";
        let found = "eBPF: CPU time of any process, by frame pointers";
        vec![with_profiler, Check::of(what, available, found)]
    }
}

/// A worker that takes the place of a profiler that could not be loaded. The next recording tries again: the node may
/// have been stopped, or another recorder may have used the profiler.
#[derive(Debug)]
struct Instead(Worker);

impl Running for Instead {
    fn stop(self: Box<Self>) -> Option<String> {
        self.0.end();
        None
    }
}

/// Samples with the profiler inside the node. Where eBPF is available, its program triggers the profiler's samples and
/// adds the kernel's frames.
fn with_profiler(by_clocks_of_cpus: bool) -> Check {
    let what = "stacks of a node's threads";
    if is_noexec(c"/tmp") {
        let way_out = "mount -o remount,exec /tmp, for as long as it takes to attach";
        let found = "libraries can't be loaded from /tmp, which is mounted noexec";
        return Check::new(what, CheckState::Missing, found, way_out);
    }
    if by_clocks_of_cpus {
        let found = "async-profiler, by a clock of each CPU: Java, native and kernel frames";
        return Check::new(what, CheckState::Works, found, "");
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    match paranoid.trim().parse::<i32>() {
        Ok(level) if level <= 1 => {
            let found = "async-profiler, by a clock of each thread: Java, native and kernel frames";
            Check::new(what, CheckState::Works, found, "")
        }
        level => {
            let level = level.map_or_else(|_| "not readable".to_string(), |level| level.to_string());
            let found = format!(
                "async-profiler, by a clock of each thread: without kernel frames where a node is not root's (perf_event_paranoid is {level})"
            );
            let way_out = "run it as root, or sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0";
            Check::new(what, CheckState::Degraded, found, way_out)
        }
    }
}

fn is_noexec(path: &std::ffi::CStr) -> bool {
    // SAFETY: all zeroes is a statvfs, and both pointers are to what lives during the call.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut facts) == 0 && facts.f_flag & libc::ST_NOEXEC != 0
    }
}

/// The JVM in a process, or why it can't have a profiler.
fn jvm(watched: &Watched) -> Result<Target, String> {
    match target::find(TargetName::Pid(watched.pid.cast_signed())) {
        Ok(target) if target.vm == Vm::None => Err("it is no Java virtual machine".to_string()),
        Ok(target) => attach::check_memory(&target).map(|()| target).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Samples processes without a profiler by eBPF, and reports the reason.
fn in_the_kernel(
    context: &Context<'_>,
    without: Vec<(Watched, ThreadNames, String)>,
    options: &StackOptions,
) -> Option<Worker> {
    if without.is_empty() {
        return None;
    }
    let watched = without.iter().map(|(watched, names, _)| (watched.clone(), names.clone())).collect();
    let worker = match options.stacks.cpu || options.stacks.ebpf {
        true => kernel::start(context, watched, options.stack_interval).map_err(|missing| missing.to_string()),
        false => Err("eBPF samples CPU time alone; ask for cpu as well".to_string()),
    };
    for (watched, _, reason) in without {
        let reason = match &worker {
            Ok(_) => format!(
                "CPU time is sampled by eBPF ({reason}): by frame pointers, and what the process compiled itself has names only where it writes /tmp/perf-PID.map"
            ),
            Err(missing) => format!("no stacks are sampled: {reason}, and by eBPF they can't be: {missing}"),
        };
        context.degrade(&watched.node, SOURCE, reason);
    }
    worker.ok()
}
