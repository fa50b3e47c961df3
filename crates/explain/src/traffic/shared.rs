//! Compares chosen requests with the others of the same time: how frequent each value is among both.

use super::{TrafficFilter, condition, filled};
use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Value};
use serde::Serialize;

/// The values that chosen requests share, those that set them apart most first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedValues {
    /// Number of chosen requests, and of the others.
    pub requests: f64,
    pub others: f64,
    pub values: Vec<SharedValue>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedValue {
    /// The property: statement, table, kind, client, connection, node, level (of consistency) or outcome.
    pub what: String,
    pub value: String,
    pub requests: f64,
    /// Share of the chosen requests that have the value, and share of the others that have it.
    pub share: f64,
    pub others_share: f64,
}

/// Rarer values are left out: they say nothing about most of the chosen requests.
const LEAST_SHARE: f64 = 0.05;
/// A value whose share among the others is about the same does not set the chosen requests apart.
const LEAST_DIFFERENCE: f64 = 0.02;
const MOST_VALUES: usize = 20;

/// Compares the requests that a filter chooses with the others of the engine's window.
pub fn shared_values(engine: &Engine, filter: &TrafficFilter) -> Result<SharedValues, Error> {
    let rows = engine.sql(&filled(&query::SHARED_VALUES, filter))?;
    let totals = engine.sql(&query::CHOSEN_TOTALS.fill(&[("filter", Value::Condition(&condition(filter)))]))?;
    let total = |column| Ok::<f64, Error>(totals.numbers(column)?.first().copied().unwrap_or_default());
    let (requests, all) = (total("chosen")?, total("requests")?);
    let (what, value) = (rows.texts("what")?, rows.texts("value")?);
    let (chosen, with) = (rows.numbers("chosen")?, rows.numbers("requests")?);
    let others = (all - requests).max(0.0);
    let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    let mut values: Vec<SharedValue> = (0..rows.rows())
        .map(|row| SharedValue {
            what: what[row].clone(),
            // Some tables have no known keyspace, and the connections of a load driver have no address.
            value: match value[row].strip_prefix(['.', ':']) {
                Some(port) if what[row] == "connection" && !port.is_empty() => format!("port {port}"),
                Some(table) => table.to_string(),
                None => value[row].clone(),
            },
            requests: chosen[row],
            share: share(chosen[row], requests),
            others_share: share(with[row] - chosen[row], others),
        })
        .filter(|shared| !shared.value.is_empty() && shared.share >= LEAST_SHARE)
        .filter(|shared| shared.share - shared.others_share >= LEAST_DIFFERENCE)
        .collect();
    values.sort_by(|a, b| (b.share - b.others_share).total_cmp(&(a.share - a.others_share)));
    values.truncate(MOST_VALUES);
    Ok(SharedValues { requests, others, values })
}
