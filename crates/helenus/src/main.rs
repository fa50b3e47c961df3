//! The face of Helenus: one subcommand, one file in `cli/`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod assets;
mod cli;
mod interrupt;
mod metrics;
mod report;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(cli::Arguments::parse()) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has had enough, such as `head`: no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
