//! How the kernel schedules the threads of the watched processes, from programs in the kernel.
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
use crate::ebpf::{self, Missing};
use crate::observation::Error;
use crate::sources::{Context, Running, Source};
use crate::symbols::KernelSymbols;
use rows::Rows;
use std::time::Duration;

const SOURCE: &str = "sched";

/// How scheduling is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedOptions {
    pub on: bool,
    /// Times off the CPU have a row from this duration on.
    pub off_cpu_above: Duration,
    /// Whether those rows say where in the kernel the thread was.
    pub stacks: bool,
    /// Size of the ring buffer, rounded up to a power of two: a time off the CPU takes 72 bytes, with its stack 336.
    pub buffer_bytes: u32,
}

impl Default for SchedOptions {
    fn default() -> SchedOptions {
        SchedOptions { on: false, off_cpu_above: Duration::from_millis(1), stacks: false, buffer_bytes: 8 << 20 }
    }
}

pub(crate) struct Sched;

impl Source for Sched {
    fn start(&self, context: &Context<'_>, running: &mut Vec<Box<dyn Running>>) -> Result<(), Error> {
        let mut options = context.options.sched;
        if !options.on {
            return Ok(());
        }
        let symbols = options.stacks.then(KernelSymbols::read).transpose();
        options.stacks &= symbols.is_ok();
        let (symbols, no_symbols) = match symbols {
            Ok(symbols) => (symbols, None),
            Err(error) => (None, Some(error)),
        };
        let with = if options.stacks { ", with the kernel's stacks" } else { "" };
        let note = format!("times off the CPU of {:?} and more{with}; the rest added up", options.off_cpu_above);
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

    fn checks(&self) -> Vec<Check> {
        let what = "times off the CPU, run-queue delays and moves by CPU";
        vec![Check::of(what, sched_available(), "eBPF: the kernel takes the programs")]
    }
}

fn without(missing: &Missing) -> String {
    format!(
        "times off the CPU, run-queue delays by size and moves by CPU are not recorded: {missing}. Run-queue time, migrations and switches of each thread are in the table threads, from /proc"
    )
}

/// Whether scheduling can be followed here, by loading the programs without attaching them.
pub fn sched_available() -> Result<(), Missing> {
    ebpf::look()?;
    let options = SchedOptions { on: true, buffer_bytes: 1 << 16, ..SchedOptions::default() };
    kernel::load(&options).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_do_not_tell_the_state_take_the_programs_too() {
        helenus_needs::need!(sched_available());
        kernel::load_for(&SchedOptions { on: true, stacks: true, ..SchedOptions::default() }, false).unwrap();
    }
}
