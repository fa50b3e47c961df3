//! The advice of all rules about the nodes and tables of a recording.

use super::facts::{self, MissingFact, Node, Table};
use super::listing::RULES;
use super::rule::{Found, Rule};
use crate::Error;
use crate::command::Site;
use crate::engine::Engine;
use crate::query;
use crate::severity::Severity;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// One piece of advice about a table or about nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    pub rule: &'static str,
    pub severity: Severity,
    /// The table as `keyspace.table`; None for advice about nodes.
    pub table: Option<String>,
    pub evidence: Vec<Evidence>,
    pub advice: String,
    pub verify: String,
    pub source: &'static str,
    /// An SQL query that shows the facts behind the advice; it can be passed to `helenus sql`.
    pub query: String,
}

/// The evidence at one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    pub node: String,
    pub text: String,
    pub figures: Value,
}

/// A rule that could not be checked, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotChecked {
    pub rule: &'static str,
    pub because: String,
    /// The nodes or tables for which the rule could not be checked.
    pub of: Vec<String>,
}

/// The advice of all rules on a recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdviceReport {
    pub nodes: usize,
    pub tables: usize,
    /// All advice, the most important first.
    pub advice: Vec<Advice>,
    /// Rules that could check every node and table, and found nothing.
    pub well: Vec<&'static str>,
    pub not_checked: Vec<NotChecked>,
}

/// Applies every rule to every node and table of the recording. `table` selects tables whose `keyspace.table` contains
/// it.
///
/// # Errors
/// A recording that can't be read.
pub fn advise(engine: &Engine, table: Option<&str>) -> Result<AdviceReport, Error> {
    let mut nodes = facts::nodes(engine)?;
    for node in &mut nodes {
        node.tables.retain(|known| table.is_none_or(|text| known.name().contains(text)));
    }
    let mut report = advice_report(&nodes);
    report.fill_in(&Site::of(engine));
    Ok(report)
}

pub(super) fn advice_report(nodes: &[Node]) -> AdviceReport {
    let mut advice: Vec<Advice> = Vec::new();
    let mut not_checked: Vec<NotChecked> = Vec::new();
    let mut well = Vec::new();
    for rule in RULES {
        let (mut asked, mut found, before) = (0, 0, not_checked.len());
        for node in nodes {
            for (table, checked) in rule.ask(node) {
                match checked {
                    Ok(None) => asked += 1,
                    Ok(Some(one)) => {
                        found += 1;
                        rule.add(one, node, table, &mut advice);
                    }
                    Err(MissingFact(because)) => rule.miss(because, node, table, &mut not_checked),
                }
            }
        }
        if asked > 0 && found == 0 && not_checked.len() == before {
            well.push(rule.name);
        }
    }
    advice.sort_by_key(|one| std::cmp::Reverse(one.severity));
    let mut tables: Vec<&str> = nodes.iter().flat_map(|node| node.tables.iter().map(Table::name)).collect();
    tables.sort_unstable();
    tables.dedup();
    AdviceReport { nodes: nodes.len(), tables: tables.len(), advice, well, not_checked }
}

impl AdviceReport {
    /// Fills in the commands of all texts.
    fn fill_in(&mut self, site: &Site) {
        for one in &mut self.advice {
            let node = one.evidence.first().map_or(String::new(), |evidence| evidence.node.clone());
            one.advice = site.fill(&one.advice, &node);
            one.verify = site.fill(&one.verify, &node);
        }
        self.not_checked.iter_mut().for_each(|one| one.because = site.fill(&one.because, ""));
    }
}

impl Rule {
    /// Adds a finding. Nodes with the same finding share one advice, which has one evidence for each of them.
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

/// The reasons why rules could not be checked, each with its rules, in short form.
pub fn by_reason(not_checked: &[NotChecked]) -> BTreeMap<&str, Vec<&NotChecked>> {
    let mut reasons: BTreeMap<&str, Vec<&NotChecked>> = BTreeMap::new();
    for one in not_checked {
        reasons.entry(&one.because).or_default().push(one);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{health, healthy};

    #[test]
    fn a_node_in_health_gets_no_advice_and_every_rule_was_asked() {
        let report = advice_report(&[healthy()]);
        assert_eq!((&report.advice, &report.not_checked), (&vec![], &vec![]));
        assert_eq!(report.well.len(), RULES.len());
        assert_eq!((report.nodes, report.tables), (1, 1));
    }

    #[test]
    fn a_rule_without_its_facts_says_so() {
        let mut bare = Node { name: "n".into(), tables: vec![Table::default()], ..Node::default() };
        bare.tables[0].health.table = "a.b".into();
        let report = advice_report(&[bare]);
        assert_eq!((report.advice.len(), report.well.len()), (0, 0), "{:?}", report.well);
        let unasked: std::collections::BTreeSet<&str> = report.not_checked.iter().map(|one| one.rule).collect();
        assert_eq!(unasked.len(), RULES.len());
        assert!(report.not_checked.iter().all(|one| one.because.len() > 10 && one.of.len() == 1));
    }

    #[test]
    fn what_is_true_of_two_nodes_is_one_advice() {
        let mut one = healthy();
        health(&mut one).sstables_per_read_p95 = Some(5.0);
        let mut two = one.clone();
        two.name = "127.0.0.2".into();
        health(&mut two).sstables_per_read_p95 = Some(12.0);
        let report = advice_report(&[one, two]);
        assert_eq!((report.nodes, report.tables, report.advice.len()), (2, 1, 1));
        assert_eq!(report.advice[0].evidence.len(), 2);
        assert_eq!(report.advice[0].severity, Severity::Warning, "of the worst");
    }

    #[test]
    fn rules_have_names_of_their_own_and_say_where_they_come_from() {
        let names: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        for rule in RULES {
            assert!(!rule.source.is_empty() && !rule.looks_at.is_empty(), "{}", rule.name);
            assert!(rule.thresholds.iter().all(|threshold| !threshold.source.is_empty()), "{}", rule.name);
        }
    }
}
