//! Output of `perf script`: for each sample a header line (thread, time, event), then its frames from the innermost, one
//! a line, then an empty line.
//!
//! Source: perf-script(1), and what perf 6.1 prints.

mod line;

use super::lines::{Line, Lines};
use super::recognized::is_comment;
use super::{Error, ImportOptions, Sink, TimeAlignment};
use crate::stacks::Frames;
use line::{Header, frame, header, reference, without_modifiers};
use std::collections::HashMap;
use std::hash::Hash;
use std::io::BufRead;
use std::rc::Rc;

/// A sample, kept until the relation of perf's clock to the wall clock is known.
struct Sample {
    /// The time on perf's clock; None if perf printed no times.
    time_ns: Option<i64>,
    event: u32,
    weight: i64,
    tid: i64,
    thread: u32,
    stack: u32,
}

/// A sample whose lines are being read.
struct Open {
    header: Sample,
    /// The frames from the innermost to the outermost.
    frames: Vec<(String, char)>,
    /// Whether the sample and its only frame are on one line, so that the next line does not belong to it.
    is_whole: bool,
}

/// Stores repeated values once.
struct Once<T> {
    things: Vec<Rc<T>>,
    places: HashMap<Rc<T>, u32>,
}

impl<T: Eq + Hash> Default for Once<T> {
    fn default() -> Once<T> {
        Once { things: Vec::new(), places: HashMap::new() }
    }
}

impl<T: Eq + Hash> Once<T> {
    fn place(&mut self, thing: T) -> u32 {
        if let Some(place) = self.places.get(&thing) {
            return *place;
        }
        let (place, thing) = (self.things.len() as u32, Rc::new(thing));
        self.things.push(Rc::clone(&thing));
        self.places.insert(thing, place);
        place
    }

    fn at(&self, place: u32) -> &T {
        &self.things[place as usize]
    }
}

/// Whether a file begins like the output of `perf script`.
pub(super) fn looks_like(first: &str, second: &str) -> bool {
    // A line that ends with a count would be a folded stack. Lines of prose may end with a colon.
    let has_frames = second.starts_with(char::is_whitespace) && frame(second).is_some();
    header(first).is_some_and(|header| match header.is_bare {
        true if header.time_ns.is_none() => has_frames || frame(header.rest).is_some(),
        _ => header.time_ns.is_some() || frame(header.rest).is_some() || header.rest.trim().is_empty(),
    })
}

pub(super) fn read(from: impl BufRead, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let mut reading = Reading {
        options,
        samples: Vec::new(),
        events: Once::default(),
        threads: Once::default(),
        stacks: Once::default(),
        epoch_offset_ns: None,
        shape: None,
        has_frames: false,
        has_files: false,
    };
    reading.read(from, sink)?;
    let Reading { samples, events, threads, stacks, epoch_offset_ns, .. } = reading;
    let times = || samples.iter().filter_map(|sample| sample.time_ns);
    let is_timed = times().next().is_some();
    let shift_ns = match options.place {
        TimeAlignment::ThisBoot if !is_timed && !samples.is_empty() => {
            return Err(Error::Other(
                "perf printed no times; leave --this-boot away, or print with `perf script -F +time`".into(),
            ));
        }
        TimeAlignment::ThisBoot => sink.recorder.clock().epoch_offset_ns(),
        TimeAlignment::BeginsAt(ns) => ns.saturating_sub(times().min().unwrap_or_default()),
        TimeAlignment::EndsAt(ns) if !is_timed => ns,
        TimeAlignment::EndsAt(ns) => epoch_offset_ns.unwrap_or_else(|| {
            sink.note(
                "perf's times count from the boot, and the file does not say when that was: the last sample is placed where \
                 the file was last changed; say with --begins or --this-boot, or record with -k CLOCK_MONOTONIC and print \
                 with --header",
            );
            ns.saturating_sub(times().max().unwrap_or_default())
        }),
    };
    if !is_timed && !samples.is_empty() {
        sink.note("perf printed no times: all samples are at one moment");
    }
    let numbers: Vec<i64> = stacks.things.iter().map(|frames| frames.number()).collect();
    for sample in samples {
        let time_ns = sample.time_ns.unwrap_or_default().saturating_add(shift_ns);
        let thread = (sample.tid, threads.at(sample.thread).as_str());
        let frames = || Ok::<_, Error>(stacks.at(sample.stack));
        sink.add(time_ns, events.at(sample.event), sample.weight, thread, numbers[sample.stack as usize], frames)?;
    }
    Ok(())
}

struct Reading<'o> {
    options: &'o ImportOptions,
    samples: Vec<Sample>,
    events: Once<String>,
    threads: Once<String>,
    stacks: Once<Frames>,
    /// Nanoseconds added to perf's times, if the file gives the offset.
    epoch_offset_ns: Option<i64>,
    /// Whether perf printed times, and only one of a thread's name and id: the first sample tells, because perf prints the
    /// same fields for all samples.
    shape: Option<(bool, bool)>,
    has_frames: bool,
    /// Whether perf printed the file of each frame in parentheses.
    has_files: bool,
}

impl Reading<'_> {
    fn read(&mut self, from: impl BufRead, sink: &mut Sink<'_>) -> Result<(), Error> {
        let mut lines = Lines::new(from);
        let mut open: Option<Open> = None;
        while let Some(line) = lines.next()? {
            let (line, is_last) = match line {
                Line::Whole(line) => (line, false),
                Line::Last(line) => (line, true),
                Line::GivenUp(reason) => {
                    sink.give_up(lines.number, reason);
                    break;
                }
                Line::TooLong => {
                    sink.lose_line("lines too long for a frame", lines.number);
                    continue;
                }
            };
            if line.trim().is_empty() {
                self.close(open.take());
                continue;
            }
            if is_comment(&line) {
                self.epoch_offset_ns = self.epoch_offset_ns.or_else(|| reference(&line));
                continue;
            }
            if is_last && !self.is_complete(&line, open.is_some()) {
                self.close(open.take().filter(|open| open.is_whole));
                sink.lose(1, "the file ends within a sample");
                break;
            }
            // perf prints a tab before a frame, and none before the start of a sample. A command can look like an
            // address, so the tab decides.
            let header = if line.starts_with('\t') { None } else { self.header(&line) };
            if let Some(header) = header {
                self.close(open.take());
                lines.has_sample = true;
                self.shape.get_or_insert((header.time_ns.is_some(), header.is_bare));
                match header.event.starts_with("PERF_RECORD_") {
                    true => lose(&header, sink),
                    false => open = Some(self.begin(&header, sink)),
                }
                continue;
            }
            match &mut open {
                // Other lines are the source line of the frame above, its registers, or other data that perf was told
                // to print.
                Some(open) if !open.is_whole => {
                    self.has_files |= frame(&line).is_some() && line.ends_with(')');
                    open.frames.extend(frame(&line));
                }
                _ => {
                    self.close(open.take());
                    sink.lose_line("lines that are no part of a sample", lines.number);
                }
            }
        }
        self.close(open.take());
        Ok(())
    }

    /// Parses the header of a sample. The first header has the fields of all.
    fn header<'l>(&self, line: &'l str) -> Option<Header<'l>> {
        let is_alike = |header: &Header<'_>, (is_timed, is_bare): (bool, bool)| {
            header.time_ns.is_some() == is_timed && (is_timed || is_bare || !header.is_bare)
        };
        header(line).filter(|header| self.shape.is_none_or(|shape| is_alike(header, shape)))
    }

    /// Whether a line without a newline at its end is complete.
    fn is_complete(&self, line: &str, in_sample: bool) -> bool {
        let is_whole = |text: &str| !self.has_files || text.ends_with(')');
        match (self.header(line), frame(line)) {
            (Some(header), _) if !line.starts_with('\t') => {
                // Without stacks (perf record without -g) samples are one line.
                let is_bare = header.rest.trim().is_empty() && !self.has_frames && !self.samples.is_empty();
                let has_frame = frame(header.rest).is_some() && is_whole(header.rest);
                header.event.starts_with("PERF_RECORD_") || has_frame || is_bare
            }
            (_, Some(_)) => in_sample && is_whole(line),
            // Lines below a frame that are not part of it.
            (_, None) => in_sample && !line.starts_with('\t'),
        }
    }

    fn close(&mut self, open: Option<Open>) {
        let Some(Open { header, frames: innermost_first, .. }) = open else { return };
        let mut frames = Frames::default();
        innermost_first.iter().rev().for_each(|(name, kind)| frames.push(name, *kind));
        self.has_frames |= !frames.kinds.is_empty();
        self.samples.push(Sample { stack: self.stacks.place(frames), ..header });
    }

    fn begin(&mut self, header: &Header<'_>, sink: &mut Sink<'_>) -> Open {
        let interval_ns = self.options.interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
        let name = without_modifiers(header.event);
        let is_clock = matches!(name, "cpu-clock" | "task-clock");
        let is_cycles = matches!(name.trim_end_matches('/').rsplit('/').next(), Some("cycles" | "cpu-cycles"));
        let (event, weight) = match (interval_ns, self.options.ghz) {
            (Some(interval_ns), _) if is_clock || is_cycles => ("cpu", interval_ns),
            (None, Some(ghz)) if is_cycles => ("cpu", (header.period.unwrap_or(1) as f64 / ghz) as i64),
            _ if is_clock && header.period.is_some() => ("cpu", header.period.unwrap_or_default()),
            _ if is_clock => {
                sink.note("perf did not print what its samples stand for: every 10 ms is assumed; say with --interval");
                ("cpu", 10_000_000)
            }
            _ => {
                if is_cycles {
                    sink.note("the weights of cycles are cycles; as CPU time with --ghz, or with --interval");
                }
                (name, header.period.unwrap_or(1))
            }
        };
        let frames: Vec<_> = frame(header.rest).into_iter().collect();
        self.has_files |= !frames.is_empty() && header.rest.ends_with(')');
        // perf's placeholder for a thread whose command it does not know.
        let thread = match header.comm {
            "" if header.is_bare && header.tid == 0 => String::new(),
            "" => format!(":{}", header.tid),
            comm => comm.to_string(),
        };
        Open {
            is_whole: !frames.is_empty(),
            frames,
            header: Sample {
                time_ns: header.time_ns,
                event: self.events.place(event.to_string()),
                weight,
                tid: header.tid,
                thread: self.threads.place(thread),
                stack: 0,
            },
        }
    }
}

/// Counts the samples that perf itself reports as lost.
fn lose(header: &Header<'_>, sink: &mut Sink<'_>) {
    if !header.event.starts_with("PERF_RECORD_LOST") {
        return;
    }
    let lost = header.rest.split_whitespace().skip_while(|word| *word != "lost").nth(1);
    match lost.and_then(|lost| lost.parse().ok()) {
        Some(lost) => sink.lose(lost, "perf lost them itself while it recorded"),
        None => sink.lose_uncounted("perf lost samples itself while it recorded"),
    }
}
