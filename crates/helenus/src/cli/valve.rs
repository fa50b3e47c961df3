use super::target::{TargetArguments, say_log};
use crate::metrics::{Metrics, Watched};
use crate::{interrupt, terminal};
use anyhow::{Result, anyhow, bail, ensure};
use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use helenus_control::{Change, Error, Site, Valve};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Limit what is in flight inside a running node, adaptively
///
/// A valve holds calls of a point or tasks of a stage back once its limit is in flight.
///
/// A valve searches for the best limit by itself, gives the reason of each decision, and opens when anything goes
/// wrong. It stays after this command until it is removed; the node then runs as before.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus valve add requests --stage native-transport --law response-time --max 128 --node 127.0.0.1
  helenus valve add lwt --at lwt --law throughput --node 127.0.0.1
  helenus valve add scans --at scans --law fixed --parameter limit=8 --lease 5m --node 127.0.0.1
  helenus valve watch --node 127.0.0.1
  helenus valve set lwt --max 64 --node 127.0.0.1
  helenus valve remove --all --node 127.0.0.1")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Put a valve into a node
    Add(Add),
    /// Change a valve; one that was open governs again
    Set(Set),
    /// The valves of a node
    List(List),
    /// Watch the valves of a node at work
    Watch(Watch),
    /// Take a valve out again; the node is as it was before
    Remove(Remove),
}

/// Where the valve is placed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Point to limit, by name or pattern (may be given again); see `helenus points`. A JVM that was started without an agent needs
    /// --cold for the first one
    #[arg(long, value_name = "POINT")]
    at: Vec<String>,
    /// Stage to limit by its own number of threads, which never needs --cold: native-transport (all requests), read,
    /// mutation, counter-mutation, view-mutation, compaction, compaction-throughput
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
}

#[derive(Debug, Args)]
struct Add {
    /// Name of the valve
    name: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    changes: Changes,
    /// Order of waiting calls: fifo, lifo, or class
    #[arg(long, value_name = "ORDER", conflicts_with = "stage")]
    order: Option<String>,
    /// With --order class: weight of a point's turn (repeatable)
    #[arg(long = "weight", value_name = "POINT=N", value_parser = pair::<u32>)]
    weights: Vec<(String, u32)>,
    /// Methods that the points may match
    #[arg(long, value_name = "N")]
    at_most: Option<u32>,
    /// Proceed even if this deoptimizes the whole JVM: a busy node is slow for about a minute (see `helenus agent`)
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    target: TargetArguments,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Settings that can also be changed later.
#[derive(Debug, Args)]
struct Changes {
    /// Law that sets the limit: throughput, response-time, gradient2 or fixed [default: throughput]
    #[arg(long, value_name = "LAW")]
    law: Option<String>,
    /// A parameter of the law (may be given again)
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = pair::<String>)]
    parameters: Vec<(String, String)>,
    /// The limit is never below
    #[arg(long, value_name = "N")]
    min: Option<u32>,
    /// The limit is never above
    #[arg(long, value_name = "N")]
    max: Option<u32>,
    /// Longest wait of a request, which is then let through, or refused with --refuse
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    max_wait: Option<Duration>,
    /// Answer with the server's Overloaded after --max-wait; only where the point has such an answer
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "true", value_parser = BoolishValueParser::new())]
    refuse: Option<bool>,
    /// Open the valve if no request leaves for this time while some wait
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    watchdog: Option<Duration>,
    /// Open when nobody watches with --hold for so long; 0s for never
    #[arg(long, value_name = "DURATION", value_parser = super::duration_or_zero)]
    lease: Option<Duration>,
}

#[derive(Debug, Args)]
struct Set {
    /// Which valve
    name: String,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    target: TargetArguments,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    target: TargetArguments,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Watch {
    #[command(flatten)]
    target: TargetArguments,
    /// Interval between readings
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = super::duration)]
    interval: Duration,
    /// How long
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    lasts: Option<Duration>,
    /// Renew the leases of the valves meanwhile
    #[arg(long)]
    hold: bool,
    /// Serve OpenMetrics (Prometheus) on this loopback address meanwhile; prints the address with its token
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Print a line of JSON for each reading
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Remove {
    /// Which valve
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    name: Option<String>,
    /// Remove all
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    target: TargetArguments,
    /// Print the remaining valves as JSON
    #[arg(long)]
    json: bool,
}

fn pair<T: std::str::FromStr>(text: &str) -> Result<(String, T), String> {
    let wrong = || format!("`{text}` is no NAME=VALUE");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_string(), value.parse().map_err(|_| wrong())?))
}

impl Changes {
    fn change(&self) -> Change {
        let millis = |duration: Option<Duration>| {
            duration.map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
        };
        Change {
            law: self.law.clone(),
            parameters: self.parameters.iter().cloned().collect::<BTreeMap<_, _>>(),
            min: self.min,
            max: self.max,
            max_wait_ms: millis(self.max_wait),
            refuse: self.refuse,
            watchdog_ms: millis(self.watchdog),
            lease_ms: millis(self.lease),
            ..Change::default()
        }
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.action {
        Action::Add(add) => {
            let place = match add.place.stage {
                Some(stage) => Site::Stage(stage),
                None => Site::At(add.place.at),
            };
            let change = Change {
                order: add.order,
                weights: add.weights.into_iter().collect(),
                at_most: add.at_most,
                cold: add.cold,
                law: Some(add.changes.law.clone().unwrap_or_else(|| "throughput".to_string())),
                ..add.changes.change()
            };
            change.check(Some(&place)).map_err(anyhow::Error::msg)?;
            let mut link = add.target.link()?;
            let valve =
                link.add_valve(&add.name, &place, &change).map_err(|error| match (&error, add.target.node()) {
                    (Error::Refused { error: reason, hint }, Some(node)) if hint.contains("--cold") => {
                        anyhow!("{}", with_way_out(reason, node))
                    }
                    _ => error.into(),
                })?;
            say_log(&mut link);
            show_one(&valve, add.json)?;
            terminal::talk(terminal::dim(format_args!(
                "it stays until `helenus valve remove {} {target}`; look at it with `helenus valve watch {target}`",
                valve.valve,
                target = add.target.option()
            )));
        }
        Action::Set(set) => {
            let change = set.changes.change();
            ensure!(change != Change::default(), "say what is to change, such as --max 64");
            change.check(None).map_err(anyhow::Error::msg)?;
            let mut link = set.target.link()?;
            let valve = link.set_valve(&set.name, &change)?;
            say_log(&mut link);
            show_one(&valve, set.json)?;
        }
        Action::List(list) => {
            let valves = list.target.link()?.valves()?;
            if list.json {
                terminal::json(&valves)?;
            } else if valves.is_empty() {
                terminal::talk(format_args!("no valves in {}", list.target.name()));
            } else {
                terminal::print(table(&valves));
            }
        }
        Action::Watch(watch) => self::watch(&watch)?,
        Action::Remove(remove) => {
            let mut link = remove.target.link()?;
            let left = link.remove_valve(remove.name.as_deref())?;
            say_log(&mut link);
            let gone = remove.name.as_deref().map_or("all valves are".to_string(), |name| format!("{name} is"));
            terminal::done(format_args!("{gone} removed from {}; {} left", remove.target.name(), left.len()));
            if remove.json {
                terminal::json(&json!({ "left": left }))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The refusal of a node that was started without an agent, with what can be done.
fn with_way_out(reason: &str, node: &str) -> String {
    format!(
        "{reason}. Do one of these:\n\
         \x20 limit all requests at their stage, which changes no class: \
         helenus valve add requests --stage native-transport --law response-time --node {node}\n\
         \x20 where the slow minute does no harm: the same command with --cold\n\
         \x20 restart the node with -javaagent:helenus-agent.jar=ready (`helenus agent` writes the jar)"
    )
}

fn show_one(valve: &Valve, json: bool) -> Result<()> {
    if json {
        terminal::json(valve)?;
    } else {
        terminal::print(table(std::slice::from_ref(valve)));
    }
    Ok(())
}

fn watch(watch: &Watch) -> Result<()> {
    let cancel = interrupt::cancel_on_signals()?;
    let mut link = watch.target.link()?;
    let metrics = watch.metrics.map(Metrics::serve).transpose()?;
    if let Some(metrics) = &metrics {
        terminal::done(format_args!("metrics on {}", metrics.address()));
    }
    let live = std::io::stdout().is_terminal() && !watch.json;
    let started = Instant::now();
    loop {
        let valves = if watch.hold { link.renew_leases()? } else { link.valves()? };
        say_log(&mut link);
        if valves.is_empty() {
            bail!(
                "there are no valves in {}; add one, such as `helenus valve add scans --at scans --law throughput {}`",
                watch.target.name(),
                watch.target.option()
            );
        }
        match (watch.json, live) {
            (true, _) => terminal::json_line(&valves.iter().map(super::live::timed).collect::<Vec<_>>())?,
            (_, is_live) => {
                if is_live {
                    terminal::clear();
                }
                terminal::print(terminal::dim(terminal::now()));
                terminal::print(table(&valves));
            }
        }
        std::io::stdout().flush()?;
        if let Some(metrics) = &metrics {
            metrics.show(Watched { node: watch.target.name(), valves });
        }
        let next = Instant::now() + watch.interval;
        while Instant::now() < next {
            if cancel.is_cancelled() || watch.lasts.is_some_and(|lasts| started.elapsed() >= lasts) {
                return Ok(());
            }
            std::thread::sleep(super::POLL_EVERY.min(next.saturating_duration_since(Instant::now())));
        }
    }
}

fn table(valves: &[Valve]) -> terminal::Table {
    let header =
        ["valve", "at", "law", "limit", "of", "inside", "waiting", "done/s", "mean", "wait", "p99", "refused", "why"];
    let rows = valves.iter().map(|valve| {
        let last = valve.last.as_ref();
        let nanos = |ns: Option<i64>| ns.map_or("–".to_string(), terminal::nanos);
        let place = match (&valve.stage, &valve.at) {
            (Some(stage), _) => format!("stage {stage}"),
            (None, at) => at.as_deref().unwrap_or_default().join(" "),
        };
        let why = match (&valve.open_reason, last) {
            (Some(why), _) => format!("open: {why}"),
            (None, Some(last)) => last.reason.clone(),
            (None, None) => "no window has ended yet".to_string(),
        };
        vec![
            valve.valve.clone(),
            place,
            valve.law.clone(),
            valve.limit.map_or("open".to_string(), |limit| limit.to_string()),
            format!("{}–{}", valve.min, valve.max),
            valve.in_flight.to_string(),
            valve.waiting.to_string(),
            last.map_or("–".to_string(), |last| terminal::count(last.throughput_per_s.round() as u64)),
            nanos(last.and_then(|last| last.mean_ns)),
            nanos(last.and_then(|last| last.wait_mean_ns)),
            nanos(last.and_then(|last| last.p99_ns)),
            last.map_or("–".to_string(), |last| terminal::count(last.refused.unsigned_abs())),
            why,
        ]
    });
    let is_number = |column: usize| column >= 3 && column + 1 < header.len();
    terminal::table(&header, rows, 1).aligned_right((0..header.len()).map(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_node_without_an_agent_is_offered_a_command_that_works() {
        let text = with_way_out("it deoptimizes", "127.0.0.1");
        let line = text.lines().find_map(|line| Some(&line[line.find("helenus valve")?..])).unwrap();
        let words = shlex::split(line).unwrap();
        let Action::Add(add) = Line::try_parse_from(&words[1..]).unwrap().arguments.action else { panic!("{line}") };
        assert_eq!(add.place.stage.as_deref(), Some("native-transport"));
    }

    #[test]
    fn without_a_place_both_kinds_are_named() {
        let error = Line::try_parse_from(["valve", "add", "lwt", "--node", "127.0.0.1"]).unwrap_err().to_string();
        assert!(error.contains("--at") && error.contains("--stage"), "{error}");
        let twice = ["valve", "add", "a", "--at", "reads", "--at", "lwt", "--node", "127.0.0.1"];
        assert!(Line::try_parse_from(twice).is_ok());
        assert!(Line::try_parse_from([&twice[..], &["--stage", "read"]].concat()).is_err());
        assert!(Line::try_parse_from([&twice[..], &["--order", "lifo"]].concat()).is_ok());
    }
}
