//! A rectangle of a spectrogram: exactly the events in it.

use super::{Of, SpectrogramFilter, Traces, losses};
use crate::engine::{integers, texts};
use crate::query::{
    REQUEST_EVENTS, REQUEST_TOTALS, SUMMARY_TOTALS, SYSCALL_EVENTS, SYSCALL_TOTALS, Value,
};
use crate::spectrogram::SourceLoss;
use crate::{Engine, Error};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use serde::Serialize;
use std::collections::HashMap;

/// Bounds in time and in duration; the upper ones are not included.
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
    /// The same in seconds since the recording began.
    pub start_s: f64,
    pub duration_ns: i64,
    pub node: String,
    pub thread_group: String,
    pub tid: Option<i64>,
    /// The call, or the request's operation.
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
    /// Of a summary, the upper bound of its bin.
    pub longest_ns: i64,
    pub bytes: i64,
    pub errors: i64,
}

/// Totals by one of the names that events have; those that took longest together first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TotalsBy {
    pub by: &'static str,
    pub totals: Vec<Total>,
}

/// The events of an area.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    pub of: Of,
    /// Of a summary, whose bins are whole or not at all: every bin that reaches into these bounds.
    pub area: Area,
    pub all: Total,
    pub totals: Vec<TotalsBy>,
    /// The longest of them; none of a summary, which has no single events.
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
        let values = [
            ("from_ns", Value::Integer(area.from_ns)),
            ("to_ns", Value::Integer(area.to_ns)),
            ("low_ns", Value::Integer(area.low_ns)),
            ("high_ns", Value::Integer(area.high_ns)),
            ("limit", Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))),
            ("filter", Value::Condition(&condition)),
        ];
        let (totals, events) = match of {
            Of::Syscalls => (SYSCALL_TOTALS, Some(SYSCALL_EVENTS)),
            Of::Summary => (SUMMARY_TOTALS, None),
            Of::Requests => (REQUEST_TOTALS, Some(REQUEST_EVENTS)),
        };
        let (all, totals) = totals_of(engine, of, &totals.fill(&values))?;
        let events = match events {
            Some(events) if limit > 0 => events_of(engine, &events.fill(&values), Traces::find(engine)?.start_ns)?,
            _ => Vec::new(),
        };
        Ok(Selection { of, area, all, totals, events, lost: losses(engine, of)? })
    }
}

/// Adds up by each of the three names that the query groups by.
pub(crate) fn totals_of(engine: &Engine, of: Of, sql: &str) -> Result<(Total, Vec<TotalsBy>), Error> {
    const COLUMNS: [&str; 3] = ["call", "file", "thread_group"];
    let names = match of {
        Of::Syscalls | Of::Summary => ["call", "file", "thread group"],
        Of::Requests => ["operation", "node", "outcome"],
    };
    let mut all = Total::default();
    let mut found: [HashMap<String, Total>; 3] = Default::default();
    engine.each(sql, |batch| {
        let texts: Vec<_> = COLUMNS.iter().map(|name| texts(&batch, name)).collect::<Result<_, _>>()?;
        let column = |name| integers(&batch, name);
        let (events, total, longest) = (column("events")?, column("total_ns")?, column("longest_ns")?);
        let (bytes, errors) = (column("bytes")?, column("errors")?);
        for row in 0..batch.num_rows() {
            // A sum of nothing but NULLs is NULL.
            let value = |array: &arrow::array::ArrayRef| {
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
            all.add(&one);
            for (texts, found) in texts.iter().zip(&mut found) {
                let name = texts.as_string::<i32>().value(row);
                match found.get_mut(name) {
                    Some(total) => total.add(&one),
                    None => {
                        found.insert(name.to_string(), Total { name: name.to_string(), ..one.clone() });
                    }
                }
            }
        }
        Ok::<(), Error>(())
    })?;
    let totals = names
        .into_iter()
        .zip(found)
        .map(|(by, found)| {
            let mut totals: Vec<Total> = found.into_values().collect();
            totals.sort_unstable_by(|a, b| (b.total_ns, &a.name).cmp(&(a.total_ns, &b.name)));
            TotalsBy { by, totals }
        })
        .collect();
    Ok((all, totals))
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
