//! Advice for the tables and nodes of a recording: small rules, each with its check, its evidence, what to do, how to
//! verify it, and its source. A rule whose facts are missing says so.
//!
//! A rule is a function of facts in a file of its family, and a line in [`RULES`]. What it compares with is in
//! [`thresholds`].

mod bygone;
mod caches;
mod clients;
mod collector;
mod columns;
mod compaction;
mod compression;
mod deletes;
mod disk;
mod facts;
mod heap;
mod indexes;
mod listing;
mod partitions;
mod pressure;
mod reads;
mod rows;
mod strategy;
mod thresholds;
mod tombstones;

use crate::Error;
use crate::engine::Engine;
use crate::query::{self, Query};
use crate::severity::Severity;
use facts::{Missing, Node, Table};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

use bygone::BYGONE;
pub use listing::rules_as_markdown;
use thresholds::Threshold;

/// What a rule is, for who reads of it.
#[derive(Debug, Clone, Copy)]
struct Rule {
    name: &'static str,
    looks_at: &'static str,
    thresholds: &'static [&'static Threshold],
    /// Where it comes from.
    source: &'static str,
    /// By which what it looks at can be seen.
    query: Query,
    check: Check,
}

#[derive(Debug, Clone, Copy)]
enum Check {
    OfNode(fn(&Node) -> Checked),
    OfTable(fn(&Node, &Table) -> Checked),
}

/// What a rule found, nothing when all is well.
type Checked = Result<Option<Found>, Missing>;

#[derive(Debug, Clone, PartialEq)]
struct Found {
    severity: Severity,
    /// A sentence with figures.
    evidence: String,
    figures: Value,
    advice: String,
    verify: String,
}

/// What to do about a table, or about the nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    pub rule: &'static str,
    pub severity: Severity,
    /// `keyspace.table`; None for what is about nodes.
    pub table: Option<String>,
    pub evidence: Vec<Evidence>,
    pub advice: String,
    pub verify: String,
    pub source: &'static str,
    /// Shows what the rule looked at; can be given to `helenus sql`.
    pub query: String,
}

/// What was seen at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    pub node: String,
    pub text: String,
    pub figures: Value,
}

/// A rule that could not be asked, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotChecked {
    pub rule: &'static str,
    pub because: String,
    /// The nodes or tables that it is about.
    pub of: Vec<String>,
}

/// All that the rules say of a recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counsel {
    pub nodes: usize,
    pub tables: usize,
    /// Most important first.
    pub advice: Vec<Advice>,
    /// Rules that looked and found all well, wherever they could look.
    pub well: Vec<&'static str>,
    pub not_checked: Vec<NotChecked>,
}

/// The rules, in the order of the documentation.
const RULES: &[Rule] = &[
    reads::SSTABLES_PER_READ,
    reads::BLOOM_FILTERS,
    tombstones::TOMBSTONES_PER_READ,
    tombstones::DROPPABLE_TOMBSTONES,
    tombstones::STUCK_SSTABLE,
    deletes::GC_GRACE,
    partitions::WIDE_PARTITIONS,
    rows::WIDE_ROWS,
    strategy::EXPIRING_DATA,
    strategy::TIME_WINDOWS,
    strategy::LEVELED_WRITES,
    strategy::RETIRED_STRATEGY,
    strategy::LOCAL_OVERRIDE,
    compaction::COMPACTION_BEHIND,
    compaction::DISK_HEADROOM,
    compression::CHUNK_SIZE,
    compression::COMPRESSION_IN_VAIN,
    disk::READ_AHEAD,
    disk::DISK_ACCESS,
    heap::HEAP_SIZE,
    heap::HEAP_FULL,
    collector::COLLECTOR,
    collector::YOUNG_GENERATION,
    collector::GC_TIME,
    collector::MARKING,
    pressure::BLOCKED_POOLS,
    pressure::DROPPED_MESSAGES,
    caches::ROW_CACHE,
    caches::KEY_CACHE,
    clients::TOKEN_AWARENESS,
    clients::UNLOGGED_BATCHES,
    clients::LWT_CONTENTION,
    indexes::SECONDARY_INDEXES,
];

/// Asks every rule about every node and table of the recording; `table` keeps those whose `keyspace.table` has it in it.
///
/// # Errors
/// A recording that can't be read.
pub fn advise(engine: &Engine, table: Option<&str>) -> Result<Counsel, Error> {
    let mut nodes = facts::nodes(engine)?;
    for node in &mut nodes {
        node.tables.retain(|known| table.is_none_or(|text| known.name().contains(text)));
    }
    Ok(counsel(&nodes))
}

fn counsel(nodes: &[Node]) -> Counsel {
    let mut advice: Vec<Advice> = Vec::new();
    let mut not_checked: Vec<NotChecked> = Vec::new();
    let mut well = Vec::new();
    for rule in RULES {
        let (mut asked, mut found) = (0, 0);
        for node in nodes {
            for (table, checked) in rule.ask(node) {
                match checked {
                    Ok(None) => asked += 1,
                    Ok(Some(one)) => {
                        found += 1;
                        rule.add(one, node, table, &mut advice);
                    }
                    Err(Missing(because)) => rule.miss(because, node, table, &mut not_checked),
                }
            }
        }
        if asked > 0 && found == 0 {
            well.push(rule.name);
        }
    }
    advice.sort_by_key(|one| std::cmp::Reverse(one.severity));
    let mut tables: Vec<&str> = nodes.iter().flat_map(|node| node.tables.iter().map(Table::name)).collect();
    tables.sort_unstable();
    tables.dedup();
    Counsel { nodes: nodes.len(), tables: tables.len(), advice, well, not_checked }
}

impl Rule {
    fn ask<'a>(&self, node: &'a Node) -> Vec<(Option<&'a Table>, Checked)> {
        match self.check {
            Check::OfNode(check) => vec![(None, check(node))],
            Check::OfTable(check) => node.tables.iter().map(|table| (Some(table), check(node, table))).collect(),
        }
    }

    /// What is true of several nodes is one advice with as much evidence.
    fn add(&self, found: Found, node: &Node, table: Option<&Table>, advice: &mut Vec<Advice>) {
        let table = table.map(|table| table.name().to_string());
        let evidence = Evidence { node: node.name.clone(), text: found.evidence, figures: found.figures };
        match advice.iter_mut().find(|one| one.rule == self.name && one.table == table && one.advice == found.advice) {
            Some(known) => {
                known.severity = known.severity.max(found.severity);
                known.evidence.push(evidence);
            }
            None => advice.push(Advice {
                rule: self.name,
                severity: found.severity,
                table,
                evidence: vec![evidence],
                advice: found.advice,
                verify: found.verify,
                source: self.source,
                query: self.query.fill(&[("filter", query::Value::Condition("true"))]),
            }),
        }
    }

    fn miss(&self, because: String, node: &Node, table: Option<&Table>, not_checked: &mut Vec<NotChecked>) {
        let of = table.map_or(node.name.as_str(), Table::name).to_string();
        match not_checked.iter_mut().find(|known| known.rule == self.name && known.because == because) {
            Some(known) if known.of.contains(&of) => {}
            Some(known) => known.of.push(of),
            None => not_checked.push(NotChecked { rule: self.name, because, of: vec![of] }),
        }
    }
}

/// Reasons with the rules that have them, for a short account.
pub fn by_reason(not_checked: &[NotChecked]) -> BTreeMap<&str, Vec<&NotChecked>> {
    let mut reasons: BTreeMap<&str, Vec<&NotChecked>> = BTreeMap::new();
    for one in not_checked {
        reasons.entry(&one.because).or_default().push(one);
    }
    reasons
}

#[cfg(test)]
mod tests;
