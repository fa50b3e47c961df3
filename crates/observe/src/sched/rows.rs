//! Makes rows from the eBPF programs' records.

use super::others::{OtherThreads, ThreadIdentity};
use super::records::{self, OffCpuTime, Record, Sum, Summed};
use crate::ebpf::{self, Named, NamedThreads, Output};
use crate::stacks::{Frames, KnownStacks};
use crate::symbols::KernelSymbols;
use helenus_recording::rows::{Migrations, OffCpu, RunQueueDelay};
use std::collections::HashMap;
use std::rc::Rc;

/// The innermost frame of every stack, apart from frames of the eBPF programs themselves.
const SWITCH: &str = "__schedule";

/// A row that waits for its batch.
struct Row {
    process: u8,
    tid: u32,
    off_cpu: OffCpuTime,
    named: Named,
    by: ThreadIdentity,
    stack: Option<i64>,
}

/// The known names and stacks, and the rows that wait to be written.
pub(super) struct Rows {
    others: OtherThreads,
    /// Kernel stacks; None if they are not requested.
    symbols: Option<KernelSymbols>,
    stacks: KnownStacks,
    waiting: Vec<Row>,
}

impl Rows {
    pub(super) fn new(symbols: Option<KernelSymbols>) -> Rows {
        Rows { others: OtherThreads::default(), symbols, stacks: KnownStacks::default(), waiting: Vec::new() }
    }
}

impl ebpf::Rows for Rows {
    type Sum = Sum;

    fn take(&mut self, record: &[u8], threads: &mut NamedThreads) {
        match records::record(record) {
            None => {}
            Some(Record::OffCpu { process, tid, off_cpu, frames }) => {
                let stack = match &self.symbols {
                    Some(symbols) if !frames.is_empty() => {
                        Some(
                            self.stacks.number(frames, off_cpu.start_ns, |addresses| kernel_frames(symbols, addresses)),
                        )
                    }
                    _ => None,
                };
                let by = self.others.identity(&off_cpu.by, threads);
                self.waiting.push(Row { process, tid, off_cpu, named: threads.named(tid), by, stack });
            }
            Some(Record::Thread { process, tid, name }) => threads.renamed(process, tid, name),
        }
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn append(&mut self, to: &mut Output) {
        let clock = to.recorder.clock();
        self.stacks.append(&to.recorder);
        // Sorted by thread, because then names repeat and times are close together.
        self.waiting.sort_unstable_by_key(|row| (row.tid, row.off_cpu.start_ns));
        to.recorder.append_all(self.waiting.iter().map(|row| OffCpu {
            start_ns: clock.from_monotonic_ns(row.off_cpu.start_ns),
            duration_ns: row.off_cpu.duration_ns,
            run_queue_ns: row.off_cpu.run_queue_ns,
            node: to.node(row.process),
            tid: i64::from(row.tid),
            thread: &row.named.name,
            thread_group: &row.named.group,
            reason: row.off_cpu.reason,
            from_cpu: i64::from(row.off_cpu.from_cpu),
            to_cpu: i64::from(row.off_cpu.to_cpu),
            by_tid: row.by.tid,
            by_thread: &row.by.thread,
            by_process: &row.by.process,
            stack: row.stack,
        }));
        self.waiting.clear();
    }

    fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
        records::sum(key, value)
    }

    fn append_sums(&mut self, sums: Vec<Sum>, interval_ns: i64, threads: &mut NamedThreads, to: &mut Output) {
        let mut totals: HashMap<(u8, Rc<str>, Summed), (i64, i64)> = HashMap::new();
        for sum in &sums {
            let (count, total_ns) = totals.entry((sum.process, threads.group(sum.tid), sum.of)).or_default();
            *count += sum.count;
            *total_ns += sum.total_ns;
        }
        let time_ns = to.recorder.clock().now_ns();
        for ((process, thread_group, of), (count, total_ns)) in &totals {
            // The sums include every switch, also those with a row of their own.
            to.count(*process, *count);
            let (node, count, total_ns) = (to.node(*process), *count, *total_ns);
            match *of {
                Summed::Delay { after, bin } => {
                    let (low_ns, high_ns) = ebpf::bounds_ns(bin);
                    to.recorder.append(RunQueueDelay {
                        time_ns,
                        interval_ns,
                        node,
                        thread_group,
                        after,
                        low_ns,
                        high_ns,
                        count,
                        total_ns,
                    });
                }
                Summed::Migration { from, to: onto } => {
                    let (from_cpu, to_cpu) = (i64::from(from), i64::from(onto));
                    to.recorder.append(Migrations {
                        time_ns,
                        interval_ns,
                        node,
                        thread_group,
                        from_cpu,
                        to_cpu,
                        count,
                    });
                }
            }
        }
    }

    fn tidy(&mut self) {
        self.others.forget();
    }

    fn begin_recording(&mut self) {
        self.stacks.begin_recording();
    }
}

/// The frames from the outermost to the innermost, without those of the eBPF program.
fn kernel_frames(symbols: &KernelSymbols, innermost_first: &[u64]) -> Frames {
    let names: Vec<String> = innermost_first.iter().map(|address| symbols.name(*address)).collect();
    let from = names.iter().position(|name| name == SWITCH).unwrap_or(0);
    let mut frames = Frames::default();
    names[from..].iter().rev().for_each(|name| frames.push(name, 'k'));
    frames
}
