use super::target::{TargetArguments, say_log};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// List measurement points of a running node: where probes and valves can stand
///
/// Without a pattern, those that have a name in the node's release. A pattern is package.Class.method(argument types), where
/// `*` stands for any part of a name, the package may be left out where the class's own name is loaded once, and without
/// parentheses any arguments will do. The server is not changed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus points --node 127.0.0.1
  helenus points --node 127.0.0.1 'StorageProxy.*'
  helenus points --pid 4711 'com.example.Orders.place(*)' --json")]
pub struct Arguments {
    /// A name or a pattern
    pattern: Option<String>,
    #[command(flatten)]
    target: TargetArguments,
    /// Methods that a pattern may stand for
    #[arg(long, value_name = "N")]
    at_most: Option<u32>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut link = arguments.target.link()?;
    let found = link.find_points(arguments.pattern.as_deref(), arguments.at_most)?;
    say_log(&mut link);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
        return Ok(ExitCode::SUCCESS);
    }
    let rows = found.points.iter().map(|point| {
        let stands = match (point.gate, point.refuse) {
            (true, true) => "probe, valve, may refuse",
            (true, false) => "probe, valve",
            _ => "probe",
        };
        vec![point.point.clone(), stands.to_string(), point.method.clone()]
    });
    anstream::println!("{}", terminal::table(&["point", "what may stand there", "method"], rows, usize::MAX));
    if let Some(preset) = &found.preset {
        terminal::talk(terminal::dim(format_args!("named points of {preset}; any other method by its pattern")));
    }
    for point in found.points.iter().filter(|_| arguments.pattern.is_some()) {
        if let Some(why) = &point.why_no_gate {
            terminal::talk(terminal::dim(format_args!("no valve at {}: {why}", point.point)));
        }
    }
    Ok(ExitCode::SUCCESS)
}
