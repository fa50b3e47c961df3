//! A rule of advice: its facts, thresholds and finding.

use super::facts::{MissingFact, Node, Table};
use super::thresholds::Threshold;
use crate::query::Query;
use crate::severity::Severity;
use serde_json::Value;

/// The description and the check of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) looks_at: &'static str,
    pub(super) thresholds: &'static [&'static Threshold],
    /// The source of the rule.
    pub(super) source: &'static str,
    /// An SQL query that shows the facts that the rule checks.
    pub(super) query: Query,
    pub(super) check: Check,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    OfNode(fn(&Node) -> Checked),
    OfTable(fn(&Node, &Table) -> Checked),
}

/// The finding of a rule; None when all is well.
pub(super) type Checked = Result<Option<Found>, MissingFact>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) severity: Severity,
    /// The finding as a sentence with figures.
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
