//! The programs in the kernel: loaded, attached, told whom to follow, and taken off again.

use super::calls::Calls;
use super::wire::{self, LOST_REASONS, PROCESSES, Sum};
use super::{Missing, SyscallsMode, SyscallsOptions};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, PrintLevel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The object, aligned as its reader wants it.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/syscalls.bpf.o")));

/// Sums that are taken out by one call into the kernel.
const SUMS_AT_ONCE: u32 = 4096;

/// How long a program may take to finish with a table of sums, where the kernel can't be asked to wait for that.
const PROGRAM_WITHIN: Duration = Duration::from_millis(20);

/// What libbpf said last, which holds the kernel's own reason.
static SAID: Mutex<String> = Mutex::new(String::new());

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
        SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
            let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
            // The end of it is where the reason is.
            if said.len() > 1 << 16 {
                said.clear();
            }
            said.push_str(&text);
        })));
        Programs::try_load(options, calls).map_err(|error| Missing::load(&error, &said()))
    }

    fn try_load(options: &SyscallsOptions, calls: &Calls) -> libbpf_rs::Result<Programs> {
        let summary = options.mode == SyscallsMode::Summary;
        let mut open = ObjectBuilder::default().open_memory(&OBJECT.0)?;
        for mut map in open.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            match name.as_str() {
                ".rodata.settings" => {
                    let limit = options.max_events_per_s.map_or(0, |limit| limit.max(1));
                    map.set_initial_value(&wire::settings(summary, limit, &calls.kinds))?;
                }
                "records" => map.set_max_entries(ring_bytes(options.buffer_bytes))?,
                "sums_0" | "sums_1" if !summary => map.set_max_entries(1)?,
                _ => {}
            }
        }
        let object = open.load()?;
        let map = |name: &str| -> libbpf_rs::Result<MapHandle> {
            let found = object.maps().find(|map| map.name() == name);
            let found = found.ok_or_else(|| libbpf_rs::Error::from(std::io::Error::other(format!("no map {name}"))));
            MapHandle::try_from(&found?)
        };
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
        self.try_attach(pids).map_err(|error| Missing::load(&error, &said()))
    }

    fn try_attach(&mut self, pids: &[u32]) -> libbpf_rs::Result<()> {
        for program in self._object.progs_mut() {
            self.links.push(program.attach()?);
        }
        for (index, pid) in (0_u32..).zip(pids) {
            let value = [index.to_ne_bytes(), 0_u32.to_ne_bytes()].concat();
            self.processes.update(&pid.to_ne_bytes(), &value, MapFlags::ANY)?;
        }
        Ok(())
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
            if let Some(sum) = wire::sum(&key, &value) {
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

/// A size that the kernel takes: a power of two, of whole pages.
fn ring_bytes(wanted: u32) -> u32 {
    // SAFETY: sysconf takes no pointers.
    let page = u32::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    wanted.clamp(page, 1 << 30).next_power_of_two()
}

fn said() -> String {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
