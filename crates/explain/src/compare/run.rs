//! The runs that are compared, with their figures.

use crate::Error;
use crate::anatomy::{Unjudged, rest};
use crate::engine::Engine;
use crate::percentiles::quantile_of_sorted;
use crate::query::{self, Value, within};
use crate::requests::{Request, Requests};
use crate::timeline::{Interval, merge};
use std::collections::BTreeMap;

/// The CPUs that the nodes' JIT compilers used. It says whether the other figures can be judged, and is not judged.
pub(crate) const COMPILER_CPUS: &str = "compiler_cpus";
const SECOND_NS: i64 = 1_000_000_000;
/// With fewer whole seconds than this, the variance is noise.
const FEWEST_SECONDS: usize = 3;
/// Context switches and migrations are read once a second. In stretches shorter than this, most of the count would
/// belong to the neighbouring stretches.
const SWITCHES_FROM_NS: i64 = 2 * SECOND_NS;

/// One run of a variant, or a whole recording.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRun {
    pub variant: String,
    /// The block of the run; runs of one block are compared with each other.
    pub block: i64,
    pub start_ns: i64,
    /// Values by name of the metric, and [`COMPILER_CPUS`]; what was not recorded is left out.
    pub figures: BTreeMap<&'static str, f64>,
}

/// The runs of an experiment's variants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VariantRuns {
    pub(crate) baseline: Option<String>,
    pub(crate) runs: Vec<MeasuredRun>,
    /// Number of runs that ended early.
    pub(crate) cut_short: usize,
}

impl VariantRuns {
    /// Loads the runs of a recording; empty unless it is of an experiment with variants.
    pub(crate) fn load(engine: &Engine) -> Result<VariantRuns, Error> {
        let rows = engine.sql(&query::VARIANT_RUNS.fill(&[]))?;
        let (kinds, names) = (rows.texts("kind")?, rows.texts("name")?);
        let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
        let (blocks, whole) = (rows.integers("block")?, rows.booleans("measured")?);
        let phases = measured_phases(engine)?;
        let mut found = VariantRuns { baseline: None, runs: Vec::new(), cut_short: 0 };
        for row in 0..rows.rows() {
            if kinds[row] == "baseline" {
                found.baseline = Some(names[row].clone());
            } else if whole[row] {
                let run = Interval { start: starts[row], end: ends[row] };
                let windows: Vec<Interval> =
                    phases.iter().filter(|phase| run.start <= phase.start && phase.end <= run.end).copied().collect();
                found.runs.push(MeasuredRun {
                    variant: names[row].clone(),
                    block: blocks[row],
                    start_ns: starts[row],
                    figures: figures(engine, &windows)?,
                });
            } else {
                found.cut_short += 1;
            }
        }
        Ok(found)
    }
}

impl MeasuredRun {
    /// All measured phases of a recording, as one run.
    pub(crate) fn whole(engine: &Engine, variant: &str, number: i64) -> Result<MeasuredRun, Error> {
        let mut windows = measured_phases(engine)?;
        if windows.is_empty() && engine.sql(&query::MARKS.fill(&[]))?.rows() == 0 {
            let span = Requests::of(engine)?.span();
            if let Some(span) = span {
                windows = rest(&Unjudged::load(engine)?, span);
            }
        }
        let figures = figures(engine, &windows)?;
        if figures.is_empty() {
            let title = engine.manifests().first().map_or("", |manifest| &manifest.title);
            return Err(Error::Nothing(format!(
                "no request of a measured phase is in the recording `{title}`; record a load with `helenus load` or \
                 `helenus lab run`, and merge it with what was recorded on the nodes by `helenus recording merge`"
            )));
        }
        let start_ns = windows.first().map_or(0, |window| window.start);
        Ok(MeasuredRun { variant: variant.to_string(), block: number, start_ns, figures })
    }
}

fn measured_phases(engine: &Engine) -> Result<Vec<Interval>, Error> {
    let rows = engine.sql(&query::MARKS.fill(&[]))?;
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let measured = rows.booleans("measured")?;
    let window = |row: usize| Interval { start: starts[row], end: ends[row] };
    Ok((0..rows.rows()).filter(|row| measured[*row]).map(window).collect())
}

/// The figures of the requests that were due in the windows, and of the nodes during that time. Empty without requests.
fn figures(engine: &Engine, windows: &[Interval]) -> Result<BTreeMap<&'static str, f64>, Error> {
    let mut figures = BTreeMap::new();
    let requests = Requests::of(engine)?;
    let windows = merge(windows.to_vec());
    let due: Vec<Request> = windows.iter().flat_map(|window| requests.due_in(*window)).copied().collect();
    if due.is_empty() {
        return Ok(figures);
    }
    // For the client a phase ends with its last answer.
    let busy = merge(windows.iter().filter_map(|window| span_of(requests.due_in(*window))).collect());
    of_requests(&requests, &due, &busy, &mut figures);
    let jitter = variance(&windows.iter().flat_map(|window| means_by_second(&requests, *window)).collect::<Vec<_>>());
    figures.extend(jitter.map(|variance| ("jitter", variance)));
    of_nodes(engine, &busy, due.len(), &mut figures)?;
    Ok(figures)
}

fn span_of(due: &[Request]) -> Option<Interval> {
    let start = due.iter().map(|request| request.start_ns).min()?;
    Some(Interval { start, end: due.iter().map(|request| request.end_ns).max()?.max(start + 1) })
}

fn of_requests(requests: &Requests, due: &[Request], busy: &[Interval], figures: &mut BTreeMap<&'static str, f64>) {
    let client_time_s = busy.iter().map(Interval::length).sum::<i64>() as f64 / 1e9;
    let ok = due.iter().filter(|request| requests.is_ok(request)).count();
    figures.insert("client_time", client_time_s);
    figures.insert("throughput", ok as f64 / client_time_s);
    figures.insert("error_share", (due.len() - ok) as f64 / due.len() as f64);
    let mut times: Vec<i64> =
        due.iter().filter(|request| requests.is_timed(request)).map(Request::response_ns).collect();
    times.sort_unstable();
    if times.is_empty() {
        return;
    }
    let total_ms = times.iter().map(|ns| *ns as f64 / 1e6).sum::<f64>();
    figures.insert("response_mean", total_ms / times.len() as f64);
    for (name, quantile) in
        [("response_p50", 0.5), ("response_p99", 0.99), ("response_p999", 0.999), ("response_max", 1.0)]
    {
        figures.extend(quantile_of_sorted(&times, quantile).map(|ns| (name, ns as f64 / 1e6)));
    }
}

/// Mean response time in ms of the requests that were due in each whole second of a window.
fn means_by_second(requests: &Requests, window: Interval) -> Vec<f64> {
    (0..window.length() / SECOND_NS)
        .filter_map(|second| {
            let due = requests.due_in(Interval::of_length(window.start + second * SECOND_NS, SECOND_NS));
            let timed = || due.iter().filter(|request| requests.is_timed(request));
            let total_ms: f64 = timed().map(|request| request.response_ns() as f64 / 1e6).sum();
            (timed().next().is_some()).then(|| total_ms / timed().count() as f64)
        })
        .collect()
}

/// The sample variance.
fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < FEWEST_SECONDS {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

fn of_nodes(
    engine: &Engine,
    busy: &[Interval],
    requests: usize,
    figures: &mut BTreeMap<&'static str, f64>,
) -> Result<(), Error> {
    let filled = |query: &query::Query, time: &str| {
        let within = within(time, busy);
        engine.sql(&query.fill(&[("filter", Value::Condition(&within))]))
    };
    let first = |values: Vec<Option<f64>>| values.into_iter().next().flatten();
    let cost = filled(&query::SERVER_COST, "time_ns")?;
    let requests = requests as f64;
    let stretch_ns = busy.iter().map(Interval::length).sum::<i64>() / busy.len().max(1) as i64;
    for (name, column, unit, from_ns) in [
        ("switches_per_request", "switches", 1.0, SWITCHES_FROM_NS),
        ("involuntary_switches_per_request", "involuntary_switches", 1.0, SWITCHES_FROM_NS),
        ("migrations_per_request", "migrations", 1.0, SWITCHES_FROM_NS),
        ("run_queue_per_request", "run_queue_ns", 1e3, 0),
        ("cpu_per_request", "cpu_ns", 1e3, 0),
    ] {
        if stretch_ns < from_ns {
            continue;
        }
        let total = first(cost.numbers_or_null(column)?);
        figures.extend(total.map(|total| (name, total / unit / requests)));
    }
    let compilers = filled(&query::COMPILER_COST, "time_ns")?;
    let compiler_ns = first(compilers.numbers_or_null("compiler_ns")?);
    let busy_ns = busy.iter().map(Interval::length).sum::<i64>().max(1) as f64;
    figures.extend(compiler_ns.map(|ns| (COMPILER_CPUS, ns / busy_ns)));
    let counted = filled(&query::COUNTER_COST, "time_ns")?;
    for (name, column) in [
        ("cycles_per_request", "cycles"),
        ("instructions_per_request", "instructions"),
        ("cache_misses_per_request", "cache_misses"),
    ] {
        figures.extend(first(counted.numbers_or_null(column)?).map(|total| (name, total / requests)));
    }
    let in_node = first(filled(&query::TIME_IN_NODE, "start_ns")?.numbers_or_null("time_in_node_ms")?);
    figures.extend(in_node.map(|ms| ("time_in_node", ms)));
    of_tables(engine, busy, figures)?;
    figures.extend(gc_share(engine, busy)?.map(|share| ("gc_share", share)));
    Ok(())
}

/// If variants change only some nodes, the figures of those nodes are kept apart from those of their peers.
fn of_tables(engine: &Engine, busy: &[Interval], figures: &mut BTreeMap<&'static str, f64>) -> Result<(), Error> {
    const CHANGED: [&str; 5] =
        ["local_time", "disk_bytes", "sstables_per_read", "tombstones_per_slice", "droppable_ratio"];
    const PEERS: [&str; 5] = [
        "peers_local_time",
        "peers_disk_bytes",
        "peers_sstables_per_read",
        "peers_tombstones_per_slice",
        "peers_droppable_ratio",
    ];
    let time = within("time_ns", busy);
    let changed = engine.sql(&query::CHANGED_NODES.fill(&[]))?.texts("name")?;
    let sides = match changed.is_empty() {
        true => vec![(CHANGED, time)],
        false => {
            let names: Vec<String> = changed.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
            let names = names.join(", ");
            vec![
                (CHANGED, format!("{time} AND node IN ({names})")),
                (PEERS, format!("{time} AND node NOT IN ({names})")),
            ]
        }
    };
    for (names, filter) in sides {
        let filter = [("filter", Value::Condition(&filter))];
        let times = engine.sql(&query::LOCAL_TIME.fill(&filter))?;
        let levels = engine.sql(&query::TABLE_LEVELS.fill(&filter))?;
        for (column, name) in CHANGED.into_iter().zip(names) {
            let of = if column == "local_time" { &times } else { &levels };
            figures.extend(of.numbers_or_null(column)?.into_iter().next().flatten().map(|figure| (name, figure)));
        }
    }
    Ok(())
}

/// None if no pause of any node was recorded: pauses were not observed.
fn gc_share(engine: &Engine, busy: &[Interval]) -> Result<Option<f64>, Error> {
    let pauses = engine.sql(&query::PAUSES.fill(&[]))?;
    if pauses.rows() == 0 {
        return Ok(None);
    }
    let (starts, lengths) = (pauses.integers("start_ns")?, pauses.integers("duration_ns")?);
    let (kinds, phases) = (pauses.texts("kind")?, pauses.texts("phase")?);
    let stood_ns: i64 = (0..pauses.rows())
        .filter(|row| kinds[*row] == "gc" && phases[*row].is_empty())
        .map(|row| Interval::of_length(starts[row], lengths[row]))
        .map(|pause| busy.iter().map(|window| pause.clip(*window).length()).sum::<i64>())
        .sum();
    let nodes: usize = engine.manifests().iter().map(|manifest| manifest.nodes.len()).sum();
    let lived_ns = busy.iter().map(Interval::length).sum::<i64>() * nodes.max(1) as i64;
    Ok(Some(stood_ns as f64 / lived_ns as f64))
}
