//! The figures that `statements`, `clients` and `partitions` have in common.

use super::live::{self, Sources};
use super::nodes;
use crate::terminal;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{Engine, Provider, SAMPLED, TrafficFigures, TrafficFilter, TrafficTable};
use helenus_observe::Keys;
use serde::Serialize;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How long a running node is recorded, for a single reading or for each of several.
const ONCE: Duration = Duration::from_secs(10);
const READING: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub struct Chosen {
    /// One or more recordings
    #[arg(value_name = "RECORDING", required_unless_present = "nodes")]
    recordings: Vec<PathBuf>,
    /// Without recordings: a running node on this machine, by its CQL address (repeatable, for a ring). With
    /// recordings: only requests to this node
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// How long to listen to a node [default: 10s, with --watch 3s]
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration, conflicts_with = "recordings")]
    lasts: Option<Duration>,
    /// Listen again and again, until Ctrl-C
    #[arg(long, conflicts_with = "recordings")]
    watch: bool,
    /// Only requests of this client host
    #[arg(long, value_name = "ADDRESS")]
    client: Option<IpAddr>,
    /// Only statements that contain this text, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// Lines to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// Everything as JSON; with --watch one line for each time
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Sorted {
    /// The order of the lines, the largest first
    #[arg(long, value_enum, default_value_t = Order::Time)]
    sort: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Total time of the requests
    Time,
    Requests,
    P50,
    P99,
    Max,
    Bytes,
    Errors,
}

impl Chosen {
    pub fn reads_recordings(&self) -> bool {
        !self.recordings.is_empty()
    }

    /// Opens the recordings, or listens to nodes, and passes the result on: once, or with --watch until it is
    /// cancelled.
    pub fn each(&self, show: impl FnMut(&Engine) -> Result<()>) -> Result<ExitCode> {
        self.each_with(None, show)
    }

    /// Like [`Chosen::each`], but `keys` receives the texts of partition keys.
    pub fn each_with(&self, keys: Option<Keys>, show: impl FnMut(&Engine) -> Result<()>) -> Result<ExitCode> {
        let lives = self.recordings.is_empty();
        if !lives && self.nodes.len() > 1 {
            bail!("only one --node can be asked for in recordings");
        }
        let nodes = if lives { self.nodes.clone() } else { Vec::new() };
        let lasts = self.lasts.unwrap_or(if self.watch { READING } else { ONCE });
        Sources::of_requests(self.recordings.clone(), nodes, lasts, self.watch, keys).each(self.json, show)?;
        Ok(ExitCode::SUCCESS)
    }

    pub fn filter(&self) -> Result<TrafficFilter> {
        let node = self.nodes.first().filter(|_| !self.recordings.is_empty());
        Ok(TrafficFilter {
            contains: self.contains.clone(),
            client: self.client.map(|client| client.to_string()),
            node: node.map(|node| nodes::host(node)).transpose()?,
            ..TrafficFilter::default()
        })
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn print_json(&self, shown: &impl Serialize) -> Result<()> {
        match self.watch {
            true => terminal::json_line(&live::timed(shown))?,
            false => terminal::json(shown)?,
        }
        Ok(())
    }

    pub fn is_json(&self) -> bool {
        self.json
    }
}

impl Sorted {
    /// Sorts rows in the requested order.
    pub fn sorted<T>(&self, mut rows: Vec<T>, figures: impl Fn(&T) -> &TrafficFigures) -> Vec<T> {
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
        rows
    }
}

/// The fewest columns; if even these do not fit, the table is split into bands instead.
const FEWEST_COLUMNS: usize = 4;

pub const HEAD: [&str; 5] = ["calls/s", "of time", "p50 ms", "p99 ms", "max ms"];

pub fn cells(figures: &TrafficFigures) -> Vec<String> {
    vec![
        format!("{:.1}", figures.requests_per_s),
        format!("{:.1} %", figures.time_share * 100.0),
        format!("{:.2}", figures.p50_ms),
        format!("{:.2}", figures.p99_ms),
        format!("{:.1}", figures.max_ms),
    ]
}

/// Prints lines of figures with a text for each. If there is no room for the text in the last column, it has a line of its
/// own below the figures, cut to the terminal, and so have figures without room.
pub fn print(head: &[&str], lines: &[Vec<String>], (name, texts): (&str, &[String])) {
    let whole = lines.iter().zip(texts).map(|(line, text)| [line.as_slice(), std::slice::from_ref(text)].concat());
    let right = [false].into_iter().chain(std::iter::repeat_n(true, head.len() - 1)).chain([false]);
    let whole = terminal::table(&[head, &[name]].concat(), whole, 1).aligned_right(right);
    if whole.fits() {
        return terminal::print(whole);
    }
    let (table, left_out) = terminal::table(head, lines.iter().cloned(), 1).narrowed(FEWEST_COLUMNS);
    if !table.fits() {
        return terminal::print(whole);
    }
    let shown = head.len() - left_out.len();
    let notes: Vec<Vec<String>> = lines
        .iter()
        .zip(texts)
        .map(|(line, text)| {
            let more = head.iter().zip(line).skip(shown).map(|(head, cell)| format!("{head} {cell}"));
            let more = more.collect::<Vec<_>>().join(", ");
            [text.clone(), more].into_iter().filter(|note| !note.is_empty()).collect()
        })
        .collect();
    terminal::print(table.noted(&notes));
}

/// Mean size of the answers.
pub fn answer(figures: &TrafficFigures) -> String {
    let mean = figures.response_bytes.filter(|_| figures.requests > 0).map(|bytes| bytes / figures.requests);
    mean.map_or_else(nothing, terminal::bytes)
}

pub fn errors(figures: &TrafficFigures) -> String {
    if figures.errors == 0 { nothing() } else { figures.errors.to_string() }
}

pub fn nothing() -> String {
    "–".to_string()
}

/// Shows a table of traffic with a line for each of `what`.
pub fn show<T: Serialize>(
    chosen: &Chosen,
    sorted: &Sorted,
    mut table: TrafficTable<T>,
    what: &str,
    figures: impl Fn(&T) -> &TrafficFigures,
    print: impl FnOnce(&[T]),
) -> Result<()> {
    let all = table.rows.len();
    table.rows = sorted.sorted(table.rows, figures);
    table.rows.truncate(chosen.limit);
    if chosen.json {
        chosen.print_json(&table)?;
    } else if all == 0 {
        warn_of_none();
    } else {
        print(&table.rows);
        let shown = table.rows.len();
        let more = if shown < all { format!("; {shown} of {all} {what}, --limit shows more") } else { String::new() };
        terminal::talk(terminal::dim(format_args!("{}{more}", source(&table))));
    }
    Ok(())
}

pub fn warn_of_none() {
    terminal::warn(
        "no request matches: check the filters, such as --client, and whether clients sent requests meanwhile; \
         Helenus sees them as root or as the node's user (`helenus doctor` says what works here)",
    );
}

/// A line with the source of the figures and their time.
pub fn source<T>(table: &TrafficTable<T>) -> String {
    source_of(table.provider, table.seconds, table.weight)
}

pub fn source_of(provider: Provider, seconds: f64, weight: f64) -> String {
    let more = if provider == Provider::Load { ", warm-up and populating included" } else { "" };
    let sampled = match weight {
        weight if weight > SAMPLED => format!(
            "; to bound the cost some connections were not followed, and a recorded request counts for {weight:.1} on average"
        ),
        _ => String::new(),
    };
    format!("{seconds:.1} s of {}{more}{sampled}", provider.meaning())
}
