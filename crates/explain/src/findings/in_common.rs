//! What do the slow requests have in common?

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{materiality, weight};
use crate::evidence::{Dimension, EXCESS_BOUND, Evidence, Shared};
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// Below this share of the slow requests it is no more than a warning.
const CRITICAL_SHARE: f64 = 0.25;
/// Answers that are this many times as large as those of the other requests are worth saying.
const LARGER: i64 = 8;
const LONGEST_VALUE: usize = 120;

pub(super) struct InCommon;

impl Check for InCommon {
    fn name(&self) -> &'static str {
        "in-common"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let [first, others @ ..] = evidence.common.shared.as_slice() else { return Vec::new() };
        let counted = &evidence.account.common;
        let title = format!(
            "{} of the slow requests {} ({} of all)",
            text::percent(first.slow_share),
            is(first),
            text::percent(first.all_share)
        );
        let more: Vec<String> = others
            .iter()
            .map(|shared| {
                format!(
                    " Of the other slow requests, those that {} come to {} of all slow requests ({} of all requests){}.",
                    is(shared),
                    text::percent(shared.slow_share),
                    text::percent(shared.all_share),
                    sizes(shared)
                )
            })
            .collect();
        let counted_elsewhere = match counted.share + EXCESS_BOUND < evidence.common.slow_share() {
            true => format!(
                " {} of the slow requests are counted for it; the others are counted for what held them up.",
                text::percent(counted.share)
            ),
            false => String::new(),
        };
        let detail = format!(
            "They have {} of the slow requests' extra time{}.{} Helenus compared {}; chance gives as much {}.{}{counted_elsewhere}",
            text::percent(first.time_share),
            sizes(first),
            mostly(first),
            text::counted(evidence.common.tested, "value", "values"),
            rarely(first.p_value),
            more.concat()
        );
        let severity = match materiality(counted.median_ns.or(first.median_ns), evidence) {
            _ if counted.share < EXCESS_BOUND => Severity::Information,
            Severity::Critical if counted.share < CRITICAL_SHARE => Severity::Warning,
            severity => severity,
        };
        let mut finding = Finding::new(self.name(), severity, title, detail, evidence.judged_hull());
        finding.next = next(first).into();
        finding.share = Some(counted.share);
        finding.chance_share = Some(counted.share * (first.all_share / first.slow_share).min(1.0));
        finding.p_value = Some(first.p_value);
        finding.query =
            evidence.ask_with(&query::SLOW_WITH, &[("condition", query::Value::Condition(&first.condition))]);
        finding.weight = weight(counted.share, counted.median_ns, evidence);
        finding.claims = vec![Claim::Explains { cause: self.name(), share: counted.share }];
        finding.evidence = json!({
            "slow_requests": evidence.judged.slow_requests(),
            "shared": evidence.common.shared,
            "values_compared": evidence.common.tested,
            "counted_for_it_share": counted.share,
        });
        vec![finding]
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_string(),
    }
}

/// The statement behind a size, client or node.
fn mostly(shared: &Shared) -> String {
    match &shared.mostly {
        Some((operation, share)) => format!(" {} of them are `{}`.", text::percent(*share), short(operation)),
        None => String::new(),
    }
}

/// "are `SELECT a FROM t`"
fn is(shared: &Shared) -> String {
    let value = &shared.value;
    let short = short(value);
    match shared.dimension {
        Dimension::Operation => format!("are `{short}`"),
        Dimension::Table => format!("are about table {short}"),
        Dimension::Kind => format!("are of kind {short}"),
        Dimension::Client => format!("come from client {short}"),
        Dimension::Connection => format!("come over connection {short}"),
        Dimension::Node => format!("went to node {short}"),
        Dimension::ResponseSize => format!("have answers from {}", lower(value)),
        Dimension::RequestSize => format!("have {} or more", lower(value)),
    }
}

/// Of "64.0 KiB to 128.0 KiB".
fn lower(sizes: &str) -> &str {
    sizes.split(" to ").next().unwrap_or_default()
}

/// How much larger the answers of these requests are than those of the others.
fn sizes(shared: &Shared) -> String {
    match (shared.dimension, shared.response_bytes, shared.others_response_bytes) {
        (Dimension::ResponseSize, ..) => String::new(),
        (_, Some(own), Some(others)) if own >= others.saturating_mul(LARGER) => {
            format!(
                "; half of their answers have {} or more, half of the others {} or more",
                text::bytes(own),
                text::bytes(others)
            )
        }
        _ => String::new(),
    }
}

fn rarely(p_value: f64) -> String {
    format!("in one of {} cases at most", text::count((1.0 / p_value).round() as usize))
}

fn next(shared: &Shared) -> &'static str {
    match shared.dimension {
        Dimension::Operation | Dimension::Table | Dimension::Kind => {
            "see the partition sizes, tombstones and SSTables per read of its table: `helenus tables RECORDING`."
        }
        Dimension::Client | Dimension::Connection => {
            "see what that client does: `helenus clients RECORDING`; then look at its host and network."
        }
        Dimension::Node => {
            "record that node: `helenus record --node ADDRESS`; look at its CPUs, disk, compactions and pauses."
        }
        Dimension::ResponseSize | Dimension::RequestSize => {
            "ask for fewer rows or columns, or use a smaller page size."
        }
    }
}
