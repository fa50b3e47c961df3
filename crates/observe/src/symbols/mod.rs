//! Names of functions by address: the kernel's, and those of a process.

mod elf;
mod functions;
mod kernel;
mod maps;
mod perf_map;
mod process;

pub(crate) use kernel::KernelSymbols;
pub(crate) use process::ProcessSymbols;
