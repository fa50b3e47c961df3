use super::traffic::{self, Chosen};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_explain::{ClientFigures, client_traffic};
use std::process::ExitCode;

/// Show what each client host asked: connections, how many requests, how long they took, and how they failed
///
/// Of the requests on the wire, whatever driver sent them (`helenus record`), or of a load.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --for 30s -o node.helenus && helenus clients node.helenus
  helenus clients node.helenus --sort errors
  helenus clients node.helenus --contains orders --json")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    let table = client_traffic(&chosen.engine()?, &chosen.filter())?;
    traffic::show(chosen, table, "clients", |row| &row.figures, print)
}

fn print(rows: &[ClientFigures]) {
    let head: Vec<&str> =
        ["client"].into_iter().chain(traffic::HEAD).chain(["connections", "nodes", "statements"]).collect();
    terminal::print(terminal::table(&head, rows.iter().map(line), 1));
}

fn line(row: &ClientFigures) -> Vec<String> {
    let mut cells = vec![if row.client.is_empty() { "load driver".to_string() } else { row.client.clone() }];
    cells.extend(traffic::cells(&row.figures));
    cells.extend([row.connections, row.nodes, row.statements].map(|count| count.to_string()));
    cells
}
