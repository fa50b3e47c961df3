use super::opened::say_skipped;
use crate::interrupt::cancel_on_signals;
use crate::terminal;
use anyhow::Result;
use clap::{Args, Subcommand};
use helenus_recording::{Loss, Manifest, Recording, State, merge_while, salvage};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Inspect, salvage and merge recordings
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show tables, sources and losses of a recording
    #[command(after_help = "Example:\n  helenus recording info run.helenus --json | jq .tables")]
    Info {
        recording: PathBuf,
        /// The manifest as JSON
        #[arg(long)]
        json: bool,
    },
    /// Complete a recording whose writer was killed or whose disk was full, and set aside damaged files
    #[command(after_help = "Example:\n  helenus recording salvage run.helenus")]
    Salvage {
        recording: PathBuf,
        /// Print the recording's rows as JSON
        #[arg(long)]
        json: bool,
    },
    /// Merge recordings into one, such as one from `helenus load` and one from `helenus record`
    ///
    /// Recordings of one machine share a clock. Recordings of other machines have their own clocks: give with --ahead
    /// how far each is ahead of the first one's, if known (for example from chronyc tracking).
    #[command(after_help = "Examples:
  helenus recording merge load.helenus server.helenus -o both.helenus
  helenus recording merge one.helenus two.helenus three.helenus --ahead 1.5ms --ahead -200us -o all.helenus")]
    Merge {
        #[arg(required = true, num_args = 2..)]
        recordings: Vec<PathBuf>,
        /// How far the clock of the second recording is ahead of the first's, then of the third, and so on
        #[arg(long, value_name = "DURATION", value_parser = ahead, allow_hyphen_values = true)]
        ahead: Vec<i64>,
        /// Path of the new recording
        #[arg(short, long)]
        output: PathBuf,
        /// Print the new recording's rows as JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Command::Info { recording, json } => {
            let mut recording = Recording::open(&recording)?;
            recording.verify(None);
            let manifest = recording.manifest();
            let mut out = terminal::out();
            if json {
                terminal::json(manifest)?;
            } else {
                describe(&mut out, manifest)?;
            }
        }
        Command::Salvage { recording, json } => {
            let salvaged = salvage(&recording)?;
            if salvaged.was_closed && salvaged.damaged.is_empty() {
                terminal::done(format_args!(
                    "{} was closed properly: there is nothing to salvage",
                    recording.display()
                ));
            } else {
                let rows = salvaged.tables.values().map(|table| table.rows).sum();
                terminal::done(format_args!(
                    "salvaged {} rows of {} tables",
                    terminal::count(rows),
                    salvaged.tables.len()
                ));
            }
            if !salvaged.cut.is_empty() {
                terminal::warn(format_args!(
                    "the last rows of {} were cut off: where the writer was ended, that is at most its last second; where the file was cut afterwards, it may be more",
                    salvaged.cut.join(", ")
                ));
            }
            if !salvaged.lost_before.is_empty() {
                let lines = salvaged.lost_before.iter().map(lost).collect::<Vec<_>>().join("\n  ");
                terminal::warn(format_args!("what was lost while it was written stays lost:\n  {lines}"));
            }
            if json {
                terminal::json(&json!({
                    "lost_before": salvaged.lost_before,
                    "was_whole": salvaged.was_closed,
                    "recorded": super::Recorded::in_folder(&recording, &salvaged.tables, &salvaged.damaged),
                    "cut": salvaged.cut,
                }))?;
            }
            if !salvaged.damaged.is_empty() {
                let lines = salvaged.damaged.iter().map(lost).collect::<Vec<_>>().join("\n  ");
                anyhow::bail!("not all of {} could be read:\n  {lines}", recording.display());
            }
        }
        Command::Merge { recordings, ahead, output, json } => {
            anyhow::ensure!(
                ahead.len() < recordings.len(),
                "--ahead is given {} times, for {} recordings after the first",
                ahead.len(),
                recordings.len() - 1
            );
            let cancel = cancel_on_signals()?;
            let mut parts = recordings.iter().map(|path| Recording::open(path)).collect::<Result<Vec<_>, _>>()?;
            parts.iter_mut().for_each(|part| part.verify(None));
            say_skipped(&parts.iter().flat_map(Recording::skipped).collect::<Vec<_>>());
            let title = parts.iter().map(|part| part.manifest().title.as_str()).collect::<Vec<_>>().join(" + ");
            let made_by = (title.as_str(), "helenus recording merge");
            let manifest = merge_while(&parts, &ahead, &output, made_by, &|| !cancel.is_cancelled())?;
            let rows = manifest.tables.values().map(|table| table.rows).sum();
            terminal::done(format_args!("{} rows in {}", terminal::count(rows), output.display()));
            if json {
                terminal::json(&super::Recorded::in_folder(&output, &manifest.tables, &manifest.losses))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A duration that may be negative, in ns.
fn ahead(text: &str) -> Result<i64, String> {
    let (text, sign) = text.strip_prefix('-').map_or((text, 1), |text| (text, -1));
    let duration = super::duration(text)?;
    i64::try_from(duration.as_nanos()).map(|ns| sign * ns).map_err(|_| "that is centuries".to_string())
}

fn describe(out: &mut impl Write, manifest: &Manifest) -> Result<()> {
    let state = match manifest.state {
        State::Writing => "being written",
        State::Closed => "closed",
        State::Salvaged => "salvaged",
    };
    writeln!(out, "{}  {}", terminal::bold(&manifest.title), terminal::dim(state))?;
    writeln!(out, "{}", manifest.command)?;
    if let Some(kept) = &manifest.kept {
        let most = kept.max_bytes.map_or(String::new(), |bytes| format!(", at most {}", terminal::bytes(bytes)));
        writeln!(out, "keeps the last {:?}{most}", Duration::from_nanos(kept.keep_ns.unsigned_abs()))?;
    }
    let host = &manifest.host;
    writeln!(out, "on {} (Linux {}, {} CPUs, {})", host.name, host.kernel, host.cpus, host.arch)?;
    for node in &manifest.nodes {
        let version = node.cassandra.as_ref().map_or(String::new(), |version| format!(" Cassandra {version}"));
        let java = node.java.as_ref().map_or(String::new(), |java| format!(" on Java {java}"));
        writeln!(out, "node {}{version}{java}", node.address)?;
    }
    let tables = manifest.tables.iter().map(|(name, facts)| {
        let per_row =
            if facts.rows > 0 { format!("{:.1}", facts.bytes as f64 / facts.rows as f64) } else { "–".into() };
        vec![name.clone(), terminal::count(facts.rows), terminal::bytes(facts.bytes), per_row]
    });
    writeln!(out, "\n{}", terminal::table(&["table", "rows", "size", "bytes/row"], tables, 1))?;
    let sources = manifest
        .sources
        .iter()
        .map(|source| vec![source.name.clone(), source.node.clone(), source.provider.clone(), source.note.clone()]);
    writeln!(out, "\n{}", terminal::table(&["source", "node", "provider", "note"], sources, 4))?;
    for loss in &manifest.losses {
        writeln!(out, "{} {}", terminal::severity("warning"), lost(loss))?;
    }
    Ok(())
}

fn lost(loss: &Loss) -> String {
    let rows = loss.rows.map_or("rows".to_string(), |rows| format!("{} rows", terminal::count(rows)));
    format!("{rows} of {}: {}", loss.table, loss.reason)
}
