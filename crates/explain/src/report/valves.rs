//! The measurements and decisions of valves.

use super::bins;
use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Value};
use crate::timeline::{Bins, Interval};
use serde::Serialize;
use std::collections::HashMap;

/// The shortest bin. A valve decides up to four times a second, so shorter bins would sometimes hold no window.
const SHORTEST_NS: i64 = 1_000_000_000;
/// The most decisions that are kept per valve: the last ones.
const MOST_DECISIONS: usize = 500;

/// One valve of a node. There are no bins for the time before it was added and after it was removed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Valve"))]
pub struct ValveSeries {
    pub node: String,
    pub valve: String,
    pub time_s: Vec<f64>,
    /// The last limit of the bin; None if the valve was open.
    pub limit: Vec<Option<i64>>,
    /// Mean number of requests inside.
    pub in_flight: Vec<f64>,
    /// Mean number of waiting requests.
    pub waiting: Vec<f64>,
    pub completed_per_s: Vec<f64>,
    /// Mean wait; None if no request left the valve.
    pub wait_ms: Vec<Option<f64>>,
    /// The decisions, by time.
    pub decisions: Vec<ValveDecision>,
    /// The number of earlier decisions, which are left out.
    pub decisions_left_out: usize,
}

/// A decision: a new limit or state, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ValveDecision {
    /// End of the window on which the decision is based.
    pub time_s: f64,
    /// The limit before the decision; None if the valve was open.
    pub limit: Option<i64>,
    /// The limit after the decision; None if the valve is open.
    pub next_limit: Option<i64>,
    pub law: String,
    pub reason: String,
}

/// Valves by node and name.
type Decisions = HashMap<(String, String), Vec<ValveDecision>>;

pub(super) fn valves(engine: &Engine, span: Interval) -> Result<Vec<ValveSeries>, Error> {
    let bins = bins::over(span, SHORTEST_NS);
    let mut all = binned(engine, &bins)?;
    let mut decisions = decisions(engine, &bins)?;
    for series in &mut all {
        let key = (series.node.clone(), series.valve.clone());
        let mut own = decisions.remove(&key).unwrap_or_default();
        series.decisions_left_out = own.len().saturating_sub(MOST_DECISIONS);
        series.decisions = own.split_off(series.decisions_left_out);
    }
    Ok(all)
}

fn binned(engine: &Engine, bins: &Bins) -> Result<Vec<ValveSeries>, Error> {
    let values = [("start_ns", Value::Integer(bins.start_ns)), ("bin_ns", Value::Integer(bins.length_ns))];
    let rows = engine.sql(&query::VALVE_BINS.fill(&values))?;
    let (node, valve, bin) = (rows.texts("node")?, rows.texts("valve")?, rows.integers("bin")?);
    let limit = rows.integers_or_null("last_limit")?;
    let (inside, waiting) = (rows.numbers("mean_inside")?, rows.numbers("mean_waiting")?);
    let (completed, wait) = (rows.numbers("completed_per_s")?, rows.numbers_or_null("wait_ms")?);
    let mut all: Vec<ValveSeries> = Vec::new();
    for row in 0..node.len() {
        if all.last().is_none_or(|series| series.node != node[row] || series.valve != valve[row]) {
            all.push(ValveSeries { node: node[row].clone(), valve: valve[row].clone(), ..ValveSeries::default() });
        }
        let Some(series) = all.last_mut() else { continue };
        series.time_s.push(bins.at(usize::try_from(bin[row]).unwrap_or(0)));
        series.limit.push(limit[row]);
        series.in_flight.push(inside[row]);
        series.waiting.push(waiting[row]);
        series.completed_per_s.push(completed[row]);
        series.wait_ms.push(wait[row]);
    }
    Ok(all)
}

fn decisions(engine: &Engine, bins: &Bins) -> Result<Decisions, Error> {
    let rows = engine.sql(&query::VALVE_DECISIONS.fill(&[]))?;
    let (node, valve, time) = (rows.texts("node")?, rows.texts("valve")?, rows.integers("time_ns")?);
    let (limit, next_limit) = (rows.integers_or_null("until_limit")?, rows.integers_or_null("next_limit")?);
    let (law, reason) = (rows.texts("law")?, rows.texts("reason")?);
    let mut all = Decisions::new();
    for row in 0..node.len() {
        all.entry((node[row].clone(), valve[row].clone())).or_default().push(ValveDecision {
            time_s: bins.second(time[row]),
            limit: limit[row],
            next_limit: next_limit[row],
            law: law[row].clone(),
            reason: reason[row].clone(),
        });
    }
    Ok(all)
}
