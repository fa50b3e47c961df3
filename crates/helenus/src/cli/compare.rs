use super::comparison;
use super::opened::opened;
use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use helenus_explain::{CompareOptions, Comparison, Engine, compare, judge};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare recordings or variants: a ratio, an interval, a verdict
///
/// Compares one recording with another, a set with a set, or the variants of an experiment.
///
/// Sets of equal size are paired in the given order: run their members alternately.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus compare before.helenus after.helenus
  helenus compare --baseline a1.helenus a2.helenus a3.helenus -- b1.helenus b2.helenus b3.helenus
  helenus compare adaptive-valves.helenus --fail-if-worse response_p99     # the variants in it, judged again")]
pub struct Arguments {
    /// The baseline and what is compared with it; with --baseline only the latter
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    /// The recordings to compare with, up to `--`
    #[arg(long, num_args = 1.., value_name = "RECORDING")]
    baseline: Vec<PathBuf>,
    /// The sets were not recorded in turns: pair nothing
    #[arg(long)]
    unpaired: bool,
    /// A difference below this many percent is none
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = super::percent)]
    margin: f64,
    /// Exit with code 1 if this figure is worse, such as throughput or response_p99 (repeatable). Figures named here
    /// are judged apart from the others, which takes fewer runs
    #[arg(long, value_name = "FIGURE", value_parser = comparison::metric)]
    fail_if_worse: Vec<&'static str>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = CompareOptions {
        margin: arguments.margin,
        unpaired: arguments.unpaired,
        named: arguments.fail_if_worse.clone(),
        ..CompareOptions::default()
    };
    let compared = compared(arguments, &options)?;
    let mut out = terminal::out();
    if arguments.json {
        terminal::json(&compared)?;
    } else {
        comparison::print(&mut out, &compared)?;
    }
    Ok(comparison::code(&compared, &arguments.fail_if_worse))
}

fn compared(arguments: &Arguments, options: &CompareOptions) -> Result<Comparison> {
    match (arguments.baseline.as_slice(), arguments.recordings.as_slice()) {
        ([], [one]) => {
            let engine = opened(&[one])?;
            let Some(comparison) = judge(&engine, options)? else {
                bail!(
                    "{} has no variants to compare; give another recording beside it, or record an experiment with \
                     [[variant]]s by `helenus lab run`",
                    one.display()
                );
            };
            Ok(comparison)
        }
        ([], [baseline, one]) => sets(std::slice::from_ref(baseline), std::slice::from_ref(one), options),
        ([], _) => bail!("more than two recordings: say which are the baseline, as in --baseline A1 A2 -- B1 B2"),
        (baseline, set) => sets(baseline, set, options),
    }
}

fn sets(baseline: &[PathBuf], set: &[PathBuf], options: &CompareOptions) -> Result<Comparison> {
    let engines = |paths: &[PathBuf]| paths.iter().map(|path| opened(&[path])).collect::<Result<Vec<Engine>>>();
    let (baseline, set) = ((name(baseline, "baseline"), engines(baseline)?), (name(set, "change"), engines(set)?));
    Ok(compare((&baseline.0, &baseline.1), (&set.0, &set.1), options)?)
}

/// The name of a set; a set of one recording has that recording's name.
fn name(paths: &[PathBuf], of_several: &str) -> String {
    match paths {
        [one] => one.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        _ => of_several.to_string(),
    }
}
