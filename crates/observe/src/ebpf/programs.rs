//! The programs of a source in the kernel: attached, told whom to follow, and taken off again.

use super::{Losses, Missing, Sums, map, pids, refused};
use libbpf_rs::{Link, MapCore, MapHandle, Object};

/// Programs that follow processes, tell in a ring buffer what they see, and count. They go when this is dropped.
pub(crate) struct Programs<const REASONS: usize> {
    links: Vec<Link>,
    object: Object,
    pub(crate) records: MapHandle,
    processes: MapHandle,
    losses: Losses<REASONS>,
    sums: Sums,
}

impl<const REASONS: usize> Programs<REASONS> {
    /// Takes over an object that is loaded, without effect as yet.
    pub(crate) fn new(object: Object) -> Result<Programs<REASONS>, Missing> {
        Programs::try_new(object).map_err(refused)
    }

    fn try_new(object: Object) -> libbpf_rs::Result<Programs<REASONS>> {
        Ok(Programs {
            links: Vec::new(),
            records: map(&object, "records")?,
            processes: map(&object, "processes")?,
            losses: Losses::new(&object)?,
            sums: Sums::new(&object)?,
            object,
        })
    }

    /// Begins to follow processes; their index is that in `followed`.
    pub(crate) fn attach(&mut self, followed: &[u32]) -> Result<(), Missing> {
        self.try_attach(followed).map_err(refused)
    }

    fn try_attach(&mut self, followed: &[u32]) -> libbpf_rs::Result<()> {
        for program in self.object.progs_mut() {
            self.links.push(program.attach()?);
        }
        pids(&self.processes, followed)
    }

    /// Stops to follow a process that has ended: its number may be given to another.
    pub(crate) fn forget(&self, pid: u32) {
        // Only a process that was never followed has no entry.
        let _ = self.processes.delete(&pid.to_ne_bytes());
    }

    /// Takes the programs off; what they have written can still be read.
    pub(crate) fn detach(&mut self) {
        self.links.clear();
    }

    /// What a process has lost since the last time, by reason.
    pub(crate) fn lost(&mut self, process: usize) -> [u64; REASONS] {
        self.losses.since_last_time(process)
    }

    /// Takes out the sums since the last time, each as its key and value.
    pub(crate) fn take_sums(&mut self, each: impl FnMut(&[u8], &[u8])) -> libbpf_rs::Result<()> {
        self.sums.take(each)
    }
}
