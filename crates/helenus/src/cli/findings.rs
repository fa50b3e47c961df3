//! Prints findings on a terminal.

use crate::terminal;
use anyhow::Result;
use helenus_explain::{Engine, Explanation, Finding, Severity, filled_in};
use std::io::Write;

const INDENT: &str = "   ";

/// The number of findings shown at first.
pub const FIRST: usize = 7;

/// Prints the answer, and the wanted number of findings, most important first.
pub fn print(
    out: &mut impl Write,
    engine: &Engine,
    explanation: &Explanation,
    most: usize,
    queries: bool,
) -> Result<()> {
    let wrap = |text: &str| terminal::wrap(text, terminal::prose_width().saturating_sub(INDENT.len()));
    writeln!(out)?;
    for line in explanation.question.iter().flat_map(|question| wrap(question)) {
        writeln!(out, "{line}")?;
    }
    for line in wrap(&explanation.answer) {
        writeln!(out, "{}", terminal::bold(line))?;
    }
    if explanation.judged_requests > 0 {
        writeln!(out)?;
        for line in wrap(&explanation.summary()) {
            writeln!(out, "{}", terminal::dim(line))?;
        }
    }
    for finding in explanation.findings.iter().take(most) {
        writeln!(out)?;
        let head = format!("{}. {}", finding.rank, terminal::severity(finding.severity.name()));
        writeln!(out, "{head}  {}", terminal::dim(finding.finding))?;
        for line in wrap(&finding.title) {
            writeln!(out, "{INDENT}{}", terminal::bold(line))?;
        }
        for line in wrap(&finding.detail) {
            writeln!(out, "{INDENT}{line}")?;
        }
        if !finding.next.is_empty() {
            for line in wrap(&format!("Next: {}", finding.next)) {
                writeln!(out, "{INDENT}{line}")?;
            }
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
    let rest = explanation.findings.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let serious = rest.iter().filter(|finding| finding.severity > Severity::Information).count();
        let more = match serious {
            0 => format!("{} more, all information: `helenus explain RECORDING --all`", rest.len()),
            _ => format!("{} more, {serious} above information: `helenus explain RECORDING --all`", rest.len()),
        };
        writeln!(out, "{}", terminal::dim(filled_in(engine, &more)))?;
    }
    Ok(())
}

/// How the share of a finding compares with the share expected by chance.
fn against_chance(finding: &Finding) -> Option<String> {
    let (share, chance) = (finding.share?, finding.chance_share?);
    Some(format!("{:.0} % of the slow requests; {:.0} % expected by chance", share * 100.0, chance * 100.0))
}
