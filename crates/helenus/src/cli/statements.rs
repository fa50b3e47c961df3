use super::traffic::{self, Chosen};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_explain::{StatementFigures, statement_traffic};
use std::process::ExitCode;

/// Show what each statement of the clients took: how often, how long, how much it returned, and how it failed
///
/// Of the requests on the wire, whatever driver sent them (`helenus record`), or of a load. Statements have ? for
/// their values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --for 30s -o node.helenus && helenus statements node.helenus
  helenus statements node.helenus --sort p99 --limit 5
  helenus statements node.helenus --contains orders --client 10.0.0.17
  helenus statements node.helenus --json | jq '.rows[0].statement'")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    let table = statement_traffic(&chosen.engine()?, &chosen.filter())?;
    traffic::show(chosen, table, "statements", |row| &row.figures, print)
}

fn print(rows: &[StatementFigures]) {
    let head: Vec<&str> = ["statement", "kind"].into_iter().chain(traffic::HEAD).chain(["clients"]).collect();
    terminal::print(terminal::table(&head, rows.iter().map(line), 2));
    for row in rows.iter().filter(|row| !row.errors_by_outcome.is_empty()) {
        let errors: Vec<String> =
            row.errors_by_outcome.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        terminal::print(format_args!("errors of {}: {}", row.operation, errors.join(", ")));
    }
}

fn line(row: &StatementFigures) -> Vec<String> {
    let mut cells = vec![row.operation.clone(), row.kind.clone().unwrap_or_else(|| "–".to_string())];
    cells.extend(traffic::cells(&row.figures));
    cells.push(if row.clients == 0 { "–".to_string() } else { row.clients.to_string() });
    cells
}
