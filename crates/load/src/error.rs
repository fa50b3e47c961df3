//! What can go wrong, each with a way out.

use crate::quantity::BadQuantity;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A TOML file that says something it may not. `message` says what, and what would be right.
    #[error("{file}:{line}: {message}")]
    File { file: String, line: usize, message: String },

    #[error("cannot read the workload {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },

    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot read the trace {path}: {source}")]
    ReadTrace { path: PathBuf, source: std::io::Error },

    #[error("there is no workload `{name}`{suggestion}; built in are {known}, or give the path of a TOML file")]
    NoWorkload { name: String, suggestion: String, known: String },

    #[error("workload {workload} has no mix and no operation `{name}`{suggestion}; it has {known}")]
    NoMix { workload: String, name: String, suggestion: String, known: String },

    #[error(
        "the workload {workload} can't be scaled: its parameters have different numbers of keys; make them alike, or `scale = false` in those that stay"
    )]
    Scale { workload: String },

    #[error("{argument}: {message}")]
    Argument { argument: String, message: String },

    #[error(
        "no phase to run: give --rate, --steps, --ramp or --in-flight with --for or --count, or --trace or --surge"
    )]
    NoPhase,

    #[error("phase {phase}: {message}")]
    Phase { phase: String, message: String },

    #[error("no node to drive: give the address of at least one, such as 127.0.0.1")]
    NoNode,

    #[error(
        "cannot reach any node ({reasons}); is Cassandra running there? `helenus up` starts one on this machine, and \
         --node ADDRESS[:PORT] names another (its native transport port is 9042 unless changed)"
    )]
    Unreachable { reasons: String },

    #[error(
        "{table} is empty, so that nothing would be read: populate it once (--populate), and then start the shards"
    )]
    Empty { table: String },

    #[error("TLS: {reason}")]
    Tls { reason: String },

    #[error("{node} answers, but a CQL session cannot be opened: {reason}")]
    Session { node: String, reason: String },

    #[error("the node refuses this statement of the workload's schema: {statement}\n  {reason}")]
    Schema { statement: String, reason: String },

    #[error("operation {operation} cannot be prepared: {reason}\n  {cql}{way_out}")]
    Prepare { operation: String, reason: String, cql: String, way_out: &'static str },

    #[error("operation {operation}: parameter {parameter} ({generator}) cannot be a value of the CQL type {cql_type}")]
    Type { operation: String, parameter: String, generator: String, cql_type: String },

    /// What was written cannot be known again, or cannot be found.
    #[error("workload {workload} cannot be verified: {reason}")]
    Verify { workload: String, reason: String },

    #[error("stopped before anything was read back")]
    Stopped,

    #[error("cannot start {what}: {source}")]
    Start { what: &'static str, source: std::io::Error },

    #[error("a thread of the load driver has ended early; this is a mistake in helenus, please report it")]
    ThreadLost,
}

impl Error {
    pub(crate) fn argument(argument: &str) -> impl Fn(BadQuantity) -> Error + '_ {
        move |bad| Error::Argument { argument: argument.to_string(), message: bad.to_string() }
    }
}

/// `; did you mean …?` for the known name that is most like `given`, or nothing when none is near.
pub(crate) fn did_you_mean<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match nearest(given, known) {
        Some(known) => format!("; did you mean `{known}`?"),
        None => String::new(),
    }
}

pub(crate) fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        // Two letters swapped in a short word are a slip too, which likeness alone does not see.
        .map(|known| match strsim::osa_distance(given, known) {
            0..=1 => (1.0, known),
            _ => (strsim::jaro_winkler(given, known), known),
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known)
}
