//! A perf clock event for each CPU, which runs an eBPF program at each tick.

use crate::ebpf::Unavailable;
use perf_event::events::Software;
use perf_event::{Builder, Counter};
use std::io;
use std::time::Duration;

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// A clock event for each CPU that is online, with ticks at this interval.
pub(in crate::stacks) fn open(interval: Duration) -> Result<Vec<Counter>, Unavailable> {
    let online = std::fs::read_to_string(ONLINE).unwrap_or_default();
    let cpus = list(&online);
    let clocks: io::Result<Vec<Counter>> = cpus.into_iter().map(|cpu| clock(cpu, interval)).collect();
    match clocks {
        Ok(clocks) if !clocks.is_empty() => Ok(clocks),
        Ok(_) => Err(Unavailable::new(format!("{ONLINE} names no CPU"), "mount /sys")),
        Err(error) => Err(Unavailable::new(
            format!("the kernel gives no clock to sample with: {error}"),
            "run it as root, with CONFIG_PERF_EVENTS and a seccomp profile that allows perf_event_open",
        )),
    }
}

/// The clock does not tick while the CPU is idle.
fn clock(cpu: usize, interval: Duration) -> io::Result<Counter> {
    Builder::new(Software::CPU_CLOCK)
        .any_pid()
        .one_cpu(cpu)
        .include_kernel()
        .include_hv()
        .exclude_idle(true)
        .sample_period(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX))
        .enabled(true)
        .build()
}

/// Parses a list of CPUs in the kernel's notation: `0-3,6`.
fn list(text: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else { continue };
        cpus.extend(first..=last);
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(list("0-1,4\n"), [0, 1, 4]);
        assert_eq!(list("0\n"), [0]);
        assert_eq!(list(""), Vec::<usize>::new());
    }
}
