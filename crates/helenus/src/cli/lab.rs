use super::explain::{FailOn, code};
use super::opened::opened;
use super::{comparison, findings, nodes};
use crate::assets::{AGENT_JAR, PROFILER};
use crate::{interrupt, report, terminal};
use anyhow::Result;
use clap::{Args, Subcommand};
use helenus_explain::{CompareOptions, Comparison, Explanation, Options, Report, explain, judge};
use helenus_lab::{Experiment, Outcome, Progress, Run};
use helenus_recording::rows::{Finding, Row, VariantResult};
use helenus_recording::{BatchBuilder, Recording};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run an experiment: nodes, load, sources, findings and report
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(RunArguments),
}

/// Run an experiment file; the studies are in experiments/
///
/// Without --node it starts the local cluster that the file describes, and stops it at the end.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus lab run experiments/flame-graphs-under-stress.toml
  helenus lab run experiments/smoke.toml --node 127.0.0.1 -o smoke.helenus
  helenus lab run experiments/smoke-variants.toml --fail-if-worse response_p99")]
struct RunArguments {
    experiment: PathBuf,
    /// A running node to measure (may be given again)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// The new recording's folder; the report goes beside it
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// End with exit code 1 when a finding is at least so severe
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// End with exit code 1 when a variant is worse than the baseline in this figure, such as throughput (may be given again)
    #[arg(long, value_name = "FIGURE", value_parser = comparison::metric)]
    fail_if_worse: Vec<&'static str>,
    /// The findings as JSON; of an experiment with variants, the comparison and the findings
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let Command::Run(arguments) = arguments.command;
    let experiment = Experiment::read(&arguments.experiment)?;
    let cancel = interrupt::cancel_on_signals()?;
    let name = arguments.experiment.file_stem().unwrap_or_default().to_string_lossy();
    let folder = arguments.output.clone().unwrap_or_else(|| super::new_recording(&name));
    let run = Run {
        experiment: &experiment,
        nodes: arguments.nodes.iter().map(|node| nodes::address(node)).collect::<Result<_>>()?,
        agent: AGENT_JAR,
        profiler: PROFILER,
        folder: folder.clone(),
        command: super::command_line(),
    };
    terminal::talk(terminal::bold(&experiment.title));
    terminal::talk(&experiment.question);
    let mut steps = terminal::Steps::new();
    let mut live = super::load::Live::default();
    let outcome = run.run(&cancel, &mut |progress| match progress {
        Progress::Cluster(progress) => nodes::show(&mut steps, &progress),
        Progress::Observe(event) => steps.keep(|| super::say_event(&event)),
        Progress::Run(run) => {
            live.belongs_to(&run);
            if !run.is_empty() {
                steps.step(run);
            }
        }
        Progress::Step(text) => steps.step(live.belonging(text)),
        Progress::Remark(text) => steps.keep(|| terminal::talk(terminal::dim(text))),
        Progress::Load(progress) => live.show(&mut steps, progress),
    })?;
    drop(steps);
    say(&outcome)?;

    let mut steps = terminal::Steps::new();
    steps.step("explaining");
    let engine = opened(&[&folder])?;
    let explanation = explain(&engine, &Options::default())?;
    let options = CompareOptions { named: arguments.fail_if_worse.clone(), ..CompareOptions::default() };
    let compared = judge(&engine, &options)?;
    keep(&mut Recording::open(&folder)?, &explanation, compared.as_ref())?;
    let page = folder.with_extension("html");
    steps.step("writing the report");
    report::write(&Report::build(&engine, &explanation)?, &page)?;
    drop(steps);
    let mut out = terminal::out();
    match (arguments.json, &compared) {
        (true, Some(compared)) => {
            let both = serde_json::json!({ "comparison": compared, "explanation": explanation });
            terminal::json(&both)?;
        }
        (true, None) => terminal::json(&explanation)?,
        (false, compared) => {
            findings::print(&mut out, &engine, &explanation, findings::FIRST, false)?;
            compared.iter().try_for_each(|compared| comparison::print(&mut out, compared))?;
        }
    }
    terminal::done(format_args!("report: {}", page.display()));
    if let Some(broken_off) = outcome.broken_off {
        return Err(anyhow::Error::from(broken_off).context("the blocks were broken off"));
    }
    if compared.is_some_and(|compared| compared.is_worse_in(&arguments.fail_if_worse)) {
        return Ok(ExitCode::from(1));
    }
    Ok(code(&explanation, arguments.fail_on))
}

/// Writes findings and comparisons into the recording, for queries in SQL.
fn keep(recording: &mut Recording, explanation: &Explanation, compared: Option<&Comparison>) -> Result<()> {
    let mut found = BatchBuilder::new(Finding::TABLE);
    explanation.for_each_row(|row| row.append_to(&mut found));
    recording.replace(found)?;
    if let Some(compared) = compared {
        let mut results = BatchBuilder::new(VariantResult::TABLE);
        compared.for_each_row(|row| row.append_to(&mut results));
        recording.replace(results)?;
    }
    Ok(())
}

fn say(outcome: &Outcome) -> Result<()> {
    if let Some(peak_per_s) = outcome.peak_per_s {
        terminal::done(format_args!("the closed loop reached {}/s", terminal::count(peak_per_s.round() as u64)));
    }
    if outcome.cancelled {
        terminal::warn("cut short; what was measured until then is recorded");
    }
    for left in &outcome.left {
        terminal::warn(left);
    }
    for load in &outcome.loads {
        super::load::print_summary(load)?;
    }
    super::say_closed(&outcome.recording);
    Ok(())
}
