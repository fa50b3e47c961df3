//! A rectangle of a spectrogram: exactly the events in it.

use super::events::{Of, SourceLoss, Traces, losses};
use super::filter::SpectrogramFilter;
use crate::engine::{integers, parts, texts};
use crate::query::{REQUEST_EVENTS, REQUEST_TOTALS, SUMMARY_TOTALS, SYSCALL_EVENTS, SYSCALL_TOTALS, Value};
use crate::timeline::Interval;
use crate::{Engine, Error};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use std::collections::HashMap;

/// Bounds in time and in duration; the upper bounds are excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Area {
    pub from_ns: i64,
    pub to_ns: i64,
    pub low_ns: i64,
    pub high_ns: i64,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    pub start_ns: i64,
    /// When the event began, in seconds since the recording began.
    pub start_s: f64,
    pub duration_ns: i64,
    pub node: String,
    pub thread_group: String,
    pub tid: Option<i64>,
    /// The name of the call, or of the request's operation.
    pub call: String,
    pub file: String,
    pub bytes: Option<i64>,
    /// The error, or how the request ended.
    pub error: Option<String>,
}

/// Events of one name, added up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    pub name: String,
    pub events: i64,
    pub total_ns: i64,
    /// Their longest duration; of a summary, the upper bound of its bin.
    pub longest_ns: i64,
    pub bytes: i64,
    pub errors: i64,
}

/// Totals by name, those with the longest total time first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TotalsBy {
    pub by: &'static str,
    pub totals: Vec<Total>,
}

/// The events of an area.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    pub of: Of,
    /// Whether the events come from a summary, whose bins count whole: every bin that overlaps the selection counts.
    pub area: Area,
    pub all: Total,
    pub totals: Vec<TotalsBy>,
    /// The longest events; empty for a summary, which has no single events.
    pub events: Vec<Event>,
    pub lost: Vec<SourceLoss>,
}

impl Selection {
    /// The totals of all events in an area, and the `limit` longest of them.
    pub fn build(
        engine: &Engine,
        of: Of,
        filter: &SpectrogramFilter,
        area: Area,
        limit: usize,
    ) -> Result<Selection, Error> {
        let condition = filter.condition(of)?;
        let traces = Traces::find(engine)?;
        let values = [
            ("from_ns", Value::Integer(area.from_ns)),
            ("to_ns", Value::Integer(area.to_ns)),
            ("low_ns", Value::Integer(area.low_ns)),
            ("high_ns", Value::Integer(area.high_ns)),
            ("limit", Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))),
            ("filter", Value::Condition(&condition)),
        ];
        let events = match of {
            Of::Syscalls => Some(SYSCALL_EVENTS),
            Of::Summary => None,
            Of::Requests => Some(REQUEST_EVENTS),
        };
        let (all, totals) = totals_of(engine, of, &condition, area, traces)?;
        let events = match events {
            Some(events) if limit > 0 => events_of(engine, &events.fill(&values), traces.start_ns)?,
            _ => Vec::new(),
        };
        Ok(Selection { of, area, all, totals, events, lost: losses(engine, of)? })
    }
}

/// Adds up by each of the three names that the query groups by.
pub(crate) fn totals_of(
    engine: &Engine,
    of: Of,
    condition: &str,
    area: Area,
    traces: Traces,
) -> Result<(Total, Vec<TotalsBy>), Error> {
    let query = match of {
        Of::Syscalls => SYSCALL_TOTALS,
        Of::Summary => SUMMARY_TOTALS,
        Of::Requests => REQUEST_TOTALS,
    };
    let window =
        Interval { start: area.from_ns.max(traces.start_ns), end: area.to_ns.min(traces.end_ns.saturating_add(1)) };
    let statement = |part: Interval| {
        query.fill(&[
            ("from_ns", Value::Integer(part.start)),
            ("to_ns", Value::Integer(part.end)),
            ("low_ns", Value::Integer(area.low_ns)),
            ("high_ns", Value::Integer(area.high_ns)),
            ("filter", Value::Condition(condition)),
        ])
    };
    let statements: Vec<String> = parts(window).map(statement).collect();
    let of_parts = engine.fold_on_all_cpus(&statements, Found::default, Found::take)?;
    let mut found = of_parts.into_iter().reduce(Found::with).unwrap_or_default();
    let names = match of {
        Of::Syscalls | Of::Summary => ["call", "file", "thread group"],
        Of::Requests => ["operation", "node", "outcome"],
    };
    let totals = names
        .into_iter()
        .zip(std::mem::take(&mut found.by))
        .map(|(by, found)| {
            let mut totals: Vec<Total> = found.into_values().collect();
            totals.sort_unstable_by(|a, b| (b.total_ns, &a.name).cmp(&(a.total_ns, &b.name)));
            TotalsBy { by, totals }
        })
        .collect();
    Ok((found.all, totals))
}

/// Totals by call, file and thread group.
#[derive(Debug, Default)]
struct Found {
    all: Total,
    by: [HashMap<String, Total>; 3],
}

impl Found {
    fn take(&mut self, batch: RecordBatch) -> Result<(), Error> {
        const COLUMNS: [&str; 3] = ["call", "file", "thread_group"];
        let texts: Vec<_> = COLUMNS.iter().map(|name| texts(&batch, name)).collect::<Result<_, _>>()?;
        let column = |name| integers(&batch, name);
        let (events, total, longest) = (column("events")?, column("total_ns")?, column("longest_ns")?);
        let (bytes, errors) = (column("bytes")?, column("errors")?);
        for row in 0..batch.num_rows() {
            // SQL's sum of nothing but NULLs is NULL.
            let value = |array: &ArrayRef| {
                let array = array.as_primitive::<Int64Type>();
                if array.is_null(row) { 0 } else { array.value(row) }
            };
            let one = Total {
                name: String::new(),
                events: value(&events),
                total_ns: value(&total),
                longest_ns: value(&longest),
                bytes: value(&bytes),
                errors: value(&errors),
            };
            self.all.add(&one);
            for (texts, by) in texts.iter().zip(&mut self.by) {
                add_to(by, texts.as_string::<i32>().value(row), &one);
            }
        }
        Ok(())
    }

    fn with(mut self, other: Found) -> Found {
        self.all.add(&other.all);
        for (by, other) in self.by.iter_mut().zip(other.by) {
            other.iter().for_each(|(name, total)| add_to(by, name, total));
        }
        self
    }
}

fn add_to(totals: &mut HashMap<String, Total>, name: &str, one: &Total) {
    match totals.get_mut(name) {
        Some(total) => total.add(one),
        None => {
            totals.insert(name.to_string(), Total { name: name.to_string(), ..one.clone() });
        }
    }
}

impl Total {
    pub(crate) fn add(&mut self, other: &Total) {
        self.events += other.events;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors += other.errors;
    }
}

fn events_of(engine: &Engine, sql: &str, zero_ns: i64) -> Result<Vec<Event>, Error> {
    let rows = engine.sql(sql)?;
    let (start, duration) = (rows.integers("start_ns")?, rows.integers("duration_ns")?);
    let (node, group) = (rows.texts("node")?, rows.texts("thread_group")?);
    let (tid, bytes) = (rows.integers_or_null("tid")?, rows.integers_or_null("bytes")?);
    let (call, file, error) = (rows.texts("call")?, rows.texts("file")?, rows.texts("error")?);
    let event = |row: usize| Event {
        start_ns: start[row],
        start_s: (start[row] - zero_ns) as f64 / 1e9,
        duration_ns: duration[row],
        node: node[row].clone(),
        thread_group: group[row].clone(),
        tid: tid[row],
        call: call[row].clone(),
        file: file[row].clone(),
        bytes: bytes[row],
        error: Some(error[row].clone()).filter(|error| !error.is_empty()),
    };
    Ok((0..start.len()).map(event).collect())
}
