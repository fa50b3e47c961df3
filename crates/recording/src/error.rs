use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Errors of recordings; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },

    #[error("{source}. The recording was not closed and {}. Once the cause is gone, run `helenus recording salvage {}`", lost(*rows_lost), recording.display())]
    Unfinished { recording: PathBuf, rows_lost: u64, source: Box<Error> },

    #[error("the disk is full: cannot write {}; free some space", .0.display())]
    DiskFull(PathBuf),

    #[error("too many files are open: cannot {action} {}; raise the limit (ulimit -n)", path.display())]
    TooManyFiles { action: &'static str, path: PathBuf },

    #[error("{} already exists and is not an empty folder; choose another name for the recording", .0.display())]
    Exists(PathBuf),

    #[error("cannot create {}: there is no folder {} to create it in", .0.display(), parent(.0).display())]
    NoPlace(PathBuf),

    #[error("{} belongs to another user (uid {owner}), who could change it while it is written; run helenus as that user, or choose a folder of your own", path.display())]
    Foreign { path: PathBuf, owner: u32 },

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

    #[error("{} still grows, and nothing is added to it; copy a window of it with `helenus freeze {}`", .0.display(), .0.display())]
    Growing(PathBuf),

    #[error("{} is a recording that was not kept in segments; choose another name for the new one", .0.display())]
    NotKept(PathBuf),

    #[error("{} cannot be read: {reason}. It is cut off or damaged; take it from a copy of the recording", path.display())]
    Damaged { path: PathBuf, reason: String },

    #[error("rows of {table} that cannot be read: {reason}")]
    Encoded { table: String, reason: String },

    #[error("a recording without rows: {} holds no table; nothing was recorded before its writer ended", .0.display())]
    Empty(PathBuf),

    #[error("{} has no rows in that time", path.display())]
    NothingIn { path: PathBuf },
    #[error("ended before the new recording was complete; nothing was left behind")]
    Ended,

    #[error("nothing to merge: name two recordings or more")]
    NothingToMerge,

    #[error("{} holds rows that {} holds too; merged, they would count twice", second.display(), first.display())]
    MergedTwice { first: PathBuf, second: PathBuf },

    #[error("the thread that writes {} has ended early; what is on the disk can be salvaged", .0.display())]
    WriterGone(PathBuf),

    #[error(transparent)]
    Arrow(#[from] arrow::error::ArrowError),

    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl Error {
    /// Makes an error for a failed operation on a path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| match source.raw_os_error() {
            _ if is_full(&source) => Error::DiskFull(path),
            Some(libc::EMFILE | libc::ENFILE) => Error::TooManyFiles { action, path },
            _ => Error::Io { action, path, source },
        }
    }

    pub(crate) fn errno(action: &'static str, path: &Path) -> impl FnOnce(rustix::io::Errno) -> Error {
        let error = Error::io(action, path);
        move |errno| error(errno.into())
    }

    /// Adds the name of the file to a "disk full" error of a library that does not name it.
    pub(crate) fn writing(self, path: &Path) -> Error {
        if is_full(&self) && !matches!(self, Error::DiskFull(_)) { Error::DiskFull(path.to_path_buf()) } else { self }
    }

    /// Whether the machine lacks something, and the file may be whole.
    pub(crate) fn is_of_the_machine(&self) -> bool {
        match self {
            Error::TooManyFiles { .. } | Error::DiskFull(_) => true,
            Error::Io { source, .. } => source.raw_os_error() == Some(libc::ENOMEM),
            _ => is_full(self),
        }
    }

    /// Why a file can't be read, without its name.
    pub(crate) fn why(&self) -> String {
        match self {
            Error::Io { source, .. } => match source.raw_os_error() {
                Some(libc::ELOOP) => "it is a link".to_string(),
                Some(libc::ENOTDIR) => "it is no folder".to_string(),
                _ => source.to_string(),
            },
            Error::NotARecording { reason, .. } | Error::Damaged { reason, .. } => reason.clone(),
            error => error.to_string(),
        }
    }

    /// Whether a retry may succeed: the machine failed, and the request itself is valid.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Error::DiskFull(_) | Error::TooManyFiles { .. } | Error::Io { .. }) || is_full(self)
    }
}

/// Whether the error is a full disk, however deep the libraries have wrapped it.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let full = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
    // parquet keeps only the text of an underlying error.
    let texts = ["No space left on device", "Disk quota exceeded", "File too large"];
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if matches!(error.downcast_ref::<Error>(), Some(Error::DiskFull(_)))
            || error.downcast_ref::<std::io::Error>().is_some_and(|io| full(io.kind()))
            || texts.iter().any(|full| text.contains(full))
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// The parent folder, by a name that the user knows.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn lost(rows: u64) -> String {
    match rows {
        0 => "no row is lost".to_string(),
        rows => format!("{rows} rows are lost that waited in memory"),
    }
}
