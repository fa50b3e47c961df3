//! Secondary indexes.

use super::facts::{MissingFact, Node, Table};
use super::rule::{Check, Checked, Found, Rule};
use crate::query;
use crate::severity::Severity;
use serde_json::json;

/// - Hidden tables: doc/…/indexing/2i/2i-when-to-use.adoc. A write adds to the index without reading (since 1.2): a read finds
///   entries that are stale and deletes them (`CassandraIndex.isStale`, `CompositesSearcher.deleteStaleEntry`, 4.0 to 5.0).
/// - SASI: `SASIIndex.USAGE_WARNING` calls it experimental in 4.0, 4.1 and 5.0, and `Config` has it off.
/// - SAI (5.0): `IndexTermType.supports` has no LIKE of any kind, and ranges of numbers and times but not of texts.
pub(super) const SECONDARY_INDEXES: Rule = Rule {
    name: "secondary-indexes",
    looks_at: "secondary indexes that are kept as hidden tables, and SASI",
    thresholds: &[],
    source: "Cassandra's documentation, CQL: Indexing (2i, SAI); SASIIndex and IndexTermType in its source",
    query: query::DEFINITIONS,
    check: Check::OfTable(secondary_indexes),
};

/// How an index is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A hidden table, local to each node.
    HiddenTable,
    Sasi,
    /// Storage-attached (SAI), or a custom class.
    Other,
}

impl Kind {
    /// The kind of an index by its fact, such as `CUSTOM {"class_name":"…","target":"…"}`.
    fn of(fact: &str) -> Kind {
        match fact {
            fact if fact.contains("SASIIndex") => Kind::Sasi,
            fact if fact.starts_with("CUSTOM") => Kind::Other,
            _ => Kind::HiddenTable,
        }
    }
}

fn secondary_indexes(node: &Node, table: &Table) -> Checked {
    if table.definition.is_empty() {
        return Err(MissingFact("the table's definition is not recorded".to_string()));
    }
    let indexes: Vec<(&str, &str)> = table
        .definition
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(fact, value)| Some((fact.strip_prefix("index ")?, value.as_str())))
        .collect();
    let named = |kind: Kind| -> Vec<&str> {
        indexes.iter().filter(|(_, fact)| Kind::of(fact) == kind).map(|(name, _)| *name).collect()
    };
    let (hidden, sasi) = (named(Kind::HiddenTable), named(Kind::Sasi));
    if hidden.is_empty() && sasi.is_empty() {
        return Ok(None);
    }
    let has_sai = node.version >= Some((5, 0));
    let mut advice = vec![
        "A query by an index without the partition key asks nodes all over the ring, range by range, until it has enough rows.",
    ];
    if !hidden.is_empty() {
        advice.push(
            "Each write to an indexed column writes to the index as well. An index that is a hidden table is for columns of \
             which each value has several rows, and best within one partition: not for values that are nearly unique, nor for \
             columns that are often updated or deleted, whose old entries reads have to find and remove.",
        );
        advice.push(match has_sai {
            true => {
                "On 5.0 a storage-attached index (CREATE INDEX … USING 'sai') takes less disk space and has no such entries \
                 to remove."
            }
            false => "Otherwise keep a table of your own with that column in the partition key.",
        });
    }
    if !sasi.is_empty() {
        advice.push("SASI is experimental, and off by default since 4.0.");
        advice.push(match has_sai {
            true => {
                "A storage-attached index answers =, ranges of numbers and times, and CONTAINS; LIKE and ranges of texts it \
                 does not, so that such queries need a search engine or a table of their own."
            }
            false => "Before 5.0, which has storage-attached indexes, a table of your own is what replaces it.",
        });
    }
    Ok(Some(Found {
        severity: if sasi.is_empty() { Severity::Information } else { Severity::Warning },
        evidence: format!("it has {}", [hidden, sasi].concat().join(", ")),
        figures: json!({ "indexes": indexes.iter().copied().collect::<std::collections::BTreeMap<_, _>>() }),
        advice: advice.join(" "),
        verify: "RangeSlice of client_requests: how many and how long; `helenus explain RECORDING`.".into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, define, missing_after, quiet_after};

    #[test]
    fn secondary_indexes() {
        let rule = &SECONDARY_INDEXES;
        let plain = after(rule, |node| define(node, "index by_city", r#"COMPOSITES {"target":"city"}"#));
        assert!(plain.severity == Severity::Information && plain.advice.contains("USING 'sai'"), "{plain:?}");
        assert!(!plain.advice.contains("reads before") && !plain.advice.contains("SASI"), "{}", plain.advice);
        let sasi = r#"CUSTOM {"class_name":"org.apache.cassandra.index.sasi.SASIIndex","target":"city"}"#;
        let experimental = after(rule, |node| define(node, "index by_city", sasi));
        assert_eq!(experimental.severity, Severity::Warning);
        assert!(experimental.advice.contains("LIKE and ranges of texts it does not"), "{}", experimental.advice);
        assert!(!experimental.advice.contains("hidden table"), "it is kept with the SSTables: {}", experimental.advice);
        let old = after(rule, |node| {
            define(node, "index by_city", sasi);
            node.version = Some((4, 0));
        });
        assert!(old.advice.contains("Before 5.0"), "{}", old.advice);
        for other in
            [r#"CUSTOM {"class_name":"StorageAttachedIndex"}"#, r#"CUSTOM {"class_name":"com.example.Lucene"}"#, ""]
        {
            quiet_after(rule, |node| define(node, "index by_city", other));
        }
        missing_after(rule, |node| node.tables[0].definition.clear());
    }
}
