use crate::{open_files, terminal};
use anyhow::Result;
use clap::Args;
use helenus_cassandra::target::{self, Target};
use helenus_cassandra::{attach, java};
use helenus_observe::{Check, CheckState};
use std::process::{Command, ExitCode};

/// Check what works on this machine, and how to enable the rest
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  helenus doctor --json | jq '.[] | select(.state != \"works\")'")]
pub struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut checks = vec![java_for_nodes(), maven()];
    checks.extend(helenus_observe::checks());
    checks.extend([cpus(), descriptors()]);
    checks.extend(target::nodes().into_iter().map(node));
    if arguments.json {
        terminal::json(&checks)?;
        return Ok(ExitCode::SUCCESS);
    }
    for check in &checks {
        let (mark, state) = match check.state {
            CheckState::Works => (terminal::good("works"), "works"),
            CheckState::Degraded => (terminal::severity_text("warning", "degraded"), "degraded"),
            CheckState::Missing => (terminal::severity_text("critical", "missing"), "missing"),
        };
        let mark = format!("{mark}{}", " ".repeat(COLUMN - state.len()));
        terminal::hanging(&mark, COLUMN, format_args!("{}: {}", terminal::bold(&check.what), check.found));
        if !check.way_out.is_empty() {
            let arrow = format!("{}{} ", " ".repeat(COLUMN), terminal::dim("→"));
            terminal::hanging(&arrow, COLUMN + 2, &check.way_out);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns of the states.
const COLUMN: usize = 10;

fn java_for_nodes() -> Check {
    let installed = java::installed();
    let versions: Vec<String> = installed.iter().map(|java| java.version.clone()).collect();
    let fits = |features: &[u32]| installed.iter().any(|java| features.contains(&java.feature));
    let found = if versions.is_empty() { "none".to_string() } else { versions.join(", ") };
    let of_11 = "install JDK 11, or name it in HELENUS_JAVA_HOME";
    let of_17 = "install JDK 17 (apt-get install openjdk-17-jdk-headless), or name it in HELENUS_JAVA_HOME";
    let (state, found, way_out) = match (fits(&[11, 17]), fits(&[8, 11])) {
        (true, true) => (CheckState::Works, format!("{found}: for Cassandra 4.0, 4.1 and 5.0"), ""),
        (true, false) => {
            (CheckState::Degraded, format!("{found}: for Cassandra 5.0; 4.0 and 4.1 need Java 11 or 8"), of_11)
        }
        (false, true) => {
            (CheckState::Degraded, format!("{found}: for Cassandra 4.0 and 4.1; 5.0 needs Java 11 or 17"), of_17)
        }
        (false, false) => (CheckState::Missing, found, of_17),
    };
    Check::new("Java for local nodes", state, found, way_out)
}

fn maven() -> Check {
    match Command::new("mvn").args(["-Dstyle.color=never", "--version"]).output() {
        Ok(output) => {
            let said = anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stdout)).to_string();
            Check::new("Maven, which fetches Cassandra", CheckState::Works, said.lines().next().unwrap_or_default(), "")
        }
        Err(_) => Check::new(
            "Maven, which fetches Cassandra",
            CheckState::Missing,
            "no mvn on the PATH; `helenus up` works with releases that are in the cache",
            "apt-get install maven",
        ),
    }
}

fn cpus() -> Check {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let found = format!("{cpus} CPUs for this process");
    let way_out = "drive the load from another machine: on so few CPUs the load driver competes with the node";
    Check::new(
        "room for load and node",
        if cpus < 4 { CheckState::Degraded } else { CheckState::Works },
        found,
        way_out,
    )
}

fn descriptors() -> Check {
    let most = open_files::most();
    // File descriptors needed: two for each thread of a node, which has some hundreds to some thousands, and eight more
    // if threads are counted.
    let enough = most >= 8192;
    let state = if enough { CheckState::Works } else { CheckState::Degraded };
    Check::new("open files", state, format!("{most} at most"), "ulimit -Hn 65536")
}

/// Checks a node that runs here: whether the agent can attach, and whether classes can be changed without slowing the
/// node down.
fn node(found: Result<Target, target::Error>) -> Check {
    let target = match found {
        Ok(target) => target,
        Err(error) => return Check::new("a node of this machine", CheckState::Missing, error.to_string(), ""),
    };
    let what = match target.cql {
        Some(address) => format!("the node {address} (process {})", target.pid),
        None => format!("the node of process {}", target.pid),
    };
    if let Err(refused) = attach::check(&target).and_then(|()| attach::check_memory(&target)) {
        let way_out =
            "what needs no agent works: stacks by eBPF, system calls, times off the CPU and requests on the wire";
        return Check::new(what, CheckState::Degraded, refused.to_string(), way_out);
    }
    if target.was_started_ready() {
        return Check::new(
            what,
            CheckState::Works,
            "the agent gets in; started ready for valves, probes and executors",
            "",
        );
    }
    let found = "the agent gets in; recording needs no restart. The first valve at a method, probe or executor slows it for a minute, \
                 unless it is started with -javaagent:helenus-agent.jar=ready (`helenus agent` writes the jar)";
    Check::new(what, CheckState::Works, found, "")
}
