//! Samples of a JFR file, chunk by chunk.

use super::{Error, ImportOptions, Sink, TimeAlignment};
use crate::stacks::Frames;
use crate::stacks::jfr::{ChunkSamples, HEADER, LARGEST_CHUNK, SampleEvent, announced_size, count_events};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

/// The assumed sampling interval if neither the file nor the user gives one.
const ASSUMED_INTERVAL_NS: i64 = 10_000_000;
/// The number of bytes that are read at a time.
const STEP: u64 = 8 << 20;

/// The most methods whose timings are kept.
const MOST_TIMED: usize = 10_000;
/// The most classes of events that a note names.
const MOST_NAMED: usize = 8;
/// The event of [`Known::timings`].
const METHOD_TIMING: &str = "method-timing";

const CUT_OFF: &str = "the last chunk is cut off: the profiler still writes it, or was killed, or the file was not copied \
                       whole; end the recording (`asprof stop PID`, `jcmd PID JFR.stop`), and import its file again";

/// Facts known from the chunks before the current one.
#[derive(Default)]
struct Known {
    intervals: HashMap<SampleEvent, i64>,
    /// Ids of the sample classes, used to count the samples of a chunk that can't be decoded.
    classes: HashSet<i64>,
    /// Nanoseconds added to times, if the user gave the time of the first sample.
    shift_ns: Option<i64>,
    /// Events that have a stack and are left out: their number by class.
    left_out: BTreeMap<String, u64>,
    /// The last timing of each traced method: when it was told, and the sum of its calls in nanoseconds. They count from the
    /// start of the recording.
    timings: BTreeMap<String, (i64, i64)>,
}

pub(super) fn read(from: impl Read, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let mut known = Known::default();
    read_chunks(from, &mut known, options, sink)?;
    for (method, (time_ns, sum_ns)) in std::mem::take(&mut known.timings) {
        let mut frames = Frames::default();
        frames.push(&method, 'j');
        sink.add(time_ns, METHOD_TIMING, sum_ns, (0, ""), frames.number(), || Ok::<_, Error>(&frames))?;
    }
    tell_left_out(&known.left_out, sink);
    Ok(())
}

/// Refuses the format of JDK 7 and 8, which has another layout.
fn refuse_old(head: &[u8]) -> Result<(), Error> {
    match head {
        [b'F', b'L', b'R', 0, 0, 0, minor @ ..] if minor.len() >= 2 => Err(Error::Other(format!(
            "it has the old format 0.{} of JFR, which Oracle's JDK 7 and 8 write. Record with OpenJDK 8u262 or later, or with \
             async-profiler; JDK Mission Control opens this file",
            u16::from_be_bytes([minor[0], minor[1]])
        ))),
        _ => Ok(()),
    }
}

fn read_chunks(
    mut from: impl Read,
    known: &mut Known,
    options: &ImportOptions,
    sink: &mut Sink<'_>,
) -> Result<(), Error> {
    for number in 1u64.. {
        let mut chunk = Vec::new();
        from.by_ref().take(HEADER as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(());
        }
        if number == 1 {
            refuse_old(&chunk)?;
        }
        let size = match announced_size(&chunk) {
            Ok(size) => size,
            Err(error) if number == 1 => return Err(error.into()),
            Err(error) => {
                sink.lose_uncounted(&format!("what follows chunk {} is not read: {error}", number - 1));
                return Ok(());
            }
        };
        // An unfinished chunk without a size extends to the end of the file; the samples in it are only counted.
        let rest = size.map_or(LARGEST_CHUNK, |size| (size - HEADER) as u64);
        read_on(&mut from, rest, &mut chunk)?;
        if size != Some(chunk.len()) {
            lose_chunk(&chunk, known, CUT_OFF, 0, sink);
            return Ok(());
        }
        let before = sink.samples();
        match ChunkSamples::read(&chunk).map_err(Error::from).and_then(|read| take(&read, known, options, sink)) {
            Ok(()) => {}
            Err(Error::Malformed(error)) => {
                let taken = sink.samples() - before;
                lose_chunk(&chunk, known, &format!("chunk {number} is broken ({error})"), taken, sink);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads up to `bytes` more, without reserving memory for more than the file has.
fn read_on(from: &mut impl Read, bytes: u64, chunk: &mut Vec<u8>) -> Result<(), Error> {
    let mut left = bytes;
    while left > 0 {
        let step = left.min(STEP);
        chunk.reserve_exact(step as usize);
        let read = from.by_ref().take(step).read_to_end(chunk)? as u64;
        left -= read;
        if read < step {
            break;
        }
    }
    Ok(())
}

/// Counts the samples of a chunk that were not imported as lost.
fn lose_chunk(chunk: &[u8], known: &Known, reason: &str, taken: u64, sink: &mut Sink<'_>) {
    match count_events(chunk, &known.classes).saturating_sub(taken) {
        0 => sink.lose_uncounted(reason),
        samples => sink.lose(samples, reason),
    }
}

fn take(read: &ChunkSamples<'_>, known: &mut Known, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    known.intervals.extend(&read.intervals);
    known.classes.extend(&read.classes);
    if read.lost > 0 {
        sink.lose(read.lost, "the JVM lost them itself while it recorded");
    }
    if options.place == TimeAlignment::ThisBoot && !read.ticks_are_ns {
        return Err(Error::Other(
            "its times are not CLOCK_MONOTONIC but the CPU's own counter; leave --this-boot away, and it is placed by its \
             wall-clock times (async-profiler can write CLOCK_MONOTONIC: clock=monotonic)"
                .into(),
        ));
    }
    let given_ns = options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
    let counted = read.counted().unwrap_or(SampleEvent::Counted.name());
    let Known { shift_ns, intervals, timings, .. } = known;
    let clock = sink.recorder.clock();
    let mut placed = |time_ns: i64| {
        let wall_ns = time_ns.saturating_add(read.epoch_offset_ns);
        match options.place {
            TimeAlignment::ThisBoot => clock.from_monotonic_ns(time_ns),
            TimeAlignment::EndsAt(_) => wall_ns,
            TimeAlignment::BeginsAt(ns) => {
                wall_ns.saturating_add(*shift_ns.get_or_insert_with(|| ns.saturating_sub(wall_ns)))
            }
        }
    };
    let left_out = read.each(|sample, frames| {
        let time_ns = placed(sample.time_ns);
        let event = if sample.event == SampleEvent::Counted { counted } else { sample.event.name() };
        let stated = intervals.get(&sample.event).copied();
        let weight = match (sample.weight, sample.event) {
            (Some(weight), _) => weight,
            (
                None,
                SampleEvent::Alloc
                | SampleEvent::Live
                | SampleEvent::Lock
                | SampleEvent::Malloc
                | SampleEvent::Method
                | SampleEvent::NativeLock,
            ) => 0,
            (None, SampleEvent::Counted) => sample.count.saturating_mul(stated.unwrap_or(1)),
            (None, _) => sample.count.saturating_mul(given_ns.or(stated).unwrap_or_else(|| {
                sink.note(format!(
                    "the file does not say how often {event} was sampled: every 10 ms is assumed; say with --interval"
                ));
                ASSUMED_INTERVAL_NS
            })),
        };
        sink.add(time_ns, event, weight, (sample.tid, &sample.thread), sample.stack, frames)
    })?;
    if left_out.without_stack > 0 {
        sink.lose(left_out.without_stack, "samples without a stack");
    }
    for (class, events) in left_out.others {
        let known = known.left_out.entry(class).or_default();
        *known = known.saturating_add(events);
    }
    read.each_timing(|method, time_ns, calls, sum_ns| {
        if calls > 0 && (timings.len() < MOST_TIMED || timings.contains_key(method)) {
            timings.insert(method.to_string(), (placed(time_ns), sum_ns));
        }
    })?;
    Ok(())
}

/// Names and counts the events with a stack that are not samples, or that nothing is known of.
fn tell_left_out(left_out: &BTreeMap<String, u64>, sink: &mut Sink<'_>) {
    let (mut others, mut unknown) = (Vec::new(), Vec::new());
    for (class, events) in left_out {
        let events_of = format!("{events} {class}");
        match class.as_str() {
            "jdk.ExecutionSample" => sink.note(format!(
                "{events_of} are left out beside jdk.CPUTimeSample, which counts the same CPU time exactly"
            )),
            "jdk.ObjectAllocationSample" => {
                sink.note(format!("{events_of} are left out beside the two TLAB events, which count the same bytes"))
            }
            "jdk.ObjectAllocationInNewTLAB" | "jdk.ObjectAllocationOutsideTLAB" => sink.note(format!(
                "{events_of} are left out beside jdk.ObjectAllocationSample, which has those bytes, too"
            )),
            // The JDK has stacks in other events, too, and async-profiler in those about freed memory.
            class if class.starts_with("jdk.") || class == "profiler.Free" => others.push(events_of),
            _ => unknown.push((events_of, *events)),
        }
    }
    if !others.is_empty() {
        sink.note(format!("other events than samples have stacks, too, and are left out: {}", listed(others)));
    }
    let events = unknown.iter().map(|(_, events)| *events).fold(0, u64::saturating_add);
    if events > 0 {
        let named = unknown.into_iter().map(|(events_of, _)| events_of).collect();
        sink.lose(events, &format!("events with a stack that Helenus does not know: {}", listed(named)));
    }
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
