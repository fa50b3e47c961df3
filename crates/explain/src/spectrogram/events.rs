//! The kinds of events that spectrograms show, the events that exist, and those that were lost.

use crate::engine::{integers, texts};
use crate::query::{SOURCE_TOTALS, SYSCALL_ROWS};
use crate::{Engine, Error};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use serde::Serialize;

/// The kind of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "SpectrogramOf"))]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Single system calls, by their start and duration.
    Syscalls,
    /// System calls as a summary of each second, by its bins of duration.
    Summary,
    /// Requests, by the time at which they were due and their response time.
    Requests,
}

impl Of {
    /// The kind of events as text.
    pub fn name(self) -> &'static str {
        match self {
            Of::Syscalls | Of::Summary => "system calls",
            Of::Requests => "requests",
        }
    }
}

/// The kinds of events in a recording that spectrograms can show, and the start and end of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traces {
    pub syscalls: bool,
    pub summary: bool,
    pub requests: bool,
    /// The start of the recording, which is time 0 of its report.
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

/// Known losses of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceLoss {
    pub node: String,
    /// Number of lost events; None if it is not known.
    pub lost: Option<i64>,
    pub reason: String,
}

/// Events that were lost by their source, or between the source and the recording.
pub(crate) fn losses(engine: &Engine, of: Of) -> Result<Vec<SourceLoss>, Error> {
    let (name, tables): (&str, &[&str]) = match of {
        Of::Syscalls | Of::Summary => ("syscalls", &["syscalls", "syscall_summary"]),
        Of::Requests => (engine.provider().table(), &["requests", "wire"]),
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
