//! The cost of following requests, against the CPU time of the node.

use helenus_cassandra::process;
use std::time::Duration;

/// Share of the node's CPU time that this thread may use. The kernel uses about as much to deliver packets, so together
/// they use 2 %.
const BUDGET: f64 = 0.01;
/// Share of one CPU that following requests may always use, for nodes that do little.
const LEAST: f64 = 0.02;

#[derive(Debug)]
pub(super) struct Budget {
    pid: i32,
    ticks: u64,
    tick_ns: f64,
}

/// CPU time spent, and the CPU time of the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    spent_ns: f64,
    node_ns: f64,
    interval_ns: f64,
}

impl Budget {
    pub(super) fn new(pid: i32) -> Budget {
        // SAFETY: sysconf takes no pointers.
        let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        Budget { pid, ticks: ticks(pid).unwrap_or_default(), tick_ns: 1e9 / ticks_per_s as f64 }
    }

    /// Compares the CPU time spent in an interval with the node's; None if the node's CPU time is not known.
    pub(super) fn spend(&mut self, spent_ns: i64, interval: Duration) -> Option<Share> {
        let now = ticks(self.pid)?;
        let node_ns = now.saturating_sub(std::mem::replace(&mut self.ticks, now)) as f64 * self.tick_ns;
        Some(Share { spent_ns: spent_ns as f64, node_ns, interval_ns: interval.as_nanos() as f64 })
    }
}

fn ticks(pid: i32) -> Option<u64> {
    process::stat(pid).map(|stat| stat.cpu_ticks)
}

impl Share {
    /// How many times the number of followed connections must be halved; None if the cost is within the budget.
    pub(super) fn fewer(self) -> Option<u32> {
        let budget_ns = (BUDGET * self.node_ns).max(LEAST * self.interval_ns);
        (self.spent_ns > budget_ns && budget_ns > 0.0).then(|| (self.spent_ns / budget_ns).log2().ceil() as u32)
    }

    pub(super) fn percent(self) -> f64 {
        if self.node_ns > 0.0 { 100.0 * self.spent_ns / self.node_ns } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_halved_until_they_cost_what_they_may() {
        let share = |spent_ns, node_ns| Share { spent_ns, node_ns, interval_ns: 1e9 };
        assert_eq!(share(39e6, 4e9).fewer(), None);
        assert_eq!(share(15e6, 1e9).fewer(), None);
        assert_eq!(share(100e6, 4e9).fewer(), Some(2));
        assert_eq!(share(19e6, 0.0).fewer(), None, "waking up on an idle node");
    }
}
