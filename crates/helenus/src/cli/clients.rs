use super::traffic::{self, Chosen, Sorted};
use anyhow::Result;
use clap::Args;
use helenus_explain::{ClientFigures, client_traffic};
use std::process::ExitCode;

/// Show connections, requests, times and errors of each client host
///
/// Shows the requests on the wire, whatever driver sent them, of running nodes or of recordings (`helenus record`), and
/// those of a recorded load.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus clients --node 127.0.0.1
  helenus clients --node 127.0.0.1 --watch --sort errors
  helenus record --node 127.0.0.1 --for 30s -o node.helenus && helenus clients node.helenus
  helenus clients node.helenus --contains orders --json")]
pub struct Arguments {
    #[command(flatten)]
    pub chosen: Chosen,
    #[command(flatten)]
    sorted: Sorted,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    chosen.each(|engine| {
        let table = client_traffic(engine, &chosen.filter()?)?;
        traffic::show(chosen, &arguments.sorted, table, "clients", |row| &row.figures, print)
    })
}

fn print(rows: &[ClientFigures]) {
    let more = ["errors", "in flight", "conn.", "to replica", "answer", "stmts"];
    let head: Vec<&str> = ["client"].into_iter().chain(traffic::HEAD).chain(more).collect();
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    let drivers: Vec<String> = rows.iter().map(|row| row.drivers.join(", ")).collect();
    traffic::print(&head, &lines, ("driver", &drivers));
}

fn line(row: &ClientFigures) -> Vec<String> {
    let client = if row.client.is_empty() { "load driver".to_string() } else { row.client.clone() };
    let mut cells = vec![client];
    cells.extend(traffic::cells(&row.figures));
    cells.extend([traffic::errors(&row.figures), format!("{:.2}", row.in_flight), row.connections.to_string()]);
    let to_replica = row.to_replica_share.map(|share| format!("{:.1} %", share * 100.0));
    cells.extend([to_replica.unwrap_or_else(traffic::nothing), traffic::answer(&row.figures)]);
    cells.push(row.statements.to_string());
    cells
}
