//! Were the CPUs used up?

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{materiality, weight};
use super::wording::share;
use crate::anatomy::split;
use crate::evidence::{BUSY_IDLE_SHARE, CauseKind, Evidence};
use crate::severity::Severity;
use crate::timeline::within;
use crate::{query, text};
use serde_json::json;

pub(super) struct CpuSaturation;

impl Check for CpuSaturation {
    fn name(&self) -> &'static str {
        "cpu-saturation"
    }

    /// Two ways: busy moments that go together with slow requests, or phases that are busy throughout and have the slow
    /// requests. The second can't be tested against chance, for lack of idle moments to compare with, and says so.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::CpuSaturation) else { return Vec::new() };
        let counted = &evidence.account.busy_phases;
        if cause.attributed == 0 && counted.share == 0.0 {
            return Vec::new();
        }
        let windows: Vec<_> =
            evidence.judged.stretches.iter().flat_map(|stretch| within(&cause.times, stretch.window)).collect();
        let usage = evidence.machine.usage(&windows);
        let idle = text::percent(BUSY_IDLE_SHARE);
        let untested_share = text::percent(counted.share);
        let title = if cause.attributed > 0 {
            format!("Busy CPUs delayed {}", share(cause))
        } else {
            format!("{untested_share} of the slow requests were due in phases with busy CPUs")
        };
        let untested = match (counted.share > 0.0, cause.attributed > 0) {
            (false, _) => String::new(),
            (true, true) => format!(
                " Another {untested_share} of the slow requests were due in phases with busy CPUs most of the time. Those phases have too few \
                 idle moments to compare with, so that this is not tested against chance."
            ),
            (true, false) => {
                " Those phases have too few idle moments to compare with, so that this is not tested against chance."
                    .to_string()
            }
        };
        let waiting = usage.server_threads_waiting.map_or(String::new(), |waiting| {
            format!(" On average {waiting:.1} threads of the server were ready to run and waited for a CPU.")
        });
        let detail = format!(
            "The CPUs were busy (idle below {idle}) in {} of the judged time: {}.{untested}{waiting}",
            text::percent(cause.judged_time_share(&evidence.judged)),
            split(&usage)
        );
        let query = evidence.ask(&query::SLOW_IN_BUSY_CPU);
        let more = json!({ "usage_when_busy": usage, "slow_share_in_busy_phases": counted.share });
        let mut finding = Finding::about(self.name(), cause, evidence, (title, detail), query, more);
        finding.next = "move other work off the machine, lower the rate, or add CPUs (`helenus flame RECORDING` shows what uses them).".into();
        if cause.attributed == 0 {
            // It can't be tested against chance, and so is no more than a warning.
            finding.severity = materiality(counted.median_ns, evidence).min(Severity::Warning);
            finding.weight = weight(counted.share, counted.median_ns, evidence);
            (finding.share, finding.chance_share, finding.p_value) = (None, None, None);
            finding.claims.clear();
        }
        if counted.share > 0.0 {
            finding.claims.push(Claim::Explains { cause: "busy-phases", share: counted.share });
        }
        vec![finding]
    }
}
