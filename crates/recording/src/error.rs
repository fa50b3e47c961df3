use std::path::{Path, PathBuf};

/// What can go wrong with a recording, with the way out in the text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },

    #[error("the disk is full: cannot write {}; nothing that was written is lost. Free some space, then run `helenus recording salvage {}`", path.display(), recording.display())]
    DiskFull { path: PathBuf, recording: PathBuf },

    #[error("{} already exists and is not an empty folder; choose another name for the recording", .0.display())]
    Exists(PathBuf),

    #[error("there is no recording at {}: no such folder", .0.display())]
    Missing(PathBuf),

    #[error("{} is not a recording: {reason}. A recording is a folder with a manifest.json, as `helenus record` and `helenus load` write it", path.display())]
    NotARecording { path: PathBuf, reason: String },

    #[error("{} has format {found}, and this helenus reads up to format {known}; use a newer helenus", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },

    #[error("{} was not closed: its writer (pid {pid}) was ended. Run `helenus recording salvage {}`", path.display(), path.display())]
    NotClosed { path: PathBuf, pid: u32 },

    #[error("{} is still being written by pid {pid}; end that first (Ctrl-C closes a recording)", path.display())]
    StillWriting { path: PathBuf, pid: u32 },

    #[error("{} cannot be read: {reason}. It is truncated or damaged; take it from a copy of the recording", path.display())]
    Damaged { path: PathBuf, reason: String },

    #[error("rows of {table} that cannot be read: {reason}")]
    Encoded { table: String, reason: String },

    #[error("a recording without rows: {} holds no table; nothing was recorded before its writer ended", .0.display())]
    Empty(PathBuf),

    #[error("nothing to merge: name two recordings or more")]
    NothingToMerge,

    #[error("the thread that writes {} has ended early; what is on the disk can be salvaged", .0.display())]
    WriterGone(PathBuf),

    #[error(transparent)]
    Arrow(#[from] arrow::error::ArrowError),

    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }
}
