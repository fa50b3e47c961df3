//! The CPU time that recording takes: of this process, and of the agent's threads in the nodes.
//!
//! Work that the kernel does for the sources in the time of the node's own threads is not counted: programs at system calls and
//! switches, filters of packets, and signals that sample stacks.

use crate::{ProcessKind, Watched};
use helenus_cassandra::foreign::read_proc;
use helenus_cassandra::process::parse_stat;
use std::collections::HashMap;
use std::path::Path;

/// Names of the agent's threads begin like this.
const AGENT: &str = "helenus";

/// The CPU time at the last measurement.
#[derive(Debug, Default)]
pub(super) struct Cost {
    own_ns: i64,
    /// By node's process and thread.
    agents: HashMap<(u32, i64), i64>,
}

impl Cost {
    pub(super) fn begin(watched: &[Watched]) -> Cost {
        Cost { own_ns: own_ns(), agents: agents(watched) }
    }

    /// The CPU time since the last call.
    pub(super) fn since_last(&mut self, watched: &[Watched]) -> i64 {
        let now = Cost::begin(watched);
        // A thread that was not there before has used all of its time since.
        let of_agents = now.agents.iter().map(|(thread, ns)| ns - self.agents.get(thread).unwrap_or(&0));
        let spent_ns = now.own_ns - self.own_ns + of_agents.map(|ns| ns.max(0)).sum::<i64>();
        *self = now;
        spent_ns
    }
}

/// CPU time of this process, user and system.
fn own_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux, so that the call can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// CPU time of each of the agent's threads.
fn agents(watched: &[Watched]) -> HashMap<(u32, i64), i64> {
    let mut agents = HashMap::new();
    for node in watched.iter().filter(|node| node.process == ProcessKind::Server) {
        // A process that has ended has no threads.
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", node.pid)) else { continue };
        for folder in threads.filter_map(|thread| Some(thread.ok()?.path())) {
            let tid = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
            let is_agent = read_proc(folder.join("comm")).is_ok_and(|name| name.starts_with(AGENT));
            if let (Some(tid), true, Some(ns)) = (tid, is_agent, thread_ns(&folder)) {
                agents.insert((node.pid, tid), ns);
            }
        }
    }
    agents
}

fn thread_ns(folder: &Path) -> Option<i64> {
    if let Ok(exact) = read_proc(folder.join("schedstat")) {
        return exact.split_ascii_whitespace().next()?.parse().ok();
    }
    // SAFETY: sysconf takes no pointers.
    let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
    let ticks = parse_stat(&read_proc(folder.join("stat")).ok()?)?.cpu_ticks;
    Some(ticks.cast_signed() * (1_000_000_000 / ticks_per_s))
}

/// Words of the largest CPU mask that the kernel supports.
const WORDS: usize = (1 << 13) / u64::BITS as usize;

/// How many CPUs the nodes may run on together; those of this process where that is not known.
pub(super) fn cpus(watched: &[Watched]) -> u32 {
    let mut all = [0; WORDS];
    for node in watched {
        all.iter_mut().zip(mask_of(node.pid.cast_signed())).for_each(|(all, one)| *all |= one);
    }
    if all == [0; WORDS] {
        all = mask_of(0);
    }
    all.iter().map(|word| word.count_ones()).sum::<u32>().max(1)
}

/// The CPUs that a process may run on, as bits; 0 for this one. None of a process that has ended.
fn mask_of(pid: i32) -> [u64; WORDS] {
    let mut mask = [0; WORDS];
    // SAFETY: the kernel writes no more than the bytes that it is given. If the call fails, the mask stays empty.
    unsafe { libc::sched_getaffinity(pid, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(pid: u32) -> Watched {
        Watched { process: ProcessKind::Server, node: "n".into(), pid }
    }

    #[test]
    fn work_of_this_process_is_counted() {
        let mut cost = Cost::begin(&[]);
        let until_ns = own_ns() + 30_000_000;
        while own_ns() < until_ns {
            std::hint::spin_loop();
        }
        assert!(cost.since_last(&[]) >= 30_000_000);
    }

    #[test]
    fn a_process_without_an_agent_or_that_has_ended_costs_nothing() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        assert!(agents(&[node(child.id())]).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(agents(&[node(child.id())]).is_empty());
    }

    #[test]
    fn a_node_may_run_on_some_of_the_machines_cpus() {
        let own = cpus(&[node(std::process::id())]);
        assert!(own >= 1);
        assert_eq!(cpus(&[]), own, "without a node");
    }
}
