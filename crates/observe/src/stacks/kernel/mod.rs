//! Stacks of any process's threads, sampled by a program in the kernel: where no profiler can be loaded.
//!
//! ```text
//! clock of each CPU ─▶ program ─▶ ring buffer ─▶ reader ─▶ samples, stacks
//! ```
//!
//! The kernel walks the frame pointers, so that code without them has frames missing. Names come from the files that the
//! code was loaded from, from `/tmp/perf-PID.map` for what the process compiled, and from the kernel's own table.

mod clocks;
mod reader;
mod records;

use crate::ebpf::{self, Missing, Programs, Reading};
use crate::names::ThreadNames;
use crate::symbols::KernelSymbols;
use crate::{Events, Watched};
pub(super) use clocks::open as clocks;
use helenus_recording::{Recorder, SourceFacts};
use reader::Reader;
pub(super) use records::{LOST_REASONS, sample};
use std::time::Duration;

pub(super) const PROVIDER: &str = "ebpf";
/// A sample takes 1.5 KiB at most: this holds those of 64 CPUs for half a second at a sample every millisecond.
const BUFFER_BYTES: u32 = 32 << 20;

/// Says whether stacks can be sampled so here, by loading the program without attaching it.
pub fn ebpf_stacks_available() -> Result<(), Missing> {
    ebpf::look()?;
    load(1 << 16, WALKED_IN_THE_KERNEL).map(drop)
}

/// In the place of a signal.
const WALKED_IN_THE_KERNEL: u32 = 0;

/// Loads the program, which walks stacks itself or sends a signal to have them walked.
pub(super) fn load(buffer_bytes: u32, signal: u32) -> Result<Programs<{ LOST_REASONS.len() }>, Missing> {
    let object = ebpf::load(ebpf::object!("stacks"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&signal.to_ne_bytes()),
        "records" => map.set_max_entries(ebpf::ring_bytes(buffer_bytes)),
        _ => Ok(()),
    })?;
    Programs::new(object)
}

/// The running source.
#[derive(Debug)]
pub(super) struct KernelSampler {
    reading: Reading,
}

impl KernelSampler {
    /// Begins to sample processes.
    pub(super) fn start(
        recorder: &Recorder,
        watched: &[(Watched, ThreadNames)],
        interval: Duration,
        events: &Events,
    ) -> Result<KernelSampler, Missing> {
        ebpf::look()?;
        let (watched, names): (Vec<Watched>, Vec<ThreadNames>) = watched.iter().cloned().unzip();
        let followed = ebpf::follow(super::SOURCE, &watched, &names, events);
        let facts = followed.iter().map(|(watched, _)| SourceFacts {
            name: super::SOURCE.into(),
            node: watched.node.clone(),
            provider: PROVIDER.into(),
            note: format!("cpu, a sample every {interval:?} of a CPU's time, by frame pointers"),
        });
        let facts: Vec<SourceFacts> = facts.collect();
        let recorder_there = recorder.clone();
        let reading = Reading::start(super::SOURCE, move || {
            let mut programs = load(BUFFER_BYTES, WALKED_IN_THE_KERNEL)?;
            let pids: Vec<u32> = followed.iter().map(|(watched, _)| watched.pid).collect();
            programs.attach_to(clocks::open(interval)?, &pids)?;
            let reader = Reader::new(recorder_there, followed, programs, KernelSymbols::read().ok(), interval);
            reader.ring().map(|ring| (reader, ring))
        })?;
        // A manifest that can't be written is what the rows of the recorder itself tell about.
        let _ = recorder.update_manifest(|manifest| manifest.sources.extend(facts));
        Ok(KernelSampler { reading })
    }

    /// Takes the program off, after the last samples are in the recording.
    pub(super) fn stop(self) {
        self.reading.stop();
    }
}
