use super::explain::{FailOn, code_of};
use super::findings::wrap;
use super::live::Sources;
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_explain::{Advice, Counsel, Engine, advise, by_reason, rules_as_markdown};
use std::process::ExitCode;

/// Say what to change about tables and nodes, recorded or running, with the evidence, how to verify it, and the source
///
/// Rules look at compaction and tombstones, gc_grace against hints and repairs, partitions, compression, disks, the heap and
/// its collector, thread pools, caches and clients. A rule that lacks its facts says so. Nothing is changed.
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
    sources: Sources,
    /// Only tables whose keyspace.table has this in it
    #[arg(long, value_name = "TEXT")]
    table: Option<String>,
    /// End with exit code 1 when advice is at least so severe
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// List the rules and their thresholds, each with its source, as Markdown
    #[arg(long, exclusive = true)]
    rules: bool,
    /// Everything as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.rules {
        print!("{}", rules_as_markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let mut severities = Vec::new();
    arguments.sources.each(arguments.json, |engine| {
        let counsel = arguments.show(engine)?;
        severities.extend(counsel.advice.iter().map(|advice| advice.severity));
        Ok(())
    })?;
    Ok(code_of(severities.into_iter(), arguments.fail_on))
}

impl Arguments {
    fn show(&self, engine: &Engine) -> Result<Counsel> {
        let counsel = advise(engine, self.table.as_deref())?;
        if self.json {
            match self.sources.is_watching() {
                true => println!("{}", serde_json::to_string(&counsel)?),
                false => println!("{}", serde_json::to_string_pretty(&counsel)?),
            }
        } else {
            counsel.advice.iter().for_each(print);
            end(&counsel);
        }
        Ok(counsel)
    }
}

const INDENT: &str = "   ";

fn print(advice: &Advice) {
    let about = advice.table.as_deref().unwrap_or("the node");
    anstream::println!(
        "{}  {}  {}",
        terminal::severity(advice.severity.name()),
        terminal::bold(about),
        terminal::dim(advice.rule)
    );
    for evidence in &advice.evidence {
        paragraph(&format!("{}: {}", evidence.node, evidence.text));
    }
    paragraph(&advice.advice);
    for line in wrap(&format!("verify: {}", advice.verify)) {
        anstream::println!("{INDENT}{}", terminal::dim(line));
    }
    anstream::println!("{INDENT}{}\n", terminal::dim(format_args!("source: {}", advice.source)));
}

fn paragraph(text: &str) {
    for line in wrap(text) {
        anstream::println!("{INDENT}{line}");
    }
}

/// What was well, and what could not be looked at.
fn end(counsel: &Counsel) {
    if counsel.advice.is_empty() {
        anstream::println!("{}", terminal::good("no advice"));
    }
    anstream::println!(
        "{} of nodes: {}, tables: {}; well: {}",
        terminal::bold("looked at"),
        counsel.nodes,
        counsel.tables,
        if counsel.well.is_empty() { "none".to_string() } else { counsel.well.join(", ") }
    );
    for (because, rules) in by_reason(&counsel.not_checked) {
        let names: Vec<String> = rules
            .iter()
            .map(|one| match one.of.as_slice() {
                [only] => format!("{} ({only})", one.rule),
                several => format!("{} ({} of them)", one.rule, several.len()),
            })
            .collect();
        for line in wrap(&format!("not checked, because {because}: {}", names.join(", "))) {
            anstream::println!("{}", terminal::dim(line));
        }
    }
}
