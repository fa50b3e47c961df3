//! The data that the eBPF programs and their reader exchange. It must match `bpf/sched.h`.

use super::SchedOptions;
use crate::ebpf::{Bytes, text};

/// The most frames of a stack that the programs record.
const FRAMES: usize = 32;

/// The reasons for lost events, in the order of the programs' counters.
pub(super) const LOST_REASONS: [&str; 4] = [
    "the ring buffer was full",
    "more threads than there is room for",
    "the table of sums was full",
    "the kernel did not tell of a switch or a wake-up",
];

/// Why a thread was off the CPU, in the order of the programs' numbers.
const REASONS: [&str; 5] = ["preempted", "blocked", "disk", "uninterruptible", "stopped"];

/// The causes that begin a run-queue delay, in the order of the programs' numbers.
const AFTER: [&str; 2] = ["wakeup", "preemption"];

/// The settings, as the programs read them.
pub(super) fn settings(options: &SchedOptions, tells_state: bool) -> Vec<u8> {
    let above_ns = u64::try_from(options.above().as_nanos()).unwrap_or(u64::MAX);
    let flags = [u32::from(options.off_cpu_stacks), u32::from(tells_state)];
    above_ns.to_ne_bytes().into_iter().chain(flags.into_iter().flat_map(u32::to_ne_bytes)).collect()
}

/// A record of the ring buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    OffCpu { process: u8, tid: u32, off_cpu: OffCpuTime, frames: Vec<u64> },
    Thread { process: u8, tid: u32, name: &'a [u8] },
}

/// An off-CPU time of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffCpuTime {
    /// Start, on CLOCK_MONOTONIC.
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) run_queue_ns: i64,
    pub(super) reason: &'static str,
    pub(super) from_cpu: u32,
    pub(super) to_cpu: u32,
    /// The thread that took the CPU, or that woke this one.
    pub(super) by: OtherThread,
}

/// A thread of any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OtherThread {
    /// Process id; 0 in an interrupt, or if unknown.
    pub(super) tid: u32,
    pub(super) tgid: u32,
    /// The kernel's name of the thread, up to the first zero byte.
    pub(super) name: [u8; OtherThread::NAME_BYTES],
}

impl OtherThread {
    pub(super) const NAME_BYTES: usize = 16;
}

/// Sums that the programs keep, by thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) tid: u32,
    pub(super) process: u8,
    pub(super) of: Summed,
    pub(super) count: i64,
    pub(super) total_ns: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Summed {
    /// Run-queue delays in one bin of durations.
    Delay { after: &'static str, bin: u8 },
    /// Migrations between two CPUs.
    Migration { from: u16, to: u16 },
}

/// Parses one record; None if it is invalid, which only a bug in the programs could cause.
pub(super) fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let mut rest = Bytes(bytes);
    let [kind, process, reason, _] = rest.array()?;
    let tid = rest.u32()?;
    Some(match kind {
        0 | 1 => {
            let reason = REASONS.get(usize::from(reason))?;
            let [start_ns, duration_ns, run_queue_ns] = [rest.i64()?, rest.i64()?, rest.i64()?];
            let [from_cpu, to_cpu] = [rest.u32()?, rest.u32()?];
            let by = OtherThread { tid: rest.u32()?, tgid: rest.u32()?, name: rest.array()? };
            let off_cpu = OffCpuTime { start_ns, duration_ns, run_queue_ns, reason, from_cpu, to_cpu, by };
            let mut frames = Vec::new();
            if kind == 1 {
                let filled = usize::try_from(rest.i64()?).ok()? / size_of::<u64>();
                for _ in 0..filled.min(FRAMES) {
                    frames.push(u64::from_ne_bytes(rest.array()?));
                }
            }
            Record::OffCpu { process, tid, off_cpu, frames }
        }
        2 => Record::Thread { process, tid, name: text(rest.0) },
        _ => return None,
    })
}

/// Parses an entry of the map of sums.
pub(super) fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
    let (mut key, mut value) = (Bytes(key), Bytes(value));
    let tid = key.u32()?;
    let [process, kind] = key.array()?;
    let first = u16::from_ne_bytes(key.array()?);
    let second = u16::from_ne_bytes(key.array()?);
    let of = match kind {
        0 => Summed::Delay { after: AFTER.get(usize::from(first))?, bin: u8::try_from(second).ok()? },
        1 => Summed::Migration { from: first, to: second },
        _ => return None,
    };
    Some(Sum { tid, process, of, count: value.i64()?, total_ns: value.i64()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(kind in 0u8..4, bytes: Vec<u8>) {
            let bytes: Vec<u8> = std::iter::once(kind).chain(bytes).collect();
            let _ = record(&bytes);
            let _ = sum(&bytes, &bytes);
        }
    }

    #[test]
    fn a_stack_is_as_long_as_it_says_and_no_longer() {
        let record_of = |frame_count: i64| {
            let mut bytes = vec![1, 0, 2, 0];
            bytes.extend(7_u32.to_ne_bytes());
            for number in [100_i64, 50, 20] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend([0_u32.to_ne_bytes(), 1_u32.to_ne_bytes()].concat());
            bytes.extend([8_u32.to_ne_bytes(), 7_u32.to_ne_bytes()].concat());
            bytes.extend(b"waker\0\0\0\0\0\0\0\0\0\0\0");
            bytes.extend(frame_count.to_ne_bytes());
            (0..FRAMES as u64).for_each(|frame| bytes.extend(frame.to_ne_bytes()));
            bytes
        };
        let frames = |frame_count| match record(&record_of(frame_count)) {
            Some(Record::OffCpu { frames, off_cpu, .. }) => {
                assert_eq!((off_cpu.reason, off_cpu.to_cpu), ("disk", 1));
                assert_eq!((off_cpu.by.tid, off_cpu.by.tgid, text(&off_cpu.by.name)), (8, 7, &b"waker"[..]));
                Some(frames.len())
            }
            _ => None,
        };
        assert_eq!(frames(24), Some(3));
        assert_eq!(frames(i64::MAX), Some(FRAMES));
        assert_eq!(frames(-8), None);
    }
}
