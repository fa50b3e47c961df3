use super::access::AccessArguments;
use super::opened::opened;
use crate::{interrupt, terminal};
use anyhow::{Context, Result, bail, ensure};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use clap::Args;
use helenus_explain::Engine;
use helenus_load::{Acknowledged, Cancel, Verified, Verify, Workload};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Read back what a load wrote, and report what is missing or wrong
///
/// The workload, its seed and the number of the writing request determine each row. The recording of the load has all three, and
/// the outcome of each request: rows of failed requests need not be there. Without the
/// recording, give the workload, its mix and its population as the load had them. The workload's [verify] names the
/// operation that reads. Exit code 1 when a row is missing or wrong, 2 when it could not be read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus load keyvalue/mixed --populate --rate 5k --for 60s -o run.helenus && helenus verify run.helenus
  helenus load keyvalue --populate --population 100k && helenus verify keyvalue --population 100k
  helenus load keyvalue/mixed --rate 5k --for 60s && helenus verify keyvalue/mixed --requests 300k
  helenus verify mine.toml --count 50k --json")]
pub struct Arguments {
    /// Recording of a load, or a workload as for `helenus load`
    #[arg(value_name = "RECORDING|WORKLOAD")]
    written: String,
    /// A node to begin with, instead of those of the recording or 127.0.0.1; the rest of the ring is found through it (may
    /// be given again)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    #[command(flatten)]
    access: AccessArguments,
    /// Number of keys of the load, instead of the workload's
    #[arg(long, value_name = "N", value_parser = super::load::count)]
    population: Option<u64>,
    /// Number of populating requests, instead of the workload's
    #[arg(long, value_name = "N", value_parser = super::load::count)]
    count: Option<u64>,
    /// How many requests of the mix there were; without --count, nothing was populated before
    #[arg(long, value_name = "N", value_parser = super::load::count)]
    requests: Option<u64>,
    /// Reads in flight, each on a connection of its own; 64 at most
    #[arg(long, value_name = "N", default_value_t = 64)]
    in_flight: usize,
    /// How long an answer is waited for
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = super::duration)]
    timeout: Duration,
    /// How many rows of each kind are named
    #[arg(long, value_name = "N", default_value_t = 5)]
    examples: usize,
    /// The result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let access = arguments.access.read()?;
    let order = Verify {
        in_flight: arguments.in_flight,
        request_timeout: arguments.timeout,
        examples: arguments.examples,
        access,
        ..order(&arguments)?
    };
    let cancel = interrupt::cancel_on_signals()?;
    let stop = Cancel::new();
    let mut steps = terminal::Steps::new();
    steps.step("reading back");
    let verified = super::load::forwarding(&cancel, &stop, || {
        helenus_load::verify(&order, &stop, &mut |verified| steps.live(line(verified)))
    })?;
    drop(steps);
    if arguments.json {
        terminal::json(&verified)?;
    } else {
        print(&verified);
    }
    Ok(match (verified.has_damage(), verified.unreadable > 0 || verified.stopped) {
        (true, _) => ExitCode::from(1),
        (false, true) => ExitCode::from(2),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// The rows to read back, and the nodes to read from.
fn order(arguments: &Arguments) -> Result<Verify> {
    let Arguments { written, nodes, population, count, requests, .. } = arguments;
    let otherwise = |usual: Vec<String>| if nodes.is_empty() { usual } else { nodes.clone() };
    let path = Path::new(written);
    if path.is_dir() {
        ensure!(
            population.is_none() && count.is_none() && requests.is_none(),
            "--population, --count and --requests are for a workload: the recording {written} has its own"
        );
        let engine = opened(&[path])?;
        let nodes = engine.manifests().iter().flat_map(|manifest| &manifest.nodes).map(|node| node.address.clone());
        let nodes = otherwise(nodes.collect());
        return of_recording(&engine, written, nodes);
    }
    let mut workload = Workload::open(written)?;
    if let Some(keys) = population {
        workload.set_population(*keys);
    }
    let nodes = otherwise(vec!["127.0.0.1".to_string()]);
    Ok(Verify { populated: *count, requests: requests.unwrap_or(0), ..Verify::new(workload, nodes) })
}

fn of_recording(engine: &Engine, path: &str, nodes: Vec<String>) -> Result<Verify> {
    let Some(facts) = engine.manifests().first().and_then(|manifest| manifest.load.as_ref()) else {
        bail!("{path} does not say which workload was run; give the workload and --requests instead");
    };
    let mut acknowledged = Acknowledged::default();
    engine.each("SELECT number FROM requests WHERE outcome = 'ok'", |batch| {
        let numbers = batch.column(0).as_primitive_opt::<Int64Type>().context("`number` holds no whole numbers")?;
        for number in numbers {
            let number = number.with_context(|| format!("the requests of {path} have no numbers"))?;
            ensure!(acknowledged.add(number), "{path} has a request of number {number}, which no load gives");
        }
        Ok::<(), anyhow::Error>(())
    })?;
    Ok(Verify {
        populated: Some(acknowledged.populated()),
        requests: acknowledged.requests(),
        acknowledged: Some(acknowledged),
        ..Verify::new(Workload::recorded(facts)?, nodes)
    })
}

fn line(verified: &Verified) -> String {
    let counts = [(verified.missing, "missing"), (verified.wrong, "wrong"), (verified.unreadable, "unreadable")];
    let found = counts.iter().filter(|(count, _)| *count > 0);
    let found = found.map(|(count, what)| format!(", {} {what}", terminal::count(*count)));
    format!("{} rows read back{}", terminal::count(verified.checked), found.collect::<String>())
}

fn print(verified: &Verified) {
    let rows = [
        ("checked", verified.checked),
        ("right", verified.right),
        ("never acknowledged", verified.unacknowledged),
        ("missing", verified.missing),
        ("wrong", verified.wrong),
        ("unreadable", verified.unreadable),
    ];
    let rows = rows.map(|(what, count)| vec![what.to_string(), terminal::count(count)]);
    terminal::print(terminal::table(&["rows", ""], rows, 1));
    for example in &verified.examples {
        let detail = if example.detail.is_empty() { String::new() } else { format!(": {}", example.detail) };
        terminal::warn(format_args!("{} {}{detail}", example.kind.name(), example.key));
    }
    if verified.columns.is_empty() {
        terminal::warn("no column could be compared: only whether the rows are there is known");
    }
    if verified.stopped {
        terminal::warn("cut short; the rest was not looked for");
    } else if verified.is_right() {
        let compared = verified.columns.join(", ");
        terminal::done(format_args!(
            "all {} rows are as they were written ({compared})",
            terminal::count(verified.right)
        ));
    }
}
