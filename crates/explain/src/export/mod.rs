//! What a recording holds, for the tools of others: one file per format.

mod chrome;
mod firefox;
mod moments;
mod pprof;
mod samples;
mod speedscope;

use crate::flame::SlowTimes;
use crate::{Engine, Error, Explanation, Flame, FlameOptions};
use std::io::Write;

/// Samples in a file that holds each by itself: what a browser can still show.
const MOST_SAMPLES: usize = 2_000_000;
/// Samples that are added up in memory, at 24 bytes each.
const MOST_ADDED_UP: usize = 20_000_000;

/// The format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A stack a line with its weight: flamegraph.pl and most others.
    Folded,
    /// Gzipped profile.proto: `go tool pprof`, Grafana Pyroscope, Polar Signals.
    Pprof,
    /// Processed profile of the Firefox Profiler.
    Firefox,
    Speedscope,
    /// Trace events: Perfetto, chrome://tracing.
    Chrome,
}

/// What is to be in the file.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// Event, group and window; `reversed` says nothing here.
    pub selection: FlameOptions,
    /// Only what was sampled while requests were slow.
    pub only_slow: bool,
    /// System calls at least this long.
    pub syscalls_over_ns: i64,
}

/// What is in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    pub samples: u64,
    /// Marks of the other kinds: pauses, phases, requests and the like.
    pub moments: u64,
    /// What is not in it, and what one should know of what is.
    pub notes: Vec<String>,
}

/// Writes a file. The explanation says which requests are slow; formats without requests need none unless `only_slow`.
pub fn export(
    engine: &Engine,
    format: ExportFormat,
    options: &ExportOptions,
    explanation: Option<&Explanation>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let slow = match (options.only_slow, explanation) {
        (true, Some(explanation)) => Some(SlowTimes::of(engine, explanation)?),
        _ => None,
    };
    match format {
        ExportFormat::Folded => folded(engine, options, explanation.filter(|_| options.only_slow), out),
        ExportFormat::Pprof => pprof::write(engine, options, slow.as_ref(), out),
        ExportFormat::Speedscope => speedscope::write(engine, options, slow.as_ref(), out),
        ExportFormat::Firefox => firefox::write(engine, options, slow.as_ref(), explanation, out),
        ExportFormat::Chrome => chrome::write(engine, options, explanation, out),
    }
}

/// The lines of the flame graph.
fn folded(
    engine: &Engine,
    options: &ExportOptions,
    explanation: Option<&Explanation>,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let flame = match explanation {
        Some(explanation) => Flame::of_slow(engine, &options.selection, explanation)?.alone(),
        None => Flame::build(engine, &options.selection)?,
    };
    if flame.is_empty() {
        return Err(nothing(engine, options)?);
    }
    flame.folded().try_for_each(|line| writeln!(out, "{line}")).map_err(Error::Write)?;
    // Of slow requests those beside them were counted, too.
    let samples = if explanation.is_some() { 0 } else { flame.samples };
    Ok(Exported { samples, ..Exported::default() })
}

/// That there are no such samples, and which there are.
fn nothing(engine: &Engine, options: &ExportOptions) -> Result<Error, Error> {
    let selection = &options.selection;
    let events = Flame::events(engine)?;
    let event = &selection.event;
    let slow = if options.only_slow { " while requests were slow" } else { "" };
    let of = selection.group.as_ref().map_or(String::new(), |group| format!(" of {group}"));
    Ok(Error::Nothing(if events.is_empty() {
        "there are no samples of stacks: record with `helenus record --stacks cpu`, or `helenus import` some"
            .to_string()
    } else if events.iter().any(|(known, _)| known == event) {
        format!("there are no {event} samples{of}{slow} in that time: choose another --group, --from, --to or --slow")
    } else {
        let known: Vec<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
        format!("there are no {event} samples: the recording has {}; choose with --event", known.join(", "))
    }))
}

/// A name for the weights of an event, and their unit.
fn unit(event: &str) -> &'static str {
    match event {
        "cpu" | "wall" | "lock" | "native" => "nanoseconds",
        "alloc" => "bytes",
        _ => "count",
    }
}

/// The writer's error where it is one.
fn json_error(error: serde_json::Error) -> Error {
    if error.is_io() { Error::Write(error.into()) } else { Error::Json(error) }
}
