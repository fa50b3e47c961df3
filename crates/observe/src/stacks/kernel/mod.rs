//! Stacks of the threads of any process, sampled by an eBPF program. Used where no profiler can be loaded.
//!
//! ```text
//! clock of each CPU ─▶ program ─▶ ring buffer ─▶ rows ─▶ samples, stacks
//! ```
//!
//! The kernel follows frame pointers, so frames of code without them are missing. Names come from the symbol tables of
//! the files that were loaded, from `/tmp/perf-PID.map` for code that the process compiled, and from the kernel's own
//! table.

mod clocks;
mod records;
mod rows;

use super::SOURCE;
use crate::Watched;
use crate::ebpf::{self, Programs, Unavailable};
use crate::names::ThreadNames;
use crate::source::Context;
use crate::symbols::KernelSymbols;
use crate::worker::Worker;
pub(super) use clocks::open as clocks;
pub(super) use records::{LOST_REASONS, sample};
use rows::Rows;
use std::time::Duration;

/// Bytes of the ring buffer. A sample takes 1.5 KiB at most, so the buffer holds the samples of 64 CPUs for half a
/// second, at one sample per millisecond.
const BUFFER_BYTES: u32 = 32 << 20;

/// Whether stacks can be sampled by eBPF on this machine; loads the program without attaching it.
pub fn ebpf_stacks_available() -> Result<(), Unavailable> {
    ebpf::require()?;
    load(1 << 16, WALKED_IN_THE_KERNEL).map(drop)
}

/// The value that stands for "no signal".
const WALKED_IN_THE_KERNEL: u32 = 0;

/// Loads the program. It records stacks itself, or sends a signal that makes the profiler record them.
pub(super) fn load(buffer_bytes: u32, signal: u32) -> Result<Programs, Unavailable> {
    let object = ebpf::load(ebpf::object!("stacks"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&signal.to_ne_bytes()),
        "records" => map.set_max_entries(ebpf::ring_bytes(buffer_bytes)),
        _ => Ok(()),
    })?;
    Programs::new(object, &LOST_REASONS)
}

/// Begins to sample processes.
pub(super) fn start(
    context: &Context<'_>,
    watched: Vec<(Watched, ThreadNames)>,
    interval: Duration,
) -> Result<Worker, Unavailable> {
    let followed = ebpf::followable(context, SOURCE, watched);
    let note = format!("cpu, a sample every {interval:?} of a CPU's time, by frame pointers");
    ebpf::follow(context, SOURCE, &note, followed, move |pids| {
        let mut programs = load(BUFFER_BYTES, WALKED_IN_THE_KERNEL)?;
        programs.attach_to(clocks::open(interval)?, pids)?;
        Ok((programs, Rows::new(pids, KernelSymbols::read().ok(), interval)))
    })
}
