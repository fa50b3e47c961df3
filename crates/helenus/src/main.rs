//! The binary of Helenus: one file in `cli/` per subcommand.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
// Only `terminal` prints, because it escapes foreign text.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod apart;
mod assets;
mod cli;
mod command_line;
mod flushed;
mod interrupt;
mod local_http;
mod metrics;
mod open_files;
mod owner;
mod report;
mod scratch;
mod search;
mod serve;
mod settings;
mod terminal;

use anyhow::Result;
use std::process::ExitCode;

fn main() -> ExitCode {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if failed_print(panic.payload()).is_none() {
            tell(panic);
        }
    }));
    let outcome = std::panic::catch_unwind(run);
    helenus_cassandra::journal::skipped().iter().for_each(terminal::warn);
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            terminal::error(&error);
            for way_out in [open_files::way_out(&error), owner::way_out(&error)].into_iter().flatten() {
                terminal::talk(way_out);
            }
            ExitCode::from(2)
        }
        Err(panic) => match failed_print(&*panic) {
            Some(reason) if reason.contains("Broken pipe") => ExitCode::SUCCESS,
            Some(reason) => {
                terminal::error(&anyhow::anyhow!("cannot write to stdout: {reason}"));
                ExitCode::from(2)
            }
            None => std::panic::resume_unwind(panic),
        },
    }
}

fn run() -> Result<ExitCode> {
    assets::all_there()?;
    let Some(words) = apart::arguments()? else { return Ok(ExitCode::SUCCESS) };
    let arguments = cli::parse(words);
    match apart::is_apart() {
        true => apart::in_deep_thread(|| cli::run(arguments))?.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        false => cli::run(arguments),
    }
}

/// The reason why println! failed. println! reports an error only by a panic, which unwinds and so undoes all changes. A closed
/// pipe, such as that to `head`, is not an error.
fn failed_print(panic: &(dyn std::any::Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>()?.strip_prefix("failed printing to stdout: ")
}

/// The same error, wrapped by another layer.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
