use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_cassandra::target::{self, Target};
use helenus_cassandra::{attach, java};
use serde::Serialize;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Say what works on this machine, what does not, why, and what would change it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  helenus doctor --json | jq '.[] | select(.state != \"works\")'")]
pub struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One thing that Helenus can do here, or not.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    state: State,
    /// What was found.
    found: String,
    /// The one command or change that would make it better; empty when there is nothing to do.
    way_out: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Works,
    Degraded,
    Missing,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut checks = vec![
        java_for_nodes(),
        maven(),
        attach(),
        schedstat(),
        sched(),
        stacks(),
        stacks_without_profiler(),
        syscalls(),
        page_cache(),
        wire(),
        scheduling(),
        counters(),
        cpus(),
        descriptors(),
    ];
    checks.extend(target::nodes().into_iter().map(node));
    if arguments.json {
        terminal::json(&checks)?;
        return Ok(ExitCode::SUCCESS);
    }
    for check in &checks {
        let mark = match check.state {
            State::Works => terminal::good("works   "),
            State::Degraded => terminal::severity_text("warning", "degraded"),
            State::Missing => terminal::severity_text("critical", "missing "),
        };
        terminal::print(format_args!("{mark}  {}: {}", terminal::bold(&check.what), check.found));
        if !check.way_out.is_empty() {
            terminal::print(format_args!("          {} {}", terminal::dim("→"), check.way_out));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(what: impl Into<String>, state: State, found: impl Into<String>, way_out: &str) -> Check {
    Check {
        what: what.into(),
        state,
        found: found.into(),
        way_out: if state == State::Works { String::new() } else { way_out.into() },
    }
}

fn java_for_nodes() -> Check {
    let installed = java::installed();
    let versions: Vec<String> = installed.iter().map(|java| java.version.clone()).collect();
    let fits = |features: &[u32]| installed.iter().any(|java| features.contains(&java.feature));
    let found = if versions.is_empty() { "none".to_string() } else { versions.join(", ") };
    let (state, found) = match (fits(&[11, 17]), fits(&[8, 11])) {
        (true, true) => (State::Works, format!("{found}: for Cassandra 4.0, 4.1 and 5.0")),
        (true, false) => (State::Degraded, format!("{found}: for Cassandra 5.0; 4.0 and 4.1 need Java 11")),
        (false, true) => (State::Degraded, format!("{found}: for Cassandra 4.0 and 4.1; 5.0 needs Java 11 or 17")),
        (false, false) => (State::Missing, found),
    };
    check(
        "Java for local nodes",
        state,
        found,
        "install JDK 17 (apt-get install openjdk-17-jdk-headless) and 11, or name one in HELENUS_JAVA_HOME",
    )
}

fn maven() -> Check {
    match Command::new("mvn").arg("--version").output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            check("Maven, which fetches Cassandra", State::Works, said.lines().next().unwrap_or_default(), "")
        }
        Err(_) => check(
            "Maven, which fetches Cassandra",
            State::Missing,
            "no mvn on the PATH; `helenus up` works with releases that are in the cache",
            "apt-get install maven",
        ),
    }
}

fn attach() -> Check {
    // SAFETY: takes no arguments and can't fail.
    let root = unsafe { libc::geteuid() } == 0;
    if root {
        check("the agent in a running JVM", State::Works, "root: nodes of every user", "")
    } else {
        check(
            "the agent in a running JVM",
            State::Degraded,
            "nodes of this user only",
            "run as the node's user, or as root",
        )
    }
}

fn schedstat() -> Check {
    if Path::new("/proc/self/schedstat").exists() {
        check("CPU and run-queue time per thread", State::Works, "/proc/PID/task/TID/schedstat, exact", "")
    } else {
        check(
            "CPU and run-queue time per thread",
            State::Degraded,
            "no schedstat in this kernel: CPU time in ticks of 10 ms, no run-queue delay",
            "a kernel with CONFIG_SCHED_INFO",
        )
    }
}

fn sched() -> Check {
    if Path::new("/proc/self/sched").exists() {
        check("migrations and switches per thread", State::Works, "/proc/PID/task/TID/sched", "")
    } else {
        check(
            "migrations and switches per thread",
            State::Missing,
            "no /proc/PID/task/TID/sched in this kernel",
            "a kernel with CONFIG_SCHED_DEBUG",
        )
    }
}

/// The profiler runs in the node, with the node's rights; where the kernel takes our program, that tells it when, and adds the
/// kernel's frames.
fn stacks() -> Check {
    let what = "stacks of a node's threads";
    if is_noexec(c"/tmp") {
        let way_out = "mount -o remount,exec /tmp, for as long as it takes to attach";
        return check(what, State::Missing, "libraries can't be loaded from /tmp, which is mounted noexec", way_out);
    }
    if helenus_observe::ebpf_stacks_available().is_ok() {
        let found = "async-profiler, by a clock of each CPU: Java, native and kernel frames";
        return check(what, State::Works, found, "");
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    match paranoid.trim().parse::<i32>() {
        Ok(level) if level <= 1 => {
            let found = "async-profiler, by a clock of each thread: Java, native and kernel frames";
            check(what, State::Works, found, "")
        }
        level => {
            let level = level.map_or_else(|_| "not readable".to_string(), |level| level.to_string());
            let found = format!(
                "async-profiler, by a clock of each thread: without kernel frames where a node is not root's (perf_event_paranoid is {level})"
            );
            check(
                what,
                State::Degraded,
                found,
                "run it as root, or sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0",
            )
        }
    }
}

fn stacks_without_profiler() -> Check {
    let what = "stacks without a profiler in the JVM";
    match helenus_observe::ebpf_stacks_available() {
        Ok(()) => check(what, State::Works, "eBPF: CPU time of any process, by frame pointers", ""),
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn is_noexec(path: &std::ffi::CStr) -> bool {
    // SAFETY: all zeroes is a statvfs, and both pointers are to what lives during the call.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut facts) == 0 && facts.f_flag & libc::ST_NOEXEC != 0
    }
}

fn syscalls() -> Check {
    let what = "system calls";
    match helenus_observe::syscalls_available() {
        Ok(()) => check(what, State::Works, "eBPF: the kernel takes the programs", ""),
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn page_cache() -> Check {
    let what = "reads from disks by file, and through mappings";
    match helenus_observe::page_cache_available() {
        Ok(()) => check(what, State::Works, "eBPF: the kernel takes the program", ""),
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn wire() -> Check {
    let what = "requests on the wire";
    match helenus_observe::wire_available() {
        Ok(()) => check(what, State::Works, "a packet socket; what is in TLS can't be read", ""),
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn scheduling() -> Check {
    let what = "times off the CPU, run-queue delays and moves by CPU";
    match helenus_observe::sched_available() {
        Ok(()) => check(what, State::Works, "eBPF: the kernel takes the programs", ""),
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn counters() -> Check {
    let what = "cycles, instructions and cache misses of threads";
    match helenus_observe::countable() {
        Ok(countable) => match countable.without {
            None => check(what, State::Works, "the PMU of this machine, user mode and kernel", ""),
            Some(missing) if countable.has_pmu() => check(what, State::Degraded, missing.reason, &missing.way_out),
            Some(missing) => {
                let found = format!("{}; page faults, switches and migrations can be counted", missing.reason);
                check(what, State::Missing, found, &missing.way_out)
            }
        },
        Err(missing) => check(what, State::Missing, missing.reason, &missing.way_out),
    }
}

fn cpus() -> Check {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let found = format!("{cpus} CPUs for this process");
    let way_out = "drive the load from another machine: on so few CPUs the load driver competes with the node";
    check("room for load and node", if cpus < 4 { State::Degraded } else { State::Works }, found, way_out)
}

fn descriptors() -> Check {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to an rlimit of ours.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    // Two for each thread of a node, which has some hundreds to some thousands, and eight more where they are counted.
    let enough = limit.rlim_max >= 8192;
    let state = if enough { State::Works } else { State::Degraded };
    check("open files", state, format!("{} at most", limit.rlim_max), "ulimit -Hn 65536")
}

/// A node that runs here: whether the agent gets into it, and whether it may be changed without a slow minute.
fn node(found: Result<Target, target::Error>) -> Check {
    let target = match found {
        Ok(target) => target,
        Err(error) => return check("a node of this machine", State::Missing, error.to_string(), ""),
    };
    let what = match target.cql {
        Some(address) => format!("the node {address} (process {})", target.pid),
        None => format!("the node of process {}", target.pid),
    };
    if let Err(refused) = attach::check(&target) {
        let way_out =
            "what needs no agent works: stacks by eBPF, system calls, times off the CPU and requests on the wire";
        return check(what, State::Degraded, refused.to_string(), way_out);
    }
    if target.was_started_ready() {
        return check(what, State::Works, "the agent gets in; started ready for valves, probes and executors", "");
    }
    let found = "the agent gets in; not started ready: it is slow for a minute after its first valve at a method, probe or executor";
    let way_out =
        "start it with -javaagent:helenus-agent.jar=ready (helenus agent writes the jar); recording needs it not";
    check(what, State::Degraded, found, way_out)
}
