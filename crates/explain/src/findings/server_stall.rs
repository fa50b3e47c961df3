//! The finding about stops of the server that its JVM did not report.

use super::finding::{Check, Finding};
use super::wording::{most_of, of_nodes, share};
use crate::evidence::{CauseKind, Evidence, STOPPED, StopTotals, times};
use crate::timeline::{Interval, covered_ns, total_ns, within};
use crate::{query, text};
use serde_json::json;

/// During stops of at least this length, samples of the machine (ten a second) show what the process did.
const LONG_NS: i64 = 200_000_000;

pub(super) const WHO_STOPS_IT: &str =
    "find who stops the process: kill -STOP, a debugger, a frozen container (journalctl).";
pub(super) const WHAT_THREADS_WAIT_FOR: &str =
    "record what its threads wait for: `helenus record --node ADDRESS --sched on`.";

pub(super) struct ServerStall;

impl Check for ServerStall {
    fn name(&self) -> &'static str {
        "server-stall"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::ServerStall).filter(|cause| cause.attributed > 0) else {
            return Vec::new();
        };
        let totals = StopTotals::of(&cause.blamed.stops, &evidence.judged);
        let node = cause.blamed.nodes.first().cloned().unwrap_or_default();
        let recorder = times(&evidence.stops.recorder);
        let in_judged = |stops: &[Interval]| -> Vec<Interval> {
            evidence.judged.stretches.iter().flat_map(|stretch| within(stops, stretch.window)).collect()
        };
        let judged = in_judged(&times(&cause.blamed.stops));
        let with_recorder: i64 = judged.iter().map(|stall| covered_ns(&recorder, *stall)).sum();
        let recorder_share = with_recorder as f64 / total_ns(&judged).max(1) as f64;
        let of_node: Vec<_> = cause.blamed.stops.iter().filter(|stop| stop.node == node).cloned().collect();
        let mut long = in_judged(&times(&of_node));
        long.retain(|stall| stall.length() >= LONG_NS);
        let usage = (!long.is_empty()).then(|| evidence.machine.usage_of(&long, |of| of == node));
        let title = format!(
            "Stops{} outside GC delayed {} (longest {})",
            if of_nodes(&cause.blamed).is_empty() { " of the server".into() } else { of_nodes(&cause.blamed) },
            share(cause),
            text::time_ms(totals.longest_ms)
        );
        let is_held = cause.blamed.stops.iter().any(|stop| stop.label == STOPPED);
        let (meanwhile, is_idle) = meanwhile(usage.and_then(|usage| usage.server_cpus), is_held);
        let machine = if recorder_share >= 0.5 {
            " The recorder stood still at the same time, so that the whole machine is concerned."
        } else {
            ""
        };
        let detail = format!(
            "{}: the server process ran nothing, and neither a GC pause nor a safepoint explains it.{}{machine}{}",
            text::counted(totals.stops, "stop", "stops"),
            meanwhile,
            most_of(&cause.blamed)
        );
        let next = match (recorder_share >= 0.5 && !is_held, is_held || is_idle) {
            (true, _) => "look at the hypervisor, its steal time and other tenants (vmstat 1).",
            (false, true) => WHO_STOPS_IT,
            (false, false) => WHAT_THREADS_WAIT_FOR,
        };
        let query = evidence.ask_with(&query::SLOW_IN_STALLS, &[("side", query::Value::Text("server"))]);
        let more = json!({ "stalls": totals, "recorder_stalled_share": recorder_share, "usage_in_long_stalls": usage });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        finding.node = node;
        finding.next = next.into();
        vec![finding]
    }
}

/// Describes what the process did while it stood still, and returns whether it used next to no CPU. `is_held` says that the kernel showed it as
/// stopped.
pub(super) fn meanwhile(cpus: Option<f64>, is_held: bool) -> (String, bool) {
    let is_idle = cpus.is_some_and(|cpus| cpus < 0.2);
    let words = match (is_held, cpus) {
        (true, Some(cpus)) => format!(
            " It used {cpus:.2} CPUs meanwhile: the kernel held it stopped (a signal, a debugger, a frozen container)."
        ),
        (true, None) => " The kernel held it stopped (a signal, a debugger, a frozen container).".to_string(),
        (false, Some(cpus)) if is_idle => format!(
            " It used {cpus:.2} CPUs meanwhile: it was stopped (a signal, a debugger, a frozen container or virtual machine), or its threads waited for a CPU."
        ),
        (false, Some(cpus)) => format!(" It used {cpus:.1} CPUs meanwhile: its threads ran or waited for a CPU."),
        (false, None) => String::new(),
    };
    (words, is_idle)
}
