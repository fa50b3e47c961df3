//! Exports a recording to the formats of other tools: one file per format.

mod chrome;
mod contents;
mod firefox;
mod moments;
mod pprof;
mod samples;
mod speedscope;

pub use contents::{ExportOptions, Exported};

use crate::flame::SlowTimes;
use crate::{Engine, Error, Explanation, Flame};
use contents::nothing;
use std::io::Write;

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Folded stacks: one stack with its weight per line, for flamegraph.pl and many other tools.
    Folded,
    /// Gzipped profile.proto: `go tool pprof`, Grafana Pyroscope, Polar Signals.
    Pprof,
    /// Processed profile of the Firefox Profiler.
    Firefox,
    Speedscope,
    /// Trace events: Perfetto, chrome://tracing.
    Chrome,
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
    // For slow requests, weights are relative to those of the other requests, so there is no count of samples.
    let samples = if explanation.is_some() { 0 } else { flame.samples };
    Ok(Exported { samples, ..Exported::default() })
}
