use super::target;
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_cassandra::Places;
use helenus_control::placement::{self, Error, Journals, Restored, Saved};
use std::process::{Command, ExitCode};

/// Restore the CPUs that `helenus pin` changed
///
/// Every thread and interrupt gets the CPUs that it had before.
///
/// Works also after helenus was killed. Threads that were started since get the process's former CPUs. If another
/// helenus process follows the node, that process restores everything and exits.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus pin --list
  helenus unpin 4711
  helenus unpin --node 127.0.0.1
  helenus unpin --all")]
pub struct Arguments {
    /// The process
    #[arg(required_unless_present_any = ["node", "all"], conflicts_with_all = ["node", "all"])]
    pid: Option<i32>,
    /// A node on this machine, by its CQL address
    #[arg(long, value_name = "ADDRESS[:PORT]", conflicts_with = "all")]
    node: Option<String>,
    /// Unpin everything that this user has pinned
    #[arg(long)]
    all: bool,
    /// Wait until this pin has to end, and undo it: the process that `helenus pin` leaves running
    #[arg(long, hide = true, value_name = "START", requires = "pid")]
    guard: Option<u64>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The command of the process that undoes a pin when its lease ends or its helenus was killed.
pub fn guard_command(pid: i32, start_ticks: u64) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["unpin", &pid.to_string(), "--guard", &start_ticks.to_string()]);
    command
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let journals = Journals::within(&Places::of_user()?.state);
    if let (Some(pid), Some(start_ticks)) = (arguments.pid, arguments.guard) {
        placement::guard(&journals, pid, start_ticks)?;
        return Ok(ExitCode::SUCCESS);
    }
    let pid = match (&arguments.node, arguments.pid) {
        (Some(node), _) => Some(target::find(Some(node), None)?.pid),
        // An ended process may still have moved interrupts.
        (None, pid) => pid,
    };
    let is_meant = |saved: &Saved| pid.is_none_or(|pid| saved.pid == pid);
    let pinned: Vec<Saved> = journals.list()?.into_iter().filter(is_meant).collect();
    if let Some(pid) = pid.filter(|_| pinned.is_empty()) {
        return Err(Error::NotPinned { pid }.into());
    }
    let mut restored = Vec::new();
    let mut failed = None;
    for saved in &pinned {
        match placement::unpin(&journals, saved) {
            Ok(done) => restored.push(done),
            // The others are restored even if this one fails.
            Err(error) => failed = Some(failed.unwrap_or(error)),
        }
    }
    if arguments.json {
        terminal::json(&restored)?;
    } else if pinned.is_empty() {
        terminal::talk("nothing is pinned");
    }
    restored.iter().for_each(say);
    match failed {
        Some(error) => Err(error.into()),
        None if arguments.all => super::all_were_read(),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Prints what was restored.
pub fn say(restored: &Restored) {
    let Restored { pid, command, process_ended, threads, threads_since, threads_ended, interrupts } = restored;
    let name = format!("{command} (pid {pid})");
    let mut text = match process_ended {
        true => format!("{name} has ended"),
        false => format!("{threads} threads of {name} have the CPUs that they had"),
    };
    for (number, what) in [
        (threads_since, "made meanwhile have those of the process"),
        (threads_ended, "have ended"),
        (interrupts, "interrupts are where they were"),
    ] {
        if *number > 0 && !(*process_ended && what == "have ended") {
            text += &format!("; {number} {what}");
        }
    }
    terminal::done(text);
}
