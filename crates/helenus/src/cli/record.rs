mod keep;
mod trigger;

use super::nodes;
use crate::assets::{AGENT_JAR, PROFILER};
use crate::{interrupt, terminal};
use anyhow::{Context, Result, bail};
use clap::{Args, FromArgMatches};
use helenus_cassandra::Cancel;
use helenus_cassandra::network;
use helenus_cassandra::target::{self, Target, TargetName, Vm};
use helenus_observe::{Event, Observation, Options, ProcessKind, SwitchRequest, Watched};
use helenus_recording::{Manifest, Recorder};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Record running nodes and the requests of their clients
///
/// Sources are CPUs, threads, GC, thread pools, tables, system calls, scheduling, and requests on the wire or inside the JVM.
///
/// The nodes run on this machine and need no preparation. An agent is loaded into each JVM and taken out again at the
/// end; it opens no port. Ends after --for, with the command after `--`, at Ctrl-C, or when the last node has ended.
///
/// With --keep it is a flight recorder: it records until Ctrl-C, deletes older rows, follows a node that is restarted,
/// and continues in the same folder when it is started again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --for 60s
  helenus record --pid 4711 -o peak.helenus
  helenus record --node 127.0.0.1 --keep 30m --max-size 2GiB -o flight.helenus
  helenus record --node 127.0.0.1 --keep 30m --budget 2%
  helenus record --node 127.0.0.1 --keep 30m --trigger 'p99(read) > 200ms for 10s' --exec 'echo $HELENUS_REPORT'
  helenus record --node 127.0.0.1 -- cassandra-stress write n=1000000
  helenus record --node 127.0.0.1 --no-agent --for 10s
  helenus record --node 127.0.0.1 --stacks ebpf --for 60s
  helenus record --node 127.0.0.1 --syscalls summary --for 60s
  helenus record --node 127.0.0.1 --syscalls full --calls fsync,fdatasync,pread64 --for 60s
  helenus record --node 127.0.0.1 --requests off --for 60s
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
    /// Record until Ctrl-C or for --for, and keep the last minutes: what is older is deleted, and so is the oldest above --max-size
    #[arg(long, value_name = "DURATION", value_parser = super::duration, conflicts_with = "command")]
    keep: Option<Duration>,
    /// With --keep: the most that the recorder and its agent may use of the CPUs that the nodes may run on. While they use
    /// more, fewer connections are followed, then stacks are sampled less often, then system calls are only added up, then
    /// scheduling is not recorded
    #[arg(long, value_name = "PERCENT", value_parser = super::percent, requires = "keep")]
    budget: Option<f64>,
    #[command(flatten)]
    triggers: trigger::TriggerOptions,
    #[command(flatten)]
    options: Options,
    /// Print the recording's folder and rows as JSON; the output of the command goes to stderr then
    #[arg(long)]
    json: bool,
    /// A command to record around
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.nodes.is_empty() && arguments.pids.is_empty() {
        bail!("nothing to record: give --node ADDRESS or --pid PID of a node that runs here, such as --node 127.0.0.1");
    }
    if let Err(reason) = arguments.options.check() {
        bail!(reason);
    }
    let cancel = interrupt::cancel_on_signals()?;
    if let Some(keep) = arguments.keep {
        return keep::run(&arguments, keep, &cancel, None, || {});
    }
    let targets = targets(&arguments)?;
    let folder = arguments.output.clone().unwrap_or_else(|| super::new_recording("record"));
    let title = format!("record {}", targets.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "));
    let recorder = Recorder::create(&folder, Manifest::new(&title, &super::command_line()))?;
    let outcome = record(&arguments, &targets, &recorder, &cancel);
    // Keep the data that was recorded before an error.
    let summary = super::close(&recorder, &outcome);
    if outcome.is_err() && summary.as_ref().is_ok_and(|summary| summary.tables.values().all(|table| table.rows == 0)) {
        // Best effort: an empty recording of a run that could not start is useless.
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

/// Records nodes as `helenus record --keep` does with its defaults, until it is cancelled. Calls `attached` once they are recorded.
pub fn keep_nodes(
    nodes: &[String],
    folder: &Path,
    (keep, max_bytes): (Duration, u64),
    cancel: &Cancel,
    switches: Receiver<SwitchRequest>,
    attached: impl FnOnce(),
) -> Result<()> {
    let defaults = Arguments::augment_args(clap::Command::new("record")).try_get_matches_from(["record"])?;
    let mut arguments = Arguments::from_arg_matches(&defaults)?;
    arguments.nodes = nodes.to_vec();
    arguments.output = Some(folder.to_path_buf());
    arguments.options.max_size = Some(max_bytes);
    keep::run(&arguments, keep, cancel, Some(switches), attached).map(drop)
}

/// The nodes to record, each with the name it has in the rows.
fn targets(arguments: &Arguments) -> Result<Vec<(String, Target)>> {
    let mut targets = Vec::new();
    for node in &arguments.nodes {
        let address = nodes::address(node)?;
        targets.push((address.ip().to_string(), target::find(TargetName::Address(address))?));
    }
    for pid in &arguments.pids {
        let target = target::find(TargetName::Pid(*pid))?;
        // A process in another network namespace may use the same loopback address as nodes here.
        let elsewhere = network::is_apart(*pid).unwrap_or(true);
        let named = target.cql.filter(|address| !(elsewhere && address.ip().is_loopback()));
        let name = named.map_or_else(|| format!("pid {pid}"), |address| address.ip().to_string());
        targets.push((name, target));
    }
    for (name, target) in &targets {
        if target.vm == Vm::None && !arguments.options.agent.no_agent {
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
    let (events, received) = std::sync::mpsc::channel();
    let watched: Vec<Watched> = targets
        .iter()
        .map(|(node, target)| Watched {
            process: ProcessKind::Server,
            node: node.clone(),
            pid: target.pid.unsigned_abs(),
        })
        .collect();
    let mut options = arguments.options.clone();
    options.agent.jar = Some(AGENT_JAR);
    options.agent.optional = true;
    options.stacks.profiler = Some(PROFILER);
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
    let code = until.wait(&mut steps, recorder, cancel, &received);
    steps.step("detaching");
    let undone = observation.stop();
    drop(steps);
    for event in received.try_iter() {
        super::say_event(&event);
    }
    for left in undone {
        terminal::warn(left);
    }
    code
}

/// Starts the command. With --json, its output goes to stderr, because stdout has a single document.
fn spawn(program: &str, rest: &[String], json: bool) -> std::io::Result<std::process::Child> {
    let mut command = Command::new(program);
    if json {
        command.stdout(std::io::stderr().as_fd().try_clone_to_owned()?);
    }
    command.args(rest).spawn()
}

/// The condition that ends a recording.
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
        received: &Receiver<Event>,
    ) -> Result<ExitCode> {
        let started = Instant::now();
        let mut said_full = false;
        steps.step(match (self.lasts, self.child.is_some()) {
            (Some(lasts), _) => format!("recording for {lasts:?}"),
            (None, true) => "recording until the command has ended".to_string(),
            (None, false) => "recording; Ctrl-C ends it".to_string(),
        });
        loop {
            match received.recv_timeout(Duration::from_millis(100)) {
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
                // The exit code of the command is returned to the script; if the command ended by a signal, that is an
                // error.
                return Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)));
            }
            let over = self.lasts.is_some_and(|lasts| started.elapsed() >= lasts);
            if over || cancel.is_cancelled() || (self.nodes == 0 && self.child.is_none()) {
                self.end_child()?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// The command ends with the recording. A Ctrl-C on the terminal has already reached it.
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
