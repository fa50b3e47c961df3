//! Was it the load driver itself?

use super::claim::Claim;
use super::finding::{Check, Finding};
use super::wording::{UNDECIDED, against_chance, shares, too_little};
use crate::engine::Provider;
use crate::evidence::{CauseKind, EXCESS_BOUND, Evidence, Standing, StopTotals};
use crate::{query, text};
use serde_json::json;

pub(super) struct ClientStall;

impl Check for ClientStall {
    fn name(&self) -> &'static str {
        "client-stall"
    }

    /// Always answers when the driver's stalls were recorded: whoever blames a server must have cleared the client.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(cause) = evidence.cause(CauseKind::ClientStall) else { return Vec::new() };
        let is_seen = evidence.provider == Provider::Load && evidence.coverage.has_client_stalls();
        if !is_seen || evidence.judged.slow_requests() == 0 {
            return Vec::new();
        }
        let totals = StopTotals::of(&evidence.stops.client, &evidence.judged);
        let longest = text::time_ms(totals.longest_ms);
        let in_all = format!("{}, the longest {longest}.", text::counted(totals.stops, "stall", "stalls"));
        // The wire shows that it was the driver or the way to it, though no stall was seen.
        let between = evidence.account.unexplained_between_share;
        let words = match cause.standing() {
            Standing::Explains => {
                let counted = StopTotals::of(&cause.blamed.stops, &evidence.judged);
                (
                    format!(
                        "The load driver stood still, which accounts for {}: {}, the longest {}",
                        shares(cause),
                        text::counted(counted.stops, "stall", "stalls"),
                        text::time_ms(counted.longest_ms)
                    ),
                    "The server cannot be blamed for these: the client did not run when it should have. Give the driver a \
                     CPU of its own or another machine, or lower the rate; then run again. A request that also met a \
                     pause of the server is counted here when the client's stall was at least half as long."
                        .into(),
                )
            }
            Standing::Suspect => {
                (format!("The load driver is not cleared: {}", against_chance(cause)), format!("{in_all} {UNDECIDED}"))
            }
            _ if between >= EXCESS_BOUND => (
                format!(
                    "The load driver is not cleared: {} of the slow requests spent their time between driver and node, and no stall of the driver explains it",
                    text::percent(between)
                ),
                format!("{in_all} Look at the network, and at the CPU that the driver's threads have."),
            ),
            Standing::Absent => (
                "The load driver is cleared: it never stood still".into(),
                "No stall of the driver was recorded in the judged time, and stalls were recorded.".into(),
            ),
            Standing::Outweighed => (
                format!(
                    "The load driver stuttered, but the slow requests were held up longer by something else (longest stall {longest})"
                ),
                "Every slow request that met a stall of the driver also met a longer stop, for which it is counted."
                    .into(),
            ),
            Standing::Slight => (
                format!("The load driver explains little: {}", against_chance(cause)),
                format!("{in_all} {}", too_little()),
            ),
            Standing::Cleared => (format!("The load driver is cleared: {}", against_chance(cause)), in_all),
        };
        let query = evidence.ask_with(&query::SLOW_IN_STALLS, &[("side", query::Value::Text("load"))]);
        let mut finding = Finding::about(self.name(), cause, evidence, words, query, json!({ "stalls": totals }));
        if between >= EXCESS_BOUND && cause.standing() != Standing::Explains {
            finding.claims = vec![Claim::Suspects { cause: cause.kind.name() }];
        }
        vec![finding]
    }
}
