//! Findings for a person on a terminal.

use crate::terminal;
use anyhow::Result;
use helenus_explain::{Explanation, Finding, probability_text};
use std::io::Write;

const INDENT: &str = "   ";

/// Prints the findings, most important first.
pub fn print(out: &mut impl Write, explanation: &Explanation, queries: bool) -> Result<()> {
    let wrap = |text: &str| terminal::wrap(text, terminal::prose_width().saturating_sub(INDENT.len()));
    if explanation.judged_requests > 0 {
        writeln!(out)?;
        for line in wrap(&explanation.summary()) {
            writeln!(out, "{line}")?;
        }
    }
    for finding in &explanation.findings {
        writeln!(out)?;
        let head = format!("{}. {}", finding.rank, terminal::severity(finding.severity.name()));
        writeln!(out, "{head}  {}", terminal::dim(finding.finding))?;
        for line in wrap(&finding.title) {
            writeln!(out, "{INDENT}{}", terminal::bold(line))?;
        }
        for line in wrap(&finding.detail) {
            writeln!(out, "{INDENT}{line}")?;
        }
        for line in against_chance(finding).iter().flat_map(|text| wrap(text)) {
            writeln!(out, "{INDENT}{}", terminal::dim(line))?;
        }
        if queries && !finding.query.is_empty() {
            for line in finding.query.trim().lines() {
                writeln!(out, "{INDENT}{}", terminal::dim(format_args!("│ {line}")))?;
            }
        }
    }
    writeln!(out)?;
    Ok(())
}

/// How the share of a finding compares with chance.
fn against_chance(finding: &Finding) -> Option<String> {
    let (share, chance, p) = (finding.share?, finding.chance_share?, finding.p_value?);
    let p = probability_text(p);
    Some(format!("{:.0} % of the slow requests; chance would give {:.0} % ({p})", share * 100.0, chance * 100.0))
}
