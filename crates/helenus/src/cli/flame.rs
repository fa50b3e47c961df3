use super::opened::opened;
use super::window;
use crate::{report, terminal};
use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_explain::{Engine, Flame, FlameOptions, Options, SlowThreshold, judge_requests};
use helenus_recording::private;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Draw a flame graph of a recording: where the threads' time went
///
/// Groups by thread group, or by thread with --threads. The page has a map of the samples, with a column for each
/// second, in which a window can be chosen for the graph. With --slow, samples during slow requests are compared with
/// the others; with --diff, this recording with another.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus flame run.helenus -o run.html
  helenus flame run.helenus --group Native-Transport-Requests -o requests.svg
  helenus flame run.helenus --slow p99.9 -o slow.html
  helenus flame after.helenus --diff before.helenus -o change.html
  helenus flame run.helenus --from 20s --to 30s --folded | sort -k2 -n | tail")]
pub struct Arguments {
    recording: PathBuf,
    /// Event of the stacks: cpu, wall, alloc or lock [default: cpu, or the only event]
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only this thread group, such as Native-Transport-Requests
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Thread by thread, and not by group
    #[arg(long)]
    threads: bool,
    /// From so long after the first sample
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    from: Option<std::time::Duration>,
    /// Until so long after the first sample
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    to: Option<std::time::Duration>,
    /// The samples while requests were slower than this (p99, p99.9, 250ms), against the others
    #[arg(long, value_name = "BOUND", conflicts_with = "diff")]
    slow: Option<SlowThreshold>,
    /// Another recording to compare with
    #[arg(long, value_name = "RECORDING")]
    diff: Option<PathBuf>,
    /// Innermost frames first: shows the callers of hot functions
    #[arg(long)]
    reversed: bool,
    /// Folded stacks to stdout, a line each, as flamegraph.pl and speedscope read them
    #[arg(long, conflicts_with_all = ["output", "json"])]
    folded: bool,
    /// The tree as JSON, to stdout
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// The picture: .html, to search and zoom in, or .svg; beside the recording otherwise
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let engine = opened(&[&arguments.recording])?;
    let options = options(&arguments, &engine)?;
    let mut flame = match (&arguments.slow, &arguments.diff) {
        (Some(slow), _) => {
            let explanation = judge_requests(&engine, &Options { threshold: *slow, ..Options::default() })?;
            Flame::of_slow(&engine, &options, &explanation)?
        }
        (None, Some(before)) => {
            let other = opened(&[before])?;
            let before_flame = Flame::build(&other, &self::options(&arguments, &other)?)?;
            let named = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let flame = Flame::build(&engine, &options)?;
            flame.compare(&named(&arguments.recording), before_flame, &named(before))
        }
        (None, None) => Flame::build(&engine, &options)?,
    };
    if flame.is_empty() {
        bail!("{}: {}", arguments.recording.display(), window::why_empty(&engine, &options)?);
    }
    if let Some(group) = &arguments.group {
        flame.title = format!("{}: {group}", flame.title);
    }
    if arguments.folded {
        let mut out = terminal::raw();
        flame.folded().try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.json {
        terminal::json_line(&flame.tree())?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = arguments.output.unwrap_or_else(|| arguments.recording.with_extension("flame.html"));
    match output.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => private::write(&output, flame.svg().as_bytes()),
        Some("html") => return write_page(&flame, &output),
        _ => bail!("{} is neither .html nor .svg", output.display()),
    }
    .with_context(|| format!("cannot write {}", output.display()))?;
    say(&flame, &output);
    Ok(ExitCode::SUCCESS)
}

fn write_page(flame: &Flame, output: &Path) -> Result<ExitCode> {
    report::write_flame(&flame.tree(), output)?;
    say(flame, output);
    Ok(ExitCode::SUCCESS)
}

fn say(flame: &Flame, output: &Path) {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let of = flame.counted_ns.map_or(String::new(), |counted_ns| {
        format!(
            ", {:.1} s of the {:.1} s of CPU time that the kernel counted",
            seconds(flame.weight()),
            seconds(counted_ns)
        )
    });
    terminal::done(format_args!("flame graph of {} samples{of}: {}", terminal::count(flame.samples), output.display()));
}

/// Times count from the first sample.
fn options(arguments: &Arguments, engine: &Engine) -> Result<FlameOptions> {
    let event = match &arguments.event {
        Some(event) => event.clone(),
        None => Flame::usual_event(engine)?,
    };
    // A picture has no selection of a stretch of time.
    let is_picture = arguments.output.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "svg"));
    let mut options = FlameOptions {
        event,
        by_thread: arguments.threads,
        group: arguments.group.clone(),
        reversed: arguments.reversed,
        times: !arguments.folded && !is_picture && arguments.slow.is_none() && arguments.diff.is_none(),
        ..FlameOptions::default()
    };
    let first_ns = Flame::first_sample_ns(engine)?.unwrap_or_default();
    (options.start_ns, options.end_ns) = window::window((arguments.from, arguments.to), first_ns)?;
    Ok(options)
}
