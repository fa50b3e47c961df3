//! What programs in the kernel count: sums in two tables that take turns, and losses by process and reason.

use super::{PROCESSES, map};
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};
use std::time::Duration;

/// Sums that are taken out by one call into the kernel.
const SUMS_AT_ONCE: u32 = 4096;

/// How long a program may take to finish with a table of sums, where the kernel can't be asked to wait for that.
const PROGRAM_WITHIN: Duration = Duration::from_millis(20);

/// The tables `sums_0` and `sums_1`: one is added to while the other is read and emptied, as `added_to` says.
pub(crate) struct Sums {
    tables: [MapHandle; 2],
    added_to: MapHandle,
    current: usize,
}

impl Sums {
    pub(crate) fn new(object: &Object) -> libbpf_rs::Result<Sums> {
        let tables = [map(object, "sums_0")?, map(object, "sums_1")?];
        Ok(Sums { tables, added_to: map(object, "added_to")?, current: 0 })
    }

    /// Takes out the sums since the last time, each as its key and value. What was added up is in one table or the other.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&[u8], &[u8])) -> libbpf_rs::Result<()> {
        let full = self.current;
        self.current = 1 - full;
        let current = u32::from(self.current == 1);
        self.added_to.update(&0_u32.to_ne_bytes(), &current.to_ne_bytes(), MapFlags::ANY)?;
        wait_for_programs();
        for (key, value) in self.tables[full].lookup_and_delete_batch(SUMS_AT_ONCE, MapFlags::ANY, MapFlags::ANY)? {
            each(&key, &value);
        }
        Ok(())
    }
}

/// The table `losses`: a counter per CPU for each process and reason.
pub(crate) struct Losses<const REASONS: usize> {
    table: MapHandle,
    before: Vec<[u64; REASONS]>,
}

impl<const REASONS: usize> Losses<REASONS> {
    pub(crate) fn new(object: &Object) -> libbpf_rs::Result<Losses<REASONS>> {
        Ok(Losses { table: map(object, "losses")?, before: vec![[0; REASONS]; PROCESSES] })
    }

    /// What a process has lost since this was asked last, by reason.
    pub(crate) fn since_last_time(&mut self, process: usize) -> [u64; REASONS] {
        let mut new = [0; REASONS];
        for (reason, new) in new.iter_mut().enumerate() {
            let key = u32::try_from(process * REASONS + reason).unwrap_or(u32::MAX).to_ne_bytes();
            let Ok(Some(cpus)) = self.table.lookup_percpu(&key, MapFlags::ANY) else { continue };
            let count = |cpu: &Vec<u8>| cpu.as_slice().try_into().map_or(0, u64::from_ne_bytes);
            let total: u64 = cpus.iter().map(count).sum();
            *new = total.saturating_sub(std::mem::replace(&mut self.before[process][reason], total));
        }
        new
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

/// The bounds of a bin of durations.
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
