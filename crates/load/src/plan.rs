//! The plan of a run.

use crate::schedule::Phase;
use crate::workload::{Consistency, Operation, Workload};
use crate::{Access, Compression, Error, Intervals, Protocol, Until, Work};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The driver that sends the requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DriverKind {
    /// Our own, for single prepared statements: it costs least. Other requests use the other driver, see
    /// [`Plan::driven_by`].
    #[value(help = "Helenus' own, which costs least; requests that it can't carry go by the other")]
    #[default]
    Thin,
    /// The driver crate `scylla`, which carries everything.
    #[value(help = "The driver crate scylla, which carries everything")]
    Scylla,
}

impl DriverKind {
    pub fn name(self) -> &'static str {
        match self {
            DriverKind::Thin => "thin",
            DriverKind::Scylla => "scylla",
        }
    }
}

/// A run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub workload: Workload,
    pub phases: Vec<Phase>,
    /// Contact points, each an address or a name, with `:port` where it is not 9042. The rest of the ring is found
    /// through them and driven too.
    pub nodes: Vec<String>,
    /// Whether to run the schema statements of the workload first.
    pub create_schema: bool,
    /// Whether to add a phase before all others that populates the tables; see [`crate::workload::Populate`].
    pub populate: bool,
    /// Whether to populate also if a reading operation finds its table empty, because nothing would be measured
    /// otherwise.
    pub populate_when_empty: bool,
    /// Consistency level that replaces the workload's, for operations without their own.
    pub consistency: Option<Consistency>,
    pub driver: DriverKind,
    pub connections_per_node: usize,
    /// Driver threads, each with connections of its own. One is enough up to about 200,000 requests/s.
    pub threads: usize,
    /// This process's share of the load, if several processes drive it together: its number from 0, and the number of
    /// processes.
    pub shard: (usize, usize),
    /// When the first request is due, on the clock of the recording; None: as soon as the driver is connected.
    pub start_at_ns: Option<i64>,
    /// How long the driver waits for an answer.
    pub request_timeout: Duration,
    /// The most requests of an open loop in flight. Further requests wait; their wait is part of the response time, and
    /// is counted.
    pub max_in_flight: u32,
    /// A request, or the watcher thread, that starts later than intended by more than this is counted and reported.
    pub late_bound: Duration,
    /// How long after the end of a schedule the driver may still send overdue requests and wait for responses.
    pub drain: Duration,
    pub progress_every: Duration,
    pub access: Access,
    /// The number of the first request of the mix: keys in sequence begin there.
    pub first_number: u64,
    /// The number of partitions of generated rows for all requests together; the last request gets the remaining ones.
    pub partitions: Option<u64>,
    /// Receives the times of each operation by interval as well, if the caller needs them.
    pub intervals: Option<Intervals>,
}

impl Plan {
    /// A plan with the defaults: one thread, one connection per node, 10 s timeout, 4096 in flight, 10 ms late bound.
    pub fn new(workload: Workload, phases: Vec<Phase>, nodes: Vec<String>) -> Plan {
        Plan {
            workload,
            phases,
            nodes,
            create_schema: true,
            populate: false,
            populate_when_empty: false,
            consistency: None,
            driver: DriverKind::default(),
            connections_per_node: 1,
            threads: 1,
            shard: (0, 1),
            start_at_ns: None,
            request_timeout: Duration::from_secs(10),
            max_in_flight: 4096,
            late_bound: Duration::from_millis(10),
            drain: Duration::from_secs(10),
            progress_every: Duration::from_millis(500),
            access: Access::default(),
            first_number: 0,
            partitions: None,
            intervals: None,
        }
    }

    /// The phases, with the one that populates the tables.
    pub(crate) fn all_phases(&self) -> Result<Vec<Phase>, Error> {
        let mut phases = self.phases.clone();
        let populates = self.populate || phases.iter().any(|phase| phase.work == Work::Populate);
        if populates && self.workload.populate.is_none() {
            return Err(Error::Phase {
                phase: "populate".to_string(),
                message: format!("the workload {} has no [populate] that says how", self.workload.name),
            });
        }
        if let Some(first) = self.populating().filter(|_| self.populate) {
            phases.insert(0, first);
        }
        if phases.is_empty() {
            return Err(Error::NoPhase);
        }
        phases.iter().try_for_each(Phase::check)?;
        Ok(phases)
    }

    /// The phase that populates the tables, if the workload says how.
    pub(crate) fn populating(&self) -> Option<Phase> {
        let populate = self.workload.populate?;
        let mut first = Phase::in_flight(populate.in_flight.max(1), Until::Count(populate.count));
        first.work = Work::Populate;
        Some(first.named("populate").unmeasured())
    }

    /// The operation that populates an empty table, if an operation of the run reads rows and nothing else populates
    /// them.
    pub(crate) fn wants_rows(&self) -> Option<&Operation> {
        let populate = self.workload.populate.filter(|_| self.populate_when_empty && !self.populate)?;
        let reads = |phase: &Phase| phase.work == Work::Mix;
        let populates = self.phases.iter().any(|phase| phase.work == Work::Populate);
        let asks = self.workload.mix.shares().any(|(operation, _)| self.workload.operations[operation].is_query());
        let wants = asks && !populates && self.phases.iter().any(reads);
        wants.then(|| &self.workload.operations[populate.operation])
    }

    /// The driver of the requests. The driver crate is used if the plan requests it, if an operation needs more than
    /// the thin driver supports, or if the workload has a keyspace, because the thin driver's connections have none.
    pub fn driven_by(&self) -> DriverKind {
        let workload = &self.workload;
        let run = workload.mix.shares().map(|(operation, _)| operation);
        let populate = workload.populate.map(|populate| populate.operation);
        let plain = run.chain(populate).all(|operation| workload.operations[operation].is_plain());
        match plain && workload.keyspace.is_none() {
            true => self.driver,
            false => DriverKind::Scylla,
        }
    }

    /// The index of one of this process's threads among the driver threads of all shards, and the number of these.
    pub(crate) fn place(&self, thread: usize) -> (usize, usize) {
        let (shard, shards) = self.shard;
        (shard * self.threads + thread, shards * self.threads)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |argument: &str, message: &str| {
            Err(Error::Argument { argument: argument.to_string(), message: message.to_string() })
        };
        match self {
            plan if plan.nodes.is_empty() => Err(Error::NoNode),
            plan if !(1..=256).contains(&plan.threads) => wrong("threads", "there is at least 1, and at most 256"),
            plan if !(1..=1024).contains(&plan.connections_per_node) => {
                wrong("connections", "there is at least 1 for each node, and at most 1024")
            }
            plan if plan.shard.0 >= plan.shard.1 || plan.shard.1 > 1024 => {
                wrong("shard", "it is one of at most 1024, such as the first of 3")
            }
            plan if !(1..=1_000_000).contains(&plan.max_in_flight) => {
                wrong("max in flight", "it is at least 1 and at most 1,000,000")
            }
            plan if plan.request_timeout.is_zero() => wrong("timeout", "it is longer than no time"),
            plan if plan.access.protocol == Protocol::V5 && plan.driven_by() == DriverKind::Scylla => wrong(
                "protocol",
                "version 5 is spoken by the thin driver only, and an operation of this workload (a batch, a page, a \
                 condition) or --driver wants the other: leave it at version 4",
            ),
            plan if plan.access.protocol == Protocol::V5 && plan.access.compression == Some(Compression::Snappy) => {
                wrong("compression", "version 5 of the protocol knows LZ4 only")
            }
            _ => Ok(()),
        }
    }
}
