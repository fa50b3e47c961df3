//! Names of file descriptors. The eBPF programs give each open file an identity, which is resolved to a name once.

use super::calls::Calls;
use super::records::{CALLS, Descriptor};
use crate::bounded::Kept;
use helenus_cassandra::foreign::read_proc;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a name is kept after its descriptor was closed: a call may still use it, and sums are read later.
const KEEP: Duration = Duration::from_secs(30);

/// The most bytes of a path that the eBPF programs pass on.
const PATH_LIMIT: usize = 255;
/// The longest path that is kept, which is the longest that the kernel takes. A path below a folder that was opened below
/// another one may be longer.
const LONGEST_PATH: usize = 4 << 10;
/// The most bytes of the names of all open files, and of those that were closed lately.
const NAMES: usize = 32 << 20;
/// The most closed files whose names are kept.
const MOST_CLOSED: usize = 1 << 18;

/// The file, socket or path that a call used.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Named {
    pub(super) file: Rc<str>,
    pub(super) kind: &'static str,
}

impl Named {
    fn new(file: &str, kind: &'static str) -> Named {
        Named { file: file.into(), kind }
    }
}

/// The state of a descriptor, from /proc.
#[derive(Debug, Clone)]
struct Seen {
    inode: u64,
    named: Named,
}

/// The names of all identities.
#[derive(Debug)]
pub(super) struct Descriptors {
    pids: Vec<u32>,
    names: Kept<u32, Named>,
    /// The identity that each descriptor of each process currently has.
    current: HashMap<(u8, i32), u32>,
    /// Descriptors that were open before the recording began.
    seeds: HashMap<(u8, i32), Seen>,
    closed: VecDeque<(Instant, u32)>,
    pub(super) nothing: Named,
    unknown: Named,
}

impl Descriptors {
    /// Reads the open descriptors of the processes.
    pub(super) fn new(pids: &[u32]) -> Descriptors {
        let mut descriptors = Descriptors {
            pids: pids.to_vec(),
            names: Kept::new(NAMES),
            current: HashMap::new(),
            seeds: HashMap::new(),
            closed: VecDeque::new(),
            nothing: Named::new("", ""),
            unknown: Named::new("", "unknown"),
        };
        for (process, pid) in (0_u8..).zip(pids) {
            // The end of a process is detected elsewhere.
            let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
            for entry in entries.flatten() {
                let Some(fd) = entry.file_name().to_str().and_then(|fd| fd.parse().ok()) else { continue };
                if let Some(seen) = read_link(&entry.path()) {
                    descriptors.seeds.insert((process, fd), seen);
                }
            }
        }
        descriptors
    }

    /// The name of an identity.
    pub(super) fn name(&self, identity: u32) -> Named {
        match identity {
            0 => self.nothing.clone(),
            identity => self.names.get(&identity).unwrap_or(&self.unknown).clone(),
        }
    }

    /// The name for a call that takes a path. If the call also takes a folder, the path is relative to the folder
    /// `identity`.
    pub(super) fn path(&self, process: u8, identity: u32, path: &[u8]) -> Named {
        if path.is_empty() {
            return self.name(identity);
        }
        Named { file: self.whole_path(process, identity, path).into(), kind: "path" }
    }

    /// Notes the file of a new descriptor.
    pub(super) fn made(&mut self, process: u8, call: u16, descriptor: &Descriptor<'_>, calls: &Calls) {
        let named = self.named(process, call, descriptor, calls);
        let bytes = named.file.len();
        self.names.insert(descriptor.identity, named, bytes);
        if let Some(before) = self.current.insert((process, descriptor.fd), descriptor.identity) {
            self.closed(before);
        }
    }

    /// Marks an identity that no new call will use.
    pub(super) fn closed(&mut self, identity: u32) {
        self.closed.push_back((Instant::now(), identity));
    }

    /// Removes names of descriptors that were closed longer than `KEEP` ago.
    pub(super) fn tidy(&mut self) {
        let too_many = self.closed.len().saturating_sub(MOST_CLOSED);
        self.closed.drain(..too_many).for_each(|(_, identity)| self.names.remove(&identity));
        while let Some((_, identity)) = self.closed.pop_front_if(|(since, _)| since.elapsed() > KEEP) {
            self.names.remove(&identity);
        }
    }

    fn named(&self, process: u8, call: u16, descriptor: &Descriptor<'_>, calls: &Calls) -> Named {
        if let Some(named) = socket(descriptor) {
            return named;
        }
        if !descriptor.path.is_empty() {
            let path = if descriptor.path.len() < PATH_LIMIT {
                Some(self.whole_path(process, descriptor.from, descriptor.path))
            } else {
                // The path was cut off; /proc has the full path if the descriptor is still open.
                self.open_now(process, descriptor).map(|seen| seen.named.file.to_string())
            };
            return Named { file: path.unwrap_or_default().into(), kind: kind_of(descriptor.mode) };
        }
        match calls.name(call) {
            "epoll_create" | "epoll_create1" => Named::new("epoll", "epoll"),
            "eventfd" | "eventfd2" => Named::new("eventfd", "eventfd"),
            "timerfd_create" => Named::new("timerfd", "timerfd"),
            "pipe" | "pipe2" => Named::new("pipe", "pipe"),
            "dup" | "dup2" | "dup3" | "fcntl" if self.names.get(&descriptor.from).is_some() => {
                self.name(descriptor.from)
            }
            _ if is_socket(descriptor.mode) => self.unix_socket(process, descriptor.inode),
            _ => {
                let seed = self.seeds.get(&(process, descriptor.fd));
                let seed = seed.filter(|seen| usize::from(call) == CALLS && seen.inode == descriptor.inode);
                let seen = seed.cloned().or_else(|| self.open_now(process, descriptor));
                // A descriptor that isn't open: the call on it fails with EBADF.
                let closed = if descriptor.mode == 0 && descriptor.inode == 0 { &self.nothing } else { &self.unknown };
                seen.map_or_else(|| closed.clone(), |seen| seen.named)
            }
        }
    }

    /// Reads the descriptor in /proc, if its inode is still the same.
    fn open_now(&self, process: u8, descriptor: &Descriptor<'_>) -> Option<Seen> {
        let seen = read_link(&self.folder(process)?.join("fd").join(descriptor.fd.to_string()))?;
        (seen.inode == descriptor.inode).then_some(seen)
    }

    fn folder(&self, process: u8) -> Option<PathBuf> {
        self.pids.get(usize::from(process)).map(|pid| PathBuf::from(format!("/proc/{pid}")))
    }

    fn whole_path(&self, process: u8, folder: u32, path: &[u8]) -> String {
        let path = String::from_utf8_lossy(path);
        if path.starts_with('/') {
            return path.into_owned();
        }
        let base = match self.names.get(&folder) {
            Some(named) => Some(PathBuf::from(&*named.file)),
            None => self.folder(process).and_then(|folder| std::fs::read_link(folder.join("cwd")).ok()),
        };
        let relative = path.strip_prefix("./").unwrap_or(&path);
        let mut whole =
            base.map_or_else(|| path.to_string(), |base| base.join(relative).to_string_lossy().into_owned());
        whole.truncate(whole.floor_char_boundary(LONGEST_PATH));
        whole
    }

    fn unix_socket(&self, process: u8, inode: u64) -> Named {
        let table = self.folder(process).and_then(|folder| read_proc(folder.join("net/unix")).ok());
        let path = table.as_deref().and_then(|table| unix_path(table, inode));
        Named::new(&path.map_or_else(|| "socket".to_string(), |path| format!("socket:{path}")), "socket")
    }
}

/// The path of a bound Unix socket in /proc/net/unix: its lines end in type, state, inode and, where it has one, a path.
fn unix_path(table: &str, inode: u64) -> Option<&str> {
    let inode = inode.to_string();
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(6);
        (fields.next() == Some(&inode)).then(|| fields.next())?
    })
}

/// The addresses of an internet socket.
fn socket(descriptor: &Descriptor<'_>) -> Option<Named> {
    let address = |bytes: &[u8; 16]| -> Option<IpAddr> {
        match i32::from(descriptor.family) {
            libc::AF_INET => Some(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()),
            libc::AF_INET6 => Some(Ipv6Addr::from(*bytes).to_canonical()),
            _ => None,
        }
    };
    let local = SocketAddr::new(address(&descriptor.local)?, descriptor.local_port);
    let remote = SocketAddr::new(address(&descriptor.remote)?, descriptor.remote_port);
    Some(match (local.port(), remote.port()) {
        (0, 0) => Named::new("socket", "socket"),
        (_, 0) => Named::new(&format!("socket:{local}"), "socket"),
        _ => Named::new(&format!("socket:{local}->{remote}"), "socket"),
    })
}

/// Path of a descriptor in /proc/PID/fd.
fn read_link(link: &Path) -> Option<Seen> {
    let target = std::fs::read_link(link).ok()?;
    let facts = std::fs::metadata(link).ok()?;
    let target = target.to_string_lossy();
    let named = match &*target {
        "anon_inode:[eventpoll]" => Named::new("epoll", "epoll"),
        "anon_inode:[eventfd]" => Named::new("eventfd", "eventfd"),
        "anon_inode:[timerfd]" => Named::new("timerfd", "timerfd"),
        text if text.starts_with("pipe:") => Named::new("pipe", "pipe"),
        text if text.starts_with("socket:") => Named::new("socket", "socket"),
        text if text.starts_with('/') => {
            Named::new(text.strip_suffix(" (deleted)").unwrap_or(text), kind_of(facts.mode()))
        }
        text => Named::new(text, "other"),
    };
    Some(Seen { inode: facts.ino(), named })
}

fn is_socket(mode: u32) -> bool {
    mode & libc::S_IFMT == libc::S_IFSOCK
}

/// The kind of file that a path leads to.
fn kind_of(mode: u32) -> &'static str {
    match mode & libc::S_IFMT {
        libc::S_IFREG => "file",
        libc::S_IFDIR => "folder",
        libc::S_IFIFO => "pipe",
        libc::S_IFSOCK => "socket",
        libc::S_IFCHR | libc::S_IFBLK => "device",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(identity: u32, fd: i32) -> Descriptor<'static> {
        Descriptor {
            identity,
            from: 0,
            fd,
            mode: libc::S_IFREG,
            inode: 1,
            family: 0,
            local_port: 0,
            remote_port: 0,
            local: [0; 16],
            remote: [0; 16],
            path: b"",
        }
    }

    #[test]
    fn a_number_that_is_used_again_is_another_file() {
        let calls = Calls::new();
        let open = u16::try_from(libc::SYS_openat).unwrap();
        let mut descriptors = Descriptors::new(&[std::process::id()]);
        descriptors.made(0, open, &Descriptor { path: b"/a", ..descriptor(1, 70) }, &calls);
        descriptors.made(0, open, &Descriptor { path: b"b", from: 1, ..descriptor(2, 70) }, &calls);
        assert_eq!(&*descriptors.name(1).file, "/a", "a call may still be in flight on it");
        assert_eq!(&*descriptors.name(2).file, "/a/b");
        assert_eq!(descriptors.name(3).kind, "unknown");
        assert_eq!(descriptors.name(0).kind, "");
    }

    /// A process that opens folder in folder, and never closes one.
    #[test]
    fn names_of_files_without_end_take_no_memory_without_end() {
        let calls = Calls::new();
        let open = u16::try_from(libc::SYS_openat).unwrap();
        let mut descriptors = Descriptors::new(&[]);
        let name = [b'f'; 200];
        for identity in 1..40_000 {
            let new = Descriptor { path: &name, from: identity - 1, ..descriptor(identity, identity as i32) };
            descriptors.made(0, open, &new, &calls);
            assert!(descriptors.names.held() <= NAMES && descriptors.name(identity).file.len() <= LONGEST_PATH);
        }
        assert_eq!(descriptors.name(1).kind, "unknown", "the oldest goes first");
        assert!(descriptors.names.given_up > 0);
        (0..2 * MOST_CLOSED as u32).for_each(|identity| descriptors.closed(identity));
        descriptors.tidy();
        assert!(descriptors.closed.len() <= MOST_CLOSED);
    }

    #[test]
    fn sockets_are_named_by_their_ends() {
        let mut local = [0; 16];
        local[10..].copy_from_slice(&[255, 255, 127, 0, 0, 1]);
        let family = u16::try_from(libc::AF_INET6).unwrap();
        let listening = Descriptor { family, local, local_port: 9042, ..descriptor(1, 5) };
        assert_eq!(&*socket(&listening).unwrap().file, "socket:127.0.0.1:9042");
        let connected = Descriptor { remote: local, remote_port: 4711, ..listening };
        assert_eq!(&*socket(&connected).unwrap().file, "socket:127.0.0.1:9042->127.0.0.1:4711");
    }

    #[test]
    fn unix_sockets_have_the_path_they_are_bound_to() {
        let table = "Num RefCount Protocol Flags Type St Inode Path\n\
            0000: 00000002 00000000 00010000 0001 01 4711 /run/a\n\
            0000: 00000003 00000000 00000000 0001 03 4712\n";
        assert_eq!(unix_path(table, 4711), Some("/run/a"));
        assert_eq!(unix_path(table, 4712), None);
        assert_eq!(unix_path(table, 1), None);
    }
}
