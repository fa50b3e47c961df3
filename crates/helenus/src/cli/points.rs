use super::target::{TargetArguments, say_log};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// List measurement points of a running node
///
/// Probes and valves are placed at points.
///
/// Without a pattern, lists the named points of the node's release. A pattern is package.Class.method(argument types):
/// `*` matches any part of a name, the package may be left out if only one loaded class has that name, and without
/// parentheses any arguments match. The server is not changed.
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
    /// Methods that a pattern may match
    #[arg(long, value_name = "N", default_value_t = 1000)]
    at_most: u32,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut link = arguments.target.link()?;
    let found = link.find_points(arguments.pattern.as_deref(), Some(arguments.at_most))?;
    say_log(&mut link);
    if arguments.json {
        terminal::json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = found.points.iter().map(|point| {
        let stands = match (point.gate, point.refuse) {
            (true, true) => "probe, valve, may refuse",
            (true, false) => "probe, valve",
            _ => "probe",
        };
        vec![short(&point.point), stands.to_string(), short(&point.method)]
    });
    terminal::print(terminal::table(&["point", "what may stand there", "method"], rows, usize::MAX));
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

/// The method without the package names of its classes; the JSON has the full name.
fn short(method: &str) -> String {
    let is_package = |segment: &str| segment.starts_with(|c: char| c.is_ascii_lowercase());
    let mut out = String::new();
    for word in method.split_inclusive(['(', ')', ',', ' ']) {
        let segments: Vec<&str> = word.split('.').collect();
        // A package name is followed by a class name; the name of a point, or a call in a condition, is not.
        let class = segments.iter().position(|segment| segment.starts_with(|c: char| c.is_ascii_uppercase()));
        let from = class.filter(|class| segments[..*class].iter().all(|segment| is_package(segment))).unwrap_or(0);
        out.push_str(&segments[from..].join("."));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn methods_are_shown_without_packages() {
        let method = "org.apache.cassandra.db.Keyspace.applyInternal(org.apache.cassandra.db.Mutation, boolean, a.B$C)";
        assert_eq!(short(method), "Keyspace.applyInternal(Mutation, boolean, B$C)");
        let guarded = "a.b.Select.execute(java.lang.String) when not restrictions.isKeyRange() and x is a.Y";
        assert_eq!(short(guarded), "Select.execute(String) when not restrictions.isKeyRange() and x is Y");
        assert_eq!(short("read-command"), "read-command");
    }
}
