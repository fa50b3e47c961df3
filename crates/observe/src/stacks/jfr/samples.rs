//! The samples in a chunk, and the stacks that they refer to.

use super::bytes::Malformed;
use super::format::{Chunk, Object};
use super::settings::{
    ALLOCATION_SAMPLE, CPU_TIME_SAMPLE, DATADOG_CONFIG, EXECUTION_SAMPLE, IN_NEW_TLAB, OUTSIDE_TLAB, Settings,
};
use super::stacks::{StackKey, Stacks, name};
use crate::stacks::Frames;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// The most bytes of a thread's name; real names are shorter.
const LONGEST_NAME: usize = 512;
/// The most threads whose names are kept in memory.
const THREADS_KEPT: usize = 1 << 14;
/// The most bytes of the name of an event that is left out.
const LONGEST_EVENT: usize = 100;

pub(super) const METHOD_TRACE: &str = "jdk.MethodTrace";
const METHOD_TIMING: &str = "jdk.MethodTiming";
const CPU_TIME_LOST: &str = "jdk.CPUTimeSamplesLost";

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
    /// An object that was alive when the recording ended.
    Live,
    Lock,
    /// A lock of native code, such as a mutex.
    NativeLock,
    /// Memory that native code allocated.
    Malloc,
    /// A call of a traced method.
    Method,
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
            SampleEvent::Live => "live",
            SampleEvent::Lock => "lock",
            SampleEvent::NativeLock => "native-lock",
            SampleEvent::Malloc => "malloc",
            SampleEvent::Method => "method",
            SampleEvent::Native => "native",
            SampleEvent::Counted => "counted",
        }
    }

    pub(super) fn of(class: &str) -> Option<SampleEvent> {
        Some(match class {
            EXECUTION_SAMPLE | CPU_TIME_SAMPLE | "datadog.ExecutionSample" => SampleEvent::Cpu,
            "jdk.NativeMethodSample" => SampleEvent::Native,
            "profiler.WallClockSample" | "datadog.MethodSample" => SampleEvent::Wall,
            IN_NEW_TLAB | OUTSIDE_TLAB | ALLOCATION_SAMPLE | "datadog.ObjectSample" => SampleEvent::Alloc,
            "profiler.LiveObject" | "datadog.HeapLiveObject" => SampleEvent::Live,
            "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => SampleEvent::Lock,
            "profiler.NativeLock" => SampleEvent::NativeLock,
            "profiler.Malloc" => SampleEvent::Malloc,
            METHOD_TRACE => SampleEvent::Method,
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
            let is_setting = name.starts_with("jdk.Active") || name == DATADOG_CONFIG;
            if SampleEvent::of(name).is_some() || is_setting {
                event.check()?;
                settings.take(&chunk, name, event);
            }
            if name == CPU_TIME_LOST {
                event.check()?;
                lost = lost.saturating_add_signed(event.number("lostSamples").unwrap_or_default().max(0));
            }
            Ok(())
        })?;
        Ok(ChunkSamples {
            epoch_offset_ns: chunk.epoch_offset_ns(),
            ticks_are_ns: chunk.ticks_are_ns(),
            intervals: settings.intervals(),
            lost,
            classes: chunk.ids(|name| SampleEvent::of(name).is_some() && !settings.is_superseded(name)),
            chunk,
            settings,
        })
    }

    /// The perf event, or the method, that triggers the samples.
    pub fn counted(&self) -> Option<&str> {
        self.settings.counted()
    }

    /// Calls `take` with each sample and a decoder for its stack. Returns what was skipped.
    pub fn each<E: From<Malformed>>(
        &self,
        mut take: impl FnMut(&Sample, &mut dyn FnMut() -> Result<Rc<Frames>, Malformed>) -> Result<(), E>,
    ) -> Result<LeftOut, E> {
        let (mut stacks, mut threads) = (Stacks::new(&self.chunk), Threads::default());
        let (mut left_out, mut taken) = (LeftOut::default(), Ok(()));
        let mut others: HashMap<i64, u64> = HashMap::new();
        self.chunk.each_event(|class, event| {
            let reference = |name: &str| event.get(name).and_then(|item| item.reference());
            let stack = reference("stackTrace");
            let Some(of) = self.settings.event(&class.name, event).filter(|_| self.classes.contains(&class.id)) else {
                let has_stack = stack.is_some_and(|stack| self.chunk.object(stack).is_some());
                if has_stack && !class.name.starts_with("jdk.Active") {
                    *others.entry(class.id).or_default() += 1;
                }
                return Ok(());
            };
            let method = reference("method").filter(|_| of == SampleEvent::Method);
            let key = stack.or(method.map(|_| (0, 0))).map(|stack| StackKey { stack, method });
            let number = key.map(|key| stacks.number(key)).transpose()?.flatten();
            let (Some(key), Some(number)) = (key, number) else {
                left_out.without_stack += 1;
                return Ok(());
            };
            let sample = self.sample(of, event, threads.of(event), number);
            let mut frames = || stacks.frames(key)?.ok_or(Malformed("a stack that is not there"));
            if taken.is_ok() {
                taken = take(&sample, &mut frames);
            }
            Ok(())
        })?;
        for (class, count) in others {
            let name = self.chunk.class_name(class).unwrap_or_default();
            let name = &name[..name.floor_char_boundary(LONGEST_EVENT)];
            *left_out.others.entry(name.to_string()).or_default() += count;
        }
        taken.map(|()| left_out)
    }

    /// Calls `take` with each timing of a method: the method, the time on the file's clock, the number of its calls since the
    /// recording began, and their sum in nanoseconds.
    pub fn each_timing(&self, mut take: impl FnMut(&str, i64, i64, i64)) -> Result<(), Malformed> {
        self.chunk.each_event(|class, event| {
            if class.name == METHOD_TIMING {
                event.check()?;
                let method = name(event.get("method").and_then(|method| method.object()), true);
                let number = |name| event.number(name).unwrap_or_default().max(0);
                let calls = number("invocations");
                // Without a call, the average is a negative number.
                let sum_ns = self.chunk.ticks_ns(number("average")).saturating_mul(calls);
                take(&method, self.chunk.ticks_ns(number("startTime")), calls, sum_ns);
            }
            Ok(())
        })
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
                SampleEvent::Alloc | SampleEvent::Live | SampleEvent::Malloc => {
                    let sampled = || Some((bytes("size")? as f64 * f64::from(event.get("weight")?.float()?)) as i64);
                    let bytes = bytes("tlabSize").or_else(|| bytes("allocationSize")).or_else(|| bytes("weight"));
                    bytes.or_else(sampled).or_else(|| event.number("size"))
                }
                SampleEvent::Lock | SampleEvent::NativeLock | SampleEvent::Method => {
                    event.number("duration").map(|ticks| chunk.ticks_ns(ticks))
                }
            },
            count: event.number("samples").or_else(|| event.number("weight")).unwrap_or(1),
            tid,
            thread,
            stack,
        }
    }
}

/// The events of a chunk that have a stack, or should have one, and are not taken.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Samples without a stack.
    pub without_stack: u64,
    /// Events of other classes that have a stack: their number by class.
    pub others: BTreeMap<String, u64>,
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
