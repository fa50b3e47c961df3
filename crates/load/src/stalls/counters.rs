//! The kernel's counters that explain why a thread did not run.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Reads the counters of the thread that created it, of its process and of the machine.
#[derive(Debug)]
pub(super) struct StallCounters {
    /// The file with the thread's run-queue delay; None if the kernel does not have it.
    schedstat: Option<File>,
    stat: Option<File>,
    ticks_per_s: i64,
    last: Counters,
}

/// Counters since the start of the thread, the process or the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    run_queue_ns: Option<i64>,
    major_faults: i64,
    steal_ns: Option<i64>,
}

/// Growth of the counters between two reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CounterGrowth {
    /// Run-queue delay: the thread was ready to run and had no CPU.
    pub run_queue_ns: Option<i64>,
    pub major_faults: i64,
}

impl StallCounters {
    pub fn of_this_thread() -> StallCounters {
        let mut counters = StallCounters {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            stat: File::open("/proc/stat").ok(),
            // SAFETY: no pointers.
            ticks_per_s: unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1),
            last: Counters::default(),
        };
        counters.thread_growth();
        counters.steal_growth();
        counters
    }

    /// The growth of the thread's and its process's counters since the last call. Takes about a microsecond.
    pub fn thread_growth(&mut self) -> CounterGrowth {
        let last = self.last;
        self.last.run_queue_ns = self.schedstat.as_ref().and_then(|file| number_at(file, 1));
        self.last.major_faults = major_faults();
        CounterGrowth {
            run_queue_ns: grown(last.run_queue_ns, self.last.run_queue_ns),
            major_faults: self.last.major_faults - last.major_faults,
        }
    }

    /// Steal time over all CPUs since the last call. Takes some microseconds, so it is not called at each wake.
    pub fn steal_growth(&mut self) -> Option<i64> {
        let last = self.last.steal_ns;
        // The line of /proc/stat: cpu user nice system idle iowait irq softirq steal …
        let ticks = self.stat.as_ref().and_then(|file| number_at(file, 8));
        self.last.steal_ns = ticks.map(|ticks| ticks * (1_000_000_000 / self.ticks_per_s));
        grown(last, self.last.steal_ns)
    }
}

fn grown(before: Option<i64>, now: Option<i64>) -> Option<i64> {
    Some((now? - before?).max(0))
}

/// A word of the file's first line, by its position, as a number.
fn number_at(file: &File, position: usize) -> Option<i64> {
    let mut start = [0; 256];
    let length = file.read_at(&mut start, 0).ok()?;
    let line = std::str::from_utf8(start.get(..length)?).ok()?.lines().next()?;
    line.split_ascii_whitespace().nth(position)?.parse().ok()
}

fn major_faults() -> i64 {
    // SAFETY: all zeros is a valid rusage, and the pointer is to it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_majflt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_cpu_is_seen() {
        // Start more busy threads than there are CPUs, so that each has to wait.
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let until = std::time::Instant::now() + std::time::Duration::from_millis(200);
        let busy = || {
            let mut counters = StallCounters::of_this_thread();
            while std::time::Instant::now() < until {
                std::hint::spin_loop();
            }
            (counters.thread_growth(), counters.steal_growth())
        };
        let seen: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3 * cpus).map(|_| scope.spawn(busy)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let waited: i64 = seen.iter().filter_map(|(growth, _)| growth.run_queue_ns).sum();
        assert!(waited > 200_000_000, "{seen:?}");
        assert!(seen.iter().all(|(growth, steal)| growth.major_faults >= 0 && steal.is_some()));
    }
}
