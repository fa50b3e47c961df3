use super::CpuSet;
use helenus_cassandra::journal::JournalError;
use std::io;

/// Why threads could not be placed or restored. Unless the error says otherwise, all masks are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("process {pid} has ended")]
    Ended { pid: i32 },
    #[error("the CPUs of process {pid} may not be changed by this user; run as its user or as root")]
    NoPermission { pid: i32 },
    #[error("{strategy} takes {takes}")]
    Settings { strategy: &'static str, takes: &'static str },
    #[error("no thread of process {pid} is in a group named `{name}`; {nearest}")]
    NoGroup { pid: i32, name: String, nearest: String },
    #[error("the CPUs {cpus} are offline, or not there; online are {online}")]
    Offline { cpus: CpuSet, online: CpuSet },
    #[error("the CPUs {cpus} are outside of the cpuset of the control group {group}, which has {cpuset}")]
    OutsideCpuset { cpus: CpuSet, group: String, cpuset: CpuSet },
    #[error(
        "the CPUs {cpus} are outside of those that process {pid} was started on, which are {mask}; widen them first, such as by `taskset -acp`"
    )]
    OutsideMask { pid: i32, cpus: CpuSet, mask: CpuSet },
    #[error("no CPU is left for `rest`: all of {allowed} are given to other groups")]
    NoRest { allowed: CpuSet },
    #[error(
        "no CPU is free of interrupts: {busy} serve most of them, and the process may run on {allowed}; let fewer of them count with a lower --busy-share, or gather the interrupts on some CPUs with --move-interrupts"
    )]
    AllBusy { busy: CpuSet, allowed: CpuSet },
    #[error(
        "there is nothing to keep away from: devices interrupted all CPUs {per_s:.0} times a second in {seconds:.1} s; look while the node is under load, or for longer with --window"
    )]
    NothingBusy { per_s: f64, seconds: f64 },
    #[error(
        "all of the CPUs {allowed} share one last-level cache and one NUMA node: there are no parts to spread groups over"
    )]
    OneCache { allowed: CpuSet },
    #[error("process {pid} is pinned already, by {strategy}; `helenus unpin {pid}` first")]
    Pinned { pid: i32, strategy: String },
    #[error("process {pid} is not pinned; `helenus pin --list` says what is")]
    NotPinned { pid: i32 },
    #[error("interrupts were moved for process {pid} already; `helenus unpin {pid}` first")]
    InterruptsMoved { pid: i32 },
    #[error("the interrupt {irq} ({device}) cannot be moved to the CPUs {cpus}: {source}{why}")]
    Interrupt { irq: u32, device: String, cpus: CpuSet, why: &'static str, source: io::Error },
    #[error("thread {tid} cannot be kept on the CPUs {cpus}: {source}")]
    Thread { tid: i32, cpus: String, source: io::Error },
    #[error(
        "helenus (pid {follower}) follows process {pid} and did not put it back; end it with `kill {follower}`, and again"
    )]
    Follower { pid: i32, follower: i32 },
    #[error(
        "no process could be started that restores the threads when the lease ends ({why}); place them without --lease, and run `helenus unpin` later"
    )]
    NoGuard { why: String },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot read {what}: {source}")]
    Read { what: String, source: io::Error },
    #[error("{0}; what was before is still written down: `helenus unpin` tries again")]
    NotRestored(String),
}

impl Error {
    pub(super) fn read(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        |source| Error::Read { what: what.into(), source }
    }

    /// The error of a read about a process that may end at any time.
    pub(super) fn of_process(pid: i32, what: &str) -> impl FnOnce(io::Error) -> Error {
        move |source| match source.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH) => Error::Ended { pid },
            Some(libc::EPERM | libc::EACCES) => Error::NoPermission { pid },
            _ => Error::Read { what: format!("{what} of process {pid}"), source },
        }
    }
}
