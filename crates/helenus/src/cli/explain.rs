use super::findings;
use super::opened::opened;
use crate::terminal;
use anyhow::Result;
use clap::{Args, ValueEnum};
use helenus_explain::{Explanation, Options, Severity, SlowThreshold, explain};
use std::path::PathBuf;
use std::process::ExitCode;

/// Say why the slow requests of a recording were slow
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus explain run.helenus
  helenus explain run.helenus --slow 50ms --json | jq '.findings[0]'
  helenus explain run.helenus --fail-on warning   # exit code 1 when there is one")]
pub struct Arguments {
    recording: PathBuf,
    /// What counts as slow: a percentile of response time, or a duration
    #[arg(long, value_name = "p99|p99.9|DURATION", default_value = "p99")]
    slow: SlowThreshold,
    /// End with exit code 1 when a finding is at least so severe
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Show all findings, and not the seven most important alone
    #[arg(short, long)]
    all: bool,
    /// Show the query behind each finding
    #[arg(short, long)]
    queries: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FailOn {
    Information,
    Warning,
    Critical,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let engine = opened(&[&arguments.recording])?;
    let explanation = explain(&engine, &Options { threshold: arguments.slow, ..Options::default() })?;
    let mut out = terminal::out();
    if arguments.json {
        terminal::json(&explanation)?;
    } else {
        let most = if arguments.all { usize::MAX } else { findings::FIRST };
        findings::print(&mut out, &explanation, most, arguments.queries)?;
    }
    Ok(code(&explanation, arguments.fail_on))
}

/// 1 when a finding is at least as severe as asked.
pub fn code(explanation: &Explanation, fail_on: Option<FailOn>) -> ExitCode {
    code_of(explanation.findings.iter().map(|finding| finding.severity), fail_on)
}

pub fn code_of(mut severities: impl Iterator<Item = Severity>, fail_on: Option<FailOn>) -> ExitCode {
    let bound = match fail_on {
        None => return ExitCode::SUCCESS,
        Some(FailOn::Information) => Severity::Information,
        Some(FailOn::Warning) => Severity::Warning,
        Some(FailOn::Critical) => Severity::Critical,
    };
    ExitCode::from(u8::from(severities.any(|severity| severity >= bound)))
}
