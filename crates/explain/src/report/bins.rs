//! The time bins of the report's charts.

use crate::timeline::{Bins, Interval};

/// The most bins of a chart.
const MOST: i64 = 1800;

pub(super) fn over(span: Interval, shortest_ns: i64) -> Bins {
    Bins::over(span, MOST, shortest_ns)
}
