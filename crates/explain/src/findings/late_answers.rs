//! The finding about answers that came later than the clients' drivers wait by default.

use super::errors::CRITICAL_SHARE;
use super::finding::{Check, Finding};
use crate::evidence::{Evidence, LateAnswers};
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

    fn check(&self, evidence: &Evidence) -> Vec<Finding> {
        let Some(first) = evidence.late_answers.first() else { return Vec::new() };
        let answers: usize = evidence.late_answers.iter().map(|late| late.answers).sum();
        let all = evidence.judged.requests();
        let share = answers as f64 / all.max(1) as f64;
        let title = format!(
            "{} of {} came later than the clients' drivers wait by default",
            text::count(answers),
            text::counted(all, "answer", "answers")
        );
        let by_driver: Vec<String> = evidence.late_answers.iter().map(words).collect();
        let detail = format!(
            "{}. A client that has given up, and may have asked again, is no error on the node: its request is answered \
             late, and counts as answered.",
            by_driver.join("; ")
        );
        let severity = if share >= CRITICAL_SHARE { Severity::Critical } else { Severity::Warning };
        let window = evidence.late_answers.iter().fold(first.window, |all, late| Interval {
            start: all.start.min(late.window.start),
            end: all.end.max(late.window.end),
        });
        let mut finding = Finding::new(self.name(), severity, title, detail, window);
        finding.next =
            "look for timeouts in the clients' logs; what made these answers late is in the other findings.".into();
        finding.query = evidence.ask(&query::SLOW_REQUESTS);
        finding.weight = share * 1000.0;
        finding.evidence = json!({ "answers": answers, "requests": all, "by_driver": evidence.late_answers });
        vec![finding]
    }
}

fn words(late: &LateAnswers) -> String {
    let driver = match late.driver.as_str() {
        "" => "drivers that are not known".to_string(),
        driver => driver.to_string(),
    };
    format!(
        "{} to {} of {driver}, which waits {}",
        text::count(late.answers),
        text::counted(late.clients, "client", "clients"),
        text::time_ns(late.waits_ns)
    )
}
