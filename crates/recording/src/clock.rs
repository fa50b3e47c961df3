//! A node's clock: CLOCK_MONOTONIC plus one offset per recording, in nanoseconds since the Unix epoch.

use crate::manifest::ClockFacts;

/// Reads CLOCK_MONOTONIC and adds an offset that was measured once, so that the time never steps with the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    epoch_offset_ns: i64,
    error_ns: i64,
}

impl Clock {
    /// Measures the offset between the monotonic and the wall clock: the best of several readings of one clock between
    /// two readings of the other. The error is half of the time between the two.
    pub fn measure() -> Clock {
        let mut best = Clock { epoch_offset_ns: 0, error_ns: i64::MAX };
        for _ in 0..32 {
            let before = read(libc::CLOCK_MONOTONIC);
            let wall = read(libc::CLOCK_REALTIME);
            let after = read(libc::CLOCK_MONOTONIC);
            let error_ns = (after - before) / 2 + 1;
            if error_ns < best.error_ns {
                best = Clock { epoch_offset_ns: wall - (before + after) / 2, error_ns };
            }
        }
        best
    }

    /// Now, in nanoseconds since the Unix epoch on the clock of this recording.
    pub fn now_ns(&self) -> i64 {
        self.from_monotonic_ns(read(libc::CLOCK_MONOTONIC))
    }

    /// Converts a reading of CLOCK_MONOTONIC, such as `System.nanoTime` on Linux, to this clock.
    pub fn from_monotonic_ns(&self, monotonic_ns: i64) -> i64 {
        monotonic_ns.wrapping_add(self.epoch_offset_ns)
    }

    /// The offset from CLOCK_MONOTONIC to times of the recording.
    pub fn epoch_offset_ns(&self) -> i64 {
        self.epoch_offset_ns
    }

    pub(crate) fn from_facts(facts: &ClockFacts) -> Clock {
        Clock { epoch_offset_ns: facts.epoch_offset_ns, error_ns: facts.error_ns }
    }

    pub(crate) fn facts(&self) -> ClockFacts {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        ClockFacts {
            epoch_offset_ns: self.epoch_offset_ns,
            error_ns: self.error_ns,
            boot_id: boot_id.trim().to_string(),
        }
    }
}

/// CPU time of the calling thread, for a source that reports its own cost.
pub fn cpu_time_of_this_thread_ns() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the three clocks exist on every Linux, so that the call can't fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_agrees_with_the_wall_and_goes_on() {
        let clock = Clock::measure();
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        let now = clock.now_ns();
        assert!((now - wall).abs() < 1_000_000_000, "{now} {wall}");
        assert!(clock.now_ns() >= now);
        assert!(clock.facts().error_ns < 10_000_000);
    }
}
