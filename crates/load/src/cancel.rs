//! A handle to stop a running load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Stops a load from another thread or a signal handler. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    asked: Arc<AtomicU8>,
}

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks the load to stop. After the first call no request starts, and requests in flight get up to a second; after
    /// the second call they are aborted. Safe in a signal handler.
    pub fn stop(&self) {
        if self.asked.fetch_add(1, Ordering::Relaxed) > 1 {
            // Keep the count, so that it never wraps around to zero.
            self.asked.store(2, Ordering::Relaxed);
        }
    }

    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_asked_again(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 1
    }
}
