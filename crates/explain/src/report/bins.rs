//! The bins of the report's pictures.

use crate::timeline::{Bins, Interval};

/// Bins of a picture at most.
const MOST: i64 = 1800;

pub(super) fn over(span: Interval, shortest_ns: i64) -> Bins {
    Bins::over(span, MOST, shortest_ns)
}
