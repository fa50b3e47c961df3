//! External limits that delayed a node: cgroup throttling, pressure, the network.

use super::cgroup::Cgroup;
use crate::Watched;
use helenus_cassandra::foreign::read_proc;
use helenus_recording::Recorder;
use helenus_recording::rows::NodePressure;

/// Counters since the start of the process or its network namespace; None if they can't be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    major_faults: Option<i64>,
    segments: Option<Segments>,
}

/// TCP segments of a network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segments {
    sent: i64,
    retransmitted: i64,
}

#[derive(Debug)]
pub(super) struct Node {
    address: String,
    pid: u32,
    cgroup: Cgroup,
    last: Counts,
}

impl Node {
    pub(super) fn new(watched: &Watched) -> Node {
        let (cgroup, last) = (Cgroup::of(watched.pid), Counts::read(watched.pid));
        Node { address: watched.node.clone(), pid: watched.pid, cgroup, last }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Appends a row, unless the process has ended.
    pub(super) fn sample(&mut self, recorder: &Recorder, time_ns: i64, interval_ns: i64) -> i64 {
        let held_up = self.cgroup.since_last();
        let now = Counts::read(self.pid);
        if now.major_faults.is_none() {
            return 0;
        }
        let before = std::mem::replace(&mut self.last, now);
        let since = |of: &dyn Fn(&Counts) -> Option<i64>| Some((of(&now)? - of(&before)?).max(0));
        let [cpu_some_ns, io_some_ns, memory_some_ns] = held_up.waited_ns;
        recorder.append(NodePressure {
            time_ns,
            interval_ns,
            node: &self.address,
            periods: held_up.throttled.map(|counts| counts.periods),
            throttled_periods: held_up.throttled.map(|counts| counts.throttled_periods),
            throttled_ns: held_up.throttled.map(|counts| counts.throttled_ns),
            cpu_some_ns,
            io_some_ns,
            memory_some_ns,
            major_faults: since(&|counts| counts.major_faults),
            sent_segments: since(&|counts| Some(counts.segments?.sent)),
            retransmitted_segments: since(&|counts| Some(counts.segments?.retransmitted)),
        });
        1
    }
}

impl Counts {
    fn read(pid: u32) -> Counts {
        Counts {
            major_faults: read_proc(format!("/proc/{pid}/stat")).ok().and_then(|stat| major_faults(&stat)),
            segments: read_proc(format!("/proc/{pid}/net/snmp")).ok().and_then(|snmp| segments(&snmp)),
        }
    }
}

/// Major faults are the twelfth field of /proc/PID/stat; the second field is a name that may contain any characters.
fn major_faults(stat: &str) -> Option<i64> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(9)?.parse().ok()
}

/// Parses /proc/PID/net/snmp: a line `Tcp:` of names, and one of numbers.
fn segments(snmp: &str) -> Option<Segments> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let of = |wanted: &str| {
        let mut pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
        pairs.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    Some(Segments { sent: of("OutSegs")?, retransmitted: of("RetransSegs")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        assert_eq!(major_faults("7 (a) b) S 1 2 3 4 5 6 100 0 42 0 1 2"), Some(42));
        let snmp = "Ip: A B\nIp: 1 2\nTcp: InSegs OutSegs RetransSegs\nTcp: 5 100 3\n";
        assert_eq!(segments(snmp), Some(Segments { sent: 100, retransmitted: 3 }));
        assert_eq!(segments("Tcp: OutSegs\n"), None);
    }
}
