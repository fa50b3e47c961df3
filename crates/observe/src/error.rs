//! Why a recording could not be started.

use helenus_cassandra::attach;
use helenus_cassandra::network::NetworkError;
use helenus_cassandra::target;
use std::io;

/// Why the sources could not be started. Sources that had already started are stopped again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Target(#[from] target::Error),

    #[error("{0}. Record without the agent by --no-agent: GC, safepoints, pools and tables will be missing")]
    Attach(#[from] attach::Error),

    #[error(
        "the agent in {node} (pid {pid}) did not come up: {reason}. Record without it by --no-agent: GC, safepoints, pools and tables will be missing"
    )]
    Agent { node: String, pid: u32, reason: String },

    #[error("cannot read /proc of pid {pid}: {source}. {}", way_out(source))]
    Proc { pid: u32, source: io::Error },

    #[error("{0}. Record without the agent by --no-agent: GC, safepoints, pools and tables will be missing")]
    Network(#[from] NetworkError),

    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),
}

impl Error {
    /// The error without the advice to leave out the agent.
    pub(crate) fn reason(&self) -> String {
        match self {
            Error::Attach(error) => error.to_string(),
            Error::Network(error) => error.to_string(),
            Error::Agent { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }
}

/// Why /proc of a process could not be read.
fn way_out(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => {
            "Each thread of a node takes two files, and this process may have no more: raise the limit with `ulimit -Hn 65536`, \
             or LimitNOFILE= of its service"
        }
        Some(libc::ENFILE) => "The machine has no more open files to give: see /proc/sys/fs/file-max",
        Some(libc::ENOENT | libc::ESRCH) => {
            "The process has ended, or /proc is mounted with hidepid and the process belongs to another user (run as root)"
        }
        _ => "Run as the user of that process, or as root",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_want_of_files_is_not_taken_for_a_hidden_process() {
        let of = |errno| Error::Proc { pid: 7, source: io::Error::from_raw_os_error(errno) }.to_string();
        assert!(of(libc::EMFILE).contains("ulimit -Hn") && !of(libc::EMFILE).contains("hidepid"));
        assert!(of(libc::ENFILE).contains("file-max") && !of(libc::ENFILE).contains("ended"));
        assert!(of(libc::ENOENT).contains("hidepid"));
    }
}
