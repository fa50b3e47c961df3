//! The command line, one file for each subcommand. The functions that they share with other programs are in the other crates.

mod access;
mod advise;
mod agent;
mod clients;
mod compare;
mod comparison;
mod completions;
mod doctor;
mod down;
#[cfg(test)]
mod examples;
mod executor;
mod explain;
mod export;
mod findings;
mod flame;
mod freeze;
mod gc;
mod help;
mod import;
mod io;
mod lab;
mod licenses;
mod live;
mod load;
mod moment;
mod nodes;
mod opened;
mod partitions;
mod peers;
mod phases;
mod pin;
mod points;
mod probes;
#[cfg(test)]
mod proposed;
mod ps;
mod record;
mod recorders;
mod recording;
mod report;
mod responder;
mod serve;
mod spectrogram;
mod sql;
mod statements;
mod stress;
mod tables;
mod target;
mod top;
mod traffic;
mod trial;
mod tune;
mod unpin;
mod up;
mod valve;
mod verify;
mod window;

pub use help::parse;

use crate::apart::{self, Limits};
use crate::command_line::command_line;
use crate::terminal;
use anyhow::Result;
use clap::{Parser, Subcommand};
use helenus_observe::Event;
use helenus_recording::{CLOSE_FOR, Loss, Recorder, Summary, TableFacts};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// A performance laboratory for Apache Cassandra: why were these requests slow, and what makes them fast?
///
/// Exit codes: 0 success, 1 a finding at or above the requested severity or a requested regression, 2 an error.
#[derive(Debug, Parser)]
#[command(name = "helenus", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(up::Arguments),
    Down(down::Arguments),
    Ps(ps::Arguments),
    Load(load::Arguments),
    Stress(stress::Arguments),
    Verify(verify::Arguments),
    Responder(responder::Arguments),
    Record(record::Arguments),
    Explain(explain::Arguments),
    Report(report::Arguments),
    Serve(serve::Arguments),
    Statements(statements::Arguments),
    Clients(clients::Arguments),
    Partitions(partitions::Arguments),
    Top(top::Arguments),
    Flame(flame::Arguments),
    Freeze(freeze::Arguments),
    Io(io::Arguments),
    Gc(gc::Arguments),
    Tables(tables::Arguments),
    Advise(advise::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Spectrogram(spectrogram::Arguments),
    Sql(sql::Arguments),
    Recording(recording::Arguments),
    Points(points::Arguments),
    Probes(probes::Arguments),
    Valve(valve::Arguments),
    Executor(executor::Arguments),
    Tune(tune::Arguments),
    Try(trial::Arguments),
    Pin(pin::Arguments),
    Unpin(unpin::Arguments),
    Lab(lab::Arguments),
    Compare(compare::Arguments),
    Agent(agent::Arguments),
    Doctor(doctor::Arguments),
    Licenses(licenses::Arguments),
    Completions(completions::Arguments),
}

impl Command {
    /// The limits of a command that does nothing but read recordings; None for others.
    fn limits(&self) -> Option<Limits> {
        let reads = match self {
            Command::Sql(arguments) => return Some(arguments.limits()),
            Command::Explain(_) | Command::Report(_) | Command::Flame(_) | Command::Export(_) => true,
            Command::Compare(_) | Command::Spectrogram(_) | Command::Io(_) => true,
            Command::Statements(arguments) => arguments.chosen.reads_recordings(),
            Command::Clients(arguments) => arguments.chosen.reads_recordings(),
            Command::Partitions(arguments) => arguments.chosen.reads_recordings(),
            Command::Gc(arguments) => arguments.sources.reads_recordings(),
            Command::Tables(arguments) => arguments.sources.reads_recordings(),
            Command::Advise(arguments) => arguments.sources.reads_recordings(),
            _ => false,
        };
        reads.then(Limits::of_command)
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    helenus_control::placement::guard_with(unpin::guard_command);
    if let Some(limits) = arguments.command.limits().filter(|_| !apart::is_apart()) {
        return apart::again(&limits);
    }
    match arguments.command {
        Command::Up(arguments) => up::run(arguments),
        Command::Down(arguments) => down::run(arguments),
        Command::Ps(arguments) => ps::run(arguments),
        Command::Load(arguments) => load::run(arguments),
        Command::Stress(arguments) => stress::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Responder(arguments) => responder::run(&arguments),
        Command::Record(arguments) => record::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Statements(arguments) => statements::run(&arguments),
        Command::Clients(arguments) => clients::run(&arguments),
        Command::Partitions(arguments) => partitions::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Flame(arguments) => flame::run(arguments),
        Command::Freeze(arguments) => freeze::run(arguments),
        Command::Io(arguments) => io::run(arguments),
        Command::Gc(arguments) => gc::run(arguments),
        Command::Tables(arguments) => tables::run(arguments),
        Command::Advise(arguments) => advise::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Spectrogram(arguments) => spectrogram::run(&arguments),
        Command::Sql(arguments) => sql::run(arguments),
        Command::Recording(arguments) => recording::run(arguments),
        Command::Points(arguments) => points::run(&arguments),
        Command::Probes(arguments) => probes::run(&arguments),
        Command::Valve(arguments) => valve::run(arguments),
        Command::Executor(arguments) => executor::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Try(arguments) => trial::run(&arguments),
        Command::Pin(arguments) => pin::run(&arguments),
        Command::Unpin(arguments) => unpin::run(&arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Licenses(arguments) => licenses::run(&arguments),
        Command::Completions(arguments) => completions::run(arguments),
    }
}

/// Interval of checks for a signal.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Parses a duration as people write it: 100ms, 90s, 2m.
fn duration(text: &str) -> Result<Duration, String> {
    helenus_notation::quantity::duration(text).map_err(|error| error.to_string())
}

/// A share in percent, above 0 and below 100: 5 or 5%.
fn percent(text: &str) -> Result<f64, String> {
    let wrong = || "percent above 0 and below 100, such as 5".to_string();
    let percent: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| wrong())?;
    if percent > 0.0 && percent < 100.0 { Ok(percent / 100.0) } else { Err(wrong()) }
}

/// Like [`duration`], but also accepts `0s`.
fn duration_or_zero(text: &str) -> Result<Duration, String> {
    if text.trim() == "0s" { Ok(Duration::ZERO) } else { duration(text) }
}

/// The default name of a recording, in the current folder.
fn new_recording(what: &str) -> PathBuf {
    PathBuf::from(format!("{what}-{}.helenus", chrono::Local::now().format("%Y%m%d-%H%M%S")))
}

/// Closes the recording of a run, and shows what it waits for if the disk is full. If the run failed, the run's error
/// is the result, and an error of closing is a warning.
fn close<T, E>(recorder: &Recorder, run: &Result<T, E>) -> Result<Summary, helenus_recording::Error> {
    let closed = close_waiting(recorder);
    if let (Err(error), true) = (&closed, run.is_err()) {
        terminal::warn(error);
    }
    closed
}

fn close_waiting(recorder: &Recorder) -> Result<Summary, helenus_recording::Error> {
    let mut steps = terminal::Steps::new();
    let mut is_said = false;
    recorder.close_within(CLOSE_FOR, &mut |waiting| {
        let rows = terminal::count(waiting.rows);
        let line = format!("{}; {rows} rows wait in memory", waiting.error);
        if std::mem::replace(&mut is_said, true) {
            steps.live(format_args!("{line}, for another {} s", waiting.left.as_secs()));
        } else {
            steps.step(format_args!("{line}; trying for {} s", waiting.left.as_secs()));
        }
    })
}

/// Shows whether rows can't be written to the disk while recording. Returns whether that is the case.
fn show_disk(steps: &mut terminal::Steps, recorder: &Recorder) -> bool {
    let health = recorder.health();
    let Some(error) = health.disk_error else { return false };
    let line = format!("{error}; {} rows wait in memory", terminal::count(health.rows_waiting));
    match health.rows_lost {
        0 => steps.live(line),
        lost => steps.live(format_args!("{line}, {} are lost", terminal::count(lost))),
    }
    // Without a terminal, print each error once.
    if steps.is_plain() {
        steps.step(format_args!("{error}; rows wait in memory"));
    }
    true
}

fn say_event(event: &Event) {
    match event {
        Event::AgentConnected { node, java, cassandra } => {
            let what = cassandra.as_ref().map_or_else(|| "a JVM".to_string(), |version| format!("Cassandra {version}"));
            terminal::done(format_args!("the agent is in {node}: {what} on Java {java}"));
        }
        Event::Degraded { node, reason, .. } => terminal::warn(format_args!("{node}: {reason}")),
        Event::AgentLog { node, line } => terminal::talk(terminal::dim(format_args!("{node} agent: {line}"))),
        Event::AgentGone { node, reason } => {
            terminal::talk(terminal::dim(format_args!("{node}: the agent has gone ({reason})")))
        }
        Event::TargetEnded { node, pid } => terminal::warn(format_args!("{node} (pid {pid}) has ended")),
    }
}

/// A finished recording, as --json prints it.
#[derive(Debug, Serialize)]
struct Recorded<'a> {
    recording: &'a Path,
    rows: u64,
    bytes: u64,
    tables: &'a BTreeMap<String, TableFacts>,
    /// Missing rows, with the reason.
    losses: &'a [Loss],
}

impl<'a> Recorded<'a> {
    fn of(summary: &'a Summary) -> Recorded<'a> {
        Recorded::in_folder(&summary.folder, &summary.tables, &summary.losses)
    }

    fn in_folder(folder: &'a Path, tables: &'a BTreeMap<String, TableFacts>, losses: &'a [Loss]) -> Recorded<'a> {
        Recorded {
            recording: folder,
            rows: tables.values().map(|table| table.rows).sum(),
            bytes: tables.values().map(|table| table.bytes).sum(),
            tables,
            losses,
        }
    }
}

/// The end of a command that undoes everything: fails if the journal has entries that could not be read.
fn all_were_read() -> Result<ExitCode> {
    let skipped = helenus_cassandra::journal::skipped().len();
    anyhow::ensure!(skipped == 0, "{skipped} of the journal's entries can't be read, so something may be left");
    Ok(ExitCode::SUCCESS)
}

/// Prints where the recording is, and its losses.
fn say_closed(summary: &Summary) {
    let Recorded { rows, bytes, .. } = Recorded::of(summary);
    terminal::done(format_args!(
        "recorded {} rows ({}) in {}",
        terminal::count(rows),
        terminal::bytes(bytes),
        summary.folder.display()
    ));
    for loss in &summary.losses {
        let rows = loss.rows.map_or("rows".to_string(), |rows| format!("{} rows", terminal::count(rows)));
        terminal::warn(format_args!("{rows} of {} are missing: {}", loss.table, loss.reason));
    }
}
