//! Throughput and latency over time.

use super::{Bins, Heatmap, Latency, LatencySeries, Throughput};
use crate::anatomy::Phase;
use crate::percentiles::{Percentiles, ms};
use crate::requests::{Request, Requests};
use crate::timeline::Interval;
use std::collections::BTreeMap;

/// Rows of the heatmap per factor of ten: each is a fifth higher than the one below.
const ROWS_PER_DECADE: f64 = 12.0;
/// Latencies below this share the lowest row.
const LOWEST_MS: f64 = 0.01;
const HEATMAP_COLUMNS: i64 = 600;

pub(super) fn throughput(requests: &Requests, phases: &[Phase], bins: &Bins) -> Throughput {
    let (mut intended, mut ok, mut failed) = (vec![0u64; bins.count], vec![0u64; bins.count], vec![0u64; bins.count]);
    for request in &requests.rows {
        intended[bins.of(request.intended_ns)] += 1;
        let answered = if requests.is_ok(request) { &mut ok } else { &mut failed };
        answered[bins.of(request.end_ns)] += 1;
    }
    let per_s = |count: u64| count as f64 / bins.seconds_each();
    let open_loop = |bin: usize| {
        let middle = bins.middle_ns(bin);
        phases.iter().any(|phase| phase.rate_per_s.is_some() && phase.window().contains(middle))
    };
    Throughput {
        bin_s: bins.seconds_each(),
        time_s: bins.seconds(),
        intended_per_s: intended.iter().enumerate().map(|(bin, count)| open_loop(bin).then(|| per_s(*count))).collect(),
        ok_per_s: ok.into_iter().map(per_s).collect(),
        failed_per_s: failed.into_iter().map(per_s).collect(),
    }
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
