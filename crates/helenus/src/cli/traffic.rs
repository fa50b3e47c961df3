//! The figures that the lines of `statements` and `clients` share.

use super::opened::opened;
use crate::terminal;
use anyhow::Result;
use clap::{Args, ValueEnum};
use helenus_explain::{Engine, Provider, SAMPLED, TrafficFigures, TrafficFilter, TrafficTable};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Chosen {
    /// One recording or more
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// Of this client host alone
    #[arg(long, value_name = "ADDRESS")]
    client: Option<String>,
    /// Requests to this node alone
    #[arg(long, value_name = "ADDRESS")]
    node: Option<String>,
    /// Of statements with this text in them alone, in any case
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// The order of the lines, the largest first
    #[arg(long, value_enum, default_value_t = Order::Time)]
    sort: Order,
    /// Lines to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// Everything as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// All time that its requests took
    Time,
    Requests,
    P50,
    P99,
    Max,
    Bytes,
    Errors,
}

impl Chosen {
    pub fn engine(&self) -> Result<Engine> {
        opened(&self.recordings)
    }

    pub fn filter(&self) -> TrafficFilter {
        TrafficFilter { contains: self.contains.clone(), client: self.client.clone(), node: self.node.clone() }
    }

    /// In the order that is asked for, and no more than are asked for.
    fn arrange<T>(&self, mut rows: Vec<T>, figures: impl Fn(&T) -> &TrafficFigures) -> Vec<T> {
        let weight = |row: &T| {
            let figures = figures(row);
            match self.sort {
                Order::Time => figures.total_ms,
                Order::Requests => figures.requests as f64,
                Order::P50 => figures.p50_ms,
                Order::P99 => figures.p99_ms,
                Order::Max => figures.max_ms,
                Order::Bytes => figures.response_bytes.unwrap_or_default() as f64,
                Order::Errors => figures.errors as f64,
            }
        };
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        rows.truncate(self.limit);
        rows
    }
}

pub const HEAD: [&str; 7] = ["requests/s", "of time", "p50 ms", "p99 ms", "max ms", "answer", "errors"];

pub fn cells(figures: &TrafficFigures) -> Vec<String> {
    let mean = figures.response_bytes.filter(|_| figures.requests > 0).map(|bytes| bytes / figures.requests);
    vec![
        format!("{:.1}", figures.requests_per_s),
        format!("{:.1} %", figures.time_share * 100.0),
        format!("{:.2}", figures.p50_ms),
        format!("{:.2}", figures.p99_ms),
        format!("{:.1}", figures.max_ms),
        mean.map_or_else(|| "–".to_string(), crate::terminal::bytes),
        if figures.errors == 0 { "–".to_string() } else { figures.errors.to_string() },
    ]
}

/// Shows a table of traffic with a line for each of `what`.
pub fn show<T: Serialize>(
    chosen: &Chosen,
    mut table: TrafficTable<T>,
    what: &str,
    figures: impl Fn(&T) -> &TrafficFigures,
    print: impl FnOnce(&[T]),
) -> Result<ExitCode> {
    let all = table.rows.len();
    table.rows = chosen.arrange(table.rows, figures);
    if chosen.json {
        terminal::json(&table)?;
    } else if all == 0 {
        terminal::warn("there is no such request in the recording: record as root or with the agent, or ask for less");
    } else {
        print(&table.rows);
        let shown = table.rows.len();
        let more = if shown < all { format!("; {shown} of {all} {what}, --limit shows more") } else { String::new() };
        terminal::talk(terminal::dim(format_args!("{}{more}", source(&table))));
    }
    Ok(ExitCode::SUCCESS)
}

/// The source of the figures, and the time that they are of.
fn source<T>(table: &TrafficTable<T>) -> String {
    let provider = table.provider;
    let more = if provider == Provider::Load { ", warm-up and populating included" } else { "" };
    let sampled = match table.weight {
        weight if weight > SAMPLED => format!(
            "; to bound the cost some connections were not followed, and a recorded request counts for {weight:.1} on average"
        ),
        _ => String::new(),
    };
    format!("{:.1} s of {}{more}{sampled}", table.seconds, provider.meaning())
}
