//! Advice on whether the compaction strategy fits the reads and writes of the table.

use super::facts::{Node, Table, need};
use super::rule::{Check, Checked, Found, Rule};
use super::{columns, thresholds};
use crate::compaction_options::{TWCS, simple_name, window_seconds};
use crate::query;
use crate::severity::Severity;
use serde_json::json;
use std::collections::BTreeMap;

const LCS: &str = "LeveledCompactionStrategy";
const UCS: &str = "UnifiedCompactionStrategy";
const OF_TWCS: &str = "Cassandra's documentation, Operating: Compaction (TWCS)";

/// doc/…/operating/compaction: twcs.adoc (for time series whose rows expire; 20 to 30 windows; within a window it compacts by
/// size, and once more when the window has ended), ucs.adoc (from 5.0 on it is recommended for time series, too).
pub(super) const EXPIRING_DATA: Rule = Rule {
    name: "expiring-data",
    looks_at: "tables whose rows all expire, against a strategy that drops whole SSTables",
    thresholds: &[],
    source: OF_TWCS,
    query: query::TABLE_HEALTH,
    check: Check::OfTable(expiring_data),
};

fn expiring_data(_: &Node, table: &Table) -> Checked {
    let (ttl, strategy) = (table.seconds("default_time_to_live")?, table.strategy()?);
    let clustering = table.option("clustering").unwrap_or_default();
    let first = columns::list(clustering).into_iter().next();
    let by_time = first.is_some_and(|column| ["timestamp", "timeuuid"].contains(&column.cql_type.as_str()));
    if ttl == 0 || !by_time || [TWCS, UCS].contains(&strategy.as_str()) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "its rows expire after {ttl} s unless a write says otherwise, and are ordered by time ({clustering}), under {strategy}"
        ),
        figures: json!({ "default_time_to_live": ttl, "strategy": strategy, "clustering": clustering }),
        advice: format!(
            "If rows are written once, in the order of time, {TWCS} with {} drops whole SSTables when all in them has expired, \
             and compacts rows only with those of their own window. Not where rows are updated or deleted later on.",
            windows_for(ttl)
        ),
        verify: "Bytes compacted for each byte flushed, and the droppable ratio, in `helenus tables RECORDING`.".into(),
    }))
}

/// The compaction options that give about 25 time windows within a given TTL.
fn windows_for(ttl_s: i64) -> String {
    let window_s = (ttl_s / 25).max(60);
    let (unit, unit_s) = match window_s {
        86_400.. => ("DAYS", 86_400),
        3_600.. => ("HOURS", 3_600),
        _ => ("MINUTES", 60),
    };
    format!("'compaction_window_unit': '{unit}', 'compaction_window_size': {}", (window_s + unit_s / 2) / unit_s)
}

/// doc/…/operating/compaction/twcs.adoc ("20-30 windows"; "Changing TimeWindowCompactionStrategy Options": adjacent windows are
/// joined where a window grows, and nothing is split where it shrinks).
pub(super) const TIME_WINDOWS: Rule = Rule {
    name: "time-windows",
    looks_at: "how many windows TimeWindowCompactionStrategy keeps",
    thresholds: &[&thresholds::WINDOWS],
    source: OF_TWCS,
    query: query::TABLE_HEALTH,
    check: Check::OfTable(time_windows),
};

fn time_windows(_: &Node, table: &Table) -> Checked {
    if table.strategy()? != TWCS {
        return Ok(None);
    }
    let options: BTreeMap<String, String> =
        need(serde_json::from_str(table.compaction()?).ok(), "its compaction can't be read")?;
    let window_s = need(window_seconds(&options), "the size of its windows can't be read")?;
    let ttl = table.seconds("default_time_to_live")?;
    let windows = ttl as f64 / window_s as f64;
    if !thresholds::WINDOWS.is_met(windows) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("a TTL of {ttl} s spans {windows:.0} windows of {window_s} s"),
        figures: json!({ "windows": windows, "default_time_to_live": ttl, "sstables_by_window": table.health.sstables_by_window }),
        advice: format!(
            "Each window that has passed is an SSTable or more until it expires: take windows of a 20th to a 30th of the time \
             to live ({}). Larger windows join what is there, which compacts it once more; smaller ones would leave it as it is.",
            windows_for(ttl)
        ),
        verify: "SSTables and SSTables per read in `helenus tables RECORDING`.".into(),
    }))
}

/// doc/…/operating/compaction: lcs.adoc (for tables that are mostly read, not for write-heavy ones), stcs.adoc, ucs.adoc (T4 is
/// like size-tiered with its default of 4).
pub(super) const LEVELED_WRITES: Rule = Rule {
    name: "leveled-writes",
    looks_at: "what LeveledCompactionStrategy costs a table that is mostly written",
    thresholds: &[&thresholds::WRITE_SHARE, &thresholds::WRITE_AMPLIFICATION],
    source: "Cassandra's documentation, Operating: Compaction (LCS, STCS, UCS)",
    query: query::TABLE_HEALTH,
    check: Check::OfTable(leveled_writes),
};

fn leveled_writes(node: &Node, table: &Table) -> Checked {
    if table.strategy()? != LCS {
        return Ok(None);
    }
    let reads = need(table.health.reads_per_s, "its reads are not recorded")?;
    let writes = need(table.health.writes_per_s, "its writes are not recorded")?;
    if reads + writes == 0.0 {
        return Ok(None);
    }
    let amplification = need(table.health.write_amplification, "nothing was flushed since the node started")?;
    let share = writes / (reads + writes);
    if !thresholds::WRITE_SHARE.is_met(share) || !thresholds::WRITE_AMPLIFICATION.is_met(amplification) {
        return Ok(None);
    }
    let other = match node.version >= Some((5, 0)) {
        true => "UnifiedCompactionStrategy with scaling_parameters T4",
        false => "SizeTieredCompactionStrategy",
    };
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!(
            "{:.0} % of its requests are writes, and each byte flushed was written {amplification:.1} times",
            share * 100.0
        ),
        figures: json!({ "write_share": share, "write_amplification": amplification }),
        advice: format!(
            "{other} writes each byte fewer times, for more SSTables per read: worth it where reads are few."
        ),
        verify: "Write amplification and SSTables per read in `helenus tables RECORDING`, on one node first.".into(),
    }))
}

/// `DateTieredCompactionStrategy` is in 4.0 and 4.1, deprecated, and not in 5.0.
pub(super) const RETIRED_STRATEGY: Rule = Rule {
    name: "retired-strategy",
    looks_at: "DateTieredCompactionStrategy, which TimeWindowCompactionStrategy replaced",
    thresholds: &[],
    source: "Cassandra's NEWS.txt: deprecated in 3.8, gone in 5.0",
    query: query::DEFINITIONS,
    check: Check::OfTable(retired_strategy),
};

fn retired_strategy(_: &Node, table: &Table) -> Checked {
    let strategy = table.strategy()?;
    if strategy != "DateTieredCompactionStrategy" {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Warning,
        evidence: format!("it is compacted by {strategy}"),
        figures: json!({ "strategy": strategy }),
        advice: format!("Alter it to {TWCS} before an upgrade to 5.0."),
        verify: "DESCRIBE TABLE.".into(),
    }))
}

/// `CompactionStrategyManager.maybeReloadParamsFromSchema` (4.0 to 5.0): a local override holds until the schema's own compaction
/// is altered, which then replaces it.
pub(super) const LOCAL_OVERRIDE: Rule = Rule {
    name: "local-override",
    looks_at: "whether a node compacts a table in another way than the schema says",
    thresholds: &[],
    source: "ColumnFamilyStoreMBean.CompactionParametersJson, which changes one node until a restart or an ALTER TABLE of the \
             compaction",
    query: query::DEFINITIONS,
    check: Check::OfTable(local_override),
};

fn local_override(_: &Node, table: &Table) -> Checked {
    let options = |option| -> Result<BTreeMap<String, String>, super::facts::MissingFact> {
        let text = table.need_option(option)?;
        let mut map: BTreeMap<String, String> =
            need(serde_json::from_str(text).ok(), &format!("its {option} can't be read"))?;
        if let Some(class) = map.get_mut("class") {
            *class = simple_name(class).to_string();
        }
        Ok(map)
    };
    let (schema, in_force) = (options("compaction")?, options("compaction_in_force")?);
    // A node may spell out what the schema leaves to the default.
    if schema.iter().all(|(name, value)| in_force.get(name) == Some(value)) {
        return Ok(None);
    }
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("it runs {}, the schema says {}", one_line(&in_force), one_line(&schema)),
        figures: json!({ "in_force": in_force, "schema": schema }),
        advice: "If it was a trial, end it: make it the schema's by ALTER TABLE, or set the schema's own parameters again. A \
                 restart or any ALTER of the table's compaction undoes it without a word."
            .into(),
        verify: "compaction and compaction_in_force of table_facts are the same.".into(),
    }))
}

fn one_line(options: &BTreeMap<String, String>) -> String {
    options.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{
        UNDER_LCS, UNDER_TWCS, after, compacted_by, define, health, missing_after, quiet_after,
    };

    #[test]
    fn expiring_data() {
        let rule = &EXPIRING_DATA;
        let day = after(rule, |node| define(node, "default_time_to_live", "86400"));
        assert!(
            day.advice.contains("'compaction_window_unit': 'MINUTES', 'compaction_window_size': 58"),
            "{}",
            day.advice
        );
        let quarter = after(rule, |node| define(node, "default_time_to_live", "7776000"));
        assert!(quarter.advice.contains("'DAYS', 'compaction_window_size': 4"), "{}", quarter.advice);
        quiet_after(rule, |node| {
            define(node, "default_time_to_live", "86400");
            compacted_by(node, r#"{"class":"UnifiedCompactionStrategy"}"#);
        });
        quiet_after(rule, |node| {
            define(node, "default_time_to_live", "86400");
            define(node, "clustering", "timestamp int asc");
        });
        quiet_after(rule, |node| {
            define(node, "default_time_to_live", "86400");
            compacted_by(node, UNDER_TWCS);
        });
        quiet_after(rule, |node| {
            define(node, "default_time_to_live", "86400");
            define(node, "clustering", "name text asc");
        });
        missing_after(rule, |node| node.tables[0].definition.clear());
    }

    #[test]
    fn time_windows() {
        let rule = &TIME_WINDOWS;
        let of_ttl = |ttl: &'static str| {
            move |node: &mut Node| {
                compacted_by(node, UNDER_TWCS);
                define(node, "default_time_to_live", ttl);
            }
        };
        let many = after(rule, of_ttl("864000"));
        assert!(many.evidence.contains("240 windows"), "{}", many.evidence);
        assert!(many.advice.contains("'HOURS', 'compaction_window_size': 10"), "{}", many.advice);
        quiet_after(rule, of_ttl("86400"));
        missing_after(rule, |node| {
            compacted_by(node, UNDER_TWCS);
            define(node, "default_time_to_live", "soon");
        });
    }

    #[test]
    fn leveled_writes() {
        let rule = &LEVELED_WRITES;
        let written = |node: &mut Node| {
            compacted_by(node, UNDER_LCS);
            health(node).reads_per_s = Some(1.0);
            health(node).write_amplification = Some(14.0);
        };
        assert!(after(rule, written).advice.contains("T4"));
        let old = after(rule, |node| {
            written(node);
            node.version = Some((4, 1));
        });
        assert!(old.advice.contains("SizeTiered"), "{}", old.advice);
        quiet_after(rule, |node| {
            written(node);
            health(node).reads_per_s = Some(1000.0);
        });
        missing_after(rule, |node| {
            written(node);
            health(node).write_amplification = None;
        });
    }

    #[test]
    fn retired_strategies_and_local_overrides() {
        let dated = |node: &mut Node| compacted_by(node, r#"{"class":"DateTieredCompactionStrategy"}"#);
        after(&RETIRED_STRATEGY, dated);
        quiet_after(&RETIRED_STRATEGY, |_| ());
        missing_after(&RETIRED_STRATEGY, |node| node.tables[0].definition.clear());
        let local = after(&LOCAL_OVERRIDE, |node| define(node, "compaction_in_force", UNDER_LCS));
        assert!(local.evidence.contains("it runs class LeveledCompactionStrategy"), "{}", local.evidence);
        quiet_after(&LOCAL_OVERRIDE, |_| ());
        missing_after(&LOCAL_OVERRIDE, |node| drop(node.tables[0].definition.remove("compaction_in_force")));
    }
}
