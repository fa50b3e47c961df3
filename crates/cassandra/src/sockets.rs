//! TCP sockets and their processes, from /proc/net/tcp and /proc/net/tcp6 (proc_pid_net(5)).

use crate::foreign::read_proc;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// A listening TCP socket of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) inode: u64,
    pub(crate) uid: u32,
}

impl Listener {
    /// Whether a connection to `address` would arrive here.
    pub(crate) fn serves(&self, address: SocketAddr) -> bool {
        serves(self.address, address)
    }
}

/// Whether a connection to `address` would arrive at a socket that listens at `own`: the same port, and the same address
/// or a wildcard that covers it.
fn serves(own: SocketAddr, address: SocketAddr) -> bool {
    let (own, port) = (own.ip(), own.port());
    port == address.port()
        && (own == address.ip().to_canonical()
            || own == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
            || (own == IpAddr::V4(Ipv4Addr::UNSPECIFIED) && address.ip().to_canonical().is_ipv4()))
}

/// All listening TCP sockets of our network namespace; empty where /proc is not mounted.
pub(crate) fn listeners() -> Vec<Listener> {
    listed("/proc/thread-self")
}

/// Listeners in the network namespace of a process.
pub(crate) fn listeners_near(pid: i32) -> Vec<Listener> {
    listed(&format!("/proc/{pid}"))
}

fn listed(process: &str) -> Vec<Listener> {
    let read = |table: &str| read_proc(format!("{process}/net/{table}")).unwrap_or_default();
    let mut all = parse(&read("tcp"));
    all.extend(parse(&read("tcp6")));
    all
}

/// Those of `pids` that have a connection to a node that listens at one of the addresses, as far as this user may see.
/// Processes in other network namespaces are found, too.
#[must_use]
pub fn connected(pids: &[u32], addresses: &[SocketAddr]) -> HashSet<u32> {
    let mut connections: HashMap<PathBuf, HashSet<u64>> = HashMap::new();
    let is_connected = |pid: &&u32| {
        let process = format!("/proc/{pid}");
        // Processes of one namespace have one table, which may be long.
        let Ok(namespace) = std::fs::read_link(format!("{process}/ns/net")) else { return false };
        let to_us = connections.entry(namespace).or_insert_with(|| connections_to(addresses, &process));
        !to_us.is_empty() && socket_inodes(pid.cast_signed()).is_ok_and(|own| !own.is_disjoint(to_us))
    };
    pids.iter().filter(is_connected).copied().collect()
}

/// The sockets of a network namespace that are connected to one of the addresses.
fn connections_to(addresses: &[SocketAddr], process: &str) -> HashSet<u64> {
    let is_to_one = |socket: &Socket<'_>| addresses.iter().any(|own| serves(*own, socket.remote));
    let tables = ["tcp", "tcp6"].map(|table| read_proc(format!("{process}/net/{table}")).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| table.lines().skip(1)).filter_map(parse_line);
    sockets.filter(is_to_one).map(|socket| socket.inode).collect()
}

/// Where the TCP connections of a process lead to; empty where this user may not see its sockets.
#[must_use]
pub fn remotes(pid: u32) -> Vec<SocketAddr> {
    let Ok(own) = socket_inodes(pid.cast_signed()) else { return Vec::new() };
    let tables = ["tcp", "tcp6"].map(|table| read_proc(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| table.lines().skip(1)).filter_map(parse_line);
    let connected = sockets.filter(|socket| socket.state == ESTABLISHED && own.contains(&socket.inode));
    let mut remotes: Vec<SocketAddr> = connected.map(|socket| socket.remote).collect();
    remotes.sort_unstable();
    remotes.dedup();
    remotes
}

/// Those of `pids` that listen at one of the addresses, as far as this user may see. Processes in other network
/// namespaces are found, too.
#[must_use]
pub fn serving(pids: &[u32], addresses: &[SocketAddr]) -> HashSet<u32> {
    let serves = |pid: &&u32| {
        let serve = |listener: &Listener| addresses.iter().any(|address| listener.serves(*address));
        let listeners: HashSet<u64> =
            listeners_near(pid.cast_signed()).into_iter().filter(serve).map(|listener| listener.inode).collect();
        !listeners.is_empty() && socket_inodes(pid.cast_signed()).is_ok_and(|own| !own.is_disjoint(&listeners))
    };
    pids.iter().filter(serves).copied().collect()
}

const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

pub(crate) fn parse(table: &str) -> Vec<Listener> {
    let sockets = table.lines().skip(1).filter_map(parse_line).filter(|socket| socket.state == LISTEN);
    sockets.map(|Socket { local, inode, uid, .. }| Listener { address: local, inode, uid }).collect()
}

/// A TCP socket in any state.
struct Socket<'a> {
    local: SocketAddr,
    remote: SocketAddr,
    state: &'a str,
    uid: u32,
    inode: u64,
}

fn parse_line(line: &str) -> Option<Socket<'_>> {
    // sl local rem st tx:rx tr:when retrnsmt uid timeout inode …
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    let uid = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some(Socket { local: parse_address(local)?, remote: parse_address(remote)?, state, uid, inode })
}

/// "0100007F:2352" and its IPv6 kin: each 32-bit word is printed as a number in host order.
/// IPv4-mapped addresses come back as IPv4.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    if !address.is_ascii() {
        return None;
    }
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| Some(u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match address.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (number, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(number * 8)?);
            }
            IpAddr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// The processes that hold one of `inodes` open, as far as this user may see.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketOwners {
    pub(crate) pids: Vec<i32>,
    /// Whether some processes could not be inspected: an owner may be among them.
    pub(crate) hidden: bool,
}

/// # Errors
/// Fails if this process is out of descriptors or memory. Unreadable processes are skipped.
pub(crate) fn owners(inodes: &HashSet<u64>) -> std::io::Result<SocketOwners> {
    let mut owners = SocketOwners::default();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        match socket_inodes(pid) {
            Ok(held) if !held.is_disjoint(inodes) => owners.pids.push(pid),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => owners.hidden = true,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM)) => {
                return Err(error);
            }
            Err(_) => {} // ended meanwhile
        }
    }
    Ok(owners)
}

/// The sockets that `pid` has open.
pub(crate) fn socket_inodes(pid: i32) -> std::io::Result<HashSet<u64>> {
    let mut inodes = HashSet::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        // A descriptor may be closed between listing and reading.
        let Ok(link) = std::fs::read_link(entry?.path()) else { continue };
        let inode: Option<u64> =
            link.to_str().and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        inodes.extend(inode);
    }
    Ok(inodes)
}

/// The process that serves `address`, for a message: "PID 12 (java)", or as much as can be known.
pub(crate) fn describe_owner(address: SocketAddr) -> String {
    let listeners: Vec<_> = listeners().into_iter().filter(|listener| listener.serves(address)).collect();
    let owners = owners(&listeners.iter().map(|listener| listener.inode).collect()).unwrap_or_default();
    match (owners.pids.first(), listeners.first()) {
        (Some(pid), _) => crate::process::describe(*pid),
        (None, Some(listener)) => format!("a process of user {}", crate::process::user_name(listener.uid)),
        (None, None) => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    #[test]
    fn our_own_listener_is_found_with_its_process() {
        let listener = TcpListener::bind("127.0.10.200:0").unwrap();
        let address = listener.local_addr().unwrap();
        let found = listeners().into_iter().find(|l| l.address == address).unwrap();
        let owners = owners(&HashSet::from([found.inode])).unwrap();
        assert_eq!(owners.pids, [std::process::id() as i32]);
        assert!(describe_owner(address).starts_with(&format!("PID {} (", std::process::id())));
    }

    #[test]
    fn who_is_connected_is_told_from_who_listens() {
        let server = TcpListener::bind("127.0.10.201:0").unwrap();
        let (own, address) = (std::process::id(), server.local_addr().unwrap());
        assert_eq!(connected(&[own], &[address]), HashSet::new());
        let _client = std::net::TcpStream::connect(address).unwrap();
        assert_eq!(connected(&[own, 1], &["127.0.10.202:1".parse().unwrap(), address]), HashSet::from([own]));
        assert_eq!(connected(&[u32::MAX >> 1], &[address]), HashSet::new());
    }

    #[test]
    fn who_serves_a_connection_is_told_from_where_it_leads_to() {
        let server = TcpListener::bind("127.0.10.203:0").unwrap();
        let (own, address) = (std::process::id(), server.local_addr().unwrap());
        assert!(!remotes(own).contains(&address));
        let client = std::net::TcpStream::connect(address).unwrap();
        assert!(remotes(own).contains(&address));
        assert_eq!(serving(&[own, 1], &[address]), HashSet::from([own]));
        assert_eq!(serving(&[own], &[client.local_addr().unwrap()]), HashSet::new(), "a client does not listen");
        assert_eq!(serving(&[own, u32::MAX >> 1], &[]), HashSet::new());
    }

    #[test]
    fn ipv4_ipv6_and_mapped_addresses_are_read() {
        let of = |text: &str| parse_address(text).unwrap().to_string();
        assert_eq!(of("0100007F:2352"), "127.0.0.1:9042");
        assert_eq!(of("00000000000000000000000001000000:2352"), "[::1]:9042");
        assert_eq!(of("0000000000000000FFFF00000100007F:2352"), "127.0.0.1:9042");
    }

    #[test]
    fn a_wildcard_serves_every_address_of_its_family() {
        let listener = |address: &str| Listener { address: address.parse().unwrap(), inode: 1, uid: 0 };
        let loopback = "127.0.0.2:9042".parse().unwrap();
        assert!(listener("0.0.0.0:9042").serves(loopback));
        assert!(listener("[::]:9042").serves(loopback));
        assert!(listener("127.0.0.2:9042").serves("[::ffff:127.0.0.2]:9042".parse().unwrap()));
        assert!(!listener("127.0.0.1:9042").serves(loopback));
        assert!(!listener("0.0.0.0:9043").serves(loopback));
        assert!(!listener("0.0.0.0:9042").serves("[::1]:9042".parse().unwrap()));
    }

    proptest! {
        #[test]
        fn a_line_as_the_kernel_prints_it_is_read(ip: [u8; 4], port: u16, uid: u32, inode: u64) {
            let address = u32::from_ne_bytes(ip);
            let line = format!("   0: {address:08X}:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 {uid:5}        0 {inode} 1 0000000000000000 100 0 0 10 0");
            let table = format!("  sl  local_address …\n{line}\n");
            prop_assert_eq!(parse(&table), [Listener { address: SocketAddr::from((ip, port)), inode, uid }]);
        }

        #[test]
        fn no_text_makes_it_panic(text in "(.|\n){0,300}") {
            let _ = parse(&text);
            let _ = parse_address(&text);
        }
    }
}
