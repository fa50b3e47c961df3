//! Cancels statements that take too long or whose client is gone.

use crate::Error;
use datafusion::error::DataFusionError;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Ends statements at a deadline, or when its [`Stopper`] is dropped.
#[derive(Debug, Clone)]
pub struct Stop {
    deadline: Instant,
    limit: Duration,
    stopper: watch::Receiver<()>,
}

/// Statements may run as long as this value is alive.
#[derive(Debug)]
pub struct Stopper {
    _kept: watch::Sender<()>,
}

impl Stop {
    /// Ends statements after this long at the latest.
    pub fn after(limit: Duration) -> (Stopper, Stop) {
        let (kept, stopper) = watch::channel(());
        (Stopper { _kept: kept }, Stop { deadline: Instant::now() + limit, limit, stopper })
    }

    /// Whether somebody still waits for the result, and the deadline has not passed.
    pub fn is_wanted(&self) -> bool {
        self.stopper.has_changed().is_ok() && Instant::now() < self.deadline
    }

    /// Waits until statements have to end. Returns the reason.
    async fn wanted(&self) -> Error {
        let mut stopper = self.stopper.clone();
        tokio::select! {
            () = tokio::time::sleep_until(self.deadline) => Error::Query(format!(
                "the query took longer than {} s; ask for a shorter time, or use `helenus sql`, which has no limit",
                self.limit.as_secs()
            )),
            _ = stopper.changed() => Error::Query("nobody waits for the query any more".to_string()),
        }
    }
}

/// The result of `work`, unless the deadline or a drop of the [`Stopper`] comes first.
pub(super) async fn unless<T>(
    stop: Option<&Stop>,
    work: impl Future<Output = Result<T, DataFusionError>>,
) -> Result<T, Error> {
    let Some(stop) = stop else { return work.await.map_err(super::message::of) };
    tokio::select! {
        biased;
        reason = stop.wanted() => Err(reason),
        done = work => done.map_err(super::message::of),
    }
}
