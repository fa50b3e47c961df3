//! Stacks that occur repeatedly: each is symbolized once, and has one row.

use super::Frames;
use helenus_recording::Recorder;
use helenus_recording::rows::Stack;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

/// The most stacks whose number is kept by their addresses.
const KEPT: usize = 1 << 17;

struct New {
    number: i64,
    frames: Frames,
    time_ns: i64,
}

/// Numbers of known stacks, by their key in the kernel.
#[derive(Default)]
pub(crate) struct KnownStacks {
    numbers: HashMap<Vec<u64>, i64>,
    /// Stacks that have a row. Stacks with different addresses may have the same names.
    written: HashSet<i64>,
    /// Stacks whose row is not written yet.
    new: Vec<New>,
}

impl KnownStacks {
    /// The number of a stack; a new stack is symbolized. The time is on CLOCK_MONOTONIC.
    pub(crate) fn number(&mut self, key: Vec<u64>, time_ns: i64, name: impl FnOnce(&[u64]) -> Frames) -> i64 {
        let Ok(number) = self.try_number(key, time_ns, |key| Ok::<_, Infallible>(name(key)));
        number
    }

    /// Like the function above, for frames that may fail to decode.
    pub(crate) fn try_number<E>(
        &mut self,
        key: Vec<u64>,
        time_ns: i64,
        name: impl FnOnce(&[u64]) -> Result<Frames, E>,
    ) -> Result<i64, E> {
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let frames = name(&key)?;
        let number = frames.number();
        if self.written.insert(number) {
            self.new.push(New { number, frames, time_ns });
        }
        if self.numbers.len() >= KEPT {
            self.numbers.clear();
        }
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// Forgets addresses, because recompiled code may have other names at the same addresses.
    pub(crate) fn forget_addresses(&mut self) {
        self.numbers.clear();
    }

    /// Forgets which stacks have rows, because each recording needs a row for each of its stacks.
    pub(crate) fn begin_recording(&mut self) {
        self.numbers.clear();
        self.written.clear();
    }

    /// Writes the rows that wait.
    pub(crate) fn append(&mut self, recorder: &Recorder) {
        let clock = recorder.clock();
        for New { number, frames, time_ns } in self.new.drain(..) {
            let time_ns = clock.from_monotonic_ns(time_ns);
            recorder.append(Stack { time_ns, stack: number, frames: &frames.names, kinds: &frames.kinds });
        }
    }
}
