//! The finding about crowding: did throughput fall when more requests were in flight (retrograde scaling)?

use super::finding::{Check, Finding};
use crate::evidence::{Crowding, Evidence};
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

pub(super) struct TooManyAtOnce;

impl Check for TooManyAtOnce {
    fn name(&self) -> &'static str {
        "crowding"
    }

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(crowding) = &evidence.crowding else { return Vec::new() };
        let (best, crowded) = (&crowding.levels[crowding.best], &crowding.levels[crowding.crowded]);
        let title = format!(
            "{:.0} requests in flight get {} less done than {:.0}",
            crowded.in_flight,
            text::percent(crowding.loss_share()),
            best.in_flight,
        );
        let point = point_of(evidence.statement(&crowding.operation));
        let detail = format!(
            "The server did {} with the fewer and {} with the more; a request took {} and {}. {} of those in flight were `{}`. A \
             valve lets requests beyond the best limit wait outside. If something else changed with the load (data, caches, \
             compaction), compare in blocks with and without the valve (docs/lab.md).",
            text::rate(best.throughput_per_s),
            text::rate(crowded.throughput_per_s),
            text::time_ms(best.service_ms),
            text::time_ms(crowded.service_ms),
            text::percent(crowding.operation_share),
            crowding.operation,
        );
        let mut finding = Finding::new(self.name(), Severity::Warning, title, detail, crowding.window);
        finding.query = query::PHASES.fill(&[]);
        finding.next = format!(
            "`helenus valve add {point} --at {point} --law throughput --node ADDRESS` finds the limit; `helenus valve remove --node ADDRESS {point}` undoes it."
        );
        finding.weight = Crowding::loss_share(crowding);
        finding.evidence = json!(crowding);
        vec![finding]
    }
}

/// The measurement point that requests with such a statement pass; all requests pass `request`.
fn point_of(statement: Option<&str>) -> &'static str {
    let words = statement.unwrap_or_default().to_ascii_uppercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    match words.first() {
        Some(&"BEGIN") => "batches",
        Some(&("INSERT" | "UPDATE" | "DELETE")) if has("IF") => "lwt",
        Some(&("INSERT" | "UPDATE" | "DELETE")) => "modification",
        Some(&"SELECT") if !has("WHERE") => "scans",
        Some(&"SELECT") => "select",
        _ => "request",
    }
}

#[cfg(test)]
mod tests {
    use super::point_of;

    #[test]
    fn a_statement_goes_by_the_point_of_its_class() {
        let point = |statement: &str| point_of(Some(statement));
        assert_eq!(point("UPDATE a SET b = 1 WHERE c = 2 IF b != 1"), "lwt");
        assert_eq!(point("insert into a (b) values (1) if not exists"), "lwt");
        assert_eq!(point("INSERT INTO a (b) VALUES (1)"), "modification");
        assert_eq!(point("begin unlogged batch insert into a (b) values (1); apply batch"), "batches");
        assert_eq!(point("SELECT * FROM a"), "scans");
        assert_eq!(point("SELECT * FROM a WHERE b = 1"), "select");
        assert_eq!(point_of(None), "request");
    }
}
