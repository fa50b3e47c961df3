//! Were the CPUs used up?

use super::{Check, Finding, Severity, materiality, shares, weight};
use crate::anatomy::split;
use crate::evidence::{BUSY_IDLE_SHARE, CauseKind, Evidence};
use crate::timeline::within;
use crate::{query, text};
use serde_json::json;

/// From this share of the slow requests on it is said that they were due in phases with busy CPUs.
const WORTH_SAYING: f64 = 0.25;

pub(super) struct CpuSaturation;

impl Check for CpuSaturation {
    fn name(&self) -> &'static str {
        "cpu-saturation"
    }

    /// Two ways: busy moments that go together with slow requests, or phases that are busy throughout and have the slow
    /// requests. The second can't be tested against chance, for lack of idle moments to compare with, and says so.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::CpuSaturation) else { return Vec::new() };
        let throughout = evidence.slow_share_on_busy_cpus;
        if !cause.is_significant() && throughout < WORTH_SAYING {
            return Vec::new();
        }
        let windows: Vec<_> =
            evidence.judged.stretches.iter().flat_map(|stretch| within(&cause.times, stretch.window)).collect();
        let usage = evidence.machine.usage(&windows);
        let idle = text::percent(BUSY_IDLE_SHARE);
        let title = if cause.is_significant() {
            format!("Busy CPUs (idle below {idle}) account for {}: {}", shares(cause), split(&usage))
        } else {
            format!(
                "{} of the slow requests were due in phases with busy CPUs (idle below {idle}) most of the time: {}",
                text::percent(throughout),
                split(&usage)
            )
        };
        let untested = if cause.is_significant() {
            ""
        } else {
            " Those phases have too few idle moments to compare with, so that this is not tested against chance."
        };
        let waiting = usage.server_threads_waiting.map_or(String::new(), |waiting| {
            format!(" On average {waiting:.1} threads of the server were ready to run and waited for a CPU.")
        });
        let detail = format!(
            "The CPUs were busy in {} of the judged time.{untested}{waiting} Take away what is not the server's (other \
             processes, the load driver on the same machine), lower the rate, or add CPUs. The thread groups that use \
             them are in the report and in the table threads.",
            text::percent(cause.judged_time_share(&evidence.judged))
        );
        let query = evidence.ask(&query::SLOW_IN_BUSY_CPU);
        let more = json!({ "usage_when_busy": usage, "slow_share_in_busy_phases": throughout });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        if !cause.is_significant() {
            // What something else explains is not counted here.
            let open = throughout * evidence.unexplained_share;
            finding.severity = if open < WORTH_SAYING {
                Severity::Information
            } else {
                materiality(evidence.unexplained_median_ns, evidence).min(Severity::Warning)
            };
            finding.weight = weight(open, evidence.unexplained_median_ns, evidence);
            (finding.share, finding.chance_share, finding.p_value) = (None, None, None);
        }
        vec![finding]
    }
}
