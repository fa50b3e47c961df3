use super::traffic::{self, Chosen, Sorted};
use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use helenus_explain::{
    Engine, LatencyCell, SlowRequest, StatementDetail, StatementFigures, statement_detail, statement_traffic,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Show calls, time, rows and errors of each statement
///
/// How often each statement of the clients ran, how long it took, what it returned, and how it failed.
///
/// Shows the requests on the wire, whatever driver sent them, of running nodes or of recordings (`helenus record`), and
/// those of a recorded load. Statements have ? for their values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus statements --node 127.0.0.1
  helenus statements --node 127.0.0.1 --watch --sort p99
  helenus statements --node 127.0.0.1 --statement 1
  helenus record --node 127.0.0.1 --for 30s -o node.helenus && helenus statements node.helenus
  helenus statements node.helenus --contains orders --client 10.0.0.17
  helenus statements node.helenus --json | jq '.rows[0].statement'")]
pub struct Arguments {
    #[command(flatten)]
    pub chosen: Chosen,
    #[command(flatten)]
    sorted: Sorted,
    /// One statement in detail, by its number in the list or by a text that no other has: its latencies and slowest requests
    #[arg(long, value_name = "NUMBER|TEXT")]
    statement: Option<String>,
}

/// A statement with all that is known of it.
#[derive(Debug, Serialize)]
struct Detailed<'a> {
    #[serde(flatten)]
    figures: &'a StatementFigures,
    #[serde(flatten)]
    detail: &'a StatementDetail,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    chosen.each(|engine| match &arguments.statement {
        None => {
            let table = statement_traffic(engine, &chosen.filter()?)?;
            traffic::show(chosen, &arguments.sorted, table, "statements", |row| &row.figures, print)
        }
        Some(wanted) => show_one(engine, chosen, &arguments.sorted, wanted),
    })
}

fn print(rows: &[StatementFigures]) {
    let head: Vec<&str> = ["#"].into_iter().chain(traffic::HEAD).chain(["rows", "answer", "errors"]).collect();
    let lines: Vec<Vec<String>> = rows.iter().enumerate().map(|(place, row)| line(place + 1, row)).collect();
    let statements: Vec<String> = rows.iter().map(|row| row.operation.clone()).collect();
    traffic::print(&head, &lines, ("statement", &statements));
    for row in rows.iter().filter(|row| !row.errors_by_outcome.is_empty()) {
        terminal::print(format_args!("errors of {}: {}", row.operation, counted(&row.errors_by_outcome)));
    }
}

fn line(number: usize, row: &StatementFigures) -> Vec<String> {
    let mut cells = vec![number.to_string()];
    cells.extend(traffic::cells(&row.figures));
    let mean = row.rows_returned.filter(|_| row.figures.requests > 0);
    let mean = mean.map(|rows| rows as f64 / row.figures.requests as f64);
    cells.push(mean.map_or_else(traffic::nothing, |rows| format!("{rows:.1}")));
    cells.extend([traffic::answer(&row.figures), traffic::errors(&row.figures)]);
    cells
}

fn counted(counts: &BTreeMap<String, i64>) -> String {
    counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

fn show_one(engine: &Engine, chosen: &Chosen, sorted: &Sorted, wanted: &str) -> Result<()> {
    let mut table = statement_traffic(engine, &chosen.filter()?)?;
    table.rows = sorted.sorted(table.rows, |row| &row.figures);
    let figures = find(&table.rows, wanted)?;
    let detail = statement_detail(engine, &figures.operation, &chosen.filter()?)?;
    if chosen.is_json() {
        return chosen.print_json(&Detailed { figures, detail: &detail });
    }
    print_one(figures, &detail);
    terminal::talk(terminal::dim(traffic::source(&table)));
    Ok(())
}

fn find<'a>(rows: &'a [StatementFigures], wanted: &str) -> Result<&'a StatementFigures> {
    if let Ok(number) = wanted.parse::<usize>() {
        let row = number.checked_sub(1).and_then(|place| rows.get(place));
        return row.ok_or_else(|| anyhow::anyhow!("there is no statement {number}; {} were seen", rows.len()));
    }
    let text = |row: &StatementFigures| format!("{} {}", row.operation, row.statement.as_deref().unwrap_or_default());
    let has = |row: &&StatementFigures| text(row).to_lowercase().contains(&wanted.to_lowercase());
    let found: Vec<&StatementFigures> = rows
        .iter()
        .find(|row| row.operation == wanted)
        .map_or_else(|| rows.iter().filter(has).collect(), |row| vec![row]);
    match found.as_slice() {
        [one] => Ok(one),
        [] => bail!("no statement has {wanted:?} in it; {} were seen", rows.len()),
        many => {
            bail!("{} statements have {wanted:?} in them: give more of the text, or its number in the list", many.len())
        }
    }
}

fn print_one(row: &StatementFigures, detail: &StatementDetail) {
    terminal::print(terminal::bold(&row.operation));
    if let Some(statement) = row.statement.as_ref().filter(|statement| **statement != row.operation) {
        terminal::print(statement);
    }
    let table = [&row.keyspace, &row.table].into_iter().flatten().cloned().collect::<Vec<_>>().join(".");
    let figures = &row.figures;
    let known = |text: String| Some(text).filter(|text| !text.is_empty());
    let facts = [
        ("kind", row.kind.clone()),
        ("table", known(table)),
        ("calls", Some(format!("{} ({:.1} per second)", figures.requests, figures.requests_per_s))),
        ("time", Some(format!("{:.1} % of the time of all requests", figures.time_share * 100.0))),
        (
            "latency",
            Some(format!("p50 {:.2} ms, p99 {:.2} ms, max {:.1} ms", figures.p50_ms, figures.p99_ms, figures.max_ms)),
        ),
        ("rows", row.rows_returned.map(|rows| format!("{rows}, at most {}", row.most_rows.unwrap_or_default()))),
        ("further pages", row.further_pages.filter(|pages| *pages > 0).map(|pages| pages.to_string())),
        (
            "answers",
            row.largest_response_bytes
                .map(|most| format!("{} on average, at most {}", traffic::answer(figures), terminal::bytes(most))),
        ),
        ("consistency", known(counted(&row.consistency))),
        ("errors", known(counted(&row.errors_by_outcome))),
        ("clients", Some(row.clients).filter(|clients| *clients > 0).map(|clients| clients.to_string())),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            terminal::print(format_args!("{name:<14} {fact}"));
        }
    }
    terminal::print("");
    print_histogram(&detail.histogram);
    terminal::print("");
    let head = ["slowest at", "ms", "rows", "answer", "client", "node", "outcome"];
    terminal::print(
        terminal::table(&head, detail.slowest.iter().map(slow_line), 7)
            .aligned_right([false, true, true, true, false, false, false]),
    );
}

fn print_histogram(cells: &[LatencyCell]) {
    const WIDEST: f64 = 40.0;
    let most = cells.iter().map(|cell| cell.requests).max().unwrap_or(1).max(1) as f64;
    let rows = cells.iter().map(|cell| {
        let length = (cell.requests as f64 / most * WIDEST).ceil() as usize;
        vec![format!("{:.3}", cell.from_ms), cell.requests.to_string(), "█".repeat(length)]
    });
    terminal::print(terminal::table(&["from ms", "calls", ""], rows, 3).aligned_right([true, true, false]));
}

fn slow_line(request: &SlowRequest) -> Vec<String> {
    let client = match request.client.as_str() {
        "" => "load driver".to_string(),
        client => format!("{client}:{}", request.client_port),
    };
    let time = chrono::DateTime::from_timestamp_nanos(request.start_ns).with_timezone(&chrono::Local);
    vec![
        time.format("%H:%M:%S%.3f").to_string(),
        format!("{:.2}", request.response_ms),
        request.rows_returned.map_or_else(traffic::nothing, |rows| rows.to_string()),
        request.response_bytes.map_or_else(traffic::nothing, terminal::bytes),
        client,
        request.node.clone(),
        request.outcome.clone(),
    ]
}
