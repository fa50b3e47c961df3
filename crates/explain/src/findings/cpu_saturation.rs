//! Were the CPUs used up?

use super::{Check, Finding, Severity, shares};
use crate::anatomy::split;
use crate::evidence::{BUSY_IDLE_SHARE, CauseKind, Evidence};
use crate::timeline::within;
use crate::{query, text};
use serde_json::json;

/// From this share of the judged time on a busy CPU is the state of things, and no event to compare requests with.
const ALWAYS_SHARE: f64 = 0.5;

pub(super) struct CpuSaturation;

impl Check for CpuSaturation {
    fn name(&self) -> &'static str {
        "cpu-saturation"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::CpuSaturation) else { return Vec::new() };
        let time_share = cause.judged_time_share(&evidence.judged);
        if !cause.is_significant() && time_share < ALWAYS_SHARE {
            return Vec::new();
        }
        let windows: Vec<_> =
            evidence.judged.stretches.iter().flat_map(|stretch| within(&cause.times, stretch.window)).collect();
        let usage = evidence.machine.usage(&windows);
        let idle = text::percent(BUSY_IDLE_SHARE);
        let share = text::percent(time_share);
        let title = if cause.is_significant() {
            format!("Busy CPUs (idle below {idle}) account for {}: {}", shares(cause), split(&usage))
        } else {
            format!("The CPUs were busy (idle below {idle}) in {share} of the judged time: {}", split(&usage))
        };
        let waiting = usage.server_threads_waiting.map_or(String::new(), |waiting| {
            format!(" On average {waiting:.1} threads of the server were ready to run and waited for a CPU.")
        });
        let detail = format!(
            "The CPUs were busy in {share} of the judged time.{waiting} Take away what is not the server's (other \
             processes, the load driver on the same machine), lower the rate, or add CPUs. The thread groups that use \
             them are in the report and in the table threads."
        );
        let query = evidence.ask(&query::SLOW_IN_BUSY_CPU);
        let mut finding =
            Finding::about(self.name(), cause, evidence, (title, detail), query, json!({ "usage_when_busy": usage }));
        if !cause.is_significant() {
            // Always busy: nothing to compare with, so that it cannot be shown to be the reason.
            finding.severity = Severity::Information;
        }
        vec![finding]
    }
}
