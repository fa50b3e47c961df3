//! The thread that reads a source's ring buffer and writes rows.

use super::{FollowedProcess, NamedThreads, Programs, Unavailable};
use crate::Watched;
use crate::names::ThreadNames;
use crate::worker::{Instruction, Instructions};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use libbpf_rs::RingBuffer;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Interval at which the ring buffer is read. Each read wakes a thread, which takes CPU time from the node.
const READ_EVERY: Duration = Duration::from_millis(100);
/// Interval of reading for sources with many records; the buffer holds those of many intervals.
const READ_EVERY_IF_MANY: Duration = Duration::from_millis(20);
const MANY_PER_S: f64 = 25_000.0;
/// Rows are written in sorted batches at this interval; longer batches compress better.
const APPEND_EVERY: Duration = Duration::from_millis(200);
const APPEND_AT_ROWS: usize = 1 << 17;
/// Interval of a source's reports of captured and lost rows and CPU time, and of reading the sums.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// The most records per read, so that the thread notices the end of the recording even if records keep coming.
pub(crate) const RECORDS_AT_ONCE: usize = 1 << 16;

/// Makes rows from a source's records and sums. Each source implements it.
pub(crate) trait Rows: 'static {
    /// An entry of the map of sums.
    type Sum;

    /// Receives a record of the ring buffer.
    fn take(&mut self, _record: &[u8], _threads: &mut NamedThreads) {}

    /// Number of rows that are not written yet.
    fn waiting(&self) -> usize {
        0
    }

    /// Writes these rows.
    fn append(&mut self, _to: &mut Output) {}

    /// Whether the programs keep sums.
    fn are_summed(&self) -> bool {
        true
    }

    /// Parses an entry of the map of sums; None if it is invalid, which only a bug in the programs could cause.
    fn sum(key: &[u8], value: &[u8]) -> Option<Self::Sum>;

    /// Writes the sums of an interval.
    fn append_sums(&mut self, sums: Vec<Self::Sum>, interval_ns: i64, threads: &mut NamedThreads, to: &mut Output);

    /// Forgets ended threads and processes; called every second.
    fn tidy(&mut self) {}

    /// From now on, rows go to another recording, which also needs the rows that they refer to.
    fn begin_recording(&mut self) {}
}

/// The output of a reader: where rows are written, and the followed processes.
pub(crate) struct Output {
    pub(crate) recorder: Recorder,
    followed: Vec<FollowedProcess>,
}

impl Output {
    /// The node of a process by its index.
    pub(crate) fn node(&self, process: u8) -> &str {
        self.followed.get(usize::from(process)).map_or("", |followed| &followed.watched.node)
    }

    /// Counts events of the process at an index, in the unit in which the programs count lost events.
    pub(crate) fn count(&mut self, process: u8, events: i64) {
        if let Some(followed) = self.followed.get_mut(usize::from(process)) {
            followed.captured += events.unsigned_abs();
        }
    }
}

/// The part of a reader that the ring buffer's callback uses as well.
struct RowBuilder<R> {
    rows: R,
    threads: NamedThreads,
}

pub(super) struct ProgramReader<R> {
    source: &'static str,
    to: Output,
    programs: Programs,
    builder: Rc<RefCell<RowBuilder<R>>>,
    /// The ring buffer; None if the programs write no records.
    ring: Option<RingBuffer<'static>>,
    cpu_ns: i64,
}

impl<R: Rows> ProgramReader<R> {
    /// Starts the thread for attached programs.
    pub(super) fn new(
        source: &'static str,
        recorder: Recorder,
        followed: Vec<(Watched, ThreadNames)>,
        programs: Programs,
        rows: R,
    ) -> Result<ProgramReader<R>, Unavailable> {
        let (followed, names): (Vec<Watched>, Vec<ThreadNames>) = followed.into_iter().unzip();
        let threads = NamedThreads::new(followed.iter().map(|watched| watched.pid).collect(), names);
        let builder = Rc::new(RefCell::new(RowBuilder { rows, threads }));
        let there = Rc::clone(&builder);
        let take = move |record: &[u8]| {
            let RowBuilder { rows, threads } = &mut *there.borrow_mut();
            rows.take(record, threads);
        };
        let ring = programs.has_records().then(|| programs.ring(take)).transpose()?;
        let to = Output { recorder, followed: followed.into_iter().map(FollowedProcess::new).collect() };
        Ok(ProgramReader { source, to, programs, builder, ring, cpu_ns: cpu_time_of_this_thread_ns() })
    }

    pub(super) fn run(mut self, instructions: &Instructions) {
        let (mut polled, mut appended, mut reported) = (Instant::now(), Instant::now(), Instant::now());
        let mut wait = if self.ring.is_some() { READ_EVERY_IF_MANY } else { REPORT_EVERY };
        loop {
            let instruction = instructions.wait(wait);
            if instruction.is_stop() {
                self.programs.detach();
            }
            let elapsed = std::mem::replace(&mut polled, Instant::now()).elapsed();
            let mut taken = 0;
            loop {
                let taken_now = self.read();
                if taken_now <= 0 {
                    break;
                }
                taken += taken_now;
                self.append(APPEND_AT_ROWS);
                if !instruction.is_stop() && appended.elapsed() >= REPORT_EVERY {
                    break;
                }
            }
            if self.ring.is_some() {
                let are_many = f64::from(taken) > MANY_PER_S * elapsed.as_secs_f64();
                wait = if are_many { READ_EVERY_IF_MANY } else { READ_EVERY };
            }
            if instruction.is_last() || appended.elapsed() >= APPEND_EVERY {
                appended = Instant::now();
                self.append(0);
            }
            if instruction.is_last() || reported.elapsed() >= REPORT_EVERY {
                let interval = reported.elapsed();
                reported = Instant::now();
                self.each_second(interval);
            }
            match instruction {
                Instruction::Nothing => {}
                Instruction::Continue(next) => {
                    self.to.recorder = next.begin();
                    self.builder.borrow_mut().rows.begin_recording();
                }
                Instruction::Stop => return,
            }
        }
    }

    /// How many records were read.
    fn read(&self) -> i32 {
        self.ring.as_ref().map_or(0, |ring| ring.consume_raw_n(RECORDS_AT_ONCE))
    }

    /// Writes the rows that wait, if there are more than `more_than`.
    fn append(&mut self, more_than: usize) {
        let rows = &mut self.builder.borrow_mut().rows;
        if rows.waiting() > more_than {
            rows.append(&mut self.to);
        }
    }

    fn each_second(&mut self, interval: Duration) {
        self.programs.forget_ended(&mut self.to.followed);
        if self.builder.borrow().rows.are_summed() {
            self.append_sums(interval);
            // Records that were read together with the sums; at the end they are not read again.
            self.append(0);
        }
        let now_ns = cpu_time_of_this_thread_ns();
        let cpu_ns = now_ns - std::mem::replace(&mut self.cpu_ns, now_ns);
        let Output { recorder, followed } = &mut self.to;
        self.programs.report(recorder, self.source, interval, followed, cpu_ns);
        let RowBuilder { rows, threads } = &mut *self.builder.borrow_mut();
        threads.tidy();
        rows.tidy();
    }

    fn append_sums(&mut self, interval: Duration) {
        let mut sums = Vec::new();
        // Sums that can't be read stay in the map, and are read the next time.
        let _ = self.programs.take_sums(|key, value| sums.extend(R::sum(key, value)));
        // The programs report the names of threads before they add anything to their sums.
        self.read();
        let RowBuilder { rows, threads } = &mut *self.builder.borrow_mut();
        let interval_ns = i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX);
        rows.append_sums(sums, interval_ns, threads, &mut self.to);
    }
}
