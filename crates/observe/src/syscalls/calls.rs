//! The system calls: their numbers on this architecture, their names, and what they do with descriptors.

use super::records::CALLS;
use std::fmt;
use std::str::FromStr;

/// What a call does with descriptors and paths; what the programs in the kernel know of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallKind {
    /// One more than the index of the argument that is a descriptor; 0: none.
    pub(super) descriptor: u8,
    /// One more than the index of the argument that points to a path, or to where two new descriptors go.
    pub(super) pointer: u8,
    pub(super) result: Result,
    pub(super) flags: u8,
}

/// What the returned number of a call that succeeds means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Result {
    #[default]
    Plain,
    Bytes,
    Descriptor,
    /// A new descriptor for some commands of fcntl.
    Fcntl,
    Pair,
    /// The descriptor stands for something else afterwards.
    Renamed,
}

const PATH: u8 = 1;
const CLOSES: u8 = 2;
const EXECUTES: u8 = 4;

/// All calls by number: their names, and their kinds.
pub(super) struct Calls {
    names: [&'static str; CALLS],
    pub(super) kinds: [CallKind; CALLS],
}

impl Calls {
    pub(super) fn new() -> Calls {
        let mut calls = Calls { names: [""; CALLS], kinds: [CallKind::default(); CALLS] };
        for (number, name) in EVERYWHERE.iter().chain(HERE) {
            let Some(number) = usize::try_from(*number).ok().filter(|number| *number < CALLS) else { continue };
            calls.names[number] = name;
            calls.kinds[number] = kind(name);
        }
        calls
    }

    /// The name of a call; empty for one that has none here.
    pub(super) fn name(&self, call: u16) -> &'static str {
        self.names.get(usize::from(call)).copied().unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name).filter(|_| !name.is_empty())
    }

    /// The name that looks most like one that there is not.
    fn nearest(&self, name: &str) -> &'static str {
        let alike = |known: &&'static str| (strsim::jaro_winkler(name, known) * 1e9) as u64;
        self.names.iter().copied().max_by_key(alike).unwrap_or_default()
    }

    /// Whether a call returns how many bytes it has read or written.
    pub(super) fn moves_bytes(&self, call: u16) -> bool {
        self.kinds.get(usize::from(call)).is_some_and(|kind| kind.result == Result::Bytes)
    }
}

/// Some of the system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenCalls([u64; CALLS / 64]);

impl ChosenCalls {
    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Names with commas between them.
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
        "read" | "write" | "pread64" | "pwrite64" | "readv" | "writev" | "preadv" | "pwritev" | "preadv2"
        | "pwritev2" | "sendto" | "recvfrom" | "sendmsg" | "recvmsg" | "sendfile" | "splice" | "tee" | "vmsplice"
        | "copy_file_range" => kind(1, 0, Result::Bytes, 0),
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

/// The name of an error that a call returned (as -errno); those of restarted calls are the kernel's own.
pub(super) fn error_name(returned: i64) -> Option<&'static str> {
    if !(-4095..0).contains(&returned) {
        return None;
    }
    let number = i32::try_from(-returned).unwrap_or(0);
    Some(ERRORS.iter().find(|(error, _)| *error == number).map_or("other", |(_, name)| name))
}

const ERRORS: &[(i32, &str)] = &[
    (libc::EAGAIN, "EAGAIN"),
    (libc::EINTR, "EINTR"),
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::E2BIG, "E2BIG"),
    (libc::ENOEXEC, "ENOEXEC"),
    (libc::EBADF, "EBADF"),
    (libc::ECHILD, "ECHILD"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::ENOTBLK, "ENOTBLK"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::ESPIPE, "ESPIPE"),
    (libc::EROFS, "EROFS"),
    (libc::EMLINK, "EMLINK"),
    (libc::EPIPE, "EPIPE"),
    (libc::EDOM, "EDOM"),
    (libc::ERANGE, "ERANGE"),
    (libc::EDEADLK, "EDEADLK"),
    (libc::ENAMETOOLONG, "ENAMETOOLONG"),
    (libc::ENOLCK, "ENOLCK"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ENOTEMPTY, "ENOTEMPTY"),
    (libc::ELOOP, "ELOOP"),
    (libc::ENODATA, "ENODATA"),
    (libc::EPROTO, "EPROTO"),
    (libc::EOVERFLOW, "EOVERFLOW"),
    (libc::ENOTSOCK, "ENOTSOCK"),
    (libc::EDESTADDRREQ, "EDESTADDRREQ"),
    (libc::EMSGSIZE, "EMSGSIZE"),
    (libc::EPROTOTYPE, "EPROTOTYPE"),
    (libc::ENOPROTOOPT, "ENOPROTOOPT"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ENETDOWN, "ENETDOWN"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ECONNABORTED, "ECONNABORTED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ENOBUFS, "ENOBUFS"),
    (libc::EISCONN, "EISCONN"),
    (libc::ENOTCONN, "ENOTCONN"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EHOSTDOWN, "EHOSTDOWN"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::EALREADY, "EALREADY"),
    (libc::EINPROGRESS, "EINPROGRESS"),
    (libc::ESTALE, "ESTALE"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::ECANCELED, "ECANCELED"),
    (libc::EOWNERDEAD, "EOWNERDEAD"),
    (512, "ERESTARTSYS"),
    (513, "ERESTARTNOINTR"),
    (514, "ERESTARTNOHAND"),
    (516, "ERESTART_RESTARTBLOCK"),
];

/// On every architecture.
const EVERYWHERE: &[(libc::c_long, &str)] = &[
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_acct, "acct"),
    (libc::SYS_add_key, "add_key"),
    (libc::SYS_adjtimex, "adjtimex"),
    (libc::SYS_bind, "bind"),
    (libc::SYS_bpf, "bpf"),
    (libc::SYS_brk, "brk"),
    (libc::SYS_capget, "capget"),
    (libc::SYS_capset, "capset"),
    (libc::SYS_chdir, "chdir"),
    (libc::SYS_chroot, "chroot"),
    (libc::SYS_clock_adjtime, "clock_adjtime"),
    (libc::SYS_clock_getres, "clock_getres"),
    (libc::SYS_clock_gettime, "clock_gettime"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_clock_settime, "clock_settime"),
    (libc::SYS_clone, "clone"),
    (libc::SYS_clone3, "clone3"),
    (libc::SYS_close, "close"),
    (libc::SYS_close_range, "close_range"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_delete_module, "delete_module"),
    (libc::SYS_dup, "dup"),
    (libc::SYS_dup3, "dup3"),
    (libc::SYS_epoll_create1, "epoll_create1"),
    (libc::SYS_epoll_ctl, "epoll_ctl"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_epoll_pwait2, "epoll_pwait2"),
    (libc::SYS_eventfd2, "eventfd2"),
    (libc::SYS_execve, "execve"),
    (libc::SYS_execveat, "execveat"),
    (libc::SYS_exit, "exit"),
    (libc::SYS_exit_group, "exit_group"),
    (libc::SYS_faccessat, "faccessat"),
    (libc::SYS_faccessat2, "faccessat2"),
    (libc::SYS_fadvise64, "fadvise64"),
    (libc::SYS_fallocate, "fallocate"),
    (libc::SYS_fanotify_init, "fanotify_init"),
    (libc::SYS_fanotify_mark, "fanotify_mark"),
    (libc::SYS_fchdir, "fchdir"),
    (libc::SYS_fchmod, "fchmod"),
    (libc::SYS_fchmodat, "fchmodat"),
    (libc::SYS_fchown, "fchown"),
    (libc::SYS_fchownat, "fchownat"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_fgetxattr, "fgetxattr"),
    (libc::SYS_finit_module, "finit_module"),
    (libc::SYS_flistxattr, "flistxattr"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fremovexattr, "fremovexattr"),
    (libc::SYS_fsconfig, "fsconfig"),
    (libc::SYS_fsetxattr, "fsetxattr"),
    (libc::SYS_fsmount, "fsmount"),
    (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_fspick, "fspick"),
    (libc::SYS_fstat, "fstat"),
    (libc::SYS_fstatfs, "fstatfs"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_ftruncate, "ftruncate"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_futex_waitv, "futex_waitv"),
    (libc::SYS_get_mempolicy, "get_mempolicy"),
    (libc::SYS_get_robust_list, "get_robust_list"),
    (libc::SYS_getcpu, "getcpu"),
    (libc::SYS_getcwd, "getcwd"),
    (libc::SYS_getdents64, "getdents64"),
    (libc::SYS_getegid, "getegid"),
    (libc::SYS_geteuid, "geteuid"),
    (libc::SYS_getgid, "getgid"),
    (libc::SYS_getgroups, "getgroups"),
    (libc::SYS_getitimer, "getitimer"),
    (libc::SYS_getpeername, "getpeername"),
    (libc::SYS_getpgid, "getpgid"),
    (libc::SYS_getpid, "getpid"),
    (libc::SYS_getppid, "getppid"),
    (libc::SYS_getpriority, "getpriority"),
    (libc::SYS_getrandom, "getrandom"),
    (libc::SYS_getresgid, "getresgid"),
    (libc::SYS_getresuid, "getresuid"),
    (libc::SYS_getrusage, "getrusage"),
    (libc::SYS_getsid, "getsid"),
    (libc::SYS_getsockname, "getsockname"),
    (libc::SYS_getsockopt, "getsockopt"),
    (libc::SYS_gettid, "gettid"),
    (libc::SYS_gettimeofday, "gettimeofday"),
    (libc::SYS_getuid, "getuid"),
    (libc::SYS_getxattr, "getxattr"),
    (libc::SYS_init_module, "init_module"),
    (libc::SYS_inotify_add_watch, "inotify_add_watch"),
    (libc::SYS_inotify_init1, "inotify_init1"),
    (libc::SYS_inotify_rm_watch, "inotify_rm_watch"),
    (libc::SYS_io_cancel, "io_cancel"),
    (libc::SYS_io_destroy, "io_destroy"),
    (libc::SYS_io_getevents, "io_getevents"),
    (libc::SYS_io_setup, "io_setup"),
    (libc::SYS_io_submit, "io_submit"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_uring_register, "io_uring_register"),
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_ioprio_get, "ioprio_get"),
    (libc::SYS_ioprio_set, "ioprio_set"),
    (libc::SYS_kcmp, "kcmp"),
    (libc::SYS_kexec_file_load, "kexec_file_load"),
    (libc::SYS_kexec_load, "kexec_load"),
    (libc::SYS_keyctl, "keyctl"),
    (libc::SYS_kill, "kill"),
    (libc::SYS_landlock_add_rule, "landlock_add_rule"),
    (libc::SYS_landlock_create_ruleset, "landlock_create_ruleset"),
    (libc::SYS_landlock_restrict_self, "landlock_restrict_self"),
    (libc::SYS_lgetxattr, "lgetxattr"),
    (libc::SYS_linkat, "linkat"),
    (libc::SYS_listen, "listen"),
    (libc::SYS_listxattr, "listxattr"),
    (libc::SYS_llistxattr, "llistxattr"),
    (libc::SYS_lookup_dcookie, "lookup_dcookie"),
    (libc::SYS_lremovexattr, "lremovexattr"),
    (libc::SYS_lseek, "lseek"),
    (libc::SYS_lsetxattr, "lsetxattr"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_mbind, "mbind"),
    (libc::SYS_membarrier, "membarrier"),
    (libc::SYS_memfd_create, "memfd_create"),
    (libc::SYS_memfd_secret, "memfd_secret"),
    (libc::SYS_migrate_pages, "migrate_pages"),
    (libc::SYS_mincore, "mincore"),
    (libc::SYS_mkdirat, "mkdirat"),
    (libc::SYS_mknodat, "mknodat"),
    (libc::SYS_mlock, "mlock"),
    (libc::SYS_mlock2, "mlock2"),
    (libc::SYS_mlockall, "mlockall"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_mount_setattr, "mount_setattr"),
    (libc::SYS_move_mount, "move_mount"),
    (libc::SYS_move_pages, "move_pages"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_mq_getsetattr, "mq_getsetattr"),
    (libc::SYS_mq_notify, "mq_notify"),
    (libc::SYS_mq_open, "mq_open"),
    (libc::SYS_mq_timedreceive, "mq_timedreceive"),
    (libc::SYS_mq_timedsend, "mq_timedsend"),
    (libc::SYS_mq_unlink, "mq_unlink"),
    (libc::SYS_mremap, "mremap"),
    (libc::SYS_mseal, "mseal"),
    (libc::SYS_msgctl, "msgctl"),
    (libc::SYS_msgget, "msgget"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_msync, "msync"),
    (libc::SYS_munlock, "munlock"),
    (libc::SYS_munlockall, "munlockall"),
    (libc::SYS_munmap, "munmap"),
    (libc::SYS_name_to_handle_at, "name_to_handle_at"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_nfsservctl, "nfsservctl"),
    (libc::SYS_open_by_handle_at, "open_by_handle_at"),
    (libc::SYS_open_tree, "open_tree"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_openat2, "openat2"),
    (libc::SYS_perf_event_open, "perf_event_open"),
    (libc::SYS_personality, "personality"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"),
    (libc::SYS_pidfd_open, "pidfd_open"),
    (libc::SYS_pidfd_send_signal, "pidfd_send_signal"),
    (libc::SYS_pipe2, "pipe2"),
    (libc::SYS_pivot_root, "pivot_root"),
    (libc::SYS_pkey_alloc, "pkey_alloc"),
    (libc::SYS_pkey_free, "pkey_free"),
    (libc::SYS_pkey_mprotect, "pkey_mprotect"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_prctl, "prctl"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_preadv, "preadv"),
    (libc::SYS_preadv2, "preadv2"),
    (libc::SYS_prlimit64, "prlimit64"),
    (libc::SYS_process_madvise, "process_madvise"),
    (libc::SYS_process_mrelease, "process_mrelease"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_pwritev2, "pwritev2"),
    (libc::SYS_quotactl, "quotactl"),
    (libc::SYS_quotactl_fd, "quotactl_fd"),
    (libc::SYS_read, "read"),
    (libc::SYS_readahead, "readahead"),
    (libc::SYS_readlinkat, "readlinkat"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_reboot, "reboot"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_remap_file_pages, "remap_file_pages"),
    (libc::SYS_removexattr, "removexattr"),
    (libc::SYS_renameat2, "renameat2"),
    (libc::SYS_request_key, "request_key"),
    (libc::SYS_restart_syscall, "restart_syscall"),
    (libc::SYS_rseq, "rseq"),
    (libc::SYS_rt_sigaction, "rt_sigaction"),
    (libc::SYS_rt_sigpending, "rt_sigpending"),
    (libc::SYS_rt_sigprocmask, "rt_sigprocmask"),
    (libc::SYS_rt_sigqueueinfo, "rt_sigqueueinfo"),
    (libc::SYS_rt_sigreturn, "rt_sigreturn"),
    (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"),
    (libc::SYS_sched_get_priority_max, "sched_get_priority_max"),
    (libc::SYS_sched_get_priority_min, "sched_get_priority_min"),
    (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    (libc::SYS_sched_getattr, "sched_getattr"),
    (libc::SYS_sched_getparam, "sched_getparam"),
    (libc::SYS_sched_getscheduler, "sched_getscheduler"),
    (libc::SYS_sched_rr_get_interval, "sched_rr_get_interval"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity"),
    (libc::SYS_sched_setattr, "sched_setattr"),
    (libc::SYS_sched_setparam, "sched_setparam"),
    (libc::SYS_sched_setscheduler, "sched_setscheduler"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_seccomp, "seccomp"),
    (libc::SYS_semctl, "semctl"),
    (libc::SYS_semget, "semget"),
    (libc::SYS_semop, "semop"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_sendfile, "sendfile"),
    (libc::SYS_sendmmsg, "sendmmsg"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_set_mempolicy, "set_mempolicy"),
    (libc::SYS_set_mempolicy_home_node, "set_mempolicy_home_node"),
    (libc::SYS_set_robust_list, "set_robust_list"),
    (libc::SYS_set_tid_address, "set_tid_address"),
    (libc::SYS_setdomainname, "setdomainname"),
    (libc::SYS_setfsgid, "setfsgid"),
    (libc::SYS_setfsuid, "setfsuid"),
    (libc::SYS_setgid, "setgid"),
    (libc::SYS_setgroups, "setgroups"),
    (libc::SYS_sethostname, "sethostname"),
    (libc::SYS_setitimer, "setitimer"),
    (libc::SYS_setns, "setns"),
    (libc::SYS_setpgid, "setpgid"),
    (libc::SYS_setpriority, "setpriority"),
    (libc::SYS_setregid, "setregid"),
    (libc::SYS_setresgid, "setresgid"),
    (libc::SYS_setresuid, "setresuid"),
    (libc::SYS_setreuid, "setreuid"),
    (libc::SYS_setsid, "setsid"),
    (libc::SYS_setsockopt, "setsockopt"),
    (libc::SYS_settimeofday, "settimeofday"),
    (libc::SYS_setuid, "setuid"),
    (libc::SYS_setxattr, "setxattr"),
    (libc::SYS_shmat, "shmat"),
    (libc::SYS_shmctl, "shmctl"),
    (libc::SYS_shmdt, "shmdt"),
    (libc::SYS_shmget, "shmget"),
    (libc::SYS_shutdown, "shutdown"),
    (libc::SYS_sigaltstack, "sigaltstack"),
    (libc::SYS_signalfd4, "signalfd4"),
    (libc::SYS_socket, "socket"),
    (libc::SYS_socketpair, "socketpair"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_statfs, "statfs"),
    (libc::SYS_statx, "statx"),
    (libc::SYS_swapoff, "swapoff"),
    (libc::SYS_swapon, "swapon"),
    (libc::SYS_symlinkat, "symlinkat"),
    (libc::SYS_sync, "sync"),
    (libc::SYS_syncfs, "syncfs"),
    (libc::SYS_sysinfo, "sysinfo"),
    (libc::SYS_syslog, "syslog"),
    (libc::SYS_tee, "tee"),
    (libc::SYS_tgkill, "tgkill"),
    (libc::SYS_timer_create, "timer_create"),
    (libc::SYS_timer_delete, "timer_delete"),
    (libc::SYS_timer_getoverrun, "timer_getoverrun"),
    (libc::SYS_timer_gettime, "timer_gettime"),
    (libc::SYS_timer_settime, "timer_settime"),
    (libc::SYS_timerfd_create, "timerfd_create"),
    (libc::SYS_timerfd_gettime, "timerfd_gettime"),
    (libc::SYS_timerfd_settime, "timerfd_settime"),
    (libc::SYS_times, "times"),
    (libc::SYS_tkill, "tkill"),
    (libc::SYS_truncate, "truncate"),
    (libc::SYS_umask, "umask"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_uname, "uname"),
    (libc::SYS_unlinkat, "unlinkat"),
    (libc::SYS_unshare, "unshare"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_utimensat, "utimensat"),
    (libc::SYS_vhangup, "vhangup"),
    (libc::SYS_vmsplice, "vmsplice"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
];

/// On this architecture besides.
#[cfg(target_arch = "x86_64")]
const HERE: &[(libc::c_long, &str)] = &[
    (libc::SYS__sysctl, "_sysctl"),
    (libc::SYS_access, "access"),
    (libc::SYS_afs_syscall, "afs_syscall"),
    (libc::SYS_alarm, "alarm"),
    (libc::SYS_arch_prctl, "arch_prctl"),
    (libc::SYS_chmod, "chmod"),
    (libc::SYS_chown, "chown"),
    (libc::SYS_creat, "creat"),
    (libc::SYS_dup2, "dup2"),
    (libc::SYS_epoll_create, "epoll_create"),
    (libc::SYS_epoll_ctl_old, "epoll_ctl_old"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_epoll_wait_old, "epoll_wait_old"),
    (libc::SYS_eventfd, "eventfd"),
    (libc::SYS_fchmodat2, "fchmodat2"),
    (libc::SYS_fork, "fork"),
    (libc::SYS_futimesat, "futimesat"),
    (libc::SYS_get_thread_area, "get_thread_area"),
    (libc::SYS_getdents, "getdents"),
    (libc::SYS_getpgrp, "getpgrp"),
    (libc::SYS_getpmsg, "getpmsg"),
    (libc::SYS_getrlimit, "getrlimit"),
    (libc::SYS_inotify_init, "inotify_init"),
    (libc::SYS_ioperm, "ioperm"),
    (libc::SYS_iopl, "iopl"),
    (libc::SYS_lchown, "lchown"),
    (libc::SYS_link, "link"),
    (libc::SYS_lstat, "lstat"),
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_mknod, "mknod"),
    (libc::SYS_modify_ldt, "modify_ldt"),
    (libc::SYS_open, "open"),
    (libc::SYS_pause, "pause"),
    (libc::SYS_pipe, "pipe"),
    (libc::SYS_poll, "poll"),
    (libc::SYS_putpmsg, "putpmsg"),
    (libc::SYS_readlink, "readlink"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_renameat, "renameat"),
    (libc::SYS_rmdir, "rmdir"),
    (libc::SYS_security, "security"),
    (libc::SYS_select, "select"),
    (libc::SYS_set_thread_area, "set_thread_area"),
    (libc::SYS_setrlimit, "setrlimit"),
    (libc::SYS_signalfd, "signalfd"),
    (libc::SYS_stat, "stat"),
    (libc::SYS_symlink, "symlink"),
    (libc::SYS_sync_file_range, "sync_file_range"),
    (libc::SYS_sysfs, "sysfs"),
    (libc::SYS_time, "time"),
    (libc::SYS_tuxcall, "tuxcall"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_uselib, "uselib"),
    (libc::SYS_ustat, "ustat"),
    (libc::SYS_utime, "utime"),
    (libc::SYS_utimes, "utimes"),
    (libc::SYS_vfork, "vfork"),
    (libc::SYS_vserver, "vserver"),
];
#[cfg(not(target_arch = "x86_64"))]
const HERE: &[(libc::c_long, &str)] = &[];

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
