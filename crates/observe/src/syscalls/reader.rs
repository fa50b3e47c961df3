//! The thread that takes what the programs in the kernel tell, and makes rows of it.

use super::calls::{Calls, error_name};
use super::descriptors::{Descriptors, Named};
use super::kernel::Programs;
use super::records::{self, LOST_REASONS, Record, Sum};
use super::{PROVIDER, SOURCE, SyscallsMode};
use crate::Watched;
use crate::ebpf::{self, Followed, Missing, NamedThreads};
use crate::names::ThreadNames;
use helenus_recording::rows::{Syscall, SyscallSummary};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use libbpf_rs::RingBuffer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

/// A row that waits for its batch.
struct Row {
    process: u8,
    tid: u32,
    start_ns: i64,
    duration_ns: i64,
    call: u16,
    returned: i64,
    group: Rc<str>,
    named: Named,
}

/// What is known of threads and descriptors, and the rows that wait.
struct Follower {
    calls: Calls,
    threads: NamedThreads,
    descriptors: Descriptors,
    rows: Vec<Row>,
}

/// Sums of one row of `syscall_summary`.
#[derive(Default)]
struct Total {
    count: i64,
    total_ns: i64,
    bytes: i64,
    errors: i64,
}

pub(super) struct Reader {
    recorder: Recorder,
    followed: Vec<Followed>,
    mode: SyscallsMode,
    programs: Programs,
    follower: Rc<RefCell<Follower>>,
    cpu_ns: i64,
}

impl Reader {
    /// Takes over programs that are attached, and reads what the processes had open.
    pub(super) fn new(
        recorder: Recorder,
        followed: Vec<(Watched, ThreadNames)>,
        mode: SyscallsMode,
        programs: Programs,
        calls: Calls,
    ) -> Reader {
        let pids: Vec<u32> = followed.iter().map(|(watched, _)| watched.pid).collect();
        let follower = Follower {
            calls,
            descriptors: Descriptors::new(&pids),
            threads: NamedThreads::new(pids, followed.iter().map(|(_, names)| names.clone()).collect()),
            rows: Vec::new(),
        };
        let followed = followed.into_iter().map(|(watched, _)| Followed::new(watched));
        Reader {
            recorder,
            followed: followed.collect(),
            mode,
            programs,
            follower: Rc::new(RefCell::new(follower)),
            cpu_ns: cpu_time_of_this_thread_ns(),
        }
    }

    /// The way on which the programs tell what they see.
    pub(super) fn ring(&self) -> Result<RingBuffer<'static>, Missing> {
        let follower = Rc::clone(&self.follower);
        self.programs.ring(move |bytes| follower.borrow_mut().take(bytes))
    }
}

impl ebpf::Reader for Reader {
    fn detach(&mut self) {
        self.programs.detach();
    }

    fn append(&mut self, at_least: usize) {
        let mut follower = self.follower.borrow_mut();
        if follower.rows.len() <= at_least {
            return;
        }
        // A thread's calls in a row: their names repeat, and their starts are near to each other.
        follower.rows.sort_unstable_by_key(|row| (row.tid, row.start_ns));
        for row in &follower.rows {
            if let Some(followed) = self.followed.get_mut(usize::from(row.process)) {
                followed.captured += 1;
            }
        }
        let clock = self.recorder.clock();
        let (calls, followed) = (&follower.calls, &self.followed);
        let mut named_by_number: HashMap<u16, String> = HashMap::new();
        for row in &follower.rows {
            if calls.name(row.call).is_empty() {
                named_by_number.entry(row.call).or_insert_with(|| row.call.to_string());
            }
        }
        self.recorder.append_all(follower.rows.iter().map(|row| Syscall {
            start_ns: clock.from_monotonic_ns(row.start_ns),
            duration_ns: row.duration_ns,
            node: followed.get(usize::from(row.process)).map_or("", |followed| &followed.watched.node),
            tid: i64::from(row.tid),
            thread_group: &row.group,
            call: named_by_number.get(&row.call).map_or(calls.name(row.call), String::as_str),
            file: &row.named.file,
            file_kind: row.named.kind,
            bytes: (row.returned >= 0 && calls.moves_bytes(row.call)).then_some(row.returned),
            error: error_name(row.returned),
        }));
        follower.rows.clear();
    }

    fn each_second(&mut self, interval: Duration, ring: &RingBuffer<'_>) {
        self.programs.forget_ended(&mut self.followed);
        if self.mode == SyscallsMode::Summary {
            self.append_sums(interval, ring);
        }
        self.report(interval);
        let mut follower = self.follower.borrow_mut();
        follower.descriptors.tidy();
        follower.threads.tidy();
    }
}

impl Reader {
    fn append_sums(&mut self, interval: Duration, ring: &RingBuffer<'_>) {
        let mut sums: Vec<Sum> = Vec::new();
        // What can't be read stays in the table, and comes with the next.
        let _ = self.programs.take_sums(|key, value| sums.extend(records::sum(key, value)));
        // What they are about was told before they were added up.
        ring.consume_raw_n(ebpf::RECORDS_AT_ONCE);
        let follower = self.follower.borrow();
        let mut totals: HashMap<(u8, Rc<str>, u16, Named, u8), Total> = HashMap::new();
        for sum in &sums {
            let named = follower.descriptors.name(sum.identity);
            let total =
                totals.entry((sum.process, follower.threads.group(sum.tid), sum.call, named, sum.bin)).or_default();
            total.count += sum.count;
            total.total_ns += sum.total_ns;
            total.bytes += sum.bytes;
            total.errors += sum.errors;
        }
        let time_ns = self.recorder.clock().now_ns();
        for ((process, group, call, named, bin), total) in &totals {
            let Some(followed) = self.followed.get_mut(usize::from(*process)) else { continue };
            followed.captured += 1;
            let (low_ns, high_ns) = ebpf::bounds_ns(*bin);
            let number = call.to_string();
            let name = follower.calls.name(*call);
            self.recorder.append(SyscallSummary {
                time_ns,
                interval_ns: nanos(interval),
                node: &followed.watched.node,
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

    fn report(&mut self, interval: Duration) {
        let now_ns = cpu_time_of_this_thread_ns();
        let cpu_ns = now_ns - std::mem::replace(&mut self.cpu_ns, now_ns);
        let names = (SOURCE, PROVIDER);
        self.programs.report(&self.recorder, names, &LOST_REASONS, interval, &mut self.followed, cpu_ns);
    }
}

impl Follower {
    fn take(&mut self, bytes: &[u8]) {
        match records::record(bytes) {
            None => {}
            Some(Record::Call { process, call, tid, ended, path }) => {
                let named = match path {
                    Some(path) => self.descriptors.path(process, ended.identity, path),
                    None => self.descriptors.name(ended.identity),
                };
                let group = self.threads.group(tid);
                let records::Ended { start_ns, duration_ns, returned, .. } = ended;
                self.rows.push(Row { process, tid, start_ns, duration_ns, call, returned, group, named });
            }
            Some(Record::Thread { process, tid, name }) => self.threads.told(process, tid, name),
            Some(Record::Descriptor { process, call, descriptor }) => {
                self.descriptors.made(process, call, &descriptor, &self.calls);
            }
            Some(Record::Closed { identity }) => self.descriptors.closed(identity),
        }
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
