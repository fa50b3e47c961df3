use super::opened::opened;
use super::window;
use crate::terminal;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{
    ExportFormat, ExportOptions, Flame, FlameOptions, Options, SlowThreshold, export, judge_requests,
};
use helenus_recording::private;
use serde_json::json;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Write a recording for pprof, Firefox Profiler, speedscope, Perfetto
///
/// folded and pprof add the samples up; speedscope and firefox have each in its time, firefox with pauses, phases and slow
/// requests as markers; chrome has those, stalls, CPUs and long system calls, and no stacks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus export run.helenus --format pprof -o run.pb.gz && go tool pprof -http=: run.pb.gz
  helenus export run.helenus --format firefox -o run.json.gz         # for https://profiler.firefox.com
  helenus export run.helenus --format speedscope --group MutationStage -o run.speedscope.json
  helenus export run.helenus --format chrome --slow p99.9 -o run.trace.json   # for https://ui.perfetto.dev
  helenus export run.helenus --format folded --slow p99.9 | flamegraph.pl > slow.svg")]
pub struct Arguments {
    recording: PathBuf,
    #[arg(long, value_enum)]
    format: Format,
    /// The new file, compressed where its name ends in .gz; stdout otherwise
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Event of the stacks: cpu, wall, alloc or lock [default: cpu, or the only event]
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only this thread group, such as Native-Transport-Requests
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Thread by thread, and not by group
    #[arg(long)]
    threads: bool,
    /// From so long after the first sample; for chrome, after the recording's begin
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    from: Option<Duration>,
    /// Until this long after the start
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    to: Option<Duration>,
    /// Only the samples while requests were slower than this (p99, p99.9, 250ms); for chrome, only those requests
    #[arg(long, value_name = "BOUND")]
    slow: Option<SlowThreshold>,
    /// Print the file's path and how much is in it as JSON
    #[arg(long, requires = "output")]
    json: bool,
    /// chrome: system calls of this length and more
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = super::duration)]
    syscalls_over: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Folded,
    Pprof,
    Firefox,
    Speedscope,
    #[value(alias = "perfetto")]
    Chrome,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let format = match arguments.format {
        Format::Folded => ExportFormat::Folded,
        Format::Pprof => ExportFormat::Pprof,
        Format::Firefox => ExportFormat::Firefox,
        Format::Speedscope => ExportFormat::Speedscope,
        Format::Chrome => ExportFormat::Chrome,
    };
    let is_trace = format == ExportFormat::Chrome;
    if is_trace && (arguments.event.is_some() || arguments.group.is_some() || arguments.threads) {
        bail!("--event, --group and --threads choose stacks, and a Chrome trace has none; --format firefox has both");
    }
    if format == ExportFormat::Pprof && arguments.output.is_none() && std::io::stdout().is_terminal() {
        bail!("pprof is binary; name a file with -o");
    }
    let engine = opened(&[&arguments.recording])?;
    let begin_ns = engine.manifests().first().map_or(0, |manifest| manifest.created_ns);
    let event = match &arguments.event {
        Some(event) => event.clone(),
        None => Flame::usual_event(&engine)?,
    };
    let mut selection =
        FlameOptions { event, by_thread: arguments.threads, group: arguments.group.clone(), ..FlameOptions::default() };
    let first_ns = if is_trace { begin_ns } else { Flame::first_sample_ns(&engine)?.unwrap_or(begin_ns) };
    (selection.start_ns, selection.end_ns) = window::window((arguments.from, arguments.to), first_ns)?;
    if !is_trace && arguments.group.is_some() && Flame::build(&engine, &selection)?.is_empty() {
        bail!("{}: {}", arguments.recording.display(), window::why_empty(&engine, &selection)?);
    }
    let shows_requests = matches!(format, ExportFormat::Firefox | ExportFormat::Chrome);
    let explanation = match (arguments.slow, shows_requests) {
        (Some(threshold), _) => Some(judge_requests(&engine, &Options { threshold, ..Options::default() })?),
        (None, true) => Some(judge_requests(&engine, &Options::default())?),
        (None, false) => None,
    };
    if arguments.slow.is_some() && explanation.as_ref().is_some_and(|explanation| explanation.judged_requests == 0) {
        bail!(
            "{} has no requests to be slow: those of clients are recorded by `helenus record`, those of a load by `helenus load`",
            arguments.recording.display()
        );
    }
    let options = ExportOptions {
        selection,
        only_slow: arguments.slow.is_some(),
        syscalls_over_ns: i64::try_from(arguments.syscalls_over.as_nanos()).unwrap_or(i64::MAX),
    };
    let write = |out: &mut dyn Write| export(&engine, format, &options, explanation.as_ref(), out);
    let said = match &arguments.output {
        None => {
            let mut out = terminal::raw();
            let said = write(&mut out)?;
            out.flush()?;
            said
        }
        Some(path) => {
            let said = write_file(path, format, write)?;
            let what = match (said.samples, said.moments) {
                (0, 0) => "stacks".to_string(),
                (samples, 0) => format!("{} samples", terminal::count(samples)),
                (0, moments) => format!("{} events", terminal::count(moments)),
                (samples, moments) => {
                    format!("{} samples, {} markers", terminal::count(samples), terminal::count(moments))
                }
            };
            terminal::done(format_args!("{what} in {}", path.display()));
            if arguments.json {
                terminal::json(&json!({
                    "file": path,
                    "samples": said.samples,
                    "events": said.moments,
                    "notes": said.notes,
                }))?;
            }
            said
        }
    };
    for note in &said.notes {
        terminal::talk(terminal::dim(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// A failure leaves an existing file unchanged.
fn write_file(
    path: &Path,
    format: ExportFormat,
    write: impl FnOnce(&mut dyn Write) -> Result<helenus_explain::Exported, helenus_explain::Error>,
) -> Result<helenus_explain::Exported> {
    let written = (|| {
        let mut file = BufWriter::new(private::Output::create(path)?);
        // pprof is compressed in any case.
        let compress = path.extension().is_some_and(|end| end == "gz") && format != ExportFormat::Pprof;
        let said = if compress {
            let mut gzip = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
            let said = write(&mut gzip)?;
            gzip.finish()?;
            said
        } else {
            write(&mut file)?
        };
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?;
        Ok::<_, anyhow::Error>(said)
    })();
    written.with_context(|| format!("cannot export to {}", path.display()))
}
