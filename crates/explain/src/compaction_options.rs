//! What the options of a table's compaction say.

use std::collections::BTreeMap;

pub(crate) const TWCS: &str = "TimeWindowCompactionStrategy";

/// The last part of a Java class's name.
pub(crate) fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Length of a window in s; None for another strategy. A day is what Cassandra takes where nothing is said.
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
