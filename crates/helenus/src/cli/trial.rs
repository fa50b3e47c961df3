use super::opened::opened;
use super::{comparison, nodes};
use crate::assets::AGENT_JAR;
use crate::{interrupt, settings, terminal};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use helenus_cassandra::Places;
use helenus_cassandra::journal::Journal;
use helenus_cassandra::target::{self, TargetName};
use helenus_explain::{CompareOptions, Comparison, MeasuredRun, Select, judge_reads, selects};
use helenus_lab::trial::{
    AS_IT_IS, Candidate, Cleaner, Entry, Options, Outcome, Progress, ROWS, Replayed, TableName, Trial, Variant,
};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Try another definition of a table on copies of the table
///
/// The node itself is not changed.
///
/// A snapshot of the table (hard links) is loaded into throwaway trial nodes on this machine, one with the table as it is and one
/// for each --compaction; they compact until nothing is left, and are read in turns. Helenus asks the node itself for
/// the snapshot only, and clears it within seconds. Helenus prints CQL and never runs it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus try --node 10.0.0.7 --table shop.orders --compaction '{\"class\":\"LeveledCompactionStrategy\"}'
  helenus try --node 10.0.0.7 --table shop.orders --gc-grace 24h \\
      --compaction '{\"class\":\"LeveledCompactionStrategy\"}' --compaction '{\"class\":\"UnifiedCompactionStrategy\"}'
  helenus try --node 10.0.0.7 --table shop.orders --compression '{\"class\":\"LZ4Compressor\",\"chunk_length_in_kb\":4}'
  helenus try --node 10.0.0.7 --table shop.orders --gc-grace 1h --sample 10% --replay node.helenus
  helenus try --clean")]
pub struct Arguments {
    /// CQL address of the node, which runs on this machine
    #[arg(long, value_name = "ADDRESS[:PORT]", required_unless_present = "clean")]
    node: Option<String>,
    /// The table
    #[arg(long, value_name = "KEYSPACE.TABLE", required_unless_present = "clean")]
    table: Option<String>,
    /// Parameters of its compaction to try: JSON with a class (may be given again: each is tried by itself)
    #[arg(long, value_name = "JSON", help_heading = "What is tried")]
    compaction: Vec<String>,
    /// How long tombstones are kept, with each compaction that is tried
    #[arg(long, value_name = "DURATION", value_parser = super::duration, help_heading = "What is tried")]
    gc_grace: Option<Duration>,
    /// Compression parameters, as JSON, tried with each --compaction
    #[arg(long, value_name = "JSON", help_heading = "What is tried")]
    compression: Option<String>,
    /// Repeat the SELECTs of the table that a recording has, in their shares; otherwise partitions are read from their
    /// beginning
    #[arg(long, value_name = "RECORDING", help_heading = "How")]
    replay: Option<PathBuf>,
    /// Copy only some token ranges of every SSTable, such as 10%
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "How")]
    sample: Option<f64>,
    /// How often each copy is read in turn
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "How")]
    blocks: u16,
    /// Heap of each trial node
    #[arg(long, default_value = "1g", help_heading = "How")]
    heap: String,
    /// A further JVM option for each trial node, such as one of the node (may be given again)
    #[arg(long = "jvm-opt", value_name = "OPTION", allow_hyphen_values = true, help_heading = "How")]
    jvm_options: Vec<String>,
    /// A setting of cassandra.yaml for each trial node (may be given again)
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "How")]
    settings: Vec<String>,
    /// Folder of the trial nodes [default: beside the node's data, so that nothing has to be copied]
    #[arg(long, value_name = "FOLDER", help_heading = "How")]
    folder: Option<PathBuf>,
    /// End compactions that are not done by then
    #[arg(long = "for", value_name = "DURATION", default_value = "2h", value_parser = super::duration, help_heading = "How")]
    lasts: Duration,
    /// Remove what tries have left that were killed: their nodes, folders and snapshots
    #[arg(long, conflicts_with_all = ["node", "table", "compaction", "gc_grace", "compression", "replay", "sample"])]
    clean: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let places = Places::of_user()?;
    let cleaner = Cleaner { journal: Journal::within(&places.state), places, agent: AGENT_JAR };
    if arguments.clean {
        return clean(&cleaner, arguments.json);
    }
    let (Some(node), Some(table)) = (&arguments.node, &arguments.table) else {
        bail!("name the node with --node, and the table with --table");
    };
    let table = table_name(table)?;
    let candidates = arguments.candidates()?;
    let replayed = match &arguments.replay {
        Some(recording) => replayed(recording, &table)?,
        None => Vec::new(),
    };
    let options = Options {
        heap: arguments.heap.clone(),
        jvm_options: arguments.jvm_options.clone(),
        settings: arguments.settings.clone(),
        folder: arguments.folder.clone(),
        sample: arguments.sample,
        replayed,
        blocks: arguments.blocks.into(),
        settle_within: arguments.lasts,
    };
    let cancel = interrupt::cancel_on_signals()?;
    for entry in cleaner.left_behind()? {
        terminal::warn(format_args!(
            "{} was cut off and has left things behind: `helenus try --clean`",
            called(&entry)
        ));
    }
    let address = nodes::address(node)?;
    let target = target::find(TargetName::Address(address))?;
    ensure!(target.is_cassandra, "{node} (pid {}, {}) is no Cassandra", target.pid, target.command);
    let trial = Trial {
        cleaner: &cleaner,
        node,
        address: Some(address),
        target: &target,
        table: &table,
        candidates: &candidates,
        options: &options,
    };
    let mut steps = terminal::Steps::new();
    let (outcome, left) = trial.run(&mut |progress| show(&mut steps, progress), &cancel);
    drop(steps);
    if let Some(left) = left {
        terminal::warn(format_args!("not all is removed, run `helenus try --clean`: {left}"));
    }
    let outcome = outcome.with_context(|| format!("{}.{} of {node}", table.keyspace, table.table))?;
    let comparison = judge_reads(AS_IT_IS, runs(&outcome), &CompareOptions::default());
    if arguments.json {
        let all = json!({"node": node, "table": table.to_string(), "candidates": candidates, "outcome": outcome, "reads": comparison});
        terminal::json(&all)?;
    } else {
        print(&mut terminal::out(), &outcome, &comparison, !options.replayed.is_empty())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The statements of a recording that read the table.
fn replayed(recording: &Path, table: &TableName) -> Result<Vec<Replayed>> {
    let name = format!("{}.{}", table.keyspace, table.table);
    let all = selects(&opened(&[recording])?)?.unwrap_or_default();
    let of_table: Vec<Replayed> = all
        .into_iter()
        .filter(|select| select.is_of(&name))
        .map(|Select { statement, requests, .. }| Replayed { statement, count: requests.unsigned_abs() })
        .collect();
    ensure!(
        !of_table.is_empty(),
        "the recording has no SELECT of {name}: record a load of helenus, or with `helenus record`, or leave \
         --replay out"
    );
    Ok(of_table)
}

fn show(steps: &mut terminal::Steps, progress: Progress) {
    match progress {
        Progress::Cluster(progress) => nodes::show(steps, &progress),
        Progress::Step(text) => steps.step(text),
        Progress::Live(text) => steps.live(text),
    }
}

fn table_name(text: &str) -> Result<TableName> {
    match text.split_once('.') {
        Some((keyspace, table)) if !keyspace.is_empty() && !table.is_empty() && !table.contains('.') => {
            Ok(TableName { keyspace: keyspace.to_string(), table: table.to_string() })
        }
        _ => bail!("{text} is no table: write KEYSPACE.TABLE"),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let share = text.trim_end_matches('%').trim().parse::<f64>().map(|percent| percent / 100.0);
    match share {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("write a percentage above 0 and below 100, such as 10%".to_string()),
    }
}

impl Arguments {
    /// One candidate for each compaction, or one for the other changes.
    fn candidates(&self) -> Result<Vec<Candidate>> {
        let mut others = Vec::new();
        let mut names = Vec::new();
        if let Some(gc_grace) = self.gc_grace {
            ensure!(gc_grace.as_secs() > 0 || gc_grace.is_zero(), "--gc-grace is in whole seconds");
            others.push(("gc_grace_seconds".to_string(), gc_grace.as_secs().to_string()));
            names.push(format!("gc_grace {}", settings::length(gc_grace)));
        }
        if let Some(text) = &self.compression {
            let parameters = settings::parameters("--compression", text)?;
            others.push(("compression".to_string(), settings::literal(&parameters)));
            names.push(settings::text(&parameters));
        }
        let candidate = |compaction: Option<&String>| -> Result<Candidate> {
            let (mut options, mut names) = (others.clone(), names.clone());
            if let Some(text) = compaction {
                let parameters = settings::compaction(text)?;
                options.insert(0, ("compaction".to_string(), settings::literal(&parameters)));
                names.insert(0, settings::text(&parameters).replace("CompactionStrategy", ""));
            }
            Ok(Candidate { name: names.join(", "), options })
        };
        let candidates = match self.compaction.as_slice() {
            [] => vec![candidate(None)?],
            several => several.iter().map(|text| candidate(Some(text))).collect::<Result<_>>()?,
        };
        ensure!(
            candidates.iter().all(|candidate| !candidate.options.is_empty()),
            "say what is to be tried: --compaction, --gc-grace or --compression"
        );
        let repeated = |(at, one): (usize, &Candidate)| candidates[..at].iter().any(|other| other.name == one.name);
        ensure!(!candidates.iter().enumerate().any(repeated), "the same --compaction is given twice");
        Ok(candidates)
    }
}

fn runs(outcome: &Outcome) -> Vec<MeasuredRun> {
    let run = |block: &helenus_lab::trial::Block| MeasuredRun {
        variant: block.variant.clone(),
        block: i64::try_from(block.block).unwrap_or(i64::MAX),
        start_ns: 0,
        figures: block.figures.clone(),
    };
    outcome.reads.blocks.iter().map(run).collect()
}

fn print(out: &mut impl Write, outcome: &Outcome, comparison: &Comparison, replayed: bool) -> Result<()> {
    let sample = match outcome.sampled {
        Some(share) => format!(", of which {:.1} % were tried", share * 100.0),
        None => String::new(),
    };
    writeln!(
        out,
        "{} SSTables, {}{sample}; the node's snapshot was there for {:.1} s",
        outcome.sstables,
        terminal::bytes(outcome.table_bytes),
        outcome.snapshot_s
    )?;
    writeln!(out)?;
    writeln!(out, "{}", terminal::bold("When nothing was left to compact"))?;
    writeln!(out, "{}", settled(&outcome.variants))?;
    comparison::print(out, comparison)?;
    writeln!(out)?;
    let reads = &outcome.reads;
    let what =
        if replayed { "the recording's statements, with keys of the table" } else { "partitions from their beginning" };
    writeln!(out, "Reads: one at a time, {what}; {} partitions", terminal::count(reads.partitions as u64))?;
    for statement in &reads.statements {
        writeln!(out, "  {:>3.0} %  {}", statement.share * 100.0, statement.text)?;
    }
    if !replayed {
        writeln!(out, "  at most {ROWS} rows of each")?;
    }
    for left_out in &reads.left_out {
        terminal::warn(format_args!("not replayed: {left_out}"));
    }
    for remark in &outcome.remarks {
        terminal::warn(remark);
    }
    writeln!(out, "For all nodes, once it has proved itself; it is not run:")?;
    for cql in outcome.variants.iter().filter_map(|variant| variant.cql.as_ref()) {
        writeln!(out, "  {cql}")?;
    }
    Ok(())
}

/// Values that are states, not samples, have a ratio and no interval.
fn settled(variants: &[Variant]) -> terminal::Table {
    let header = ["", "on disk", "", "SSTables", "droppable", "", "compacted", "took", ""];
    let base = variants.first();
    let rows = variants.iter().map(|variant| {
        let is = &variant.settled;
        let times = |of: fn(&Variant) -> Option<f64>| {
            let ratio = base.filter(|base| base.name != variant.name).and_then(|base| Some(of(variant)? / of(base)?));
            ratio.filter(|ratio| ratio.is_finite()).map_or(String::new(), |ratio| format!("× {ratio:.2}"))
        };
        vec![
            variant.name.clone(),
            terminal::bytes(is.live_disk_bytes),
            times(|variant| Some(variant.settled.live_disk_bytes as f64)),
            format!("{} → {}", is.sstables_before, is.sstables),
            is.droppable_ratio.map_or("–".to_string(), |ratio| format!("{ratio:.3}")),
            times(|variant| variant.settled.droppable_ratio),
            terminal::bytes(is.compacted_bytes),
            is.compacted_s.map_or("–".to_string(), |seconds| format!("{seconds:.0} s")),
            if is.settled { String::new() } else { "not done".to_string() },
        ]
    });
    terminal::table(&header, rows, 1)
}

fn called(entry: &Entry) -> String {
    format!("a try of {}.{} on {} ({})", entry.keyspace, entry.table, entry.node, settings::since(entry.begun_ms))
}

fn clean(cleaner: &Cleaner, as_json: bool) -> Result<ExitCode> {
    let entries = cleaner.journal.entries()?;
    let (running, ended): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(Entry::is_running);
    for entry in &running {
        terminal::talk(format_args!("{} still runs (pid {}) and is left alone", called(entry), entry.runner.0));
    }
    let mut failed = Vec::new();
    let mut cleaned = Vec::new();
    for entry in ended {
        match cleaner.clean(&entry) {
            Ok(()) => {
                terminal::done(format_args!("{}: nothing is left of it", called(&entry)));
                cleaned.push(json!({"id": entry.id, "node": entry.node, "step": entry.step}));
            }
            Err(error) => failed.push(format!("{}: {error}", called(&entry))),
        }
    }
    if as_json {
        terminal::json(&cleaned)?;
    } else if cleaned.is_empty() && failed.is_empty() {
        terminal::talk("nothing is left of any try");
    }
    if !failed.is_empty() {
        bail!("{} could not be cleaned up, try again: {}", failed.len(), failed.join("; "));
    }
    super::all_were_read()
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

    fn given(more: &[&str]) -> Arguments {
        let words = ["try", "--node", "127.0.0.1", "--table", "shop.orders"].iter().chain(more);
        Line::try_parse_from(words).unwrap().arguments
    }

    #[test]
    fn each_compaction_is_tried_with_what_else_is_given() {
        let leveled = r#"{"class":"LeveledCompactionStrategy","sstable_size_in_mb":8}"#;
        let unified = r#"{"class":"UnifiedCompactionStrategy"}"#;
        let both = given(&["--compaction", leveled, "--compaction", unified, "--gc-grace", "1h"]).candidates().unwrap();
        let names: Vec<&str> = both.iter().map(|candidate| candidate.name.as_str()).collect();
        assert_eq!(names, ["Leveled (sstable_size_in_mb=8), gc_grace 1h", "Unified, gc_grace 1h"]);
        assert_eq!(both[0].options[0].1, "{'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '8'}");
        assert_eq!(both[1].options[1], ("gc_grace_seconds".to_string(), "3600".to_string()));
        let one =
            given(&["--compression", r#"{"class":"LZ4Compressor","chunk_length_in_kb":4}"#]).candidates().unwrap();
        assert_eq!(
            one[0].options,
            [("compression".to_string(), "{'chunk_length_in_kb': '4', 'class': 'LZ4Compressor'}".to_string())]
        );
        let error = |more: &[&str]| given(more).candidates().unwrap_err().to_string();
        assert!(error(&[]).contains("say what is to be tried"));
        assert!(error(&["--compaction", unified, "--compaction", unified]).contains("twice"));
        assert!(error(&["--compaction", "{'class': 'X'}"]).contains("double quotes"));
    }

    #[test]
    fn a_sample_is_a_part() {
        assert_eq!((percent("10%"), percent("2.5")), (Ok(0.1), Ok(0.025)));
        assert!(["0", "100%", "x", "-1%"].iter().all(|text| percent(text).is_err()));
    }

    #[test]
    fn a_table_has_a_keyspace() {
        assert_eq!(table_name("shop.orders").unwrap().to_string(), "shop.orders");
        assert!(["orders", "a.b.c", ".b", "a."].iter().all(|text| table_name(text).is_err()));
    }
}
