//! How the kernel schedules the threads of the watched processes, from programs in the kernel.
//!
//! ```text
//! sched_switch ─▶ off the CPU, why ─┐
//! sched_waking ─▶ woken, by whom ───┤
//! sched_wakeup ─▶ ready to run ─────┤                         ┌─▶ off_cpu, stacks
//! sched_switch ─▶ on a CPU again ───┴▶ ring buffer ─▶ reader ─┤
//!                                  └─▶ table of sums ─▶ ──────┼─▶ run_queue
//! sched_migrate_task ───────────────────────────▲             └─▶ migrations
//! ```
//!
//! Our own process is never followed, so that what the recorder does is not what it records.

mod kernel;
mod others;
mod reader;
mod records;

use crate::ebpf::{self, Missing, Reading};
use crate::names::ThreadNames;
use crate::symbols::KernelSymbols;
use crate::{Event, Events, Watched};
use helenus_recording::{Recorder, SourceFacts};
use reader::Reader;
use std::time::Duration;

pub(crate) const SOURCE: &str = "sched";
pub(crate) const PROVIDER: &str = "ebpf";

/// How scheduling is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedOptions {
    pub on: bool,
    /// Times off the CPU have a row from this duration on.
    pub off_cpu_above: Duration,
    /// Whether those rows say where in the kernel the thread was.
    pub stacks: bool,
    /// Size of the ring buffer, rounded up to a power of two: a time off the CPU takes 72 bytes, with its stack 336.
    pub buffer_bytes: u32,
}

impl Default for SchedOptions {
    fn default() -> SchedOptions {
        SchedOptions { on: false, off_cpu_above: Duration::from_millis(1), stacks: false, buffer_bytes: 8 << 20 }
    }
}

/// Says whether scheduling can be followed here, by loading the programs without attaching them.
pub fn sched_available() -> Result<(), Missing> {
    ebpf::look()?;
    let options = SchedOptions { on: true, buffer_bytes: 1 << 16, ..SchedOptions::default() };
    kernel::load(&options).map(drop)
}

/// The running source.
#[derive(Debug)]
pub(crate) struct Sched {
    reading: Reading,
}

impl Sched {
    /// Begins to follow the processes. Where that can't be, every node is told to be without, and nothing runs.
    pub(crate) fn start(
        recorder: &Recorder,
        watched: &[Watched],
        names: &[ThreadNames],
        options: SchedOptions,
        events: &Events,
    ) -> Option<Sched> {
        if !options.on {
            return None;
        }
        let followed = ebpf::follow(SOURCE, watched, names, events);
        if followed.is_empty() {
            return None;
        }
        let tell_all = |reason: &str| {
            for (watched, _) in &followed {
                let (node, reason) = (watched.node.clone(), reason.to_string());
                // The one who listened may have had enough.
                let _ = events.send(Event::Degraded { node, source: SOURCE, reason });
            }
        };
        match Sched::try_start(recorder, &followed, options) {
            Ok((sched, no_symbols)) => {
                if let Some(error) = no_symbols {
                    tell_all(&format!(
                        "times off the CPU have no stacks: {error}; run as root, with sysctl kernel.kptr_restrict=0 or 1"
                    ));
                }
                Some(sched)
            }
            Err(missing) => {
                tell_all(&format!(
                    "times off the CPU, run-queue delays by size and moves by CPU are not recorded: {missing}. Run-queue time, migrations and switches of each thread are in the table threads, from /proc"
                ));
                None
            }
        }
    }

    /// Also returns why stacks were wanted and can't be had.
    fn try_start(
        recorder: &Recorder,
        followed: &[(Watched, ThreadNames)],
        mut options: SchedOptions,
    ) -> Result<(Sched, Option<String>), Missing> {
        ebpf::look()?;
        let (symbols, no_symbols) = match options.stacks.then(KernelSymbols::read) {
            None => (None, None),
            Some(Ok(symbols)) => (Some(symbols), None),
            Some(Err(error)) => {
                options.stacks = false;
                (None, Some(format!("/proc/kallsyms: {error}")))
            }
        };
        let (recorder_there, followed_there) = (recorder.clone(), followed.to_vec());
        let reading = Reading::start(SOURCE, move || {
            let mut programs = kernel::load(&options)?;
            let pids: Vec<u32> = followed_there.iter().map(|(watched, _)| watched.pid).collect();
            programs.attach(&pids)?;
            let reader = Reader::new(recorder_there, followed_there, programs, symbols);
            reader.ring().map(|ring| (reader, ring))
        })?;
        let with = if options.stacks { ", with the kernel's stacks" } else { "" };
        let note = format!("times off the CPU of {:?} and more{with}; the rest added up", options.off_cpu_above);
        let facts = followed.iter().map(|(watched, _)| SourceFacts {
            name: SOURCE.into(),
            node: watched.node.clone(),
            provider: PROVIDER.into(),
            note: note.clone(),
        });
        // A manifest that can't be written is what the rows of the recorder itself tell about.
        let _ = recorder.update_manifest(|manifest| manifest.sources.extend(facts));
        Ok((Sched { reading }, no_symbols))
    }

    /// Takes the programs off, after the last of what they saw is in the recording.
    pub(crate) fn stop(self) {
        self.reading.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_do_not_tell_the_state_take_the_programs_too() {
        if let Err(missing) = sched_available() {
            panic!("this test loads programs into a real kernel: {missing}");
        }
        kernel::load_for(&SchedOptions { on: true, stacks: true, ..SchedOptions::default() }, false).unwrap();
    }
}
