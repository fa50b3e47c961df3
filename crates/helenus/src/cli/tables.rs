use crate::terminal;
use anyhow::Result;
use clap::{Args, ValueEnum};
use helenus_explain::{Engine, TableHealth, bytes_text, tables};
use helenus_recording::Recording;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show how the tables of the recorded nodes are: SSTables, tombstones, disk space, and what reads and writes took
///
/// Rates and times are of the recording; SSTables and tombstones of a read are 95th percentiles over the node's last minutes;
/// write amplification is since the node started. All are the node's own metrics, read by the agent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --for 60s -o node.helenus && helenus tables node.helenus
  helenus tables node.helenus --sort tombstones
  helenus tables node.helenus --table shop. --json | jq '.[] | select(.droppable_ratio > 0.2)'")]
pub struct Arguments {
    /// One recording or more
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    /// Only tables whose keyspace.table has this in it
    #[arg(long, value_name = "TEXT")]
    table: Option<String>,
    /// Cassandra's own tables too
    #[arg(long)]
    system: bool,
    /// Which come first
    #[arg(long, value_enum, default_value = "reads")]
    sort: Sort,
    /// Everything as JSON
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

impl Sort {
    fn of(self, table: &TableHealth) -> f64 {
        let whole = |number: Option<i64>| number.map(|number| number as f64);
        let value = match self {
            Sort::Reads => table.reads_per_s,
            Sort::Writes => table.writes_per_s,
            Sort::Disk => whole(table.live_disk_bytes),
            Sort::Sstables => whole(table.sstables),
            Sort::Tombstones => table.tombstones_per_slice_p95,
            Sort::Pending => whole(table.pending_compactions),
        };
        value.unwrap_or(f64::NEG_INFINITY)
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let recordings = arguments.recordings.iter().map(|path| Recording::open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut tables = tables(&Engine::open(&recordings)?)?;
    let none_recorded = tables.is_empty();
    tables.retain(|table| {
        (arguments.system || !table.is_of_system())
            && arguments.table.as_ref().is_none_or(|text| table.table.contains(text))
    });
    tables.sort_by(|a, b| arguments.sort.of(b).total_cmp(&arguments.sort.of(a)));
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&tables)?);
        return Ok(ExitCode::SUCCESS);
    }
    if tables.is_empty() {
        terminal::warn(match none_recorded {
            true => "no table is recorded: the recording was made without the agent (--no-agent), or of no Cassandra",
            false => "no table is left: --system shows Cassandra's own, and --table takes a part of keyspace.table",
        });
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{}", terminal::table(&HEAD, tables.iter().map(line), 2));
    Ok(ExitCode::SUCCESS)
}

const HEAD: [&str; 14] = [
    "node",
    "table",
    "reads/s",
    "read µs",
    "writes/s",
    "write µs",
    "SSTables",
    "per read",
    "tombstones",
    "live cells",
    "droppable",
    "live on disk",
    "write ampl.",
    "pending",
];

fn line(table: &TableHealth) -> Vec<String> {
    let number =
        |value: Option<f64>, digits: usize| value.map_or("–".to_string(), |value| format!("{value:.digits$}"));
    let count = |value: Option<i64>| value.map_or("–".to_string(), |value| value.to_string());
    vec![
        table.node.clone(),
        table.table.clone(),
        number(table.reads_per_s, 0),
        number(table.local_read_us, 0),
        number(table.writes_per_s, 0),
        number(table.local_write_us, 0),
        count(table.sstables),
        number(table.sstables_per_read_p95, 1),
        number(table.tombstones_per_slice_p95, 0),
        number(table.live_cells_per_slice_p95, 0),
        number(table.droppable_ratio, 3),
        table.live_disk_bytes.map_or("–".to_string(), bytes_text),
        number(table.write_amplification, 1),
        count(table.pending_compactions),
    ]
}
