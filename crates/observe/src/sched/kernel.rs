//! Loads and sets up the eBPF programs that follow scheduling.

use super::SchedOptions;
use super::records::{self, LOST_REASONS};
use crate::ebpf::{self, Programs, Unavailable};

/// Loads the programs, without attaching them.
pub(super) fn load(options: &SchedOptions) -> Result<Programs, Unavailable> {
    // Before Linux 5.18 the tracepoint does not have the thread's previous state, and the kernel refuses a program that
    // reads it.
    load_for(options, true).or_else(|_| load_for(options, false))
}

pub(super) fn load_for(options: &SchedOptions, tells_state: bool) -> Result<Programs, Unavailable> {
    let object = ebpf::load(ebpf::object!("sched"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&records::settings(options, tells_state)),
        "records" => map.set_max_entries(ebpf::ring_bytes(options.buffer_bytes)),
        "stacks" if !options.off_cpu_stacks => map.set_max_entries(1),
        _ => Ok(()),
    })?;
    Programs::new(object, &LOST_REASONS)
}
