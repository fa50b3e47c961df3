//! The partitions that requests read or write, by token: which are hot, and how unevenly a table's requests are spread.

use super::{Loaded, TrafficFigures, TrafficFilter, condition, load_of, span};
use crate::Error;
use crate::engine::{Engine, Provider};
use crate::query::{self, Query, Value};
use serde::Serialize;

/// The measure by which partitions are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionMeasure {
    /// By number of requests.
    #[default]
    Count,
    /// By the total time of the requests.
    Time,
    /// By bytes of requests and answers.
    Bytes,
}

/// The requests of one table, by partition. Shares are shares of the measure, over all requests of the table whose
/// partition is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableSkew {
    /// The table; empty if it is not known.
    pub keyspace: String,
    pub table: String,
    /// Number of partitions that were seen.
    pub partitions: i64,
    pub requests: i64,
    /// Requests whose partition is not known; no other figure includes them.
    pub without_token: i64,
    pub top_1_share: f64,
    pub top_10_share: f64,
    pub top_100_share: f64,
    /// Skew: the share of the busiest partition divided by an even share; 1 if all partitions are equally busy. None
    /// without partitions.
    pub skew: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartitionFigures {
    pub keyspace: String,
    pub table: String,
    pub token: i64,
    /// The partition key as text, if it was requested and is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Share of its table's requests, and of their time.
    pub requests_share: f64,
    pub reads: i64,
    pub writes: i64,
    pub clients: i64,
    /// The partition's figures; `time_share` is its share in the time of the table's requests whose partition is known.
    #[serde(flatten)]
    pub figures: TrafficFigures,
}

/// The busiest partitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartitionTraffic {
    pub provider: Provider,
    /// Length of the time from the first request to the last answer, in seconds.
    pub seconds: f64,
    /// Requests that each recorded one represents, on average.
    pub weight: f64,
    pub by: PartitionMeasure,
    pub requests: i64,
    /// Requests whose partition is not known.
    pub without_token: i64,
    pub tables: Vec<TableSkew>,
    pub rows: Vec<PartitionFigures>,
}

impl PartitionMeasure {
    fn sql(self) -> &'static str {
        match self {
            PartitionMeasure::Count => "weight",
            PartitionMeasure::Time => "(end_ns - intended_start_ns) * weight",
            PartitionMeasure::Bytes => "(request_bytes + response_bytes) * weight",
        }
    }
}

/// The tables that requests read or write, and their busiest partitions, `limit` in total.
pub fn partition_traffic(
    engine: &Engine,
    filter: &TrafficFilter,
    by: PartitionMeasure,
    limit: usize,
) -> Result<PartitionTraffic, Error> {
    let condition = condition(filter);
    let fill = |query: &Query, by: PartitionMeasure| {
        query.fill(&[
            ("filter", Value::Condition(&condition)),
            ("measure", Value::Condition(by.sql())),
            ("limit", Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))),
        ])
    };
    let (seconds, weight) = span(engine)?;
    let tables = tables(engine, &fill(&query::PARTITION_TABLES, by))?;
    let times = match by {
        PartitionMeasure::Time => tables.clone(),
        _ => self::tables(engine, &fill(&query::PARTITION_TABLES, PartitionMeasure::Time))?,
    };
    let time_of = |keyspace: &str, table: &str| -> f64 {
        let found = times.iter().find(|(skew, _)| skew.keyspace == keyspace && skew.table == table);
        found.map_or(0.0, |(_, ns)| ns / 1e6)
    };
    let Loaded { rows, figures, .. } = load_of(engine, &fill(&query::PARTITION_FIGURES, by))?;
    let (keyspace, table) = (rows.texts("keyspace")?, rows.texts("table_name")?);
    let (token, reads, clients) = (rows.integers("token")?, rows.integers("reads")?, rows.integers("clients")?);
    let partitions = figures.into_iter().enumerate().map(|(row, figures)| {
        let (keyspace, table) = (keyspace[row].clone(), table[row].clone());
        let of = tables.iter().find(|(skew, _)| skew.keyspace == keyspace && skew.table == table);
        let known = of.map_or(0, |(skew, _)| skew.requests - skew.without_token);
        PartitionFigures {
            token: token[row],
            key: None,
            requests_share: share(figures.requests as f64, known as f64),
            reads: reads[row],
            writes: figures.requests - reads[row],
            clients: clients[row],
            figures: TrafficFigures { time_share: share(figures.total_ms, time_of(&keyspace, &table)), ..figures },
            keyspace,
            table,
        }
    });
    let rows = partitions.collect();
    let tables: Vec<TableSkew> = tables.into_iter().map(|(skew, _)| skew).collect();
    Ok(PartitionTraffic {
        provider: engine.provider(),
        seconds,
        weight,
        by,
        requests: tables.iter().map(|table| table.requests).sum(),
        without_token: tables.iter().map(|table| table.without_token).sum(),
        tables,
        rows,
    })
}

/// The tables, each with the total of the measure over all its requests whose partition is known.
fn tables(engine: &Engine, sql: &str) -> Result<Vec<(TableSkew, f64)>, Error> {
    let rows = engine.sql(sql)?;
    let (keyspace, table) = (rows.texts("keyspace")?, rows.texts("table_name")?);
    let (partitions, requests) = (rows.integers("partitions")?, rows.integers("requests")?);
    let (without, all) = (rows.integers("without_token")?, rows.numbers("measure")?);
    let [top_1, top_10, top_100] = ["top_1", "top_10", "top_100"].map(|column| rows.numbers(column));
    let (top_1, top_10, top_100) = (top_1?, top_10?, top_100?);
    let each = (0..rows.rows()).map(|row| {
        let skew = TableSkew {
            keyspace: keyspace[row].clone(),
            table: table[row].clone(),
            partitions: partitions[row],
            requests: requests[row],
            without_token: without[row],
            top_1_share: share(top_1[row], all[row]),
            top_10_share: share(top_10[row], all[row]),
            top_100_share: share(top_100[row], all[row]),
            skew: (all[row] > 0.0).then(|| share(top_1[row], all[row]) * partitions[row] as f64),
        };
        (skew, all[row])
    });
    Ok(each.collect())
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}
