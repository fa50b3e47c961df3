//! Spectrograms: how many events took how long, over time. A rectangle of one is exactly the events in it.

pub(crate) mod axis;
mod filter;
pub(crate) mod selection;

pub use axis::highest_ns;
pub use filter::SpectrogramFilter;
pub use selection::{Area, Event, Selection, Total, TotalsBy};

use crate::engine::{integers, parts, texts};
use crate::query::{REQUEST_CELLS, SOURCE_TOTALS, SUMMARY_CELLS, SYSCALL_CELLS, SYSCALL_ROWS, Value};
use crate::timeline::{Bins, Interval};
use crate::{Engine, Error};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use serde::Serialize;
use std::collections::BTreeMap;

/// Seconds in which a summary is written; shorter rows of the picture would be empty by turns.
const SUMMARY_NS: i64 = 1_000_000_000;
/// Nothing shorter is worth a row of its own.
const SHORTEST_NS: i64 = 1000;

/// What the events are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Every system call, by when it began and how long it took.
    Syscalls,
    /// System calls as they were added up each second, by the bins of that summary.
    Summary,
    /// Requests, by when they were due and their response time.
    Requests,
}

impl Of {
    /// The events in words.
    pub fn name(self) -> &'static str {
        match self {
            Of::Syscalls | Of::Summary => "system calls",
            Of::Requests => "requests",
        }
    }
}

/// What a recording has that spectrograms can be made of, and when it begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traces {
    pub syscalls: bool,
    pub summary: bool,
    pub requests: bool,
    /// When the recording begins: where the times of its report are 0.
    pub start_ns: i64,
    pub end_ns: i64,
}

impl Traces {
    pub fn find(engine: &Engine) -> Result<Traces, Error> {
        let rows = engine.sql(&SYSCALL_ROWS.fill(&[]))?;
        let any = |column| Ok::<bool, Error>(rows.integers(column)?.first().is_some_and(|rows| *rows > 0));
        let span = engine.span()?;
        Ok(Traces {
            syscalls: any("syscalls")?,
            summary: any("summary")?,
            requests: any("requests")?,
            start_ns: span.start,
            end_ns: span.end,
        })
    }
}

/// What a source is known to have lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLoss {
    pub node: String,
    /// None when the number is not known.
    pub lost: Option<i64>,
    pub reason: String,
}

/// Counts of events by when they began (rows) and how long they took (columns).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spectrogram {
    pub of: Of,
    /// When the first row begins.
    pub start_ns: i64,
    /// The same in seconds since the recording began.
    pub start_s: f64,
    pub bin_ns: i64,
    pub rows: usize,
    /// Column `c` holds what took `edges_ns[c]` or more and less than `edges_ns[c + 1]`; the first also what took less,
    /// the last also what took more.
    pub edges_ns: Vec<i64>,
    /// Row, column, events; those without events are left out.
    pub cells: Vec<(usize, usize, u64)>,
    pub events: u64,
    pub lost: Vec<SourceLoss>,
}

impl Spectrogram {
    /// Counts the events between two times in at most `rows` rows of round length. `columns` are those over the whole
    /// axis; a summary has its own. One pass over the rows, on all CPUs.
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
        // An event may begin at the very end; the interval of a summary ends there.
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

/// What the source of the events lost, on the way to the recording or before.
pub(crate) fn losses(engine: &Engine, of: Of) -> Result<Vec<SourceLoss>, Error> {
    let (name, tables): (&str, &[&str]) = match of {
        Of::Syscalls | Of::Summary => ("syscalls", &["syscalls", "syscall_summary"]),
        Of::Requests => ("requests", &["requests"]),
    };
    let mut losses = Vec::new();
    engine.each(&SOURCE_TOTALS.fill(&[]), |batch| {
        let (source, node) = (texts(&batch, "source")?, texts(&batch, "node")?);
        let (lost, reason) = (integers(&batch, "lost")?, texts(&batch, "lost_reason")?);
        let (source, node) = (source.as_string::<i32>(), node.as_string::<i32>());
        let (lost, reason) = (lost.as_primitive::<Int64Type>(), reason.as_string::<i32>());
        for row in 0..batch.num_rows() {
            if source.value(row) == name && lost.value(row) > 0 {
                losses.push(SourceLoss {
                    node: node.value(row).to_string(),
                    lost: Some(lost.value(row)),
                    reason: reason.value(row).to_string(),
                });
            }
        }
        Ok::<(), Error>(())
    })?;
    for loss in engine.manifests().iter().flat_map(|manifest| &manifest.losses) {
        if tables.contains(&loss.table.as_str()) {
            losses.push(SourceLoss {
                node: String::new(),
                lost: loss.rows.map(|rows| i64::try_from(rows).unwrap_or(i64::MAX)),
                reason: loss.reason.clone(),
            });
        }
    }
    Ok(losses)
}
