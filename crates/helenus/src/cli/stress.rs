use super::access::TlsArguments;
use super::opened::opened;
use crate::{interrupt, report, terminal};
use anyhow::{Context, Result};
use clap::Args;
use helenus_explain::{Options as ExplainOptions, Report, explain};
use helenus_load::stress::{self, Stress};
use helenus_observe::{Observation, Options, ProcessKind, Watched};
use helenus_recording::{Manifest, NodeFacts, Recorder, private};
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run the arguments of cassandra-stress, and record every request
///
/// Takes write, read, mixed, counter_write, counter_read and user with their options, and prints what scripts read. What
/// is not taken is refused by name; docs/stress.md has what differs.
///
/// Exit codes: 0 well, 1 requests failed (unless -errors ignore), 2 an error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus stress write n=1000000 -rate threads=50 -node 10.0.0.1
  helenus stress mixed 'ratio(write=1,read=3)' duration=5m -rate threads=64 fixed=5000/s -log hdrfile=run.hlog
  helenus stress -o run.helenus user profile=blog.yaml 'ops(insert=1,timeline=2)' n=100k
  helenus stress --workload read n=1M > read.toml")]
pub struct Arguments {
    /// The new recording's folder; before the command
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print the workload file that the arguments mean, for helenus load, and do nothing; before the command
    #[arg(long)]
    workload: bool,
    /// Print the run and the recording as JSON; the text of cassandra-stress goes to stderr then; before the command
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsArguments,
    /// A command of cassandra-stress and its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let stress = Stress::parse(&arguments.arguments, arguments.tls.read()?)?;
    for note in stress.notes() {
        terminal::warn(note);
    }
    if arguments.workload {
        terminal::whole(&stress.workload_toml())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = Output::open(stress.log_file(), arguments.json)?;
    let cancel = interrupt::cancel_on_signals()?;
    let folder = arguments.output.clone().unwrap_or_else(|| super::new_recording("stress"));
    let kept = stress::without_password(&arguments.arguments);
    let title = format!("stress {}", kept.first().map_or("", String::as_str));
    let mut manifest = Manifest::new(&title, &format!("helenus stress {}", kept.join(" ")));
    manifest.nodes =
        stress.nodes().iter().map(|node| NodeFacts { address: node.clone(), ..NodeFacts::default() }).collect();
    let recorder = Recorder::create(&folder, manifest)?;
    let (events, _heard) = std::sync::mpsc::channel();
    let own = Watched { process: ProcessKind::Load, node: String::new(), pid: std::process::id() };
    let observation = Observation::start(&recorder, &[own], &Options::default(), &events)?;

    let stop = helenus_load::Cancel::new();
    let ran = super::load::forwarding(&cancel, &stop, || {
        stress::run(&stress, &recorder, &stop, &mut out, &mut super::load::say)
    });
    observation.stop();
    let sent = recorder.health().rows.contains_key("requests");
    let closed = super::close(&recorder, &ran);
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => {
            if !sent {
                // Best effort: a recording without a request is useless.
                let _ = std::fs::remove_dir_all(&folder);
            }
            return Err(error.into());
        }
    };
    for error in ran.rounds.iter().flat_map(|round| &round.errors) {
        let (count, name) = (terminal::count(error.count), error.outcome.name());
        terminal::warn(format_args!("{count} {name}; the first on {}: {}", error.first_node, error.first_message));
    }
    if ran.empty_reads > 0 {
        terminal::warn(format_args!(
            "{} reads found no row and count as errors; write the same keys first with `helenus stress write`, or give \
             -errors skip-read-validation",
            terminal::count(ran.empty_reads)
        ));
    }
    let closed = closed?;
    super::say_closed(&closed);
    if let Some(page) = stress.report() {
        write_report(&folder, page)?;
    }
    if arguments.json {
        terminal::json(&json!({
            "recorded": super::Recorded::of(&closed),
            "rounds": ran.rounds,
            "errors": ran.errors,
            "empty_reads": ran.empty_reads,
            "well": ran.well,
            "stopped": ran.stopped,
            "report": stress.report(),
        }))?;
    }
    Ok(if ran.well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_report(folder: &Path, page: &Path) -> Result<()> {
    let engine = opened(&[folder])?;
    let figures = Report::build(&engine, &explain(&engine, &ExplainOptions::default())?)?;
    report::write(&figures, page)?;
    terminal::done(format_args!("report: {}", page.display()));
    Ok(())
}

/// Writes to stdout, or to stderr if stdout is for JSON, and to the file of `-log file=`.
#[derive(Debug)]
struct Output {
    shown: terminal::Out,
    file: Option<File>,
}

impl Output {
    fn open(path: Option<&Path>, json: bool) -> Result<Output> {
        let create = |path: &Path| private::create(path).with_context(|| format!("cannot write {}", path.display()));
        let shown = if json { terminal::beside() } else { terminal::lines() };
        Ok(Output { shown, file: path.map(create).transpose()? })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shown.write_all(bytes)?;
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.shown.flush()
    }
}
