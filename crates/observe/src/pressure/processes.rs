//! The processes that use the CPUs.

use super::Sample;
use helenus_cassandra::connected;
use helenus_cassandra::foreign::read_proc;
use helenus_recording::rows::ProcessSample;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

/// The most rows of one sample.
const MOST: usize = 20;
/// A process that used less than this share of a CPU has no row.
const LEAST_SHARE: i64 = 100;
/// The most processes that are read; some machines have very many.
const MOST_READ: usize = 20_000;
/// After this many samples a process is checked again for connections to the nodes.
const CHECKED_EVERY: u32 = 10;

#[derive(Debug)]
pub(super) struct Processes {
    /// CPU ticks of each process since its start, by process id.
    last: HashMap<u32, i64>,
    roles: HashMap<u32, &'static str>,
    /// Where the nodes listen to clients.
    nodes: Vec<SocketAddr>,
    clients: HashSet<u32>,
    /// Processes without a connection to a node, with the number of samples until they are checked again.
    strangers: HashMap<u32, u32>,
    tick_ns: i64,
}

struct Used {
    pid: u32,
    name: String,
    cpu_ns: i64,
}

impl Processes {
    pub(super) fn new(watched: impl Iterator<Item = (u32, &'static str)>, nodes: Vec<SocketAddr>) -> Processes {
        let mut roles = HashMap::from([(std::process::id(), "recorder")]);
        // A load driver that records itself has the role of a load driver.
        roles.extend(watched);
        // SAFETY: sysconf takes no pointers.
        let tick_ns = 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        let (clients, strangers) = Default::default();
        let mut processes = Processes { last: HashMap::new(), roles, nodes, clients, strangers, tick_ns };
        processes.read();
        processes
    }

    pub(super) fn sample(&mut self, sample: &Sample<'_>) -> i64 {
        let mut used = self.read();
        used.retain(|used| used.cpu_ns.saturating_mul(LEAST_SHARE) >= sample.interval_ns);
        used.sort_by_key(|used| std::cmp::Reverse(used.cpu_ns));
        used.truncate(MOST);
        self.find_clients(&used);
        for Used { pid, name, cpu_ns } in &used {
            sample.recorder.append(ProcessSample {
                time_ns: sample.time_ns,
                interval_ns: sample.interval_ns,
                node: sample.node,
                pid: i64::from(*pid),
                process: name,
                role: match self.roles.get(pid) {
                    Some(role) => role,
                    None if self.clients.contains(pid) => "client",
                    None => "other",
                },
                cpu_ns: *cpu_ns,
            });
        }
        i64::try_from(used.len()).unwrap_or(i64::MAX)
    }

    /// Finds the processes that are clients of the nodes. To look through a process's files takes long, so that it is done seldom.
    fn find_clients(&mut self, used: &[Used]) {
        self.clients.retain(|pid| self.last.contains_key(pid));
        self.strangers.retain(|pid, left| {
            *left -= 1;
            *left > 0 && self.last.contains_key(pid)
        });
        let pids = used.iter().map(|used| used.pid);
        let is_unknown = |pid: &u32| {
            !self.roles.contains_key(pid) && !self.clients.contains(pid) && !self.strangers.contains_key(pid)
        };
        let unknown: Vec<u32> = pids.filter(is_unknown).collect();
        self.clients.extend(connected(&unknown, &self.nodes));
        let strangers = unknown.into_iter().filter(|pid| !self.clients.contains(pid));
        self.strangers.extend(strangers.map(|pid| (pid, CHECKED_EVERY)));
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

    #[test]
    fn a_process_has_its_name_and_its_ticks() {
        assert_eq!(parse("7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0"), Some(("a (b) c", 42)));
        assert_eq!(parse("7 (a) S 1"), None);
    }
}
