//! The finding about missing data: what can't be concluded, because it was not recorded or was lost?

use super::finding::{Check, Finding};
use crate::evidence::Evidence;
use crate::severity::Severity;
use crate::timeline::{Interval, covered_ns, merge, total_ns};
use crate::{query, text};
use serde_json::json;

/// If data is missing for at least this share of the judged time, conclusions may be wrong: the finding is a warning.
const GAP_WARNING: f64 = 0.1;

/// Missing data makes nothing slow: the finding ranks below every cause, the knee included.
const BELOW_CAUSES: f64 = 1.0;

/// The consequence of lost rows.
const TOO_LOW: &str = "Shares and counts that rest on these tables are too low";

pub(super) struct LostData;

impl Check for LostData {
    fn name(&self) -> &'static str {
        "lost-data"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let mut findings = Vec::new();
        findings.extend(self.missing(evidence));
        findings.extend(self.lost(evidence));
        findings.extend(self.gaps(evidence));
        findings.extend(self.left_out(evidence));
        findings
    }
}

impl LostData {
    fn missing(&self, evidence: &Evidence) -> Option<Finding> {
        let missing = evidence.coverage.missing(evidence.provider);
        if missing.is_empty() {
            return None;
        }
        let what: Vec<&str> = missing.iter().map(|(what, _)| *what).collect();
        let so: Vec<String> = missing.iter().map(|(what, so)| format!("Without {what}: {so}.")).collect();
        let title = format!("Not recorded: {}", what.join(", "));
        let mut finding = Finding::new(self.name(), Severity::Information, title, so.join(" "), evidence.span);
        finding.next = "`helenus doctor` says what can be recorded here and how.".into();
        finding.query = query::ROW_COUNTS.fill(&[]);
        finding.evidence = json!({ "missing": what });
        Some(finding)
    }

    fn lost(&self, evidence: &Evidence) -> Option<Finding> {
        let lost = &evidence.coverage.lost;
        if lost.is_empty() {
            return None;
        }
        let rows: i64 = lost.iter().filter_map(|lost| lost.rows).sum();
        let unknown = lost.iter().any(|lost| lost.rows.is_none());
        let share = rows as f64 / (rows + evidence.coverage.captured).max(1) as f64;
        let whose: Vec<String> = lost
            .iter()
            .map(|lost| {
                let rows = lost.rows.map_or("an unknown number of rows".to_string(), |rows| {
                    text::counted(usize::try_from(rows).unwrap_or_default(), "row", "rows")
                });
                let node = if lost.node.is_empty() { String::new() } else { format!(" of {}", lost.node) };
                let reason = if lost.reason.is_empty() { "no reason given" } else { &lost.reason };
                format!("{}{node}: {rows} ({reason})", lost.what)
            })
            .collect();
        let rows_lost = usize::try_from(rows).unwrap_or_default();
        let (title, so) = if lost.iter().all(|lost| lost.what == "requests" && lost.by_source && lost.rows.is_some()) {
            let title = format!(
                "{} of the schedule ({}) were never sent",
                text::counted(rows_lost, "request", "requests"),
                text::percent(rows_lost as f64 / (rows_lost + evidence.recorded_requests.rows.len()) as f64)
            );
            (title, "They are in no percentile, and would have been among the slowest")
        } else if rows_lost == 0 && unknown {
            ("An unknown number of rows was lost".to_string(), TOO_LOW)
        } else {
            let title = format!(
                "{}{} ({}) {} lost",
                if unknown { "At least " } else { "" },
                text::counted(rows_lost, "row", "rows"),
                text::percent(share),
                if rows_lost == 1 { "was" } else { "were" }
            );
            (title, TOO_LOW)
        };
        let detail = format!("{so}. {}.", whose.join("; "));
        let misleads = lost.iter().any(|lost| lost.may_mislead());
        let severity = if misleads { Severity::Warning } else { Severity::Information };
        let mut finding = Finding::new(self.name(), severity, title, detail, evidence.span);
        finding.query = query::LOSSES.fill(&[]);
        finding.weight = share - BELOW_CAUSES;
        finding.evidence = json!({ "rows_lost": rows, "rows_lost_share": share, "losses": whose });
        Some(finding)
    }

    /// The finding about sources that the recorder reduced within the judged time, to keep to its budget.
    fn left_out(&self, evidence: &Evidence) -> Option<Finding> {
        let stretches: Vec<Interval> = evidence.judged.stretches.iter().map(|stretch| stretch.window).collect();
        let judged = if stretches.is_empty() { vec![evidence.span] } else { stretches };
        let mut times: Vec<(&str, Vec<Interval>)> = Vec::new();
        for (time, what) in &evidence.coverage.left_out {
            let inside = judged.iter().map(|window| time.clip(*window)).filter(|inside| inside.length() > 0);
            let place = times.iter().position(|(known, _)| known == what).unwrap_or(times.len());
            if place == times.len() {
                times.push((what, Vec::new()));
            }
            times[place].1.extend(inside);
        }
        times.retain(|(_, inside)| !inside.is_empty());
        let all = merge(times.iter().flat_map(|(_, inside)| inside.iter().copied()).collect());
        let hull = Interval { start: all.first()?.start, end: all.last()?.end };
        let share = total_ns(&all) as f64 / total_ns(&merge(judged)).max(1) as f64;
        let each: Vec<String> =
            times.iter().map(|(what, inside)| format!("{what} ({})", text::time_ns(total_ns(inside)))).collect();
        let title = format!("Less was recorded in {} of the judged time, to keep the budget", text::percent(share));
        let detail = format!(
            "{}. Requests and stacks are weighted, so that their rates and shares still hold. Single system calls and scheduling have no rows of the time in which they were left out.",
            each.join("; ")
        );
        let mut finding = Finding::new(self.name(), Severity::Information, title, detail, hull);
        finding.next = "record with a higher budget (`helenus record --node ADDRESS --keep 30m --budget 10%`), or leave out sources that you don't need.".into();
        finding.query = query::LEFT_OUT.fill(&[]);
        finding.weight = -BELOW_CAUSES;
        finding.evidence = json!({ "left_out": each, "left_out_share": share });
        Some(finding)
    }

    fn gaps(&self, evidence: &Evidence) -> Option<Finding> {
        let gaps = &evidence.coverage.gaps;
        let stretches = &evidence.judged.stretches;
        let inside: i64 = stretches.iter().map(|stretch| covered_ns(gaps, stretch.window)).sum();
        if inside == 0 {
            return None;
        }
        let share = inside as f64 / evidence.judged.length_ns().max(1) as f64;
        let longest = gaps.iter().max_by_key(|gap| gap.length())?;
        let title = format!("The recorder missed samples of the CPUs in {} of the judged time", text::percent(share));
        let detail = format!(
            "{}, {} in all, the longest {}: what happened within one is only known as a sum. The recorder itself was stopped or did not get a CPU.",
            text::counted(gaps.len(), "gap", "gaps"),
            text::time_ns(total_ns(gaps)),
            text::time_ns(longest.length())
        );
        let severity = if share >= GAP_WARNING { Severity::Warning } else { Severity::Information };
        let mut finding = Finding::new(self.name(), severity, title, detail, *longest);
        finding.query = query::CPU_INTERVALS.fill(&[]);
        finding.weight = share - BELOW_CAUSES;
        finding.evidence =
            json!({ "gaps": gaps.len(), "gap_share": share, "longest_ms": longest.length() as f64 / 1e6 });
        Some(finding)
    }
}
