use helenus_cassandra::journal::JournalError;

/// Why a server was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Attach(#[from] helenus_cassandra::attach::Error),
    #[error(transparent)]
    Target(#[from] helenus_cassandra::target::Error),
    #[error(transparent)]
    Network(#[from] helenus_cassandra::network::NetworkError),
    #[error("the agent in process {pid} did not come up: {reason}")]
    NoAgent { pid: i32, reason: String },
    #[error(
        "the connection to the agent in process {pid} ended: {source}; ask again what holds (`helenus valve list`, `helenus tune status`)"
    )]
    Broken { pid: i32, source: std::io::Error },
    #[error("{error}; {hint}")]
    Refused { error: String, hint: String },
    #[error("the agent in process {pid} answered {command} in a way that is not understood: {reason}")]
    Reply { pid: i32, command: String, reason: String },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(
        "{what} is tuned already; undo that first with `helenus tune undo`, or look at it with `helenus tune status`"
    )]
    Tuned { what: String },
    #[error(
        "{what} is not in force any more: {why}; `helenus tune status` shows what is, `helenus tune apply` sets it again"
    )]
    NotInForce { what: String, why: String },
}
