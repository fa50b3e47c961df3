//! Keeps leases in a node for as long as an experiment needs them.

use helenus_control::Link;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// If this process is killed, the leases are no longer renewed, and the node undoes the changes after this time.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// Renews leases in a node until it is dropped.
pub(crate) struct LeaseKeeper {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LeaseKeeper {
    pub fn start(mut link: Link, renew: impl Fn(&mut Link) + Send + 'static) -> LeaseKeeper {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(LEASE / 3) == Err(RecvTimeoutError::Timeout) {
                renew(&mut link);
            }
        });
        LeaseKeeper { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic there would come from the link; then the leases end by themselves.
            let _ = thread.join();
        }
    }
}
