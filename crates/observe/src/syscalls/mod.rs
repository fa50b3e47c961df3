//! System calls of the watched processes, from programs in the kernel: each call as a row, or added up every second.
//!
//! ```text
//! sys_enter ─▶ start, descriptor ─┐                         ┌─▶ syscalls          (full)
//! sys_exit  ─▶ duration, result ──┴▶ ring buffer ─▶ reader ─┤
//!                                └▶ table of sums ─▶ ───────┴─▶ syscall_summary   (summary)
//! ```
//!
//! Our own process is never followed, so that what the recorder does is not what it records.

mod calls;
mod descriptors;
mod kernel;
mod reader;
mod records;

use crate::ebpf::{self, Missing, Reading};
use crate::names::ThreadNames;
use crate::{Event, Events, Watched};
use calls::Calls;
pub use calls::ChosenCalls;
use helenus_recording::{Recorder, SourceFacts};
use reader::Reader;

pub(crate) const SOURCE: &str = "syscalls";
pub(crate) const PROVIDER: &str = "ebpf";

/// How system calls are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyscallsMode {
    #[default]
    Off,
    /// Added up in the kernel and read every second.
    Summary,
    /// A row per call.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyscallsOptions {
    pub mode: SyscallsMode,
    /// These alone are recorded; None: all.
    pub only: Option<ChosenCalls>,
    /// Above it, calls of a second are dropped in the kernel, and counted. In full mode only.
    pub max_events_per_s: Option<u32>,
    /// Size of the ring buffer, rounded up to a power of two: a call takes 48 bytes.
    pub buffer_bytes: u32,
}

impl Default for SyscallsOptions {
    fn default() -> SyscallsOptions {
        SyscallsOptions { mode: SyscallsMode::Off, only: None, max_events_per_s: None, buffer_bytes: 16 << 20 }
    }
}

/// Says whether system calls can be followed here, by loading the programs without attaching them.
pub fn syscalls_available() -> Result<(), Missing> {
    ebpf::look()?;
    let options = SyscallsOptions { mode: SyscallsMode::Full, buffer_bytes: 1 << 16, ..SyscallsOptions::default() };
    kernel::load(&options, &Calls::new()).map(drop)
}

/// The running source.
#[derive(Debug)]
pub(crate) struct Syscalls {
    reading: Reading,
}

impl Syscalls {
    /// Begins to follow the processes. Where that can't be, every node is told to be without, and nothing runs.
    pub(crate) fn start(
        recorder: &Recorder,
        watched: &[Watched],
        names: &[ThreadNames],
        options: SyscallsOptions,
        events: &Events,
    ) -> Option<Syscalls> {
        if options.mode == SyscallsMode::Off {
            return None;
        }
        let followed = ebpf::follow(SOURCE, watched, names, events);
        if followed.is_empty() {
            return None;
        }
        match Syscalls::try_start(recorder, &followed, options) {
            Ok(syscalls) => Some(syscalls),
            Err(missing) => {
                for (watched, _) in followed {
                    let reason = format!("system calls are not recorded: {missing}");
                    // The one who listened may have had enough.
                    let _ = events.send(Event::Degraded { node: watched.node.clone(), source: SOURCE, reason });
                }
                None
            }
        }
    }

    fn try_start(
        recorder: &Recorder,
        followed: &[(Watched, ThreadNames)],
        options: SyscallsOptions,
    ) -> Result<Syscalls, Missing> {
        ebpf::look()?;
        let (recorder_there, followed_there) = (recorder.clone(), followed.to_vec());
        let reading = Reading::start(SOURCE, move || {
            let calls = Calls::new();
            let mut programs = kernel::load(&options, &calls)?;
            let pids: Vec<u32> = followed_there.iter().map(|(watched, _)| watched.pid).collect();
            programs.attach(&pids)?;
            let reader = Reader::new(recorder_there, followed_there, options.mode, programs, calls);
            reader.ring().map(|ring| (reader, ring))
        })?;
        let how = match options.mode {
            SyscallsMode::Summary => "added up in the kernel, without a row per call",
            _ => "a row per call",
        };
        let which = options.only.map(|only| format!(", of {only} alone")).unwrap_or_default();
        let note = format!("{how}{which}");
        let facts = followed.iter().map(|(watched, _)| SourceFacts {
            name: SOURCE.into(),
            node: watched.node.clone(),
            provider: PROVIDER.into(),
            note: note.clone(),
        });
        // A manifest that can't be written is what the rows of the recorder itself tell about.
        let _ = recorder.update_manifest(|manifest| manifest.sources.extend(facts));
        Ok(Syscalls { reading })
    }

    /// Takes the programs off, after the last calls are in the recording.
    pub(crate) fn stop(self) {
        self.reading.stop();
    }
}
