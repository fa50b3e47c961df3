use super::opened::opened;
use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_explain::Io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Account for I/O by table, file and client
///
/// Shows the bytes that the node read and wrote, and the bytes that clients got.
///
/// Files come from system calls (`helenus record --syscalls summary|full`), what clients got from their requests.
/// Bytes of calls are those that they moved, out of the page cache or from the disk; those read through mappings, and those from the
/// disk, are what the kernel had to fetch. "In order" is how much requests read of a file from one jump to the next, on average
/// (with `--syscalls full`).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus record --node 127.0.0.1 --syscalls summary --for 60s -o node.helenus
  helenus io node.helenus
  helenus io node.helenus --json | jq '.tables[] | select(.amplification > 10)'")]
pub struct Arguments {
    /// One or more recordings
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    /// Files and statements to show at most
    #[arg(long, value_name = "N", default_value_t = 15)]
    limit: usize,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let io = Io::load(&opened(&arguments.recordings)?)?;
    if arguments.json {
        terminal::json(&io)?;
        return Ok(ExitCode::SUCCESS);
    }
    if io.files.is_empty() {
        terminal::warn(
            "no system call on a file is recorded: record with --syscalls summary to see what was read and written",
        );
    }
    if io.statements.is_empty() {
        terminal::warn(
            "no request on the wire is recorded, so what clients got is not known; record as root, without --requests off",
        );
    }
    let shown = |bytes: i64| if bytes == 0 { "–".to_string() } else { terminal::bytes(bytes) };
    let times = |times: Option<f64>| times.map_or("–".to_string(), |times| format!("{times:.1}"));
    let tables = io.tables.iter().map(|table| {
        vec![
            table.table.clone(),
            shown(table.reads.bytes),
            shown(table.mapped_reads.bytes),
            shown(table.returned_bytes),
            times(table.amplification),
            table.requests.to_string(),
            shown(table.background_reads.bytes + table.background_mapped_reads.bytes),
            shown(table.from_disk_bytes),
            shown(table.writes.bytes),
        ]
    });
    let head = [
        "table",
        "read for requests",
        "through mappings",
        "returned",
        "times",
        "requests",
        "read by others",
        "from disk",
        "written",
    ];
    print(&head, tables, 1);
    let files = io.files.iter().take(arguments.limit).map(|file| {
        let mean_us = if file.reads.calls > 0 { file.reads.total_ms * 1e3 / file.reads.calls as f64 } else { f64::NAN };
        vec![
            file.file.clone(),
            shown(file.reads.bytes),
            file.reads.calls.to_string(),
            if mean_us.is_nan() { "–".into() } else { format!("{mean_us:.1}") },
            file.run_bytes.map_or("–".into(), |bytes| terminal::bytes(bytes as i64)),
            shown(file.mapped_reads.bytes),
            if file.mapped_reads.faults == 0 { "–".into() } else { file.mapped_reads.faults.to_string() },
            shown(file.background_reads.bytes + file.background_mapped_reads.bytes),
            shown(file.from_disk_bytes),
            shown(file.writes.bytes),
        ]
    });
    let head = [
        "file",
        "read for requests",
        "calls",
        "mean µs",
        "in order",
        "through mappings",
        "faults",
        "read by others",
        "from disk",
        "written",
    ];
    print(&head, files, 1);
    let statements = io.statements.iter().take(arguments.limit).map(|statement| {
        vec![
            statement.statement.clone(),
            statement.requests.to_string(),
            shown(statement.request_bytes),
            shown(statement.response_bytes),
            times(statement.amplification),
            format!("{:.2}", statement.p50_ms),
            format!("{:.2}", statement.max_ms),
        ]
    });
    print(&["statement", "requests", "sent", "returned", "times", "p50 ms", "max ms"], statements, 1);
    Ok(ExitCode::SUCCESS)
}

/// Prints a table, if it has rows; columns from a given one on are numbers.
fn print(head: &[&str], rows: impl Iterator<Item = Vec<String>>, figures_from: usize) {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    terminal::print(terminal::table(head, rows, figures_from));
}
