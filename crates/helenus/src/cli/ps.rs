use crate::terminal;
use anyhow::Result;
use clap::Args;
use helenus_cassandra::Places;
use helenus_cassandra::state::{NodeState, Registry};
use std::process::ExitCode;

/// List local clusters and the state of their nodes
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  helenus ps --json | jq '.[].nodes[].pid'")]
pub struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let clusters = Registry::new(Places::of_user()?).list()?;
    if arguments.json {
        terminal::json(&clusters)?;
        return Ok(ExitCode::SUCCESS);
    }
    if clusters.is_empty() {
        terminal::talk("no local cluster; start one with: helenus up");
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for cluster in &clusters {
        if cluster.record.nodes.is_empty() {
            rows.push(vec![cluster.record.name.clone(), String::new(), cluster.word().into()]);
        }
        for (node, state) in cluster.record.nodes.iter().zip(&cluster.states) {
            let state = match state {
                NodeState::Up => "up",
                NodeState::Silent => "silent",
                NodeState::Suspended => "suspended",
                NodeState::Dead => "dead",
            };
            rows.push(vec![
                cluster.record.name.clone(),
                node.address.to_string(),
                state.into(),
                node.pid.to_string(),
                node.version.to_string(),
                node.java.clone(),
                cluster.record.data.display().to_string(),
            ]);
        }
    }
    let header = ["cluster", "address", "state", "pid", "cassandra", "java", "data"];
    terminal::print(terminal::table(&header, rows, header.len()));
    Ok(ExitCode::SUCCESS)
}
