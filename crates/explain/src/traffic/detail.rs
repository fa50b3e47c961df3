//! One statement in detail: the distribution of its response times, and its slowest requests.

use super::{TrafficFilter, filled, filled_with};
use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Value};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatementDetail {
    /// Histogram bins, from the shortest to the longest time, without gaps.
    pub histogram: Vec<LatencyCell>,
    pub slowest: Vec<SlowRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LatencyCell {
    pub from_ms: f64,
    pub to_ms: f64,
    pub requests: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlowRequest {
    pub start_ns: i64,
    pub response_ms: f64,
    /// The client's host; empty for a load driver.
    pub client: String,
    pub client_port: i64,
    pub node: String,
    /// The operation's name in the workload, or the statement.
    pub operation: String,
    pub rows_returned: Option<i64>,
    pub response_bytes: Option<i64>,
    pub consistency: String,
    pub outcome: String,
}

/// Loads a statement or operation, by its text as [`super::StatementFigures`] has it.
pub fn statement_detail(engine: &Engine, operation: &str, filter: &TrafficFilter) -> Result<StatementDetail, Error> {
    let filter = TrafficFilter { operation: Some(operation.to_string()), ..filter.clone() };
    let cells = engine.sql(&filled(&query::STATEMENT_CELLS, &filter))?;
    let known: Vec<(i64, i64)> = cells.integers("place")?.into_iter().zip(cells.integers("requests")?).collect();
    let edge_ms = |place: i64| (place as f64 / 2.0).exp2() / 1e6;
    let (first, last) = (known.first().map_or(0, |cell| cell.0), known.last().map_or(-1, |cell| cell.0));
    let histogram = (first..=last).map(|place| LatencyCell {
        from_ms: edge_ms(place),
        to_ms: edge_ms(place + 1),
        requests: known.iter().find(|cell| cell.0 == place).map_or(0, |cell| cell.1),
    });
    Ok(StatementDetail { histogram: histogram.collect(), slowest: slowest_requests(engine, &filter, SLOWEST)? })
}

/// The number of slowest requests that are listed.
const SLOWEST: u32 = 10;

/// The slowest requests, the slowest first.
pub fn slowest_requests(engine: &Engine, filter: &TrafficFilter, limit: u32) -> Result<Vec<SlowRequest>, Error> {
    let limit = [("limit", Value::Integer(limit.into()))];
    let rows = engine.sql(&filled_with(&query::STATEMENT_SLOWEST, filter, &limit))?;
    let (start, response) = (rows.integers("start_ns")?, rows.numbers("response_ms")?);
    let (client, port) = (rows.texts("client")?, rows.integers("client_port")?);
    let (node, outcome) = (rows.texts("node")?, rows.texts("outcome")?);
    let (returned, bytes) = (rows.integers_or_null("rows_returned")?, rows.integers_or_null("response_bytes")?);
    let (consistency, operation) = (rows.texts("consistency")?, rows.texts("operation")?);
    let slowest = (0..rows.rows()).map(|row| SlowRequest {
        start_ns: start[row],
        response_ms: response[row],
        client: client[row].clone(),
        client_port: port[row],
        node: node[row].clone(),
        operation: operation[row].clone(),
        rows_returned: returned[row],
        response_bytes: bytes[row],
        consistency: consistency[row].clone(),
        outcome: outcome[row].clone(),
    });
    Ok(slowest.collect())
}
