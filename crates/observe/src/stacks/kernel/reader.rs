//! The thread that takes what the program in the kernel tells, and makes rows of it.

use super::PROVIDER;
use super::records::{self, LOST_REASONS, Sample};
use crate::Watched;
use crate::ebpf::{self, Followed, Missing, Named, NamedThreads, Programs};
use crate::names::ThreadNames;
use crate::stacks::frames::within;
use crate::stacks::{Frames, KnownStacks, SOURCE};
use crate::symbols::{KernelSymbols, ProcessSymbols};
use helenus_recording::rows::StackSample;
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use libbpf_rs::RingBuffer;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A row that waits for its batch.
struct Row {
    time_ns: i64,
    process: u8,
    tid: u32,
    named: Named,
    stack: i64,
}

/// What is known of threads and functions, and the rows that wait.
struct Sampled {
    threads: NamedThreads,
    processes: Vec<ProcessSymbols>,
    /// None where it does not tell.
    kernel: Option<KernelSymbols>,
    stacks: KnownStacks,
    rows: Vec<Row>,
}

pub(super) struct Reader {
    recorder: Recorder,
    followed: Vec<Followed>,
    programs: Programs<{ LOST_REASONS.len() }>,
    sampled: Rc<RefCell<Sampled>>,
    interval_ns: i64,
    cpu_ns: i64,
}

impl Reader {
    /// Takes over programs that are attached.
    pub(super) fn new(
        recorder: Recorder,
        followed: Vec<(Watched, ThreadNames)>,
        programs: Programs<{ LOST_REASONS.len() }>,
        kernel: Option<KernelSymbols>,
        interval: Duration,
    ) -> Reader {
        let pids: Vec<u32> = followed.iter().map(|(watched, _)| watched.pid).collect();
        let names = followed.iter().map(|(_, names)| names.clone()).collect();
        let sampled = Sampled {
            processes: pids.iter().map(|pid| ProcessSymbols::new(*pid)).collect(),
            threads: NamedThreads::new(pids, names),
            kernel,
            stacks: KnownStacks::default(),
            rows: Vec::new(),
        };
        Reader {
            recorder,
            followed: followed.into_iter().map(|(watched, _)| Followed::new(watched)).collect(),
            programs,
            sampled: Rc::new(RefCell::new(sampled)),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            cpu_ns: cpu_time_of_this_thread_ns(),
        }
    }

    /// The way on which the program tells what it sees.
    pub(super) fn ring(&self) -> Result<RingBuffer<'static>, Missing> {
        let sampled = Rc::clone(&self.sampled);
        self.programs.ring(move |bytes| {
            if let Some(sample) = records::sample(bytes) {
                sampled.borrow_mut().take(sample);
            }
        })
    }
}

impl ebpf::Reader for Reader {
    fn detach(&mut self) {
        self.programs.detach();
    }

    fn append(&mut self, at_least: usize) {
        let mut sampled = self.sampled.borrow_mut();
        if sampled.rows.len() <= at_least {
            return;
        }
        sampled.stacks.append(&self.recorder);
        // Each CPU's come in order, and those of several do not.
        sampled.rows.sort_unstable_by_key(|row| row.time_ns);
        for row in &sampled.rows {
            if let Some(followed) = self.followed.get_mut(usize::from(row.process)) {
                followed.captured += 1;
            }
        }
        let (followed, clock) = (&self.followed, self.recorder.clock());
        self.recorder.append_all(sampled.rows.iter().map(|row| StackSample {
            time_ns: clock.from_monotonic_ns(row.time_ns),
            node: followed.get(usize::from(row.process)).map_or("", |followed| &followed.watched.node),
            event: "cpu",
            weight: self.interval_ns,
            tid: i64::from(row.tid),
            thread: &row.named.name,
            thread_group: &row.named.group,
            stack: row.stack,
        }));
        sampled.rows.clear();
    }

    fn each_second(&mut self, interval: Duration, _ring: &RingBuffer<'_>) {
        self.programs.forget_ended(&mut self.followed);
        let now_ns = cpu_time_of_this_thread_ns();
        let cpu_ns = now_ns - std::mem::replace(&mut self.cpu_ns, now_ns);
        let names = (SOURCE, PROVIDER);
        self.programs.report(&self.recorder, names, &LOST_REASONS, interval, &mut self.followed, cpu_ns);
        let mut sampled = self.sampled.borrow_mut();
        sampled.threads.tidy();
        sampled.look_for_new_names();
    }
}

impl Sampled {
    fn take(&mut self, sample: Sample<'_>) {
        let Sample { time_ns, tid, process, thread, user, kernel } = sample;
        let named = self.threads.seen(process, tid, thread);
        // The same addresses are other functions in another process.
        let kernel_frames = kernel.len();
        let mut key = vec![u64::from(process) << 32 | kernel_frames as u64];
        key.extend(kernel.iter().chain(&user));
        let (symbols, process_symbols) = (&self.kernel, self.processes.get_mut(usize::from(process)));
        let stack = self.stacks.number(key, time_ns, |_| frames(process_symbols, symbols.as_ref(), &user, &kernel));
        self.rows.push(Row { time_ns, process, tid, named, stack });
    }

    fn look_for_new_names(&mut self) {
        for symbols in &mut self.processes {
            if symbols.look() {
                self.stacks.forget_addresses();
            }
        }
    }
}

/// From the outermost frame of the process to the innermost of the kernel.
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
