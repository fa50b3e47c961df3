mod files;
mod sstables;

use super::live::{self, Provider, Sources};
use crate::terminal;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use helenus_explain::{Engine, Sstable, SstableGroup, TableHealth, sstable_groups, tables};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show SSTables, tombstones, disk space and latencies of tables
///
/// Of recorded or running nodes.
///
/// Rates and times cover the recording, or the time of reading a running node; SSTables, tombstones and partitions
/// cover its last minutes; write amplification counts from the node's start. --json has all figures, each with its
/// source.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus tables --node 127.0.0.1
  helenus tables --node 127.0.0.1 --node 127.0.0.2 --node 127.0.0.3 --table shop.orders
  helenus tables --node 127.0.0.1 --watch --sort tombstones
  helenus tables --node 10.0.0.7 --no-agent --user monitor --password-file secret --tls-ca ca.pem
  helenus tables --node 10.0.0.7 --jmx 10.0.0.7:7199 --jmx-user monitor --jmx-password-file secret
  helenus record --node 127.0.0.1 --for 60s -o node.helenus && helenus tables node.helenus
  helenus tables node.helenus --show disk
  helenus tables node.helenus --table shop.orders --show sstables
  helenus tables --files /var/lib/cassandra/data --table shop.orders   # of a node that does not run
  helenus tables node.helenus --json | jq '.tables[] | select(.droppable_ratio > 0.2)'")]
pub struct Arguments {
    #[command(flatten)]
    pub sources: Sources,
    /// In place of recordings and nodes: the SSTables in a folder with data, or in a part of it, read by Cassandra's own
    /// sstablemetadata. Nothing in it is changed
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["recordings", "nodes", "sort"])]
    files: Option<PathBuf>,
    /// Only tables whose keyspace.table has this in it
    #[arg(long, value_name = "TEXT")]
    table: Option<String>,
    /// Cassandra's own tables too
    #[arg(long)]
    system: bool,
    /// Which come first
    #[arg(long, value_enum, default_value = "reads")]
    sort: Sort,
    /// Which figures
    #[arg(long, value_enum, default_value = "work")]
    show: Show,
    /// All figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    Reads,
    Writes,
    Disk,
    Sstables,
    Tombstones,
    Pending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
    /// Reads, writes, and what they meet
    Work,
    /// Disk space, SSTables and compactions
    Disk,
    /// Partitions, filters and caches
    Partitions,
    /// Each SSTable, and how large those of a level, a window or a size are together
    Sstables,
}

impl Sort {
    fn of(self, table: &TableHealth) -> f64 {
        let whole = |number: Option<i64>| number.map(|number| number as f64);
        let value = match self {
            Sort::Reads => table.reads_per_s,
            Sort::Writes => table.writes_per_s,
            Sort::Disk => whole(table.live_disk_bytes),
            Sort::Sstables => whole(table.sstables),
            Sort::Tombstones => table.tombstones_per_slice(),
            Sort::Pending => whole(table.pending_compactions),
        };
        value.unwrap_or(f64::NEG_INFINITY)
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    /// The sources of the figures.
    source: Vec<&'static str>,
    tables: &'a [TableHealth],
    /// The SSTables, with --show sstables.
    #[serde(skip_serializing_if = "Option::is_none")]
    sstables: Option<&'a [Sstable]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sstable_groups: Option<&'a [SstableGroup]>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if let Some(folder) = &arguments.files {
        let recorded = files::recorded(folder, arguments.table.as_deref())?;
        arguments.show_sstables(recorded.engine(), &[], vec![files::SOURCE])?;
        return Ok(ExitCode::SUCCESS);
    }
    arguments.sources.each(arguments.json, |engine| arguments.show(engine))?;
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn show(&self, engine: &Engine) -> Result<()> {
        let mut tables = tables(engine)?;
        let none_recorded = tables.is_empty();
        tables.retain(|table| self.is_asked_for(&table.table, table.is_of_system()));
        tables.sort_by(|a, b| self.sort.of(b).total_cmp(&self.sort.of(a)));
        let source: Vec<&str> = live::provider(engine, "tables").into_iter().map(said_of).collect();
        if let Some(text) =
            self.table.as_ref().filter(|_| tables.is_empty() && !none_recorded && !self.sources.is_watching())
        {
            bail!(
                "no table has `{text}` in its keyspace.table; leave --table out to see all, and give --system for Cassandra's own"
            );
        }
        if self.show == Show::Sstables {
            return self.show_sstables(engine, &tables, source);
        }
        if self.json {
            return self.print_json(&Shown { source, tables: &tables, sstables: None, sstable_groups: None });
        }
        if tables.is_empty() {
            terminal::warn(match none_recorded {
                true => {
                    "no table is recorded: the recording was made without the agent (--no-agent), or of no Cassandra"
                }
                false => "no table is left: --system shows Cassandra's own",
            });
            return Ok(());
        }
        if tables.iter().all(|table| table.reads_per_s.is_none() && table.writes_per_s.is_none()) {
            terminal::warn(
                "the tables were read once, so that nothing is known by the second: record, or look (--for), for longer",
            );
        }
        let (head, line): (&[&str], Line) = match self.show {
            Show::Work => (&WORK, work),
            Show::Disk => (&DISK, disk),
            Show::Partitions | Show::Sstables => (&PARTITIONS, partitions),
        };
        let named = |table: &TableHealth| [vec![table.node.clone(), table.table.clone()], line(table)].concat();
        terminal::print(terminal::table(&[&["node", "table"], head].concat(), tables.iter().map(named), 2));
        for line in source {
            terminal::print(terminal::dim(line));
        }
        Ok(())
    }
}

impl Arguments {
    fn is_asked_for(&self, table: &str, is_of_system: bool) -> bool {
        (self.system || !is_of_system) && self.table.as_ref().is_none_or(|text| table.contains(text))
    }

    fn show_sstables(&self, engine: &Engine, tables: &[TableHealth], source: Vec<&'static str>) -> Result<()> {
        let mut all = helenus_explain::sstables(engine)?;
        all.retain(|sstable| self.is_asked_for(&sstable.table, sstable.is_of_system()));
        let groups = sstable_groups(engine, &all)?;
        if self.json {
            let (sstables, sstable_groups) = (Some(all.as_slice()), Some(groups.as_slice()));
            return self.print_json(&Shown { source, tables, sstables, sstable_groups });
        }
        if let Some(text) = self.table.as_ref().filter(|_| all.is_empty() && !self.sources.is_watching()) {
            bail!("no SSTable of a table that has `{text}` in its keyspace.table; leave --table out to see all");
        }
        if all.is_empty() {
            terminal::warn(
                "no SSTable is recorded: the tables are not on disk yet, or the recording was made without the agent, or \
                 --system leaves none; --files reads a folder with data",
            );
            return Ok(());
        }
        sstables::print(&all, &groups);
        let mut sources: Vec<&str> = all.iter().map(|sstable| sstable.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        let sources = sources.join(", ");
        terminal::print(terminal::dim(format_args!("source: the statistics within the SSTables, by {sources}")));
        Ok(())
    }

    fn print_json(&self, shown: &Shown<'_>) -> Result<()> {
        match self.sources.is_watching() {
            true => terminal::json_line(&live::timed(shown))?,
            false => terminal::json(shown)?,
        }
        Ok(())
    }
}

/// The figures of a table, one for each column.
type Line = fn(&TableHealth) -> Vec<String>;

fn said_of(provider: Provider) -> &'static str {
    match provider {
        Provider::Agent => {
            "source: the node's own metrics, read in its JVM by the agent; times are means of local requests, per read, \
             tombstones and live cells 95th percentiles of the last minutes"
        }
        Provider::Jmx => {
            "source: the node's own metrics, read over JMX from outside its JVM; times are means of local requests, per read, \
             tombstones and live cells 95th percentiles of the last minutes"
        }
        Provider::VirtualTables => {
            "source: CQL's virtual tables (system_views), which have no latencies of use; tombstones and live cells are 99th \
             percentiles of the last minutes; SSTables by their files, where those can be read"
        }
    }
}

const WORK: [&str; 12] = [
    "reads/s",
    "read µs",
    "writes/s",
    "write µs",
    "coord. read µs",
    "SSTables",
    "per read",
    "tombstones",
    "live cells",
    "droppable",
    "live on disk",
    "pending",
];

fn work(table: &TableHealth) -> Vec<String> {
    vec![
        number(table.reads_per_s, 0),
        number(table.local_read_us, 0),
        number(table.writes_per_s, 0),
        number(table.local_write_us, 0),
        number(table.coordinator_read_us, 0),
        count(table.sstables),
        number(table.sstables_per_read_p95, 1),
        number(table.tombstones_per_slice(), 0),
        number(table.live_cells_per_slice(), 0),
        number(table.droppable_ratio, 3),
        bytes(table.live_disk_bytes),
        count(table.pending_compactions),
    ]
}

const DISK: [&str; 11] = [
    "live on disk",
    "total",
    "compressed",
    "SSTables",
    "by level or window",
    "largest",
    "of all",
    "age",
    "write ampl.",
    "pending",
    "running",
];

fn disk(table: &TableHealth) -> Vec<String> {
    let groups = table.sstables_by_level.as_ref().or(table.sstables_by_window.as_ref());
    let groups = groups
        .filter(|groups| !groups.is_empty())
        .map(|groups| groups.iter().map(i64::to_string).collect::<Vec<_>>().join("/"));
    let running = match (table.running_compactions, table.compacting_bytes.zip(table.compacted_bytes)) {
        (Some(running), Some((all, done))) if running > 0 => {
            format!("{running}: {} of {}", terminal::bytes(done), terminal::bytes(all))
        }
        (running, _) => count(running),
    };
    vec![
        bytes(table.live_disk_bytes),
        bytes(table.total_disk_bytes),
        percent(table.compression_ratio),
        count(table.sstables),
        groups.unwrap_or_else(nothing),
        bytes(table.largest_sstable_bytes),
        percent(table.largest_share()),
        table.largest_sstable_age_s.map_or_else(nothing, |age| terminal::nanos(age.saturating_mul(1_000_000_000))),
        number(table.write_amplification, 1),
        count(table.pending_compactions),
        running,
    ]
}

const PARTITIONS: [&str; 7] =
    ["mean partition", "largest", "false positives", "of misses", "key cache hits", "row cache hits", "repaired"];

fn partitions(table: &TableHealth) -> Vec<String> {
    vec![
        bytes(table.mean_partition_bytes),
        bytes(table.max_partition_bytes),
        count(table.bloom_false_positives),
        percent(table.bloom_false_ratio),
        percent(table.key_cache_hit_rate),
        percent(table.row_cache_hit_rate),
        percent(table.percent_repaired.map(|percent| percent / 100.0)),
    ]
}

fn nothing() -> String {
    "–".to_string()
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(nothing, |value| format!("{value:.digits$}"))
}

fn count(value: Option<i64>) -> String {
    value.map_or_else(nothing, |value| value.to_string())
}

fn bytes(value: Option<i64>) -> String {
    value.map_or_else(nothing, terminal::bytes)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(nothing, |share| format!("{:.1} %", share * 100.0))
}
