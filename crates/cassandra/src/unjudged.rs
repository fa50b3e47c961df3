//! Phases of loads that are not judged, told from a load to the recorders in other processes of the machine.
//!
//! While a load populates tables or warms up, it holds a Unix socket whose abstract name (unix(7)) says since when, and
//! from then on until when. Every process reads the names in /proc/net/unix; the kernel removes them with the load,
//! however the load ends. Nothing is sent, so the names work between users and need no file.
//!
//! ```text
//! @helenus-unjudged/PID/START/END/NAME        times of CLOCK_MONOTONIC in ns; END is - while it is not known
//! ```

use crate::foreign::read_proc;
use crate::sockets::{connected, socket_inodes};
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram};

const PREFIX: &str = "helenus-unjudged";
/// Letters of a phase's name that are told.
const LONGEST_NAME: usize = 32;
/// More of them are not read: a load has a few.
const MOST: usize = 256;

/// A phase that recorders can see while this value lives.
#[derive(Debug)]
pub struct Announcement {
    _socket: UnixDatagram,
}

impl Announcement {
    /// Announces a phase of this process. `end` is the planned or actual end, if it is known.
    ///
    /// # Errors
    /// Fails if the process has no descriptor left, or has announced the same phase already.
    pub fn new(name: &str, start_monotonic_ns: i64, end_monotonic_ns: Option<i64>) -> io::Result<Announcement> {
        let end = end_monotonic_ns.map_or_else(|| "-".to_string(), |end_ns| end_ns.to_string());
        let letter =
            |letter: char| if letter.is_ascii_alphanumeric() || " .-_".contains(letter) { letter } else { '_' };
        let name: String = name.chars().take(LONGEST_NAME).map(letter).collect();
        let text = format!("{PREFIX}/{}/{start_monotonic_ns}/{end}/{name}", std::process::id());
        Ok(Announcement { _socket: UnixDatagram::bind_addr(&UnixAddress::from_abstract_name(text)?)? })
    }
}

/// A phase of a load in another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedPhase {
    pub pid: u32,
    pub name: String,
    /// Times of CLOCK_MONOTONIC in ns.
    pub start_monotonic_ns: i64,
    /// The planned or actual end; None while it is not known.
    pub end_monotonic_ns: Option<i64>,
    /// Of the socket that announces it.
    pub inode: u64,
}

/// The phases that other processes with a connection to a node at one of `addresses` have announced. Those of processes
/// whose sockets this user may not see are left out, because anyone may bind such a name.
#[must_use]
pub fn unjudged_phases(addresses: &[SocketAddr]) -> Vec<UnjudgedPhase> {
    let own = std::process::id();
    let mut phases = parse(&read_proc("/proc/thread-self/net/unix").unwrap_or_default());
    phases.retain(|phase| phase.pid != own);
    if phases.is_empty() {
        return phases;
    }
    phases.retain(|phase| socket_inodes(phase.pid.cast_signed()).is_ok_and(|own| own.contains(&phase.inode)));
    let mut pids: Vec<u32> = phases.iter().map(|phase| phase.pid).collect();
    pids.dedup();
    let clients = connected(&pids, addresses);
    phases.retain(|phase| clients.contains(&phase.pid));
    phases
}

/// Reads lines of /proc/net/unix: `Num RefCount Protocol Flags Type St Inode Path`.
fn parse(table: &str) -> Vec<UnjudgedPhase> {
    table.lines().filter_map(parse_line).take(MOST).collect()
}

fn parse_line(line: &str) -> Option<UnjudgedPhase> {
    let (before, path) = line.split_once('@')?;
    let mut parts = path.splitn(5, '/');
    let is_ours = parts.next() == Some(PREFIX);
    let (pid, start, end, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(UnjudgedPhase {
        pid: pid.parse().ok().filter(|_| is_ours)?,
        name: name.to_string(),
        start_monotonic_ns: start.parse().ok()?,
        end_monotonic_ns: if end == "-" { None } else { Some(end.parse().ok()?) },
        inode: before.split_ascii_whitespace().nth(6)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The phases of one process in the kernel's table.
    fn seen(pid: u32) -> Vec<UnjudgedPhase> {
        let mut phases = parse(&std::fs::read_to_string("/proc/net/unix").unwrap());
        phases.retain(|phase| phase.pid == pid);
        phases.sort_by_key(|phase| phase.start_monotonic_ns);
        phases
    }

    #[test]
    fn a_phase_is_in_the_kernels_table_while_it_is_announced() {
        let own = std::process::id();
        let until = Announcement::new("warm-up of 10/s\n", 1_000, Some(2_000)).unwrap();
        let open = Announcement::new("populate", 3_000, None).unwrap();
        let found = seen(own);
        let facts: Vec<_> =
            found.iter().map(|phase| (phase.name.as_str(), phase.start_monotonic_ns, phase.end_monotonic_ns)).collect();
        assert_eq!(facts, [("warm-up of 10_s_", 1_000, Some(2_000)), ("populate", 3_000, None)]);
        let sockets: HashSet<u64> = socket_inodes(own.cast_signed()).unwrap();
        assert!(found.iter().all(|phase| sockets.contains(&phase.inode)), "{found:?}");
        assert_eq!(unjudged_phases(&["127.0.10.203:1".parse().unwrap()]), [], "one's own are known anyway");
        drop((until, open));
        assert_eq!(seen(own), []);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(.|\n){0,200}") {
            let _ = parse(&text);
            let _ = parse(&format!("a b c d e f 7 @{PREFIX}/{text}"));
        }
    }
}
