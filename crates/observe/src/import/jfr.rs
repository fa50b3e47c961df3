//! Samples of a JFR file, chunk by chunk.

use super::{Error, ImportOptions, Place, Sink};
use crate::stacks::jfr::{HEADER, SampleEvent, Samples, announced_size, count_events, read_chunk};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// Where neither the file nor anybody else says what a sample stands for.
const ASSUMED_INTERVAL_NS: i64 = 10_000_000;

/// What chunks before the one that is read have said.
#[derive(Default)]
struct Known {
    intervals_ns: HashMap<&'static str, i64>,
    /// Classes of samples, to count those of a chunk that can't be read.
    classes: HashSet<i64>,
    /// What is added to times, where the first sample's is given.
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
                sink.lose_uncounted(&format!("what follows chunk {} is none: {error}", number - 1));
                return Ok(());
            }
        };
        let whole = match size {
            Some(size) => {
                from.by_ref().take((size - HEADER) as u64).read_to_end(&mut chunk)?;
                chunk.len() == size
            }
            None => {
                from.read_to_end(&mut chunk)?;
                false
            }
        };
        if !whole {
            let what = "the last chunk is cut off: whoever recorded was ended, or the file was not copied whole";
            lose_chunk(&chunk, &known, what, sink);
            return Ok(());
        }
        match read_chunk(&chunk) {
            Ok(samples) => take(&samples, &mut known, options, sink)?,
            Err(error) => lose_chunk(&chunk, &known, &format!("chunk {number} is broken ({error})"), sink),
        }
    }
    Ok(())
}

fn lose_chunk(chunk: &[u8], known: &Known, reason: &str, sink: &mut Sink<'_>) {
    match count_events(chunk, &known.classes) {
        0 => sink.lose_uncounted(reason),
        samples => sink.lose(samples, reason),
    }
}

fn take(read: &Samples, known: &mut Known, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    known.intervals_ns.extend(&read.intervals_ns);
    known.classes.extend(&read.classes);
    if read.lost > 0 {
        sink.lose(read.lost, "the JVM lost them itself while it recorded");
    }
    if read.without_stack > 0 {
        sink.lose(read.without_stack, "samples without a stack");
    }
    if read.superseded > 0 {
        sink.note(
            "jdk.ExecutionSample is left out where there is jdk.CPUTimeSample, which counts the same CPU time exactly",
        );
    }
    if options.place == Place::ThisBoot && !read.ticks_are_ns {
        return Err(Error::Other(
            "its times are not CLOCK_MONOTONIC but the CPU's own counter; leave --this-boot away, and it is placed by its \
             wall-clock times (async-profiler can write CLOCK_MONOTONIC: clock=monotonic)"
                .into(),
        ));
    }
    for sample in &read.samples {
        let wall_ns = sample.time_ns.saturating_add(read.epoch_offset_ns);
        let time_ns = match options.place {
            Place::ThisBoot => sink.recorder.clock().from_monotonic_ns(sample.time_ns),
            Place::EndsAt(_) => wall_ns,
            Place::BeginsAt(ns) => {
                wall_ns.saturating_add(*known.shift_ns.get_or_insert_with(|| ns.saturating_sub(wall_ns)))
            }
        };
        let event = sample.event.name();
        let weight = match (sample.weight, sample.event) {
            (Some(weight), _) => weight,
            (None, SampleEvent::Alloc | SampleEvent::Lock) => 0,
            (None, _) => {
                let given = options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
                let interval_ns = given.or(known.intervals_ns.get(event).copied()).unwrap_or_else(|| {
                    sink.note(format!("the file does not say how often {event} was sampled: every 10 ms is assumed; say with --interval"));
                    ASSUMED_INTERVAL_NS
                });
                sample.count.saturating_mul(interval_ns)
            }
        };
        sink.add(time_ns, event, weight, (sample.tid, &sample.thread), &read.stacks[sample.stack]);
    }
    Ok(())
}
