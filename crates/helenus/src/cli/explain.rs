use super::opened::opened;
use super::{findings, moment, nodes};
use crate::terminal;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{Explanation, Options, Severity, SlowThreshold, TrafficFilter, explain};
use helenus_notation::quantity;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The time before and after --around that is judged.
const AROUND_NS: i64 = 30_000_000_000;

/// Explain why the slow requests of a recording were slow
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus explain run.helenus
  helenus explain run.helenus --slow 50ms --json | jq '.findings[0]'
  helenus explain run.helenus --around 40s --against 1s..20s
  helenus explain run.helenus --slow 20ms --below 80ms
  helenus explain run.helenus --contains read     # only the statements with that text
  helenus explain run.helenus --fail-on warning   # exit code 1 when there is one")]
pub struct Arguments {
    recording: PathBuf,
    /// Requests above this are slow: a percentile of response time, or a duration
    #[arg(long, value_name = "p99|p99.9|DURATION", default_value = "p99")]
    slow: SlowThreshold,
    /// Do not judge requests that took this long or longer, so that --slow 20ms --below 80ms is about those between
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    below: Option<Duration>,
    /// End with exit code 1 when a finding is at least so severe
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Judge the requests from then on: a time after the start of the recording, or one of the day in UTC
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Judge the requests until then
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Judge the requests of the 30 s before and after that time: 90s after the start, or 03:12:40 of the day in UTC
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to"])]
    around: Option<String>,
    /// A good time to compare with: slow is what is slower than its percentile
    #[arg(long, value_name = "FROM..TO")]
    against: Option<String>,
    /// Judge only the statements that contain this text, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// Judge only the requests of this client host
    #[arg(long, value_name = "ADDRESS")]
    client: Option<IpAddr>,
    /// Judge only the requests to this node
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: Option<String>,
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
    let span = engine.recorded_ns()?;
    let window = judged(&arguments, span)?;
    let against = arguments.against.as_deref().map(|range| moment::range(range, span)).transpose()?;
    window.into_iter().chain(against).try_for_each(|window| moment::overlap(window, span))?;
    let only = TrafficFilter {
        contains: arguments.contains.clone(),
        client: arguments.client.map(|client| client.to_string()),
        node: arguments.node.as_deref().map(nodes::host).transpose()?,
        below_ns: arguments.below.map(|below| i64::try_from(below.as_nanos()).unwrap_or(i64::MAX)),
        ..TrafficFilter::default()
    };
    let options = Options { threshold: arguments.slow, window, against, only, ..Options::default() };
    let explanation = explain(&engine, &options)?;
    let mut out = terminal::out();
    if arguments.json {
        terminal::json(&explanation)?;
    } else {
        let most = if arguments.all { usize::MAX } else { findings::FIRST };
        findings::print(&mut out, &engine, &explanation, most, arguments.queries)?;
    }
    Ok(code(&explanation, arguments.fail_on))
}

/// The requested time.
fn judged(arguments: &Arguments, span: (i64, i64)) -> Result<Option<(i64, i64)>> {
    if let Some(around) = &arguments.around {
        let at = moment::moment(around, span)?;
        return Ok(Some((at - AROUND_NS, at + AROUND_NS)));
    }
    let at = |text: &Option<String>| text.as_deref().map(|text| moment::moment(text, span)).transpose();
    let (from, to) = (at(&arguments.from)?, at(&arguments.to)?);
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        bail!("--from is not before --to");
    }
    let is_given = from.is_some() || to.is_some();
    Ok(is_given.then_some((from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX))))
}

/// Exit code 1 if a finding is at least as severe as requested.
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
