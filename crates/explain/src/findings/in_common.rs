//! The finding about what slow requests have in common.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{materiality, weight};
use crate::evidence::{CauseKind, Dimension, DiskTime, EXCESS_BOUND, Evidence, Shared};
use crate::requests::{BEHIND_NS, LARGE_BYTES};
use crate::severity::Severity;
use crate::{cql, query, text};
use serde_json::json;

pub(super) const NAME: &str = "in-common";

/// Below this share of the slow requests the finding is at most a warning.
const CRITICAL_SHARE: f64 = 0.25;
/// Response sizes are mentioned if they are at least this many times those of other requests.
const LARGER: i64 = 8;
const LONGEST_VALUE: usize = 120;

pub(super) struct InCommon;

impl Check for InCommon {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let [first, others @ ..] = evidence.common.shared.as_slice() else { return Vec::new() };
        let counted = &evidence.account.common;
        // Where these requests waited for a disk, that is the cause, and what they are says which requests need it.
        let is_told_already = evidence.account.slow_disk.share > 0.0
            || evidence.cause(CauseKind::DiskWait).is_some_and(|cause| cause.attributed > 0);
        let disk = evidence.disk_time.as_ref().filter(|_| !is_told_already);
        let slow = text::percent(first.slow_share);
        let title = match disk {
            Some(_) => format!("Disk waits delayed {slow} of the slow requests, which {}", is(first)),
            None => format!("{slow} of the slow requests {} ({} of all)", is(first), text::percent(first.all_share)),
        };
        let waits = disk.map_or(String::new(), waits_for_disk);
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
            "{waits}They have {} of the slow requests' extra time{}.{}{}{} Helenus compared {}; chance gives as much {}.{}{counted_elsewhere}",
            text::percent(first.time_share),
            sizes(first),
            mostly(first),
            sent(first, evidence),
            behind(first),
            text::counted(evidence.common.tested, "value", "values"),
            rarely(first.p_value),
            more.concat()
        );
        let severity = match materiality(counted.median_ns.or(first.median_ns), evidence) {
            _ if counted.share < EXCESS_BOUND => Severity::Information,
            Severity::Critical if counted.share < CRITICAL_SHARE => Severity::Warning,
            severity => severity,
        };
        let name = if disk.is_some() { CauseKind::DiskWait.name() } else { self.name() };
        let mut finding = Finding::new(name, severity, title, detail, evidence.judged_hull());
        finding.next = match disk {
            Some(_) => "see which files they read (`helenus record --node ADDRESS --syscalls summary -o files.helenus`, then `helenus io \
                        files.helenus`); more memory for the page cache (a smaller heap) spares reads."
                .into(),
            None => next(first, statement(first, evidence)).into(),
        };
        finding.share = Some(counted.share);
        finding.chance_share = Some(counted.share * (first.all_share / first.slow_share).min(1.0));
        finding.p_value = Some(first.p_value);
        finding.query =
            evidence.ask_with(&query::SLOW_WITH, &[("condition", query::Value::Condition(&first.condition))]);
        finding.weight = weight(counted.share, counted.median_ns, evidence);
        finding.claims = vec![Claim::Explains { cause: name, share: counted.share }];
        finding.evidence = json!({
            "slow_requests": evidence.judged.slow_requests(),
            "shared": evidence.common.shared,
            "values_compared": evidence.common.tested,
            "counted_for_it_share": counted.share,
            "subjects": subjects(first, evidence),
            "disk_time": disk,
        });
        vec![finding]
    }
}

fn waits_for_disk(disk: &DiskTime) -> String {
    format!(
        "Tasks waited for a disk in up to {} of the time in which these requests were under way, and longer when more of them were (correlation {:.2}, {}). ",
        text::percent(disk.share),
        disk.correlation,
        text::probability(disk.p_value)
    )
}

fn short(value: &str) -> String {
    text::shortened(value, LONGEST_VALUE)
}

/// The statement that most of the slow requests of a size class, client or node send.
fn mostly(shared: &Shared) -> String {
    match &shared.mostly {
        Some((operation, share)) => format!(" {} of them are `{}`.", text::percent(*share), short(operation)),
        None => String::new(),
    }
}

/// The statement that most of these slow requests send.
fn statement<'a>(shared: &'a Shared, evidence: &'a Evidence) -> Option<&'a str> {
    let operation = match (&shared.mostly, shared.dimension) {
        (Some((operation, _)), _) => operation,
        (None, Dimension::Operation) => &shared.value,
        (None, _) => return None,
    };
    Some(evidence.statement(operation).unwrap_or(operation))
}

/// The statement behind an operation of the load driver.
fn sent(shared: &Shared, evidence: &Evidence) -> String {
    match statement(shared, evidence).map(short) {
        Some(statement) if statement != short(&shared.value) && shared.mostly.is_none() => {
            format!(" It sends `{statement}`.")
        }
        _ => String::new(),
    }
}

/// Table and kind of the statement that most of these requests send; advice about them belongs to this finding.
fn subjects(shared: &Shared, evidence: &Evidence) -> Vec<String> {
    // The requests behind large answers are those that wait.
    if shared.dimension == Dimension::BehindLarge {
        return Vec::new();
    }
    let Some(statement) = statement(shared, evidence) else { return Vec::new() };
    let table = match cql::split_table(statement) {
        (Some(keyspace), Some(table)) => Some(format!("{keyspace}.{table}")),
        (_, table) => table,
    };
    table.into_iter().chain(cql::kind(statement).map(str::to_string)).collect()
}

/// Formats the property as the rest of a sentence: "are `SELECT a FROM t`".
fn is(shared: &Shared) -> String {
    let value = &shared.value;
    let short = short(value);
    match shared.dimension {
        Dimension::Operation => format!("are `{short}`"),
        Dimension::Table => format!("are about table {short}"),
        Dimension::Kind => format!("are of kind {short}"),
        Dimension::Partition => {
            let of_table = if value.is_empty() { String::new() } else { format!("{short}, ") };
            let token = shared.token.map_or("token unknown".to_string(), |token| format!("token {token}"));
            format!("are about one partition: `{of_table}{token}`")
        }
        Dimension::Replica => "had no replica as coordinator".to_string(),
        Dimension::BehindLarge => "were answered behind large answers".to_string(),
        Dimension::Consistency => format!("have consistency level {short}"),
        Dimension::Page => "ask for further pages".to_string(),
        Dimension::Rows => format!("return {short}"),
        Dimension::Client => format!("come from client {short}"),
        Dimension::Connection => format!("come over connection {short}"),
        Dimension::Node => format!("went to node {short}"),
        Dimension::ResponseSize => format!("have answers from {}", lower(value)),
        Dimension::RequestSize => format!("have {} or more", lower(value)),
    }
}

/// The lower bound of a range: "64.0 KiB" of "64.0 KiB to 128.0 KiB".
fn lower(sizes: &str) -> &str {
    sizes.split(" to ").next().unwrap_or_default()
}

/// A sentence on how much larger the responses of these requests are than those of others.
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

/// A definition of large answers, and the statement with most of them.
fn behind(shared: &Shared) -> String {
    match &shared.large {
        Some((operation, share)) => format!(
            " Their answers left with one of {} or more on the same connection, or within {} after it. {} of these large answers \
             are of `{}`.",
            text::bytes(LARGE_BYTES),
            text::time_ns(BEHIND_NS),
            text::percent(*share),
            short(operation)
        ),
        None => String::new(),
    }
}

fn rarely(p_value: f64) -> String {
    format!("in one of {} cases at most", text::count((1.0 / p_value).round() as usize))
}

fn next(shared: &Shared, statement: Option<&str>) -> &'static str {
    match shared.dimension {
        Dimension::Operation | Dimension::Table | Dimension::Kind => match statement {
            Some(statement) if statement.to_ascii_uppercase().contains("ALLOW FILTERING") => {
                "ask by a partition key: a table or an index for this question, instead of ALLOW FILTERING, reads no other rows."
            }
            Some(statement) => match cql::kind(statement) {
                Some("batch") => "send fewer rows in a batch, and each batch to one partition.",
                Some("lightweight transaction") => {
                    "let fewer clients at a time change the same partition with IF; each waits for the others."
                }
                Some("range read") => {
                    "ask by a partition key; a read of all partitions takes a node the longer the more it has."
                }
                _ => TABLES,
            },
            None => TABLES,
        },
        Dimension::Client | Dimension::Connection => {
            "see what that client does: `helenus clients RECORDING`; then look at its host and network."
        }
        Dimension::Partition => {
            "see the key of that partition: `helenus partitions --node ADDRESS --keys`; then spread its requests over several partitions, or cache it."
        }
        Dimension::Replica => {
            "let the driver choose replicas as coordinators (a token-aware policy, and prepared statements): `helenus clients RECORDING` has the share of each client."
        }
        Dimension::BehindLarge => {
            "give the statement with the large answers a smaller page size, or a session of its own: one thread encodes and \
             sends the answers of a connection."
        }
        Dimension::Consistency => {
            "see which nodes such requests wait for, with `TRACING ON` in cqlsh; ask for a lower level where the data allows it."
        }
        Dimension::Page | Dimension::Rows => {
            "ask for fewer rows: a narrower range of the clustering key, or a `LIMIT`."
        }
        Dimension::Node => {
            "record that node: `helenus record --node ADDRESS`; look at its CPUs, disk, compactions and pauses."
        }
        Dimension::ResponseSize | Dimension::RequestSize => {
            "ask for fewer rows or columns, or use a smaller page size."
        }
    }
}

const TABLES: &str =
    "see the partition sizes, tombstones and SSTables per read of its table: `helenus tables RECORDING`.";
