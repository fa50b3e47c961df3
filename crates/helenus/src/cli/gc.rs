use super::live::{self, Sources};
use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use helenus_explain::{Engine, GcFigures, NodeGc, gc};
use std::process::ExitCode;
use std::time::Duration;

/// Show collections, pauses, allocation and what stayed in the heap
///
/// Works on recordings and on running nodes.
///
/// A line for each interval, as jstat -gcutil prints them, and one for all. Allocated: the growth of the heap from one collection to
/// the next. Promoted: how much fuller the heap is after a young collection than after the one before.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus gc --node 127.0.0.1
  helenus gc --node 127.0.0.1 --for 5s --watch
  helenus record --node 127.0.0.1 --for 60s -o node.helenus && helenus gc node.helenus
  helenus gc --node 10.0.0.7 --jmx 10.0.0.7:7199
  helenus gc node.helenus --interval 1s
  helenus gc node.helenus --json | jq '.[].whole.paused_share'")]
pub struct Arguments {
    #[command(flatten)]
    pub sources: Sources,
    /// Length of an interval
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = super::duration)]
    interval: Duration,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.interval < Duration::from_millis(100) {
        bail!("--interval {:?} is too short to tell anything: give 100ms or more", arguments.interval);
    }
    let interval_ns = i64::try_from(arguments.interval.as_nanos())?;
    arguments.sources.each(arguments.json, |engine| show(engine, interval_ns, &arguments))?;
    Ok(ExitCode::SUCCESS)
}

fn show(engine: &Engine, interval_ns: i64, arguments: &Arguments) -> Result<()> {
    let nodes = gc(engine, interval_ns)?;
    if arguments.json {
        match arguments.sources.is_watching() {
            true => terminal::json_line(&nodes.iter().map(live::timed).collect::<Vec<_>>())?,
            false => terminal::json(&nodes)?,
        }
        return Ok(());
    }
    if nodes.is_empty() {
        terminal::warn("no collection was seen: there was none in that time, or nobody looked (--no-agent)");
    }
    for node in nodes {
        terminal::print(format_args!("{}: {}", node.node, node.collectors.join(", ")));
        let rows = node.intervals.iter().map(|figures| line(&format!("{:.1}", figures.start_s), figures));
        let rows: Vec<Vec<String>> = rows.chain([line("all", &node.whole)]).collect();
        terminal::print(terminal::table(&HEAD, rows, 1));
        terminal::print(terminal::dim(source(&node)));
    }
    Ok(())
}

fn source(node: &NodeGc) -> String {
    match node.providers.is_empty() {
        true => "source: the recording does not say".to_string(),
        false => format!("source: the JVM's own account of each collection ({})", node.providers.join(", ")),
    }
}

const HEAD: [&str; 11] = [
    "from s",
    "young/s",
    "old/s",
    "full",
    "paused",
    "of time",
    "p50 ms",
    "max ms",
    "allocated/s",
    "stayed/s",
    "heap after",
];

fn line(name: &str, figures: &GcFigures) -> Vec<String> {
    let nothing = || "–".to_string();
    let per_s = |count: usize| if count == 0 { nothing() } else { format!("{:.2}", count as f64 / figures.length_s) };
    let time = |ms: Option<f64>| ms.map_or_else(nothing, |ms| format!("{ms:.1}"));
    let rate = |bytes: Option<f64>| bytes.map_or_else(nothing, |bytes| terminal::bytes(bytes as i64));
    vec![
        name.to_string(),
        per_s(figures.young),
        per_s(figures.old),
        if figures.full == 0 { nothing() } else { figures.full.to_string() },
        format!("{:.0} ms", figures.paused_ms),
        format!("{:.1} %", figures.paused_share * 100.0),
        time(figures.pause_p50_ms),
        time(figures.pause_max_ms),
        rate(figures.allocated_bytes_per_s),
        rate(figures.kept_bytes_per_s),
        figures.heap_after_bytes.map_or_else(nothing, terminal::bytes),
    ]
}
