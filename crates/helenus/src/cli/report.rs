use super::opened::opened;
use crate::{report, terminal};
use anyhow::Result;
use clap::Args;
use helenus_explain::{Options, Report, explain};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a report of a recording: one HTML file that opens offline
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  helenus report run.helenus -o run.html\n  helenus report run.helenus --json | jq .phases"
)]
pub struct Arguments {
    recording: PathBuf,
    /// The HTML file; beside the recording otherwise
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The figures of the report as JSON, to stdout
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let engine = opened(&[&arguments.recording])?;
    let figures = Report::build(&engine, &explain(&engine, &Options::default())?)?;
    if arguments.json {
        terminal::json_line(&figures)?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = arguments.output.unwrap_or_else(|| arguments.recording.with_extension("html"));
    report::write(&figures, &output)?;
    terminal::done(format_args!("report: {}", output.display()));
    Ok(ExitCode::SUCCESS)
}
