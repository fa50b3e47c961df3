//! The finding about slow requests without a recorded cause.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{materiality, weight};
use crate::evidence::{EXCESS_BOUND, Evidence, FEW_REQUESTS, Standing};
use crate::percentiles::ms;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "unexplained";
/// Smaller shares are not reported: some requests always have no cause.
pub(super) const WORTH_SAYING: f64 = 0.1;
/// Below half of the slow requests, the unexplained ones are no more than information.
const WARNING_SHARE: f64 = 0.5;

pub(super) struct Unexplained;

impl Check for Unexplained {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let slow = evidence.judged.slow_requests();
        let (share, median) = (evidence.account.unexplained.share, evidence.account.unexplained.median_ns);
        if slow == 0 || share < WORTH_SAYING {
            return Vec::new();
        }
        let title = format!(
            "Nothing recorded explains {} of the slow requests{}",
            text::percent(share),
            median.map_or(String::new(), |ns| format!(" (median {})", text::time_ns(ns)))
        );
        let missing: Vec<&str> =
            evidence.coverage.missing(evidence.provider).into_iter().map(|(what, _)| what).collect();
        let missing_sources = !missing.is_empty();
        let missing = if missing.is_empty() {
            "All sources took part.".to_string()
        } else {
            format!("Not recorded: {}.", missing.join(", "))
        };
        let few = if evidence.judged.requests() < FEW_REQUESTS {
            format!(" Only {} requests were judged.", text::count(evidence.judged.requests()))
        } else {
            String::new()
        };
        let suspects: Vec<&str> = evidence
            .causes
            .iter()
            .filter(|cause| cause.standing() == Standing::Suspect)
            .map(|cause| cause.kind.name())
            .collect();
        let met = if suspects.is_empty() {
            "No recorded cause meets them more often than chance.".to_string()
        } else {
            format!(
                "Suspects, too rare to tell from chance: {}. No other recorded cause meets them.",
                suspects.join(", ")
            )
        };
        let between = match evidence.account.between_share {
            share if share >= EXCESS_BOUND && evidence.account.between.share == 0.0 => format!(
                " {} of the slow requests spent most of their time between driver and node, as the wire shows.",
                text::percent(share)
            ),
            _ => String::new(),
        };
        let detail = format!("{met}{between} {missing}{few}");
        let next = match (missing_sources, evidence.judged.requests() < FEW_REQUESTS) {
            (true, _) => "record again with what is missing, as root and with the agent (`helenus doctor` says how).",
            (false, true) => "record for longer: a thousand requests are too few.",
            (false, false) => {
                "record what threads wait for: `helenus record --node ADDRESS --sched on --syscalls summary`."
            }
        };
        let severity = if share < WARNING_SHARE {
            Severity::Information
        } else {
            materiality(median, evidence).min(Severity::Warning)
        };
        let mut finding = Finding::new(self.name(), severity, title, detail, evidence.judged_hull());
        finding.query = evidence.ask(&query::SLOW_REQUESTS);
        finding.next = next.into();
        finding.weight = weight(share, median, evidence);
        finding.claims = vec![Claim::Unexplained { share }];
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
