mod live;

pub use live::{Live, say};

use super::access::AccessArguments;
use super::phases::Phases;
use crate::metrics::Metrics;
use crate::{interrupt, terminal};
use anyhow::{Context, Result};
use chrono::{DateTime, Local, NaiveTime, Utc};
use clap::Args;
use helenus_load::{Access, Bounds, DriverKind, Intervals, Plan, Protocol, StallSummary, Summary, Workload, hlog};
use helenus_observe::{Observation, Options, ProcessKind, Watched};
use helenus_recording::{Manifest, NodeFacts, Recorder};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A driver thread that is on a CPU for this share of the time can't do more.
const DRIVER_IS_THE_LIMIT: f64 = 0.9;
/// Length of the intervals of --hlog.
const LOG_EVERY_NS: i64 = 1_000_000_000;

/// Drive a workload and record every request
///
/// Open loop unless --in-flight: requests start when the schedule says, however slow the answers are, and response time
/// counts from there. Failed requests are not retried, and are recorded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus load keyvalue/mixed --rate 5k --for 60s
  helenus load keyvalue/write --node 10.0.0.1 --warm-up 10s --steps 2k..20k/2k --each 30s -o steps.helenus
  helenus load timeseries --populate --in-flight 64 --count 1M
  helenus load keyvalue/mixed --rate 5k --poisson --for 60s --trace peak.txt
  helenus load keyvalue/write --surge 20 --every 15s --in-flight 20 --count 1M
  helenus load mine.toml --ramp 1k..10k --for 2m --rate 10k --for 1m --json")]
pub struct Arguments {
    /// A workload that comes with helenus (counter, keyvalue, lightweight, timeseries, wide-rows), or a TOML file; with
    /// /MIX for one of its mixes
    workload: String,
    /// A node to begin with; the rest of the ring is found through it (may be given again)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1")]
    nodes: Vec<String>,
    #[command(flatten)]
    phases: Phases,
    /// Write the workload's rows first [default: when an operation reads and the table is empty]
    #[arg(long)]
    populate: bool,
    /// Never write the workload's rows first, not even into an empty table
    #[arg(long, conflicts_with = "populate")]
    no_populate: bool,
    /// Number of keys, instead of the workload's
    #[arg(long, value_name = "N", value_parser = count)]
    population: Option<u64>,
    /// Driver of the requests: helenus' own, which costs least, or the driver crate
    #[arg(long, value_enum, value_name = "NAME", default_value = "thin")]
    driver: DriverKind,
    /// Version of the native protocol; only helenus' own driver speaks 5
    #[arg(long, value_enum, value_name = "VERSION", default_value = "4")]
    protocol: Protocol,
    #[command(flatten)]
    access: AccessArguments,
    /// Connections to each node
    #[arg(long, value_name = "N", default_value_t = 1)]
    connections: usize,
    /// Threads of the driver
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Number of this process and how many processes drive the load together, such as 1/3. They share the rates, the
    /// requests in flight and the numbers of the requests; populate before
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// When the first request is due, so that shards begin together: 14:30, 14:30:15 or 2026-12-01T14:30:00Z
    #[arg(long, value_name = "TIME", value_parser = start_at)]
    start_at: Option<DateTime<Utc>>,
    /// How long an answer is waited for
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = super::duration)]
    timeout: Duration,
    /// Requests of an open loop in flight at most; more wait, and are counted
    #[arg(long, value_name = "N", default_value_t = 4096)]
    max_in_flight: u32,
    /// The new recording's folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// An HdrHistogram log of each second of the measured phases by operation, for HistogramLogAnalyzer and the like
    #[arg(long, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Serve OpenMetrics (Prometheus) on this loopback address during the load; prints the address with its token
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Print the summary as JSON, in the format of docs/load.schema.json
    #[arg(long)]
    json: bool,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let example = || "its number and how many there are, such as 1/3".to_string();
    let (number, count) = text.split_once('/').ok_or_else(example)?;
    match (number.parse::<usize>(), count.parse::<usize>()) {
        (Ok(number), Ok(count)) if (1..=count).contains(&number) => Ok((number - 1, count)),
        _ => Err(example()),
    }
}

/// Parses a time of day as its next occurrence.
fn start_at(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    let time = NaiveTime::parse_from_str(text, "%H:%M:%S").or_else(|_| NaiveTime::parse_from_str(text, "%H:%M"));
    let time = time.map_err(|_| "a time such as 14:30, 14:30:15 or 2026-12-01T14:30:00Z".to_string())?;
    let now = Local::now();
    let today = now.with_time(time).earliest().ok_or("the clock is put forward over that time")?;
    Ok(if today > now { today } else { today + chrono::TimeDelta::days(1) }.to_utc())
}

/// Converts a time to the clock of the recording. A time that has passed is an error, and does not start the load at
/// once.
fn begins_at(time: DateTime<Utc>) -> Result<i64> {
    anyhow::ensure!(time > Utc::now(), "--start-at {time} is over");
    time.timestamp_nanos_opt().context("--start-at is centuries away")
}

pub fn count(text: &str) -> Result<u64, String> {
    helenus_notation::quantity::count(text).map_err(|error| error.to_string())
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut workload = Workload::open(&arguments.workload)?;
    if let Some(keys) = arguments.population {
        workload.set_population(keys);
    }
    let phases =
        if arguments.phases.is_empty() && arguments.populate { Vec::new() } else { arguments.phases.read()? };
    let names: Vec<String> = workload.operations.iter().map(|operation| operation.name.clone()).collect();
    let intervals = arguments.hlog.is_some().then(Intervals::default);
    let plan = Plan {
        intervals: intervals.clone(),
        populate: arguments.populate,
        populate_when_empty: !arguments.no_populate,
        driver: arguments.driver,
        access: Access { protocol: arguments.protocol, ..arguments.access.read()? },
        connections_per_node: arguments.connections,
        threads: arguments.threads,
        shard: arguments.shard.unwrap_or((0, 1)),
        request_timeout: arguments.timeout,
        max_in_flight: arguments.max_in_flight,
        ..Plan::new(workload, phases, arguments.nodes.clone())
    };
    let cancel = interrupt::cancel_on_signals()?;
    let folder = arguments.output.clone().unwrap_or_else(|| super::new_recording("load"));
    let mut manifest = Manifest::new(&format!("load {}", arguments.workload), &super::command_line());
    manifest.nodes =
        arguments.nodes.iter().map(|node| NodeFacts { address: node.clone(), ..NodeFacts::default() }).collect();
    manifest.load = Some(plan.workload.origin.clone());
    let recorder = Recorder::create(&folder, manifest)?;
    let plan = Plan { start_at_ns: arguments.start_at.map(begins_at).transpose()?, ..plan };
    let mut log = match (&arguments.hlog, intervals) {
        (Some(path), Some(intervals)) => Some(IntervalLog::create(path, names, intervals, &recorder)?),
        _ => None,
    };
    let (events, _heard) = std::sync::mpsc::channel();
    let own = Watched { process: ProcessKind::Load, node: String::new(), pid: std::process::id() };
    let observation = Observation::start(&recorder, &[own], &Options::default(), &events)?;

    let metrics = arguments.metrics.map(Metrics::serve).transpose()?;
    if let Some(metrics) = &metrics {
        terminal::done(format_args!("metrics on {}", metrics.address()));
    }

    let mut steps = terminal::Steps::new();
    let mut live = Live::default();
    let stop = helenus_load::Cancel::new();
    let outcome = helenus_load::run(&plan, &recorder, &stop, &mut |progress| {
        if cancel.is_cancelled() && !stop.is_asked() {
            stop.stop();
        }
        live.show(&mut steps, &progress);
        super::show_disk(&mut steps, &recorder);
        if let Some(metrics) = &metrics {
            metrics.show(progress.clone());
        }
        if let Some(log) = &mut log {
            log.write_if_due(recorder.clock().now_ns(), LOG_EVERY_NS);
        }
    });
    if let Some(log) = &mut log {
        log.write_if_due(recorder.clock().now_ns(), 0);
    }
    observation.stop();
    drop(steps);
    let sent = recorder.health().rows.contains_key("requests");
    let recording = super::close(&recorder, &outcome);
    let summary = match outcome {
        Ok(summary) if summary.stopped && !sent => {
            // Best effort: a recording without a request is useless.
            let _ = std::fs::remove_dir_all(&folder);
            anyhow::bail!("stopped before the first request; no recording is kept");
        }
        Ok(summary) => summary,
        Err(error) => {
            if !sent {
                // Best effort: a recording without a request is useless.
                let _ = std::fs::remove_dir_all(&folder);
            }
            return Err(error.into());
        }
    };
    if let Some(failed) = log.and_then(|log| log.failed) {
        terminal::warn(format_args!("the HdrHistogram log is not whole: {failed}"));
    }
    if arguments.json {
        terminal::json(&summary)?;
    } else {
        print_summary(&summary)?;
    }
    super::say_closed(&recording?);
    Ok(ExitCode::SUCCESS)
}

/// Runs a function with the load's own cancel token, and passes on a cancel of the process.
pub fn forwarding<T>(cancel: &helenus_cassandra::Cancel, stop: &helenus_load::Cancel, run: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (over, waits) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            // The thread ends with the run, which drops its end of the channel.
            while waits.recv_timeout(super::POLL_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                if cancel.is_cancelled() && !stop.is_asked() {
                    stop.stop();
                }
            }
        });
        let ran = run();
        drop(over);
        ran
    })
}

/// The log of --hlog while the load runs.
#[derive(Debug)]
struct IntervalLog {
    log: hlog::Log,
    names: Vec<String>,
    intervals: Intervals,
    since_ns: i64,
    /// Why nothing more is written: a full disk does not end the load.
    failed: Option<helenus_load::Error>,
}

impl IntervalLog {
    fn create(
        path: &std::path::Path,
        names: Vec<String>,
        intervals: Intervals,
        recorder: &Recorder,
    ) -> Result<IntervalLog> {
        let since_ns = recorder.clock().now_ns();
        let log = hlog::Log::create(path, since_ns)?;
        Ok(IntervalLog { log, names, intervals, since_ns, failed: None })
    }

    /// Writes the interval up to now if it is long enough.
    fn write_if_due(&mut self, now_ns: i64, least_ns: i64) {
        if self.failed.is_some() || now_ns - self.since_ns < least_ns {
            return;
        }
        let names = self.names.iter().map(String::as_str);
        self.failed = self.log.append(names, &self.intervals.take(), (self.since_ns, now_ns)).err();
        self.since_ns = now_ns;
    }
}

fn millis(ns: Option<u64>) -> String {
    terminal::millis(ns.map(|ns| ns as f64 / 1e6))
}

/// Formats a time with its 95 % confidence interval: "12.3 (11.8–13.0)".
fn with_bounds(ns: Option<u64>, bounds: Option<Bounds>) -> String {
    let Some(Bounds { low_ns, high_ns, .. }) = bounds else { return millis(ns) };
    let high = high_ns.map_or_else(|| "…".to_string(), |ns| millis(Some(ns)));
    format!("{} ({}–{high})", millis(ns), millis(Some(low_ns)))
}

/// The summary as a table.
pub fn print_summary(summary: &Summary) -> Result<()> {
    let header = [
        "phase",
        "rate/s",
        "done/s",
        "failed",
        "service p50",
        "p99",
        "max",
        "response p50",
        "p99",
        "p99.9",
        "max ms",
        "client µs",
    ];
    let rows = summary.phases.iter().map(|phase| {
        let rate = match (phase.rate_per_s, phase.end_rate_per_s, phase.in_flight) {
            (Some(from), Some(to), _) if from != to => format!("{from:.0}..{to:.0}"),
            (Some(rate), ..) => format!("{rate:.0}"),
            (.., Some(in_flight)) => format!("{in_flight} in flight"),
            _ => "–".into(),
        };
        let (service, response) = (&phase.service, &phase.response);
        vec![
            if phase.measured { phase.name.clone() } else { format!("{} (not judged)", phase.name) },
            rate,
            terminal::count(phase.throughput_per_s.round() as u64),
            terminal::count(phase.failed),
            millis(service.p50_ns),
            millis(service.p99_ns),
            millis(service.max_ns),
            millis(response.p50_ns),
            with_bounds(response.p99_ns, phase.response_confidence.p99),
            millis(response.p999_ns),
            millis(response.max_ns),
            phase.client_cpu_us_per_request.map_or("–".into(), |us| format!("{us:.1}")),
        ]
    });
    terminal::print(terminal::table(&header, rows, 1));
    for error in &summary.errors {
        let (count, name) = (terminal::count(error.count), error.outcome.name());
        terminal::warn(format_args!("{count} {name}; the first on {}: {}", error.first_node, error.first_message));
    }
    let not_applied = summary.phases.iter().map(|phase| phase.not_applied).sum();
    let empty = summary.phases.iter().map(|phase| phase.empty).sum();
    for (requests, what) in [
        (not_applied, "conditional writes were not applied: their condition did not hold"),
        (empty, "reads found no row"),
    ] {
        if requests > 0 {
            terminal::talk(format_args!("{} {what}", terminal::count(requests)));
        }
    }
    for phase in summary.phases.iter().filter(|phase| phase.measured && phase.driver_busy > DRIVER_IS_THE_LIMIT) {
        terminal::warn(format_args!(
            "in {} the driver was the limit, and not the database: its threads were on a CPU for {:.0} % of the time; \
             give it more --threads, or another machine (--shard)",
            phase.name,
            phase.driver_busy * 100.0
        ));
    }
    say_stalls(&summary.stalls);
    let lag = summary.lag;
    for (requests, what) in [
        (lag.late_driver, "started late because the driver itself was behind"),
        (lag.late_in_flight, "started late for lack of room in flight (--max-in-flight)"),
        (lag.unsent, "were never sent"),
    ] {
        if requests > 0 {
            terminal::warn(format_args!("{} requests {what}", terminal::count(requests)));
        }
    }
    Ok(())
}

/// Reports the requests that the driver's own stalls delayed, and the reasons for the stalls.
fn say_stalls(stalls: &StallSummary) {
    if stalls.requests == 0 {
        return;
    }
    let requests = terminal::count(stalls.requests);
    let count = terminal::count(stalls.watcher.max(stalls.schedule));
    let longest = terminal::millis(Some(stalls.watcher_longest_ns.max(stalls.schedule_longest_ns) as f64 / 1e6));
    let mut why = Vec::new();
    if stalls.watcher_total_ns > 0 {
        let share = stalls.run_queue_ns as f64 / stalls.watcher_total_ns as f64;
        why.push(format!("{:.0} % of their time it was ready and had no CPU", (share * 100.0).min(100.0)));
    }
    if stalls.major_faults > 0 {
        why.push(format!("it waited for {} pages from disk", terminal::count(stalls.major_faults as u64)));
    }
    if stalls.steal_ns > 0 {
        why.push(format!("the hypervisor took {:.0} ms of CPU time around them", stalls.steal_ns as f64 / 1e6));
    }
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    terminal::warn(format_args!(
        "{requests} requests met one of {count} pauses of the driver itself, the longest of {longest} ms{why}; they are \
         marked in the recording (requests.stalled)"
    ));
}
