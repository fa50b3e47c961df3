//! Records a running node, its JVM and its machine: one module per source.
//!
//! [`Observation::start`] attaches the sources to running processes; [`Observation::stop`] detaches them.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bounded;
mod budget;
mod cgroups;
mod check;
mod counters;
mod cpus;
mod ebpf;
mod error;
mod events;
mod import;
mod interrupts;
mod jmx;
mod jvm;
mod loads;
mod names;
mod observation;
mod option_values;
mod options;
mod page_cache;
mod pressure;
mod sampler;
mod sched;
mod source;
mod sources;
mod sstables;
mod stacks;
mod switches;
mod symbols;
mod syscalls;
mod threads;
mod views;
mod wire;
mod worker;

pub use budget::{Budget, BudgetChange, Kept as KeptBudget};
pub use check::{Check, CheckState};
pub use counters::{Countable, countable};
pub use ebpf::Unavailable;
pub use error::Error;
pub use events::EventOptions;
pub use import::{
    Error as ImportError, ImportFormat, ImportOptions, Imported, ImportedLogs, LogOptions, TimeAlignment, import,
    import_logs, is_log,
};
pub use jmx::{Jmx, JmxEndpoint, JmxError};
pub use jvm::{AgentLink, AgentOptions, SOURCES as JVM_SOURCES, StartRequest};
pub use loads::LoadsOptions;
pub use names::ThreadNames;
pub use observation::Observation;
pub use option_values::Switch;
pub use options::WrongOption;
pub use page_cache::{PageCacheOptions, page_cache_available};
pub use pressure::PressureOptions;
pub use sampler::SamplingOptions;
pub use sched::{SchedOptions, sched_available};
pub use sources::{Options, checks};
pub use stacks::{Frames, StackEvents, StackOptions, ebpf_stacks_available, jfr};
pub use switches::{SourceState, SourceSwitches, SwitchRequest, Switched};
pub use syscalls::{ChosenCalls, SyscallsMode, SyscallsOptions, syscalls_available};
pub use views::Views;
pub use wire::{Keys, RequestsFrom, WireOptions};

use std::sync::mpsc::Sender;

/// Receives the events of sources that a user should see.
pub type Events = Sender<Event>;

/// An event that is reported while sources run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The agent is in the JVM and sends data.
    AgentConnected {
        node: String,
        java: String,
        cassandra: Option<String>,
    },
    /// A source is missing, or runs only as its fallback.
    Degraded {
        node: String,
        source: &'static str,
        reason: String,
    },
    AgentLog {
        node: String,
        line: String,
    },
    AgentGone {
        node: String,
        reason: String,
    },
    /// A watched process has ended; the recording goes on without it.
    TargetEnded {
        node: String,
        pid: u32,
    },
}

/// The role of a watched process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    Server,
    Load,
}

impl ProcessKind {
    /// The name in the `threads` table, and as a side in `stalls`.
    pub fn name(self) -> &'static str {
        match self {
            ProcessKind::Server => "server",
            ProcessKind::Load => "load",
        }
    }
}

/// A process to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub process: ProcessKind,
    /// The node's address, as in the rows of all tables.
    pub node: String,
    pub pid: u32,
}
