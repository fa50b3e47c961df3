use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Version;

/// The current step; each step is reported before it begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// Another process fetches the same release; waiting for it to finish.
    WaitingForFetch { version: Version },
    /// Maven fetches the release; `files` have come down so far (0 when its own cache has them).
    Fetching { version: Version, files: usize },
    /// The release is in the cache: `jars` files.
    Fetched { version: Version, jars: usize },
    /// A node's process is about to start; `number` counts from 1.
    Starting { address: SocketAddr, number: usize, of: usize },
    /// The node answers CQL, `after` its start.
    Ready { address: SocketAddr, pid: i32, after: Duration },
    /// All nodes run; waiting until each knows all the others.
    Meeting { nodes: usize },
    /// The node was asked to stop (SIGTERM).
    Stopping { address: SocketAddr, pid: i32 },
    /// The node did not stop within `after` and is killed (SIGKILL).
    Killing { address: SocketAddr, pid: i32, after: Duration },
    /// The node's process has ended.
    Stopped { address: SocketAddr, pid: i32 },
}

/// A flag that cancels an operation: set it from a signal handler or another thread. A start then kills everything that
/// it has started and returns [`crate::Error::Cancelled`]. The flag is checked every 50 ms; only a node that accepts a
/// connection and then does not answer delays it, by 2 s.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// The flag itself, for `signal_hook::flag::register`.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
