//! The programs in the kernel: loaded, attached, told whom to follow, and taken off again.

use super::calls::Calls;
use super::records::{self, LOST_REASONS, Sum};
use super::{SyscallsMode, SyscallsOptions};
use crate::ebpf::{self, Missing, PROCESSES};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use std::time::Duration;

/// Sums that are taken out by one call into the kernel.
const SUMS_AT_ONCE: u32 = 4096;

/// How long a program may take to finish with a table of sums, where the kernel can't be asked to wait for that.
const PROGRAM_WITHIN: Duration = Duration::from_millis(20);

/// The programs in the kernel. They go when this is dropped.
pub(super) struct Programs {
    links: Vec<Link>,
    _object: Object,
    pub(super) records: MapHandle,
    processes: MapHandle,
    losses: MapHandle,
    sums: [MapHandle; 2],
    added_to: MapHandle,
    /// Which of the two tables of sums is added to.
    current: usize,
    lost_before: Vec<[u64; LOST_REASONS.len()]>,
}

impl Programs {
    /// Loads the programs, without effect as yet.
    pub(super) fn load(options: &SyscallsOptions, calls: &Calls) -> Result<Programs, Missing> {
        let summary = options.mode == SyscallsMode::Summary;
        let object = ebpf::load(ebpf::object!("syscalls"), |name, map| match name {
            ".rodata.settings" => {
                let limit = options.max_events_per_s.map_or(0, |limit| limit.max(1));
                map.set_initial_value(&records::settings(summary, limit, &calls.kinds))
            }
            "records" => map.set_max_entries(ebpf::ring_bytes(options.buffer_bytes)),
            "sums_0" | "sums_1" if !summary => map.set_max_entries(1),
            _ => Ok(()),
        })?;
        Programs::new(object).map_err(ebpf::refused)
    }

    fn new(object: Object) -> libbpf_rs::Result<Programs> {
        let map = |name| ebpf::map(&object, name);
        Ok(Programs {
            links: Vec::new(),
            records: map("records")?,
            processes: map("processes")?,
            losses: map("losses")?,
            sums: [map("sums_0")?, map("sums_1")?],
            added_to: map("added_to")?,
            current: 0,
            lost_before: vec![[0; LOST_REASONS.len()]; PROCESSES],
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

    /// Calls of a process that were lost since the last time, by reason.
    pub(super) fn lost(&mut self, process: usize) -> [u64; LOST_REASONS.len()] {
        let mut new = [0; LOST_REASONS.len()];
        for (reason, new) in new.iter_mut().enumerate() {
            let key = u32::try_from(process * LOST_REASONS.len() + reason).unwrap_or(u32::MAX).to_ne_bytes();
            let Ok(Some(cpus)) = self.losses.lookup_percpu(&key, MapFlags::ANY) else { continue };
            let count = |cpu: &Vec<u8>| cpu.as_slice().try_into().map_or(0, u64::from_ne_bytes);
            let total: u64 = cpus.iter().map(count).sum();
            *new = total.saturating_sub(std::mem::replace(&mut self.lost_before[process][reason], total));
        }
        new
    }

    /// Takes out the sums since the last time. Each call is in one table or the other.
    pub(super) fn take_sums(&mut self, mut each: impl FnMut(Sum)) -> libbpf_rs::Result<()> {
        let full = self.current;
        self.current = 1 - full;
        let current = u32::from(self.current == 1);
        self.added_to.update(&0_u32.to_ne_bytes(), &current.to_ne_bytes(), MapFlags::ANY)?;
        wait_for_programs();
        for (key, value) in self.sums[full].lookup_and_delete_batch(SUMS_AT_ONCE, MapFlags::ANY, MapFlags::ANY)? {
            if let Some(sum) = records::sum(&key, &value) {
                each(sum);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("links", &self.links.len()).finish_non_exhaustive()
    }
}

/// Waits until no program that runs now runs any more. The programs run as readers of RCU, which membarrier waits for.
fn wait_for_programs() {
    const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
    // SAFETY: membarrier takes no pointers.
    let waited = unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
    if waited != 0 {
        std::thread::sleep(PROGRAM_WITHIN);
    }
}
