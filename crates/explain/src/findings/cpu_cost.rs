//! The finding about the CPU cost of a request, by hardware counters.

use super::finding::{Check, Finding};
use crate::evidence::{Counted, CountedGroup, Evidence};
use crate::severity::Severity;
use crate::text;
use serde_json::json;

/// The most thread groups that the finding names.
const NAMED: usize = 4;
/// Ranks below all findings that name a cause, because the cost alone delays no request.
const BELOW_CAUSES: f64 = -1.0;

pub(super) struct CpuCost;

impl Check for CpuCost {
    fn name(&self) -> &'static str {
        "cpu-cost"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        // Counters tell threads apart, and no requests.
        let Some(counted) = evidence.counted.as_ref().filter(|_| !evidence.judges_part()) else { return Vec::new() };
        let requests = evidence.judged.requests();
        let total = counted.total();
        let (title, detail) = match total.cycles {
            Some(cycles) if requests > 0 => (title(&total, cycles, requests as f64), detail(counted, cycles)),
            _ if counted.notes.is_empty() => return Vec::new(),
            _ => (
                "Cycles, instructions and cache misses of a request are not measured".to_string(),
                format!("{}.", counted.notes.join(". ")),
            ),
        };
        let mut finding = Finding::new(self.name(), Severity::Information, title, detail, evidence.judged_hull());
        finding.query.clone_from(&counted.query);
        finding.weight = BELOW_CAUSES;
        let groups: Vec<_> = counted.groups.iter().take(NAMED).collect();
        finding.evidence = json!({ "total": total, "requests": requests, "groups": groups, "notes": counted.notes });
        vec![finding]
    }
}

fn title(total: &CountedGroup, cycles: f64, requests: f64) -> String {
    let of_each = |count: f64| text::count((count / requests).round() as usize);
    let mut title = format!("A request took {} cycles of the nodes' CPUs", of_each(cycles));
    if let Some((instructions, per_cycle)) = total.instructions.zip(total.instructions_per_cycle()) {
        title += &format!(", {} instructions ({per_cycle:.2} per cycle)", of_each(instructions));
    }
    if let Some(misses) = total.cache_misses {
        title += &format!(", {} misses of the last-level cache", of_each(misses));
    }
    title
}

fn detail(counted: &Counted, cycles: f64) -> String {
    let group = |group: &CountedGroup| {
        let share = text::percent(group.cycles.unwrap_or_default() / cycles);
        let per_cycle =
            group.instructions_per_cycle().map_or(String::new(), |per_cycle| format!(", {per_cycle:.2} per cycle"));
        let misses = group
            .misses_per_1000()
            .map_or(String::new(), |misses| format!(", {misses:.1} misses in 1000 instructions"));
        format!("{} {share} of the cycles{per_cycle}{misses}", group.thread_group)
    };
    let groups: Vec<String> = counted.groups.iter().take(NAMED).map(group).collect();
    let mut detail = format!(
        "{}. Below 1 instruction per cycle CPUs mostly wait, as a rule for memory: compare the misses of variants that keep \
         threads on their CPUs.",
        groups.join("; ")
    );
    for note in &counted.notes {
        detail += &format!(" {note}.");
    }
    detail
}
