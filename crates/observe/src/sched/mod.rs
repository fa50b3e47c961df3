//! How the kernel schedules the threads of the watched processes, recorded by eBPF programs.
//!
//! ```text
//! sched_switch ─▶ off the CPU, why ─┐
//! sched_waking ─▶ woken, by whom ───┤
//! sched_wakeup ─▶ ready to run ─────┤                         ┌─▶ off_cpu, stacks
//! sched_switch ─▶ on a CPU again ───┴▶ ring buffer ─▶ rows ───┤
//!                                  └─▶ table of sums ─▶ ──────┼─▶ run_queue
//! sched_migrate_task ───────────────────────────▲             └─▶ migrations
//! ```

mod kernel;
mod others;
mod records;
mod rows;

use crate::check::Check;
use crate::ebpf::{self, Unavailable};
use crate::error::Error;
use crate::option_values::{Switch, duration};
use crate::source::{Context, Running, Source};
use crate::symbols::KernelSymbols;
use clap::Args;
use rows::Rows;
use std::time::Duration;

const SOURCE: &str = "sched";

/// Default of `--off-cpu-above`.
const OFF_CPU_ABOVE: Duration = Duration::from_millis(1);
/// Bytes of the ring buffer: the record of an off-CPU time takes 72, and 336 with its stack.
const BUFFER_BYTES: u32 = 8 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct SchedOptions {
    /// Record by eBPF how threads come onto CPUs and off them: times off the CPU, run-queue delays, moves (needs root)
    #[arg(long, value_name = "MODE", default_value = "off")]
    pub sched: Switch,
    /// With --sched on: times off the CPU have a row from this duration on; 1ns for all [default: 1ms]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub off_cpu_above: Option<Duration>,
    /// With --sched on: also record where in the kernel the thread was
    #[arg(long)]
    pub off_cpu_stacks: bool,
    /// Size of the ring buffer, rounded up to a power of two.
    #[arg(skip = BUFFER_BYTES)]
    pub buffer_bytes: u32,
}

impl Default for SchedOptions {
    fn default() -> SchedOptions {
        SchedOptions { sched: Switch::Off, off_cpu_above: None, off_cpu_stacks: false, buffer_bytes: BUFFER_BYTES }
    }
}

impl SchedOptions {
    fn above(&self) -> Duration {
        self.off_cpu_above.unwrap_or(OFF_CPU_ABOVE)
    }
}

pub(crate) struct Sched;

impl Source for Sched {
    type Options = SchedOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &SchedOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        let mut options = *options;
        if options.sched == Switch::Off {
            return Ok(());
        }
        let symbols = options.off_cpu_stacks.then(KernelSymbols::read).transpose();
        options.off_cpu_stacks &= symbols.is_ok();
        let (symbols, no_symbols) = match symbols {
            Ok(symbols) => (symbols, None),
            Err(error) => (None, Some(error)),
        };
        let with = if options.off_cpu_stacks { ", with the kernel's stacks" } else { "" };
        let note = format!("times off the CPU of {:?} and more{with}; the rest added up", options.above());
        let worker = ebpf::follow_watched(context, SOURCE, &note, without, move |pids| {
            let mut programs = kernel::load(&options)?;
            programs.attach(pids)?;
            Ok((programs, Rows::new(symbols)))
        });
        let Some(worker) = worker else { return Ok(()) };
        running.push(Box::new(worker));
        if let Some(error) = no_symbols {
            for watched in context.watched {
                let reason = format!(
                    "times off the CPU have no stacks: /proc/kallsyms: {error}; run as root, with sysctl kernel.kptr_restrict=0 or 1"
                );
                context.degrade(&watched.node, SOURCE, reason);
            }
        }
        Ok(())
    }

    fn check(&self, options: &SchedOptions) -> Result<(), String> {
        if options.sched == Switch::Off && (options.off_cpu_above.is_some() || options.off_cpu_stacks) {
            return Err("--off-cpu-above and --off-cpu-stacks say what --sched on records; give that too".into());
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        let what = "times off the CPU, run-queue delays and moves by CPU";
        vec![Check::of(what, sched_available(), "eBPF: the kernel takes the programs")]
    }
}

fn without(missing: &Unavailable) -> String {
    format!(
        "times off the CPU, run-queue delays by size and moves by CPU are not recorded: {missing}. Run-queue time, migrations and switches of each thread are in the table threads, from /proc"
    )
}

/// Whether scheduling can be followed on this machine; loads the programs without attaching them.
pub fn sched_available() -> Result<(), Unavailable> {
    ebpf::require()?;
    let options = SchedOptions { sched: Switch::On, buffer_bytes: 1 << 16, ..SchedOptions::default() };
    kernel::load(&options).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_do_not_tell_the_state_take_the_programs_too() {
        helenus_needs::need!(sched_available());
        kernel::load_for(&SchedOptions { sched: Switch::On, off_cpu_stacks: true, ..SchedOptions::default() }, false)
            .unwrap();
    }
}
