//! Findings about what the nodes' logs tell, in recordings without requests, such as those of a support bundle. With requests, the
//! findings name the events before a change of rate or latency.

use super::finding::{Check, Finding};
use crate::evidence::{Event, Evidence};
use crate::severity::Severity;
use crate::timeline::{Interval, merge, total_ns};
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) const NAME: &str = "in-the-log";
/// The kinds of events that say that Cassandra started, and that it shut down.
const STARTED: &str = "started";
const SHUTDOWN: &str = "shutdown";
/// A start that is no longer than this after a shutdown follows it.
const RESTART_NS: i64 = 3_600_000_000_000;
/// The stretch of which the busiest is told.
const MINUTE_NS: i64 = 60_000_000_000;
/// A collector that stops the node for so much of the time, or of a minute, is worth a warning.
const MUCH: f64 = 0.05;
const MUCH_IN_A_MINUTE: f64 = 0.25;

/// The finding that the events of a kind make.
struct Rule {
    kind: &'static str,
    /// The texts of the events, if not all of the kind; any that contains this.
    with: &'static str,
    one: &'static str,
    many: &'static str,
    severity: Severity,
    next: &'static str,
}

/// In the order of their weight.
const RULES: &[Rule] = &[
    Rule {
        kind: "error",
        with: "out of memory",
        one: "JVM out of memory",
        many: "times the JVM was out of memory",
        severity: Severity::Critical,
        next: "see what fills the heap: `helenus gc RECORDING`, and the heap dump, if the JVM wrote one.",
    },
    Rule {
        kind: "local-pause",
        with: "",
        one: "local pause of more than 5 s",
        many: "local pauses of more than 5 s",
        severity: Severity::Critical,
        next: "see what the collector did at that time with `helenus gc RECORDING`; if nothing, the machine stopped the process: \
               a virtual machine that was moved, swap, or a frozen container.",
    },
    Rule {
        kind: "tombstones",
        with: "aborted",
        one: "query aborted for its tombstones",
        many: "queries aborted for their tombstones",
        severity: Severity::Warning,
        next: "find the table in the log at that time, and what deletes from it; a query that reads deleted rows again and again \
               is a queue.",
    },
    Rule {
        kind: "dropped",
        with: "",
        one: "report of dropped messages",
        many: "reports of dropped messages",
        severity: Severity::Warning,
        next: "see what the node did in that minute: collections, compactions, a full disk. Writes that were dropped are repaired by \
               hints or `nodetool repair` only.",
    },
    Rule {
        kind: "timed-out",
        with: "",
        one: "report of operations that timed out",
        many: "reports of operations that timed out",
        severity: Severity::Warning,
        next: "see which in debug.log at that time, and what else happened then.",
    },
    Rule {
        kind: "failed",
        with: "",
        one: "report of a read that failed",
        many: "reports of reads that failed",
        severity: Severity::Warning,
        next: "see which peers were down at that time.",
    },
    Rule {
        kind: "peer",
        with: "DOWN",
        one: "time that a peer was seen as down",
        many: "times that a peer was seen as down",
        severity: Severity::Warning,
        next: "see the log of that peer at that time: a restart, a long pause, or the network between them.",
    },
    Rule {
        kind: "error",
        with: "an error of",
        one: "other error",
        many: "other errors",
        severity: Severity::Warning,
        next: "read them in system.log.",
    },
    Rule {
        kind: "slow-queries",
        with: "",
        one: "report of slow queries",
        many: "reports of slow queries",
        severity: Severity::Information,
        next: "see which in debug.log; record the node while it is slow (`helenus record`).",
    },
    Rule {
        kind: "tombstones",
        with: "warning",
        one: "tombstone warning",
        many: "tombstone warnings",
        severity: Severity::Information,
        next: "find the table in the log, and what deletes from it.",
    },
    Rule {
        kind: "batch",
        with: "",
        one: "batch warning",
        many: "batch warnings",
        severity: Severity::Information,
        next: "send rows of different partitions one by one and asynchronously, and no batch.",
    },
    Rule {
        kind: "warning",
        with: "prepared statements",
        one: "report of discarded prepared statements",
        many: "reports of discarded prepared statements",
        severity: Severity::Information,
        next: "find the client that prepares statements with values in their text; it should send markers.",
    },
    Rule {
        kind: "warning",
        with: "commit log",
        one: "report of late syncs of the commit log",
        many: "reports of late syncs of the commit log",
        severity: Severity::Information,
        next: "see what else writes to that disk.",
    },
];

pub(super) struct Logged;

impl Check for Logged {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        if !evidence.recorded_requests.rows.is_empty() {
            return Vec::new();
        }
        let mut nodes: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
        for event in evidence.events.iter().filter(|event| !event.node.is_empty() && evidence.is_asked(event.time_ns)) {
            nodes.entry(&event.node).or_default().push(event);
        }
        let of_node = |(node, events): (&str, Vec<&Event>)| {
            let of_rules = RULES.iter().enumerate().filter_map(|(place, rule)| told(node, &events, rule, place));
            let findings: Vec<Finding> = of_rules.chain(restarts(node, &events)).collect();
            findings
        };
        nodes.into_iter().flat_map(of_node).chain(collections(evidence)).collect()
    }
}

/// Findings about the pauses of collections, one for each node that had some.
fn collections(evidence: &Evidence) -> Vec<Finding> {
    let mut nodes: BTreeMap<&str, Vec<Interval>> = BTreeMap::new();
    for stop in evidence.stops.gc.iter().filter(|stop| evidence.is_asked(stop.window.start)) {
        nodes.entry(&stop.node).or_default().push(stop.window);
    }
    let of_node = |(node, pauses): (&str, Vec<Interval>)| {
        let pauses = merge(pauses);
        let events = evidence.events.iter().filter(|event| event.node == node && evidence.is_asked(event.time_ns));
        let times = events.map(|event| event.time_ns);
        let ends = pauses.iter().flat_map(|pause| [pause.start, pause.end]).chain(times);
        let start = ends.clone().min()?;
        paused(node, &pauses, Interval { start, end: ends.max()? })
    };
    nodes.into_iter().filter_map(of_node).collect()
}

fn paused(node: &str, pauses: &[Interval], span: Interval) -> Option<Finding> {
    let longest = pauses.iter().max_by_key(|pause| pause.length())?;
    let total = total_ns(pauses);
    let share = total as f64 / span.length().max(1) as f64;
    let mut detail = format!(
        "{}, {} in all, {} of the time from {} to {}.",
        text::counted(pauses.len(), "pause", "pauses"),
        text::time_ns(total),
        text::percent(share),
        text::iso(span.start),
        text::iso(span.end)
    );
    let mut worst = 0.0;
    if span.length() > MINUTE_NS {
        let (minute_ns, paused_ns) = worst_minute(pauses)?;
        worst = paused_ns as f64 / MINUTE_NS as f64;
        detail.push_str(&format!(" Most in a minute, {}, was after {}.", text::percent(worst), text::iso(minute_ns)));
    }
    let of = match share < MUCH && worst >= MUCH_IN_A_MINUTE {
        true => format!("{} of a minute", text::percent(worst)),
        false => format!("{} of the time", text::percent(share)),
    };
    let title = format!("GC paused {node} for {of}, up to {}", text::time_ns(longest.length()));
    let is_much = share >= MUCH || worst >= MUCH_IN_A_MINUTE;
    let severity = if is_much { Severity::Warning } else { Severity::Information };
    let mut finding = Finding::new(NAME, severity, title, detail, span);
    finding.node = node.to_string();
    finding.next = "see heap and causes with `helenus gc RECORDING`.".into();
    finding.query = query::PAUSES.fill(&[]);
    finding.weight = 999.5;
    finding.evidence = json!({ "pauses": pauses.len(), "paused_share": share, "worst_minute_share": worst });
    Some(finding)
}

/// The start of the minute with the most time in pauses, and that time.
fn worst_minute(pauses: &[Interval]) -> Option<(i64, i64)> {
    let (mut end, mut sum) = (0, 0);
    let sums = pauses.iter().map(|first| {
        while end < pauses.len() && pauses[end].start < first.start + MINUTE_NS {
            sum += pauses[end].length();
            end += 1;
        }
        let in_minute = sum;
        sum -= first.length();
        (first.start, in_minute.min(MINUTE_NS))
    });
    sums.max_by_key(|(_, sum)| *sum)
}

/// Whether the recording has events or pauses of nodes, so that it tells something without requests.
pub(super) fn tells(evidence: &Evidence) -> bool {
    evidence.events.iter().any(|event| !event.node.is_empty()) || !evidence.stops.gc.is_empty()
}

/// The finding about the events of a rule; None without such events.
fn told(node: &str, events: &[&Event], rule: &Rule, place: usize) -> Option<Finding> {
    let is_of = |event: &&&Event| event.kind == rule.kind && event.what.contains(rule.with);
    let of_rule: Vec<&Event> = events.iter().filter(is_of).copied().collect();
    let (first, last) = (of_rule.first()?, of_rule.last()?);
    let window = Interval { start: first.time_ns, end: last.time_ns + 1 };
    let title = format!("The log of {node} has {}", text::counted(of_rule.len(), rule.one, rule.many));
    let mut detail = match of_rule.len() {
        1 => format!("It was at {}.", text::iso(first.time_ns)),
        _ => format!("The first was at {}, the last at {}.", text::iso(first.time_ns), text::iso(last.time_ns)),
    };
    if let Some((minute_ns, most)) = busiest(&of_rule).filter(|(_, most)| *most > 1 && *most < of_rule.len()) {
        detail.push_str(&format!(" Most in a minute, {}, were after {}.", text::count(most), text::iso(minute_ns)));
    }
    // The texts of these have lengths or names.
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    of_rule.iter().for_each(|event| *texts.entry(&event.what).or_default() += 1);
    let mut texts: Vec<(&str, usize)> = texts.into_iter().collect();
    texts.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    if texts.len() > 1 || rule.kind == "local-pause" {
        let named: Vec<String> = texts.iter().take(3).map(|(what, times)| format!("{what} ({times})")).collect();
        detail.push_str(&format!(" Such as: {}.", named.join(", ")));
    }
    let mut finding = Finding::new(NAME, rule.severity, title, detail, window);
    finding.node = node.to_string();
    finding.next = rule.next.into();
    finding.query = query::EVENTS.fill(&[]);
    finding.weight = 1000.0 - place as f64;
    finding.evidence = json!({ "kind": rule.kind, "events": of_rule.len() });
    Some(finding)
}

/// The finding about starts that no shutdown was before: the process was killed, or it ended by itself.
fn restarts(node: &str, events: &[&Event]) -> Option<Finding> {
    let starts: Vec<&Event> = events.iter().filter(|event| event.kind == STARTED).copied().collect();
    let is_after_shutdown = |start: &Event| {
        let since = start.time_ns - RESTART_NS..start.time_ns;
        events.iter().any(|event| event.kind == SHUTDOWN && since.contains(&event.time_ns))
    };
    // Before the first line of the log may be anything.
    let first_ns = events.first()?.time_ns;
    let is_crash = |start: &&&Event| start.time_ns - first_ns > RESTART_NS && !is_after_shutdown(start);
    let crashes: Vec<&Event> = starts.iter().filter(is_crash).copied().collect();
    let (first, last) = (crashes.first()?, crashes.last()?);
    let window = Interval { start: first.time_ns, end: last.time_ns + 1 };
    let times: Vec<String> = crashes.iter().take(3).map(|start| text::iso(start.time_ns)).collect();
    let title = format!(
        "Cassandra on {node} was started {} without a shutdown before",
        text::counted(crashes.len(), "time", "times")
    );
    let detail = format!("It started at {}; no line in the hour before says that it shuts down.", times.join(", "));
    let mut finding = Finding::new(NAME, Severity::Critical, title, detail, window);
    finding.node = node.to_string();
    finding.next =
        "see what the JVM printed, hs_err_pid*.log, and the kernel's log: `journalctl -k --grep 'killed process'`."
            .into();
    finding.query = query::EVENTS.fill(&[]);
    finding.weight = 2000.0;
    finding.evidence = json!({ "starts": starts.len(), "without_shutdown": crashes.len() });
    Some(finding)
}

/// The start of the minute with the most events, and their number.
fn busiest(events: &[&Event]) -> Option<(i64, usize)> {
    let in_minute = |event: &&&Event| {
        let end = events.partition_point(|other| other.time_ns < event.time_ns + MINUTE_NS);
        end - events.partition_point(|other| other.time_ns < event.time_ns)
    };
    let most = events.iter().rev().max_by_key(in_minute)?;
    Some((most.time_ns, in_minute(&most)))
}
