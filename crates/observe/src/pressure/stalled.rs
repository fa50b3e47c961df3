//! Pressure stall information: how long tasks waited for CPUs, disks and memory.

use super::Sample;
use helenus_cassandra::foreign::read_proc;
use helenus_recording::rows::Pressure;
use std::path::PathBuf;

pub(super) const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

/// Time since boot in which some tasks waited, and in which all tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Waited {
    pub(super) some_ns: i64,
    pub(super) full_ns: i64,
}

/// Reads the pressure of the whole machine.
#[derive(Debug)]
pub(super) struct Stalled {
    last: [Option<Waited>; RESOURCES.len()],
}

impl Stalled {
    pub(super) fn new() -> Stalled {
        Stalled { last: RESOURCES.map(of_machine) }
    }

    pub(super) fn sample(&mut self, sample: &Sample<'_>) -> i64 {
        let mut rows = 0;
        for (resource, last) in RESOURCES.into_iter().zip(&mut self.last) {
            let now = of_machine(resource);
            if let (Some(now), Some(before)) = (now, *last)
                && now != before
            {
                rows += 1;
                sample.recorder.append(Pressure {
                    time_ns: sample.time_ns,
                    interval_ns: sample.interval_ns,
                    node: sample.node,
                    resource,
                    some_ns: now.some_ns - before.some_ns,
                    full_ns: now.full_ns - before.full_ns,
                });
            }
            *last = now.or(*last);
        }
        rows
    }
}

fn of_machine(resource: &str) -> Option<Waited> {
    parse(&read_proc(PathBuf::from("/proc/pressure").join(resource)).ok()?)
}

/// Parses lines such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, in µs. Some kernels have no line `full` for
/// CPUs.
pub(super) fn parse(text: &str) -> Option<Waited> {
    let total = |which: &str| {
        let line = text.lines().find(|line| line.starts_with(which))?;
        Some(line.rsplit_once("total=")?.1.trim().parse::<i64>().ok()?.saturating_mul(1000))
    };
    Some(Waited { some_ns: total("some ")?, full_ns: total("full ").unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        let text =
            "some avg10=38.13 avg60=46.49 avg300=57.29 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n";
        assert_eq!(parse(text), Some(Waited { some_ns: 12_000, full_ns: 3000 }));
        assert_eq!(parse("some avg10=0.00 total=7\n"), Some(Waited { some_ns: 7000, full_ns: 0 }));
        assert_eq!(parse("garbage"), None);
    }
}
