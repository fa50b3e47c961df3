//! The CPU use of the machine and of its thread groups.

use super::bins;
use crate::engine::Engine;
use crate::query::{self, Query, Value};
use crate::timeline::{Bins, Interval};
use crate::{Error, text};
use serde::Serialize;
use std::collections::HashMap;

/// Shares of all CPUs of a node's machine, 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Cpu"))]
pub struct CpuSeries {
    pub node: String,
    pub time_s: Vec<f64>,
    pub user: Vec<f64>,
    pub system: Vec<f64>,
    pub iowait: Vec<f64>,
    pub irq: Vec<f64>,
    pub steal: Vec<f64>,
    pub idle: Vec<f64>,
}

/// The threads of a process whose names differ only in their number.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ThreadGroup"))]
pub struct GroupSeries {
    /// The process: server or load.
    pub process: String,
    pub group: String,
    pub threads: i64,
    pub cpu_s: f64,
    pub run_queue_s: Option<f64>,
    pub migrations: Option<i64>,
    pub voluntary_switches: Option<i64>,
    pub involuntary_switches: Option<i64>,
    pub time_s: Vec<f64>,
    /// CPU time of the group, in CPUs.
    pub cpus: Vec<f64>,
}

/// The shortest bin. The kernel counts CPU time in ticks of 10 ms, so shares would fluctuate in shorter bins.
const SHORTEST_NS: i64 = 500_000_000;
/// The number of thread groups with a line of their own; the others share one line.
const MOST_GROUPS: usize = 30;

fn binned(engine: &Engine, query: &Query, bins: &Bins) -> Result<crate::Batches, Error> {
    let values = [("start_ns", Value::Integer(bins.start_ns)), ("bin_ns", Value::Integer(bins.length_ns))];
    engine.sql(&query.fill(&values))
}

pub(super) fn cpu(engine: &Engine, span: Interval) -> Result<Vec<CpuSeries>, Error> {
    let bins = bins::over(span, SHORTEST_NS);
    let rows = binned(engine, &query::CPU_BINS, &bins)?;
    let (node, bin) = (rows.texts("node")?, rows.integers("bin")?);
    let columns = ["user_ns", "system_ns", "iowait_ns", "irq_ns", "steal_ns", "idle_ns"]
        .map(|name| rows.numbers(name))
        .into_iter()
        .collect::<Result<Vec<_>, Error>>()?;
    let mut all: Vec<CpuSeries> = Vec::new();
    for row in 0..node.len() {
        let total: f64 = columns.iter().map(|column| column[row]).sum();
        if total <= 0.0 {
            continue;
        }
        if all.last().is_none_or(|series| series.node != node[row]) {
            all.push(CpuSeries { node: node[row].clone(), ..CpuSeries::default() });
        }
        let Some(series) = all.last_mut() else { continue };
        series.time_s.push(bins.at(usize::try_from(bin[row]).unwrap_or(0)));
        let into = [
            &mut series.user,
            &mut series.system,
            &mut series.iowait,
            &mut series.irq,
            &mut series.steal,
            &mut series.idle,
        ];
        for (values, column) in into.into_iter().zip(&columns) {
            values.push(column[row] / total);
        }
    }
    Ok(all)
}

pub(super) fn groups(engine: &Engine, span: Interval) -> Result<Vec<GroupSeries>, Error> {
    let rows = engine.sql(&query::GROUPS.fill(&[]))?;
    let (process, group) = (rows.texts("process")?, rows.texts("thread_group")?);
    let (threads, cpu, run_queue) =
        (rows.integers("threads")?, rows.integers("cpu_ns")?, rows.integers_or_null("run_queue_ns")?);
    let migrations = rows.integers_or_null("migrations")?;
    let voluntary = rows.integers_or_null("voluntary_switches")?;
    let involuntary = rows.integers_or_null("involuntary_switches")?;
    let bins = bins::over(span, SHORTEST_NS);
    // The groups are sorted by CPU time, so the shared line has the smallest.
    let mut groups: Vec<GroupSeries> = Vec::new();
    let mut line_of: HashMap<(String, String), usize> = HashMap::new();
    for row in 0..process.len() {
        let one = GroupSeries {
            process: process[row].clone(),
            group: group[row].clone(),
            threads: threads[row],
            cpu_s: cpu[row] as f64 / 1e9,
            run_queue_s: run_queue[row].map(|ns| ns as f64 / 1e9),
            migrations: migrations[row],
            voluntary_switches: voluntary[row],
            involuntary_switches: involuntary[row],
            time_s: Vec::new(),
            cpus: Vec::new(),
        };
        let is_alone = row < MOST_GROUPS || process.len() == MOST_GROUPS + 1;
        if is_alone || groups.len() == MOST_GROUPS {
            groups.push(one);
        } else if let Some(rest) = groups.last_mut() {
            rest.add(&one);
        }
        line_of.insert((process[row].clone(), group[row].clone()), groups.len() - 1);
    }
    if process.len() > MOST_GROUPS + 1
        && let Some(rest) = groups.last_mut()
    {
        rest.process = String::new();
        rest.group = format!("{} more groups", text::count(process.len() - MOST_GROUPS));
    }
    let mut cpus = vec![vec![0.0; bins.count]; groups.len()];
    let rows = binned(engine, &query::GROUP_BINS, &bins)?;
    let (bin, cpu) = (rows.integers("bin")?, rows.numbers("cpu_ns")?);
    for (row, key) in rows.texts("process")?.into_iter().zip(rows.texts("thread_group")?).enumerate() {
        if let Some(line) = line_of.get(&key) {
            let bin = usize::try_from(bin[row]).unwrap_or(0).min(bins.count - 1);
            cpus[*line][bin] += cpu[row] / bins.length_ns as f64;
        }
    }
    for (group, cpus) in groups.iter_mut().zip(cpus) {
        group.time_s = bins.seconds();
        group.cpus = cpus;
    }
    Ok(groups)
}

impl GroupSeries {
    fn add(&mut self, other: &GroupSeries) {
        let sum = |a: Option<i64>, b: Option<i64>| Some(a.unwrap_or(0) + b.unwrap_or(0)).filter(|_| a.or(b).is_some());
        self.threads += other.threads;
        self.cpu_s += other.cpu_s;
        self.run_queue_s = match (self.run_queue_s, other.run_queue_s) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.migrations = sum(self.migrations, other.migrations);
        self.voluntary_switches = sum(self.voluntary_switches, other.voluntary_switches);
        self.involuntary_switches = sum(self.involuntary_switches, other.involuntary_switches);
    }
}
