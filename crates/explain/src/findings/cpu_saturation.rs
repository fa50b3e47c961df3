//! The finding about busy CPUs: who used them?

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{severity_throughout, weight};
use crate::anatomy::split;
use crate::evidence::{BUSY_IDLE_SHARE, Cause, CauseKind, Consumer, Evidence, WORTH_NAMING_CPUS};
use crate::timeline::{Interval, merge, within};
use crate::{query, text};
use serde_json::json;
use std::collections::BTreeMap;

/// The name of the finding if other processes used the CPUs.
const OTHERS: &str = "other-processes";
/// The most processes that a detail names.
const NAMED: usize = 3;

pub(super) struct CpuSaturation;

impl Check for CpuSaturation {
    fn name(&self) -> &'static str {
        CauseKind::CpuSaturation.name()
    }

    /// Three ways: stops that were waits for a CPU; busy moments that go together with slow requests; or phases that
    /// are busy throughout and have the slow requests. The third case can't be tested against chance, because there are
    /// no idle moments to compare with; the finding says so.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let (Some(waits), Some(busy)) = (evidence.cause(CauseKind::CpuWait), evidence.cause(CauseKind::CpuSaturation))
        else {
            return Vec::new();
        };
        let throughout = &evidence.account.busy_phases;
        let tested_share = waits.attributed_share + busy.attributed_share;
        if tested_share == 0.0 && throughout.share == 0.0 {
            return Vec::new();
        }
        let main = if waits.attributed >= busy.attributed { waits } else { busy };
        let windows = windows(evidence, &[waits, busy], tested_share > 0.0);
        let others = evidence.shortage.others(&windows);
        let clients = evidence.shortage.clients(&windows);
        let cpus = |of: &[Consumer]| of.iter().map(|one| one.cpus).sum::<f64>();
        let (cpus, clients_cpus) = (cpus(&others), cpus(&clients));
        // Without a test, other processes are blamed only if they used more than the nodes: a client on the machine uses some.
        let own = evidence.machine.usage(&windows).server_cpus.unwrap_or_default();
        let is_theirs = cpus >= WORTH_NAMING_CPUS && (tested_share > 0.0 || cpus > own);
        let names = others.first().filter(|_| is_theirs).map(|first| named(first, cpus));
        let words = (
            title(main, tested_share, throughout.share, names.as_deref()),
            detail(evidence, (waits, busy), &windows, (&others, &clients)),
        );
        let query = match names {
            Some(_) => evidence.ask(&query::PROCESSES_BY_CPU),
            None => evidence.ask(&query::SLOW_IN_BUSY_CPU),
        };
        let more = json!({
            "usage_when_busy": evidence.machine.usage(&windows),
            "other_processes": others,
            "clients_here": clients,
            "counted_for_waits_share": waits.attributed_share,
            "counted_for_busy_moments_share": busy.attributed_share,
            "slow_share_in_busy_phases": throughout.share,
        });
        let kind = if names.is_some() { OTHERS } else { self.name() };
        let mut finding = Finding::about(kind, main, evidence, words, query, more);
        let other = others.first().filter(|_| names.is_some());
        let are_most = clients_cpus >= WORTH_NAMING_CPUS && clients_cpus > own;
        finding.next = match (other, clients.first().filter(|_| are_most)) {
            (Some(one), _) | (None, Some(one)) if one.process.starts_with("helenus") => format!(
                "{} (pid {}) is Helenus: end recorders that nobody needs, record fewer sources, or give them a budget (`helenus record --node ADDRESS --keep 30m --budget 2%`).",
                one.process, one.pid
            ),
            (Some(one), _) | (None, Some(one)) => format!(
                "move {} (pid {}) off this machine, or keep it off the node's CPUs (taskset, AllowedCPUs of systemd).",
                one.process, one.pid
            ),
            (None, None) => "ask less of the node or add CPUs; `helenus flame RECORDING` shows what uses them.".into(),
        };
        finding.claims.clear();
        if tested_share > 0.0 {
            if throughout.share > 0.0 {
                finding.severity = finding.severity.max(severity_throughout(throughout.median_ns, evidence));
            }
            finding.share = Some(tested_share);
            finding.chance_share = Some(waits.attributed_chance_share() + busy.attributed_chance_share());
            finding.claims.push(Claim::Explains { cause: kind, share: tested_share });
        } else {
            finding.severity = severity_throughout(throughout.median_ns, evidence);
            finding.weight = weight(throughout.share, throughout.median_ns, evidence);
            (finding.share, finding.chance_share, finding.p_value) = (None, None, None);
        }
        if throughout.share > 0.0 {
            finding.claims.push(Claim::Explains { cause: "busy-phases", share: throughout.share });
        }
        vec![finding]
    }
}

/// When CPUs were short, within the judged time; all of it if they were short throughout.
fn windows(evidence: &Evidence, causes: &[&Cause], is_tested: bool) -> Vec<Interval> {
    let stretches = evidence.judged.stretches.iter().map(|stretch| stretch.window);
    if !is_tested {
        return merge(stretches.collect());
    }
    let times =
        merge(causes.iter().filter(|cause| cause.attributed > 0).flat_map(|cause| cause.times.clone()).collect());
    merge(stretches.flat_map(|stretch| within(&times, stretch)).collect())
}

/// Formats an answer with the CPUs used: "yes 0.9 CPUs", or "yes and others, 1.4 CPUs".
fn named(first: &Consumer, cpus: f64) -> String {
    if first.cpus >= cpus * 0.8 {
        format!("{} {:.1} CPUs", first.process, first.cpus)
    } else {
        format!("{} and others, {cpus:.1} CPUs", first.process)
    }
}

fn title(main: &Cause, tested_share: f64, throughout_share: f64, names: Option<&str>) -> String {
    let (tested, throughout) = (text::percent(tested_share), text::percent(throughout_share));
    match (names, tested_share > 0.0) {
        (Some(names), true) => format!("Other processes ({names}) delayed {tested} of the slow requests"),
        (Some(names), false) => format!("Other processes ({names}) kept CPUs busy for {throughout} of slow requests"),
        (None, true) if main.kind == CauseKind::CpuWait => {
            format!("Waits for a CPU delayed {tested} of the slow requests")
        }
        (None, true) => format!("Busy CPUs delayed {tested} of the slow requests"),
        (None, false) => format!("{throughout} of the slow requests were due in phases with busy CPUs"),
    }
}

fn detail(
    evidence: &Evidence,
    (waits, busy): (&Cause, &Cause),
    windows: &[Interval],
    (others, clients): (&[Consumer], &[Consumer]),
) -> String {
    let usage = evidence.machine.usage(windows);
    let mut sentences = vec![format!(
        "The CPUs were busy (idle below {}, or tasks waited beside other processes) in {} of the judged time: {}.",
        text::percent(BUSY_IDLE_SHARE),
        text::percent(busy.judged_time_share(&evidence.judged)),
        split(&usage)
    )];
    for (what, consumers) in [("Other processes", others), ("Clients on this machine", clients)] {
        let named: Vec<String> =
            consumers.iter().take(NAMED).map(|one| format!("{} {:.2} CPUs", one.process, one.cpus)).collect();
        if !named.is_empty() {
            sentences.push(format!("{what} then: {}.", named.join(", ")));
        }
    }
    let mut consequences: BTreeMap<&str, usize> = BTreeMap::new();
    for stop in &waits.blamed.stops {
        *consequences.entry(stop.label.as_str()).or_default() += 1;
    }
    if !consequences.is_empty() {
        let parts: Vec<String> =
            consequences.iter().map(|(what, count)| format!("{what} × {}", text::count(*count))).collect();
        sentences.push(format!("These were waits for a CPU: {}.", parts.join(", ")));
    }
    let throughout = evidence.account.busy_phases.share;
    if throughout > 0.0 {
        let what = if waits.attributed + busy.attributed > 0 { "Another " } else { "" };
        sentences.push(format!(
            "{what}{} of the slow requests were due in phases that were busy most of the time: that is not tested against chance.",
            text::percent(throughout)
        ));
    }
    if let Some(waiting) = usage.server_threads_waiting {
        sentences.push(format!("On average {waiting:.1} threads of the server waited for a CPU."));
    }
    sentences.join(" ")
}
