//! The hardware counters of one thread.

use super::machine::Countable;
use perf_event::events::{Event, Hardware, Software};
use perf_event::{Builder, Counter, ReadFormat};
use std::io;
use std::ops::AddAssign;

/// Events that the kernel counts on every machine.
pub(super) const SOFTWARE: [Software; 4] =
    [Software::TASK_CLOCK, Software::PAGE_FAULTS, Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS];
/// Events that the CPU counts. There are no more than any recent PMU can count at the same time, so all cover the same
/// time.
pub(super) const HARDWARE: [Hardware; 4] =
    [Hardware::CPU_CYCLES, Hardware::INSTRUCTIONS, Hardware::CACHE_REFERENCES, Hardware::CACHE_MISSES];

/// Counts of threads over some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) software: Read,
    pub(super) hardware: Read,
}

/// Values read from the counters of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) values: [u64; 4],
    /// Time for which the counters were enabled, ns.
    pub(super) enabled_ns: u64,
    /// Time for which the counters were running, ns.
    pub(super) running_ns: u64,
}

/// The open counters of a thread. They keep their counts after the thread has ended.
#[derive(Debug)]
pub(super) struct ThreadCounters {
    software: Group,
    hardware: Option<Group>,
}

impl ThreadCounters {
    /// Starts counting. Fails if the thread has ended or belongs to another user.
    pub(super) fn open(tid: i32, countable: &Countable) -> io::Result<ThreadCounters> {
        let hardware = HARDWARE.map(Some);
        let hardware = if countable.has_pmu() { Some(Group::open(hardware, tid, countable.user_only)?) } else { None };
        let software = Group::open(countable.software(), tid, countable.user_only)?;
        Ok(ThreadCounters { software, hardware })
    }

    /// The counts since the last call.
    pub(super) fn more(&mut self) -> io::Result<Counts> {
        let hardware = self.hardware.as_mut().map_or_else(|| Ok(Read::default()), Group::more)?;
        Ok(Counts { software: self.software.more()?, hardware })
    }
}

/// A group of counters that are on the CPU at the same time. All are read through the first one, the leader.
#[derive(Debug)]
pub(super) struct Group {
    /// The counters; None for those that this machine does not have.
    counters: [Option<Counter>; 4],
    leader: usize,
    last: Read,
}

impl Group {
    /// Opens counters of a thread; 0 stands for the calling thread. Fails if no counter can be opened.
    pub(super) fn open<E: Event>(events: [Option<E>; 4], tid: i32, user_only: bool) -> io::Result<Group> {
        let mut group = Group { counters: [const { None }; 4], leader: usize::MAX, last: Read::default() };
        let mut failed = None;
        for (position, event) in events.into_iter().enumerate() {
            let Some(event) = event else { continue };
            let mut builder = Builder::new(event);
            builder.observe_pid(tid).any_cpu().enabled(true).exclude_kernel(user_only).exclude_hv(user_only);
            builder.read_format(ReadFormat::GROUP | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
            let leader = group.counters.get_mut(group.leader).and_then(Option::as_mut);
            let counter = match leader {
                Some(leader) => builder.build_with_group(leader),
                None => builder.build(),
            };
            match counter {
                Ok(counter) => {
                    group.counters[position] = Some(counter);
                    group.leader = group.leader.min(position);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if group.leader == usize::MAX => Err(error),
            _ => Ok(group),
        }
    }

    /// Which counters exist.
    pub(super) fn has(&self) -> [bool; 4] {
        std::array::from_fn(|position| self.counters[position].is_some())
    }

    fn more(&mut self) -> io::Result<Read> {
        let Some(leader) = self.counters.get_mut(self.leader).and_then(Option::as_mut) else {
            return Ok(Read::default());
        };
        let found = leader.read_group()?;
        let nanos = |time: Option<std::time::Duration>| {
            time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
        };
        let value = |counter: &Option<Counter>| {
            counter.as_ref().and_then(|counter| found.get(counter)).map_or(0, |entry| entry.value())
        };
        let now = Read {
            values: std::array::from_fn(|position| value(&self.counters[position])),
            enabled_ns: nanos(found.time_enabled()),
            running_ns: nanos(found.time_running()),
        };
        let before = std::mem::replace(&mut self.last, now);
        Ok(now.since(&before))
    }
}

impl Read {
    fn since(&self, before: &Read) -> Read {
        Read {
            values: std::array::from_fn(|position| self.values[position].saturating_sub(before.values[position])),
            enabled_ns: self.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: self.running_ns.saturating_sub(before.running_ns),
        }
    }

    /// The counts, scaled to the whole time for which they were enabled; None for counters that never ran.
    pub(super) fn scaled(&self) -> Option<[i64; 4]> {
        let (enabled, running) = (u128::from(self.enabled_ns), u128::from(self.running_ns));
        if running == 0 {
            return None;
        }
        let scale = |value: u64| (u128::from(value) * enabled.max(running) + running / 2) / running;
        Some(self.values.map(|value| i64::try_from(scale(value)).unwrap_or(i64::MAX)))
    }
}

impl AddAssign for Read {
    fn add_assign(&mut self, more: Read) {
        for (value, more) in self.values.iter_mut().zip(more.values) {
            *value += more;
        }
        self.enabled_ns += more.enabled_ns;
        self.running_ns += more.running_ns;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Counts) {
        self.software += more.software;
        self.hardware += more.hardware;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_took_turns_are_scaled_to_the_whole_time() {
        let read = Read { values: [300, 1, 0, u64::MAX / 4], enabled_ns: 4_000, running_ns: 1_000 };
        let scaled = read.scaled().unwrap();
        assert_eq!(scaled[..3], [1200, 4, 0]);
        assert_eq!(scaled[3], i64::MAX, "it stays within its bounds");
        let always = Read { enabled_ns: 1_000, ..read };
        assert_eq!(always.scaled().unwrap()[..3], [300, 1, 0]);
        assert_eq!(Read { running_ns: 0, ..read }.scaled(), None, "nothing is known of what nobody counted");
    }

    #[test]
    fn what_is_added_up_is_scaled_by_the_sums_of_the_times() {
        let mut sum = Read { values: [100, 0, 0, 0], enabled_ns: 10, running_ns: 10 };
        sum += Read { values: [0; 4], enabled_ns: 10, running_ns: 0 };
        assert_eq!(sum.scaled(), Some([200, 0, 0, 0]), "a thread that had no turn counts like the others");
    }
}
