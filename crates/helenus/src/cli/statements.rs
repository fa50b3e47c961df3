use super::traffic::{self, Chosen};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_explain::{StatementFigures, statement_traffic};
use std::process::ExitCode;

/// Show what each statement of the clients took: how often, how long, how much it returned, and how it failed
///
/// Of the requests on the wire, whatever driver sent them (`helenus record --wire on`), or of a load. Statements have ? for
/// their values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --wire on --for 30s -o node.helenus && helenus statements node.helenus
  helenus statements node.helenus --sort p99 --limit 5
  helenus statements node.helenus --contains orders --client 10.0.0.17
  helenus statements node.helenus --json | jq '.rows[0].statement'")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    let engine = chosen.engine()?;
    let mut traffic = statement_traffic(&engine, &chosen.filter())?;
    let all = traffic.rows.len();
    traffic.rows = chosen.arrange(traffic.rows, |row| &row.figures);
    if chosen.json {
        terminal::json(&traffic)?;
        return Ok(ExitCode::SUCCESS);
    }
    if all == 0 {
        terminal::warn("there is no such request in the recording: record with --wire on, or ask for less");
        return Ok(ExitCode::SUCCESS);
    }
    let head: Vec<&str> = ["statement", "kind"].into_iter().chain(traffic::HEAD).chain(["clients"]).collect();
    terminal::print(terminal::table(&head, traffic.rows.iter().map(line), 2));
    for row in traffic.rows.iter().filter(|row| !row.errors_by_outcome.is_empty()) {
        let errors: Vec<String> =
            row.errors_by_outcome.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        terminal::print(format_args!("errors of {}: {}", row.operation, errors.join(", ")));
    }
    let shown = traffic.rows.len();
    let more = if shown < all { format!("; {shown} of {all} statements, --limit shows more") } else { String::new() };
    terminal::talk(terminal::dim(format_args!("{}{more}", traffic::source(traffic.provider, traffic.seconds))));
    Ok(ExitCode::SUCCESS)
}

fn line(row: &StatementFigures) -> Vec<String> {
    let mut cells = vec![row.operation.clone(), row.kind.clone().unwrap_or_else(|| "–".to_string())];
    cells.extend(traffic::cells(&row.figures));
    cells.push(if row.clients == 0 { "–".to_string() } else { row.clients.to_string() });
    cells
}
