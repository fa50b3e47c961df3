//! The finding about answers that came later than the clients' drivers wait by default.

use super::finding::{Check, Finding};
use crate::evidence::{Evidence, LateAnswers};
use crate::query::Value;
use crate::severity::Severity;
use crate::timeline::Interval;
use crate::{query, text};
use serde_json::json;

pub(super) const NAME: &str = "late-answers";

pub(super) struct LateAnswersCheck;

impl Check for LateAnswersCheck {
    fn name(&self) -> &'static str {
        NAME
    }

    /// At most a warning: a client may wait longer than its driver does by default.
    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(first) = evidence.late_answers.first() else { return Vec::new() };
        let answers: usize = evidence.late_answers.iter().map(|late| late.answers).sum();
        let all = evidence.judged.requests();
        let title = format!(
            "{} of {} came later than the clients' drivers wait by default",
            text::count(answers),
            text::counted(all, "answer", "answers")
        );
        let by_driver: Vec<String> = evidence.late_answers.iter().map(words).collect();
        let detail = format!(
            "{} Cassandra counts no error when a client gives up: it answers late, and the client may have asked again.",
            by_driver.join(" ")
        );
        let window = evidence.late_answers.iter().fold(first.window, |all, late| Interval {
            start: all.start.min(late.window.start),
            end: all.end.max(late.window.end),
        });
        let shortest_ns = evidence.late_answers.iter().map(|late| late.waits_ns).min().unwrap_or_default();
        let mut finding = Finding::new(self.name(), Severity::Warning, title, detail, window);
        finding.next =
            "look for timeouts in the clients' logs; the other findings say what made these answers late.".into();
        finding.query = evidence.ask_with(&query::SLOW_REQUESTS, &[("threshold_ns", Value::Integer(shortest_ns))]);
        finding.weight = answers as f64 / all.max(1) as f64 * 1000.0;
        finding.evidence = json!({ "answers": answers, "requests": all, "by_driver": evidence.late_answers });
        vec![finding]
    }
}

fn words(late: &LateAnswers) -> String {
    format!(
        "{} went to {} with {}, which waits {} by default.",
        text::counted(late.answers, "of them", "of them"),
        text::counted(late.clients, "client", "clients"),
        late.driver,
        text::time_ns(late.waits_ns)
    )
}
