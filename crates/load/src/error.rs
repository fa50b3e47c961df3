//! Errors, each with what to do in its text.

use helenus_notation::BadQuantity;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A mistake in a file.
    #[error(transparent)]
    File(#[from] helenus_notation::Error),

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

    /// No answer came in time, or the connection broke.
    #[error(
        "the node did not answer this statement of the workload's schema: {statement}\n  {reason}; look for errors and long pauses in its \
         system.log, and with `nodetool describecluster` whether all nodes have the same schema version"
    )]
    SchemaUnanswered { statement: String, reason: String },

    #[error("operation {operation} cannot be prepared: {reason}\n  {cql}{way_out}")]
    Prepare { operation: String, reason: String, cql: String, way_out: &'static str },

    #[error("operation {operation}: parameter {parameter} ({generator}) cannot be a value of the CQL type {cql_type}")]
    Type { operation: String, parameter: String, generator: String, cql_type: String },

    #[error("operation {operation}: nothing fills the marker `{marker}`: {why}\n  {cql}")]
    Marker { operation: String, marker: String, why: String, cql: String },

    /// The written rows can't be recomputed, or can't be found.
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
