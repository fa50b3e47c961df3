//! The thread that takes what the programs in the kernel tell, and makes rows of it.

use super::kernel::Programs;
use super::others::{Others, Who};
use super::records::{self, LOST_REASONS, OffCpuTime, Record, Summed};
use super::{PROVIDER, SOURCE};
use crate::Watched;
use crate::ebpf::{self, Followed, Missing, Named, NamedThreads};
use crate::names::ThreadNames;
use crate::stacks::{Frames, KnownStacks};
use crate::symbols::KernelSymbols;
use helenus_recording::rows::{Migrations, OffCpu, RunQueueDelay};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use libbpf_rs::RingBuffer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

/// What every stack begins with at its innermost end: the switch itself, and the programs that look at it.
const SWITCH: &str = "__schedule";

/// A row that waits for its batch.
struct Row {
    process: u8,
    tid: u32,
    off_cpu: OffCpuTime,
    named: Named,
    by: Who,
    stack: Option<i64>,
}

/// What is known of threads, and the rows that wait.
struct Follower {
    threads: NamedThreads,
    others: Others,
    /// None where they are not wanted.
    symbols: Option<KernelSymbols>,
    stacks: KnownStacks,
    rows: Vec<Row>,
}

pub(super) struct Reader {
    recorder: Recorder,
    followed: Vec<Followed>,
    programs: Programs,
    follower: Rc<RefCell<Follower>>,
    cpu_ns: i64,
}

impl Reader {
    /// Takes over programs that are attached.
    pub(super) fn new(
        recorder: Recorder,
        followed: Vec<(Watched, ThreadNames)>,
        programs: Programs,
        symbols: Option<KernelSymbols>,
    ) -> Reader {
        let pids = followed.iter().map(|(watched, _)| watched.pid).collect();
        let names = followed.iter().map(|(_, names)| names.clone()).collect();
        let follower = Follower {
            threads: NamedThreads::new(pids, names),
            others: Others::default(),
            symbols,
            stacks: KnownStacks::default(),
            rows: Vec::new(),
        };
        Reader {
            recorder,
            followed: followed.into_iter().map(|(watched, _)| Followed::new(watched)).collect(),
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
        let clock = self.recorder.clock();
        follower.stacks.append(&self.recorder);
        // A thread's times in a row: its name repeats, and they follow each other.
        follower.rows.sort_unstable_by_key(|row| (row.tid, row.off_cpu.start_ns));
        for row in &follower.rows {
            if let Some(followed) = self.followed.get_mut(usize::from(row.process)) {
                followed.captured += 1;
            }
        }
        let followed = &self.followed;
        self.recorder.append_all(follower.rows.iter().map(|row| OffCpu {
            start_ns: clock.from_monotonic_ns(row.off_cpu.start_ns),
            duration_ns: row.off_cpu.duration_ns,
            run_queue_ns: row.off_cpu.run_queue_ns,
            node: followed.get(usize::from(row.process)).map_or("", |followed| &followed.watched.node),
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
        follower.rows.clear();
    }

    fn each_second(&mut self, interval: Duration, ring: &RingBuffer<'_>) {
        self.programs.forget_ended(&mut self.followed);
        self.append_sums(interval, ring);
        // What came with them: at the end nobody looks again.
        self.append(0);
        self.report(interval);
        let mut follower = self.follower.borrow_mut();
        follower.threads.tidy();
        follower.others.forget();
    }
}

impl Reader {
    fn append_sums(&mut self, interval: Duration, ring: &RingBuffer<'_>) {
        let mut sums = Vec::new();
        // What can't be read stays in the table, and comes with the next.
        let _ = self.programs.take_sums(|key, value| sums.extend(records::sum(key, value)));
        // The names of their threads were told before anything was added up.
        ring.consume_raw_n(ebpf::RECORDS_AT_ONCE);
        let follower = self.follower.borrow();
        let mut totals: HashMap<(u8, Rc<str>, Summed), (i64, i64)> = HashMap::new();
        for sum in &sums {
            let (count, total_ns) = totals.entry((sum.process, follower.threads.group(sum.tid), sum.of)).or_default();
            *count += sum.count;
            *total_ns += sum.total_ns;
        }
        let time_ns = self.recorder.clock().now_ns();
        let interval_ns = i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX);
        for ((process, thread_group, of), (count, total_ns)) in &totals {
            let Some(followed) = self.followed.get_mut(usize::from(*process)) else { continue };
            followed.captured += 1;
            let (node, count, total_ns) = (followed.watched.node.as_str(), *count, *total_ns);
            match *of {
                Summed::Delay { after, bin } => {
                    let (low_ns, high_ns) = ebpf::bounds_ns(bin);
                    self.recorder.append(RunQueueDelay {
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
                Summed::Migration { from, to } => {
                    let (from_cpu, to_cpu) = (i64::from(from), i64::from(to));
                    self.recorder.append(Migrations {
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
            Some(Record::OffCpu { process, tid, off_cpu, frames }) => {
                let stack = match &self.symbols {
                    Some(symbols) if !frames.is_empty() => {
                        Some(
                            self.stacks.number(frames, off_cpu.start_ns, |addresses| kernel_frames(symbols, addresses)),
                        )
                    }
                    _ => None,
                };
                let by = self.others.who(&off_cpu.by, &self.threads);
                self.rows.push(Row { process, tid, off_cpu, named: self.threads.named(tid), by, stack });
            }
            Some(Record::Thread { process, tid, name }) => self.threads.told(process, tid, name),
        }
    }
}

/// From the outermost to the innermost; what looks at the switch is left out.
fn kernel_frames(symbols: &KernelSymbols, innermost_first: &[u64]) -> Frames {
    let names: Vec<String> = innermost_first.iter().map(|address| symbols.name(*address)).collect();
    let from = names.iter().position(|name| name == SWITCH).unwrap_or(0);
    let mut frames = Frames::default();
    names[from..].iter().rev().for_each(|name| frames.push(name, 'k'));
    frames
}
