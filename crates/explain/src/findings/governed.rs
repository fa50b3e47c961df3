//! The findings about valves and probes: what valves did, and what probes measured.

use super::finding::{Check, Finding};
use crate::evidence::{Evidence, Governed, Metered};
use crate::severity::Severity;
use crate::timeline::Interval;
use crate::{query, text};
use serde_json::json;

pub(super) struct Valves;

impl Check for Valves {
    fn name(&self) -> &'static str {
        "valve"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        evidence.governed.iter().map(|valve| self.finding(valve)).collect()
    }
}

impl Valves {
    fn finding(&self, valve: &Governed) -> Finding {
        let name = format!("The valve `{}` of {}", valve.valve, valve.node);
        let (title, figures) = match valve.limit {
            Some(limit) => (
                format!("{name} let {limit} in at once in the end"),
                format!(" {} came out, {:.0} waited.", text::rate(valve.throughput_per_s), valve.waiting),
            ),
            None => (format!("{name} was open in the end: it let all in"), String::new()),
        };
        let reason = valve.reason.trim_end_matches('.');
        let mut detail = format!("Its law {} gave the reason: {reason}.{figures}", valve.law);
        if valve.open_share > 0.0 {
            detail.push_str(&format!(" It was open for {} of its windows.", text::percent(valve.open_share)));
        }
        let count = |number: i64| text::count(usize::try_from(number).unwrap_or(0));
        if valve.let_through > 0 {
            detail.push_str(&format!(
                " {} went in beyond the limit after the longest wait: what they queue for takes longer than --max-wait.",
                count(valve.let_through)
            ));
        }
        if valve.refused > 0 {
            detail.push_str(&format!(" {} were answered with Overloaded.", count(valve.refused)));
        }
        let mut finding = Finding::new(self.name(), Severity::Information, title, detail, valve.span);
        finding.node.clone_from(&valve.node);
        finding.query = query::VALVE_WINDOWS.fill(&[]);
        finding.evidence = json!(valve);
        finding
    }
}

pub(super) struct Probes;

/// The most probes that the finding names.
const NAMED: usize = 4;

impl Check for Probes {
    fn name(&self) -> &'static str {
        "probes"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let all_ns: i64 = evidence.metered.iter().map(|probe| probe.own_ns).sum();
        let (Some(most), true) = (evidence.metered.first(), all_ns > 0) else { return Vec::new() };
        let share = |probe: &Metered| text::percent(probe.own_ns as f64 / all_ns as f64);
        let each = |probe: &Metered| text::short_ns(probe.own_ns / probe.calls.max(1));
        let title = format!(
            "{} of the time in metered methods is the own time of `{}` ({} a call)",
            share(most),
            most.probe,
            each(most)
        );
        let others: Vec<String> = evidence.metered[1..]
            .iter()
            .filter(|probe| probe.own_ns > 0)
            .take(NAMED)
            .map(|probe| format!("`{}` {} ({} a call)", probe.probe, share(probe), each(probe)))
            .collect();
        let mut detail = format!(
            "It was called {}. Own time is that of a method without the metered methods it calls; it is time by the clock, \
             waiting included.",
            text::counted(usize::try_from(most.calls).unwrap_or(0), "time", "times")
        );
        if !others.is_empty() {
            detail.push_str(&format!(" After it: {}.", others.join(", ")));
        }
        let off: Vec<&str> = evidence
            .metered
            .iter()
            .filter(|probe| probe.off_reason.is_some())
            .map(|probe| probe.probe.as_str())
            .collect();
        if !off.is_empty() {
            detail.push_str(&format!(" Switched off to bound the cost of metering: {}.", off.join(", ")));
        }
        let span = evidence
            .metered
            .iter()
            .map(|probe| probe.span)
            .reduce(|all, next| Interval { start: all.start.min(next.start), end: all.end.max(next.end) });
        let mut finding =
            Finding::new(self.name(), Severity::Information, title, detail, span.unwrap_or(evidence.span));
        finding.query = query::PROBE_TOTALS.fill(&[]);
        finding.evidence = json!(evidence.metered);
        vec![finding]
    }
}
