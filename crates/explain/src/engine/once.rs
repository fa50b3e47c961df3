//! Counts rows once that several recorders of one machine have written, even if their recordings were not merged.

use datafusion::prelude::{Expr, col, lit};
use helenus_recording::Repeated;
use helenus_recording::schema::Table;

/// The condition for rows that no other opened recording has; None if all rows are unique.
pub(super) fn others(repeated: &[Repeated], table: &Table) -> Option<Expr> {
    let of_it = repeated.iter().filter(|rows| rows.table == table);
    // Not `NOT`: a column that an older recording lacks is NULL, and `NOT` of NULL is NULL, which drops the row.
    of_it.filter_map(elsewhere).reduce(Expr::or).map(|elsewhere| elsewhere.is_not_true())
}

fn elsewhere(rows: &Repeated) -> Option<Expr> {
    let has = |name: &str| rows.table.columns.iter().any(|column| column.name == name);
    let time = || col(rows.table.time);
    let from = || if has("interval_ns") { time() - col("interval_ns") } else { time() };
    let to = || if has("duration_ns") { time() + col("duration_ns") } else { time() };
    let lies_in = |(start, end): &(i64, i64)| from().lt_eq(lit(*end)).and(to().gt_eq(lit(*start)));
    let in_any = rows.windows.iter().map(lies_in).reduce(Expr::or)?;
    Some(match &rows.node {
        Some(node) => col("node").eq(lit(node.as_str())).and(in_any),
        None => in_any,
    })
}
