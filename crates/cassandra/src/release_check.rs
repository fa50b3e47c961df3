//! Checks points of probes and valves against the jars of a release, before a node of it runs.

use crate::launch::ended;
use crate::{Cancel, ClusterOptions, Error, Progress, jars, java, jvm_options};
use std::io::Read;
use std::process::{Command, Stdio};

/// The class in the agent's jar that reads the release's jars; its source documents arguments and output.
const TOOL: &str = "io.helenus.agent.points.ReleaseCheck";

/// A point that an experiment names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedPoint<'w> {
    /// A named point or a pattern.
    pub at: &'w str,
    /// `probe`, `gate` or `refusal`.
    pub used_as: &'w str,
    /// How many methods it may match.
    pub at_most: i64,
}

/// Checks points against the jars of the release that `options` name. For each point: the reason why it can't be used, or None
/// if it may exist. A running node checks the rest; if the tool fails, all results are None.
///
/// # Errors
/// No such release or no Java for it; cancelled.
pub fn refusals(
    options: &ClusterOptions,
    agent: &[u8],
    points: &[WantedPoint<'_>],
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Vec<Option<String>>, Error> {
    let java = java::for_version(options.version, options.java_home.as_deref())?;
    let release = jars::fetch(&options.places, options.version, progress, cancel)?;
    let temporary = std::env::temp_dir();
    let folder = tempfile::tempdir().map_err(Error::file("make a folder in", &temporary))?;
    let jar = folder.path().join("helenus-agent.jar");
    std::fs::write(&jar, agent).map_err(Error::file("write", &jar))?;
    let mut command = Command::new(java.program());
    command.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp"]).arg(&jar).arg(TOOL);
    command.arg(release.lib()).arg(options.version.line().to_string());
    for point in points {
        command.args([point.at, point.used_as, &point.at_most.to_string()]);
    }
    for variable in jvm_options::FOREIGN {
        command.env_remove(variable);
    }
    let output = tempfile::tempfile().map_err(Error::file("make a file in", &temporary))?;
    let stdout = output.try_clone().map_err(Error::file("make a file in", &temporary))?;
    command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
    let mut tool = command.spawn().map_err(|source| Error::Spawn { program: java.program(), source })?;
    let status = ended(&mut tool, cancel)?;
    let mut text = String::new();
    let is_read = std::io::Seek::rewind(&mut &output).and_then(|()| (&output).read_to_string(&mut text)).is_ok();
    let lines: Vec<&str> = text.lines().collect();
    if !is_read || lines.len() != points.len() || !status.is_some_and(|status| status.success()) {
        return Ok(vec![None; points.len()]);
    }
    Ok(lines.into_iter().map(|reason| (!reason.is_empty()).then(|| reason.to_string())).collect())
}
