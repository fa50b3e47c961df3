//! The answer in a paragraph of at most four sentences: what was seen, whether it was slow, why, and what to do next.

use crate::anatomy::Phase;
use crate::engine::Provider;
use crate::evidence::Evidence;
use crate::findings::{Claim, Finding, MATERIAL_NS, fails_unexplained, materiality};
use crate::percentiles::{Percentiles, median};
use crate::severity::Severity;
use crate::text;

/// The answer mentions requests of at least this time, even if they are too few to make the slowest percent slow.
const VERY_LONG_NS: i64 = 1_000_000_000;

pub(crate) fn answer(evidence: &Evidence, findings: &[Finding]) -> String {
    let Some(top) = findings.first() else { return "No requests were recorded.".to_string() };
    let mut sentences = match evidence.judged.requests() {
        0 => vec![format!("{}.", top.title)],
        _ if has_knee(evidence) => beyond_the_knee(evidence, top, findings),
        _ if is_worse_than_slow(top) => before_all_times(evidence, top, findings),
        _ => seen(evidence).into_iter().chain([why(top, findings)]).collect(),
    };
    let leading = leading(findings).unwrap_or(top);
    let steps = if fails_unexplained(top) { [leading, top] } else { [top, leading] };
    let next = steps.into_iter().map(|finding| finding.next.as_str()).find(|next| !next.is_empty());
    sentences.extend(next.map(|next| format!("Next: {}", first_sentence(next))));
    sentences.join(" ")
}

/// Whether the most important finding is critical and is not about the times of requests, such as the end of a node's process.
fn is_worse_than_slow(top: &Finding) -> bool {
    top.severity == Severity::Critical && !tells_of_times(top)
}

/// Two or three sentences: the finding that is worse than slow requests, the judged requests, and the cause of the slow ones if
/// there is one. Whether the others were fast does not matter then.
fn before_all_times(evidence: &Evidence, top: &Finding, findings: &[Finding]) -> Vec<String> {
    let [judged, _] = seen(evidence);
    let cause = leading(&findings[1..]).map(|cause| format!("{}.", cause.title));
    [format!("{}.", top.title), judged].into_iter().chain(cause).collect()
}

/// Whether a stepped load went beyond what the system can sustain: then the answer begins with the knee.
fn has_knee(evidence: &Evidence) -> bool {
    evidence.knee.as_ref().is_some_and(|knee| knee.reached)
}

/// Three sentences: the knee, the judged requests of the steps that kept up, and whether they were slow and why.
fn beyond_the_knee(evidence: &Evidence, top: &Finding, findings: &[Finding]) -> Vec<String> {
    let [judged, slow] = seen(evidence);
    let cause = leading(&findings[1..]).map(|cause| format!("{}.", cause.title));
    vec![format!("{}.", top.title), judged, cause.unwrap_or(slow)]
}

/// Two sentences: which requests were judged, and whether they were slow.
fn seen(evidence: &Evidence) -> [String; 2] {
    let mut all: Vec<i64> = evidence.judged.timed().map(|(request, _)| request.response_ns()).collect();
    let percentiles = Percentiles::of(&mut all);
    let mut slow: Vec<i64> =
        evidence.judged.stretches.iter().flat_map(|stretch| &stretch.slow).map(|request| request.response_ns).collect();
    let of = match evidence.provider {
        Provider::Wire => "on the wire",
        Provider::Jvm => "read inside the JVM",
        Provider::Load => "of the load driver",
    };
    let time = |ms: Option<f64>| ms.map_or("-".to_string(), text::time_ms);
    let requests = evidence.judged.requests();
    let first = format!(
        "Helenus judged {} {of}{}{} in {}: the median is {}, the p99 {}{}.",
        text::counted(requests, "request", "requests"),
        unmeasured(evidence),
        evidence.chosen_words().map_or(String::new(), |words| format!(" that {words}")),
        text::time_ns(evidence.judged.length_ns()),
        time(percentiles.p50),
        time(percentiles.p99),
        evidence.baseline.map_or(String::new(), |good| {
            format!(", against {} and {} in the good time", time(good.p50), time(good.p99))
        })
    );
    let slow_median = median(&mut slow);
    let Some(slow_ns) = slow_median else { return [first, "None took longer than that.".to_string()] };
    let times = slow_ns as f64 / evidence.judged.median_ns.max(1) as f64;
    let slowest = format!(
        "the slowest {} (over {}) took {} at the median, {} times the usual",
        text::percent(slow.len() as f64 / requests as f64),
        text::time_ns(evidence.judged.threshold_ns),
        text::time_ns(slow_ns),
        text::count(times.round() as usize)
    );
    let second = match materiality(slow_median, evidence) {
        Severity::Information if slow_ns >= MATERIAL_NS => format!("All requests are alike: {slowest}."),
        Severity::Information => match slow.iter().filter(|ns| **ns >= VERY_LONG_NS).count() {
            0 => format!("That is fast: {slowest}."),
            long => format!(
                "That is fast, but {} took a second or more: {slowest}.",
                text::counted(long, "request", "requests")
            ),
        },
        Severity::Warning | Severity::Critical => format!("That is slow: {slowest}."),
    };
    [first, second]
}

/// The phases that are judged although their load does not judge them, because there is nothing else.
fn unmeasured(evidence: &Evidence) -> String {
    let due: Vec<&Phase> = evidence.phases.iter().filter(|phase| phase.requests > 0).collect();
    match due.iter().all(|phase| !phase.measured) {
        true if !due.is_empty() => {
            let mut names: Vec<&str> = due.iter().map(|phase| phase.name.as_str()).collect();
            names.dedup();
            format!(", all of phases that are not to be judged ({}),", names.join(", "))
        }
        _ => String::new(),
    }
}

/// Names the most important finding, and the cause of most slow requests if that is another one.
fn why(top: &Finding, findings: &[Finding]) -> String {
    let is_serious = |finding: &&Finding| finding.severity > Severity::Information;
    match leading(findings).filter(is_serious).filter(|leading| leading.rank != top.rank) {
        Some(leading) => format!("{}; {}.", top.title, in_sentence(&leading.title)),
        None => format!("{}.", top.title),
    }
}

/// The first finding that says where slow requests spent their time.
fn leading(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.severity > Severity::Information && tells_of_times(finding))
}

/// Whether a finding says where slow requests spent their time.
fn tells_of_times(finding: &Finding) -> bool {
    let explains = |claim: &Claim| match claim {
        Claim::Explains { share, .. } | Claim::Unexplained { share } => *share > 0.0,
        Claim::Healthy | Claim::Suspects { .. } | Claim::Clears { .. } => false,
    };
    finding.claims.iter().any(explains)
}

/// The advice of a finding may be several sentences. A command may have a name with a dot and a space.
fn first_sentence(text: &str) -> String {
    let ends = |(place, _): &(usize, &str)| text[..*place].matches('`').count().is_multiple_of(2);
    let end = text.match_indices(". ").find(ends).map_or(text.len(), |(place, _)| place);
    format!("{}.", text[..end].trim_end().trim_end_matches(['.', ':', ';']))
}

/// Changes a title for use inside a sentence: its first letter becomes lower case, except in abbreviations.
fn in_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().collect::<String>() + letters.as_str()
        }
        _ => title.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_outside_of_commands() {
        assert_eq!(first_sentence("see `helenus gc 'a. b'`. Then wait."), "see `helenus gc 'a. b'`.");
        assert_eq!(first_sentence("wait;"), "wait.");
        assert_eq!(first_sentence("one. two. three."), "one.");
    }
}
