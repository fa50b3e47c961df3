use crate::assets::AGENT_JAR;
use crate::terminal;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the agent's jar, for a node to be started with
///
/// Helenus loads the agent into a running node itself. A JVM that was started without the jar deoptimizes all of its code when it
/// gets its first valve, probe or executor, and is slow until the code is compiled again. Helenus therefore refuses them there
/// without --cold. A JVM that was started with the jar and `=ready` stays fast, and the jar does nothing else. `helenus up --ready`
/// starts nodes so.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus agent -o /opt/helenus-agent.jar
  # cassandra-env.sh
  JVM_OPTS=\"$JVM_OPTS -javaagent:/opt/helenus-agent.jar=ready\"")]
pub struct Arguments {
    /// The new file
    #[arg(short, long, value_name = "FILE", default_value = "helenus-agent.jar")]
    output: PathBuf,
    /// Print the new file's path and size as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let path = &arguments.output;
    let write = || OpenOptions::new().write(true).create_new(true).open(path)?.write_all(AGENT_JAR);
    write().with_context(|| format!("cannot write {}; give a new file with -o", path.display()))?;
    terminal::done(format_args!("{}; start a node with -javaagent:{0}=ready", path.display()));
    if arguments.json {
        terminal::json(&json!({ "file": path, "bytes": AGENT_JAR.len() }))?;
    }
    Ok(ExitCode::SUCCESS)
}
