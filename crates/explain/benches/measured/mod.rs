//! Measures the time and the memory of a piece of work.

use std::time::Instant;

/// Prints the time taken, the number of items, and the peak memory of the process.
pub fn measured(what: &str, work: impl FnOnce() -> u64) -> u64 {
    // Writing 5 to clear_refs resets the process's peak memory.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory_mib("VmRSS");
    let started = Instant::now();
    let events = work();
    println!(
        "{what}: {events} in {:.2} s; memory {before} MiB before, {} MiB at most",
        started.elapsed().as_secs_f64(),
        memory_mib("VmHWM")
    );
    events
}

fn memory_mib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
