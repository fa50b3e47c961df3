//! The decisions of valves in the nodes, and the time of metered methods.

use crate::engine::Engine;
use crate::percentiles::quantile_of_sorted;
use crate::timeline::Interval;
use crate::{Error, query};
use serde::Serialize;

/// Figures of a valve over all of its windows, and over the last third, by which time its limit has settled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Governed {
    pub(crate) node: String,
    pub(crate) valve: String,
    /// The law that made the last decision.
    pub(crate) law: String,
    pub(crate) windows: usize,
    /// Share of the windows in which the valve was open.
    pub(crate) open_share: f64,
    /// Median limit of the last third of the windows; None if the valve was open.
    pub(crate) limit: Option<i64>,
    /// Means over the last third of the windows.
    pub(crate) in_flight: f64,
    pub(crate) waiting: f64,
    pub(crate) throughput_per_s: f64,
    /// Sum over all windows.
    pub(crate) refused: i64,
    pub(crate) let_through: i64,
    /// The reason for the last limit.
    pub(crate) reason: String,
    #[serde(skip)]
    pub(crate) span: Interval,
}

/// A metered method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Metered {
    pub(crate) probe: String,
    pub(crate) calls: i64,
    pub(crate) total_ns: i64,
    /// Own time of the method, without metered callees.
    pub(crate) own_ns: i64,
    pub(crate) max_ns: i64,
    /// Why the probe was switched off; None if it stayed on.
    pub(crate) off_reason: Option<String>,
    #[serde(skip)]
    pub(crate) span: Interval,
}

impl Governed {
    pub(crate) fn load(engine: &Engine) -> Result<Vec<Governed>, Error> {
        let rows = engine.sql(&query::VALVE_WINDOWS.fill(&[]))?;
        let (nodes, valves, laws) = (rows.texts("node")?, rows.texts("valve")?, rows.texts("law")?);
        let (times, lengths) = (rows.integers("time_ns")?, rows.integers("interval_ns")?);
        let limits = rows.integers_or_null("limit")?;
        let (in_flight, waiting) = (rows.numbers_or_null("in_flight")?, rows.numbers_or_null("waiting")?);
        let throughput = rows.numbers_or_null("throughput_per_s")?;
        let (refused, let_through) = (rows.integers("refused")?, rows.integers("let_through")?);
        let (states, reasons) = (rows.texts("state")?, rows.texts("reason")?);
        let mut found = Vec::new();
        let mut first = 0;
        while first < rows.rows() {
            let is_same = |row: &usize| nodes[*row] == nodes[first] && valves[*row] == valves[first];
            let windows = (first..rows.rows()).take_while(is_same).count();
            let (all, end) = (first..first + windows, first + windows);
            let late = end - windows.div_ceil(3)..end;
            let mean =
                |column: &[Option<f64>]| late.clone().filter_map(|row| column[row]).sum::<f64>() / late.len() as f64;
            let mut settled: Vec<i64> = late.clone().filter_map(|row| limits[row]).collect();
            settled.sort_unstable();
            let open = all.clone().filter(|row| states[*row] == "open").count();
            found.push(Governed {
                node: nodes[first].clone(),
                valve: valves[first].clone(),
                law: laws[end - 1].clone(),
                windows,
                open_share: open as f64 / windows as f64,
                limit: quantile_of_sorted(&settled, 0.5),
                in_flight: mean(&in_flight),
                waiting: mean(&waiting),
                throughput_per_s: mean(&throughput),
                refused: all.clone().map(|row| refused[row]).sum(),
                let_through: all.clone().map(|row| let_through[row]).sum(),
                reason: reasons[end - 1].clone(),
                span: Interval { start: times[first] - lengths[first], end: times[end - 1] },
            });
            first = end;
        }
        Ok(found)
    }
}

impl Metered {
    /// The metered methods, those with the most own time first.
    pub(crate) fn load(engine: &Engine) -> Result<Vec<Metered>, Error> {
        let rows = engine.sql(&query::PROBE_TOTALS.fill(&[]))?;
        let (calls, total, own) = (rows.integers("calls")?, rows.integers("total_ns")?, rows.integers("own_ns")?);
        let (max, start, end) = (rows.integers("max_ns")?, rows.integers("start_ns")?, rows.integers("end_ns")?);
        let off = rows.texts("off_reason")?;
        let metered = rows.texts("probe")?.into_iter().enumerate().map(|(row, probe)| Metered {
            probe,
            calls: calls[row],
            total_ns: total[row],
            own_ns: own[row],
            max_ns: max[row],
            off_reason: Some(off[row].clone()).filter(|reason| !reason.is_empty()),
            span: Interval { start: start[row], end: end[row] },
        });
        Ok(metered.collect())
    }
}
