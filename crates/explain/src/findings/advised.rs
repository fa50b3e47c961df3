//! Turns the advice of the rules for tables and nodes (`advice/`) into findings.
//!
//! An advice keeps the severity that its rule gave it, and has no share of the slow requests: among findings of one
//! severity the advice comes after findings that were counted for some requests. If an equally severe finding is about
//! the same matter, the advice is added to that finding and replaces its next step.

use super::claim::Claim;
use super::finding::Finding;
use super::{ended, errors, in_common};
use crate::advice::Advice;
use crate::cql::is_name_of;
use crate::evidence::Evidence;
use crate::severity::Severity;
use crate::text;
use serde_json::{Value, json};

/// Rules, each with the findings that are about the same matter.
const THE_SAME: &[(&str, &str)] = &[
    ("wide-rows", "read-amplification"),
    ("chunk-size", "read-amplification"),
    ("read-ahead", "read-amplification"),
    ("gc-time", "gc-pause"),
    ("compaction-behind", "compaction-or-flush"),
    ("blocked-pools", "pool-queue"),
    (SHORT_TIMEOUTS, errors::NAME),
    ("tombstones-per-read", in_common::NAME),
    ("wide-partitions", in_common::NAME),
    ("lwt-contention", in_common::NAME),
    ("unlogged-batches", in_common::NAME),
];

/// Rules about a kind of statement, whatever its table.
const OF_KINDS: &[(&str, &str)] = &[("lwt-contention", "lightweight transaction"), ("unlogged-batches", "batch")];

/// A full heap is a likely reason why a process ended.
const HEAP_FULL: &str = "heap-full";
const SHORT_TIMEOUTS: &str = "short-timeouts";
/// Requests that fail because of a setting come before all that is slow, and after a node without a process and an overload.
const FAILED_BY_SETTING: f64 = 1e15;

/// Adds all advice to the findings.
pub(super) fn add(evidence: &Evidence, findings: &mut Vec<Finding>) {
    for advice in &evidence.advised {
        if advice.rule == HEAP_FULL && ended_for(advice, findings) {
            continue;
        }
        match findings.iter_mut().find(|finding| is_the_same(advice, finding)) {
            Some(finding) => add_to(finding, advice),
            None => {
                let mut finding = finding(advice, evidence);
                // Advice about the whole node is not about the requests that the user chose.
                if evidence.judges_part() {
                    finding.severity = Severity::Information;
                }
                findings.push(finding);
            }
        }
    }
}

fn is_the_same(advice: &Advice, finding: &Finding) -> bool {
    let speaks_of_it = THE_SAME.contains(&(advice.rule, finding.finding));
    if finding.finding == in_common::NAME {
        return speaks_of_it && finding.severity > Severity::Information && is_of_a_subject(advice, finding);
    }
    let is_of_its_table = || match (&advice.table, finding.evidence["table"]["table"].as_str()) {
        (Some(own), Some(other)) => own == other,
        _ => true,
    };
    let is_why = || advice.rule != SHORT_TIMEOUTS || are_mostly_short_timeouts(advice, finding);
    speaks_of_it && finding.severity >= advice.severity && is_of_its_table() && is_why()
}

/// Whether most of the failed requests timed out, and not since the server stopped or had too many of them.
fn are_mostly_short_timeouts(advice: &Advice, errors: &Finding) -> bool {
    let Some(evidence) = advice.evidence.first() else { return false };
    let is_of_writes = evidence.figures["setting"].as_str().is_some_and(|setting| setting.starts_with("write"));
    let of_node = if is_of_writes { "write_timeout" } else { "read_timeout" };
    let count = |name: &str| errors.evidence[name].as_u64().unwrap_or(0);
    let timed_out = |outcome: &str| errors.evidence["outcomes"][outcome].as_u64().unwrap_or(0);
    // The load driver names no kind.
    let timeouts = timed_out(of_node) + timed_out("timeout");
    let elsewhere = count("met_gc") + count("met_server_stall") + count("in_overloaded_phases");
    timeouts * 2 > count("failed") && elsewhere * 2 < count("failed")
}

/// Adds the advice to the ends of the processes of its nodes. Returns whether that were all of its nodes.
fn ended_for(advice: &Advice, findings: &mut [Finding]) -> bool {
    let mut are_all = true;
    for evidence in &advice.evidence {
        let ends =
            findings.iter_mut().filter(|finding| finding.finding == ended::NAME && finding.node == evidence.node);
        let mut is_any = false;
        for end in ends {
            is_any = true;
            end.detail = format!("{} Over the whole recording: {}.", end.detail, evidence.text);
            // Why it ended is a guess until its logs were read.
            end.next = format!("{} If it was for lack of heap: {}", end.next, advice.advice);
        }
        are_all &= is_any;
    }
    are_all
}

/// Whether advice was added to a finding.
pub(super) fn is_added_to(finding: &Finding) -> bool {
    finding.evidence["advice"].is_array()
}

/// Whether a finding is advice about a table, which is attributed to no request.
pub(super) fn is_about_a_table(finding: &Finding) -> bool {
    finding.claims.is_empty() && finding.evidence["rule"].is_string() && finding.evidence["table"].is_string()
}

/// Whether the slow requests are mostly about the table of an advice, or about the kind of statement that it is about.
fn is_of_a_subject(advice: &Advice, finding: &Finding) -> bool {
    let kind = OF_KINDS.iter().find(|(rule, _)| *rule == advice.rule).map(|(_, kind)| *kind);
    let Some(wanted) = advice.table.as_deref().or(kind) else { return false };
    let subjects = finding.evidence["subjects"].as_array();
    subjects.into_iter().flatten().filter_map(Value::as_str).any(|subject| is_name_of(subject, wanted))
}

fn add_to(finding: &mut Finding, advice: &Advice) {
    finding.severity = finding.severity.max(advice.severity);
    if advice.rule == SHORT_TIMEOUTS {
        finding.weight = FAILED_BY_SETTING;
    }
    finding.detail = format!("{} Over the whole recording: {}.", finding.detail, seen(advice));
    // No advice for suspects, which need more evidence first, and for cleared causes.
    if !finding.claims.iter().any(|claim| matches!(claim, Claim::Suspects { .. } | Claim::Clears { .. })) {
        finding.next.clone_from(&advice.advice);
    }
    if let Value::Object(figures) = &mut finding.evidence {
        let all = figures.entry("advice").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.push(figures_of(advice));
        }
    }
}

fn finding(advice: &Advice, evidence: &Evidence) -> Finding {
    let about = advice.table.clone().unwrap_or_else(|| match advice.evidence.as_slice() {
        [only] => only.node.clone(),
        several => text::counted(several.len(), "node", "nodes"),
    });
    let seen = seen(advice);
    let (first, rest) = seen.split_once(", ").unwrap_or((&seen, ""));
    let title = format!("{about}: {first}");
    let detail = match rest {
        "" => format!("To verify: {}", advice.verify),
        _ => format!("{about}: {seen}. To verify: {}", advice.verify),
    };
    let mut finding = Finding::new(advice.rule, advice.severity, title, detail, evidence.recorded);
    finding.next.clone_from(&advice.advice);
    if let [only] = advice.evidence.as_slice() {
        finding.node.clone_from(&only.node);
    }
    finding.query.clone_from(&advice.query);
    finding.evidence = figures_of(advice);
    finding
}

/// The evidence at the first node, followed by the number of further nodes.
fn seen(advice: &Advice) -> String {
    match advice.evidence.as_slice() {
        [] => String::new(),
        [only] => only.text.clone(),
        [first, others @ ..] => {
            let more = text::counted(others.len(), "node", "nodes");
            format!("{} ({}; the like at {more} more)", first.text, first.node)
        }
    }
}

fn figures_of(advice: &Advice) -> Value {
    let nodes: Vec<Value> = advice
        .evidence
        .iter()
        .map(|evidence| json!({ "node": evidence.node, "seen": evidence.text, "figures": evidence.figures }))
        .collect();
    json!({
        "rule": advice.rule,
        "table": advice.table,
        "nodes": nodes,
        "verify": advice.verify,
        "source": advice.source,
    })
}
