//! Counts kept by the eBPF programs: sums in two maps that are used alternately, and losses by process and reason.

use super::{PROCESSES, map};
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};
use memmap2::{MmapOptions, MmapRaw};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The most keys that one system call removes.
const SUMS_AT_ONCE: u32 = 4096;

/// How long a program may take to finish with a map of sums, where the kernel offers no way to wait for it.
const PROGRAM_WITHIN: Duration = Duration::from_millis(20);

/// Bytes of an entry's generation, which follows its key.
const TURN_BYTES: usize = 4;
/// The sum follows the generation, aligned.
const SUM_AT: usize = 8;

/// The map `sums` as a double buffer: programs add to one half while the other is read.
pub(crate) struct Sums {
    entries: Entries,
    /// The map from each key to the index of its sum, for each half.
    indices: [MapHandle; 2],
    begun: MapHandle,
    turn: MapHandle,
    current: u32,
}

impl Sums {
    pub(crate) fn new(object: &Object) -> libbpf_rs::Result<Sums> {
        let sums = Sums {
            entries: Entries::new(&map(object, "sums")?, map(object, "sum_indices_0")?.key_size() as usize)?,
            indices: [map(object, "sum_indices_0")?, map(object, "sum_indices_1")?],
            begun: map(object, "sums_begun")?,
            turn: map(object, "sums_turn")?,
            current: 1,
        };
        sums.turn.update(&0_u32.to_ne_bytes(), &sums.current.to_ne_bytes(), MapFlags::ANY)?;
        Ok(sums)
    }

    /// Removes and returns the sums since the last call, each with its key. Each addition is in exactly one half, so
    /// none is lost or counted twice.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&[u8], &[u8])) -> libbpf_rs::Result<()> {
        let full = self.current;
        let next = full.wrapping_add(1);
        // No program has added to this half since it was read.
        self.begun.update(&(next & 1).to_ne_bytes(), &0_u32.to_ne_bytes(), MapFlags::ANY)?;
        self.turn.update(&0_u32.to_ne_bytes(), &next.to_ne_bytes(), MapFlags::ANY)?;
        self.current = next;
        wait_for_programs();
        let half = full & 1;
        let begun = self.begun.lookup(&half.to_ne_bytes(), MapFlags::ANY)?;
        let begun = begun.and_then(|begun| begun.try_into().ok()).map_or(0, u32::from_ne_bytes);
        // SAFETY: no program writes to this half before the halves are swapped.
        let half_of_entries = unsafe { self.entries.half(half) };
        for entry in half_of_entries.chunks_exact(self.entries.entry_bytes).take(begun as usize) {
            let (key, rest) = entry.split_at(self.entries.key_bytes);
            let (turn, sum) = rest.split_at((self.entries.key_bytes + TURN_BYTES).next_multiple_of(SUM_AT) - key.len());
            // Otherwise the map was full, and the loss was counted.
            if turn.starts_with(&full.to_ne_bytes()) {
                each(key, sum);
            }
        }
        // Delete entries of ended generations, which only take up space.
        self.indices[half as usize].lookup_and_delete_batch(SUMS_AT_ONCE, MapFlags::ANY, MapFlags::ANY)?.for_each(drop);
        Ok(())
    }
}

/// The memory of the map `sums`, which belongs to the kernel.
struct Entries {
    memory: MmapRaw,
    entry_bytes: usize,
    key_bytes: usize,
}

impl Entries {
    fn new(table: &MapHandle, key_bytes: usize) -> libbpf_rs::Result<Entries> {
        let entry_bytes = (table.value_size() as usize).next_multiple_of(SUM_AT);
        let bytes = entry_bytes * table.max_entries() as usize;
        let memory = MmapOptions::new().len(bytes).map_raw_read_only(table.as_fd().as_raw_fd())?;
        Ok(Entries { memory, entry_bytes, key_bytes })
    }

    /// # Safety
    /// No program may write to this half while it is borrowed.
    unsafe fn half(&self, half: u32) -> &[u8] {
        let bytes = self.memory.len() / self.entry_bytes / 2 * self.entry_bytes;
        // SAFETY: both halves lie within the mapping, which lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(half as usize * bytes), bytes) }
    }
}

/// The map `losses`: a counter per CPU for each process and reason.
pub(crate) struct Losses {
    table: MapHandle,
    /// Counts by process, and for each process by reason.
    before: Vec<Vec<u64>>,
}

impl Losses {
    pub(crate) fn new(object: &Object, reasons: usize) -> libbpf_rs::Result<Losses> {
        Ok(Losses { table: map(object, "losses")?, before: vec![vec![0; reasons]; PROCESSES] })
    }

    /// Number of events that a process has lost since the last call, by reason.
    pub(crate) fn since_last_time(&mut self, process: usize) -> Vec<u64> {
        let reasons = self.before[process].len();
        let mut new = vec![0; reasons];
        for (reason, new) in new.iter_mut().enumerate() {
            let key = u32::try_from(process * reasons + reason).unwrap_or(u32::MAX).to_ne_bytes();
            let Ok(Some(cpus)) = self.table.lookup_percpu(&key, MapFlags::ANY) else { continue };
            let count = |cpu: &Vec<u8>| cpu.as_slice().try_into().map_or(0, u64::from_ne_bytes);
            let total: u64 = cpus.iter().map(count).sum();
            *new = total.saturating_sub(std::mem::replace(&mut self.before[process][reason], total));
        }
        new
    }
}

/// Waits until every program that is running now has ended. The programs run as readers of RCU, which membarrier waits
/// for.
fn wait_for_programs() {
    const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
    // SAFETY: membarrier takes no pointers.
    let waited = unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
    if waited != 0 {
        std::thread::sleep(PROGRAM_WITHIN);
    }
}

/// The bounds of a bin of durations, in ns.
pub(crate) fn bounds_ns(bin: u8) -> (i64, i64) {
    match bin {
        0 => (0, 1),
        bin => {
            let low = 1_i64 << (u32::from(bin) - 1).min(62);
            (low, low.saturating_mul(2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_touch_and_each_holds_its_durations() {
        assert_eq!(bounds_ns(0), (0, 1));
        assert_eq!(bounds_ns(1), (1, 2));
        assert_eq!(bounds_ns(11), (1024, 2048));
        for bin in 0..62 {
            assert_eq!(bounds_ns(bin).1, bounds_ns(bin + 1).0);
        }
    }
}
