use super::nodes;
use super::peers::{self, Peers, Watch};
use super::target::say_log;
use crate::assets::AGENT_JAR;
use crate::{interrupt, settings, terminal};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use helenus_cassandra::journal::Journal;
use helenus_cassandra::target::{self, TargetName};
use helenus_cassandra::{Cancel, Places};
use helenus_control::{Entry, Link, Outcome, State, Tuner, Undone};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Change settings of one running node, compare it, and undo
///
/// Other nodes are not changed.
///
/// A change is written into a journal before it is made. It stays until `tune undo`, the end of its lease, or a restart of
/// the node, and an ALTER TABLE of the same parameters takes its place. Changes that all nodes need are
/// printed as CQL, and never run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus tune apply --node 10.0.0.7 --table shop.orders --compaction '{\"class\":\"LeveledCompactionStrategy\"}' --compare
  helenus tune apply --node 10.0.0.7 --compaction-throughput 128 --concurrent-compactors 4 --lease 2h
  helenus tune apply --node 10.0.0.7 --requests-per-second 2000 --lease 1h
  helenus tune status
  helenus tune renew --node 10.0.0.7 --lease 24h
  helenus tune compare --node 10.0.0.7 --table shop.orders --for 1m
  helenus tune undo --node 10.0.0.7 --table shop.orders
  helenus tune cql --table shop.orders --gc-grace 24h")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Change settings of one node
    Apply(Apply),
    /// Show the changes on each node, until when they last, and whether the node still has them
    Status(Status),
    /// Restart leases: changes last for this long from now on
    Renew(Renew),
    /// Compare a table on one node with its peers
    Compare(Compare),
    /// Restore the former value, unless somebody else has changed it since
    Undo(Undo),
    /// Print the CQL for changes of all nodes; it is never run
    Cql(settings::OfAll),
}

#[derive(Debug, Args)]
struct Apply {
    /// CQL address of the node, which runs on this machine
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: String,
    #[command(flatten)]
    wanted: settings::OfNode,
    /// Restore the former value after this time, even if helenus is gone [default: stays until it is undone]
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    lease: Option<Duration>,
    /// Measure the table on this node and its peers before, and watch it until its compactions are done
    #[arg(long, requires = "table")]
    compare: bool,
    #[command(flatten)]
    watch: Watch,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Status {
    /// Only this node; also shows what other users changed
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Renew {
    /// Changes of this node, also by other users
    #[arg(long, value_name = "ADDRESS[:PORT]", required_unless_present_any = ["table", "all"])]
    node: Option<String>,
    /// Changes of this table
    #[arg(long, value_name = "KEYSPACE.TABLE")]
    table: Option<String>,
    /// Everything that the journal has
    #[arg(long, conflicts_with_all = ["node", "table"])]
    all: bool,
    /// New length of the lease, also for changes without one
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    lease: Duration,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Compare {
    /// CQL address of the node, which runs on this machine
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: String,
    /// The table
    #[arg(long, value_name = "KEYSPACE.TABLE")]
    table: String,
    #[command(flatten)]
    watch: Watch,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Undo {
    /// Changes of this node, also by other users
    #[arg(long, value_name = "ADDRESS[:PORT]", required_unless_present_any = ["table", "all"])]
    node: Option<String>,
    /// Changes of this table
    #[arg(long, value_name = "KEYSPACE.TABLE")]
    table: Option<String>,
    /// Everything that the journal has
    #[arg(long, conflicts_with_all = ["node", "table"])]
    all: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.action {
        Action::Apply(arguments) => apply(&arguments)?,
        Action::Status(arguments) => status(&arguments)?,
        Action::Renew(arguments) => renew(&arguments)?,
        Action::Compare(arguments) => compare(&arguments)?,
        Action::Undo(arguments) => undo(&arguments)?,
        Action::Cql(arguments) => arguments.print()?,
    }
    Ok(ExitCode::SUCCESS)
}

fn tuner() -> Result<Tuner> {
    Ok(Tuner { journal: Journal::within(&Places::of_user()?.state), agent: AGENT_JAR })
}

fn apply(arguments: &Apply) -> Result<()> {
    let wanted = arguments.wanted.read()?;
    ensure!(!wanted.is_empty(), "say what is to be set, such as --compaction-throughput 64");
    let cancel = interrupt::cancel_on_signals()?;
    let tuner = tuner()?;
    let target = target::find(TargetName::Address(nodes::address(&arguments.node)?))?;
    let mut link = Link::open(&target, AGENT_JAR)?;
    // Check first, before measuring for a while in vain.
    for (setting, _) in &wanted {
        link.read_setting(setting)?;
    }
    let mut figures = BTreeMap::new();
    let mut beside = None;
    let table = arguments.wanted.table.as_deref().filter(|_| arguments.compare);
    if let Some(table) = table {
        let mut found = Peers::find(&arguments.node, table, &arguments.watch).context("nothing was changed")?;
        let measured = found.measure(&arguments.watch, "before the change", &cancel);
        figures = measured.context("nothing was changed")?;
        if cancel.is_cancelled() {
            bail!("cut short before anything was changed");
        }
        beside = Some(found);
    }
    let mut made: Vec<Entry> = Vec::new();
    for (setting, value) in wanted {
        let called = setting.to_string();
        let reached = (arguments.node.as_str(), &target, &mut link);
        match tuner.apply(reached, setting, value, arguments.lease, figures.clone()) {
            Ok(entry) => made.push(entry),
            Err(error) => {
                let broken = matches!(error, helenus_control::Error::Broken { .. });
                let mut error = anyhow::Error::from(error).context(format!("{called} on {}", arguments.node));
                if broken {
                    error = error.context("it is not known whether it was changed, `helenus tune status` says");
                }
                for entry in made.iter().rev() {
                    tuner.undo(entry).with_context(|| format!("{} is left changed", entry.setting))?;
                }
                return Err(error);
            }
        }
    }
    say_log(&mut link);
    drop(link);
    if arguments.json && beside.is_none() {
        terminal::json(&made)?;
    }
    made.iter().for_each(|entry| say_made(entry, arguments));
    if let Some(beside) = beside {
        let watched = watch(beside, &arguments.node, &arguments.watch, (&figures, arguments.json), &cancel);
        watched
            .context("changed, and not compared to the end; `helenus tune status` says what is left of the change")?;
    }
    Ok(())
}

fn say_made(entry: &Entry, arguments: &Apply) {
    let now = entry.set.as_ref().unwrap_or(&entry.wanted);
    terminal::done(format_args!(
        "{} on {}: {} → {}",
        entry.setting,
        entry.node,
        settings::text(&entry.before),
        settings::text(now)
    ));
    let until = match arguments.lease {
        Some(lease) => {
            format!("it is put back in {}, or later by `helenus tune renew`", settings::length(lease))
        }
        None => "it stays until `helenus tune undo`, or until the node restarts".to_string(),
    };
    terminal::talk(terminal::dim(until));
    if let Some(table) = &entry.setting.table {
        terminal::talk(terminal::dim(
            "the compaction needs up to the table's size on disk; once the change has proved itself, for all nodes:",
        ));
        let statement = settings::alter(table, &[("compaction", settings::literal(&entry.wanted))]);
        terminal::talk(format_args!("  {}", terminal::dim(statement)));
    }
}

fn compare(arguments: &Compare) -> Result<()> {
    let cancel = interrupt::cancel_on_signals()?;
    let of = |entry: &Entry| is_of(entry, &arguments.node) && entry.setting.table.as_deref() == Some(&arguments.table);
    let tuned = tuner()?.journal.entries()?.into_iter().rfind(of);
    // Figures are kept under the name that the node had at that time.
    let (node, before) = tuned.map_or((arguments.node.clone(), BTreeMap::new()), |entry| (entry.node, entry.figures));
    let found = Peers::find(&node, &arguments.table, &arguments.watch)?;
    watch(found, &node, &arguments.watch, (&before, arguments.json), &cancel)
}

/// Whether the entry is about the node with this address.
fn is_of(entry: &Entry, node: &str) -> bool {
    entry.node == node
        || matches!((nodes::address(&entry.node), nodes::address(node)), (Ok(one), Ok(other)) if one == other)
}

fn watch(
    mut found: Peers,
    node: &str,
    watch: &Watch,
    (before, as_json): (&BTreeMap<String, helenus_control::Measured>, bool),
    cancel: &Cancel,
) -> Result<()> {
    let settled = found.settle(watch, cancel)?;
    let now = found.measure(watch, "now", cancel)?;
    let (besides, peers) = peers::beside(node, before, &now);
    if as_json {
        let nodes = json!({"node": node, "table": found.table(), "settled": settled, "figures": besides, "before": before, "now": now});
        terminal::json(&nodes)?;
    } else {
        terminal::print(peers::table(&besides, peers));
    }
    if !settled {
        terminal::warn(format_args!(
            "compactions are not done: the figures are of halfway; look again with `helenus tune compare --node {node} --table {}`",
            found.table()
        ));
    }
    Ok(())
}

/// The journal's entries, and other changes on a node that the user named.
fn entries(tuner: &Tuner, node: Option<&str>, table: Option<&str>) -> Result<Vec<Entry>> {
    let mut entries = tuner.journal.entries()?;
    if let Some(node) = node {
        entries.retain(|entry| is_of(entry, node));
        match target::find(TargetName::Address(nodes::address(node)?)) {
            Ok(target) => entries.extend(tuner.set_elsewhere(node, &target)?),
            // For a node that is down, the journal's entries are enough.
            Err(error) if entries.is_empty() => return Err(error.into()),
            Err(_) => {}
        }
    }
    entries.retain(|entry| table.is_none_or(|table| entry.setting.table.as_deref() == Some(table)));
    Ok(entries)
}

fn status(arguments: &Status) -> Result<()> {
    let tuner = tuner()?;
    let entries = entries(&tuner, arguments.node.as_deref(), None)?;
    let states: Vec<(Entry, State)> = entries.into_iter().map(|entry| (entry.clone(), tuner.state(&entry))).collect();
    if arguments.json {
        let both = |(entry, state): &(Entry, State)| -> Result<Value> {
            let mut both = serde_json::to_value(entry)?;
            if let (Value::Object(both), Value::Object(state)) = (&mut both, serde_json::to_value(state)?) {
                both.extend(state);
            }
            Ok(both)
        };
        terminal::json(&states.iter().map(both).collect::<Result<Vec<_>>>()?)?;
    } else if states.is_empty() {
        terminal::talk("nothing is tuned");
    } else {
        let header = ["node", "setting", "before", "set to", "since", "is"];
        let rows = states.iter().map(|(entry, state)| {
            vec![
                entry.node.clone(),
                entry.setting.to_string(),
                settings::text(&entry.before),
                settings::text(entry.set.as_ref().unwrap_or(&entry.wanted)),
                settings::since(entry.made_ms),
                state_text(state),
            ]
        });
        terminal::print(terminal::table(&header, rows, 6));
    }
    if states.iter().any(|(_, state)| !matches!(state, State::Applied { .. } | State::Unknown { .. })) {
        terminal::talk(terminal::dim("`helenus tune undo` takes what is no longer in force out of the journal"));
    }
    Ok(())
}

fn renew(arguments: &Renew) -> Result<()> {
    let tuner = tuner()?;
    let entries = entries(&tuner, arguments.node.as_deref(), arguments.table.as_deref())?;
    ensure!(!entries.is_empty(), "nothing of that is tuned; `helenus tune status` shows what is");
    let mut renewed = Vec::new();
    let mut failed = Vec::new();
    for entry in &entries {
        match tuner.renew(entry, arguments.lease) {
            Ok(entry) => renewed.push(entry),
            Err(error) => failed.push(error.to_string()),
        }
    }
    for entry in &renewed {
        let lease = settings::length(arguments.lease);
        terminal::done(format_args!("{} on {} is put back in {lease}", entry.setting, entry.node));
    }
    if arguments.json {
        terminal::json(&renewed)?;
    }
    if !failed.is_empty() {
        bail!("{} of {} not renewed: {}", failed.len(), entries.len(), failed.join("; "));
    }
    Ok(())
}

fn state_text(state: &State) -> String {
    match state {
        State::Applied { left_ms: None } => terminal::good("in force"),
        State::Applied { left_ms: Some(left_ms) } => {
            terminal::good(format_args!("in force for {} more", settings::length(Duration::from_millis(*left_ms))))
        }
        State::NotMade => "never made: helenus ended before it".to_string(),
        State::Undone { by_lease: true } => "put back: its lease is over".to_string(),
        State::Undone { by_lease: false } => "put back".to_string(),
        State::Altered { now, in_schema: true } => {
            format!("replaced by an ALTER TABLE: it is {}", settings::text(now))
        }
        State::Altered { now, in_schema: false } => format!("set by somebody else to {}", settings::text(now)),
        State::Restarted => "gone: the node's process has ended".to_string(),
        State::Unknown { reason } => terminal::severity_text("warning", format_args!("not known: {reason}")),
    }
}

fn undo(arguments: &Undo) -> Result<()> {
    let tuner = tuner()?;
    let entries = entries(&tuner, arguments.node.as_deref(), arguments.table.as_deref())?;
    if entries.is_empty() && !arguments.all {
        bail!("nothing of that is tuned; `helenus tune status` shows what is");
    }
    let mut undone = Vec::new();
    let mut failed = Vec::new();
    // The last change comes first.
    for entry in entries.iter().rev() {
        match tuner.undo(entry) {
            Ok(outcome) => undone.push((entry, outcome)),
            Err(error) => failed.push(format!("{} on {}: {error}", entry.setting, entry.node)),
        }
    }
    undone.iter().for_each(|(entry, undone)| say_undone(entry, undone));
    if arguments.json {
        let one = |(entry, undone): &(&Entry, Undone)| {
            json!({"id": entry.id, "node": entry.node, "setting": entry.setting.name, "table": entry.setting.table,
                "outcome": undone.outcome, "now": undone.now})
        };
        terminal::json(&undone.iter().map(one).collect::<Vec<_>>())?;
    } else if entries.is_empty() {
        terminal::talk("nothing is tuned");
    }
    if !failed.is_empty() {
        bail!("{} may be left changed, try again: {}", failed.len(), failed.join("; "));
    }
    if arguments.all {
        super::all_were_read()?;
    }
    Ok(())
}

fn say_undone(entry: &Entry, undone: &Undone) {
    let (setting, node) = (&entry.setting, &entry.node);
    let now = undone.now.as_ref().map(settings::text).unwrap_or_default();
    match undone.outcome {
        Outcome::Undone => terminal::done(format_args!("{setting} on {node} is {now} again")),
        Outcome::Gone => terminal::done(format_args!("{setting} on {node} was {now} already")),
        Outcome::Altered => terminal::warn(format_args!(
            "{setting} on {node} was set by somebody else since, and stays so: it is {now}, and was {} before",
            settings::text(&entry.before)
        )),
        Outcome::Dropped => terminal::done(format_args!("{node} has no such table any more: {setting} went with it")),
        Outcome::Restarted => {
            terminal::done(format_args!("the process of {node} has ended, and {setting} with it"));
        }
    }
}
