use super::opened::say_skipped;
use super::recorders;
use crate::interrupt::cancel_on_signals;
use crate::{flushed, terminal};
use anyhow::{Result, bail};
use clap::Args;
use helenus_recording::freeze;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Copy the last minutes of a recording into a recording of their own
///
/// The copy is a closed recording of everything that happened in that time, with the settings, tables, statements and
/// connections from before it. The recording itself goes on. A node must be one that `helenus record --keep` records on
/// this machine.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus freeze 127.0.0.1 --last 5m -o incident.helenus
  helenus freeze flight.helenus --last 5m --ago 10m -o incident.helenus")]
pub struct Arguments {
    /// The address of a node that is recorded, or a recording
    #[arg(value_name = "NODE|RECORDING")]
    what: String,
    /// How much to copy
    #[arg(long, value_name = "DURATION", value_parser = super::duration, default_value = "5m")]
    last: Duration,
    /// How long before the end of the recording the copy ends
    #[arg(long, value_name = "DURATION", value_parser = super::duration_or_zero, default_value = "0s")]
    ago: Duration,
    /// The new recording's folder [default: freeze-DATE-TIME.helenus]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Title of the new recording [default: the title of the recording and the time]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Print the new recording's rows as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let path = Path::new(&arguments.what);
    let path = match path.exists() {
        true => path.to_path_buf(),
        false if arguments.what.contains('/') || arguments.what.ends_with(".helenus") => {
            bail!("there is no recording at {}", path.display())
        }
        false => recorders::recording_of(&super::nodes::address(&arguments.what)?.ip().to_string())?,
    };
    let cancel = cancel_on_signals()?;
    let mut recording = flushed::recording(&path)?;
    let out = arguments.output.unwrap_or_else(|| super::new_recording("freeze"));
    let ns = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let end_ns = recording.ends_ns()?.saturating_sub(ns(arguments.ago));
    let title =
        arguments.title.unwrap_or_else(|| format!("{}, {:?} frozen", recording.manifest().title, arguments.last));
    let window = (end_ns.saturating_sub(ns(arguments.last)), end_ns);
    recording.verify(Some(window));
    say_skipped(&recording.skipped().iter().collect::<Vec<_>>());
    let manifest = freeze(&recording, window, &out, (&title, &super::command_line()), &|| !cancel.is_cancelled())?;
    let rows = manifest.tables.values().map(|table| table.rows).sum();
    terminal::done(format_args!("{} rows in {}", terminal::count(rows), out.display()));
    if arguments.json {
        terminal::json(&super::Recorded::in_folder(&out, &manifest.tables, &manifest.losses))?;
    }
    Ok(ExitCode::SUCCESS)
}
