//! Detects findings that exclude each other, by their claims. Tests check this in all their worlds.

use super::claim::Claim;
use super::finding::Finding;
use crate::severity::Severity;

/// Shares are quotients of counts, so they may differ from each other by this rounding error.
const ROUNDING: f64 = 1e-9;

/// Pairs of findings that exclude each other, as sentences. Any pair shows a bug in Helenus.
pub fn contradictions(findings: &[Finding]) -> Vec<String> {
    let mut found = Vec::new();
    let claims: Vec<(&Finding, Claim)> =
        findings.iter().flat_map(|finding| finding.claims.iter().map(move |claim| (finding, *claim))).collect();
    for (index, (one, claim)) in claims.iter().enumerate() {
        for (other, opposed) in &claims[index + 1..] {
            if exclude(*claim, *opposed) || exclude(*opposed, *claim) {
                found.push(format!("`{}` says {claim:?}, `{}` says {opposed:?}", one.title, other.title));
            }
        }
        let serious = findings.iter().find(|finding| finding.severity > Severity::Information);
        if let (Claim::Healthy, Some(serious)) = (claim, serious) {
            found.push(format!("`{}` beside `{}`, {}", one.title, serious.title, serious.severity.name()));
        }
        if let Claim::Explains { cause, share } = claim
            && *cause == one.finding
            && one.share.is_some_and(|shown| (shown - share).abs() > ROUNDING)
        {
            found.push(format!("`{}` counts {share} and shows {:?}", one.title, one.share));
        }
    }
    let counted = |(_, claim): &(&Finding, Claim)| match claim {
        Claim::Explains { share, .. } | Claim::Unexplained { share } => *share,
        Claim::Healthy | Claim::Suspects { .. } | Claim::Clears { .. } => 0.0,
    };
    let total: f64 = claims.iter().map(counted).sum();
    if total > 1.0 + ROUNDING {
        found.push(format!("requests are counted twice: {total} of the slow ones in all"));
    }
    found
}

/// Whether two claims can't both be true of the same requests.
fn exclude(one: Claim, other: Claim) -> bool {
    match (one, other) {
        (Claim::Healthy, Claim::Unexplained { .. }) => true,
        (Claim::Explains { cause, .. } | Claim::Suspects { cause }, Claim::Clears { cause: other }) => cause == other,
        (Claim::Explains { cause, .. }, Claim::Explains { cause: other, .. }) => cause == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Interval;

    fn finding(severity: Severity, claim: Claim, share: Option<f64>) -> Finding {
        let window = Interval { start: 0, end: 1 };
        let mut finding = Finding::new("f", severity, format!("{claim:?}"), String::new(), window);
        (finding.claims, finding.share) = (vec![claim], share);
        finding
    }

    fn count(findings: &[(Severity, Claim)]) -> usize {
        let findings: Vec<Finding> =
            findings.iter().map(|(severity, claim)| finding(*severity, *claim, None)).collect();
        contradictions(&findings).len()
    }

    #[test]
    fn what_can_not_be_true_together_is_a_contradiction() {
        use Severity::{Information, Warning};
        let (client, gc) = ("client-stall", "gc-pause");
        let half = |cause| (Information, Claim::Explains { cause, share: 0.5 });
        assert_eq!(count(&[half(gc), (Information, Claim::Clears { cause: client })]), 0);
        assert_eq!(count(&[half(gc), half(client), (Information, Claim::Healthy)]), 0);
        assert_eq!(count(&[half(gc), (Information, Claim::Clears { cause: gc })]), 1);
        assert_eq!(
            count(&[(Information, Claim::Clears { cause: client }), (Information, Claim::Suspects { cause: client })]),
            1
        );
        assert_eq!(count(&[half(gc), half(gc)]), 1);
        assert_eq!(count(&[half(gc), (Information, Claim::Unexplained { share: 0.6 })]), 1);
        assert_eq!(count(&[(Information, Claim::Healthy), (Information, Claim::Unexplained { share: 1.0 })]), 1);
        assert_eq!(count(&[(Information, Claim::Healthy), (Warning, Claim::Suspects { cause: gc })]), 1);
        let shown = finding(Information, Claim::Explains { cause: "f", share: 0.5 }, Some(0.0));
        assert_eq!(contradictions(&[shown]).len(), 1);
    }
}
