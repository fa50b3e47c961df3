mod picture;

use super::opened::opened;
use crate::terminal;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{Area, Of, Selection, SourceLoss, Spectrogram, SpectrogramFilter, Total, TotalsBy, Traces};
use picture::{Ink, Size};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Draw latencies of system calls or requests over time
///
/// Time goes downward, how long each call took goes across on a log scale, and the colour is how many there were. Names are
/// given as a part of the name, with * or ? as the whole name, after = exactly, and after ! to leave it out; several of one
/// kind mean any of them. Times count from the start of the recording, as in its report.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus spectrogram run.helenus
  helenus spectrogram run.helenus --call '!futex' --call '!epoll_wait' --file '*-Data.db'
  helenus spectrogram run.helenus --group ReadStage --from 12s --to 15s
  helenus spectrogram run.helenus --from 12s --to 15s --select 10ms..1s
  helenus spectrogram run.helenus --select 100ms.. --limit 1000 --json | jq '.events[].file'
  helenus spectrogram run.helenus --of requests")]
pub struct Arguments {
    recording: PathBuf,
    /// Events to draw [default: each system call if recorded, else the summary of system calls]
    #[arg(long, value_enum)]
    of: Option<What>,
    /// Only system calls of this name; for requests, this operation
    #[arg(long, value_name = "PATTERN")]
    call: Vec<String>,
    /// Only calls of this thread group
    #[arg(long, value_name = "PATTERN")]
    group: Vec<String>,
    /// Only calls on this file or socket
    #[arg(long, value_name = "PATTERN")]
    file: Vec<String>,
    /// From this long after the start of the recording
    #[arg(long, value_name = "DURATION", value_parser = after)]
    from: Option<i64>,
    /// Until so long after the start of the recording
    #[arg(long, value_name = "DURATION", value_parser = after)]
    to: Option<i64>,
    /// List exactly those that took so long, such as 10ms..1s, 1s.. or .. for all, with totals by file and call
    #[arg(long, value_name = "FROM..TO", value_parser = durations)]
    select: Option<(i64, i64)>,
    /// How many of them are listed, the longest first
    #[arg(long, value_name = "COUNT", default_value_t = 20, requires = "select")]
    limit: usize,
    /// Rows of the picture at most; otherwise as the terminal is high
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=10_000), conflicts_with = "select")]
    rows: Option<u16>,
    /// Width of the picture; otherwise as the terminal is wide
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(40..=1000), conflicts_with = "select")]
    width: Option<u16>,
    /// The counts, or the selected events and their totals, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Syscalls,
    Summary,
    Requests,
}

/// Names in a table of totals.
const MOST_NAMES: usize = 12;

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let engine = opened(&[&arguments.recording])?;
    let traces = Traces::find(&engine)?;
    let of = chosen(arguments, traces)?;
    let filter = SpectrogramFilter {
        call: arguments.call.clone(),
        group: arguments.group.clone(),
        file: arguments.file.clone(),
    };
    let at = |after: Option<i64>, otherwise| after.map_or(otherwise, |after| traces.start_ns.saturating_add(after));
    let (from_ns, to_ns) = (at(arguments.from, i64::MIN), at(arguments.to, i64::MAX));
    if from_ns >= to_ns {
        bail!("--from is not before --to");
    }
    if from_ns > traces.end_ns {
        let length = terminal::nanos(traces.end_ns - traces.start_ns);
        bail!("{} is {length} long, and --from is after its end", arguments.recording.display());
    }
    match arguments.select {
        Some((low_ns, high_ns)) => {
            let area = Area { from_ns, to_ns, low_ns, high_ns };
            let selection = Selection::build(&engine, of, &filter, area, arguments.limit)?;
            warn_of_loss(of, &selection.lost);
            list(arguments, &selection)
        }
        None => {
            let size = Size::of(arguments.rows, arguments.width);
            let drawn = Spectrogram::build(&engine, of, &filter, (from_ns, to_ns), size.rows, size.columns())?;
            warn_of_loss(of, &drawn.lost);
            draw(arguments, &drawn, size)
        }
    }
}

/// The kind of events to draw: the requested one if it was recorded, else the most detailed one.
fn chosen(arguments: &Arguments, traces: Traces) -> Result<Of> {
    let recording = arguments.recording.display();
    let of = match arguments.of {
        Some(What::Syscalls) if traces.syscalls => Of::Syscalls,
        Some(What::Summary) if traces.summary => Of::Summary,
        Some(What::Requests) if traces.requests => Of::Requests,
        None if traces.syscalls => Of::Syscalls,
        None if traces.summary => Of::Summary,
        None if traces.requests => Of::Requests,
        Some(What::Requests) => {
            bail!(
                "{recording} has no requests: those of clients are recorded by helenus record, those of a load by helenus load"
            )
        }
        Some(What::Syscalls) if traces.summary => {
            bail!("{recording} has only the summary of system calls: use --of summary, or record with --syscalls full")
        }
        _ if traces.requests => {
            bail!("{recording} has no system calls: record with --syscalls full, or use --of requests")
        }
        _ => bail!("{recording} has no system calls: record with --syscalls full or --syscalls summary"),
    };
    Ok(of)
}

fn warn_of_loss(of: Of, losses: &[SourceLoss]) {
    for SourceLoss { node, lost, reason } in losses {
        let lost = lost.map_or("some".to_string(), |lost| terminal::count(lost.unsigned_abs()));
        let node = if node.is_empty() { String::new() } else { format!(" of {node}") };
        terminal::warn(format_args!("{lost} {}{node} are missing: {reason}", of.name()));
    }
}

fn draw(arguments: &Arguments, drawn: &Spectrogram, size: Size) -> Result<ExitCode> {
    if arguments.json {
        terminal::json_line(drawn)?;
        return Ok(ExitCode::SUCCESS);
    }
    if drawn.events == 0 {
        bail!(
            "no {} match: leave out or loosen --call, --group, --file, --from or --to; helenus spectrogram {} --select .. lists the names",
            drawn.of.name(),
            arguments.recording.display()
        );
    }
    let ink = if terminal::has_colours() { Ink::Colours } else { Ink::Shades };
    terminal::picture(&picture::draw(drawn, size, ink));
    terminal::talk(terminal::dim(format_args!(
        "A rectangle of it as a list: helenus spectrogram {} --from {}s --to {}s --select 10ms..1s",
        arguments.recording.display(),
        drawn.start_s,
        drawn.start_s + drawn.bin_ns as f64 / 1e9,
    )));
    Ok(ExitCode::SUCCESS)
}

fn list(arguments: &Arguments, selection: &Selection) -> Result<ExitCode> {
    if arguments.json {
        terminal::json_line(selection)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = terminal::out();
    let Selection { of, all, events, .. } = selection;
    let name = of.name();
    let together = terminal::nanos(all.total_ns);
    writeln!(out, "{} {name}, {together} together", terminal::bold(terminal::count(all.events.unsigned_abs())))?;
    if all.events == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    for TotalsBy { by, totals } in &selection.totals {
        let header = [*by, name, "together", "mean", longest_name(*of), "bytes", "errors"];
        let rows = totals.iter().take(MOST_NAMES).map(row_of);
        writeln!(out, "\n{}", terminal::table(&header, rows, 1))?;
        if totals.len() > MOST_NAMES {
            let more = terminal::count((totals.len() - MOST_NAMES) as u64);
            writeln!(out, "{}", terminal::dim(format_args!(" and {more} more; all are in --json")))?;
        }
    }
    if *of == Of::Summary {
        terminal::talk(terminal::dim(
            "A summary has no single calls, and its bins are whole: those that reach into the bounds are counted. \
             Record with --syscalls full for each call.",
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["at", "took", "bytes", "thread", "error", "call", "thread group", "file"];
    let rows = events.iter().map(|event| {
        vec![
            format!("{:.6} s", event.start_s),
            terminal::nanos(event.duration_ns),
            event.bytes.map_or(String::new(), |bytes| terminal::count(bytes.unsigned_abs())),
            event.tid.map_or(String::new(), |tid| tid.to_string()),
            event.error.clone().unwrap_or_default(),
            event.call.clone(),
            event.thread_group.clone(),
            event.file.clone(),
        ]
    });
    let table = terminal::table(&header, rows, usize::MAX).aligned_right([true; 4]);
    writeln!(out, "\n{table}")?;
    if (events.len() as i64) < all.events {
        let (listed, all) = (terminal::count(events.len() as u64), terminal::count(all.events.unsigned_abs()));
        terminal::talk(terminal::dim(format_args!("The {listed} longest of {all}; --limit {all} lists more")));
    }
    Ok(ExitCode::SUCCESS)
}

fn longest_name(of: Of) -> &'static str {
    if of == Of::Summary { "longest below" } else { "longest" }
}

fn row_of(total: &Total) -> Vec<String> {
    vec![
        if total.name.is_empty() { "(none)".to_string() } else { total.name.clone() },
        terminal::count(total.events.unsigned_abs()),
        terminal::nanos(total.total_ns),
        terminal::nanos(total.total_ns / total.events.max(1)),
        terminal::nanos(total.longest_ns),
        terminal::bytes(total.bytes),
        terminal::count(total.errors.unsigned_abs()),
    ]
}

/// Parses a time after the start; 0 is valid.
fn after(text: &str) -> Result<i64, String> {
    if matches!(text.trim(), "0" | "0s") {
        return Ok(0);
    }
    super::duration(text).map(|duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

/// Parses `10ms..1s`; either side may be missing.
fn durations(text: &str) -> Result<(i64, i64), String> {
    let (low, high) = text
        .split_once("..")
        .ok_or_else(|| format!("`{text}` is not a range of durations; write it like 10ms..1s, 1s.. or .."))?;
    let bound = |text: &str, otherwise| if text.trim().is_empty() { Ok(otherwise) } else { after(text) };
    let (low, high) = (bound(low, 0)?, bound(high, i64::MAX)?);
    if low >= high { Err(format!("`{text}` begins where it ends, or after that")) } else { Ok((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_durations_are_read() {
        assert_eq!(durations("10ms..1s"), Ok((10_000_000, 1_000_000_000)));
        assert_eq!(durations("1334ns..1778ns"), Ok((1334, 1778)));
        assert_eq!(durations("1s.."), Ok((1_000_000_000, i64::MAX)));
        assert_eq!(durations(".."), Ok((0, i64::MAX)));
        assert_eq!(durations("0..1us"), Ok((0, 1000)));
        for wrong in ["10ms", "1s..10ms", "1s..1s", "a..b", "-1s..1s", ""] {
            assert!(durations(wrong).is_err(), "{wrong}");
        }
        assert_eq!((after("0s"), after("12.34s")), (Ok(0), Ok(12_340_000_000)));
    }
}
