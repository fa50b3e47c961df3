//! Chooses the loopback addresses of a cluster's nodes.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixListener;

use crate::Error;

/// The ports every node listens on, the same on each address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) native: u16,
    pub(crate) storage: u16,
}

/// The first address of the search for free ones, and its length.
const FIRST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const SEARCHED: u32 = 250;

/// Addresses of nodes that are about to start. They are reserved against other processes that start nodes on this
/// machine, also of other users with their own registry.
#[derive(Debug)]
pub(crate) struct ReservedAddresses {
    pub(crate) row: Vec<Ipv4Addr>,
    /// For each port, a socket with an abstract name, which ends at the latest with the process.
    _names: Vec<UnixListener>,
}

/// `nodes` neighbouring addresses whose ports are free. With `first` they begin there, or it is an error; otherwise the
/// first free row from 127.0.0.1 on is used. `taken` are addresses of clusters that are just starting and do not listen
/// yet.
pub(crate) fn choose(
    first: Option<Ipv4Addr>,
    nodes: usize,
    ports: Ports,
    taken: &HashSet<SocketAddr>,
) -> Result<ReservedAddresses, Error> {
    if let Some(first) = first {
        return hold(row(first, nodes)?, ports, taken).map_err(|(_, error)| error);
    }
    let mut in_use = None;
    let mut start = FIRST.to_bits();
    while start < FIRST.to_bits() + SEARCHED {
        let row = row(Ipv4Addr::from_bits(start), nodes)?;
        match hold(row, ports, taken) {
            Ok(held) => return Ok(held),
            Err((at, Error::PortInUse { address, by })) => {
                in_use.get_or_insert((address, by));
                start += at as u32 + 1;
            }
            Err((_, other)) => return Err(other),
        }
    }
    let (in_use, by) = in_use.unwrap_or((SocketAddr::from((FIRST, ports.native)), "another process".to_owned()));
    Err(Error::NoFreeAddresses { nodes, native_port: ports.native, storage_port: ports.storage, in_use, by })
}

fn row(first: Ipv4Addr, nodes: usize) -> Result<Vec<Ipv4Addr>, Error> {
    if !first.is_loopback() {
        return Err(Error::NotLoopback(IpAddr::V4(first)));
    }
    let row: Vec<_> = (0..nodes as u32).map(|n| Ipv4Addr::from_bits(first.to_bits().saturating_add(n))).collect();
    // The last address of the block is its broadcast address.
    match row.last() {
        Some(last) if !last.is_loopback() || last.octets() == [127, 255, 255, 255] => {
            Err(Error::NoRoom { first: first.into(), nodes })
        }
        _ => Ok(row),
    }
}

/// Reserves a row of addresses, or returns the index of one that is taken.
fn hold(row: Vec<Ipv4Addr>, ports: Ports, taken: &HashSet<SocketAddr>) -> Result<ReservedAddresses, (usize, Error)> {
    let mut names = Vec::new();
    for (at, ip) in row.iter().enumerate() {
        names.extend(check(*ip, ports, taken).map_err(|error| (at, error))?);
    }
    Ok(ReservedAddresses { row, _names: names })
}

fn check(ip: Ipv4Addr, ports: Ports, taken: &HashSet<SocketAddr>) -> Result<Vec<UnixListener>, Error> {
    let starting =
        |address| Error::PortInUse { address, by: "a local node that is just starting (see `helenus ps`)".to_owned() };
    let mut names = Vec::new();
    for port in [ports.native, ports.storage] {
        let address = SocketAddr::from((ip, port));
        let name = std::os::unix::net::SocketAddr::from_abstract_name(format!("helenus-node-{address}"));
        names.push(name.and_then(|name| UnixListener::bind_addr(&name)).map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => starting(address),
            _ => Error::CannotListen { address, source },
        })?);
        // Bound with SO_REUSEADDR, as Cassandra binds: connections in TIME_WAIT do no harm.
        match TcpListener::bind(address) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(Error::PortInUse { address, by: crate::sockets::describe_owner(address) });
            }
            Err(source) => return Err(Error::CannotListen { address, source }),
        }
        if taken.contains(&address) {
            return Err(starting(address));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ports that no other process on this machine listens on.
    fn free_ports() -> Ports {
        let free = |_| TcpListener::bind("127.0.10.210:0").unwrap();
        let [a, b] = [0, 1].map(free);
        Ports { native: a.local_addr().unwrap().port(), storage: b.local_addr().unwrap().port() }
    }

    #[test]
    fn a_row_skips_what_is_in_use() {
        let ports = free_ports();
        let _held = TcpListener::bind(("127.0.0.2", ports.storage)).unwrap();
        let held = choose(None, 2, ports, &HashSet::new()).unwrap();
        assert_eq!(held.row, [Ipv4Addr::new(127, 0, 0, 3), Ipv4Addr::new(127, 0, 0, 4)]);
    }

    #[test]
    fn a_given_address_in_use_names_who_uses_it() {
        let ports = free_ports();
        let _held = TcpListener::bind(("127.0.10.211", ports.native)).unwrap();
        let error = choose(Some(Ipv4Addr::new(127, 0, 10, 210)), 2, ports, &HashSet::new()).unwrap_err().to_string();
        let expected = format!("port {} on 127.0.10.211 is in use by PID {} (", ports.native, std::process::id());
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn registered_nodes_count_as_taken_before_they_listen() {
        let ports = free_ports();
        let taken = HashSet::from([SocketAddr::from((Ipv4Addr::LOCALHOST, ports.native))]);
        assert_eq!(choose(None, 1, ports, &taken).unwrap().row, [Ipv4Addr::new(127, 0, 0, 2)]);
    }

    #[test]
    fn what_one_start_holds_no_other_gets() {
        let ports = free_ports();
        let one = || choose(None, 1, ports, &HashSet::new()).unwrap();
        let (first, second) = (one(), one());
        assert_ne!(first.row, second.row);
        let error = choose(Some(first.row[0]), 1, ports, &HashSet::new()).unwrap_err().to_string();
        assert!(error.contains("just starting"), "{error}");
        let free_again = first.row.clone();
        drop(first);
        assert_eq!(one().row, free_again);
    }

    #[test]
    fn only_loopback_and_only_what_fits() {
        let ports = free_ports();
        let choose = |first: [u8; 4], nodes| choose(Some(first.into()), nodes, ports, &HashSet::new()).unwrap_err();
        assert!(matches!(choose([10, 0, 0, 1], 1), Error::NotLoopback(_)));
        assert!(matches!(choose([127, 255, 255, 254], 2), Error::NoRoom { .. }));
    }
}
