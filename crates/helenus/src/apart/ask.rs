//! Asks a child, and ends it when it takes too long or nobody waits for its answer any more.

use super::ending::{too_large, too_long, why};
use super::{Limits, Task, child};
use crate::scratch;
use anyhow::{Context, Result, bail};
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr};

const LONGEST_ANSWER: usize = 64 << 20;
const LONGEST_SAID: u64 = 16 << 10;
/// The time limit of a question that has none of its own.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) body: String,
    /// The interval of the recording, if the child has computed it.
    pub(crate) span: Option<(i64, i64)>,
}

/// Has a child answer a question. Dropping the future ends the child.
pub(crate) async fn ask(task: &Task, limits: &Limits) -> Result<Reply> {
    let question = serde_json::to_vec(task)?;
    let (own, of_child) = std::os::unix::net::UnixStream::pair().context("cannot ask a process")?;
    own.set_nonblocking(true)?;
    // Without a folder for intermediate results, a query fails that needs one.
    let folder = scratch::of_questions().and_then(|scratch| scratch.inner().ok());
    let limits = &Limits { spill_bytes: if folder.is_some() { limits.spill_bytes } else { 0 }, ..*limits };
    let mut command = tokio::process::Command::from(child::program(limits)?);
    command.stdin(OwnedFd::from(of_child)).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(folder) = &folder {
        command.env("TMPDIR", folder.path());
    }
    let child = command.spawn().context("cannot start a process that answers the question")?;
    // It holds the child's end of the socket.
    drop(command);
    let mut running = Running { child: Some(child), folder };
    let within = limits.within.unwrap_or(FOREVER);
    let told = tokio::time::timeout(within, running.heard(own, &question)).await;
    if told.is_err() {
        running.end().await;
        bail!(too_long(within));
    }
    let (answer, said, status) = told.context("it ended in time")??;
    match child::reply(&answer) {
        Some(reply) => reply,
        None => bail!(why(status, &said, limits)),
    }
}

/// A child that has not been waited for.
struct Running {
    child: Option<Child>,
    /// Holds what the child writes to the disk.
    folder: Option<TempDir>,
}

impl Running {
    /// Passes the question, and returns the answer, what the child said on standard error, and how it ended.
    async fn heard(
        &mut self,
        socket: std::os::unix::net::UnixStream,
        question: &[u8],
    ) -> Result<(Vec<u8>, String, ExitStatus)> {
        let Some(child) = &mut self.child else { bail!("it has been ended") };
        let stderr = child.stderr.take();
        let (answer, said) = tokio::try_join!(answered(UnixStream::from_std(socket)?, question), heard(stderr))?;
        let status = child.wait().await.context("cannot wait for the process that answered")?;
        self.child = None;
        Ok((answer, said, status))
    }

    async fn end(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill().await;
            self.child = None;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let folder = self.folder.take();
        let _ = child.start_kill();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Until it has ended, it may write another file.
            runtime.spawn(async move {
                let _ = child.wait().await;
                drop(folder);
            });
        }
    }
}

async fn answered(mut socket: UnixStream, question: &[u8]) -> Result<Vec<u8>> {
    // A child that has ended is no error here: how it ended tells more.
    let _ = socket.write_all(question).await;
    let _ = socket.shutdown().await;
    let mut answer = Vec::new();
    let _ = socket.take(LONGEST_ANSWER as u64 + 1).read_to_end(&mut answer).await;
    if answer.len() > LONGEST_ANSWER {
        bail!(too_large(LONGEST_ANSWER));
    }
    Ok(answer)
}

async fn heard(stderr: Option<ChildStderr>) -> Result<String> {
    let mut said = Vec::new();
    if let Some(stderr) = stderr {
        let mut first = stderr.take(LONGEST_SAID);
        let _ = first.read_to_end(&mut said).await;
        let _ = tokio::io::copy(&mut first.into_inner(), &mut tokio::io::sink()).await;
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}
