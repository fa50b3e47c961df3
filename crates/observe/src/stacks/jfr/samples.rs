//! The samples in a chunk, and the stacks that they refer to.

use super::bytes::Malformed;
use super::format::{Chunk, Object};
use super::settings::{ALLOCATION_SAMPLE, CPU_TIME_SAMPLE, EXECUTION_SAMPLE, IN_NEW_TLAB, OUTSIDE_TLAB, Settings};
use super::stacks::Stacks;
use crate::stacks::Frames;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The most bytes of a thread's name; real names are shorter.
const LONGEST_NAME: usize = 512;
/// The most threads whose names are kept in memory.
const THREADS_KEPT: usize = 1 << 14;

/// A sample: the state of a thread at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Time on the clock that the file was recorded with.
    pub time_ns: i64,
    pub event: SampleEvent,
    /// Weight: nanoseconds of a lock or of CPU time, bytes of an allocation; None if the sample represents intervals.
    pub weight: Option<i64>,
    /// Number of intervals that the sample represents.
    pub count: i64,
    pub tid: i64,
    pub thread: Rc<str>,
    /// The number of its stack in recordings.
    pub stack: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SampleEvent {
    Cpu,
    Wall,
    Alloc,
    Lock,
    /// A thread in native code, which may be running or waiting there.
    Native,
    /// A sample triggered by something other than time; [`ChunkSamples::counted`] has its name.
    Counted,
}

impl SampleEvent {
    /// The name in the column `event` of the table `samples`; for `Counted` the chunk has it.
    pub fn name(self) -> &'static str {
        match self {
            SampleEvent::Cpu => "cpu",
            SampleEvent::Wall => "wall",
            SampleEvent::Alloc => "alloc",
            SampleEvent::Lock => "lock",
            SampleEvent::Native => "native",
            SampleEvent::Counted => "counted",
        }
    }

    pub(super) fn of(class: &str) -> Option<SampleEvent> {
        Some(match class {
            EXECUTION_SAMPLE | CPU_TIME_SAMPLE => SampleEvent::Cpu,
            "jdk.NativeMethodSample" => SampleEvent::Native,
            "profiler.WallClockSample" => SampleEvent::Wall,
            IN_NEW_TLAB | OUTSIDE_TLAB | ALLOCATION_SAMPLE => SampleEvent::Alloc,
            "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => SampleEvent::Lock,
            _ => return None,
        })
    }
}

/// A complete chunk, and its settings for sampling.
#[derive(Debug)]
pub struct ChunkSamples<'a> {
    chunk: Chunk<'a>,
    settings: Settings,
    /// Nanoseconds to add to the samples' times to get times since the Unix epoch.
    pub epoch_offset_ns: i64,
    /// Whether a tick of the file's clock is a nanosecond, as on CLOCK_MONOTONIC.
    pub ticks_are_ns: bool,
    /// Nanoseconds, or number of events, that a sample represents; None if the chunk does not have the interval.
    pub intervals: HashMap<SampleEvent, i64>,
    /// Lost samples, as the file reports them.
    pub lost: u64,
    /// Sample classes that were left out, because other classes have the same samples.
    pub superseded: Vec<&'static str>,
    /// Ids of the sample classes to import.
    pub classes: HashSet<i64>,
}

impl<'a> ChunkSamples<'a> {
    /// Reads the settings of a whole chunk.
    pub fn read(bytes: &'a [u8]) -> Result<ChunkSamples<'a>, Malformed> {
        let chunk = Chunk::read(bytes)?;
        let (mut settings, mut lost) = (Settings::default(), 0u64);
        chunk.each_event(|class, event| {
            let name = class.name.as_str();
            if SampleEvent::of(name).is_some() || name.starts_with("jdk.Active") {
                event.check()?;
                settings.take(&chunk, name, event);
            }
            if name == "jdk.CPUTimeSamplesLost" {
                event.check()?;
                lost = lost.saturating_add_signed(event.number("lostSamples").unwrap_or_default().max(0));
            }
            Ok(())
        })?;
        let superseded = [EXECUTION_SAMPLE, ALLOCATION_SAMPLE, IN_NEW_TLAB, OUTSIDE_TLAB];
        let superseded = superseded.into_iter().filter(|class| settings.is_superseded(class)).collect();
        Ok(ChunkSamples {
            epoch_offset_ns: chunk.epoch_offset_ns(),
            ticks_are_ns: chunk.ticks_are_ns(),
            intervals: settings.intervals(),
            lost,
            superseded,
            classes: chunk.ids(|name| SampleEvent::of(name).is_some() && !settings.is_superseded(name)),
            chunk,
            settings,
        })
    }

    /// The perf event, or the method, that triggers the samples.
    pub fn counted(&self) -> Option<&str> {
        self.settings.counted()
    }

    /// Calls `take` with each sample and a decoder for its stack. Returns the number of samples that were skipped
    /// because they have no stack.
    pub fn each<E: From<Malformed>>(
        &self,
        mut take: impl FnMut(&Sample, &mut dyn FnMut() -> Result<Rc<Frames>, Malformed>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (mut stacks, mut threads) = (Stacks::new(&self.chunk), Threads::default());
        let (mut without_stack, mut taken) = (0, Ok(()));
        self.chunk.each_event(|class, event| {
            let Some(of) = self.settings.event(&class.name, event).filter(|_| self.classes.contains(&class.id)) else {
                return Ok(());
            };
            let reference = event.get("stackTrace").and_then(|stack| stack.reference());
            let stack = reference.map(|reference| stacks.number(reference)).transpose()?.flatten();
            let (Some(reference), Some(stack)) = (reference, stack) else {
                without_stack += 1;
                return Ok(());
            };
            let sample = self.sample(of, event, threads.of(event), stack);
            let mut frames = || stacks.frames(reference)?.ok_or(Malformed("a stack that is not there"));
            if taken.is_ok() {
                taken = take(&sample, &mut frames);
            }
            Ok(())
        })?;
        taken.map(|()| without_stack)
    }

    fn sample(&self, of: SampleEvent, event: Object<'_>, (tid, thread): (i64, Rc<str>), stack: i64) -> Sample {
        let chunk = &self.chunk;
        let bytes = |name| event.number(name).filter(|bytes| *bytes != 0);
        Sample {
            time_ns: chunk.ticks_ns(event.number("startTime").unwrap_or_default()),
            event: of,
            weight: match of {
                SampleEvent::Cpu => event.number("samplingPeriod").map(|ticks| chunk.ticks_ns(ticks)),
                SampleEvent::Wall | SampleEvent::Native | SampleEvent::Counted => None,
                SampleEvent::Alloc => bytes("tlabSize").or(bytes("allocationSize")).or(bytes("weight")),
                SampleEvent::Lock => event.number("duration").map(|ticks| chunk.ticks_ns(ticks)),
            },
            count: event.number("samples").unwrap_or(1),
            tid,
            thread,
            stack,
        }
    }
}

/// Ids and names of threads, by the threads' numbers in the file.
#[derive(Default)]
struct Threads {
    known: HashMap<i64, (i64, Rc<str>)>,
}

impl Threads {
    fn of(&mut self, event: Object<'_>) -> (i64, Rc<str>) {
        let Some(item) = event.get("sampledThread").or_else(|| event.get("eventThread")) else {
            return (0, Rc::from(""));
        };
        let number = item.reference().map(|(_, number)| number);
        if let Some((tid, name)) = number.and_then(|number| self.known.get(&number)) {
            return (*tid, Rc::clone(name));
        }
        let text = |name| item.object().and_then(|thread| thread.text(name)).unwrap_or_default();
        let (java_name, own_name) = (text("javaName"), text("osName"));
        let name = if java_name.is_empty() { own_name } else { java_name };
        let tid = item.object().and_then(|thread| thread.number("osThreadId")).unwrap_or_default();
        let thread = (tid, Rc::from(&name[..name.floor_char_boundary(LONGEST_NAME)]));
        if let Some(number) = number {
            if self.known.len() >= THREADS_KEPT {
                self.known.clear();
            }
            self.known.insert(number, thread.clone());
        }
        thread
    }
}
