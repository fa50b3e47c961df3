//! Advice about rows that hold far more than statements read.

use super::columns::{Column, Columns, Proposed};
use super::facts::{MissingFact, Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::cql::columns_asked;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) const WIDE_ROWS: Rule = Rule {
    name: "wide-rows",
    looks_at: "how many of a large row's columns statements ask for",
    thresholds: &[&thresholds::WIDE_ROW, &thresholds::VERY_WIDE_ROW, &thresholds::COLUMNS_FOR_ONE],
    source: "field report on a wide row, 2016",
    query: query::ROW_SIZES,
    check: Check::OfTable(wide_rows),
};

/// This many columns of one type suggest that column names hold data that should be in rows.
const MANY_ALIKE: usize = 4;

fn wide_rows(_: &Node, table: &Table) -> Checked {
    let columns = Columns::of(table)?;
    let row_bytes = row_bytes(table, &columns)?;
    if !thresholds::WIDE_ROW.is_met(row_bytes as f64) || columns.regular.len() < 2 {
        return Ok(None);
    }
    let selects = need(
        table.selects.as_ref(),
        "no statement is recorded (`helenus record --node ADDRESS` does, and so does a load of helenus)",
    )?;
    let names: Vec<&str> = columns.regular.iter().map(|column| column.name.as_str()).collect();
    let requests: i64 = selects.iter().map(|select| select.requests).sum();
    if requests == 0 {
        return Ok(None);
    }
    let of_all: i64 = selects
        .iter()
        .map(|select| select.requests * i64::try_from(columns_asked(&select.statement, &names)).unwrap_or(0))
        .sum();
    let asked = of_all as f64 / requests as f64;
    if !thresholds::COLUMNS_FOR_ONE.is_met(names.len() as f64 / asked.max(1.0)) {
        return Ok(None);
    }
    let Some(split) = Split::of(table, &columns) else { return Ok(None) };
    let read = table.io.as_ref().filter(|io| io.requests > 0 && io.read_bytes() > 0);
    let read_text = read.map_or(String::new(), |io| {
        format!(
            "; its requests read {} each to return {}",
            text::bytes(io.read_bytes() / io.requests),
            text::bytes(io.returned_bytes / io.requests)
        )
    });
    Ok(Some(Found {
        severity: match thresholds::VERY_WIDE_ROW.is_met(row_bytes as f64) {
            true => Severity::Warning,
            false => Severity::Information,
        },
        evidence: format!(
            "a row has {} in {} columns, and statements ask for {asked:.1} of them{read_text}",
            text::bytes(row_bytes),
            names.len()
        ),
        figures: json!({
            "mean_row_bytes": row_bytes,
            "mean_partition_bytes": table.health.mean_partition_bytes,
            "columns": names.len(),
            "columns_asked": asked,
            "requests": requests,
            "read_bytes": read.map(|io| io.read_bytes()),
            "returned_bytes": read.map(|io| io.returned_bytes),
            "proposed_cql": split.proposed.cql,
        }),
        advice: split.advice,
        verify: "Bytes read against bytes returned: `helenus record --node ADDRESS --syscalls summary -o files.helenus`, then `helenus \
                 io files.helenus`. The local read latency in `helenus tables RECORDING`, of the new table against the old one: \
                 experiments/wide-row.toml does it for rows of 1 to 100 columns."
            .into(),
    }))
}

/// Mean size of a row in bytes, before compression.
fn row_bytes(table: &Table, columns: &Columns) -> Result<i64, MissingFact> {
    let of_partition = table.health.mean_partition_bytes.filter(|bytes| *bytes > 0 && columns.clustering.is_empty());
    need(table.mean_row_bytes.or(of_partition), "the sizes of rows are not recorded (the agent reads them of SSTables)")
}

/// How a large row could be split into several.
struct Split {
    proposed: Proposed,
    advice: String,
}

impl Split {
    /// Returns None if no column of the row can be large.
    fn of(table: &Table, columns: &Columns) -> Option<Split> {
        let (keyspace, name) = table.name().split_once('.')?;
        let large: Vec<Column> = columns.regular.iter().filter(|column| column.is_unbounded()).cloned().collect();
        let mut by_type: BTreeMap<&str, Vec<&Column>> = BTreeMap::new();
        for column in &large {
            by_type.entry(&column.cql_type).or_default().push(column);
        }
        let (cql_type, alike) = by_type.into_iter().max_by_key(|(_, alike)| alike.len())?;
        let together = "The columns of one row lie together, and who asks for one of them reads over the others.";
        if alike.len() < MANY_ALIKE {
            let proposed = columns.table_of(keyspace, name, &large);
            let advice = format!(
                "{together} Move the large ones to a table of their own: {} Write both in one logged batch, read the large \
                 ones by the same key where they are wanted, and drop them here once they are copied.",
                proposed.cql
            );
            return Some(Split { proposed, advice });
        }
        let proposed = columns.table_by_column(keyspace, name, cql_type);
        let rest = match columns.regular.len() - alike.len() {
            0 => String::new(),
            1 => format!(" The other column stays in {name}."),
            several => format!(" The other {several} columns stay in {name}."),
        };
        let advice = format!(
            "{together} Make of the {} {cql_type} columns rows of the partition: {} A column is then written and read as \
             … AND {} = '{}', and several by IN; all of a row by its key alone.{rest} Copy what is there, and carry over \
             the table's options (compaction, compression, gc_grace_seconds).",
            alike.len(),
            proposed.cql,
            proposed.column_name,
            alike[0].name.replace('\'', "''"),
        );
        Some(Split { proposed, advice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, define, health, missing_after, quiet_after};

    fn asking(statement: &str, requests: i64) -> crate::statements::Select {
        crate::statements::Select { statement: statement.into(), table: "shop.orders".into(), requests }
    }

    #[test]
    fn wide_rows() {
        let rule = &WIDE_ROWS;
        let wide = |node: &mut Node| {
            node.tables[0].mean_row_bytes = Some(1_000_000);
            node.tables[0].selects = Some(vec![asking("SELECT c0 FROM shop.orders WHERE id = ?", 99)]);
        };
        let found = after(rule, wide);
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.evidence, "a row has 976.6 KiB in 6 columns, and statements ask for 1.0 of them");
        assert_eq!(
            found.figures["proposed_cql"],
            "CREATE TABLE shop.orders_by_column (id text, at timestamp, column_name text, value blob, PRIMARY KEY ((id), at, \
             column_name));"
        );
        assert!(found.advice.contains("The other column stays"), "{}", found.advice);
        let few = after(rule, |node| {
            wide(node);
            define(node, "columns", "a int, b int, c int, d int, body blob");
        });
        assert!(few.advice.contains("orders_large (id text, at timestamp, body blob"), "{}", few.advice);
        let without_clustering = after(rule, |node| {
            wide(node);
            define(node, "clustering", "");
            node.tables[0].mean_row_bytes = None;
            health(node).mean_partition_bytes = Some(100_000);
        });
        assert_eq!(without_clustering.severity, Severity::Information, "a row is its partition");
        quiet_after(rule, |node| {
            wide(node);
            node.tables[0].selects.as_mut().unwrap().push(asking("SELECT * FROM shop.orders WHERE id = ?", 99));
        });
        quiet_after(rule, |node| {
            wide(node);
            define(node, "columns", "a int, b int, c int, d int, e int");
        });
        missing_after(rule, |node| {
            wide(node);
            node.tables[0].selects = None;
        });
    }
}
