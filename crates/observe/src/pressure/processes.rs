//! The processes that use the CPUs.

use super::Sample;
use crate::ProcessKind;
use helenus_cassandra::foreign::read_proc;
use helenus_cassandra::{connected, remotes, serving};
use helenus_recording::rows::ProcessSample;
use std::collections::HashMap;
use std::net::SocketAddr;

/// The most rows of one sample.
const MOST: usize = 20;
/// A process that used less than this share of a CPU has no row.
const LEAST_SHARE: i64 = 100;
/// The most processes that are read; some machines have very many.
const MOST_READ: usize = 20_000;
/// After this many samples a process is checked again for sockets of the nodes and their clients.
const CHECKED_EVERY: u32 = 10;

#[derive(Debug)]
pub(super) struct Processes {
    /// CPU ticks of each process since its start, by process id.
    last: HashMap<u32, i64>,
    roles: HashMap<u32, &'static str>,
    /// Watched load drivers; the processes that they are connected to are nodes.
    loads: Vec<u32>,
    /// Where the watched nodes listen to clients.
    nodes: Vec<SocketAddr>,
    /// Processes that are known by their sockets: nodes that a load is driven at, and clients.
    by_socket: HashMap<u32, &'static str>,
    /// Processes without such sockets, with the number of samples until they are checked again.
    strangers: HashMap<u32, u32>,
    tick_ns: i64,
}

struct Used {
    pid: u32,
    name: String,
    cpu_ns: i64,
}

impl Processes {
    pub(super) fn new(watched: impl IntoIterator<Item = (u32, ProcessKind)>, nodes: Vec<SocketAddr>) -> Processes {
        let watched: Vec<(u32, ProcessKind)> = watched.into_iter().collect();
        let mut roles = HashMap::from([(std::process::id(), "recorder")]);
        // A load driver that records itself has the role of a load driver.
        roles.extend(watched.iter().map(|(pid, kind)| (*pid, kind.name())));
        let loads = watched.iter().filter(|(_, kind)| *kind == ProcessKind::Load).map(|(pid, _)| *pid).collect();
        // SAFETY: sysconf takes no pointers.
        let tick_ns = 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        let (by_socket, strangers) = Default::default();
        let mut processes = Processes { last: HashMap::new(), roles, loads, nodes, by_socket, strangers, tick_ns };
        processes.read();
        processes
    }

    pub(super) fn sample(&mut self, sample: &Sample<'_>) -> i64 {
        let mut used = self.read();
        used.retain(|used| used.cpu_ns.saturating_mul(LEAST_SHARE) >= sample.interval_ns);
        used.sort_by_key(|used| std::cmp::Reverse(used.cpu_ns));
        used.truncate(MOST);
        self.find_by_sockets(used.iter().map(|used| used.pid));
        for Used { pid, name, cpu_ns } in &used {
            sample.recorder.append(ProcessSample {
                time_ns: sample.time_ns,
                interval_ns: sample.interval_ns,
                node: sample.node,
                pid: i64::from(*pid),
                process: name,
                role: self.role(*pid),
                cpu_ns: *cpu_ns,
            });
        }
        i64::try_from(used.len()).unwrap_or(i64::MAX)
    }

    fn role(&self, pid: u32) -> &'static str {
        self.roles.get(&pid).or_else(|| self.by_socket.get(&pid)).copied().unwrap_or("other")
    }

    /// Finds the processes that are nodes or clients of nodes. Reading a process's files takes long, so it is done seldom.
    fn find_by_sockets(&mut self, pids: impl Iterator<Item = u32>) {
        self.by_socket.retain(|pid, _| self.last.contains_key(pid));
        self.strangers.retain(|pid, left| {
            *left -= 1;
            *left > 0 && self.last.contains_key(pid)
        });
        let is_unknown = |pid: &u32| {
            !self.roles.contains_key(pid) && !self.by_socket.contains_key(pid) && !self.strangers.contains_key(pid)
        };
        let unknown: Vec<u32> = pids.filter(is_unknown).collect();
        if unknown.is_empty() {
            return;
        }
        let loaded: Vec<SocketAddr> = self.loads.iter().flat_map(|load| remotes(*load)).collect();
        let all: Vec<SocketAddr> = self.nodes.iter().chain(&loaded).copied().collect();
        self.by_socket.extend(connected(&unknown, &all).into_iter().map(|pid| (pid, "client")));
        // A node may also be a client, of other nodes.
        self.by_socket.extend(serving(&unknown, &loaded).into_iter().map(|pid| (pid, "server")));
        // A load driver that is not connected yet does not show the nodes.
        if self.loads.is_empty() || !loaded.is_empty() {
            let strangers = unknown.into_iter().filter(|pid| !self.by_socket.contains_key(pid));
            self.strangers.extend(strangers.map(|pid| (pid, CHECKED_EVERY)));
        }
    }

    /// CPU time of each process since the last call. For a new process this is all the CPU time it has used.
    fn read(&mut self) -> Vec<Used> {
        let is_first = self.last.is_empty();
        let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).take(MOST_READ);
        let (mut now, mut used) = (HashMap::with_capacity(self.last.len()), Vec::new());
        for pid in pids {
            // The process may have ended by now.
            let Ok(stat) = read_proc(format!("/proc/{pid}/stat")) else { continue };
            let Some((name, ticks)) = parse(&stat) else { continue };
            let before = self.last.get(&pid).copied().unwrap_or(if is_first { ticks } else { 0 });
            // Another process may have got the same pid.
            let since = if ticks >= before { ticks - before } else { ticks };
            if since > 0 {
                used.push(Used { pid, name: name.to_string(), cpu_ns: since.saturating_mul(self.tick_ns) });
            }
            now.insert(pid, ticks);
        }
        self.last = now;
        used
    }
}

/// Parses the name and the CPU ticks of a process from /proc/PID/stat.
fn parse(stat: &str) -> Option<(&str, i64)> {
    let name = stat.split_once('(')?.1.rsplit_once(')')?.0;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let (user, system): (i64, i64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((name, user.saturating_add(system)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_needs::{need, program};

    /// A process that listens at an address, and reads what a client sends it.
    fn server(address: &str) -> std::process::Child {
        let listen = "import socket, sys; server = socket.create_server((sys.argv[1], 19042)); print(flush=True); \
                      client = server.accept()[0]; client.recv(1)";
        let mut python = std::process::Command::new("python3");
        python.args(["-c", listen, address]).stdout(std::process::Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn the_process_that_a_load_is_driven_at_is_the_server() {
        need!(program("python3"));
        let [mut node, mut stranger] = ["127.0.10.210", "127.0.10.211"].map(server);
        for child in [&mut node, &mut stranger] {
            let mut line = [0];
            std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        }
        let roles = || {
            let pids = [std::process::id(), node.id(), stranger.id()];
            let mut processes = Processes::new([(std::process::id(), ProcessKind::Load)], Vec::new());
            processes.find_by_sockets(pids.into_iter());
            pids.map(|pid| processes.role(pid))
        };
        assert_eq!(roles(), ["load", "other", "other"]);
        let connection = std::net::TcpStream::connect("127.0.10.210:19042").unwrap();
        assert_eq!(roles(), ["load", "server", "other"]);
        drop(connection);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        node.wait().unwrap();
    }

    #[test]
    fn a_process_has_its_name_and_its_ticks() {
        assert_eq!(parse("7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0"), Some(("a (b) c", 42)));
        assert_eq!(parse("7 (a) S 1"), None);
    }
}
