use super::target::{TargetArguments, say_log};
use crate::{interrupt, terminal};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_cassandra::Cancel;
use helenus_control::{Calls, Link, Model, Probe, ProbeOptions};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Meter calls and own time at points of a running node
///
/// Calls, total and own time, mean and longest call.
///
/// Total time is that of the calls; own (inherent) time is without the callees that are metered themselves. Probes that cost
/// more than they tell are switched off by themselves, so that all of them stay below --bound. At the end, at Ctrl-C or
/// after --for, the node's classes are as they were. The node has to be ready, as those of `helenus up --ready` are, or take
/// --cold.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus probes --node 127.0.0.1
  helenus probes --node 127.0.0.1 --for 30s --sort total --by-group
  helenus probes --node 127.0.0.1 --at lwt --at 'StorageProxy.mutate*' --cpu --json
  helenus probes --node 127.0.0.1 --for 60s & helenus record --node 127.0.0.1 --for 60s")]
pub struct Arguments {
    #[command(flatten)]
    target: TargetArguments,
    /// A point, by name or pattern (may be given again); all that the node's release names, unless said
    #[arg(long, value_name = "POINT")]
    at: Vec<String>,
    /// Methods that each pattern may stand for [default: 50]
    #[arg(long, value_name = "N")]
    at_most: Option<u32>,
    /// How long
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    lasts: Option<Duration>,
    /// Interval between readings
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = super::duration)]
    interval: Duration,
    /// Column to sort by
    #[arg(long, value_name = "COLUMN", default_value = "own")]
    sort: Sort,
    /// A line for each thread group
    #[arg(long)]
    by_group: bool,
    /// CPU time of each call too; a microsecond a call
    #[arg(long)]
    cpu: bool,
    /// Also measure the allocated bytes of each call
    #[arg(long)]
    allocation: bool,
    /// Largest overhead of metering, in % of all CPUs
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    bound: f64,
    /// Proceed even if this deoptimizes the whole JVM: a busy node is slow for about a minute (see `helenus agent`)
    #[arg(long)]
    cold: bool,
    /// The whole model as JSON at the end, and no table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Time without metered callees
    #[value(alias = "inherent")]
    Own,
    Total,
    Mean,
    Calls,
}

/// A line of the table.
#[derive(Debug, Clone, Default)]
struct Line {
    calls: i64,
    failed: i64,
    total_ns: i64,
    own_ns: i64,
    max_ns: i64,
    cpu_ns: Option<i64>,
    allocated_bytes: Option<i64>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !(arguments.bound > 0.0 && arguments.bound <= 100.0) {
        bail!("--bound is a share of all CPUs in percent: more than 0 and at most 100");
    }
    let cancel = interrupt::cancel_on_signals()?;
    let mut link = arguments.target.link()?;
    let options = ProbeOptions {
        at: arguments.at.clone(),
        at_most: arguments.at_most,
        cpu: arguments.cpu,
        allocation: arguments.allocation,
        bound_percent: Some(arguments.bound),
        threshold_ns: None,
        cold: arguments.cold,
    };
    let points = link.start_probes(&options)?;
    terminal::done(format_args!("{} points are metered", points.len()));
    // The probes are removed even if watching fails.
    let watched = watch(arguments, &mut link, &cancel);
    let model = link.stop_probes();
    say_log(&mut link);
    watched?;
    let model = model?;
    if arguments.json {
        terminal::json(&model)?;
    } else {
        terminal::print(picture(arguments, &model));
        say(&model);
    }
    Ok(ExitCode::SUCCESS)
}

/// Redraws the model on a terminal until the time is over.
fn watch(arguments: &Arguments, link: &mut Link, cancel: &Cancel) -> Result<()> {
    let started = Instant::now();
    let live = !arguments.json && std::io::stdout().is_terminal();
    let mut shown = Instant::now();
    while !cancel.is_cancelled() && arguments.lasts.is_none_or(|lasts| started.elapsed() < lasts) {
        std::thread::sleep(super::POLL_EVERY);
        if shown.elapsed() < arguments.interval {
            continue;
        }
        shown = Instant::now();
        // Read even if nothing is drawn, to notice that the node has ended.
        let Some(model) = link.read_probes()? else { bail!("somebody else has stopped the probes") };
        if live {
            // Redraw from the top left, and clear the rest.
            terminal::clear();
            terminal::print(picture(arguments, &model));
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

fn picture(arguments: &Arguments, model: &Model) -> terminal::Table {
    let mut lines: Vec<(&Probe, String, Line)> =
        model.probes.iter().flat_map(|probe| lines(arguments, probe)).collect();
    lines.retain(|(_, _, line)| line.calls > 0);
    lines.sort_by_key(|(_, _, line)| {
        std::cmp::Reverse(match arguments.sort {
            Sort::Own => line.own_ns,
            Sort::Total => line.total_ns,
            Sort::Mean => line.total_ns / line.calls.max(1),
            Sort::Calls => line.calls,
        })
    });
    let mut header = vec!["point"];
    header.extend(arguments.by_group.then_some("thread group"));
    let numbers_from = header.len();
    header.extend(["calls", "failed", "total", "own", "mean", "own mean", "max"]);
    header.extend(arguments.cpu.then_some("CPU"));
    header.extend(arguments.allocation.then_some("allocated"));
    header.push("");
    let rows = lines.into_iter().map(|(probe, group, line)| {
        let mut row = vec![probe.probe.clone()];
        row.extend(arguments.by_group.then_some(group));
        row.extend([terminal::count(line.calls.unsigned_abs()), terminal::count(line.failed.unsigned_abs())]);
        let times = [
            line.total_ns,
            line.own_ns,
            line.total_ns / line.calls.max(1),
            line.own_ns / line.calls.max(1),
            line.max_ns,
        ];
        row.extend(times.map(terminal::nanos));
        row.extend(arguments.cpu.then(|| line.cpu_ns.map_or("–".to_string(), terminal::nanos)));
        let allocated = line.allocated_bytes.map(terminal::bytes);
        row.extend(arguments.allocation.then(|| allocated.unwrap_or_else(|| "–".to_string())));
        row.push(if probe.on { String::new() } else { "off".to_string() });
        row
    });
    terminal::table(&header, rows, numbers_from)
}

/// The calls of a probe, summed up or by thread group.
fn lines<'m>(arguments: &Arguments, probe: &'m Probe) -> Vec<(&'m Probe, String, Line)> {
    let mut sums: BTreeMap<String, Line> = BTreeMap::new();
    for calls in &probe.calls {
        let group = if arguments.by_group { calls.thread_group.clone() } else { String::new() };
        sums.entry(group).or_default().add(calls);
    }
    sums.into_iter().map(|(group, line)| (probe, group, line)).collect()
}

impl Line {
    fn add(&mut self, calls: &Calls) {
        self.calls += calls.calls;
        self.failed += calls.failed;
        // The time of a recursive call is part of the outer call's time.
        self.total_ns += if calls.itself { 0 } else { calls.total_ns };
        self.own_ns += calls.inherent_ns;
        self.max_ns = self.max_ns.max(calls.max_ns);
        let sum = |one: Option<i64>, other: Option<i64>| one.or(other).map(|_| one.unwrap_or(0) + other.unwrap_or(0));
        self.cpu_ns = sum(self.cpu_ns, calls.cpu_ns);
        self.allocated_bytes = sum(self.allocated_bytes, calls.allocated_bytes);
    }
}

/// Reports the cost of metering, and the probes that were switched off because of it.
fn say(model: &Model) {
    terminal::talk(terminal::dim(format_args!(
        "metering a call cost {:.0} ns, and all of it {:.2} % of all CPUs in the last second (bound {:.0} %)",
        model.cost_ns,
        model.share * 100.0,
        model.bound_share * 100.0
    )));
    for probe in &model.probes {
        if let (false, Some(why)) = (probe.on, &probe.off_reason) {
            terminal::talk(terminal::dim(format_args!("{} was switched off: {why}", probe.probe)));
        }
    }
    if model.faults > 0 {
        terminal::warn(format_args!("{} calls were not metered: the agent failed, and let them go on", model.faults));
    }
}
