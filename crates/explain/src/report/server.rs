//! Charts of the nodes' pauses, pools and tables, and the list of sources with their losses and costs.

use super::bins;
use crate::engine::Engine;
use crate::evidence::{Stop, Stops, is_serious};
use crate::query::{self, Value};
use crate::timeline::{Bins, Interval};
use crate::{Error, text};
use serde::Serialize;
use std::collections::BTreeMap;

/// The process that was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Side"))]
#[serde(rename_all = "lowercase")]
pub enum PauseSide {
    Server,
    Load,
    Recorder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PauseKind {
    Gc,
    Safepoint,
    Stall,
}

impl PauseKind {
    pub fn name(self) -> &'static str {
        match self {
            PauseKind::Gc => "gc",
            PauseKind::Safepoint => "safepoint",
            PauseKind::Stall => "stall",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Pause"))]
pub struct ReportPause {
    pub start_s: f64,
    pub duration_ms: f64,
    pub side: PauseSide,
    pub kind: PauseKind,
    pub node: String,
    /// The collector and its cause, the safepoint operation, or the kind of stall.
    pub label: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Pool"))]
pub struct PoolSeries {
    pub node: String,
    pub pool: String,
    pub time_s: Vec<f64>,
    pub active: Vec<i64>,
    pub pending: Vec<i64>,
    pub blocked: Vec<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Table"))]
pub struct TableSeries {
    pub node: String,
    pub keyspace: String,
    pub table: String,
    pub time_s: Vec<f64>,
    pub reads_per_s: Vec<Option<f64>>,
    pub writes_per_s: Vec<Option<f64>>,
    /// Mean latency of the local reads in the bin.
    pub read_ms: Vec<Option<f64>>,
    /// Mean latency of the local writes in the bin.
    pub write_ms: Vec<Option<f64>>,
    pub sstables: Vec<Option<i64>>,
    pub live_disk_bytes: Vec<Option<i64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Source"))]
pub struct ReportSource {
    pub source: String,
    pub node: String,
    /// The provider that the source used, such as `proc` or `agent-log`.
    pub provider: String,
    /// Rows in the recording.
    pub captured: i64,
    /// Rows or samples that are known to be lost.
    pub lost: i64,
    /// Whether the loss is so large that a figure may be wrong.
    pub is_serious: bool,
    /// Why rows were lost; empty if none were.
    pub lost_reason: String,
    /// CPUs that the source itself used; None if that can't be separated.
    pub cpu_share: Option<f64>,
}

/// If there are more pauses than this, only one per bin, side and kind is shown.
const MOST_PAUSES: usize = 5000;
/// The shortest bin: pools and tables are read once a second.
const SHORTEST_NS: i64 = 1_000_000_000;

pub(super) fn pauses(engine: &Engine, bins: &Bins) -> Result<Vec<ReportPause>, Error> {
    let stops = Stops::load(engine)?;
    let kinds: [(PauseSide, PauseKind, &[Stop]); 5] = [
        (PauseSide::Server, PauseKind::Gc, &stops.gc),
        (PauseSide::Server, PauseKind::Safepoint, &stops.safepoints),
        (PauseSide::Server, PauseKind::Stall, &stops.server),
        (PauseSide::Load, PauseKind::Stall, &stops.client),
        (PauseSide::Recorder, PauseKind::Stall, &stops.recorder),
    ];
    let mut pauses: Vec<ReportPause> = Vec::new();
    for (side, kind, stops) in kinds {
        let shown = if stops.len() > MOST_PAUSES { per_bin(stops, kind, bins) } else { stops.to_vec() };
        pauses.extend(shown.into_iter().map(|stop| ReportPause {
            start_s: bins.second(stop.window.start),
            duration_ms: stop.window.length() as f64 / 1e6,
            side,
            kind,
            node: stop.node,
            label: stop.label,
        }));
    }
    pauses.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    Ok(pauses)
}

/// The longest pause of each bin and node; its label tells how many there were.
fn per_bin(stops: &[Stop], kind: PauseKind, bins: &Bins) -> Vec<Stop> {
    let mut longest: BTreeMap<(usize, &str), (&Stop, usize, i64)> = BTreeMap::new();
    for stop in stops {
        let (most, count, total) = longest.entry((bins.of(stop.window.start), &stop.node)).or_insert((stop, 0, 0));
        *count += 1;
        *total += stop.window.length();
        if stop.window.length() > most.window.length() {
            *most = stop;
        }
    }
    longest
        .into_values()
        .map(|(stop, count, total)| {
            let label = if count == 1 {
                stop.label.clone()
            } else {
                format!(
                    "{} (the longest of {} {}s, {} in all)",
                    stop.label,
                    text::count(count),
                    kind.name(),
                    text::time_ns(total)
                )
            };
            Stop { label, ..stop.clone() }
        })
        .collect()
}

pub(super) fn pools(engine: &Engine, span: Interval) -> Result<Vec<PoolSeries>, Error> {
    let bins = bins::over(span, SHORTEST_NS);
    let values = [("start_ns", Value::Integer(bins.start_ns)), ("bin_ns", Value::Integer(bins.length_ns))];
    let rows = engine.sql(&query::POOL_BINS.fill(&values))?;
    let (node, pool, bin) = (rows.texts("node")?, rows.texts("pool")?, rows.integers("bin")?);
    let (active, pending, blocked) = (rows.integers("active")?, rows.integers("pending")?, rows.integers("blocked")?);
    let mut all: Vec<PoolSeries> = Vec::new();
    for row in 0..node.len() {
        if all.last().is_none_or(|series| series.node != node[row] || series.pool != pool[row]) {
            all.push(PoolSeries { node: node[row].clone(), pool: pool[row].clone(), ..PoolSeries::default() });
        }
        let Some(series) = all.last_mut() else { continue };
        series.time_s.push(bins.at(usize::try_from(bin[row]).unwrap_or(0)));
        series.active.push(active[row]);
        series.pending.push(pending[row]);
        series.blocked.push(blocked[row]);
    }
    Ok(all)
}

pub(super) fn tables(engine: &Engine, span: Interval) -> Result<Vec<TableSeries>, Error> {
    let bins = bins::over(span, SHORTEST_NS);
    let values = [("start_ns", Value::Integer(bins.start_ns)), ("bin_ns", Value::Integer(bins.length_ns))];
    let rows = engine.sql(&query::TABLE_BINS.fill(&values))?;
    let (node, keyspace, table) = (rows.texts("node")?, rows.texts("keyspace")?, rows.texts("table_name")?);
    let (bin, time) = (rows.integers("bin")?, rows.integers("time_ns")?);
    let column = |name| rows.integers_or_null(name);
    let (reads, writes) = (column("reads")?, column("writes")?);
    let (read_total, write_total) = (column("read_total_ns")?, column("write_total_ns")?);
    let (sstables, live_disk) = (column("sstables")?, column("live_disk_bytes")?);
    let mut all: Vec<TableSeries> = Vec::new();
    for row in 0..node.len() {
        let is_same = |series: &TableSeries| {
            series.node == node[row] && series.keyspace == keyspace[row] && series.table == table[row]
        };
        let before = row.checked_sub(1).filter(|_| all.last().is_some_and(is_same));
        if before.is_none() {
            all.push(TableSeries {
                node: node[row].clone(),
                keyspace: keyspace[row].clone(),
                table: table[row].clone(),
                ..TableSeries::default()
            });
        }
        let Some(series) = all.last_mut() else { continue };
        // A counter that decreased belongs to a node that was restarted.
        let grown = |counter: &[Option<i64>]| {
            let (now, then) = counter[row].zip(counter[before?])?;
            (now >= then).then(|| (now - then) as f64)
        };
        let per_s = |counter: &[Option<i64>]| {
            let seconds = (time[row] - time[before?]) as f64 / 1e9;
            grown(counter).filter(|_| seconds > 0.0).map(|count| count / seconds)
        };
        let mean_ms = |total: &[Option<i64>], counter: &[Option<i64>]| {
            let (ns, count) = grown(total).zip(grown(counter))?;
            (count > 0.0).then(|| ns / count / 1e6)
        };
        series.time_s.push(bins.at(usize::try_from(bin[row]).unwrap_or(0)));
        series.reads_per_s.push(per_s(&reads));
        series.writes_per_s.push(per_s(&writes));
        series.read_ms.push(mean_ms(&read_total, &reads));
        series.write_ms.push(mean_ms(&write_total, &writes));
        series.sstables.push(sstables[row]);
        series.live_disk_bytes.push(live_disk[row]);
    }
    Ok(all)
}

pub(super) fn sources(engine: &Engine) -> Result<Vec<ReportSource>, Error> {
    let rows = engine.sql(&query::SOURCE_TOTALS.fill(&[]))?;
    let (node, provider) = (rows.texts("node")?, rows.texts("provider")?);
    let (captured, lost) = (rows.integers("captured")?, rows.integers("lost")?);
    let (reason, cpu_share) = (rows.texts("lost_reason")?, rows.numbers_or_null("cpu_share")?);
    let sources = rows.texts("source")?.into_iter().enumerate().map(|(row, source)| ReportSource {
        node: node[row].clone(),
        provider: provider[row].clone(),
        captured: captured[row],
        lost: lost[row],
        is_serious: is_serious(&source, lost[row], captured[row]),
        source,
        lost_reason: reason[row].clone(),
        cpu_share: cpu_share[row],
    });
    Ok(sources.collect())
}
