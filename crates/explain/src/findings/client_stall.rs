//! Was it the load driver itself?

use super::{Check, Finding, UNDECIDED, against_chance, shares};
use crate::evidence::{CauseKind, Evidence, StopTotals};
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
        if !evidence.coverage.has_client_stalls() || evidence.judged.slow_requests() == 0 {
            return Vec::new();
        }
        let totals = StopTotals::of(&evidence.stops.client, &evidence.judged);
        let longest = text::time_ms(totals.longest_ms);
        let in_all = format!("{}, the longest {longest}.", text::counted(totals.stops, "stall", "stalls"));
        let words = if cause.is_significant() && cause.attributed > 0 {
            (
                format!(
                    "The load driver stood still, which accounts for {}: {}, the longest {longest}",
                    shares(cause),
                    text::counted(totals.stops, "stall", "stalls"),
                ),
                "The server cannot be blamed for these: the client did not run when it should have. Give the driver a \
                 CPU of its own or another machine, or lower the rate; then run again. A request that also met a \
                 pause of the server is counted here when the client's stall was at least half as long."
                    .into(),
            )
        } else if totals.stops == 0 {
            (
                "The load driver is cleared: it never stood still".into(),
                "No stall of the driver was recorded in the judged time, and stalls were recorded.".into(),
            )
        } else if cause.is_significant() {
            (
                format!(
                    "The load driver stuttered, but the slow requests were held up longer by something else (longest stall {longest})"
                ),
                "Every slow request that met a stall of the driver also met a longer stop, for which it is counted."
                    .into(),
            )
        } else if cause.is_suspect() {
            (format!("The load driver is not cleared: {}", against_chance(cause)), format!("{in_all} {UNDECIDED}"))
        } else {
            (format!("The load driver is cleared: {}", against_chance(cause)), in_all)
        };
        let query = evidence.ask_with(&query::SLOW_IN_STALLS, &[("side", query::Value::Text("load"))]);
        vec![Finding::about(self.name(), cause, evidence, words, query, json!({ "stalls": totals }))]
    }
}
