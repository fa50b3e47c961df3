//! System calls: their numbers on this architecture, their names, and how they use file descriptors.

use super::records::CALLS;
use std::fmt;
use std::str::FromStr;
use syscalls::{Errno, Sysno};

/// How a call uses descriptors and paths, in the form that the eBPF programs need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallKind {
    /// Index of the descriptor argument plus one; 0 for none.
    pub(super) descriptor: u8,
    /// Index plus one of the argument that points to a path, or to the memory for two new descriptors.
    pub(super) pointer: u8,
    pub(super) result: Result,
    pub(super) flags: u8,
}

/// The meaning of the value that a successful call returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Result {
    #[default]
    Plain,
    Bytes,
    Descriptor,
    /// A new descriptor, for some commands of fcntl.
    Fcntl,
    Pair,
    /// The call changes what the descriptor refers to.
    Renamed,
}

const PATH: u8 = 1;
const CLOSES: u8 = 2;
const EXECUTES: u8 = 4;
const POSITION: u8 = 16;

/// All calls by number: their names, and their kinds.
pub(super) struct Calls {
    names: [&'static str; CALLS],
    pub(super) kinds: [CallKind; CALLS],
}

impl Calls {
    pub(super) fn new() -> Calls {
        let mut calls = Calls { names: [""; CALLS], kinds: [CallKind::default(); CALLS] };
        for (number, call) in (0..CALLS).filter_map(|number| Some((number, Sysno::new(number)?))) {
            // The name that strace uses on every architecture.
            let name = if call.name() == "fstatat" { "newfstatat" } else { call.name() };
            calls.names[number] = name;
            calls.kinds[number] = kind(name);
        }
        calls
    }

    /// The name of a call; empty for an unknown number.
    pub(super) fn name(&self, call: u16) -> &'static str {
        self.names.get(usize::from(call)).copied().unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name).filter(|_| !name.is_empty())
    }

    /// The known name most similar to an unknown one.
    fn nearest(&self, name: &str) -> &'static str {
        let alike = |known: &&'static str| (strsim::jaro_winkler(name, known) * 1e9) as u64;
        self.names.iter().copied().max_by_key(alike).unwrap_or_default()
    }

    /// Where in its file a call read, wrote or moved to; None if the call does not say. `position` is its fourth argument.
    pub(super) fn offset_bytes(&self, call: u16, position: i64, returned: i64) -> Option<i64> {
        let kind = self.kinds.get(usize::from(call))?;
        match kind.flags & POSITION {
            0 => (self.name(call) == "lseek" && returned >= 0).then_some(returned),
            // preadv2 and pwritev2 take -1 for the current position.
            _ => (position >= 0).then_some(position),
        }
    }

    /// Whether a call returns how many bytes it has read or written.
    pub(super) fn moves_bytes(&self, call: u16) -> bool {
        self.kinds.get(usize::from(call)).is_some_and(|kind| kind.result == Result::Bytes)
    }
}

/// A set of system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenCalls([u64; CALLS / 64]);

impl ChosenCalls {
    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Parses names with commas between them.
impl FromStr for ChosenCalls {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ChosenCalls, String> {
        let calls = Calls::new();
        let mut chosen = ChosenCalls([0; CALLS / 64]);
        for name in text.split(',').map(str::trim) {
            let number = calls.number(name).ok_or_else(|| {
                format!("{name:?} is no system call of this machine; the nearest is {}", calls.nearest(name))
            })?;
            chosen.0[number / 64] |= 1 << (number % 64);
        }
        Ok(chosen)
    }
}

impl fmt::Display for ChosenCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = Calls::new();
        let chosen = (0..CALLS).filter(|number| self.contains(*number)).map(|number| calls.names[number]);
        f.write_str(&chosen.collect::<Vec<_>>().join(", "))
    }
}

fn kind(name: &str) -> CallKind {
    let kind = |descriptor, pointer, result, flags| CallKind { descriptor, pointer, result, flags };
    match name {
        "pread64" | "pwrite64" | "preadv" | "pwritev" | "preadv2" | "pwritev2" => kind(1, 0, Result::Bytes, POSITION),
        "read" | "write" | "readv" | "writev" | "sendto" | "recvfrom" | "sendmsg" | "recvmsg" | "sendfile"
        | "splice" | "tee" | "vmsplice" | "copy_file_range" => kind(1, 0, Result::Bytes, 0),
        "fstat" | "fsync" | "fdatasync" | "syncfs" | "ftruncate" | "lseek" | "ioctl" | "flock" | "fadvise64"
        | "fallocate" | "fchmod" | "fchown" | "fchdir" | "fstatfs" | "getdents" | "getdents64" | "sync_file_range"
        | "readahead" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" | "epoll_ctl" | "getsockopt" | "setsockopt"
        | "getsockname" | "getpeername" | "shutdown" | "sendmmsg" | "recvmmsg" | "timerfd_settime"
        | "timerfd_gettime" | "io_uring_enter" | "io_uring_register" | "inotify_add_watch" | "inotify_rm_watch"
        | "fgetxattr" | "fsetxattr" | "flistxattr" | "fremovexattr" => kind(1, 0, Result::Plain, 0),
        "mmap" => kind(5, 0, Result::Plain, 0),
        "close" => kind(1, 0, Result::Plain, CLOSES),
        "fcntl" => kind(1, 0, Result::Fcntl, 0),
        "connect" | "bind" | "listen" => kind(1, 0, Result::Renamed, 0),
        "dup" | "dup2" | "dup3" | "accept" | "accept4" => kind(1, 0, Result::Descriptor, 0),
        "socket" | "epoll_create" | "epoll_create1" | "eventfd" | "eventfd2" | "timerfd_create" | "inotify_init"
        | "inotify_init1" | "signalfd" | "signalfd4" | "memfd_create" | "pidfd_open" | "userfaultfd"
        | "io_uring_setup" | "perf_event_open" => kind(0, 0, Result::Descriptor, 0),
        "pipe" | "pipe2" => kind(0, 1, Result::Pair, 0),
        "socketpair" => kind(0, 4, Result::Pair, 0),
        "open" | "creat" => kind(0, 1, Result::Descriptor, PATH),
        "openat" | "openat2" => kind(1, 2, Result::Descriptor, PATH),
        "stat" | "lstat" | "statfs" | "access" | "unlink" | "rename" | "link" | "mkdir" | "rmdir" | "readlink"
        | "chmod" | "chown" | "lchown" | "truncate" | "chdir" | "getxattr" | "lgetxattr" | "setxattr" => {
            kind(0, 1, Result::Plain, PATH)
        }
        "newfstatat" | "statx" | "faccessat" | "faccessat2" | "unlinkat" | "renameat" | "renameat2" | "linkat"
        | "mkdirat" | "readlinkat" | "fchmodat" | "fchownat" | "utimensat" => kind(1, 2, Result::Plain, PATH),
        "execve" => kind(0, 0, Result::Plain, EXECUTES),
        "execveat" => kind(1, 0, Result::Plain, EXECUTES),
        _ => CallKind::default(),
    }
}

/// The name of an error that a call returned (as -errno). Errors of restarted calls are internal to the kernel.
pub(super) fn error_name(returned: i64) -> Option<&'static str> {
    if !(-4095..0).contains(&returned) {
        return None;
    }
    let number = i32::try_from(-returned).unwrap_or(0);
    Some(Errno::new(number).name().unwrap_or("other"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_names_and_kinds() {
        let calls = Calls::new();
        let number = u16::try_from(libc::SYS_pread64).unwrap();
        assert_eq!(calls.name(number), "pread64");
        assert!(calls.moves_bytes(number));
        assert_eq!(calls.name(511), "");
        assert_eq!(calls.offset_bytes(number, 65_536, 4096), Some(65_536));
        assert_eq!(calls.offset_bytes(number, -1, 4096), None);
        let [seek, read] = [libc::SYS_lseek, libc::SYS_read].map(|number| u16::try_from(number).unwrap());
        assert_eq!([calls.offset_bytes(seek, 7, 512), calls.offset_bytes(seek, 7, -22)], [Some(512), None]);
        assert_eq!(calls.offset_bytes(read, 7, 512), None);
        assert_eq!(calls.kinds[usize::try_from(libc::SYS_close).unwrap()].flags, CLOSES);
    }

    #[test]
    fn errors_have_their_names() {
        assert_eq!(error_name(-11), Some("EAGAIN"));
        assert_eq!(error_name(-512), Some("ERESTARTSYS"));
        assert_eq!(error_name(-4000), Some("other"));
        assert_eq!(error_name(0), None);
        assert_eq!(error_name(i64::MIN), None, "an address, not an error");
    }
}
