//! Makes rows from the eBPF program's records.

use super::records::{self, Sample};
use crate::ebpf::{self, Named, NamedThreads, Output};
use crate::stacks::frames::within;
use crate::stacks::{Frames, KnownStacks};
use crate::symbols::{KernelSymbols, ProcessSymbols};
use helenus_recording::rows::StackSample;
use std::time::Duration;

/// A row that waits for its batch.
struct Row {
    time_ns: i64,
    process: u8,
    tid: u32,
    named: Named,
    stack: i64,
}

/// The known functions, and the rows that wait to be written.
pub(super) struct Rows {
    processes: Vec<ProcessSymbols>,
    /// The kernel's symbols; None if the kernel does not show them.
    kernel: Option<KernelSymbols>,
    stacks: KnownStacks,
    interval_ns: i64,
    waiting: Vec<Row>,
}

impl Rows {
    pub(super) fn new(pids: &[u32], kernel: Option<KernelSymbols>, interval: Duration) -> Rows {
        Rows {
            processes: pids.iter().map(|pid| ProcessSymbols::new(*pid)).collect(),
            kernel,
            stacks: KnownStacks::default(),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            waiting: Vec::new(),
        }
    }
}

impl ebpf::Rows for Rows {
    /// Each sample is a record of its own, so there are no sums.
    type Sum = ();

    fn take(&mut self, record: &[u8], threads: &mut NamedThreads) {
        let Some(Sample { time_ns, tid, process, thread, user, kernel }) = records::sample(record) else { return };
        let named = threads.seen(process, tid, thread);
        // The same address belongs to different functions in different processes.
        let kernel_frames = kernel.len();
        let mut key = vec![u64::from(process) << 32 | kernel_frames as u64];
        key.extend(kernel.iter().chain(&user));
        let (symbols, process_symbols) = (&self.kernel, self.processes.get_mut(usize::from(process)));
        let stack = self.stacks.number(key, time_ns, |_| frames(process_symbols, symbols.as_ref(), &user, &kernel));
        self.waiting.push(Row { time_ns, process, tid, named, stack });
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn append(&mut self, to: &mut Output) {
        self.stacks.append(&to.recorder);
        // Samples of one CPU come in order, those of several CPUs do not.
        self.waiting.sort_unstable_by_key(|row| row.time_ns);
        self.waiting.iter().for_each(|row| to.count(row.process, 1));
        let clock = to.recorder.clock();
        to.recorder.append_all(self.waiting.iter().map(|row| StackSample {
            time_ns: clock.from_monotonic_ns(row.time_ns),
            node: to.node(row.process),
            event: "cpu",
            weight: self.interval_ns,
            tid: i64::from(row.tid),
            thread: &row.named.name,
            thread_group: &row.named.group,
            stack: row.stack,
        }));
        self.waiting.clear();
    }

    fn are_summed(&self) -> bool {
        false
    }

    fn sum(_key: &[u8], _value: &[u8]) -> Option<()> {
        None
    }

    fn append_sums(&mut self, _sums: Vec<()>, _interval_ns: i64, _threads: &mut NamedThreads, _to: &mut Output) {}

    /// Reloads the names of functions.
    fn tidy(&mut self) {
        for symbols in &mut self.processes {
            if symbols.refresh() {
                self.stacks.forget_addresses();
            }
        }
    }

    fn begin_recording(&mut self) {
        self.stacks.begin_recording();
    }
}

/// The frames from the outermost of the process to the innermost of the kernel.
fn frames(
    process: Option<&mut ProcessSymbols>,
    symbols: Option<&KernelSymbols>,
    user: &[u64],
    kernel: &[u64],
) -> Frames {
    let mut frames = Frames::default();
    if let Some(process) = process {
        for (depth, address) in user.iter().enumerate().rev() {
            let symbol = process.symbol(within(depth, *address));
            frames.push(&symbol.name, if symbol.compiled { 'j' } else { 'n' });
        }
    }
    frames.push_kernel(symbols, kernel);
    if frames.kinds.is_empty() {
        frames.push("[unknown]", 'n');
    }
    frames
}
