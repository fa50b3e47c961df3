//! Charts of throughput and latency over time.

use crate::anatomy::Phase;
use crate::percentiles::{Percentiles, ms};
use crate::requests::{Request, Requests};
use crate::timeline::{Bins, Interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// Responses count in the bin in which they arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Throughput {
    pub bin_s: f64,
    pub time_s: Vec<f64>,
    /// The intended rate of the phases; None outside of open loop.
    pub intended_per_s: Vec<Option<f64>>,
    pub ok_per_s: Vec<f64>,
    pub failed_per_s: Vec<f64>,
}

/// Latencies over time. Response times count in the bin in which a request was due, service times in the one in which
/// it was sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Latency {
    pub bin_s: f64,
    pub time_s: Vec<f64>,
    pub response: LatencySeries,
    pub service: LatencySeries,
}

/// Latencies in milliseconds; None if no request ended in the bin.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LatencySeries {
    pub p50_ms: Vec<Option<f64>>,
    pub p95_ms: Vec<Option<f64>>,
    pub p99_ms: Vec<Option<f64>>,
    pub p999_ms: Vec<Option<f64>>,
    pub max_ms: Vec<Option<f64>>,
}

/// A heatmap of response times by the time at which requests were due. The rows are evenly spaced in the logarithm.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Heatmap {
    pub bin_s: f64,
    pub start_s: f64,
    /// Column `c` begins at `start_s + c * bin_s`.
    pub columns: usize,
    /// Bounds of the rows, ascending. A row holds times from its lower bound up to, but not including, its upper bound.
    pub low_ms: Vec<f64>,
    pub high_ms: Vec<f64>,
    /// Cells as (column, row, requests); cells without requests are left out.
    pub cells: Vec<(usize, usize, usize)>,
}

/// Rows of the heatmap per factor of ten: each is a fifth higher than the one below.
const ROWS_PER_DECADE: f64 = 12.0;
/// Shorter latencies share the lowest row.
const LOWEST_MS: f64 = 0.01;
const HEATMAP_COLUMNS: i64 = 600;

/// The length of a throughput bin, in median service times of the slowest phase. Requests of a closed loop, or of an
/// open loop whose connections are full, are answered and sent in waves as long as these: finer bins would show waves
/// and no plateau.
const WAVES_PER_BIN: f64 = 10.0;
const SHORTEST_BIN_NS: i64 = 100_000_000;
const FEWEST_BINS: i64 = 50;

/// Length of a bin in which the throughput of a steady load looks steady.
pub(super) fn steady_ns(phases: &[Phase], span: Interval) -> i64 {
    let slowest_ms = phases.iter().filter_map(|phase| phase.service_ms.p50).fold(0.0, f64::max);
    let waves = (slowest_ms * 1e6 * WAVES_PER_BIN / SHORTEST_BIN_NS as f64).ceil() as i64;
    (waves * SHORTEST_BIN_NS).min(span.length() / FEWEST_BINS).max(SHORTEST_BIN_NS)
}

pub(super) fn throughput(requests: &Requests, phases: &[Phase], bins: &Bins) -> Throughput {
    let (mut ok, mut failed) = (vec![0.0; bins.count], vec![0.0; bins.count]);
    for request in &requests.rows {
        let answered = if requests.is_ok(request) { &mut ok } else { &mut failed };
        answered[bins.of(request.end_ns)] += requests.weight(request);
    }
    let per_s = |count: f64| count / bins.seconds_each();
    Throughput {
        bin_s: bins.seconds_each(),
        time_s: bins.seconds(),
        intended_per_s: intended_per_s(phases, bins),
        ok_per_s: ok.into_iter().map(per_s).collect(),
        failed_per_s: failed.into_iter().map(per_s).collect(),
    }
}

/// The intended rate of open-loop phases by bin; None elsewhere. It is computed from the phases instead of counted,
/// because a request that was due and never sent has no row.
fn intended_per_s(phases: &[Phase], bins: &Bins) -> Vec<Option<f64>> {
    let mut intended = vec![None; bins.count];
    for phase in phases {
        let Some(from_per_s) = phase.rate_per_s else { continue };
        let window = phase.window();
        let growth_per_s = phase.end_rate_per_s.unwrap_or(from_per_s) - from_per_s;
        for (bin, intended) in intended.iter_mut().enumerate().take(bins.of(window.end) + 1).skip(bins.of(window.start))
        {
            let within = bins.window(bin).clip(window);
            if within.length() == 0 {
                continue;
            }
            let middle_ns = within.start + within.length() / 2 - window.start;
            let per_s = from_per_s + growth_per_s * middle_ns as f64 / window.length() as f64;
            *intended.get_or_insert(0.0) += per_s * within.length() as f64 / bins.length_ns as f64;
        }
    }
    intended
}

pub(super) fn latency(requests: &Requests, bins: &Bins) -> Latency {
    let response = series(requests, bins, |request| (request.intended_ns, request.response_ns()));
    let service = series(requests, bins, |request| (request.start_ns, request.service_ns()));
    Latency { bin_s: bins.seconds_each(), time_s: bins.seconds(), response, service }
}

/// Exact percentiles of every bin: the values are sorted by bin and then within it.
fn series(requests: &Requests, bins: &Bins, place: impl Fn(&Request) -> (i64, i64)) -> LatencySeries {
    let timed = || requests.rows.iter().filter(|request| requests.is_timed(request)).map(&place);
    let mut ends = vec![0usize; bins.count];
    for (time, _) in timed() {
        ends[bins.of(time)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total - *end;
    }
    let mut values = vec![0i64; total];
    for (time, value) in timed() {
        let next = &mut ends[bins.of(time)];
        values[*next] = value;
        *next += 1;
    }
    let mut series = LatencySeries::default();
    let mut start = 0;
    for end in ends {
        let percentiles = Percentiles::of(&mut values[start..end]);
        start = end;
        series.p50_ms.push(percentiles.p50);
        series.p95_ms.push(percentiles.p95);
        series.p99_ms.push(percentiles.p99);
        series.p999_ms.push(percentiles.p999);
        series.max_ms.push(percentiles.max);
    }
    series
}

pub(super) fn heatmap(requests: &Requests, span: Interval) -> Heatmap {
    let bins = Bins::over(span, HEATMAP_COLUMNS, 100_000_000);
    let timed = || requests.rows.iter().filter(|request| requests.is_timed(request));
    let row_of = |ns: i64| (ms(ns).max(LOWEST_MS).log10() * ROWS_PER_DECADE).floor() as i64;
    let Some(lowest) = timed().map(|request| row_of(request.response_ns())).min() else {
        return Heatmap { bin_s: bins.seconds_each(), columns: bins.count, ..Heatmap::default() };
    };
    let highest = timed().map(|request| row_of(request.response_ns())).max().unwrap_or(lowest);
    let mut cells: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for request in timed() {
        let row = usize::try_from(row_of(request.response_ns()) - lowest).unwrap_or(0);
        *cells.entry((bins.of(request.intended_ns), row)).or_default() += 1;
    }
    let edge = |row: i64| 10f64.powf(row as f64 / ROWS_PER_DECADE);
    Heatmap {
        bin_s: bins.seconds_each(),
        start_s: 0.0,
        columns: bins.count,
        low_ms: (lowest..=highest).map(edge).collect(),
        high_ms: (lowest..=highest).map(|row| edge(row + 1)).collect(),
        cells: cells.into_iter().map(|((column, row), count)| (column, row, count)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_the_throughput_hold_several_waves_of_a_closed_loop() {
        let second = 1_000_000_000;
        let span = Interval { start: 0, end: 100 * second };
        let phase = |p50: f64| {
            let mut phase = Phase::named(String::new(), span, true);
            phase.service_ms.p50 = Some(p50);
            phase
        };
        assert_eq!(steady_ns(&[], span), second / 10);
        assert_eq!(steady_ns(&[phase(0.3)], span), second / 10);
        assert_eq!(steady_ns(&[phase(0.3), phase(42.0)], span), second / 2);
        assert_eq!(steady_ns(&[phase(9000.0)], span), 2 * second, "there are bins enough to see steps");
    }

    #[test]
    fn what_was_asked_for_does_not_depend_on_what_was_sent() {
        let second = 1_000_000_000;
        let phase = |start: i64, end: i64, rate_per_s: Option<f64>, end_rate_per_s: Option<f64>| Phase {
            rate_per_s,
            end_rate_per_s,
            ..Phase::named(String::new(), Interval { start, end }, true)
        };
        let phases = [
            phase(second, 3 * second, Some(100.0), None),
            phase(3 * second, 5 * second, Some(100.0), Some(500.0)),
            phase(5 * second, 6 * second, None, None),
            phase(6 * second + second / 2, 7 * second, Some(40.0), None),
        ];
        let bins = Bins { start_ns: 0, length_ns: second, count: 8 };
        assert_eq!(
            intended_per_s(&phases, &bins),
            [None, Some(100.0), Some(100.0), Some(200.0), Some(400.0), None, Some(20.0), None]
        );
        let none = throughput(&Requests::default(), &phases, &bins);
        assert_eq!(none.intended_per_s[1], Some(100.0));
        assert_eq!(none.ok_per_s, [0.0; 8]);
    }
}
