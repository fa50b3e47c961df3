use super::nodes;
use crate::assets::{AGENT_JAR, PROFILER};
use crate::{interrupt, terminal};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use helenus_cassandra::Cancel;
use helenus_cassandra::network;
use helenus_cassandra::target::{self, Target, Vm, Which};
use helenus_observe::{
    ChosenCalls, Event, Observation, Options, ProcessKind, SchedOptions, StackOptions, SyscallsMode, SyscallsOptions,
    Watched,
};
use helenus_recording::{Manifest, Recorder};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Record what running nodes do: CPUs, threads, GC, thread pools, tables, system calls, scheduling, requests on the wire
///
/// The nodes run on this machine and need no preparation. An agent is loaded into each JVM and taken out again at the
/// end; it opens no port. Ends after --for, with the command after `--`, at Ctrl-C, or when the last node has ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --for 60s
  helenus record --pid 4711 -o peak.helenus
  helenus record --node 127.0.0.1 -- cassandra-stress write n=1000000
  helenus record --node 127.0.0.1 --no-agent --for 10s
  helenus record --node 127.0.0.1 --stacks ebpf --for 60s
  helenus record --node 127.0.0.1 --syscalls summary --for 60s
  helenus record --node 127.0.0.1 --syscalls full --calls fsync,fdatasync,pread64 --for 60s
  helenus record --node 127.0.0.1 --wire on --for 60s
  helenus record --node 127.0.0.1 --sched on --off-cpu-above 5ms --for 60s
  helenus record --node 127.0.0.1 --counters on --for 60s")]
pub struct Arguments {
    /// A node, by its CQL address (may be given again)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// A node, by its process (may be given again)
    #[arg(long = "pid", value_name = "PID")]
    pids: Vec<i32>,
    /// The new recording's folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// How long to record
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    lasts: Option<Duration>,
    /// Between two samples of CPUs and threads
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = super::duration)]
    interval: Duration,
    /// Stacks to sample: cpu, wall, alloc and lock, with commas between them; ebpf for CPU time without a profiler in the
    /// JVM (needs root); or off
    #[arg(long, value_name = "EVENTS", default_value = "cpu", value_parser = stacks)]
    stacks: StackEvents,
    /// CPU time, or with wall time that goes by, between two samples of a thread's stack
    #[arg(long, value_name = "DURATION", default_value = "19.7ms", value_parser = super::duration)]
    stack_interval: Duration,
    /// Leave the JVM alone: GC, safepoints, pools and tables are not recorded, and stacks by eBPF only
    #[arg(long)]
    no_agent: bool,
    /// Record system calls by eBPF: each as a row, or added up in the kernel every second (needs root)
    #[arg(long, value_name = "MODE", default_value = "off")]
    syscalls: Syscalls,
    /// With --syscalls: these calls alone, by name with commas between them [default: all]
    #[arg(long, value_name = "NAMES")]
    calls: Option<ChosenCalls>,
    /// With --syscalls full: calls above this in a second are dropped in the kernel, and counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_events_per_s: Option<u32>,
    /// Record each request on the wire with its answer, from the packets (needs root)
    #[arg(long, value_name = "MODE", default_value = "off")]
    wire: Switch,
    /// Record by eBPF how threads come onto CPUs and off them: times off the CPU, run-queue delays, moves (needs root)
    #[arg(long, value_name = "MODE", default_value = "off")]
    sched: Switch,
    /// With --sched on: times off the CPU have a row from this duration on; 1ns for all [default: 1ms]
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    off_cpu_above: Option<Duration>,
    /// With --sched on: also record where in the kernel the thread was
    #[arg(long)]
    off_cpu_stacks: bool,
    /// Count what threads cost the CPUs: cycles, instructions and cache misses where the machine has a PMU, page faults and
    /// switches everywhere
    #[arg(long, value_name = "MODE", default_value = "off")]
    counters: Switch,
    /// When the recording has this size on the disk, such as 2GiB, there are no more rows of calls, stacks, requests on the wire and
    /// times off the CPU; they are counted, and the rest goes on
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Print the recording's folder and rows as JSON; the output of the command goes to stderr then
    #[arg(long)]
    json: bool,
    /// A command to record around
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Bytes between two samples of what is allocated, as the profiler has it, and the shortest wait for a lock that is one.
const ALLOC_BYTES: u64 = 512 << 10;
const LOCK: Duration = Duration::from_millis(1);

/// What stacks are sampled of; all off for none.
#[derive(Debug, Clone, Copy, Default)]
struct StackEvents {
    cpu: bool,
    wall: bool,
    alloc: bool,
    lock: bool,
    /// By eBPF, with nothing loaded into the JVM.
    ebpf: bool,
}

fn stacks(text: &str) -> Result<StackEvents, String> {
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

fn size(text: &str) -> Result<u64, String> {
    helenus_notation::quantity::bytes(text).map_err(|error| error.to_string())
}

impl Arguments {
    fn stack_options(&self) -> Option<StackOptions> {
        let StackEvents { cpu, wall, alloc, lock, ebpf } = self.stacks;
        (cpu || wall || alloc || lock || ebpf).then(|| StackOptions {
            profiler: (!self.no_agent && !ebpf).then_some(PROFILER),
            interval: self.stack_interval,
            cpu: cpu || ebpf,
            wall,
            alloc_bytes: alloc.then_some(ALLOC_BYTES),
            lock: lock.then_some(LOCK),
        })
    }
}

impl Arguments {
    fn sched_options(&self) -> SchedOptions {
        let defaults = SchedOptions::default();
        SchedOptions {
            on: self.sched == Switch::On,
            off_cpu_above: self.off_cpu_above.unwrap_or(defaults.off_cpu_above),
            stacks: self.off_cpu_stacks,
            ..defaults
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Syscalls {
    Off,
    /// Added up every second
    Summary,
    /// A row per call
    Full,
}

impl Syscalls {
    fn mode(self) -> SyscallsMode {
        match self {
            Syscalls::Off => SyscallsMode::Off,
            Syscalls::Summary => SyscallsMode::Summary,
            Syscalls::Full => SyscallsMode::Full,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    Off,
    On,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.nodes.is_empty() && arguments.pids.is_empty() {
        bail!("nothing to record: give --node ADDRESS or --pid PID of a node that runs here, such as --node 127.0.0.1");
    }
    if arguments.stack_interval < Duration::from_millis(1) {
        bail!(
            "--stack-interval {:?} is too short: sampling would be what is measured; take 1ms or more",
            arguments.stack_interval
        );
    }
    if arguments.interval < Duration::from_millis(5) {
        bail!(
            "--interval {:?} is too short: reading /proc that often would be what is measured; take 5ms or more",
            arguments.interval
        );
    }
    if arguments.max_events_per_s.is_some() && arguments.syscalls != Syscalls::Full {
        bail!("--max-events-per-s limits the rows of --syscalls full; a summary has none to limit");
    }
    if arguments.calls.is_some() && arguments.syscalls == Syscalls::Off {
        bail!(
            "--calls chooses among the calls that --syscalls records; give --syscalls full or --syscalls summary too"
        );
    }
    if arguments.sched == Switch::Off && (arguments.off_cpu_above.is_some() || arguments.off_cpu_stacks) {
        bail!("--off-cpu-above and --off-cpu-stacks say what --sched on records; give that too");
    }
    let cancel = interrupt::cancel_on_signals()?;
    let targets = targets(&arguments)?;
    let folder = arguments.output.clone().unwrap_or_else(|| super::new_recording("record"));
    let title = format!("record {}", targets.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "));
    let recorder = Recorder::create(&folder, Manifest::new(&title, &super::command_line()))?;
    if let Some(bytes) = arguments.max_size {
        recorder.limit_size(bytes);
    }
    let outcome = record(&arguments, &targets, &recorder, &cancel);
    // Whatever happened, what was recorded is kept.
    let summary = super::close(&recorder, &outcome);
    if outcome.is_err() && summary.as_ref().is_ok_and(|summary| summary.tables.values().all(|table| table.rows == 0)) {
        // Best effort: an empty recording of a run that could not start helps nobody.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let code = outcome?;
    let summary = summary?;
    super::say_closed(&summary);
    if arguments.json {
        terminal::json(&super::Recorded::of(&summary))?;
    }
    Ok(code)
}

/// The nodes to record, each with the name it has in the rows.
fn targets(arguments: &Arguments) -> Result<Vec<(String, Target)>> {
    let mut targets = Vec::new();
    for node in &arguments.nodes {
        let address = nodes::address(node)?;
        targets.push((address.ip().to_string(), target::find(Which::Address(address))?));
    }
    for pid in &arguments.pids {
        let target = target::find(Which::Pid(*pid))?;
        // In a network of its own it may have the loopback address that other nodes have in theirs.
        let elsewhere = network::is_apart(*pid).unwrap_or(true);
        let named = target.cql.filter(|address| !(elsewhere && address.ip().is_loopback()));
        let name = named.map_or_else(|| format!("pid {pid}"), |address| address.ip().to_string());
        targets.push((name, target));
    }
    for (name, target) in &targets {
        if target.vm == Vm::None && !arguments.no_agent {
            bail!(
                "process {} ({}) is no Java virtual machine; give the --pid of a Cassandra node, or record its CPU, threads and stacks alone with --no-agent",
                target.pid,
                target.command
            );
        }
        if !target.is_cassandra {
            terminal::warn(format_args!(
                "{name} (pid {}, {}) is no Cassandra: there will be no pools and tables",
                target.pid, target.command
            ));
        }
    }
    Ok(targets)
}

fn record(
    arguments: &Arguments,
    targets: &[(String, Target)],
    recorder: &Recorder,
    cancel: &Cancel,
) -> Result<ExitCode> {
    let (events, heard) = std::sync::mpsc::channel();
    let watched: Vec<Watched> = targets
        .iter()
        .map(|(node, target)| Watched {
            process: ProcessKind::Server,
            node: node.clone(),
            pid: target.pid.unsigned_abs(),
        })
        .collect();
    let options = Options {
        interval: arguments.interval,
        agent: (!arguments.no_agent).then_some(AGENT_JAR),
        stacks: arguments.stack_options(),
        syscalls: SyscallsOptions {
            mode: arguments.syscalls.mode(),
            only: arguments.calls,
            max_events_per_s: arguments.max_events_per_s,
            ..SyscallsOptions::default()
        },
        // Calls on files say not whether a disk was read, and mapped files are read without any.
        page_cache: arguments.syscalls != Syscalls::Off,
        wire: arguments.wire == Switch::On,
        sched: arguments.sched_options(),
        counters: arguments.counters == Switch::On,
        ..Options::default()
    };
    let mut steps = terminal::Steps::new();
    steps.step(format_args!("attaching to {} node(s)", watched.len()));
    let observation = Observation::start(recorder, &watched, &options, &events)?;
    let child = match arguments.command.split_first() {
        None => None,
        Some((program, rest)) => match spawn(program, rest, arguments.json) {
            Ok(child) => Some(child),
            Err(error) => {
                observation.stop();
                return Err(error).with_context(|| format!("cannot start {program}"));
            }
        },
    };
    let until = Until { lasts: arguments.lasts, child, nodes: watched.len() };
    let code = until.wait(&mut steps, recorder, cancel, &heard);
    steps.step("detaching");
    let undone = observation.stop();
    drop(steps);
    for event in heard.try_iter() {
        super::say_event(&event);
    }
    for left in undone {
        terminal::warn(left);
    }
    code
}

/// Starts the command; with --json stdout is for one document alone.
fn spawn(program: &str, rest: &[String], json: bool) -> std::io::Result<std::process::Child> {
    let mut command = Command::new(program);
    if json {
        command.stdout(std::io::stderr().as_fd().try_clone_to_owned()?);
    }
    command.args(rest).spawn()
}

/// When a recording ends.
struct Until {
    lasts: Option<Duration>,
    child: Option<std::process::Child>,
    nodes: usize,
}

impl Until {
    fn wait(
        mut self,
        steps: &mut terminal::Steps,
        recorder: &Recorder,
        cancel: &Cancel,
        heard: &Receiver<Event>,
    ) -> Result<ExitCode> {
        let started = Instant::now();
        let mut said_full = false;
        steps.step(match (self.lasts, self.child.is_some()) {
            (Some(lasts), _) => format!("recording for {lasts:?}"),
            (None, true) => "recording until the command has ended".to_string(),
            (None, false) => "recording; Ctrl-C ends it".to_string(),
        });
        loop {
            match heard.recv_timeout(Duration::from_millis(100)) {
                Ok(event) => {
                    if matches!(event, Event::TargetEnded { .. }) {
                        self.nodes -= 1;
                    }
                    steps.keep(|| super::say_event(&event));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let health = recorder.health();
            let rows: u64 = health.rows.values().sum();
            if health.is_full && !std::mem::replace(&mut said_full, true) {
                steps.keep(|| {
                    terminal::warn(format_args!(
                        "the recording has reached --max-size after {:.0} s: calls, stacks, requests on the wire and times off the CPU have no more rows",
                        started.elapsed().as_secs_f64()
                    ));
                });
            }
            if !super::show_disk(steps, recorder) {
                steps.live(format_args!(
                    "recording: {:.0} s, {} rows",
                    started.elapsed().as_secs_f64(),
                    terminal::count(rows)
                ));
            }
            if let Some(child) = &mut self.child
                && let Some(status) = child.try_wait()?
            {
                // The command's own code is what a script asks for; a signal is an error.
                return Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)));
            }
            let over = self.lasts.is_some_and(|lasts| started.elapsed() >= lasts);
            if over || cancel.is_cancelled() || (self.nodes == 0 && self.child.is_none()) {
                self.end_child()?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// The command ends with the recording. A Ctrl-C on the terminal has reached it as well.
    fn end_child(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            let pid = i32::try_from(child.id()).context("a pid that is none")?;
            // SAFETY: kill takes no pointers, and the child has not been waited for, so that the pid is still its own.
            unsafe { libc::kill(pid, libc::SIGTERM) };
            child.wait()?;
        }
        Ok(())
    }
}
