//! The face of Helenus: one subcommand, one file in `cli/`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
// `terminal` prints: it escapes what others wrote.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod assets;
mod cli;
mod interrupt;
mod metrics;
mod report;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_broken_print(panic.payload()) {
            tell(panic);
        }
    }));
    match std::panic::catch_unwind(|| assets::all_there().and_then(|()| cli::run(cli::parse()))) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            terminal::error(&error);
            ExitCode::from(2)
        }
        Err(panic) if is_broken_print(&*panic) => ExitCode::SUCCESS,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// println! knows no other end when whoever read our output has had enough, such as `head`: no error, and what has to be undone is.
fn is_broken_print(panic: &(dyn std::any::Any + Send)) -> bool {
    let text = panic.downcast_ref::<String>();
    text.is_some_and(|text| text.starts_with("failed printing to stdout") && text.contains("Broken pipe"))
}

/// As above, where it is written otherwise.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
