use super::nodes;
use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use helenus_cassandra::Places;
use helenus_cassandra::state::Registry;
use std::process::ExitCode;

/// Stop local clusters that `helenus up` started
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  helenus down\n  helenus down wide --keep-data\n  helenus down --all")]
pub struct Arguments {
    /// Name of the cluster; may be left out when there is only one
    #[arg(value_name = "NAME")]
    cluster: Option<String>,
    /// Stop the cluster with this name, as given to `helenus up`
    #[arg(long, value_name = "NAME", conflicts_with = "cluster")]
    name: Option<String>,
    /// Stop all
    #[arg(long, conflicts_with_all = ["cluster", "name"])]
    all: bool,
    /// Keep temporary data
    #[arg(long)]
    keep_data: bool,
    /// Print the stopped clusters as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let registry = Registry::new(Places::of_user()?);
    let is_all = arguments.all;
    let known: Vec<String> = registry.list()?.into_iter().map(|status| status.record.name).collect();
    let names = match (arguments.cluster.or(arguments.name), arguments.all) {
        (Some(name), _) => vec![name],
        (None, true) => known,
        (None, false) if known.len() > 1 => {
            bail!("there are several clusters ({}); name one, or stop all with --all", known.join(", "))
        }
        (None, false) => known,
    };
    if names.is_empty() {
        terminal::talk("no local cluster runs");
    }
    let mut steps = terminal::Steps::new();
    let mut all = Vec::new();
    let mut failed = Vec::new();
    for name in names {
        let down = registry.down(&name, arguments.keep_data, &mut |progress| nodes::show(&mut steps, &progress));
        let stopped = match down {
            Ok(stopped) => stopped,
            // The others are stopped even if this one can't be.
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        steps.keep(|| {
            terminal::done(format_args!("stopped {}; its log is in {}", stopped.name, stopped.logs.display()));
            if let Some(data) = &stopped.data {
                terminal::talk(format_args!("  its data is in {}", data.display()));
            }
        });
        all.push(stopped);
    }
    drop(steps);
    if arguments.json {
        terminal::json(&all)?;
    }
    if failed.len() > 1 {
        let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
        bail!("{} clusters were not stopped: {}", failed.len(), failed.join("; "));
    }
    if let Some(error) = failed.pop() {
        return Err(error.into());
    }
    if is_all { super::all_were_read() } else { Ok(ExitCode::SUCCESS) }
}
