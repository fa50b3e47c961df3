//! The finding about the load driver: did its own stalls delay the slow requests?

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::wording::{UNDECIDED, against_chance, share, too_little};
use crate::engine::Provider;
use crate::evidence::{CauseKind, EXCESS_BOUND, Evidence, Standing, StopTotals};
use crate::{query, text};
use serde_json::json;

pub(super) struct ClientStall;

impl Check for ClientStall {
    fn name(&self) -> &'static str {
        "client-stall"
    }

    /// Always gives a finding when the driver's stalls were recorded: the client must be cleared before a server is blamed.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::ClientStall) else { return Vec::new() };
        let is_seen = evidence.provider == Provider::Load && evidence.coverage.has_client_stalls();
        if !is_seen || evidence.judged.slow_requests() == 0 {
            return Vec::new();
        }
        let totals = StopTotals::of(&evidence.stops.client, &evidence.judged);
        let longest = text::time_ms(totals.longest_ms);
        let in_all = format!("{}, the longest {longest}.", text::counted(totals.stops, "stall", "stalls"));
        // The wire shows that the delay was in the driver or between driver and node, although no stall was recorded.
        let between = evidence.account.between_share;
        let words = match cause.standing() {
            Standing::Explains => {
                let counted = StopTotals::of(&cause.blamed.stops, &evidence.judged);
                (
                    format!(
                        "Stalls of the load driver delayed {} (longest {})",
                        share(cause),
                        text::time_ms(counted.longest_ms)
                    ),
                    format!(
                        "{}: the driver did not run when it should have, and the server is not to blame. A request that also \
                         met a pause of the server counts here if the driver's stall was at least half as long.",
                        text::counted(counted.stops, "stall", "stalls")
                    ),
                )
            }
            Standing::Suspect => (
                "The load driver is a suspect; the evidence is inconclusive".into(),
                format!("{in_all} {}", against_chance(cause)),
            ),
            _ if between >= EXCESS_BOUND => (
                format!(
                    "The driver is not cleared: {} of slow requests waited between driver and node",
                    text::percent(between)
                ),
                format!("{in_all} They do not explain it."),
            ),
            Standing::Absent if evidence.stops.has_wait("stall of the driver") => (
                "The load driver is cleared: its stalls were waits for a CPU".into(),
                "Its threads stood in a run queue for most of each stall.".into(),
            ),
            Standing::Absent => (
                "The load driver is cleared: it never stood still".into(),
                "No stall of the driver was recorded in the judged time, and stalls were recorded.".into(),
            ),
            Standing::Outweighed => (
                "The load driver stalled, but something else delayed the slow requests longer".into(),
                format!("{in_all} Each slow request that met one also met a longer stop, for which it is counted."),
            ),
            Standing::Slight => (
                "Stalls of the load driver explain too little to count".into(),
                format!("{in_all} {} {}", against_chance(cause), too_little()),
            ),
            Standing::Cleared => ("The load driver is cleared".into(), format!("{in_all} {}", against_chance(cause))),
        };
        let query = evidence.ask_with(&query::SLOW_IN_STALLS, &[("side", query::Value::Text("load"))]);
        let mut finding = Finding::about(self.name(), cause, evidence, words, query, json!({ "stalls": totals }));
        finding.next = match cause.standing() {
            Standing::Explains => "run the load driver on CPUs or a machine of its own, or lower --rate.".into(),
            Standing::Suspect => UNDECIDED.into(),
            _ if between >= EXCESS_BOUND => {
                "look at the network (nstat) and at the CPU of the driver's threads.".into()
            }
            _ => String::new(),
        };
        if between >= EXCESS_BOUND && cause.standing() != Standing::Explains {
            finding.claims = vec![Claim::Suspects { cause: cause.kind.name() }];
        }
        vec![finding]
    }
}
