//! The finding about the side of the wire on which slow requests spent their time.

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::materiality::{materiality, weight};
use crate::evidence::{CauseKind, Evidence, Sides, Split, Standing};
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) struct LatencyOrigin;

impl Check for LatencyOrigin {
    fn name(&self) -> &'static str {
        "latency-origin"
    }

    /// Says on which side to search for a cause; it is a measurement, not a cause. Requests without another cause are
    /// counted for this finding if they spent most of their time between driver and node.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(origin) = &evidence.origin else { return Vec::new() };
        let (slow, others) = (&origin.slow, &origin.others);
        if slow.on_the_wire == 0 {
            return Vec::new();
        }
        let parts = [
            (slow.in_node.share, "in the node"),
            (slow.before.share, "waiting in the driver"),
            (slow.between.share, "between driver and node"),
        ];
        let mut ordered = parts;
        ordered.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [first, second, third] = ordered.map(|(share, place)| format!("{} {place}", text::percent(share)));
        let most = ordered[0];
        let advice = Advice::of(slow, evidence);
        let title = format!("The slow requests spent {} of their time {}", text::percent(most.0), most.1);
        let detail = format!(
            "The wire shows {first}, {second} and {third}, of {} of the {}. Means: {} in the node ({} at most), {} to be sent, {} \
             on the way and in the driver. The other requests: {}, {} and {}.{}{}",
            text::count(usize::try_from(slow.on_the_wire).unwrap_or(0)),
            text::counted(usize::try_from(slow.requests).unwrap_or(0), "slow request", "slow requests"),
            text::time_ms(slow.in_node.mean_ms),
            text::time_ms(slow.in_node_max_ms),
            text::time_ms(slow.before.mean_ms),
            text::time_ms(slow.between.mean_ms),
            text::time_ms(others.in_node.mean_ms),
            text::time_ms(others.before.mean_ms),
            text::time_ms(others.between.mean_ms),
            origin.sides.as_ref().map(beside).unwrap_or_default(),
            advice.map_or("", Advice::meaning),
        );
        let window = evidence.judged_hull();
        let counted = &evidence.account.between;
        let severity = match counted.share {
            0.0 => Severity::Information,
            _ => materiality(counted.median_ns, evidence).min(Severity::Warning),
        };
        let mut finding = Finding::new(self.name(), severity, title, detail, window);
        if counted.share > 0.0 {
            finding.share = Some(counted.share);
            finding.weight = weight(counted.share, counted.median_ns, evidence);
            finding.claims.push(Claim::Explains { cause: self.name(), share: counted.share });
        }
        finding.query = evidence.ask(&query::ORIGIN);
        finding.evidence = json!(origin);
        finding.next = advice.map_or("", Advice::next).into();
        if advice == Some(Advice::Driver) {
            finding.claims.push(Claim::Suspects { cause: CauseKind::ClientStall.name() });
        }
        vec![finding]
    }
}

/// The means of all sides, from the outermost to the innermost.
fn beside(sides: &Sides) -> String {
    format!(
        " All requests of the same time took {} at the mean as the user waited, {} from being sent, {} on the node's wire, and \
         {} in its coordinator, which counted {}.",
        text::time_ms(sides.response.mean_ms),
        text::time_ms(sides.service.mean_ms),
        text::time_ms(sides.wire.mean_ms),
        text::time_ms(sides.coordinator.mean_ms),
        text::count(usize::try_from(sides.coordinator.requests).unwrap_or(0)),
    )
}

/// Where to search for time outside of the node.
#[derive(Clone, Copy, PartialEq)]
enum Advice {
    /// The driver was stalled, or may have been.
    Driver,
    /// Requests waited in the driver until others were answered.
    InFlight,
    Way,
}

impl Advice {
    /// Returns None if most of the time passed in the node.
    fn of(slow: &Split, evidence: &Evidence) -> Option<Advice> {
        let driver = evidence.cause(CauseKind::ClientStall).map(|cause| cause.standing());
        if slow.in_node.share >= 0.5 {
            None
        } else if matches!(driver, Some(Standing::Explains | Standing::Suspect)) {
            Some(Advice::Driver)
        } else if slow.before.share >= slow.between.share {
            Some(Advice::InFlight)
        } else {
            Some(Advice::Way)
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Advice::InFlight => {
                " The driver's stalls do not explain the time before sending: requests wait there while --max-in-flight \
                 others wait for an answer."
            }
            Advice::Driver | Advice::Way => "",
        }
    }

    fn next(self) -> &'static str {
        match self {
            Advice::Driver => "look at the driver's stalls and at its CPU before the node.",
            Advice::InFlight => "see what slowed the requests in flight, or raise --max-in-flight.",
            Advice::Way => "look at the network (nstat, ping) and at the CPU of the driver's threads.",
        }
    }
}
