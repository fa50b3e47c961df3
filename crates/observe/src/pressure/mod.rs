//! Shortage of resources on the machine and the nodes: CPU quotas, pressure, disks, memory, network, and CPU by process.
//! Also how the machine and the nodes' processes are set up.
//!
//! ```text
//! /proc/pressure ─▶ pressure          /proc/PID/{cgroup,stat,net/snmp} ─▶ node_pressure
//! /proc/diskstats ─▶ disks            /proc/*/stat, once a second ─▶ processes
//! /proc/sys, /proc/PID/{limits,…}, /sys, once ─▶ settings
//! ```

mod cgroup;
mod disks;
mod node;
mod processes;
mod setup;
mod stalled;

use crate::check::{Check, CheckState};
use crate::error::Error;
use crate::option_values::Switch;
use crate::source::{Context, Running, Source, facts};
use crate::wire::address_of;
use crate::worker::{Instruction, Instructions, NoThread, Worker};
use clap::Args;
use disks::Disks;
use helenus_recording::rows::SourceReport;
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use node::Node;
use processes::Processes;
use setup::Root;
use stalled::Stalled;
use std::path::Path;
use std::time::{Duration, Instant};

const SOURCE: &str = "pressure";
const PROVIDER: &str = "proc";
const INTERVAL: Duration = Duration::from_millis(100);
/// Interval between scans of all processes of the machine; there may be many.
const PROCESSES_EVERY: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct PressureOptions {
    /// Record what the machine is short of: pressure, quotas of cgroups, disks, retransmissions, and the processes that use
    /// the CPUs
    #[arg(long, value_name = "MODE", default_value = "on")]
    pub pressure: Switch,
}

impl Default for PressureOptions {
    fn default() -> PressureOptions {
        PressureOptions { pressure: Switch::On }
    }
}

pub(crate) struct Pressure;

impl Source for Pressure {
    type Options = PressureOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &PressureOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        if options.pressure != Switch::On {
            return Ok(());
        }
        let machine = context.watched.first().map_or("", |watched| watched.node.as_str()).to_string();
        let nodes: Vec<Node> = context.servers().map(|(watched, _)| Node::new(&watched)).collect();
        let watched = context.watched.iter().map(|watched| (watched.pid, watched.process));
        // Of a process that is no Cassandra this is unknown.
        let listening = context.servers().filter_map(|(node, _)| address_of(&node).ok()).collect();
        let run = Run {
            recorder: context.recorder.clone(),
            stalled: Stalled::new(),
            disks: Disks::new(),
            processes: Processes::new(watched, listening),
            nodes,
            machine: machine.clone(),
        };
        match Worker::start("pressure", move || Ok::<_, NoThread>((run, ())), Run::run) {
            Ok((worker, ())) => {
                running.push(Box::new(worker.noted(context, vec![facts(SOURCE, &machine, PROVIDER, "")])));
            }
            Err(error) => context.degrade(&machine, SOURCE, error.to_string()),
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        let what = "pressure of CPUs, disks and memory";
        vec![if Path::new("/proc/pressure/cpu").exists() {
            Check::new(what, CheckState::Works, "/proc/pressure", "")
        } else {
            let found = "no /proc/pressure in this kernel; disks, quotas and processes are recorded";
            Check::new(what, CheckState::Degraded, found, "a kernel with CONFIG_PSI, started with psi=1")
        }]
    }
}

struct Run {
    recorder: Recorder,
    stalled: Stalled,
    disks: Disks,
    processes: Processes,
    nodes: Vec<Node>,
    /// The node that stands for the machine.
    machine: String,
}

/// The time of a sample, and where its rows go.
struct Sample<'a> {
    recorder: &'a Recorder,
    node: &'a str,
    time_ns: i64,
    interval_ns: i64,
}

impl Run {
    fn run(mut self, instructions: &Instructions) {
        self.set_up();
        let mut clock = self.recorder.clock();
        let (mut last_ns, mut processes_ns) = (clock.now_ns(), clock.now_ns());
        let mut next = Instant::now() + INTERVAL;
        let (mut captured, mut intervals, mut cpu_ns) = (0, 0, cpu_time_of_this_thread_ns());
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            let instruction = instructions.wait(wait);
            if !instruction.is_last() {
                next = (next + INTERVAL).max(Instant::now());
            }
            let time_ns = clock.now_ns();
            captured += self.sample(time_ns, time_ns - last_ns);
            last_ns = time_ns;
            intervals += 1;
            if instruction.is_last() || intervals >= PROCESSES_EVERY {
                let interval_ns = time_ns - processes_ns;
                let machine = Sample { recorder: &self.recorder, node: &self.machine, time_ns, interval_ns };
                captured += self.processes.sample(&machine);
                let now_ns = cpu_time_of_this_thread_ns();
                self.report(time_ns, interval_ns, captured, now_ns - cpu_ns);
                (processes_ns, intervals, captured, cpu_ns) = (time_ns, 0, 0, now_ns);
            }
            match instruction {
                Instruction::Nothing => {}
                Instruction::Continue(next) => {
                    self.recorder = next.begin();
                    clock = self.recorder.clock();
                    self.set_up();
                }
                Instruction::Stop => return,
            }
        }
    }

    /// Writes how each node is set up, once for each recording.
    fn set_up(&self) {
        self.nodes.iter().for_each(|node| Root::default().append(&self.recorder, node.address(), node.pid()));
    }

    fn sample(&mut self, time_ns: i64, interval_ns: i64) -> i64 {
        let recorder = &self.recorder;
        let machine = Sample { recorder, node: &self.machine, time_ns, interval_ns };
        let mut rows = self.stalled.sample(&machine) + self.disks.sample(&machine);
        for node in &mut self.nodes {
            rows += node.sample(recorder, time_ns, interval_ns);
        }
        rows
    }

    fn report(&self, time_ns: i64, interval_ns: i64, captured: i64, cpu_ns: i64) {
        let mut nodes = vec![self.machine.as_str()];
        nodes.extend(self.nodes.iter().map(Node::address));
        nodes.dedup();
        for (index, node) in nodes.into_iter().enumerate() {
            // Rows and CPU time of this source belong to the machine, so only the row of the first node has them.
            let of_first = |value: i64| if index == 0 { value } else { 0 };
            self.recorder.append(SourceReport {
                time_ns,
                interval_ns,
                source: SOURCE,
                node,
                provider: PROVIDER,
                captured: of_first(captured),
                lost: 0,
                lost_reason: "",
                cpu_ns: Some(of_first(cpu_ns)),
            });
        }
    }
}
