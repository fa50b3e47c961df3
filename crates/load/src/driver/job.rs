//! A request to be made.

use crate::workload::{BoundOperation, Call, PartitionRange, Pool, Sequence, Workload};

/// A request to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub phase: usize,
    /// Its number in the run, from which its operation and values follow.
    pub number: u64,
    pub sequence: Sequence,
    pub populates: bool,
    /// The intended start; None in a closed loop, where a request is intended when it starts.
    pub intended_ns: Option<i64>,
    /// The time from which on only the driver itself delayed the request.
    pub ready_ns: i64,
    /// The partitions of generated rows that the request uses, set just before it is sent.
    pub taken: PartitionRange,
}

#[derive(Debug)]
pub(super) enum Next {
    Job(Job),
    /// No request is due yet; the next one is due at this time.
    At(i64),
    Over,
}

impl Job {
    /// The request's number in the recording: populating requests count from -1 downwards.
    pub fn row_number(&self) -> i64 {
        let number = self.number as i64;
        if self.populates { -1 - number } else { number }
    }

    /// Makes a request of a closed loop; `place` is its index among those of the phase.
    pub fn closed(phase: usize, first_number: u64, place: u64, populates: bool, now_ns: i64) -> Job {
        Job {
            phase,
            // The populated rows do not depend on earlier runs, so that they can be verified.
            number: if populates { place } else { first_number + place },
            sequence: if populates { Sequence::Populate(place) } else { Sequence::Distributed },
            populates,
            intended_ns: None,
            ready_ns: now_ns,
            taken: PartitionRange::default(),
        }
    }

    /// Sets the request's partitions, which it keeps if it is sent again.
    pub fn taking(mut self, seed: u64, operation: &BoundOperation, pool: &Pool) -> Job {
        self.taken = operation.take(pool, seed, self.number);
        self
    }

    /// Index of its operation.
    pub fn operation(&self, workload: &Workload) -> usize {
        match workload.populate {
            Some(populate) if self.populates => populate.operation,
            _ => workload.operation_of(self.number),
        }
    }

    /// The request's values, if it is started now.
    pub fn call<'a>(&self, seed: u64, operation: &'a BoundOperation, pool: &'a Pool, now_ns: i64) -> Call<'a> {
        Call {
            operation,
            pool,
            seed,
            number: self.number,
            sequence: self.sequence,
            intended_start_ns: self.intended_ns.unwrap_or(now_ns),
            taken: self.taken,
        }
    }
}
