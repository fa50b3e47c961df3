//! Runs this command again in a process that has limits, and tells in plain words when a limit ended it.

use super::{Limits, child};
use crate::scratch::{Purpose, Scratch};
use crate::terminal;
use anyhow::{Context, Result, bail};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::task::Poll;
use std::time::Duration;
use tokio::process::Child;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals of a person or a service that ends the command.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Runs the command line of this process again, with its standard input, output and error.
pub(crate) fn again(limits: &Limits) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (ended, limits) = runtime.block_on(within(limits))?;
    let Some(status) = ended else { bail!(too_long(limits.within.unwrap_or_default())) };
    match status.signal() {
        None => Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::from(2), ExitCode::from)),
        Some(number) if ENDING.contains(&number) => {
            // SAFETY: no pointers but the default action; ends this process as the signal would have.
            unsafe {
                libc::signal(number, libc::SIG_DFL);
                libc::raise(number);
            }
            Ok(ExitCode::from(2))
        }
        Some(number) => bail!(why(number, status, &limits)),
    }
}

/// Runs the command to its end. None if it took too long.
async fn within(limits: &Limits) -> Result<(Option<ExitStatus>, Limits)> {
    let taken = |number: libc::c_int| signal(SignalKind::from_raw(number)).context("cannot take signals");
    // Before there is anything to be left behind.
    let signals = ENDING.into_iter().map(|number| Ok((number, taken(number)?))).collect::<Result<_>>()?;
    // Without a folder for intermediate results, a query fails that needs one.
    let scratch = Scratch::new(Purpose::Questions).ok();
    let limits = Limits { spill_bytes: if scratch.is_some() { limits.spill_bytes } else { 0 }, ..*limits };
    let mut command = tokio::process::Command::from(child::again(&limits)?);
    command.args(std::env::args_os().skip(1)).kill_on_drop(true);
    if let Some(scratch) = &scratch {
        command.env("TMPDIR", scratch.path());
    }
    let child = command.spawn().context("cannot start the process that runs the command")?;
    Ok((waited(child, signals, limits.within).await?, limits))
}

/// Waits for the end, and passes signals on. None if it took too long.
async fn waited(
    mut child: Child,
    mut signals: Vec<(libc::c_int, Signal)>,
    within: Option<Duration>,
) -> Result<Option<ExitStatus>> {
    let late = async {
        match within {
            Some(within) => tokio::time::sleep(within).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(late);
    loop {
        let next = std::future::poll_fn(|context| {
            let heard =
                |(number, signal): &mut (libc::c_int, Signal)| signal.poll_recv(context).is_ready().then_some(*number);
            signals.iter_mut().find_map(heard).map_or(Poll::Pending, Poll::Ready)
        });
        tokio::select! {
            status = child.wait() => return Ok(Some(status?)),
            number = next => if let Some(pid) = child.id() {
                // SAFETY: no pointers; the child has not been waited for.
                unsafe { libc::kill(pid.cast_signed(), number) };
            },
            () = &mut late => {
                child.kill().await?;
                return Ok(None);
            }
        }
    }
}

fn too_long(within: Duration) -> String {
    format!("the query took longer than {} s and was ended; --timeout gives it more", within.as_secs())
}

fn why(number: libc::c_int, status: ExitStatus, limits: &Limits) -> String {
    match number {
        // Rust's runtime has said before which of the two it was.
        libc::SIGABRT | libc::SIGSEGV => format!(
            "the command was ended. It needs more memory than the {} that it may have (choose a shorter time, fewer columns or a LIMIT), \
             or the query has too many levels or parts for the stack; the lines above say which",
            terminal::bytes(limits.memory_bytes)
        ),
        libc::SIGKILL => {
            "the command was ended from outside, probably by the kernel because the machine has no memory left".into()
        }
        _ => format!("the command broke off ({status}); please report this"),
    }
}
