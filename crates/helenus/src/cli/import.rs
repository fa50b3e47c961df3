use crate::terminal;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use helenus_notation::given;
use helenus_observe::{
    ImportFormat, ImportOptions, Imported, ImportedLogs, LogOptions, TimeAlignment, import, import_logs, is_log,
};
use helenus_recording::{Manifest, Recorder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Make a recording of profilers' files, or of nodes' logs
///
/// Profiles are JFR files, pprof, folded stacks, and what perf script, bpftrace and the tools of bcc print, compressed with gzip or
/// not. Helenus takes whole samples, and counts and reports those that can't be read. Logs are Cassandra's system.log and debug.log
/// and the JVM's gc.log, compressed or not, in files or in folders; each subfolder with logs is a node. `helenus explain` finds
/// stops, dropped messages, time-outs and crashes in them. The recording is like any other: `helenus flame`, `export`, `sql` and
/// `recording merge` take it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus import peak.jfr -o peak.helenus
  perf script -i perf.data --header | helenus import - --node 127.0.0.1 -o peak.helenus
  helenus import perf.txt --this-boot -o perf.helenus && helenus recording merge load.helenus perf.helenus -o both.helenus
  helenus import stacks.folded --interval 10ms -o stacks.helenus
  helenus import bundle/ --zone +02:00 -o bundle.helenus && helenus explain bundle.helenus")]
pub struct Arguments {
    /// Files, of any of the formats, or folders with logs; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The new recording's folder
    #[arg(short, long, value_name = "RECORDING")]
    output: PathBuf,
    /// Format of the files; logs are always recognized
    #[arg(long, value_enum, default_value = "auto")]
    format: Format,
    /// The node of the samples or the logs [default: the name of each file, or of each node's folder]
    #[arg(long, value_name = "ADDRESS")]
    node: Option<String>,
    /// Folded stacks, bpftrace and bcc: their event, such as cpu, wall, alloc or lock [default: cpu]
    #[arg(long, value_name = "NAME", value_parser = event)]
    event: Option<String>,
    /// Time of one sample, if the file lacks it or has a wrong one
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    interval: Option<Duration>,
    /// perf: cycles of a CPU in a nanosecond, so that cycles become CPU time
    #[arg(long, value_name = "GHZ", value_parser = ghz)]
    ghz: Option<f64>,
    /// When the first sample was taken, such as 2026-07-01T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time_ns, conflicts_with = "this_boot")]
    begins: Option<i64>,
    /// The files' times are CLOCK_MONOTONIC of this machine's current boot: they agree exactly with recordings made
    /// here (perf record -k CLOCK_MONOTONIC, async-profiler with clock=monotonic)
    #[arg(long)]
    this_boot: bool,
    /// Time zone of the logs, such as +02:00, if the collector's log doesn't have it
    #[arg(long, value_name = "OFFSET", value_parser = zone_ns, allow_hyphen_values = true)]
    zone: Option<i64>,
    /// Print the recording and the imported parts of each file as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Auto,
    Jfr,
    Perf,
    Folded,
    Pprof,
    Bpftrace,
    Bcc,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let title = arguments.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Open all files before the recording is created, so that a file that can't be opened leaves none behind.
    let is_of_logs = |path: &&PathBuf| path.is_dir() || is_log(path);
    let (logs, profiles): (Vec<&PathBuf>, Vec<&PathBuf>) = arguments.files.iter().partition(is_of_logs);
    if !logs.is_empty() && (arguments.begins.is_some() || arguments.this_boot) {
        bail!(
            "--begins and --this-boot are for samples; logs have their times, and --zone says which zone these are in"
        );
    }
    if logs.is_empty() && arguments.zone.is_some() {
        bail!("--zone is for logs; no log was given");
    }
    let files = profiles.into_iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
    let mut manifest = Manifest::new(&title, &super::command_line());
    if !arguments.this_boot {
        // The times are wall-clock times, with unknown relation to CLOCK_MONOTONIC.
        manifest.clock.boot_id.clear();
    }
    let recorder = Recorder::create(&arguments.output, manifest)?;
    let mut taken = Vec::new();
    let imported = files.into_iter().try_for_each(|(name, changed_ns, file)| {
        let options = ImportOptions {
            format: match arguments.format {
                Format::Auto => None,
                Format::Jfr => Some(ImportFormat::Jfr),
                Format::Perf => Some(ImportFormat::Perf),
                Format::Folded => Some(ImportFormat::Folded),
                Format::Pprof => Some(ImportFormat::Pprof),
                Format::Bpftrace => Some(ImportFormat::Bpftrace),
                Format::Bcc => Some(ImportFormat::Bcc),
            },
            node: arguments.node.clone().unwrap_or_else(|| name.clone()),
            event: arguments.event.clone(),
            interval: arguments.interval,
            ghz: arguments.ghz,
            place: match (arguments.begins, arguments.this_boot) {
                (Some(ns), _) => TimeAlignment::BeginsAt(ns),
                (None, true) => TimeAlignment::ThisBoot,
                (None, false) => TimeAlignment::EndsAt(changed_ns),
            },
        };
        let imported = import_one(&recorder, &name, file, &options)?;
        taken.push(json_of(&name, &imported));
        Ok::<(), anyhow::Error>(())
    });
    let imported = imported.and_then(|()| {
        let Some(first) = logs.first() else { return Ok(()) };
        let name = || first.file_stem().or(first.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        let options = LogOptions { node: arguments.node.clone().unwrap_or_else(name), ahead_ns: arguments.zone };
        let paths: Vec<&Path> = logs.iter().map(|path| path.as_path()).collect();
        let nodes =
            import_logs(&recorder, &paths, &options).with_context(|| format!("cannot import {}", first.display()))?;
        taken.extend(nodes.iter().map(json_of_logs));
        nodes.iter().for_each(say_logs);
        Ok(())
    });
    if let Err(error) = imported {
        // The import failed: remove the recording, so that its name can be used again.
        drop(recorder);
        std::fs::remove_dir_all(&arguments.output)
            .with_context(|| format!("cannot take {} away again", arguments.output.display()))?;
        return Err(error);
    }
    let summary = super::close_waiting(&recorder)?;
    super::say_closed(&summary);
    if arguments.json {
        terminal::json(&json!({ "recorded": super::Recorded::of(&summary), "files": taken }))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn import_one(recorder: &Recorder, name: &str, file: Box<dyn BufRead>, options: &ImportOptions) -> Result<Imported> {
    let imported = import(recorder, file, options).with_context(|| format!("cannot import {name}"))?;
    for (event, (samples, weight)) in &imported.events {
        let samples = terminal::count(*samples);
        let weight = terminal::count(weight.unsigned_abs());
        terminal::talk(format_args!(
            "{name}: {samples} samples of {event}, weight {weight} ({})",
            imported.format.name()
        ));
    }
    for note in &imported.notes {
        terminal::talk(terminal::dim(format_args!("{name}: {note}")));
    }
    if !imported.losses.is_empty() {
        let lost = terminal::count(imported.lost);
        terminal::warn(format_args!("{name}: {lost} samples are not in it: {}", imported.losses.join("; ")));
    }
    Ok(imported)
}

fn json_of(name: &str, imported: &Imported) -> Value {
    let events = imported
        .events
        .iter()
        .map(|(event, (samples, weight))| json!({ "event": event, "samples": samples, "weight": weight }));
    json!({
        "file": name,
        "format": imported.format.name(),
        "events": events.collect::<Vec<_>>(),
        "lost": imported.lost,
        "losses": imported.losses,
        "notes": imported.notes,
    })
}

fn say_logs(logs: &ImportedLogs) {
    let node = &logs.node;
    let events = logs.events.iter().map(|(kind, events)| format!("{} {kind}", terminal::count(*events)));
    let mut parts: Vec<String> = events.collect();
    if logs.pauses > 0 {
        parts.insert(0, format!("{} pauses", terminal::count(logs.pauses)));
    }
    let span = logs.span_ns.map_or(String::new(), |(first, last)| format!(", {} to {}", day(first), day(last)));
    terminal::talk(format_args!("{node}: {} of {} log files{span}", parts.join(", "), logs.files));
    for note in &logs.notes {
        terminal::talk(terminal::dim(format_args!("{node}: {note}")));
    }
    for loss in &logs.losses {
        terminal::warn(format_args!("{node}: {loss}"));
    }
}

fn json_of_logs(logs: &ImportedLogs) -> Value {
    json!({
        "node": logs.node,
        "format": "log",
        "files": logs.files,
        "events": logs.events,
        "pauses": logs.pauses,
        "first_ns": logs.span_ns.map(|(first, _)| first),
        "last_ns": logs.span_ns.map(|(_, last)| last),
        "losses": logs.losses,
        "notes": logs.notes,
    })
}

fn day(ns: i64) -> String {
    chrono::DateTime::from_timestamp_nanos(ns).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Name, modification time and size of a file.
fn open(path: &Path) -> Result<(String, i64, Box<dyn BufRead>)> {
    let since_epoch = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    };
    if path == Path::new("-") {
        return Ok(("stdin".into(), since_epoch(SystemTime::now()), Box::new(BufReader::new(std::io::stdin()))));
    }
    let file = given::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let facts = file.metadata().with_context(|| format!("cannot read {}", path.display()))?;
    let changed_ns = facts.modified().map_or_else(|_| since_epoch(SystemTime::now()), since_epoch);
    let unpacked = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unpacked = Path::new(unpacked.strip_suffix(".gz").unwrap_or(&unpacked));
    let name = unpacked.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, changed_ns, Box::new(BufReader::with_capacity(1 << 16, file))))
}

fn event(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_:./".contains(c));
    if is_name { Ok(text.to_string()) } else { Err("a name of letters and digits, such as cpu".to_string()) }
}

fn ghz(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ghz) if (0.01..=100.0).contains(&ghz) => Ok(ghz),
        _ => Err("cycles in a nanosecond, such as 2.6".to_string()),
    }
}

fn zone_ns(text: &str) -> Result<i64, String> {
    let zone = text.parse::<chrono::FixedOffset>().map_err(|error| format!("{error}; an offset such as +02:00"))?;
    Ok(i64::from(zone.local_minus_utc()) * 1_000_000_000)
}

fn time_ns(text: &str) -> Result<i64, String> {
    let time = chrono::DateTime::parse_from_rfc3339(text)
        .map_err(|error| format!("{error}; a time with its zone, such as 2026-07-01T12:00:00Z"))?;
    time.timestamp_nanos_opt().ok_or_else(|| "that is centuries away".to_string())
}
