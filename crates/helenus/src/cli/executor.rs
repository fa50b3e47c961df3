use super::target::{TargetArguments, say_log};
use crate::terminal;
use anyhow::Result;
use clap::{Args, Subcommand};
use helenus_control::{Executor, Running};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// Replace the executor of a stage of a running node
///
/// A queue for each thread, or tasks taken in batches.
///
/// Tasks that were queued before are run by the stage's own executor; each task runs once. The executor stays after
/// this command until it is removed; the stage then has its own executor again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus executor set native-transport batched-drain --batch 32 --node 127.0.0.1
  helenus executor set native-transport queue-per-thread --workers 8 --stealing --lease 10m --node 127.0.0.1
  helenus executor list --node 127.0.0.1
  helenus executor remove --all --node 127.0.0.1")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Have a stage's tasks run by another executor
    Set(Set),
    /// List the stages of a node with another executor
    List(List),
    /// Give a stage back to its own executor
    Remove(Remove),
}

#[derive(Debug, Args)]
struct Set {
    /// native-transport, read, mutation, counter-mutation or view-mutation
    stage: String,
    /// queue-per-thread or batched-drain
    kind: String,
    /// Threads [default: as many as the stage may have]
    #[arg(long, value_name = "N")]
    workers: Option<u32>,
    /// With queue-per-thread: idle workers take tasks from the queues of others
    #[arg(long)]
    stealing: bool,
    /// With batched-drain: how many tasks a worker takes at once, at the most [default: 16]
    #[arg(long, value_name = "N")]
    batch: Option<u32>,
    /// Give the stage back by itself after so long
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    lease: Option<Duration>,
    /// Proceed even if this deoptimizes the whole JVM: a busy node is slow for about a minute (see `helenus agent`)
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    target: TargetArguments,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    target: TargetArguments,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Remove {
    /// Which stage
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    stage: Option<String>,
    /// Remove all
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    target: TargetArguments,
    /// Print the remaining ones as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.action {
        Action::Set(set) => {
            let executor = Executor {
                stage: set.stage,
                kind: set.kind,
                workers: set.workers,
                stealing: set.stealing.then_some(true),
                batch: set.batch,
                cold: set.cold,
                lease_ms: set.lease.map(|lease| u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)),
            };
            executor.check().map_err(anyhow::Error::msg)?;
            let mut link = set.target.link()?;
            let running = link.set_executor(&executor)?;
            say_log(&mut link);
            if set.json {
                terminal::json(&running)?;
            } else {
                terminal::print(table(std::slice::from_ref(&running)));
                let until = match set.lease {
                    Some(lease) => format!("for {lease:?}, or until"),
                    None => "until".to_string(),
                };
                terminal::talk(terminal::dim(format_args!(
                    "it stays {until} `helenus executor remove {} {}`",
                    running.stage,
                    set.target.option()
                )));
            }
        }
        Action::List(list) => {
            let running = list.target.link()?.executors()?;
            if list.json {
                terminal::json(&running)?;
            } else if running.is_empty() {
                terminal::talk(format_args!("every stage of {} has its own executor", list.target.name()));
            } else {
                terminal::print(table(&running));
            }
        }
        Action::Remove(remove) => {
            let mut link = remove.target.link()?;
            let left = link.remove_executor(remove.stage.as_deref())?;
            say_log(&mut link);
            let gone = remove.stage.as_deref().map_or("all stages have".to_string(), |stage| format!("{stage} has"));
            terminal::done(format_args!("{gone} its own executor in {}; {} left", remove.target.name(), left.len()));
            if remove.json {
                terminal::json(&json!({ "left": left }))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(running: &[Running]) -> terminal::Table {
    let rows = running.iter().map(|running| {
        let kind = match (running.stealing, running.batch) {
            (Some(true), _) => format!("{}, stealing", running.kind),
            (_, Some(batch)) => format!("{}, up to {batch}", running.kind),
            _ => running.kind.clone(),
        };
        vec![
            running.stage.clone(),
            kind,
            running.workers.to_string(),
            running.inside.to_string(),
            running.waiting.to_string(),
            terminal::count(running.ran.unsigned_abs()),
        ]
    });
    terminal::table(&["stage", "executor", "workers", "inside", "waiting", "ran"], rows, 2)
}
