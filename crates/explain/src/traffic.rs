//! Figures of a recording's traffic by statement, by client host, and by partition.

mod detail;
mod partitions;
mod shared;

use crate::engine::{Engine, Provider};
use crate::query::{self, Query, Value, quoted};
use crate::{Batches, Error, text};
pub use detail::{LatencyCell, SlowRequest, StatementDetail, slowest_requests, statement_detail};
pub use partitions::{PartitionFigures, PartitionMeasure, PartitionTraffic, TableSkew, partition_traffic};
use serde::Serialize;
pub use shared::{SharedValue, SharedValues, shared_values};
use std::collections::BTreeMap;

/// Selects a part of the traffic. Texts are matched case-insensitively.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrafficFilter {
    /// Part of the statement or of the operation.
    pub contains: Option<String>,
    pub client: Option<String>,
    pub node: Option<String>,
    /// The whole statement or operation.
    pub operation: Option<String>,
    /// The table, with its keyspace as in `shop.orders`, or without.
    pub table: Option<String>,
    /// The shortest response time in ns, which is included.
    pub at_least_ns: Option<i64>,
    /// The upper bound of the response time in ns, which is excluded.
    pub below_ns: Option<i64>,
}

impl TrafficFilter {
    /// Whether everything is selected.
    pub fn is_all(&self) -> bool {
        *self == TrafficFilter::default()
    }

    /// The part of the selection that names have; response times are left out.
    pub(crate) fn by_name(&self) -> TrafficFilter {
        TrafficFilter { at_least_ns: None, below_ns: None, ..self.clone() }
    }

    /// The SQL conditions on response times, in `all_requests` and in the driver's table `requests`.
    pub(crate) fn response_time(&self) -> Option<String> {
        let bounds = [("=", ">", self.at_least_ns), ("", "<", self.below_ns)];
        let bound = |(or_equal, order, ns): (&str, &str, Option<i64>)| {
            Some(format!("end_ns - intended_start_ns {order}{or_equal} {}", ns?))
        };
        let conditions: Vec<String> = bounds.into_iter().filter_map(bound).collect();
        (!conditions.is_empty()).then(|| conditions.join(" AND "))
    }

    /// Whether a request with this response time in ns is selected.
    pub(crate) fn takes(&self, response_ns: i64) -> bool {
        self.at_least_ns.is_none_or(|least| response_ns >= least)
            && self.below_ns.is_none_or(|below| response_ns < below)
    }

    /// The selection, as the rest of a sentence: "have `orders` in their statement and come from client 10.0.0.17".
    pub fn words(&self) -> String {
        let parts = [
            self.contains.as_ref().map(|text| format!("have `{text}` in their statement")),
            self.operation.as_ref().map(|operation| format!("are `{operation}`")),
            self.table.as_ref().map(|table| format!("are about table {table}")),
            self.client.as_ref().map(|client| format!("come from client {client}")),
            self.node.as_ref().map(|node| format!("went to node {node}")),
            self.at_least_ns.map(|ns| format!("took {} or more", text::time_ns(ns))),
            self.below_ns.map(|ns| format!("took less than {}", text::time_ns(ns))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

/// Figures of all requests that a statement or a client sent. Times are from the intended start of a load driver's requests,
/// and from the arrival of those seen on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrafficFigures {
    pub requests: i64,
    pub requests_per_s: f64,
    pub errors: i64,
    /// Share in the total time of all requests that match the filter.
    pub time_share: f64,
    pub total_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Bytes of the requests, and of their answers; None if sizes were not recorded.
    pub request_bytes: Option<i64>,
    pub response_bytes: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatementFigures {
    /// The operation's name in the workload, or the statement.
    pub operation: String,
    /// The statement's text; None if the recording does not have it.
    pub statement: Option<String>,
    pub kind: Option<String>,
    pub keyspace: Option<String>,
    pub table: Option<String>,
    /// Number of hosts that sent it; 0 for a load driver.
    pub clients: i64,
    #[serde(flatten)]
    pub figures: TrafficFigures,
    /// Rows in the answers; None if they were not recorded.
    pub rows_returned: Option<i64>,
    pub most_rows: Option<i64>,
    /// Requests for a page that was not the first.
    pub further_pages: Option<i64>,
    pub largest_response_bytes: Option<i64>,
    pub errors_by_outcome: BTreeMap<String, i64>,
    /// Requests by consistency level, with the serial one where a request names it.
    pub consistency: BTreeMap<String, i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientFigures {
    /// The client's host; empty for a load driver.
    pub client: String,
    pub connections: i64,
    /// Name and version of its drivers, the one with most connections first; empty where they are not known.
    pub drivers: Vec<String>,
    pub nodes: i64,
    pub statements: i64,
    /// Mean number of requests in flight.
    pub in_flight: f64,
    /// Share of its requests that went to a replica of their partition; None where no partition is known.
    pub to_replica_share: Option<f64>,
    #[serde(flatten)]
    pub figures: TrafficFigures,
}

/// The largest weight of a request; more than 1 means that some connections were not followed.
pub const SAMPLED: f64 = 1.005;

/// A table of traffic: its rows, those that took the most time in total first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrafficTable<T> {
    pub provider: Provider,
    /// Length of the time from the first request to the last answer, in seconds.
    pub seconds: f64,
    /// Requests that each recorded one represents, on average: more than 1 where some connections were not followed.
    pub weight: f64,
    pub rows: Vec<T>,
}

/// All statements that were sent, with their figures.
pub fn statement_traffic(engine: &Engine, filter: &TrafficFilter) -> Result<TrafficTable<StatementFigures>, Error> {
    let Loaded { rows, figures, seconds, weight } = load(engine, &query::STATEMENT_FIGURES, filter)?;
    let text = |column: &str| -> Result<Vec<Option<String>>, Error> {
        Ok(rows.texts(column)?.into_iter().map(|text| (!text.is_empty()).then_some(text)).collect())
    };
    let (statement, kind) = (text("statement")?, text("kind")?);
    let (keyspace, table) = (text("keyspace")?, text("table_name")?);
    let (operation, clients) = (rows.texts("operation")?, rows.integers("clients")?);
    let largest = rows.integers_or_null("largest_response_bytes")?;
    let returned = rows.integers_or_null("rows_returned")?;
    let (most, pages) = (rows.integers_or_null("most_rows")?, rows.integers_or_null("further_pages")?);
    let mut errors = counts(engine, &query::ERRORS_BY_OPERATION, "outcome", filter)?;
    let mut levels = counts(engine, &query::LEVELS_BY_OPERATION, "level", filter)?;
    let statements = figures.into_iter().enumerate().map(|(row, figures)| StatementFigures {
        operation: operation[row].clone(),
        statement: statement[row].clone(),
        kind: kind[row].clone(),
        keyspace: keyspace[row].clone(),
        table: table[row].clone(),
        clients: clients[row],
        figures,
        rows_returned: returned[row],
        most_rows: most[row],
        further_pages: pages[row],
        largest_response_bytes: largest[row],
        errors_by_outcome: errors.remove(&operation[row]).unwrap_or_default(),
        consistency: levels.remove(&operation[row]).unwrap_or_default(),
    });
    Ok(TrafficTable { provider: engine.provider(), seconds, weight, rows: statements.collect() })
}

/// Counts requests by operation and by the text of another column.
fn counts(
    engine: &Engine,
    query: &Query,
    column: &str,
    filter: &TrafficFilter,
) -> Result<BTreeMap<String, BTreeMap<String, i64>>, Error> {
    let rows = engine.sql(&filled(query, filter))?;
    let mut counts: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    let all = rows.texts("operation")?.into_iter().zip(rows.texts(column)?).zip(rows.integers("requests")?);
    for ((operation, text), count) in all {
        counts.entry(operation).or_default().insert(text, count);
    }
    Ok(counts)
}

/// All client hosts, with their figures.
pub fn client_traffic(engine: &Engine, filter: &TrafficFilter) -> Result<TrafficTable<ClientFigures>, Error> {
    let Loaded { rows, figures, seconds, weight } = load(engine, &query::CLIENT_FIGURES, filter)?;
    let (client, connections) = (rows.texts("client")?, rows.integers("connections")?);
    let (nodes, statements) = (rows.integers("nodes")?, rows.integers("statements")?);
    let to_replica = rows.numbers_or_null("to_replica_share")?;
    let mut drivers = drivers(engine)?;
    let clients = figures.into_iter().enumerate().map(|(row, figures)| ClientFigures {
        client: client[row].clone(),
        connections: connections[row],
        drivers: drivers.remove(&client[row]).unwrap_or_default().iter().map(named).collect(),
        // Mean number in flight by Little's law.
        in_flight: figures.total_ms / 1e3 / seconds,
        nodes: nodes[row],
        to_replica_share: to_replica[row],
        statements: statements[row],
        figures,
    });
    Ok(TrafficTable { provider: engine.provider(), seconds, weight, rows: clients.collect() })
}

/// Name and version of a driver.
pub(crate) type Driver = (String, String);

/// The drivers of each client host, the one with most connections first.
pub(crate) fn drivers(engine: &Engine) -> Result<BTreeMap<String, Vec<Driver>>, Error> {
    let rows = engine.sql(&query::CLIENT_DRIVERS.fill(&[]))?;
    let mut drivers: BTreeMap<String, Vec<Driver>> = BTreeMap::new();
    let all = rows.texts("client")?.into_iter().zip(rows.texts("driver")?).zip(rows.texts("driver_version")?);
    for ((client, driver), version) in all {
        drivers.entry(client).or_default().push((driver, version));
    }
    Ok(drivers)
}

/// A driver's name with its version.
pub(crate) fn named((driver, version): &Driver) -> String {
    format!("{driver} {version}").trim_end().to_string()
}

/// Rows, and the figures that are common to all of them.
struct Loaded {
    rows: Batches,
    figures: Vec<TrafficFigures>,
    seconds: f64,
    weight: f64,
}

/// Requests that each recorded one represents, on average.
pub(crate) fn weight(engine: &Engine) -> Result<f64, Error> {
    span(engine).map(|(_, weight)| weight)
}

/// For how long requests were recorded, and how many requests each recorded one represents.
fn span(engine: &Engine) -> Result<(f64, f64), Error> {
    let span = engine.sql(&query::REQUEST_SPAN.fill(&[]))?;
    let number = |column| Ok::<f64, Error>(span.numbers(column)?.first().copied().unwrap_or_default());
    let edge = |column| Ok::<i64, Error>(span.integers(column)?.first().copied().unwrap_or_default());
    let seconds = ((edge("last_ns")? - edge("first_ns")?) as f64 / 1e9).max(1e-9);
    let followed = number("followed")?;
    Ok((seconds, if followed > 0.0 { number("requests")? / followed } else { 1.0 }))
}

fn load(engine: &Engine, query: &Query, filter: &TrafficFilter) -> Result<Loaded, Error> {
    load_of(engine, &filled(query, filter))
}

/// Runs a query with its parameters and returns its rows.
fn load_of(engine: &Engine, sql: &str) -> Result<Loaded, Error> {
    let rows = engine.sql(sql)?;
    let (seconds, weight) = span(engine)?;
    let (requests, errors) = (rows.integers("requests")?, rows.integers("errors")?);
    let (total_ms, p50_ms) = (rows.numbers("total_ms")?, rows.numbers("p50_ms")?);
    let (p99_ms, max_ms) = (rows.numbers("p99_ms")?, rows.numbers("max_ms")?);
    let (sent, returned) = (rows.integers_or_null("request_bytes")?, rows.integers_or_null("response_bytes")?);
    let all_ms: f64 = total_ms.iter().sum();
    let figures = (0..rows.rows()).map(|row| TrafficFigures {
        requests: requests[row],
        requests_per_s: requests[row] as f64 / seconds,
        errors: errors[row],
        time_share: if all_ms > 0.0 { total_ms[row] / all_ms } else { 0.0 },
        total_ms: total_ms[row],
        p50_ms: p50_ms[row],
        p99_ms: p99_ms[row],
        max_ms: max_ms[row],
        request_bytes: sent[row],
        response_bytes: returned[row],
    });
    let figures = figures.collect();
    Ok(Loaded { rows, figures, seconds, weight })
}

fn filled(query: &Query, filter: &TrafficFilter) -> String {
    filled_with(query, filter, &[])
}

fn filled_with(query: &Query, filter: &TrafficFilter, more: &[(&str, Value<'_>)]) -> String {
    let condition = condition(filter);
    let values: Vec<(&str, Value<'_>)> =
        std::iter::once(("filter", Value::Condition(&condition))).chain(more.iter().copied()).collect();
    query.fill(&values)
}

/// The SQL condition on the view `all_requests`.
pub(crate) fn condition(filter: &TrafficFilter) -> String {
    if filter.is_all() {
        return "true".to_string();
    }
    let mut conditions = Vec::new();
    if let Some(text) = &filter.contains {
        let text = quoted(&text.to_lowercase());
        conditions.push(format!(
            "(position({text} IN lower(operation)) > 0 OR position({text} IN lower(coalesce(statement, ''))) > 0)"
        ));
    }
    conditions.extend(filter.operation.as_ref().map(|text| format!("coalesce(operation, '') = {}", quoted(text))));
    conditions.extend(filter.client.as_ref().map(|client| format!("client = {}", quoted(client))));
    conditions.extend(filter.node.as_ref().map(|node| format!("node = {}", quoted(node))));
    conditions.extend(filter.table.as_ref().map(|table| {
        let name = if table.contains('.') { "concat(keyspace, '.', table_name)" } else { "table_name" };
        format!("{name} = {}", quoted(table))
    }));
    conditions.extend(filter.response_time());
    conditions.join(" AND ")
}
