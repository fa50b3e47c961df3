//! The side of the child: takes its limits, reads the question, answers it, and ends.

use super::ending::is_out_of_memory;
use super::{Limits, Reply, Task};
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The first argument of a process that runs within limits. People do not use it.
const MARK: &str = "__within";
/// The argument that makes such a process answer a question in place of running a command.
const ANSWER: &str = "answer";
/// This program, even if its file has been replaced.
pub(super) const OWN: &str = "/proc/self/exe";
const STACK_BYTES: usize = 64 << 20;

static APART: OnceLock<Limits> = OnceLock::new();

/// The first line of an answer; the text follows.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    is_answer: bool,
    span: Option<(i64, i64)>,
    /// Length of the text. A process that is ended meanwhile leaves a part of it.
    bytes: usize,
}

/// A process that takes these limits and then a question from the socket at its standard input.
#[cfg(not(test))]
pub(super) fn program(limits: &Limits) -> Result<Command> {
    let mut command = again(limits)?;
    command.arg(ANSWER);
    Ok(command)
}

/// In tests the program is that of the tests, which answers in one of them.
#[cfg(test)]
pub(super) fn program(limits: &Limits) -> Result<Command> {
    let mut command = Command::new(OWN);
    command.args(["--exact", "apart::tests::answers", "--nocapture"]);
    command.env(super::tests::LIMITS, serde_json::to_string(limits)?);
    Ok(command)
}

/// This program again, within limits. The arguments of a command line may follow.
pub(super) fn again(limits: &Limits) -> Result<Command> {
    let mut command = Command::new(OWN);
    command.arg0("helenus").arg(MARK).arg(serde_json::to_string(limits)?);
    Ok(command)
}

/// Whether this process runs within limits.
pub(crate) fn is_apart() -> bool {
    APART.get().is_some()
}

/// The command line of this process, for which a process that runs within limits takes them. None if the process was asked a
/// question, which is answered then.
pub(crate) fn arguments() -> Result<Option<Vec<OsString>>> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_none_or(|first| first != MARK) {
        return Ok(Some(words));
    }
    let limits = words.get(2).and_then(|limits| limits.to_str()).context("this is no command for people")?;
    let limits = serde_json::from_str(limits).context("this is no command for people")?;
    words.drain(1..3);
    match words.get(1) {
        Some(word) if word == ANSWER => {
            answer(&limits)?;
            Ok(None)
        }
        _ => {
            take(&limits)?;
            Ok(Some(words))
        }
    }
}

fn take(limits: &Limits) -> Result<()> {
    limits.take()?;
    let _ = APART.set(*limits);
    Ok(())
}

/// Answers the question that comes from the socket at standard input.
pub(super) fn answer(limits: &Limits) -> Result<()> {
    take(limits)?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut question = Vec::new();
    socket.read_to_end(&mut question)?;
    let task: Task = serde_json::from_slice(&question)?;
    let replied = in_deep_thread(move || match &task {
        Task::Page(page) => page.answer(),
        Task::Findings(wanted) => wanted.answer(),
    });
    let replied = match replied {
        Ok(ended) => ended.unwrap_or_else(|panic| Err(broken(&*panic))),
        Err(_) => Err(no_memory()),
    };
    let (is_answer, span, text) = match replied {
        Ok(Reply { body, span }) => (true, span, body),
        Err(error) => (false, None, format!("{error:#}")),
    };
    socket.write_all(serde_json::to_string(&Head { is_answer, span, bytes: text.len() })?.as_bytes())?;
    socket.write_all(b"\n")?;
    socket.write_all(text.as_bytes())?;
    Ok(())
}

fn no_memory() -> anyhow::Error {
    anyhow!("the question needs more memory than it may have; ask for a shorter time")
}

fn broken(panic: &(dyn Any + Send)) -> anyhow::Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    match text.unwrap_or_default() {
        text if is_out_of_memory(text) => {
            anyhow!("the question needs more memory than it may have; ask for a shorter time")
        }
        text => anyhow!("the question broke off; please report this: {text}"),
    }
}

/// Runs what plans queries, which is recursive, on a large stack. The inner error is that of a panic.
pub(crate) fn in_deep_thread<T: Send>(run: impl FnOnce() -> T + Send) -> io::Result<std::thread::Result<T>> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("question".into()).stack_size(STACK_BYTES);
        Ok(thread.spawn_scoped(scope, run)?.join())
    })
}

/// What a child has answered; None if it ended before it had.
pub(super) fn reply(answer: &[u8]) -> Option<Result<Reply>> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&answer[..end]).ok()?;
    let text = answer.get(end + 1..).filter(|text| text.len() == head.bytes)?;
    let body = String::from_utf8(text.to_vec()).ok()?;
    Some(match head.is_answer {
        true => Ok(Reply { body, span: head.span }),
        false => Err(anyhow!(body)),
    })
}
