//! Samples of a JFR file, chunk by chunk.

use super::{Error, ImportOptions, Sink, TimeAlignment};
use crate::stacks::jfr::{ChunkSamples, HEADER, LARGEST_CHUNK, SampleEvent, announced_size, count_events};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// The assumed sampling interval if neither the file nor the user gives one.
const ASSUMED_INTERVAL_NS: i64 = 10_000_000;
/// The number of bytes that are read at a time.
const STEP: u64 = 8 << 20;

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
}

pub(super) fn read(mut from: impl Read, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let mut known = Known::default();
    for number in 1u64.. {
        let mut chunk = Vec::new();
        from.by_ref().take(HEADER as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(());
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
            lose_chunk(&chunk, &known, CUT_OFF, 0, sink);
            return Ok(());
        }
        let before = sink.samples();
        match ChunkSamples::read(&chunk).map_err(Error::from).and_then(|read| take(&read, &mut known, options, sink)) {
            Ok(()) => {}
            Err(Error::Malformed(error)) => {
                let taken = sink.samples() - before;
                lose_chunk(&chunk, &known, &format!("chunk {number} is broken ({error})"), taken, sink);
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
    for class in &read.superseded {
        sink.note(match *class {
            "jdk.ExecutionSample" => {
                "jdk.ExecutionSample is left out where there is jdk.CPUTimeSample, which counts the same CPU time exactly"
                    .to_string()
            }
            "jdk.ObjectAllocationSample" => {
                "jdk.ObjectAllocationSample is left out where there are the two TLAB events, which count the same bytes"
                    .to_string()
            }
            part => format!("{part} is left out where there is jdk.ObjectAllocationSample, which has those bytes, too"),
        });
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
    let without_stack = read.each(|sample, frames| {
        let wall_ns = sample.time_ns.saturating_add(read.epoch_offset_ns);
        let time_ns = match options.place {
            TimeAlignment::ThisBoot => sink.recorder.clock().from_monotonic_ns(sample.time_ns),
            TimeAlignment::EndsAt(_) => wall_ns,
            TimeAlignment::BeginsAt(ns) => {
                wall_ns.saturating_add(*known.shift_ns.get_or_insert_with(|| ns.saturating_sub(wall_ns)))
            }
        };
        let event = if sample.event == SampleEvent::Counted { counted } else { sample.event.name() };
        let stated = known.intervals.get(&sample.event).copied();
        let weight = match (sample.weight, sample.event) {
            (Some(weight), _) => weight,
            (None, SampleEvent::Alloc | SampleEvent::Lock) => 0,
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
    if without_stack > 0 {
        sink.lose(without_stack, "samples without a stack");
    }
    Ok(())
}
