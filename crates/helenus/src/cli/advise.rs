use super::explain::{FailOn, code_of};
use super::live::{self, Sources};
use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use helenus_explain::{Advice, AdviceReport, Engine, advise, by_reason, rules_as_markdown};
use std::process::ExitCode;

/// Advise changes to tables and nodes, with evidence and source
///
/// Works on recordings and on running nodes. Each piece of advice says how to verify it.
///
/// Rules cover compaction and tombstones, gc_grace against hints and repairs, partitions, compression, disks, the heap
/// and its collector, thread pools, caches and clients. A rule whose facts are missing says so. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus advise --node 127.0.0.1
  helenus advise --node 127.0.0.1 --node 127.0.0.2 --for 60s --table shop.orders
  helenus record --node 127.0.0.1 --for 10m -o node.helenus && helenus advise node.helenus
  helenus advise node.helenus --fail-on warning   # exit code 1 when there is one
  helenus advise node.helenus --json | jq '.advice[] | {rule, table, advice}'
  helenus advise --rules")]
pub struct Arguments {
    #[command(flatten)]
    pub sources: Sources,
    /// Only tables whose keyspace.table contains this text
    #[arg(long, value_name = "TEXT")]
    table: Option<String>,
    /// End with exit code 1 when advice is at least so severe
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// List the rules and their thresholds, each with its source, as Markdown
    #[arg(long, exclusive = true)]
    rules: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.rules {
        terminal::whole(&rules_as_markdown())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut severities = Vec::new();
    arguments.sources.each(arguments.json, |engine| {
        let report = arguments.show(engine)?;
        severities.extend(report.advice.iter().map(|advice| advice.severity));
        Ok(())
    })?;
    Ok(code_of(severities.into_iter(), arguments.fail_on))
}

impl Arguments {
    fn show(&self, engine: &Engine) -> Result<AdviceReport> {
        let report = advise(engine, self.table.as_deref())?;
        if let (0, Some(text), false) = (report.tables, &self.table, self.sources.is_watching()) {
            bail!("no table has `{text}` in its keyspace.table; leave --table out to see advice on all");
        }
        if self.json {
            match self.sources.is_watching() {
                true => terminal::json_line(&live::timed(&report))?,
                false => terminal::json(&report)?,
            }
        } else {
            terminal::print(text(&report, terminal::prose_width()));
        }
        Ok(report)
    }
}

const INDENT: &str = "   ";

fn text(report: &AdviceReport, width: usize) -> String {
    let wrap = |text: &str| terminal::wrap(text, width);
    let mut lines: Vec<String> = report.advice.iter().flat_map(|advice| lines_of(advice, width)).collect();
    if report.advice.is_empty() {
        lines.push(terminal::good("no advice"));
    }
    let well = if report.well.is_empty() { "none".to_string() } else { report.well.join(", ") };
    lines.push(format!("looked at {} and {}", counted(report.nodes, "node"), counted(report.tables, "table")));
    lines.extend(wrap(&format!("well: {well}")));
    for (because, rules) in by_reason(&report.not_checked) {
        let names: Vec<String> = rules
            .iter()
            .map(|one| match one.of.as_slice() {
                [only] => format!("{} ({only})", one.rule),
                several => format!("{} ({} of them)", one.rule, several.len()),
            })
            .collect();
        let missed = format!("not checked, because {because}: {}", names.join(", "));
        lines.extend(wrap(&missed).iter().map(terminal::dim));
    }
    lines.join("\n")
}

/// The lines of one piece of advice, followed by an empty line.
fn lines_of(advice: &Advice, width: usize) -> Vec<String> {
    let about = terminal::bold(advice.table.as_deref().unwrap_or("the node"));
    let severity = terminal::severity(advice.severity.name());
    let mut lines = vec![format!("{severity}  {about}  {}", terminal::dim(advice.rule))];
    let indented = |text: &str| {
        let lines = terminal::wrap(text, width.saturating_sub(INDENT.len()));
        lines.into_iter().map(|line| format!("{INDENT}{line}")).collect::<Vec<_>>()
    };
    for evidence in &advice.evidence {
        lines.extend(indented(&format!("{}: {}", evidence.node, evidence.text)));
    }
    lines.extend(indented(&advice.advice));
    lines.extend(indented(&format!("verify: {}", advice.verify)).iter().map(terminal::dim));
    lines.extend(indented(&format!("source: {}", advice.source)).iter().map(terminal::dim));
    lines.push(String::new());
    lines
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_explain::{AdviceEvidence, NotChecked, Severity};

    #[test]
    fn advice_is_read_with_its_evidence() {
        let evidence = |node: &str, tombstones: i64| AdviceEvidence {
            node: node.into(),
            text: format!("a read scans {tombstones} tombstones for 10 live cells"),
            figures: serde_json::json!({ "tombstones_per_slice": tombstones }),
        };
        let missed = |rule, of: &[&str]| NotChecked {
            rule,
            because: "no collection is recorded".into(),
            of: of.iter().map(ToString::to_string).collect(),
        };
        let report = AdviceReport {
            nodes: 2,
            tables: 1,
            advice: vec![Advice {
                rule: "tombstones-per-read",
                severity: Severity::Warning,
                table: Some("shop.orders".into()),
                evidence: vec![evidence("127.0.0.1", 30), evidence("127.0.0.2", 28)],
                advice:
                    "Delete whole partitions or ranges instead of cells and rows, write no nulls, and start slices \
                         behind what was deleted."
                        .into(),
                verify: "Tombstones of a slice in helenus tables.".into(),
                source: "field report on tombstones and compaction, 2014",
                query: String::new(),
            }],
            well: vec!["gc-grace", "wide-partitions"],
            not_checked: vec![missed("gc-time", &["127.0.0.1", "127.0.0.2"]), missed("heap-full", &["127.0.0.2"])],
        };
        insta::assert_snapshot!(terminal::plain(&text(&report, 103)));
    }
}
