//! A rule: what it looks at, by which thresholds, and what it finds.

use super::facts::{Missing, Node, Table};
use super::thresholds::Threshold;
use crate::query::Query;
use crate::severity::Severity;
use serde_json::Value;

/// What a rule is, for who reads of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) looks_at: &'static str,
    pub(super) thresholds: &'static [&'static Threshold],
    /// Where it comes from.
    pub(super) source: &'static str,
    /// By which what it looks at can be seen.
    pub(super) query: Query,
    pub(super) check: Check,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    OfNode(fn(&Node) -> Checked),
    OfTable(fn(&Node, &Table) -> Checked),
}

/// What a rule found, nothing when all is well.
pub(super) type Checked = Result<Option<Found>, Missing>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) severity: Severity,
    /// A sentence with figures.
    pub(super) evidence: String,
    pub(super) figures: Value,
    pub(super) advice: String,
    pub(super) verify: String,
}

impl Rule {
    pub(super) fn ask<'a>(&self, node: &'a Node) -> Vec<(Option<&'a Table>, Checked)> {
        match self.check {
            Check::OfNode(check) => vec![(None, check(node))],
            Check::OfTable(check) => node.tables.iter().map(|table| (Some(table), check(node, table))).collect(),
        }
    }
}
