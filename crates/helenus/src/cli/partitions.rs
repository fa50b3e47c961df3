use super::traffic::{self, Chosen};
use crate::terminal;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{
    Engine, PartitionFigures, PartitionMeasure, PartitionTraffic, TableSkew, TrafficFilter, partition_traffic,
};
use helenus_observe::Keys;
use std::process::ExitCode;

/// The fewest columns; if even these do not fit, the table is split into bands instead.
const FEWEST_COLUMNS: usize = 5;

/// Show the busiest partitions of each table, and how uneven its load is
///
/// A partition is known where the client binds its key to a prepared statement (protocol version 4 or later, Murmur3Partitioner).
/// Partitions go by their tokens, as of `SELECT token(key)`; keys are shown with --keys, and never recorded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus partitions --node 127.0.0.1
  helenus partitions --node 127.0.0.1 --watch --keys
  helenus partitions --node 127.0.0.1 --for 60s --table shop.orders --by time
  helenus record --node 127.0.0.1 --for 30s -o node.helenus && helenus partitions node.helenus
  helenus partitions node.helenus --by bytes --json | jq '.rows[0].token'")]
pub struct Arguments {
    #[command(flatten)]
    pub chosen: Chosen,
    /// The measure that partitions are ranked by, and that the shares of the busiest are of
    #[arg(long, value_enum, default_value_t = SortBy::Count)]
    by: SortBy,
    /// Only this table, such as shop.orders
    #[arg(long, value_name = "[KEYSPACE.]TABLE")]
    table: Option<String>,
    /// Show the keys of partitions of a running node, which may be personal data. The keys stay in the memory of this
    /// command
    #[arg(long, conflicts_with = "recordings")]
    keys: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortBy {
    /// Requests
    Count,
    /// Total time of the partition's requests
    Time,
    /// Bytes of requests and answers
    Bytes,
}

impl From<SortBy> for PartitionMeasure {
    fn from(by: SortBy) -> PartitionMeasure {
        match by {
            SortBy::Count => PartitionMeasure::Count,
            SortBy::Time => PartitionMeasure::Time,
            SortBy::Bytes => PartitionMeasure::Bytes,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = &arguments.chosen;
    if chosen.limit() == 0 {
        bail!("--limit 0 shows no partition; give 1 or more");
    }
    let filter = TrafficFilter { table: arguments.table.clone(), ..chosen.filter()? };
    let keys = arguments.keys.then(Keys::default);
    chosen.each_with(keys.clone(), |engine| show(engine, chosen, &filter, arguments.by.into(), keys.as_ref()))
}

fn show(
    engine: &Engine,
    chosen: &Chosen,
    filter: &TrafficFilter,
    by: PartitionMeasure,
    keys: Option<&Keys>,
) -> Result<()> {
    let mut traffic = partition_traffic(engine, filter, by, chosen.limit())?;
    if let Some(keys) = keys {
        traffic.rows.iter_mut().for_each(|row| row.key = keys.text(row.token));
    }
    if chosen.is_json() {
        return chosen.print_json(&traffic);
    }
    if traffic.requests == 0 {
        traffic::warn_of_none();
        return Ok(());
    }
    let left_out = print(&traffic, keys.is_some());
    if traffic.without_token < traffic.requests {
        terminal::talk(terminal::dim(legend(by)));
    }
    if !left_out.is_empty() {
        terminal::talk(terminal::dim(format_args!(
            "not shown for lack of room: {}; --json has all",
            left_out.join(", ")
        )));
    }
    terminal::talk(terminal::dim(traffic::source_of(traffic.provider, traffic.seconds, traffic.weight)));
    Ok(())
}

/// Returns the headings of the columns that had no room.
fn print(traffic: &PartitionTraffic, has_keys: bool) -> Vec<String> {
    let mut left_out = Vec::new();
    let known: Vec<&TableSkew> = traffic.tables.iter().filter(|table| table.partitions > 0).collect();
    if !known.is_empty() {
        let head = ["table", "requests", "partitions", "top 1", "top 10", "top 100", "skew", "unknown"];
        let (table, without) = terminal::table(&head, known.into_iter().map(table_line), 1).narrowed(FEWEST_COLUMNS);
        terminal::print(table);
        left_out.extend(without);
        terminal::print("");
        let which = if has_keys { "key" } else { "token" };
        let head =
            ["#", "table", which, "requests", "of table", "of time", "p99 ms", "bytes", "clients", "reads", "writes"];
        let lines = traffic.rows.iter().enumerate().map(|(place, row)| line(place + 1, row, has_keys));
        let right = [true, false, !has_keys].into_iter().chain(std::iter::repeat_n(true, head.len() - 3));
        let (table, without) = terminal::table(&head, lines, 2).aligned_right(right).narrowed(FEWEST_COLUMNS);
        terminal::print(table);
        left_out.extend(without);
    }
    if traffic.without_token > 0 {
        terminal::warn(format_args!(
            "the partitions of {} of {} requests are unknown: these requests bind no partition key to a prepared statement, ask for \
             several partitions, or use a statement that Helenus did not see being prepared",
            traffic.without_token, traffic.requests
        ));
    }
    left_out
}

/// Explains the columns whose headings are not clear by themselves.
fn legend(by: PartitionMeasure) -> String {
    let what = match by {
        PartitionMeasure::Count => "requests",
        PartitionMeasure::Time => "time",
        PartitionMeasure::Bytes => "bytes",
    };
    format!(
        "top 1, 10 and 100: share of the table's {what} that so many of its busiest partitions have; skew: the busiest one's {what} \
         against an even share (1 = even)"
    )
}

fn table_line(table: &TableSkew) -> Vec<String> {
    let mut cells = vec![name(&table.keyspace, &table.table)];
    cells.extend([table.requests, table.partitions].map(|count| count.to_string()));
    cells.extend([table.top_1_share, table.top_10_share, table.top_100_share].map(percent));
    cells.push(table.skew.map_or_else(traffic::nothing, |skew| format!("{skew:.1}")));
    cells.push(match table.without_token {
        0 => traffic::nothing(),
        unknown => unknown.to_string(),
    });
    cells
}

fn line(number: usize, row: &PartitionFigures, has_keys: bool) -> Vec<String> {
    let figures = &row.figures;
    let token = row.token.to_string();
    let which = if has_keys { row.key.clone().unwrap_or(format!("token {token}")) } else { token };
    let bytes = [figures.request_bytes, figures.response_bytes].into_iter().flatten().reduce(|one, other| one + other);
    vec![
        number.to_string(),
        name(&row.keyspace, &row.table),
        which,
        figures.requests.to_string(),
        percent(row.requests_share),
        percent(figures.time_share),
        format!("{:.2}", figures.p99_ms),
        bytes.map_or_else(traffic::nothing, terminal::bytes),
        row.clients.to_string(),
        row.reads.to_string(),
        row.writes.to_string(),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn name(keyspace: &str, table: &str) -> String {
    match (keyspace, table) {
        ("", "") => "unknown".to_string(),
        ("", table) => table.to_string(),
        (keyspace, table) => format!("{keyspace}.{table}"),
    }
}
