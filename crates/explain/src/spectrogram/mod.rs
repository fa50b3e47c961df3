//! Spectrograms: counts of events by time and duration. A rectangle of a spectrogram selects exactly the events in it.

pub(crate) mod axis;
mod events;
mod filter;
pub(crate) mod selection;

pub use axis::highest_ns;
pub(crate) use events::losses;
pub use events::{Of, SourceLoss, Traces};
pub use filter::SpectrogramFilter;
pub use selection::{Area, Event, Selection, Total, TotalsBy};

use crate::engine::{integers, parts};
use crate::query::{REQUEST_CELLS, SUMMARY_CELLS, SYSCALL_CELLS, Value};
use crate::timeline::{Bins, Interval};
use crate::{Engine, Error};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use serde::Serialize;
use std::collections::BTreeMap;

/// The interval at which a syscall summary is written, in ns. With shorter rows, full and empty rows would alternate.
const SUMMARY_NS: i64 = 1_000_000_000;
/// The shortest row, in ns.
const SHORTEST_NS: i64 = 1000;

/// Counts of events by when they began (rows) and how long they took (columns).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spectrogram {
    pub of: Of,
    /// When the first row begins, in ns since the Unix epoch.
    pub start_ns: i64,
    /// When the first row begins, in seconds since the recording began.
    pub start_s: f64,
    pub bin_ns: i64,
    pub rows: usize,
    /// Column `c` holds what took `edges_ns[c]` or more and less than `edges_ns[c + 1]`; the first also what took less,
    /// the last also what took more.
    pub edges_ns: Vec<i64>,
    /// Cells as (row, column, events); cells without events are left out.
    pub cells: Vec<(usize, usize, u64)>,
    pub events: u64,
    pub lost: Vec<SourceLoss>,
}

impl Spectrogram {
    /// Counts the events between two times in at most `rows` rows of round length. `columns` is the number of columns
    /// over the whole axis; a summary has columns of its own. It reads the table once, on all CPUs.
    pub fn build(
        engine: &Engine,
        of: Of,
        filter: &SpectrogramFilter,
        (from_ns, to_ns): (i64, i64),
        rows: usize,
        columns: usize,
    ) -> Result<Spectrogram, Error> {
        let traces = Traces::find(engine)?;
        let condition = filter.condition(of)?;
        let from_ns = from_ns.max(traces.start_ns);
        // An event may begin exactly at the end; the interval of a summary ends there.
        let end_ns = traces.end_ns.saturating_add(i64::from(of != Of::Summary));
        let window = Interval { start: from_ns, end: to_ns.min(end_ns).max(from_ns) };
        let shortest_ns = if of == Of::Summary { SUMMARY_NS } else { SHORTEST_NS };
        let bins = Bins::over(
            Interval { end: (window.end - 1).max(window.start), ..window },
            i64::try_from(rows.max(1)).unwrap_or(i64::MAX),
            shortest_ns,
        );
        let edges_ns = if of == Of::Summary { axis::doubling() } else { axis::even(columns.max(1)) };
        let columns = edges_ns.len() - 1;
        let (query, place) = match of {
            Of::Syscalls => (SYSCALL_CELLS, "place"),
            Of::Summary => (SUMMARY_CELLS, "low_ns"),
            Of::Requests => (REQUEST_CELLS, "place"),
        };
        let parts: Vec<String> = parts(window)
            .map(|part| {
                query.fill(&[
                    ("start_ns", Value::Integer(window.start)),
                    ("bin_ns", Value::Integer(bins.length_ns)),
                    ("columns", Value::Integer(i64::try_from(columns).unwrap_or(i64::MAX))),
                    ("from_ns", Value::Integer(part.start)),
                    ("to_ns", Value::Integer(part.end)),
                    ("filter", Value::Condition(&condition)),
                ])
            })
            .collect();
        let of_parts = engine.fold_on_all_cpus(&parts, BTreeMap::new, |counts: &mut BTreeMap<_, u64>, batch| {
            let (bin, place, events) =
                (integers(&batch, "bin")?, integers(&batch, place)?, integers(&batch, "events")?);
            let value = |array: &ArrayRef, row| array.as_primitive::<Int64Type>().value(row);
            for row in 0..batch.num_rows() {
                let place = value(&place, row);
                let column = match of {
                    Of::Summary => edges_ns.partition_point(|edge| *edge <= place).saturating_sub(1),
                    Of::Syscalls | Of::Requests => usize::try_from(place).unwrap_or(0),
                };
                let bin = usize::try_from(value(&bin, row)).unwrap_or(0);
                let events = u64::try_from(value(&events, row)).unwrap_or(0);
                *counts.entry((bin, column.min(columns - 1))).or_default() += events;
            }
            Ok(())
        })?;
        let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (cell, events) in of_parts.into_iter().flatten() {
            *counts.entry(cell).or_default() += events;
        }
        Ok(Spectrogram {
            of,
            start_ns: window.start,
            start_s: (window.start - traces.start_ns) as f64 / 1e9,
            bin_ns: bins.length_ns,
            rows: bins.count,
            edges_ns,
            events: counts.values().sum(),
            cells: counts.into_iter().map(|((row, column), events)| (row, column, events)).collect(),
            lost: losses(engine, of)?,
        })
    }
}
