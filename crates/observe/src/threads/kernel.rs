//! Counters of all threads of a process at once, from an eBPF program (`bpf/threads.bpf.c`).

use super::{Reading, Switched, Used};
use crate::ebpf::{self, Bytes, Unavailable};
use libbpf_rs::{Iter, IterOpts, Link, Object};
use std::io::{self, Read};

/// Size of `struct thread_record` in `bpf/threads.h`.
const RECORD_BYTES: usize = 64;

pub(super) struct Tasks {
    link: Link,
    /// Keeps the program loaded.
    _object: Object,
    bytes: Vec<u8>,
}

impl Tasks {
    /// Also fails if the kernel does not know the process by this pid.
    pub(super) fn open(pid: u32) -> Result<Tasks, Unavailable> {
        ebpf::require()?;
        let object = ebpf::load(ebpf::object!("threads"), |name, map| match name {
            ".rodata.settings" => map.set_initial_value(&pid.to_ne_bytes()),
            _ => Ok(()),
        })?;
        let program = object.progs_mut().next();
        let link = program.map(|program| program.attach_iter_with_opts(IterOpts::None));
        let Some(link) = link.transpose().map_err(ebpf::refused)? else {
            return Err(Unavailable::new("there is no program", "this is a mistake in helenus; tell its authors"));
        };
        let mut tasks = Tasks { link, _object: object, bytes: Vec::new() };
        tasks.read(&mut Vec::new()).map_err(|error| {
            Unavailable::new(format!("the kernel does not tell of its threads: {error}"), "run it on the host")
        })?;
        Ok(tasks)
    }

    /// Finds the existing threads. Fails if the process has ended.
    pub(super) fn read(&mut self, found: &mut Vec<Reading>) -> io::Result<()> {
        self.bytes.clear();
        Iter::new(&self.link).map_err(io::Error::other)?.read_to_end(&mut self.bytes)?;
        let (records, _) = self.bytes.as_chunks::<RECORD_BYTES>();
        found.extend(records.iter().filter_map(reading));
        if records.is_empty() { Err(io::Error::new(io::ErrorKind::NotFound, "the process has ended")) } else { Ok(()) }
    }
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

fn reading(record: &[u8; RECORD_BYTES]) -> Option<Reading> {
    let mut bytes = Bytes(record);
    let tid = bytes.u32()?;
    let knows_run_queue = bytes.u32()? != 0;
    let cpu_ns = bytes.i64()?;
    let run_queue_ns = Some(bytes.i64()?).filter(|_| knows_run_queue);
    let switched = Switched { migrations: bytes.i64(), voluntary: bytes.i64(), involuntary: bytes.i64() };
    Some(Reading {
        tid: tid.into(),
        used: Used { cpu_ns, run_queue_ns },
        switched: Some(switched),
        name: bytes.array(),
    })
}
