//! The costs of settings of the machine and the JVM to a node while it was recorded.

use super::facts::Node;
use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Value};
use crate::timeline::{Interval, merge, total_ns};
use std::collections::BTreeMap;

/// Shorter pauses have too few samples of threads within them, which are taken ten times a second.
const LONG_PAUSE_NS: i64 = 300_000_000;
/// Samples at both ends of a pause reach beyond it.
const ENDS_NS: i64 = 200_000_000;
/// A collection keeps at least one CPU busy; a pause with less than this many CPUs waited for something.
const IDLE_CPUS: f64 = 0.25;
/// Such a pause waited for a disk if tasks of the machine did for at least this share of it.
const DISK_SHARE: f64 = 0.5;

/// Costs of a node; None for what was not recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct Costs {
    /// Share of the time in which a task of the node's cgroup waited for memory.
    pub memory_share: Option<f64>,
    /// Touches of memory that waited for a disk, per second.
    pub faults_per_s: Option<f64>,
    pub idle_pauses: IdlePauses,
    /// The mean frequency of the CPUs while the node's threads ran.
    pub cpu_khz: Option<f64>,
    /// CPUs that calls to read the clock took.
    pub clock_cpus: Option<f64>,
}

/// Pauses in which the JVM used next to no CPU time while tasks waited for a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IdlePauses {
    pub pauses: usize,
    pub total_ns: i64,
    pub longest_ns: i64,
}

pub(super) fn costs(engine: &Engine, nodes: &mut BTreeMap<String, Node>) -> Result<(), Error> {
    let rows = engine.sql(&query::MEMORY_WAITS.fill(&[]))?;
    let (waited, waits_seen) = (rows.integers("waited_ns")?, rows.integers("waits_seen_ns")?);
    let (faults, faults_seen) = (rows.integers("major_faults")?, rows.integers("faults_seen_ns")?);
    let share = |part: i64, whole: i64| (whole > 0).then(|| part as f64 / whole as f64);
    for (row, node) in rows.texts("node")?.into_iter().enumerate() {
        let costs = &mut nodes.entry(node).or_default().costs;
        costs.memory_share = share(waited[row], waits_seen[row]);
        costs.faults_per_s = share(faults[row], faults_seen[row]).map(|per_ns| per_ns * 1e9);
    }
    let rows = engine.sql(&query::FREQUENCIES.fill(&[]))?;
    let (cycles, cpu) = (rows.integers("cycles")?, rows.integers("cpu_ns")?);
    for (row, node) in rows.texts("node")?.into_iter().enumerate() {
        // Cycles per ns are GHz.
        nodes.entry(node).or_default().costs.cpu_khz = share(cycles[row], cpu[row]).map(|ghz| ghz * 1e6);
    }
    let rows = engine.sql(&query::CLOCK_CALLS.fill(&[]))?;
    let (clock, seen) = (rows.integers("clock_ns")?, rows.integers("seen_ns")?);
    for (row, node) in rows.texts("node")?.into_iter().enumerate() {
        nodes.entry(node).or_default().costs.clock_cpus = share(clock[row], seen[row]);
    }
    for (node, pauses) in idle_pauses(engine)? {
        nodes.entry(node).or_default().costs.idle_pauses = pauses;
    }
    Ok(())
}

fn idle_pauses(engine: &Engine) -> Result<BTreeMap<String, IdlePauses>, Error> {
    let rows = engine.sql(&query::LONG_PAUSES.fill(&[("least_ns", Value::Integer(LONG_PAUSE_NS))]))?;
    let (start, duration) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
    let mut idle: BTreeMap<String, Vec<Interval>> = BTreeMap::new();
    for (row, node) in rows.texts("node")?.into_iter().enumerate() {
        let pause = Interval::of_length(start[row], duration[row]);
        let values = [
            ("node", Value::Text(&node)),
            ("start_ns", Value::Integer(pause.start)),
            ("end_ns", Value::Integer(pause.end)),
        ];
        let within = engine.sql(&query::WITHIN_PAUSE.fill(&values))?;
        let one = |column: &str| Ok::<i64, Error>(within.integers(column)?.first().copied().unwrap_or(0));
        let length = (pause.length() - ENDS_NS) as f64;
        let is_idle = one("seen")? > 0 && (one("cpu_ns")? as f64) < IDLE_CPUS * length;
        if is_idle && one("disk_ns")? as f64 >= DISK_SHARE * length {
            idle.entry(node).or_default().push(pause);
        }
    }
    // A collection is a safepoint, too.
    let told = |pauses: Vec<Interval>| {
        let pauses = merge(pauses);
        let longest_ns = pauses.iter().map(Interval::length).max().unwrap_or(0);
        IdlePauses { pauses: pauses.len(), total_ns: total_ns(&pauses), longest_ns }
    };
    Ok(idle.into_iter().map(|(node, pauses)| (node, told(pauses))).collect())
}
