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

use crate::Watched;
use crate::check::{Check, CheckState};
use crate::names::ThreadNames;
use crate::observation::Error;
use crate::sources::{Context, Running, Source};
use crate::worker::Worker;
use helenus_cassandra::target::{self, Target, Vm, Which};
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

pub(crate) struct Stacks;

impl Source for Stacks {
    fn start(&self, context: &Context<'_>, running: &mut Vec<Box<dyn Running>>) -> Result<(), Error> {
        let Some(options) = &context.options.stacks else { return Ok(()) };
        let mut without = Vec::new();
        for (watched, names) in context.servers() {
            let profiler = match options.profiler {
                None => Err("no library is to be loaded into it".to_string()),
                Some(library) => jvm(&watched).and_then(|target| {
                    profiler::start(context, (&watched.node, target), library, options.clone(), names.clone())
                }),
            };
            match profiler {
                Ok(profiler) => running.push(Box::new(profiler)),
                Err(reason) => without.push((watched, names, reason)),
            }
        }
        if let Some(worker) = in_the_kernel(context, without, options) {
            running.push(Box::new(worker));
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

/// The profiler runs in the node, with the node's rights; where the kernel takes our program, that tells it when, and adds the
/// kernel's frames.
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
    context: &Context<'_>,
    without: Vec<(Watched, ThreadNames, String)>,
    options: &StackOptions,
) -> Option<Worker> {
    if without.is_empty() {
        return None;
    }
    let watched = without.iter().map(|(watched, names, _)| (watched.clone(), names.clone())).collect();
    let worker = match options.cpu {
        true => kernel::start(context, watched, options.interval).map_err(|missing| missing.to_string()),
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
