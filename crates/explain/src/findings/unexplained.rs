//! What does nothing that was recorded explain?

use super::{Check, Finding, Severity, materiality, weight};
use crate::evidence::{Evidence, FEW_REQUESTS};
use crate::percentiles::ms;
use crate::{query, text};
use serde_json::json;

/// Below this share there is nothing to say: some requests always fall through.
const WORTH_SAYING: f64 = 0.1;
/// Below half of the slow requests the rest is a rest.
const WARNING_SHARE: f64 = 0.5;

pub(super) struct Unexplained;

impl Check for Unexplained {
    fn name(&self) -> &'static str {
        "unexplained"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let slow = evidence.judged.slow_requests();
        let share = evidence.unexplained_share;
        if slow == 0 || share < WORTH_SAYING {
            return Vec::new();
        }
        let median = evidence.unexplained_median_ns;
        let title = format!(
            "Nothing recorded explains {} of the slow requests{}",
            text::percent(share),
            median.map_or(String::new(), |ns| format!(" (half of those took {} or more)", text::time_ns(ns)))
        );
        let missing: Vec<&str> = evidence.coverage.missing().into_iter().map(|(what, _)| what).collect();
        let missing = if missing.is_empty() {
            "All sources took part.".to_string()
        } else {
            format!("Not recorded: {}.", missing.join(", "))
        };
        let few = if evidence.judged.requests() < FEW_REQUESTS {
            format!(" There are only {} judged requests; run longer.", text::count(evidence.judged.requests()))
        } else {
            String::new()
        };
        let busy = if evidence.slow_share_on_busy_cpus >= WORTH_SAYING {
            format!(
                " But {} of the slow requests were due in phases whose CPUs were busy most of the time.",
                text::percent(evidence.slow_share_on_busy_cpus)
            )
        } else {
            String::new()
        };
        let detail = format!(
            "Neither pauses, stalls, busy CPUs, queues, compactions nor flushes go together with them more than chance would have it.{busy} {missing}{few} The slowest are in the query: look for what they have in common (node, operation, time)."
        );
        // Overload, when it is judged, and phases that are busy throughout have findings of their own.
        let has_a_state = evidence.judges_overload || evidence.slow_share_on_busy_cpus >= WARNING_SHARE;
        let severity = if share < WARNING_SHARE || has_a_state {
            Severity::Information
        } else {
            materiality(median, evidence).min(Severity::Warning)
        };
        let mut finding = Finding::new(self.name(), severity, title, detail, evidence.judged_hull());
        finding.query = evidence.ask(&query::SLOW_REQUESTS);
        finding.weight = weight(share, median, evidence);
        finding.evidence = json!({
            "slow_requests": slow,
            "unexplained_share": share,
            "median_response_of_those_ms": median.map(ms),
            "median_response_ms": ms(evidence.judged.median_ns),
            "slow_threshold_ms": ms(evidence.judged.threshold_ns),
        });
        vec![finding]
    }
}
