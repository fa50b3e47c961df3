//! Reads the compaction options of a table.

use std::collections::BTreeMap;

pub(crate) const TWCS: &str = "TimeWindowCompactionStrategy";

/// The last part of a Java class's name.
pub(crate) fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Length of a compaction window in seconds; None for other strategies. Without options it is Cassandra's default of
/// one day.
pub(crate) fn window_seconds(compaction: &BTreeMap<String, String>) -> Option<i64> {
    let class = compaction.get("class")?;
    let size: i64 = compaction.get("compaction_window_size").map_or(Some(1), |size| size.parse().ok())?;
    let unit_s = match compaction.get("compaction_window_unit").map(String::as_str) {
        Some("MINUTES") => 60,
        Some("HOURS") => 3600,
        _ => 86_400,
    };
    (simple_name(class) == TWCS && size > 0).then(|| size.saturating_mul(unit_s))
}
