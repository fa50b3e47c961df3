use std::path::PathBuf;

/// An error while a recording is explained or queried; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Recording(#[from] helenus_recording::Error),

    /// The query is wrong, or needs more memory than allowed; the text is for its author.
    #[error("{0}")]
    Query(String),

    #[error(
        "explaining {requests} requests takes about {} MiB of memory, and this process has a limit of {} MiB; ask for a shorter time, raise the limit (of its control group, or ulimit -v), or run this where there is more",
        needed_bytes >> 20, limit_bytes >> 20
    )]
    Memory { requests: u64, needed_bytes: u64, limit_bytes: u64 },

    #[error("no recording was given")]
    NoRecording,

    #[error("cannot make a file address of {}; use an absolute path of UTF-8 characters", .0.display())]
    Path(PathBuf),

    #[error("cannot start the query engine: {0}")]
    Runtime(#[from] std::io::Error),

    #[error(
        "a query gave no column {column} of {expected}; the recording may be of another version, see `helenus recording info`"
    )]
    Column { column: String, expected: &'static str },

    #[error("the bound for slow requests must be p50 to p99.99 or a time above 0 ms, not {0}")]
    Threshold(String),

    /// The requested data does not exist; the text says what there is and what to record.
    #[error("{0}")]
    Nothing(String),

    /// The result is larger than a file of the format can hold or its reader can show.
    #[error("{0}")]
    TooMuch(String),

    #[error("cannot write: {0}")]
    Write(#[source] std::io::Error),

    /// The spectrogram that was asked for is impossible; the text is for the user.
    #[error("{0}")]
    Spectrogram(String),

    #[error("the evidence cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
