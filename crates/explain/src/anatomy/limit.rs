//! The resource that limits the throughput at saturation.

use super::Phase;
use crate::engine::Engine;
use crate::evidence::{FullPool, Machine, Pools, Stops, Usage, times};
use crate::query::{self, Value};
use crate::timeline::{Interval, covered_ns};
use crate::{Error, text};
use serde::Serialize;

/// A thread that uses this share of a CPU counts as busy all the time.
const THREAD_LIMIT_CPUS: f64 = 0.9;
/// With more idle CPU time than this share, the CPUs are not the limit.
const CPU_LIMIT_IDLE: f64 = 0.1;
/// Share of time from which on the driver's own delay, GC, the disk, or a full pool counts as the limit.
const SCHEDULE_LIMIT: f64 = 0.3;
const GC_LIMIT: f64 = 0.2;
const DISK_LIMIT: f64 = 0.2;
const POOL_LIMIT: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// The load driver is the limit; the server could do more.
    Client,
    Cpu,
    Gc,
    Disk,
    Pool,
    /// No recorded resource is exhausted.
    Unknown,
}

/// The limit and the figures that it was derived from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    pub resource: Resource,
    /// Text that continues the words "limited by".
    pub by: String,
    pub usage: Usage,
    /// Share of the time in GC pauses.
    pub gc_share: f64,
    /// CPUs that the busiest thread of the load driver used; 1 is all a thread can have.
    pub busiest_load_thread_cpus: Option<f64>,
    /// Share of the time in which the driver was late although a connection was free.
    pub schedule_stall_share: f64,
    pub full_pools: Vec<FullPool>,
}

impl Limit {
    /// Finds the limit from the overloaded phases.
    pub(crate) fn find(
        engine: &Engine,
        phases: &[Phase],
        machine: &Machine,
        stops: &Stops,
        pools: &Pools,
    ) -> Result<Option<Limit>, Error> {
        let windows: Vec<Interval> = phases.iter().filter(|phase| phase.overloaded).map(Phase::window).collect();
        let length: i64 = windows.iter().map(Interval::length).sum();
        if length == 0 {
            return Ok(None);
        }
        let share_of = |times: &[Interval]| {
            windows.iter().map(|window| covered_ns(times, *window)).sum::<i64>() as f64 / length as f64
        };
        let mut limit = Limit {
            resource: Resource::Unknown,
            by: String::new(),
            usage: machine.usage(&windows),
            gc_share: share_of(&times(&stops.gc)),
            busiest_load_thread_cpus: busiest_load_thread(engine, &windows)?,
            schedule_stall_share: share_of(&times(&stops.schedule)),
            full_pools: pools.full(&windows),
        };
        (limit.resource, limit.by) = limit.decide();
        Ok(Some(limit))
    }

    /// A short form of the text in `by`.
    pub(crate) fn name(&self) -> &str {
        self.by.split([':', '(']).next().unwrap_or_default().trim_end().split(" of ").next().unwrap_or_default()
    }

    /// The client is checked first, because a client at its limit hides the server's limit. The CPUs come second,
    /// because everything else waits for them when they are exhausted. Causes that leave the CPUs idle come last.
    fn decide(&self) -> (Resource, String) {
        let usage = &self.usage;
        let cpu_used_up =
            usage.idle_share.is_some_and(|idle| idle + usage.iowait_share.unwrap_or(0.0) < CPU_LIMIT_IDLE);
        if let Some(cpus) = self.busiest_load_thread_cpus.filter(|cpus| *cpus >= THREAD_LIMIT_CPUS) {
            let by = format!("the load driver: its busiest thread used {} of a CPU", text::percent(cpus.min(1.0)));
            return (Resource::Client, by);
        }
        if !cpu_used_up && self.schedule_stall_share >= SCHEDULE_LIMIT {
            let share = text::percent(self.schedule_stall_share);
            return (Resource::Client, format!("the load driver: it was behind its own schedule {share} of the time"));
        }
        if cpu_used_up {
            return (Resource::Cpu, format!("the CPUs: {}", split(usage)));
        }
        if self.gc_share >= GC_LIMIT {
            return (
                Resource::Gc,
                format!("garbage collection: it paused the server {} of the time", text::percent(self.gc_share)),
            );
        }
        if let Some(iowait) = usage.iowait_share.filter(|iowait| *iowait >= DISK_LIMIT) {
            return (
                Resource::Disk,
                format!("the disk: the CPUs waited for it {} of their time", text::percent(iowait)),
            );
        }
        if let Some(pool) = self.full_pools.first().filter(|pool| pool.share >= POOL_LIMIT) {
            let by = format!(
                "the thread pool {} of {}: all {} threads at work in {} of the samples, up to {} tasks waiting",
                pool.pool,
                pool.node,
                pool.max_size,
                text::percent(pool.share),
                pool.most_pending
            );
            return (Resource::Pool, by);
        }
        if usage.idle_share.is_none() {
            return (
                Resource::Unknown,
                "something that was not recorded: the recording has no CPU samples there".into(),
            );
        }
        (Resource::Unknown, format!("nothing that was recorded ({})", split(usage)))
    }
}

/// Formats the CPU use: "idle 4 %, server 1.6 CPUs, load driver 0.3 CPUs, other processes 0.0 CPUs".
pub(crate) fn split(usage: &Usage) -> String {
    let mut parts = Vec::new();
    parts.extend(usage.idle_share.map(|idle| format!("idle {}", text::percent(idle))));
    parts.extend(usage.server_cpus.map(|cpus| format!("server {cpus:.1} CPUs")));
    parts.extend(usage.load_cpus.map(|cpus| format!("load driver {cpus:.1} CPUs")));
    parts.extend(usage.other_cpus.map(|cpus| format!("everything else {cpus:.1} CPUs")));
    parts.extend(
        usage
            .steal_share
            .filter(|steal| *steal >= 0.02)
            .map(|steal| format!("taken by the hypervisor {}", text::percent(steal))),
    );
    parts.join(", ")
}

fn busiest_load_thread(engine: &Engine, windows: &[Interval]) -> Result<Option<f64>, Error> {
    let mut busiest: Option<f64> = None;
    for window in windows {
        let filled = query::BUSIEST_LOAD_THREAD
            .fill(&[("start_ns", Value::Integer(window.start)), ("end_ns", Value::Integer(window.end))]);
        let rows = engine.sql(&filled)?;
        for cpu_ns in rows.integers("cpu_ns")? {
            let cpus = cpu_ns as f64 / window.length() as f64;
            busiest = Some(busiest.map_or(cpus, |most| most.max(cpus)));
        }
    }
    Ok(busiest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(change: impl FnOnce(&mut Limit)) -> (Resource, String) {
        let usage = Usage {
            idle_share: Some(0.4),
            iowait_share: Some(0.02),
            steal_share: Some(0.0),
            busy_cpus: Some(1.2),
            server_cpus: Some(0.8),
            load_cpus: Some(0.3),
            other_cpus: Some(0.1),
            server_threads_waiting: Some(0.2),
        };
        let mut limit = Limit {
            resource: Resource::Unknown,
            by: String::new(),
            usage,
            gc_share: 0.01,
            busiest_load_thread_cpus: Some(0.3),
            schedule_stall_share: 0.0,
            full_pools: Vec::new(),
        };
        change(&mut limit);
        limit.decide()
    }

    #[test]
    fn the_scarce_resource_is_named() {
        assert_eq!(limit(|_| {}).0, Resource::Unknown);
        assert_eq!(limit(|limit| limit.usage.idle_share = Some(0.04)).0, Resource::Cpu);
        assert_eq!(limit(|limit| limit.busiest_load_thread_cpus = Some(0.97)).0, Resource::Client);
        assert_eq!(limit(|limit| limit.schedule_stall_share = 0.6).0, Resource::Client);
        assert_eq!(limit(|limit| limit.gc_share = 0.3).0, Resource::Gc);
        assert_eq!(limit(|limit| limit.usage.iowait_share = Some(0.35)).0, Resource::Disk);
        let full = FullPool {
            node: "127.0.0.1".into(),
            pool: "MutationStage".into(),
            max_size: 32,
            share: 0.9,
            mean_pending: 40.0,
            most_pending: 120,
        };
        let (resource, by) = limit(|limit| limit.full_pools = vec![full]);
        assert_eq!(resource, Resource::Pool);
        assert_eq!(
            by,
            "the thread pool MutationStage of 127.0.0.1: all 32 threads at work in 90 % of the samples, up to 120 tasks waiting"
        );
    }

    #[test]
    fn a_driver_that_starves_on_a_full_machine_is_not_the_limit() {
        let (resource, by) = limit(|limit| {
            limit.usage.idle_share = Some(0.02);
            limit.schedule_stall_share = 0.6;
        });
        assert_eq!(resource, Resource::Cpu);
        assert_eq!(by, "the CPUs: idle 2.0 %, server 0.8 CPUs, load driver 0.3 CPUs, everything else 0.1 CPUs");
    }
}
