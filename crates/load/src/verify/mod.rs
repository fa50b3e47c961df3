//! Reads back the rows that a load wrote, and reports missing and wrong ones.
//!
//! Every value is determined by the seed and the number of its request, so nothing of the load has to be stored: the
//! expected row is recomputed, the row is read, and the two are compared byte by byte.
//!
//! ```text
//! writes (places of populating, numbers of a mix) ─▶ rows, each with what it may be ─▶ read ─▶ compare ─▶ Verified
//! ```

mod columns;
#[cfg(test)]
mod hostile;
mod read;
mod session;
mod show;
mod writes;

use crate::driver::{self, ContactPoints};
use crate::workload::{Consistency, Workload};
use crate::{Access, Cancel, Error, Plan};
use fixedbitset::FixedBitSet;
use serde::Serialize;
use std::time::Duration;

/// Which rows are read back, and how.
#[derive(Debug, Clone)]
pub struct Verify {
    /// The workload, which must have a `[verify]`, with the seed, the population and the mix that it was run with.
    pub workload: Workload,
    /// Contact points, in the form of those of a [`Plan`].
    pub nodes: Vec<String>,
    /// Number of populating requests that were sent, counted from the first one. None: all that the workload's
    /// `[populate]` has.
    pub populated: Option<u64>,
    /// Number of requests of the mix that were sent, with or without populating. A row that several requests wrote may
    /// have the value of any of them, because only the database knows which write was last.
    pub requests: u64,
    /// Requests that were acknowledged, if known: other requests may have no effect.
    pub acknowledged: Option<Acknowledged>,
    /// Consistency level that replaces the workload's, for operations without their own.
    pub consistency: Option<Consistency>,
    pub access: Access,
    /// Number of reads in flight; more than 64 are not.
    pub in_flight: usize,
    pub request_timeout: Duration,
    /// The number of examples for each kind of wrong row.
    pub examples: usize,
}

/// Numbers of requests that the database acknowledged as written.
#[derive(Debug, Clone, Default)]
pub struct Acknowledged {
    populated: FixedBitSet,
    requests: FixedBitSet,
}

impl Acknowledged {
    /// One bit per request: 2 GiB of memory at most.
    const HIGHEST: u64 = 1 << 34;

    /// Adds a request by its number in the table `requests`, negative for populating. Returns false if the number is
    /// too high to be real.
    pub fn add(&mut self, number: i64) -> bool {
        let (numbers, place) = match number {
            ..0 => (&mut self.populated, number.unsigned_abs() - 1),
            _ => (&mut self.requests, number.unsigned_abs()),
        };
        if place < Self::HIGHEST {
            numbers.grow_and_insert(place as usize);
        }
        place < Self::HIGHEST
    }

    /// The number of populating requests.
    pub fn populated(&self) -> u64 {
        self.populated.len() as u64
    }

    /// The number of requests of the mix, up to the last acknowledged one.
    pub fn requests(&self) -> u64 {
        self.requests.len() as u64
    }

    fn contains(&self, populates: bool, request: u64) -> bool {
        let numbers = if populates { &self.populated } else { &self.requests };
        numbers.contains(request as usize)
    }
}

/// The result of the verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    pub workload: String,
    /// The compared columns. If there are none, only the existence of the rows was checked.
    pub columns: Vec<String>,
    /// Rows that were read: the sum of the next five fields.
    pub checked: u64,
    pub right: u64,
    /// Missing rows whose writes were never acknowledged, which is correct.
    pub unacknowledged: u64,
    pub missing: u64,
    pub wrong: u64,
    /// Rows whose read failed, so that nothing is known about them.
    pub unreadable: u64,
    /// The first few examples of each kind, in the order in which they were written.
    pub examples: Vec<Example>,
    /// Whether the verification was stopped before all rows were read.
    pub stopped: bool,
}

/// A wrong row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    pub kind: Kind,
    /// Columns of the read and their values, such as `key = 5`.
    pub key: String,
    /// The found and the expected value, or the error; empty for a missing row.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Missing,
    Wrong,
    Unreadable,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Missing => "missing",
            Kind::Wrong => "wrong",
            Kind::Unreadable => "unreadable",
        }
    }
}

/// The result for a row.
#[derive(Debug)]
enum Found {
    /// The row has the values of one of its writes.
    Right,
    Unacknowledged,
    Example(Example),
}

impl Verify {
    /// The defaults: all populated rows, 128 reads in flight, 10 s timeout, 5 examples.
    pub fn new(workload: Workload, nodes: Vec<String>) -> Verify {
        Verify {
            workload,
            nodes,
            populated: None,
            requests: 0,
            acknowledged: None,
            consistency: None,
            access: Access::default(),
            in_flight: 64,
            request_timeout: Duration::from_secs(10),
            examples: 5,
        }
    }
}

impl Verified {
    /// Whether every row exists with the expected values.
    pub fn is_right(&self) -> bool {
        self.right + self.unacknowledged == self.checked
    }

    /// Whether any row is missing or has wrong values.
    pub fn has_damage(&self) -> bool {
        self.missing + self.wrong > 0
    }

    fn add(&mut self, found: Found, most: usize) {
        self.checked += 1;
        let example = match found {
            Found::Right => {
                self.right += 1;
                return;
            }
            Found::Unacknowledged => {
                self.unacknowledged += 1;
                return;
            }
            Found::Example(example) => example,
        };
        match example.kind {
            Kind::Missing => self.missing += 1,
            Kind::Wrong => self.wrong += 1,
            Kind::Unreadable => self.unreadable += 1,
        }
        if self.examples.iter().filter(|other| other.kind == example.kind).count() < most {
            self.examples.push(example);
        }
    }
}

/// Reads the rows back and compares them. Calls `progress` about every thousand rows. It returns an error if nothing
/// could be compared.
pub fn verify(order: &Verify, cancel: &Cancel, progress: &mut dyn FnMut(&Verified)) -> Result<Verified, Error> {
    let plan = Plan {
        consistency: order.consistency,
        request_timeout: order.request_timeout,
        create_schema: false,
        access: order.access.clone(),
        ..Plan::new(order.workload.clone(), Vec::new(), order.nodes.clone())
    };
    plan.check()?;
    let ContactPoints { open, .. } = driver::reach(&plan.nodes, plan.access.tls.as_ref())?;
    read::all(order, &plan, &open, cancel, progress)
}
