//! Reads back the rows that a load wrote, and reports missing and wrong ones.
//!
//! Every value follows from the seed and the number of its request, so that nothing was to be kept of the load: what
//! each row should be is made again, the row is read, and the two are compared byte by byte.
//!
//! ```text
//! writes (places of populating, numbers of a mix) ─▶ rows, each with what it may be ─▶ read ─▶ compare ─▶ Verified
//! ```

mod columns;
mod read;
mod show;
mod writes;

use crate::driver::{self, ContactPoints};
use crate::workload::{Consistency, Workload};
use crate::{Access, Cancel, Error, Plan};
use fixedbitset::FixedBitSet;
use serde::Serialize;
use std::time::Duration;

/// The rows to read back, and how.
#[derive(Debug, Clone)]
pub struct Verify {
    /// With a `[verify]`, and with the seed, the population and the mix that it was run with.
    pub workload: Workload,
    /// Contact points, as those of a [`Plan`].
    pub nodes: Vec<String>,
    /// Requests of populating that were made: the first ones. None: all that the workload's `[populate]` has.
    pub populated: Option<u64>,
    /// Requests of the mix that were made, whether after populating or without. A row that several requests wrote may
    /// have the value of any of them: which one was the last is for the database to say.
    pub requests: u64,
    /// Requests that were acknowledged, if known: other requests may have no effect.
    pub acknowledged: Option<Acknowledged>,
    /// Consistency instead of the workload's, for operations without their own.
    pub consistency: Option<Consistency>,
    pub access: Access,
    pub in_flight: usize,
    pub request_timeout: Duration,
    /// How many rows of each kind are named.
    pub examples: usize,
}

/// Numbers of requests that the database acknowledged as written.
#[derive(Debug, Clone, Default)]
pub struct Acknowledged {
    populated: FixedBitSet,
    requests: FixedBitSet,
}

impl Acknowledged {
    /// A bit each: 2 GiB of memory.
    const HIGHEST: u64 = 1 << 34;

    /// Adds a request by its number in the table `requests`, negative for populating. False if the number is too high
    /// for any load.
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

    /// How many requests of populating there were.
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

/// The result of verifying.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    pub workload: String,
    /// The columns that were compared. Without any, only whether the rows are there.
    pub columns: Vec<String>,
    /// Rows that were looked for: the sum of the next five.
    pub checked: u64,
    pub right: u64,
    /// Missing rows whose writes were never acknowledged, which is correct.
    pub unacknowledged: u64,
    pub missing: u64,
    pub wrong: u64,
    /// Rows whose read failed, so that nothing is known.
    pub unreadable: u64,
    /// The first few of each kind, in the order in which they were written.
    pub examples: Vec<Example>,
    /// Whether it was stopped before all rows were read.
    pub stopped: bool,
}

/// A wrong row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    pub kind: Kind,
    /// Columns of the read and their values, such as `key = 5`.
    pub key: String,
    /// The found and the expected value, or the error; empty for a row that is missing.
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
    /// The row is as one of its writes left it.
    Right,
    Unacknowledged,
    Example(Example),
}

impl Verify {
    /// All rows that populating writes, 128 reads in flight, 10 s timeout, 5 examples.
    pub fn new(workload: Workload, nodes: Vec<String>) -> Verify {
        Verify {
            workload,
            nodes,
            populated: None,
            requests: 0,
            acknowledged: None,
            consistency: None,
            access: Access::default(),
            in_flight: 128,
            request_timeout: Duration::from_secs(10),
            examples: 5,
        }
    }
}

impl Verified {
    /// Whether every row is there and as it should be.
    pub fn is_right(&self) -> bool {
        self.right + self.unacknowledged == self.checked
    }

    /// Whether a row is lost or changed.
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

/// Reads back and compares. Calls `progress` about every thousand rows. An error means that nothing could be compared.
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::Start { what: "the runtime that verifies", source })?;
    runtime.block_on(read::all(order, &plan, &open, cancel, progress))
}
