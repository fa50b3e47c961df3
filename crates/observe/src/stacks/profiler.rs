//! Stacks of a JVM's threads, sampled by async-profiler within it.
//!
//! The profiler's library is loaded over the attach protocol. It writes JFR to a file in the target's /tmp, which is
//! opened here and unlinked at once, so that no file remains however the recording ends. Each chunk is read when it is
//! complete, and its disk space is freed. If its recorder is killed, the agent in the JVM stops the profiler. The profiler is
//! also started for two minutes at a time, so that it ends by itself in a JVM without an agent.
//!
//! With eBPF, clocks of the CPUs trigger the threads' samples ([`super::ticks`]); otherwise the profiler's own clocks
//! do.

use super::jfr::{self, Malformed, SampleEvent};
use super::ticks::{self, Ticks};
use super::{Frames, KnownStacks, LOCK, SOURCE, StackOptions};
use crate::names::ThreadNames;
use crate::source::{Context, facts, say};
use crate::worker::{Instruction, Instructions, Worker};
use crate::{Event, Events};
use helenus_cassandra::attach::{self, WrittenFiles};
use helenus_cassandra::foreign::read_at_most;
use helenus_cassandra::target::Target;
use helenus_cassandra::threads::thread_group;
use helenus_recording::rows::{SourceReport, StackSample};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const POLL_EVERY: Duration = Duration::from_millis(500);
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Length of a chunk. Each chunk repeats all stacks since the profiler's start, and the names of all their methods.
const CHUNK: Duration = Duration::from_secs(5);
/// The profiler is restarted after `SESSION`. If that does not happen, it stops by itself `GRACE` later.
const SESSION: Duration = Duration::from_secs(120);
const GRACE: Duration = Duration::from_secs(15);
/// The most bytes of the profiler's answer, which is a line or two.
const LONGEST_LOG_BYTES: u64 = 64 << 10;
/// The largest chunk that is read. A busy node's chunk has a few MB. The file belongs to the node's user, who may have
/// put anything into it.
const LARGEST_CHUNK_BYTES: u64 = 256 << 20;
const PROVIDER: &str = "async-profiler";
/// The profiler's own interval while Helenus's signals trigger samples. It is longer than a session, so that the
/// profiler takes none by itself.
const BY_ITSELF: Duration = Duration::from_secs(3600);

/// The clock that triggers samples of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// The clocks of the CPUs: a program in the kernel sends a signal at each tick.
    Cpus,
    /// The clocks of the profiler, one for each thread.
    Threads,
}

impl StackOptions {
    /// The clock's name in the profiler's options.
    fn command(&self, clock: Clock) -> String {
        let interval_ns = self.stack_interval.as_nanos();
        let mut words = Vec::new();
        if self.stacks.cpu {
            words.push(match clock {
                Clock::Cpus => format!("event=ctimer,interval={}s,signal={}", BY_ITSELF.as_secs(), ticks::SIGNAL),
                Clock::Threads => format!("event=cpu,interval={interval_ns}"),
            });
        }
        if self.stacks.wall {
            words.push(format!("wall={interval_ns}"));
        }
        if self.stacks.alloc {
            words.push(format!("alloc={}", self.alloc_bytes));
        }
        if self.stacks.lock {
            words.push(format!("lock={}", LOCK.as_nanos()));
        }
        words.join(",")
    }
}

/// Loads and starts the profiler in one JVM, and starts the thread that reads its file. Returns the reason if that is
/// impossible.
pub(super) fn start(
    context: &Context<'_>,
    (node, target): (&str, Target),
    library: &'static [u8],
    options: StackOptions,
    names: ThreadNames,
) -> Result<Worker, String> {
    let (recorder, node_there, events) = (context.recorder.clone(), node.to_string(), context.events.clone());
    let prepare = move || {
        let mut reader = ProfilerReader {
            recorder,
            node: node_there,
            target,
            library,
            interval_ns: i64::try_from(options.stack_interval.as_nanos()).unwrap_or(i64::MAX),
            options,
            ticks: None,
            names,
            events,
            stacks: KnownStacks::default(),
            captured: 0,
        };
        let session = reader.begin()?;
        let notes = (reader.note(), session.warnings.clone());
        Ok::<_, String>(((reader, session), notes))
    };
    let (worker, (note, warnings)) =
        Worker::start("stacks", prepare, |(reader, session), instructions| reader.run(session, instructions))?;
    for warning in warnings {
        context.degrade(node, SOURCE, format!("stacks are sampled with less than asked for: {warning}"));
    }
    Ok(worker.noted(context, vec![facts(SOURCE, node, PROVIDER, &note)]))
}

/// A session: the profiler between its start and its stop, and the file that it writes.
struct Session {
    file: File,
    /// Offset up to which the file was read.
    read: u64,
    begun: Instant,
    /// Requests that the profiler could not fulfil, such as recording the kernel's frames.
    warnings: Vec<String>,
}

impl Session {
    fn begin(target: &Target, library: &[u8], events: &str) -> Result<Session, String> {
        let name = format!("{}{}-{:016x}", profiler_files(), target.inner_pid, unguessable());
        let (jfr, log) = (format!("{name}.jfr"), format!("{name}.log"));
        let (ends_s, chunk_s) = ((SESSION + GRACE).as_secs(), CHUNK.as_secs());
        let command = format!(
            "start,{events},clock=monotonic,jfr,chunktime={chunk_s}s,timeout={ends_s},file=/tmp/{jfr},log=/tmp/{log}"
        );
        let written = WrittenFiles::of(target, &[&jfr, &log]).map_err(|error| error.to_string())?;
        let started = attach::load_native(target, library, &command);
        let output = written.open(&log).and_then(|log| read_at_most(log, LONGEST_LOG_BYTES)).unwrap_or_default();
        let output = String::from_utf8_lossy(&output).into_owned();
        let file = written.open(&jfr);
        // Once the file is open, its name is not needed.
        drop(written);
        match (started, file) {
            (Ok(()), Ok(file)) => {
                let warnings =
                    output.lines().filter_map(|line| line.strip_prefix("[WARN]")).map(|line| line.trim().into());
                Ok(Session { file, read: 0, begun: Instant::now(), warnings: warnings.collect() })
            }
            (Ok(()), Err(error)) => Err(format!("the profiler's file cannot be opened: {error}")),
            (Err(_), _) if output.contains("already started") => Err(format!(
                "another recorder has the profiler in this JVM; it ends with that recorder, or within {} s if that was killed",
                (SESSION + GRACE).as_secs()
            )),
            (Err(error), _) => Err(format!("{error}{}{}", if output.is_empty() { "" } else { ": " }, output.trim())),
        }
    }

    /// The next chunk, once it is complete.
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        // The part of the header up to and including the size.
        let mut head = [0; 16];
        let there = self.file.metadata()?.len().saturating_sub(self.read);
        if there < head.len() as u64 {
            return Ok(None);
        }
        self.file.read_exact_at(&mut head, self.read)?;
        let size = u64::from_be_bytes([head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15]]);
        // The profiler writes a size of 1 GiB until a chunk is complete.
        if size < head.len() as u64 || size > there {
            return Ok(None);
        }
        if size > LARGEST_CHUNK_BYTES {
            return Err(io::Error::other(format!(
                "{size} bytes claim to be the stacks of a few seconds; they are not read"
            )));
        }
        let mut chunk = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut chunk, self.read)?;
        self.give_back(size);
        self.read += size;
        Ok(Some(chunk))
    }

    /// Whether a chunk has been begun and is not complete.
    fn is_cut_off(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.len() > self.read)
    }

    /// Frees the disk space of a chunk that was read; the file would only grow otherwise.
    fn give_back(&self, size: u64) {
        let (Ok(from), Ok(size)) = (libc::off_t::try_from(self.read), libc::off_t::try_from(size)) else { return };
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the descriptor is open for as long as `self`, and the call takes no pointers. Where the file is open
        // for reading alone or the file system can't, the place stays taken until the session ends.
        unsafe { libc::fallocate(self.file.as_raw_fd(), how, from, size) };
    }
}

struct ProfilerReader {
    recorder: Recorder,
    node: String,
    target: Target,
    library: &'static [u8],
    interval_ns: i64,
    options: StackOptions,
    /// The ticks that trigger samples; None if the profiler's own clocks do.
    ticks: Option<Ticks>,
    names: ThreadNames,
    events: Events,
    stacks: KnownStacks,
    captured: i64,
}

impl ProfilerReader {
    /// Starts the profiler, and the clocks that trigger its samples.
    fn begin(&mut self) -> Result<Session, String> {
        // Without ticks, the profiler samples by its own clocks, which costs more.
        self.ticks = self.options.stacks.cpu.then(|| Ticks::load(&self.target).ok()).flatten();
        let session = Session::begin(&self.target, self.library, &self.options.command(self.clock()))?;
        let Some(ticks) = &mut self.ticks else { return Ok(session) };
        if ticks.attach(&self.target, self.options.stack_interval).is_ok() {
            return Ok(session);
        }
        self.ticks = None;
        self.stop_profiler();
        Session::begin(&self.target, self.library, &self.options.command(self.clock()))
    }

    fn clock(&self) -> Clock {
        if self.ticks.is_some() { Clock::Cpus } else { Clock::Threads }
    }

    fn note(&self) -> String {
        let command = self.options.command(self.clock());
        match self.clock() {
            Clock::Cpus => {
                format!("{command}, monotonic clock; a signal every {:?} of a CPU's time", self.options.stack_interval)
            }
            Clock::Threads => format!("{command}, monotonic clock"),
        }
    }

    fn run(mut self, session: Session, instructions: &Instructions) {
        let mut session = Some(session);
        let (mut reported, mut reported_ns) = (Instant::now(), self.recorder.clock().now_ns());
        let mut cpu_ns = cpu_time_of_this_thread_ns();
        loop {
            let instruction = instructions.wait(POLL_EVERY);
            let over = instruction.is_stop();
            if over {
                self.ticks.iter_mut().for_each(Ticks::detach);
                self.stop_profiler();
            }
            if let Some(open) = &mut session
                && let Err(reason) = self.take(open)
            {
                self.degrade(&reason);
                session = None;
            }
            if instruction.is_last() || reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                let (now_ns, now_cpu_ns) = (self.recorder.clock().now_ns(), cpu_time_of_this_thread_ns());
                let (lost, lost_reason) = self.lost(over);
                self.recorder.append(SourceReport {
                    time_ns: now_ns,
                    interval_ns: now_ns - reported_ns,
                    source: SOURCE,
                    node: &self.node,
                    provider: PROVIDER,
                    captured: std::mem::take(&mut self.captured),
                    lost: i64::try_from(lost).unwrap_or(i64::MAX),
                    lost_reason: &lost_reason,
                    cpu_ns: Some(now_cpu_ns - cpu_ns),
                });
                (reported_ns, cpu_ns) = (now_ns, now_cpu_ns);
            }
            if let Instruction::Continue(next) = instruction {
                // Samples of the chunk that is being written go into the next recording, together with that chunk.
                self.recorder = next.begin();
                self.stacks.begin_recording();
            }
            let ended = !self.target.is_alive();
            if ended && session.as_ref().is_some_and(Session::is_cut_off) {
                self.degrade("the node ended, and the last seconds of them are lost with it");
            }
            if over || ended {
                return;
            }
            if session.as_ref().is_some_and(|session| session.begun.elapsed() >= SESSION) {
                session = self.begin_anew(session.take());
            }
        }
    }

    fn begin_anew(&mut self, session: Option<Session>) -> Option<Session> {
        self.stop_profiler();
        if let Some(mut session) = session
            && let Err(reason) = self.take(&mut session)
        {
            self.degrade(&reason);
        }
        match Session::begin(&self.target, self.library, &self.options.command(self.clock())) {
            Ok(session) => Some(session),
            Err(reason) => {
                self.degrade(&reason);
                self.ticks = None;
                None
            }
        }
    }

    /// Ticks without a sample. At the end the remaining ticks get no sample either.
    fn lost(&mut self, over: bool) -> (u64, String) {
        let clock = self.recorder.clock();
        let now_ns = if over { i64::MAX } else { clock.now_ns() - clock.epoch_offset_ns() };
        self.ticks.as_mut().map_or((0, String::new()), |ticks| ticks.lost(now_ns))
    }

    fn stop_profiler(&self) {
        // Ignore the error: if the target has ended there is no profiler, and a profiler that can't be reached ends by
        // itself.
        let _ = attach::load_native(&self.target, self.library, "stop,loglevel=none");
    }

    /// Reads all complete chunks.
    fn take(&mut self, session: &mut Session) -> Result<(), String> {
        // Ticks are read even if there is no chunk, because their buffer is small.
        self.ticks.iter().for_each(Ticks::read);
        // The loop is bounded even if chunks keep coming, because the source may have to stop.
        let enough = session.read.saturating_add(LARGEST_CHUNK_BYTES);
        while session.read < enough
            && let Some(chunk) = session.next_chunk().map_err(|error| format!("the profiler's file: {error}"))?
        {
            // Read the ticks after the chunk, so that the tick of each of its samples is known.
            self.ticks.iter().for_each(Ticks::read);
            self.append(&chunk).map_err(|error| format!("the profiler's file: {error}"))?;
        }
        Ok(())
    }

    fn append(&mut self, chunk: &[u8]) -> Result<(), Malformed> {
        let clock = self.recorder.clock();
        // If ticks of the CPUs trigger the samples, the profiler's settings do not have the interval.
        jfr::ChunkSamples::read(chunk)?.each(|sample, frames| {
            let ticks = self.ticks.as_ref().filter(|_| sample.event == SampleEvent::Cpu);
            let kernel = ticks.map_or_else(Vec::new, |ticks| ticks.of(sample.tid, sample.time_ns));
            let mut key = vec![sample.stack.cast_unsigned()];
            key.extend(&kernel);
            let stack = self.stacks.try_number(key, sample.time_ns, |_| {
                let mut frames = Frames::clone(&*frames()?);
                ticks.inspect(|ticks| ticks.name(&mut frames, &kernel));
                Ok::<_, Malformed>(frames)
            })?;
            self.stacks.append(&self.recorder);
            let time_ns = clock.from_monotonic_ns(sample.time_ns);
            // The kernel cuts names off; the agent may know the full name.
            let full = self.names.full(sample.tid, &sample.thread);
            let thread = full.as_deref().unwrap_or(&sample.thread);
            let group = if full.is_some() { thread_group(thread).to_string() } else { self.names.group(thread) };
            self.recorder.append(StackSample {
                time_ns,
                node: &self.node,
                event: sample.event.name(),
                weight: match sample.event {
                    SampleEvent::Cpu | SampleEvent::Wall | SampleEvent::Native | SampleEvent::Counted => {
                        sample.count.saturating_mul(self.interval_ns)
                    }
                    SampleEvent::Alloc
                    | SampleEvent::Live
                    | SampleEvent::Lock
                    | SampleEvent::Malloc
                    | SampleEvent::Method
                    | SampleEvent::NativeLock => sample.weight.unwrap_or_default(),
                },
                tid: sample.tid,
                thread,
                thread_group: &group,
                stack,
            });
            self.captured += 1;
            Ok(())
        })?;
        Ok(())
    }

    fn degrade(&self, reason: &str) {
        let reason = format!("no more stacks: {reason}");
        say(&self.events, Event::Degraded { node: self.node.clone(), source: SOURCE, reason });
    }
}

/// The begin of the names of the files that profilers write for this process. By it the agent knows which profiler to stop
/// when this process was killed.
pub(crate) fn profiler_files() -> &'static str {
    static FILES: OnceLock<String> = OnceLock::new();
    FILES.get_or_init(|| format!(".helenus-stacks-{:016x}-", unguessable()))
}

/// A random number, so that nobody can have created the file before.
fn unguessable() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_that_claims_the_size_of_a_sparse_file_is_not_read() {
        let file = tempfile::tempfile().unwrap();
        let claimed: u64 = 200 << 30;
        file.set_len(claimed).unwrap();
        file.write_all_at(b"FLR\0", 0).unwrap();
        file.write_all_at(&claimed.to_be_bytes(), 8).unwrap();
        let mut session = Session { file, read: 0, begun: Instant::now(), warnings: Vec::new() };
        let error = session.next_chunk().unwrap_err().to_string();
        assert!(error.contains(&claimed.to_string()), "{error}");
    }
}
