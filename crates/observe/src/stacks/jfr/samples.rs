//! The samples in a chunk, and the stacks that they refer to.

use super::format::{Chunk, Malformed, Value};
use crate::stacks::Frames;
use std::collections::{HashMap, HashSet};

/// What a file says of a moment of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// On the clock that the file was recorded with.
    pub time_ns: i64,
    pub event: SampleEvent,
    /// Nanoseconds of a lock or of CPU time, bytes of an allocation; None where a sample stands for intervals.
    pub weight: Option<i64>,
    /// Intervals that it stands for.
    pub count: i64,
    pub tid: i64,
    pub thread: String,
    /// Position among the stacks of its chunk.
    pub stack: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleEvent {
    Cpu,
    Wall,
    Alloc,
    Lock,
    /// In native code, whether it ran or waited there.
    Native,
}

impl SampleEvent {
    /// As in the column `event` of the table `samples`.
    pub fn name(self) -> &'static str {
        match self {
            SampleEvent::Cpu => "cpu",
            SampleEvent::Wall => "wall",
            SampleEvent::Alloc => "alloc",
            SampleEvent::Lock => "lock",
            SampleEvent::Native => "native",
        }
    }

    fn of(class: &str) -> Option<SampleEvent> {
        Some(match class {
            "jdk.ExecutionSample" | CPU_TIME_SAMPLE => SampleEvent::Cpu,
            "jdk.NativeMethodSample" => SampleEvent::Native,
            "profiler.WallClockSample" => SampleEvent::Wall,
            "jdk.ObjectAllocationInNewTLAB" | "jdk.ObjectAllocationOutsideTLAB" | "jdk.ObjectAllocationSample" => {
                SampleEvent::Alloc
            }
            "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => SampleEvent::Lock,
            _ => return None,
        })
    }
}

/// What one chunk holds.
#[derive(Debug, Default)]
pub struct Samples {
    pub samples: Vec<Sample>,
    pub stacks: Vec<Frames>,
    /// To be added to the samples' times for nanoseconds since the Unix epoch.
    pub epoch_offset_ns: i64,
    /// Whether a tick of the file's clock is a nanosecond, as on CLOCK_MONOTONIC.
    pub ticks_are_ns: bool,
    /// What a sample of an event stands for, where the chunk says so.
    pub intervals_ns: HashMap<&'static str, i64>,
    /// Samples that the one who recorded says were lost.
    pub lost: u64,
    /// Samples without a stack, which say nothing.
    pub without_stack: u64,
    /// Execution samples that were left out, since the chunk has exact ones of the same CPU time.
    pub superseded: u64,
    /// Ids of the classes of samples.
    pub classes: HashSet<i64>,
}

/// Of JDK 25 and later: each stands for the CPU time that it names.
const CPU_TIME_SAMPLE: &str = "jdk.CPUTimeSample";

/// Reads a whole chunk.
pub fn read_chunk(bytes: &[u8]) -> Result<Samples, Malformed> {
    let chunk = Chunk::read(bytes)?;
    let mut reading = Reading { chunk: &chunk, samples: Samples::default(), positions: HashMap::new() };
    let mut exact = false;
    chunk.each_event(|class, mut reader| {
        let event = SampleEvent::of(&class.name);
        let is_setting = class.name == "jdk.ActiveSetting";
        let is_loss = class.name == "jdk.CPUTimeSamplesLost";
        if event.is_none() && !is_setting && !is_loss {
            return Ok(());
        }
        let value = chunk.object(class, &mut reader, 0)?;
        if is_setting {
            reading.set(&value);
        }
        if is_loss {
            let lost = value.field("lostSamples").and_then(Value::number).unwrap_or_default();
            reading.samples.lost = reading.samples.lost.saturating_add(u64::try_from(lost).unwrap_or_default());
        }
        if let Some(event) = event {
            exact |= class.name == CPU_TIME_SAMPLE;
            reading.add(event, &value);
        }
        Ok(())
    })?;
    let mut samples = reading.samples;
    if exact {
        let all = samples.samples.len();
        samples.samples.retain(|sample| sample.event != SampleEvent::Cpu || sample.weight.is_some());
        samples.superseded = (all - samples.samples.len()) as u64;
    }
    samples.epoch_offset_ns = chunk.epoch_offset_ns();
    samples.ticks_are_ns = chunk.ticks_are_ns();
    samples.classes = chunk.ids(|name| SampleEvent::of(name).is_some());
    Ok(samples)
}

struct Reading<'a> {
    chunk: &'a Chunk<'a>,
    samples: Samples,
    /// Of stacks that were made already, by their number in the file.
    positions: HashMap<i64, usize>,
}

impl Reading<'_> {
    /// Takes a setting where it says how often samples are taken.
    fn set(&mut self, value: &Value) {
        let text = |name| value.field(name).and_then(|text| self.chunk.text(text));
        let (Some(name), Some(set)) = (text("name"), text("value")) else { return };
        let class = value.field("id").and_then(Value::number).and_then(|id| self.chunk.class_name(id));
        let (Some(event), Some(ns)) = (class.and_then(SampleEvent::of), duration_ns(set)) else { return };
        if matches!(name, "interval" | "period" | "wall") && ns > 0 {
            self.samples.intervals_ns.insert(event.name(), ns);
        }
    }

    fn add(&mut self, event: SampleEvent, value: &Value) {
        let chunk = self.chunk;
        let Some(&Value::Reference(_, number)) = value.field("stackTrace") else {
            self.samples.without_stack += 1;
            return;
        };
        let stack = match self.positions.get(&number) {
            Some(position) => *position,
            None => {
                let Some(frames) = chunk.frames(value.field("stackTrace")) else {
                    self.samples.without_stack += 1;
                    return;
                };
                self.samples.stacks.push(frames);
                self.positions.insert(number, self.samples.stacks.len() - 1);
                self.samples.stacks.len() - 1
            }
        };
        let thread = value.field("sampledThread").or(value.field("eventThread"));
        let thread = thread.and_then(|thread| chunk.resolve(thread));
        let text = |name| thread.and_then(|thread| chunk.text(thread.field(name)?)).unwrap_or_default();
        let number = |name: &str| value.field(name).and_then(Value::number);
        let (java_name, own_name) = (text("javaName"), text("osName"));
        self.samples.samples.push(Sample {
            time_ns: chunk.ticks_ns(number("startTime").unwrap_or_default()),
            event,
            weight: match event {
                SampleEvent::Cpu => number("samplingPeriod").map(|ticks| chunk.ticks_ns(ticks)),
                SampleEvent::Wall | SampleEvent::Native => None,
                SampleEvent::Alloc => number("tlabSize").or(number("allocationSize")).or(number("weight")),
                SampleEvent::Lock => number("duration").map(|ticks| chunk.ticks_ns(ticks)),
            },
            count: number("samples").unwrap_or(1),
            tid: thread.and_then(|thread| thread.field("osThreadId")?.number()).unwrap_or_default(),
            thread: if java_name.is_empty() { own_name } else { java_name }.to_string(),
            stack,
        });
    }
}

impl Chunk<'_> {
    /// The frames of a stack, which the file has from the innermost to the outermost.
    fn frames(&self, stack: Option<&Value>) -> Option<Frames> {
        let Some(Value::List(listed)) = self.resolve(stack?)?.field("frames") else { return None };
        let mut frames = Frames::default();
        for frame in listed.iter().rev() {
            let method = frame.field("method").and_then(|method| self.resolve(method));
            let class =
                method.and_then(|method| self.resolve(method.field("type")?)).and_then(|class| class.field("name"));
            let class = class.and_then(|name| self.text(name)).unwrap_or_default();
            let name = method.and_then(|method| self.text(method.field("name")?)).unwrap_or("unknown");
            let kind =
                frame.field("type").and_then(|kind| self.resolve(kind)).and_then(|kind| kind.field("description"));
            let kind = kind_of(kind.and_then(|kind| self.text(kind)).unwrap_or_default());
            let is_java = matches!(kind, 'j' | 'l' | '1' | 'i');
            let class = if is_java { class.replace('/', ".") } else { class.to_string() };
            match class.is_empty() {
                true => frames.push(name, kind),
                false => frames.push(&format!("{class}.{name}"), kind),
            }
        }
        Some(frames)
    }
}

/// As settings have it: `20 ms`, or nanoseconds without a unit.
fn duration_ns(text: &str) -> Option<i64> {
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), "ns"));
    let unit_ns = match unit.trim() {
        "ns" => 1,
        "us" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ns)
}

fn kind_of(description: &str) -> char {
    match description {
        "JIT compiled" => 'j',
        "Inlined" => 'l',
        "C1 compiled" => '1',
        "Interpreted" => 'i',
        "C++" => 'c',
        "Kernel" => 'k',
        _ => 'n',
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk_size;
    use super::*;
    use proptest::prelude::*;

    /// Three seconds of a real node under a small load, recorded by the profiler itself.
    const RECORDED: &[u8] = include_bytes!("../../../../../fixtures/stacks.jfr");

    fn chunks() -> Vec<Samples> {
        let (mut left, mut chunks) = (RECORDED, Vec::new());
        while let Some(size) = chunk_size(left).unwrap() {
            chunks.push(read_chunk(&left[..size]).unwrap());
            left = &left[size..];
        }
        assert!(left.is_empty());
        chunks
    }

    #[test]
    fn a_real_file_is_read_whole() {
        let chunks = chunks();
        let samples: Vec<&Sample> = chunks.iter().flat_map(|chunk| &chunk.samples).collect();
        // As many as `jfr summary` counts.
        assert_eq!(samples.len(), 64);
        assert!(samples.iter().all(|sample| sample.event == SampleEvent::Cpu && sample.tid > 0));
        assert!(samples.iter().any(|sample| sample.thread.starts_with("Native-Transport-Requests-")));
        let stacks: Vec<&Frames> = chunks.iter().flat_map(|chunk| &chunk.stacks).collect();
        assert!(stacks.iter().all(|stack| stack.names.split(';').count() == stack.kinds.len()));
        let outermost = "java.lang.Thread.run;";
        let executor = "org.apache.cassandra.concurrent.SEPWorker.run";
        assert!(stacks.iter().any(|stack| stack.names.contains(outermost) && stack.names.contains(executor)));
        assert!(stacks.iter().any(|stack| stack.kinds.ends_with('k')), "the kernel is seen");
        // In order of time, within three seconds and some.
        let times: Vec<i64> = samples.iter().map(|sample| sample.time_ns).collect();
        let span_ns = times.iter().max().unwrap() - times.iter().min().unwrap();
        assert!((1_000_000_000..10_000_000_000).contains(&span_ns), "{span_ns}");
    }

    #[test]
    fn what_is_cut_off_is_waited_for() {
        let size = chunk_size(RECORDED).unwrap().unwrap();
        assert_eq!(chunk_size(&RECORDED[..size - 1]), Ok(None));
        assert_eq!(chunk_size(&RECORDED[..20]), Ok(None));
        assert!(chunk_size(&[b'x'; 100]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_bytes_can_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
            let size = chunk_size(RECORDED).unwrap().unwrap();
            let mut bytes = RECORDED[..size].to_vec();
            for (at, value) in flips {
                bytes[at.index(size)] = value;
            }
            if let Ok(Some(size)) = chunk_size(&bytes) {
                let _ = read_chunk(&bytes[..size]);
            }
        }
    }
}
