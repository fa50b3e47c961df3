//! Makes rows from the eBPF programs' records.

use super::SyscallsMode;
use super::calls::{Calls, error_name};
use super::descriptors::{Descriptors, Named};
use super::records::{self, Record, Sum};
use crate::ebpf::{self, NamedThreads, Output};
use helenus_recording::rows::{Syscall, SyscallSummary};
use std::collections::HashMap;
use std::rc::Rc;

/// A row that waits for its batch.
struct Row {
    process: u8,
    tid: u32,
    start_ns: i64,
    duration_ns: i64,
    call: u16,
    returned: i64,
    position: i64,
    group: Rc<str>,
    named: Named,
}

/// The known calls and descriptors, and the rows that wait to be written.
pub(super) struct Rows {
    calls: Calls,
    mode: SyscallsMode,
    descriptors: Descriptors,
    waiting: Vec<Row>,
}

/// Sums of one row of `syscall_summary`.
#[derive(Default)]
struct Total {
    count: i64,
    total_ns: i64,
    bytes: i64,
    errors: i64,
}

impl Rows {
    /// Reads the open descriptors of the processes. The programs are attached before, so that they report later
    /// changes.
    pub(super) fn new(pids: &[u32], mode: SyscallsMode, calls: Calls) -> Rows {
        Rows { calls, mode, descriptors: Descriptors::new(pids), waiting: Vec::new() }
    }
}

impl ebpf::Rows for Rows {
    type Sum = Sum;

    fn take(&mut self, record: &[u8], threads: &mut NamedThreads) {
        match records::record(record) {
            None => {}
            Some(Record::Call { process, call, tid, ended, path }) => {
                let named = match path {
                    Some(path) => self.descriptors.path(process, ended.identity, path),
                    None => self.descriptors.name(ended.identity),
                };
                let group = threads.group(tid);
                let records::Ended { start_ns, duration_ns, returned, position, .. } = ended;
                let row = Row { process, tid, start_ns, duration_ns, call, returned, position, group, named };
                self.waiting.push(row);
            }
            Some(Record::Thread { process, tid, name }) => threads.renamed(process, tid, name),
            Some(Record::Descriptor { process, call, descriptor }) => {
                self.descriptors.made(process, call, &descriptor, &self.calls);
            }
            Some(Record::Closed { identity }) => self.descriptors.closed(identity),
        }
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn append(&mut self, to: &mut Output) {
        // Sorted by thread, because then names repeat and starts are close together.
        self.waiting.sort_unstable_by_key(|row| (row.tid, row.start_ns));
        self.waiting.iter().for_each(|row| to.count(row.process, 1));
        let clock = to.recorder.clock();
        let calls = &self.calls;
        let mut named_by_number: HashMap<u16, String> = HashMap::new();
        for row in &self.waiting {
            if calls.name(row.call).is_empty() {
                named_by_number.entry(row.call).or_insert_with(|| row.call.to_string());
            }
        }
        to.recorder.append_all(self.waiting.iter().map(|row| Syscall {
            start_ns: clock.from_monotonic_ns(row.start_ns),
            duration_ns: row.duration_ns,
            node: to.node(row.process),
            tid: i64::from(row.tid),
            thread_group: &row.group,
            call: named_by_number.get(&row.call).map_or(calls.name(row.call), String::as_str),
            file: &row.named.file,
            file_kind: row.named.kind,
            bytes: (row.returned >= 0 && calls.moves_bytes(row.call)).then_some(row.returned),
            offset_bytes: calls.offset_bytes(row.call, row.position, row.returned),
            error: error_name(row.returned),
        }));
        self.waiting.clear();
    }

    fn are_summed(&self) -> bool {
        self.mode == SyscallsMode::Summary
    }

    fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
        records::sum(key, value)
    }

    fn append_sums(&mut self, sums: Vec<Sum>, interval_ns: i64, threads: &mut NamedThreads, to: &mut Output) {
        let mut totals: HashMap<(u8, Rc<str>, u16, Named, u8), Total> = HashMap::new();
        for sum in &sums {
            let named = self.descriptors.name(sum.identity);
            let total = totals.entry((sum.process, threads.group(sum.tid), sum.call, named, sum.bin)).or_default();
            total.count += sum.count;
            total.total_ns += sum.total_ns;
            total.bytes += sum.bytes;
            total.errors += sum.errors;
        }
        let time_ns = to.recorder.clock().now_ns();
        for ((process, group, call, named, bin), total) in &totals {
            to.count(*process, total.count);
            let (low_ns, high_ns) = ebpf::bounds_ns(*bin);
            let number = call.to_string();
            let name = self.calls.name(*call);
            to.recorder.append(SyscallSummary {
                time_ns,
                interval_ns,
                node: to.node(*process),
                thread_group: group,
                call: if name.is_empty() { &number } else { name },
                file: &named.file,
                file_kind: named.kind,
                low_ns,
                high_ns,
                count: total.count,
                total_ns: total.total_ns,
                bytes: total.bytes,
                errors: total.errors,
            });
        }
    }

    fn tidy(&mut self) {
        self.descriptors.tidy();
    }
}
