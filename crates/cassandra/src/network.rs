//! The network namespace of a process.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// Why an operation in a process's network failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    #[error("cannot see in which network namespace process {pid} is: {source}; run as its user or as root")]
    Hidden { pid: i32, source: io::Error },
    #[error(
        "process {pid} is in a network namespace of its own (a container?), which cannot be entered: {source}; run helenus as root on the host"
    )]
    Closed { pid: i32, source: io::Error },
    #[error(
        "the network namespace of process {pid} has no loopback to meet its agent on: {source}; there, run `ip link set lo up`"
    )]
    NoLoopback { pid: i32, source: io::Error },
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}

/// Whether a process is in another network namespace than the calling thread.
///
/// # Errors
/// [`NetworkError::Hidden`].
pub fn is_apart(pid: i32) -> Result<bool, NetworkError> {
    let namespace = |path: &str| std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino()));
    let theirs = namespace(&format!("/proc/{pid}/ns/net"));
    let ours = namespace("/proc/thread-self/ns/net");
    theirs.and_then(|theirs| Ok(theirs != ours?)).map_err(|source| NetworkError::Hidden { pid, source })
}

/// Moves the calling thread into the network namespace of a process, for good, unless it is there.
///
/// # Errors
/// [`NetworkError::Hidden`], [`NetworkError::Closed`].
pub fn enter(pid: i32) -> Result<(), NetworkError> {
    if !is_apart(pid)? {
        return Ok(());
    }
    let closed = |source| NetworkError::Closed { pid, source };
    let namespace = File::open(format!("/proc/{pid}/ns/net")).map_err(closed)?;
    // SAFETY: setns takes no pointers, and the descriptor is open.
    match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(closed(io::Error::last_os_error())),
    }
}

/// Runs `work` in the network namespace of a process, so that its sockets belong to that network. If the namespace is
/// another one, a temporary thread enters it.
///
/// # Errors
/// As [`enter`].
pub fn within<T: Send>(pid: i32, work: impl FnOnce() -> T + Send) -> Result<T, NetworkError> {
    if !is_apart(pid)? {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| enter(pid).map(|()| work()));
        inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
