//! System calls of the watched processes, from programs in the kernel: each call as a row, or added up every second.
//!
//! ```text
//! sys_enter ─▶ start, descriptor ─┐                         ┌─▶ syscalls          (full)
//! sys_exit  ─▶ duration, result ──┴▶ ring buffer ─▶ rows ───┤
//!                                └▶ table of sums ─▶ ───────┴─▶ syscall_summary   (summary)
//! ```

mod calls;
mod descriptors;
mod kernel;
mod records;
mod rows;

use crate::check::Check;
use crate::ebpf::{self, Missing};
use crate::observation::Error;
use crate::sources::{Context, Running, Source};
use calls::Calls;
pub use calls::ChosenCalls;
use rows::Rows;

const SOURCE: &str = "syscalls";

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

pub(crate) struct Syscalls;

impl Source for Syscalls {
    fn start(&self, context: &Context<'_>, running: &mut Vec<Box<dyn Running>>) -> Result<(), Error> {
        let options = context.options.syscalls;
        if options.mode == SyscallsMode::Off {
            return Ok(());
        }
        let how = match options.mode {
            SyscallsMode::Summary => "added up in the kernel, without a row per call",
            _ => "a row per call",
        };
        let which = options.only.map(|only| format!(", of {only} alone")).unwrap_or_default();
        let without = |missing: &Missing| format!("system calls are not recorded: {missing}");
        let worker = ebpf::follow_watched(context, SOURCE, &format!("{how}{which}"), without, move |pids| {
            let calls = Calls::new();
            let mut programs = kernel::load(&options, &calls)?;
            programs.attach(pids)?;
            Ok((programs, Rows::new(pids, options.mode, calls)))
        });
        if let Some(worker) = worker {
            running.push(Box::new(worker));
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        vec![Check::of("system calls", syscalls_available(), "eBPF: the kernel takes the programs")]
    }
}

/// Whether system calls can be followed here, by loading the programs without attaching them.
pub fn syscalls_available() -> Result<(), Missing> {
    ebpf::look()?;
    let options = SyscallsOptions { mode: SyscallsMode::Full, buffer_bytes: 1 << 16, ..SyscallsOptions::default() };
    kernel::load(&options, &Calls::new()).map(drop)
}
