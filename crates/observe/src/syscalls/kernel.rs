//! Loads and sets up the eBPF programs that follow system calls.

use super::calls::Calls;
use super::records::{self, LOST_REASONS};
use super::{SyscallsMode, SyscallsOptions};
use crate::ebpf::{self, Programs, Unavailable};

/// Loads the programs, without attaching them.
pub(super) fn load(options: &SyscallsOptions, calls: &Calls) -> Result<Programs, Unavailable> {
    let summary = options.syscalls == SyscallsMode::Summary;
    let object = ebpf::load(ebpf::object!("syscalls"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&records::settings(options, &calls.kinds)),
        "records" => map.set_max_entries(ebpf::ring_bytes(options.buffer_bytes)),
        "sums" | "sum_indices_0" | "sum_indices_1" if !summary => map.set_max_entries(1),
        _ => Ok(()),
    })?;
    Programs::new(object, &LOST_REASONS)
}
