//! Waits until a program has used CPU time, also on busy machines.

use std::time::{Duration, Instant};

/// The longest time to wait: more than any working machine takes.
const AT_MOST: Duration = Duration::from_secs(120);

/// Waits until a process has used this much more CPU time.
pub fn until_it_has_used(pid: u32, more: Duration) {
    let (begun, begun_with) = (Instant::now(), cpu_time(pid));
    while cpu_time(pid) < begun_with + more {
        assert!(begun.elapsed() < AT_MOST, "{:?} of CPU time in {AT_MOST:?}", cpu_time(pid) - begun_with);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// CPU time of all threads of the process.
fn cpu_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks: u32 = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u32>().unwrap()).sum();
    // SAFETY: sysconf takes no pointers.
    let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Duration::from_secs(ticks.into()) / u32::try_from(ticks_per_s).unwrap()
}
