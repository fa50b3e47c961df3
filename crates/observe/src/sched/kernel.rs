//! The programs in the kernel: loaded, attached, told whom to follow, and taken off again.

use super::SchedOptions;
use super::records::{self, LOST_REASONS, Sum};
use crate::ebpf::{self, Losses, Missing, Sums};
use libbpf_rs::{Link, MapCore, MapHandle, Object};

/// The programs in the kernel. They go when this is dropped.
pub(super) struct Programs {
    links: Vec<Link>,
    _object: Object,
    pub(super) records: MapHandle,
    processes: MapHandle,
    losses: Losses<{ LOST_REASONS.len() }>,
    sums: Sums,
}

impl Programs {
    /// Loads the programs, without effect as yet.
    pub(super) fn load(options: &SchedOptions) -> Result<Programs, Missing> {
        // Before Linux 5.18 a switch does not tell the state that the thread went off in, and the kernel refuses a
        // program that reads it.
        Programs::load_for(options, true).or_else(|_| Programs::load_for(options, false))
    }

    pub(super) fn load_for(options: &SchedOptions, tells_state: bool) -> Result<Programs, Missing> {
        let object = ebpf::load(ebpf::object!("sched"), |name, map| match name {
            ".rodata.settings" => map.set_initial_value(&records::settings(options, tells_state)),
            "records" => map.set_max_entries(ebpf::ring_bytes(options.buffer_bytes)),
            "stacks" if !options.stacks => map.set_max_entries(1),
            _ => Ok(()),
        })?;
        Programs::new(object).map_err(ebpf::refused)
    }

    fn new(object: Object) -> libbpf_rs::Result<Programs> {
        Ok(Programs {
            links: Vec::new(),
            records: ebpf::map(&object, "records")?,
            processes: ebpf::map(&object, "processes")?,
            losses: Losses::new(&object)?,
            sums: Sums::new(&object)?,
            _object: object,
        })
    }

    /// Begins to follow processes; their index is that in `pids`.
    pub(super) fn attach(&mut self, pids: &[u32]) -> Result<(), Missing> {
        self.try_attach(pids).map_err(ebpf::refused)
    }

    fn try_attach(&mut self, pids: &[u32]) -> libbpf_rs::Result<()> {
        for program in self._object.progs_mut() {
            self.links.push(program.attach()?);
        }
        ebpf::pids(&self.processes, pids)
    }

    /// Stops to follow a process that has ended: its number may be given to another.
    pub(super) fn forget(&self, pid: u32) {
        // Only a process that was never followed has no entry.
        let _ = self.processes.delete(&pid.to_ne_bytes());
    }

    /// Takes the programs off; what they have written can still be read.
    pub(super) fn detach(&mut self) {
        self.links.clear();
    }

    /// What a process has lost since the last time, by reason.
    pub(super) fn lost(&mut self, process: usize) -> [u64; LOST_REASONS.len()] {
        self.losses.since_last_time(process)
    }

    /// Takes out the sums since the last time.
    pub(super) fn take_sums(&mut self, mut each: impl FnMut(Sum)) -> libbpf_rs::Result<()> {
        self.sums.take(|key, value| {
            if let Some(sum) = records::sum(key, value) {
                each(sum);
            }
        })
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("links", &self.links.len()).finish_non_exhaustive()
    }
}
