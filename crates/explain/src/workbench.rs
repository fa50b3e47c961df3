//! Answers for the workbench that no other module gives: the findings of a window, the rows of a query, and the tables
//! that can be queried.

use crate::engine::{Engine, Provider};
use crate::explanation::{Explanation, explain};
use crate::live::LiveWindow;
use crate::options::Options;
use crate::report::{ReportFinding, findings};
use crate::{Error, query as queries};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef, UInt64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use helenus_recording::{Manifest, schema::TABLES};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Instant;

/// Why the slow requests of a window were slow.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Answer {
    /// The answer in at most four sentences.
    pub answer: String,
    /// Which requests count as slow, and out of which.
    pub summary: String,
    pub provider: Provider,
    pub requests: usize,
    pub judged_requests: usize,
    pub slow_requests: usize,
    pub median_ms: f64,
    pub slow_threshold_ms: f64,
    pub slow_threshold_name: String,
    /// Data that was not recorded, and the questions that stay open without it.
    pub missing: Vec<String>,
    /// The findings, the most important first, with times in seconds since the start of the recording.
    pub findings: Vec<ReportFinding>,
}

/// The findings of the last minute of a growing recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveFindings {
    /// The window that was explained, in seconds since the Unix epoch.
    pub from_s: f64,
    pub to_s: f64,
    pub answer: String,
    pub findings: Vec<ReportFinding>,
    /// Why the last search failed; empty if it did not.
    pub error: String,
}

/// Explains the recordings of the engine. `start_ns` is when the recording began.
pub fn window(engine: &Engine, options: &Options, start_ns: i64) -> Result<Answer, Error> {
    let explanation = explain(engine, options)?;
    let missing = explanation.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.consequence));
    Ok(Answer {
        summary: explanation.summary(),
        provider: explanation.provider,
        requests: explanation.requests,
        judged_requests: explanation.judged_requests,
        slow_requests: explanation.slow_requests,
        median_ms: explanation.median_ms,
        slow_threshold_ms: explanation.slow_threshold_ms,
        missing: missing.collect(),
        findings: findings(&explanation, start_ns),
        answer: explanation.answer,
        slow_threshold_name: explanation.slow_threshold_name,
    })
}

impl LiveFindings {
    pub fn nothing(window: LiveWindow) -> LiveFindings {
        LiveFindings {
            from_s: window.from_s(),
            to_s: window.to_s(),
            answer: String::new(),
            findings: Vec::new(),
            error: String::new(),
        }
    }

    pub fn of(explanation: &Explanation, window: LiveWindow) -> LiveFindings {
        let findings = findings(explanation, 0);
        LiveFindings { answer: explanation.answer.clone(), findings, ..LiveFindings::nothing(window) }
    }
}

/// A recording that can be opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listed {
    /// Path of the recording within the opened folder.
    pub name: String,
    pub title: String,
    /// Start of the recording, in ISO 8601.
    pub created: String,
    pub nodes: Vec<String>,
    pub requests: u64,
    /// Whether the recording is closed. One that is not closed has a live page.
    pub is_closed: bool,
    /// Whether a recorder writes it now.
    pub is_growing: bool,
}

impl Listed {
    /// As its manifest says, which does not know whether a recorder that has not closed it is still there.
    pub fn of(name: &str, manifest: &Manifest) -> Listed {
        let rows = |table: &str| manifest.tables.get(table).map_or(0, |facts| facts.rows);
        let requests = if rows("requests") > 0 { rows("requests") } else { rows("wire") };
        Listed {
            name: name.to_string(),
            title: manifest.title.clone(),
            created: crate::text::iso(manifest.created_ns),
            nodes: manifest.nodes.iter().map(|node| node.address.clone()).collect(),
            requests,
            is_closed: manifest.state != helenus_recording::State::Writing,
            is_growing: false,
        }
    }
}

/// A window that was saved as a recording of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Saved {
    /// By this name it can be opened.
    pub name: String,
    /// Its folder.
    pub path: String,
    pub rows: u64,
    pub bytes: u64,
}

/// The nodes of a recording that can be changed, how, and the changes made from the workbench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Controls {
    pub is_allowed: bool,
    pub nodes: Vec<String>,
    /// Classes of requests at which a valve can be.
    pub points: Vec<String>,
    /// Stages that a valve can steer.
    pub stages: Vec<String>,
    /// Laws of a valve.
    pub laws: Vec<String>,
    /// Settings of a node and of its tables.
    pub settings: Vec<SettingChoice>,
    /// Strategies by which threads can be placed on CPUs.
    pub strategies: Vec<String>,
    /// Sources that can be started and stopped; empty if another process records.
    pub sources: Vec<SourceChoice>,
    /// The oldest first.
    pub made: Vec<Controlled>,
}

/// A setting that can be changed while the node runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingChoice {
    pub name: String,
    /// One sentence about it.
    pub what: String,
    /// The form of its value: `N` for a number.
    pub form: String,
    /// Whether it is a setting of one table.
    pub is_of_table: bool,
}

/// The value that a setting of a node has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingNow {
    pub value: String,
}

/// An option of the recorder that can be changed while it records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceChoice {
    pub name: String,
    /// Its value now.
    pub value: String,
    /// All values that can be chosen.
    pub values: Vec<String>,
}

/// A change of a node, made from the workbench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Controlled {
    pub number: u32,
    pub when: String,
    /// The browser.
    pub who: String,
    pub node: String,
    pub what: String,
    /// By whom and when it was undone.
    pub undone: Option<String>,
}

/// An event of the node's log, or a changed setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Happened {
    /// Time since the start of the recording.
    pub time_s: f64,
    pub node: String,
    pub what: String,
}

/// Events and changed settings from `from_ns` to `to_ns`.
pub fn happened(engine: &Engine, (from_ns, to_ns): (i64, i64), start_ns: i64) -> Result<Vec<Happened>, Error> {
    let rows = engine.sql(&queries::EVENTS.fill(&[]))?;
    let events = rows.integers("time_ns")?.into_iter().zip(rows.texts("node")?).zip(rows.texts("what")?);
    let inside = events.filter(|((time_ns, _), _)| (from_ns..to_ns).contains(time_ns));
    let told = |((time_ns, node), what)| Happened { time_s: (time_ns - start_ns) as f64 / 1e9, node, what };
    Ok(inside.map(told).collect())
}

/// A table that can be queried.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Schema {
    pub table: String,
    pub meaning: String,
    /// Number of rows; None for a view.
    pub rows: Option<u64>,
    pub columns: Vec<SchemaColumn>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SchemaColumn {
    pub name: String,
    pub unit: String,
    pub meaning: String,
}

/// The view of all requests, then the tables, those with rows first.
pub fn schema(engine: &Engine) -> Result<Vec<Schema>, Error> {
    let rows_of = |name: &str| -> u64 {
        engine.manifests().iter().filter_map(|manifest| manifest.tables.get(name)).map(|facts| facts.rows).sum()
    };
    let view = engine.sql("SELECT * FROM all_requests LIMIT 0")?;
    let columns = view.schema().fields().iter().map(|field| SchemaColumn {
        name: field.name().clone(),
        unit: String::new(),
        meaning: String::new(),
    });
    let meaning = "Requests of the load driver, or of the wire where there is no driver, in one shape.".to_string();
    let all = Schema { table: "all_requests".to_string(), meaning, rows: None, columns: columns.collect() };
    let mut tables: Vec<Schema> = TABLES
        .iter()
        .map(|table| Schema {
            table: table.name.to_string(),
            meaning: table.meaning.to_string(),
            rows: Some(rows_of(table.name)),
            columns: table
                .columns
                .iter()
                .map(|column| SchemaColumn {
                    name: column.name.to_string(),
                    unit: column.unit.to_string(),
                    meaning: column.meaning.to_string(),
                })
                .collect(),
        })
        .collect();
    tables.sort_by_key(|table| table.rows == Some(0));
    tables.insert(0, all);
    Ok(tables)
}

/// The first rows of a query's result, as many as a page shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Queried {
    pub columns: Vec<QueriedColumn>,
    /// A number beyond 2^53 is a text, because JavaScript would round it.
    #[cfg_attr(test, ts(type = "Array<Array<string | number | boolean | null>>"))]
    pub rows: Vec<Vec<Value>>,
    /// Whether the result has more rows.
    pub is_cut: bool,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QueriedColumn {
    pub name: String,
    pub is_number: bool,
}

/// The most bytes of text in an answer.
const MOST_BYTES: usize = 8 << 20;

/// Why the result was cut.
enum End {
    Full,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// Runs one read-only statement and returns its first rows.
pub fn query(engine: &Engine, sql: &str, most_rows: usize) -> Result<Queried, Error> {
    let started = Instant::now();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut bytes = 0;
    let mut columns: Option<Vec<QueriedColumn>> = None;
    let ended = engine.each(sql, |batch| {
        columns.get_or_insert_with(|| columns_of(&batch.schema()));
        for row in 0..batch.num_rows() {
            if rows.len() >= most_rows || bytes > MOST_BYTES {
                return Err(End::Full);
            }
            let values = batch.columns().iter().map(|column| value(column, row)).collect::<Result<Vec<_>, Error>>()?;
            bytes += values.iter().map(|value| value.as_str().map_or(8, str::len)).sum::<usize>();
            rows.push(values);
        }
        Ok(())
    });
    let (is_cut, columns) = match (ended, columns) {
        (Ok(_), Some(columns)) => (false, columns),
        (Ok(schema), None) => (false, columns_of(&schema)),
        (Err(End::Full), columns) => (true, columns.unwrap_or_default()),
        (Err(End::Failed(error)), _) => return Err(error),
    };
    Ok(Queried { columns, rows, is_cut, seconds: started.elapsed().as_secs_f64() })
}

fn columns_of(schema: &SchemaRef) -> Vec<QueriedColumn> {
    let column = |name: &str, data: &DataType| QueriedColumn { name: name.to_string(), is_number: data.is_numeric() };
    schema.fields().iter().map(|field| column(field.name(), field.data_type())).collect()
}

/// Integers that JavaScript holds exactly.
const EXACT: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

fn value(column: &ArrayRef, row: usize) -> Result<Value, Error> {
    Ok(match column.data_type() {
        _ if column.is_null(row) => Value::Null,
        DataType::Int64 => match column.as_primitive::<Int64Type>().value(row) {
            exact if EXACT.contains(&exact) => exact.into(),
            large => large.to_string().into(),
        },
        DataType::UInt64 => match column.as_primitive::<UInt64Type>().value(row) {
            exact if exact <= 1 << 53 => exact.into(),
            large => large.to_string().into(),
        },
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        _ => ArrayFormatter::try_new(column, &FormatOptions::new().with_null(""))
            .map_err(|error| Error::Query(error.to_string()))?
            .value(row)
            .to_string()
            .into(),
    })
}
