//! Secondary indexes.

use super::facts::{Missing, Node, Table};
use super::{Check, Checked, Found, Rule};
use crate::Severity;
use crate::query;
use serde_json::json;

pub(super) const SECONDARY_INDEXES: Rule = Rule {
    name: "secondary-indexes",
    looks_at: "secondary indexes that are kept as hidden tables, and SASI",
    thresholds: &[],
    source: "Cassandra's documentation of secondary, SASI and storage-attached indexes",
    query: query::DEFINITIONS,
    check: Check::OfTable(secondary_indexes),
};

fn secondary_indexes(node: &Node, table: &Table) -> Checked {
    if table.definition.is_empty() {
        return Err(Missing("the table's definition is not recorded".to_string()));
    }
    let indexes: Vec<(&str, &str)> = table
        .definition
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(fact, value)| Some((fact.strip_prefix("index ")?, value.as_str())))
        .collect();
    let sasi = indexes.iter().any(|(_, kind)| kind.contains("SASIIndex"));
    let hidden: Vec<&str> = indexes
        .iter()
        .filter(|(_, kind)| !kind.contains("StorageAttachedIndex") && !kind.to_lowercase().contains("\"sai\""))
        .map(|(name, _)| *name)
        .collect();
    if hidden.is_empty() {
        return Ok(None);
    }
    let better = match node.version >= Some((5, 0)) {
        true => {
            "On 5.0 a storage-attached index (CREATE INDEX … USING 'sai') answers it with less on disk and in one pass \
                 over its segments."
        }
        false => "Where that is not so, keep a table of your own with that column in the partition key.",
    };
    Ok(Some(Found {
        severity: if sasi { Severity::Warning } else { Severity::Information },
        evidence: format!("it has {}", hidden.join(", ")),
        figures: json!({ "indexes": indexes.iter().copied().collect::<std::collections::BTreeMap<_, _>>() }),
        advice: format!(
            "A query by such an index alone asks nodes all over the ring until it has enough rows, and each write reads before \
             it writes. It serves columns of few values within one partition. {better}{}",
            if sasi { " SASI is experimental, and off by default since 4.0." } else { "" }
        ),
        verify: "RangeSlice of client_requests: how many and how long; helenus explain.".into(),
    }))
}
