//! The registry of all sources.

use crate::check::Check;
use crate::error::Error;
use crate::events::{EventOptions, NodeEvents};
use crate::jvm::{AgentOptions, Agents};
use crate::loads::{Loads, LoadsOptions};
use crate::option_values::size;
use crate::page_cache::{PageCache, PageCacheOptions};
use crate::pressure::{Pressure, PressureOptions};
use crate::sampler::{Sampling, SamplingOptions};
use crate::sched::{Sched, SchedOptions};
use crate::source::{Context, Running, Source as _};
use crate::stacks::{StackOptions, Stacks};
use crate::syscalls::{Syscalls, SyscallsOptions};
use crate::wire::{Wire, WireOptions};

type Start = fn(&Context<'_>, &Options, &mut Vec<Box<dyn Running>>) -> Result<(), Error>;

/// A source with its options.
pub(crate) struct Registered {
    pub(crate) start: Start,
    pub(crate) check: fn(&Options) -> Result<(), String>,
    /// Whether both have the same options for this source.
    pub(crate) is_same: fn(&Options, &Options) -> bool,
    checks: fn() -> Vec<Check>,
}

/// Defines the list of sources, and a struct of all their options.
macro_rules! registry {
    ($($options:ident: $of:ty => $source:expr,)*) => {
        /// All sources, in the order in which they are started; they are stopped in the reverse order.
        pub(crate) const SOURCES: &[Registered] = &[$(Registered {
            start: |context, options, running| $source.start(context, &options.$options, running),
            check: |options| $source.check(&options.$options),
            is_same: |one, other| one.$options == other.$options,
            checks: || $source.checks(),
        }),*];

        // A doc comment here, or on the options of a source, would become the description of `helenus record`.
        #[derive(Debug, Clone, Default, PartialEq, clap::Args)]
        pub struct Options {
            $(#[command(flatten)] pub $options: $of,)*
            /// At this size of the recording, such as 2GiB, stop recording calls, stacks, requests on the wire and
            /// times off the CPU: these are only counted, and the other tables go on. With --keep, delete the oldest
            /// segments instead
            #[arg(long, value_name = "SIZE", value_parser = size)]
            pub max_size: Option<u64>,
        }
    };
}

// One line per source: the field and type of its options, and the source. Sources that change the node's process (the
// agent and the profiler) come first, so that the other sources don't record their loading and removal. The agent comes
// before all others, because it provides the threads' full names.
registry! {
    agent: AgentOptions => Agents,
    stacks: StackOptions => Stacks,
    sampling: SamplingOptions => Sampling,
    pressure: PressureOptions => Pressure,
    loads: LoadsOptions => Loads,
    events: EventOptions => NodeEvents,
    syscalls: SyscallsOptions => Syscalls,
    page_cache: PageCacheOptions => PageCache,
    wire: WireOptions => Wire,
    sched: SchedOptions => Sched,
}

/// The checks of all sources on this machine.
pub fn checks() -> Vec<Check> {
    SOURCES.iter().flat_map(|source| (source.checks)()).collect()
}
