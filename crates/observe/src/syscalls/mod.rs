//! System calls of the watched processes, recorded by eBPF programs: one row per call, or sums per second.
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
use crate::ebpf::{self, Unavailable};
use crate::error::Error;
use crate::source::{Context, Running, Source};
use calls::Calls;
pub use calls::ChosenCalls;
use clap::{Args, ValueEnum};
use rows::Rows;

const SOURCE: &str = "syscalls";

/// How system calls are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SyscallsMode {
    #[default]
    Off,
    /// Added up every second
    Summary,
    /// A row per call
    Full,
}

/// Bytes of the ring buffer: a call takes 48.
const BUFFER_BYTES: u32 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct SyscallsOptions {
    /// Record system calls by eBPF: each as a row, or added up in the kernel every second (needs root)
    #[arg(long, value_name = "MODE", default_value = "off")]
    pub syscalls: SyscallsMode,
    /// With --syscalls: these calls alone, by name with commas between them [default: all]
    #[arg(long, value_name = "NAMES")]
    pub calls: Option<ChosenCalls>,
    /// With --syscalls full: calls above this in a second are dropped in the kernel, and counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_events_per_s: Option<u32>,
    /// Size of the ring buffer, rounded up to a power of two.
    #[arg(skip = BUFFER_BYTES)]
    pub buffer_bytes: u32,
}

impl Default for SyscallsOptions {
    fn default() -> SyscallsOptions {
        SyscallsOptions { syscalls: SyscallsMode::Off, calls: None, max_events_per_s: None, buffer_bytes: BUFFER_BYTES }
    }
}

pub(crate) struct Syscalls;

impl Source for Syscalls {
    type Options = SyscallsOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &SyscallsOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        let options = *options;
        if options.syscalls == SyscallsMode::Off {
            return Ok(());
        }
        let how = match options.syscalls {
            SyscallsMode::Summary => "added up in the kernel, without a row per call",
            _ => "a row per call",
        };
        let which = options.calls.map(|only| format!(", of {only} alone")).unwrap_or_default();
        let without = |missing: &Unavailable| format!("system calls are not recorded: {missing}");
        let worker = ebpf::follow_watched(context, SOURCE, &format!("{how}{which}"), without, move |pids| {
            let calls = Calls::new();
            let mut programs = kernel::load(&options, &calls)?;
            programs.attach(pids)?;
            Ok((programs, Rows::new(pids, options.syscalls, calls)))
        });
        if let Some(worker) = worker {
            running.push(Box::new(worker));
        }
        Ok(())
    }

    fn check(&self, options: &SyscallsOptions) -> Result<(), String> {
        if options.max_events_per_s.is_some() && options.syscalls != SyscallsMode::Full {
            return Err("--max-events-per-s limits the rows of --syscalls full; a summary has none to limit".into());
        }
        if options.calls.is_some() && options.syscalls == SyscallsMode::Off {
            return Err("--calls chooses among the calls that --syscalls records; give --syscalls full or --syscalls summary too".into());
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        vec![Check::of("system calls", syscalls_available(), "eBPF: the kernel takes the programs")]
    }
}

/// Whether system calls can be followed on this machine; loads the programs without attaching them.
pub fn syscalls_available() -> Result<(), Unavailable> {
    ebpf::require()?;
    let options = SyscallsOptions { syscalls: SyscallsMode::Full, buffer_bytes: 1 << 16, ..SyscallsOptions::default() };
    kernel::load(&options, &Calls::new()).map(drop)
}
