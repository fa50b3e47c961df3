//! Ticks that trigger the profiler: at each tick of a CPU's clock, a program in the kernel sends the running thread the
//! profiler's signal, and records the thread's frames in the kernel.
//!
//! ```text
//! clock of each CPU ─▶ program ─┬▶ signal ─▶ profiler in the JVM ─▶ frames of the process ─┐
//!                               └▶ ring buffer ─▶ frames of the kernel ────────────────────┴▶ samples
//! ```
//!
//! The profiler's own clocks can record the kernel's frames as well. But there is one of them for each thread, and the
//! kernel stops and starts it at each context switch. Clocks of CPUs add no cost to a switch (docs/observe.md has the
//! figures). A thread handles the signal when it leaves the kernel, so its first sample after a tick belongs to that
//! tick.

use super::Frames;
use super::kernel::{self, LOST_REASONS};
use crate::ebpf::{self, Programs, Unavailable};
use crate::symbols::KernelSymbols;
use helenus_cassandra::foreign::read_proc;
use helenus_cassandra::target::Target;
use libbpf_rs::RingBuffer;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

/// The profiler's signal: SIGPROF.
pub(super) const SIGNAL: u32 = libc::SIGPROF as u32;
/// Size of the ring buffer: half a second of 64 CPUs that tick every 2 ms, all of them deep in the kernel.
const BUFFER_BYTES: u32 = 8 << 20;
/// If a thread leaves the kernel later than this after its tick, it counts as a thread without a sample.
const SAMPLED_WITHIN_NS: i64 = 1_000_000_000;
/// How long the profiler may keep a sample before it writes it: two chunks, and a margin.
const KEPT_NS: i64 = 12_000_000_000;
const NO_SAMPLE: &str = "the profiler took no stack at a tick";

/// The ticks that hit one process.
pub(super) struct Ticks {
    programs: Programs,
    ring: RingBuffer<'static>,
    ticks: Rc<RefCell<TicksByThread>>,
    kernel: Option<KernelSymbols>,
}

/// Ticks by thread, in the order of time.
#[derive(Default)]
struct TicksByThread(HashMap<i64, VecDeque<Tick>>);

struct Tick {
    time_ns: i64,
    /// The kernel's frames, innermost first; empty if the thread was outside of the kernel.
    kernel: Vec<u64>,
    sampled: bool,
}

impl Ticks {
    /// Loads the program, without attaching it.
    pub(super) fn load(target: &Target) -> Result<Ticks, Unavailable> {
        ebpf::require()?;
        if target.inner_pid != target.pid {
            return Err(Unavailable::new(
                "the node has other numbers for its threads than the kernel",
                "run it on the host",
            ));
        }
        if !is_free(target) {
            return Err(Unavailable::new("something else in the node handles SIGPROF", "end the other profiler"));
        }
        let programs = kernel::load(BUFFER_BYTES, SIGNAL)?;
        let ticks = Rc::new(RefCell::new(TicksByThread::default()));
        let there = Rc::clone(&ticks);
        let ring = programs.ring(move |bytes| {
            if let Some(sample) = kernel::sample(bytes) {
                there.borrow_mut().tick(sample.tid.into(), sample.time_ns, sample.kernel);
            }
        })?;
        Ok(Ticks { programs, ring, ticks, kernel: KernelSymbols::read().ok() })
    }

    /// Begins to send signals. A process that does not handle the signal is never sent one.
    pub(super) fn attach(&mut self, target: &Target, interval: Duration) -> Result<(), Unavailable> {
        self.programs.attach_to(kernel::clocks(interval)?, &[target.pid.unsigned_abs()])
    }

    /// Stops sending signals.
    pub(super) fn detach(&mut self) {
        self.programs.detach();
    }

    /// Reads the ticks since the last call, which include those of samples that the profiler has written.
    pub(super) fn read(&self) {
        while self.ring.consume_raw_n(ebpf::RECORDS_AT_ONCE) > 0 {}
    }

    /// The kernel stack of a thread at its sample; empty if it was in user mode.
    pub(super) fn of(&self, tid: i64, time_ns: i64) -> Vec<u64> {
        self.ticks.borrow_mut().of(tid, time_ns)
    }

    /// Adds the frames of the kernel to a stack.
    pub(super) fn name(&self, frames: &mut Frames, addresses: &[u64]) {
        frames.push_kernel(self.kernel.as_ref(), addresses);
    }

    /// Drops ticks whose sample can't come any more. Returns their number and the reason.
    pub(super) fn lost(&mut self, now_ns: i64) -> (u64, String) {
        let without = self.ticks.borrow_mut().forget(now_ns - KEPT_NS);
        let lost = self.programs.lost(0);
        let reasons =
            LOST_REASONS.iter().zip(lost.iter().copied()).chain([(&NO_SAMPLE, without)]).filter(|(_, lost)| *lost > 0);
        let lost_by_reason: Vec<String> = reasons.map(|(reason, lost)| format!("{reason} ({lost})")).collect();
        (lost.iter().sum::<u64>() + without, lost_by_reason.join(", "))
    }
}

impl TicksByThread {
    fn tick(&mut self, tid: i64, time_ns: i64, kernel: Vec<u64>) {
        self.0.entry(tid).or_default().push_back(Tick { time_ns, kernel, sampled: false });
    }

    fn of(&mut self, tid: i64, time_ns: i64) -> Vec<u64> {
        let Some(ticks) = self.0.get_mut(&tid) else { return Vec::new() };
        let before = ticks.partition_point(|tick| tick.time_ns <= time_ns);
        match before.checked_sub(1).and_then(|last| ticks.get_mut(last)) {
            Some(tick) if !tick.sampled && time_ns - tick.time_ns < SAMPLED_WITHIN_NS => {
                tick.sampled = true;
                std::mem::take(&mut tick.kernel)
            }
            _ => Vec::new(),
        }
    }

    /// Forgets the ticks up to a time, and counts those without a sample.
    fn forget(&mut self, until_ns: i64) -> u64 {
        let mut without = 0;
        self.0.retain(|_, ticks| {
            while let Some(tick) = ticks.pop_front_if(|tick| tick.time_ns <= until_ns) {
                without += u64::from(!tick.sampled);
            }
            !ticks.is_empty()
        });
        without
    }
}

/// Whether the signal has no handler yet, or the one of a profiler that Helenus loaded before.
fn is_free(target: &Target) -> bool {
    let read = |file: &str| read_proc(format!("/proc/{}/{file}", target.pid)).unwrap_or_default();
    let status = read("status");
    let caught = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
    let is_caught = caught.is_none_or(|caught| caught >> (SIGNAL - 1) & 1 == 1);
    !is_caught || read("maps").contains("/tmp/.helenus-profiler-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_cassandra::target::{TargetName, find};
    use std::process::Command;

    #[test]
    fn a_sample_is_of_the_last_tick_before_it_and_of_no_other() {
        let mut ticks = TicksByThread::default();
        ticks.tick(7, 100, vec![1]);
        ticks.tick(7, 200, vec![2]);
        ticks.tick(7, 300, vec![3]);
        ticks.tick(8, 150, vec![4]);
        // The profiler's chunks come in order, but samples within a chunk may not.
        assert_eq!(ticks.of(7, 205), [2]);
        assert_eq!(ticks.of(7, 110), [1]);
        assert_eq!(ticks.of(7, 120), Vec::<u64>::new(), "that one has its sample");
        assert_eq!(ticks.of(8, 149), Vec::<u64>::new(), "it came later");
        assert_eq!(ticks.of(8, 150 + SAMPLED_WITHIN_NS), Vec::<u64>::new(), "too long ago");
        assert_eq!(ticks.of(9, 150), Vec::<u64>::new());
        assert_eq!(ticks.forget(250), 1, "of thread 8");
        assert_eq!(ticks.of(7, 301), [3]);
        assert_eq!(ticks.forget(i64::MAX), 0);
        assert!(ticks.0.is_empty());
    }

    /// The process executed another program, or its profiler was unloaded.
    #[test]
    fn a_process_that_does_not_handle_the_signal_is_not_ended_by_it() {
        /// Ends the child with the test, whether the test passes or fails.
        struct Busy(std::process::Child);
        impl Drop for Busy {
            fn drop(&mut self) {
                let _ = self.0.kill();
                let _ = self.0.wait();
            }
        }
        helenus_needs::need!(crate::ebpf_stacks_available());
        let mut busy = Busy(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
        let target = find(TargetName::Pid(busy.0.id().cast_signed())).unwrap();
        let mut ticks = Ticks::load(&target).unwrap();
        ticks.attach(&target, Duration::from_millis(1)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        ticks.detach();
        ticks.read();
        assert!(busy.0.try_wait().unwrap().is_none(), "it runs on");
        assert!(ticks.ticks.borrow().0.is_empty());
        let (lost, reasons) = ticks.lost(0);
        assert!(lost > 0 && reasons.contains("nothing to take its stack with"), "{lost}: {reasons}");
    }
}
