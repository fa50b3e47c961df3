//! Advice about requests that time out because the node gives them less time than Cassandra does by default.

use super::facts::{Node, duration_s, need};
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// Kinds of requests: their scope, the setting and its name in 4.0, its name in nodetool, and its default in seconds (cassandra.yaml of 4.0
/// to 5.0).
const LIMITS: &[(&str, [&str; 2], &str, f64)] = &[
    ("Read", ["read_request_timeout", "read_request_timeout_in_ms"], "read", 5.0),
    ("RangeSlice", ["range_request_timeout", "range_request_timeout_in_ms"], "range", 10.0),
    ("Write", ["write_request_timeout", "write_request_timeout_in_ms"], "write", 2.0),
];

/// `ClientRequestMetrics` (Timeouts, 4.0 to 5.0): requests that the coordinator answered with a timeout.
pub(super) const SHORT_TIMEOUTS: Rule = Rule {
    name: "short-timeouts",
    looks_at: "requests that timed out while the timeout is much shorter than Cassandra's default",
    thresholds: &[&thresholds::SHORT_TIMEOUT, &thresholds::MANY_TIMEOUTS],
    source: "cassandra.yaml (read_request_timeout 5 s, range_request_timeout 10 s, write_request_timeout 2 s)",
    query: query::SETTINGS,
    check: Check::OfNode(short_timeouts),
};

fn short_timeouts(node: &Node) -> Checked {
    let mut worst: Option<(i64, i64, &str, &str, f64, f64)> = None;
    for (scope, names, in_nodetool, default_s) in LIMITS {
        let count =
            |scope: &str, metric: &str| node.metric("ClientRequest", scope, metric, "Count").map(|count| count.grown);
        // Reads at a serial consistency level have a limit of their own, and count as reads, too.
        let serial = if *scope == "Read" { count("CASRead", "Timeouts").unwrap_or(0) } else { 0 };
        let timed_out = count(scope, "Timeouts")? - serial;
        let text = node.need_setting(names)?;
        let setting = if node.settings.contains_key(names[0]) { names[0] } else { names[1] };
        let limit_s = need(duration_s(text), &format!("{setting} can't be read"))?;
        let is_short = thresholds::SHORT_TIMEOUT.is_met(default_s / limit_s.max(1e-3));
        if timed_out > 0 && is_short && worst.is_none_or(|(most, ..)| timed_out > most) {
            let requests = count(scope, "Latency").unwrap_or(0).max(timed_out);
            worst = Some((timed_out, requests, setting, in_nodetool, limit_s, *default_s));
        }
    }
    let Some((timed_out, of, setting, in_nodetool, limit_s, default_s)) = worst else { return Ok(None) };
    let [limit, default] = [limit_s, default_s].map(|seconds| text::time_ms(seconds * 1e3));
    let requests = text::counted(usize::try_from(timed_out).unwrap_or(0), "request", "requests");
    Ok(Some(Found {
        severity: match thresholds::MANY_TIMEOUTS.is_met(timed_out as f64 / of as f64) {
            true => Severity::Warning,
            false => Severity::Information,
        },
        evidence: format!("{requests} timed out, and {setting} is {limit} where Cassandra's default is {default}"),
        figures: json!({ "setting": setting, "limit_s": limit_s, "default_s": default_s, "timeouts": timed_out }),
        advice: format!(
            "Give these requests more time ({setting} in cassandra.yaml, nodetool settimeout {in_nodetool} on a running node), with the \
             driver's own timeout above it; and see what they wait for (`helenus statements RECORDING`)."
        ),
        verify: format!("Timeouts of ClientRequest in node_metrics stop growing; nodetool gettimeout {in_nodetool}."),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::healthy::{after, grow, missing_after, quiet_after, setting};

    #[test]
    fn a_timeout_that_is_shorter_than_by_default() {
        let short = after(&SHORT_TIMEOUTS, |node| {
            setting(node, "read_request_timeout", "40ms");
            grow(node, "ClientRequest", "Read", "Timeouts", 12);
            grow(node, "ClientRequest", "Write", "Timeouts", 30);
        });
        let expected = "12 requests timed out, and read_request_timeout is 40 ms where Cassandra's default is 5.0 s";
        assert_eq!(short.evidence, expected);
        assert_eq!(short.severity, Severity::Warning);
        let rare = after(&SHORT_TIMEOUTS, |node| {
            setting(node, "read_request_timeout", "40ms");
            grow(node, "ClientRequest", "Read", "Timeouts", 12);
            grow(node, "ClientRequest", "Read", "Latency", 100_000);
        });
        assert_eq!(rare.severity, Severity::Information);
        quiet_after(&SHORT_TIMEOUTS, |node| grow(node, "ClientRequest", "Read", "Timeouts", 12));
        quiet_after(&SHORT_TIMEOUTS, |node| {
            setting(node, "read_request_timeout", "40ms");
            grow(node, "ClientRequest", "Read", "Timeouts", 12);
            grow(node, "ClientRequest", "CASRead", "Timeouts", 12);
        });
        quiet_after(&SHORT_TIMEOUTS, |node| setting(node, "read_request_timeout", "40ms"));
        // With the default it would have been as late.
        quiet_after(&SHORT_TIMEOUTS, |node| {
            setting(node, "read_request_timeout", "4s");
            grow(node, "ClientRequest", "Read", "Timeouts", 12);
        });
        // As 4.0 has it.
        let before = after(&SHORT_TIMEOUTS, |node| {
            node.settings.remove("write_request_timeout");
            setting(node, "write_request_timeout_in_ms", "500");
            grow(node, "ClientRequest", "Write", "Timeouts", 1);
        });
        assert!(
            before.evidence.starts_with("1 request timed out, and write_request_timeout_in_ms is 500 ms"),
            "{before:?}"
        );
        missing_after(&SHORT_TIMEOUTS, |node| drop(node.settings.remove("read_request_timeout")));
    }
}
