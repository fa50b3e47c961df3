//! Times of requests by operation and interval while a run goes on: for callers that show or log intervals of their own
//! beside the tallies of the phases.

use crate::Outcome;
use hdrhistogram::Histogram;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Collects the times of measured phases from the driver threads until the caller takes them. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    /// One entry for each driver thread, to avoid contention.
    shares: Arc<Mutex<Vec<Share>>>,
}

type Share = Arc<Mutex<Vec<OperationTimes>>>;

/// Times and outcomes of the requests of one operation in an interval.
#[derive(Debug, Clone)]
pub struct OperationTimes {
    /// Service times in ns, to 3 digits, of requests that were answered or timed out.
    pub service: Histogram<u64>,
    /// Times from the intended start; empty in a closed loop, where they equal the service times.
    pub response: Histogram<u64>,
    /// Times from the intended to the actual start.
    pub wait: Histogram<u64>,
    /// Requests that ended, successfully or not.
    pub requests: u64,
    pub failed: u64,
    /// Reads that were answered without a row.
    pub empty: u64,
    /// Number of rows in the responses.
    pub rows: u64,
    /// Partitions that inserts of generated rows wrote and range queries read, and rows that inserts wrote.
    pub partitions: u64,
    pub written: u64,
}

/// An ended request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    pub operation: usize,
    pub outcome: Outcome,
    /// The intended start; None in a closed loop.
    pub intended_ns: Option<i64>,
    pub start_ns: i64,
    pub end_ns: i64,
    /// Number of rows; None if the response can't have rows.
    pub rows: Option<u64>,
    /// Number of partitions that were written, or read by a range query.
    pub partitions: u64,
    /// Number of generated rows that were written.
    pub written: Option<u64>,
}

/// The intervals of one driver thread.
#[derive(Debug)]
pub(crate) struct Collector {
    share: Share,
}

impl Intervals {
    /// Returns and resets the times since the last call, by index of the operation. The list is shorter than the
    /// workload if the last operations had no request.
    pub fn take(&self) -> Vec<OperationTimes> {
        let mut sum: Vec<OperationTimes> = Vec::new();
        for share in open(&self.shares).iter() {
            let taken = std::mem::take(&mut *open(share));
            sum.resize_with(sum.len().max(taken.len()), OperationTimes::new);
            sum.iter_mut().zip(&taken).for_each(|(sum, times)| sum.add(times));
        }
        sum
    }

    pub(crate) fn collector(&self) -> Collector {
        let share = Share::default();
        open(&self.shares).push(Arc::clone(&share));
        Collector { share }
    }
}

impl Collector {
    pub fn record(&self, ended: &Timed) {
        let mut all = open(&self.share);
        let count = all.len().max(ended.operation + 1);
        all.resize_with(count, OperationTimes::new);
        all[ended.operation].record(ended);
    }
}

impl OperationTimes {
    pub fn new() -> OperationTimes {
        // Fails only for an invalid number of digits, which is a constant.
        #[allow(clippy::expect_used)]
        let times = || Histogram::new(3).expect("3 digits are valid");
        let (service, response, wait) = (times(), times(), times());
        OperationTimes { service, response, wait, requests: 0, failed: 0, empty: 0, rows: 0, partitions: 0, written: 0 }
    }

    pub fn add(&mut self, other: &OperationTimes) {
        // Can't fail, because the histograms resize themselves.
        let _ = self.service.add(&other.service);
        let _ = self.response.add(&other.response);
        let _ = self.wait.add(&other.wait);
        self.requests += other.requests;
        self.failed += other.failed;
        self.empty += other.empty;
        self.rows += other.rows;
        self.partitions += other.partitions;
        self.written += other.written;
    }

    /// Response times in open loop, service times in closed loop, where they are the same.
    pub fn latency(&self) -> &Histogram<u64> {
        if self.response.is_empty() { &self.service } else { &self.response }
    }

    fn record(&mut self, ended: &Timed) {
        self.requests += 1;
        self.failed += u64::from(ended.outcome != Outcome::Ok);
        self.empty += u64::from(ended.rows == Some(0));
        self.rows += ended.rows.unwrap_or(0);
        if ended.outcome == Outcome::Ok {
            self.partitions += ended.partitions;
            self.written += ended.written.unwrap_or(0);
        }
        if !ended.outcome.is_timed() {
            return;
        }
        // Can't fail: the histograms resize themselves, and recording has saturated values before.
        let record = |times: &mut Histogram<u64>, from_ns: i64, to_ns: i64| {
            let _ = times.record((to_ns - from_ns).max(0) as u64);
        };
        record(&mut self.service, ended.start_ns, ended.end_ns);
        if let Some(intended_ns) = ended.intended_ns {
            record(&mut self.response, intended_ns, ended.end_ns);
            record(&mut self.wait, intended_ns, ended.start_ns);
        }
    }
}

impl Default for OperationTimes {
    fn default() -> OperationTimes {
        OperationTimes::new()
    }
}

fn open<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_collect_is_taken_once() {
        let intervals = Intervals::default();
        let (one, two) = (intervals.collector(), intervals.collector());
        let ended = Timed {
            operation: 1,
            outcome: Outcome::Ok,
            intended_ns: None,
            start_ns: 1_000_000,
            end_ns: 3_000_000,
            rows: Some(2),
            partitions: 3,
            written: Some(7),
        };
        one.record(&ended);
        two.record(&Timed { intended_ns: Some(0), rows: Some(0), ..ended });
        two.record(&Timed { outcome: Outcome::Unavailable, rows: None, ..ended });
        let taken = intervals.take();
        assert_eq!((taken.len(), taken[0].requests), (2, 0));
        let times = &taken[1];
        assert_eq!((times.requests, times.failed, times.empty, times.rows), (3, 1, 1, 2));
        // The request that failed has written nothing.
        assert_eq!((times.partitions, times.written), (6, 14));
        assert_eq!((times.service.len(), times.response.len(), times.wait.len()), (2, 1, 1));
        assert_eq!(times.latency().len(), 1);
        assert_eq!(times.service.max() / 1000, 2000);
        assert_eq!((times.response.max() / 1000, times.wait.max() / 1000), (3000, 1000));
        assert!(intervals.take().iter().all(|times| times.requests == 0));
    }
}
