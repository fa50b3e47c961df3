//! Limits the tables to a window, as if nothing else had been recorded.

use crate::Error;
use crate::timeline::Interval;
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::prelude::{DataFrame, Expr, SessionContext, cast, coalesce, col, lit, when};
use helenus_recording::schema::Table;
use std::sync::Arc;

/// Tables that hold for the whole recording: a row counts until the next one replaces it.
const STANDING: [&str; 7] = ["connections", "findings", "results", "settings", "sources", "stacks", "table_facts"];

/// The longest time before the window at which a row that overlaps the window may have begun. A longer one would make
/// queries read most of the file.
const LASTS_AT_MOST_NS: i64 = 60_000_000_000;

/// The rows of a table that belong to the window.
pub(super) fn cut(
    context: &SessionContext,
    provider: Arc<dyn TableProvider>,
    table: &Table,
    window: Interval,
) -> Result<Arc<dyn TableProvider>, Error> {
    if STANDING.contains(&table.name) {
        return Ok(provider);
    }
    let frame = context.read_table(provider).map_err(super::message::of)?;
    let cut = match table.name {
        "marks" => marks(frame, window),
        // Pauses and stalls also affect requests that were due later.
        "pauses" | "stalls" => lasting(frame, table.time, window),
        // A request counts by its intended start, which is never after its actual start.
        "requests" => frame.filter(starts(table.time, window).and(during("intended_start_ns", window))),
        _ => frame.filter(during(table.time, window)),
    };
    Ok(cut.map_err(super::message::of)?.into_view())
}

fn during(time: &str, window: Interval) -> Expr {
    col(time).gt_eq(lit(window.start)).and(col(time).lt(lit(window.end)))
}

/// For files sorted by another time: a filter that skips the row groups before the window.
fn starts(time: &str, window: Interval) -> Expr {
    col(time).gt_eq(lit(window.start))
}

fn lasting(frame: DataFrame, time: &str, window: Interval) -> Result<DataFrame, DataFusionError> {
    let near = Interval { start: window.start.saturating_sub(LASTS_AT_MOST_NS), ..window };
    frame.filter(during(time, near).and((col(time) + col("duration_ns")).gt(lit(window.start))))
}

/// Clips phases to the window. A ramp gets the rates that it had at the edges of the window.
fn marks(frame: DataFrame, window: Interval) -> Result<DataFrame, DataFusionError> {
    let (start, end) = (|| col("start_ns"), || col("end_ns"));
    let later = when(start().lt(lit(window.start)), lit(window.start)).otherwise(start())?;
    let earlier = when(end().gt(lit(window.end)), lit(window.end)).otherwise(end())?;
    let length = || cast(end() - start(), DataType::Float64);
    let rate_at = |at: Expr| {
        let share = cast(at - start(), DataType::Float64) / length();
        col("rate_per_s") + (col("end_rate_per_s") - col("rate_per_s")) * share
    };
    let columns: Vec<Expr> = frame
        .schema()
        .fields()
        .iter()
        .map(|field| match field.name().as_str() {
            "start_ns" => later.clone().alias("start_ns"),
            "end_ns" => earlier.clone().alias("end_ns"),
            "rate_per_s" => coalesce(vec![rate_at(later.clone()), col("rate_per_s")]).alias("rate_per_s"),
            "end_rate_per_s" => rate_at(earlier.clone()).alias("end_rate_per_s"),
            name => col(name),
        })
        .collect();
    frame.filter(start().lt(lit(window.end)).and(end().gt(lit(window.start))))?.select(columns)
}
