use helenus_cassandra::cql;
use helenus_cassandra::journal::JournalError;
use helenus_notation::show_bytes as bytes;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a change could not be tried. The user's node is unchanged, or the text says what remains on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Control(#[from] helenus_control::Error),
    #[error(transparent)]
    Cassandra(#[from] helenus_cassandra::Error),
    #[error(transparent)]
    Target(#[from] helenus_cassandra::target::Error),
    #[error("the node is Cassandra {release}, and its trial node can only be one of 4.0, 4.1 and 5.0")]
    Release { release: String },
    #[error("the node's partitioner is {partitioner}; only tables of Murmur3Partitioner can be tried")]
    Partitioner { partitioner: String },
    #[error("the table has nothing on the disk to try anything with; write to it first")]
    Empty,
    #[error(
        "this takes {} of disk space on the file system of {} ({of_what}), and {} may be used there, as {} are left to others; \
         {way_out}", bytes(*need), folder.display(), bytes(*usable), bytes(*left)
    )]
    Room { need: u64, usable: u64, left: u64, of_what: String, folder: PathBuf, way_out: String },
    #[error(
        "{nodes} nodes with a heap of {heap} take {} of memory, and {} are free on this machine: give a smaller --heap, or fewer \
         candidates", bytes(*need), bytes(*free)
    )]
    Memory { nodes: usize, heap: String, need: u64, free: u64 },
    #[error(
        "only {} are left on the file system of {}, where {} are to be left to others: the try is ended before the disk is full; \
         free some space, name another --folder, or try a --sample", bytes(*available), folder.display(), bytes(*left)
    )]
    DiskLow { available: u64, left: u64, folder: PathBuf },
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "{} can't be read by this user: {source}; run helenus as the user of the node, or as root", path.display()
    )]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "the snapshot {tag} of {table} is not there any more: somebody has cleared the node's snapshots meanwhile ({}); try again",
        path.display()
    )]
    Vanished { tag: String, table: String, path: PathBuf },
    #[error(
        "the SSTables of {table} are stored by {class}, which is not of Cassandra: a trial node does not have it, and could not read them \
         (as where they are encrypted)"
    )]
    Foreign { table: String, class: String },
    #[error(
        "{table} is a materialized view, which a trial_node can't have without its base table; try the base table in its place"
    )]
    View { table: String },
    #[error("the schema of {table} is not understood: {why} in {text:?}")]
    Schema { table: String, why: &'static str, text: String },
    #[error("{candidate} is refused by Cassandra: {source}")]
    Candidate { candidate: String, source: cql::Error },
    #[error(
        "a trial node does not take the schema of the table: {source}; what it lacks may be set with --set, as in cassandra.yaml"
    )]
    NoTable { source: cql::Error },
    #[error("the trial node {name} can't be asked: {source}")]
    Ask { name: String, source: cql::Error },
    #[error("the trial node {name} on {address} has ended: {reason}")]
    Ended { name: String, address: SocketAddr, reason: String },
    #[error("the trial node {name} has taken {loaded} of {wanted} SSTables; please report this")]
    NotLoaded { name: String, wanted: usize, loaded: i64 },
    #[error(
        "the trial node {name} can't compact: {reason}; free some disk space, name another --folder, or try a --sample"
    )]
    CannotCompact { name: String, reason: String },
    #[error("the trial node {name} could not leave a sample of the table: {reason}")]
    Trim { name: String, reason: String },
    #[error("there is no partition in the table that could be read: all of its rows are deleted or have expired")]
    NoKeys,
    #[error(
        "no SELECT of {table} in the recording can be replayed: {why}; leave --replay out to read partitions whole"
    )]
    NothingToReplay { table: String, why: String },
    #[error("cut short")]
    Cancelled,
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Creates an error for `map_err` on file operations.
pub(super) fn file(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let path = path.to_path_buf();
    move |source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Unreadable { path, source },
        _ => Error::File { action, path, source },
    }
}
