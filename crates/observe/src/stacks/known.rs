//! Stacks that occur repeatedly: each is symbolized once, and has one row.

use super::Frames;
use crate::bounded::Kept;
use helenus_recording::Recorder;
use helenus_recording::rows::Stack;
use std::collections::HashSet;
use std::convert::Infallible;
use std::rc::Rc;

/// The most bytes of the addresses of stacks whose number is kept: some 100,000 stacks.
const ADDRESSES: usize = 64 << 20;
/// The most bytes of stacks that wait for their row. Names of functions are as long as a program likes.
const WAITING: usize = 32 << 20;

struct New {
    number: i64,
    frames: Frames,
    time_ns: i64,
}

/// Numbers of known stacks, by their key in the kernel.
pub(crate) struct KnownStacks {
    numbers: Kept<Rc<[u64]>, i64>,
    /// Stacks that have a row. Stacks with different addresses may have the same names.
    written: HashSet<i64>,
    /// Stacks whose row is not written yet.
    new: Vec<New>,
    /// Bytes of those.
    new_bytes: usize,
}

impl Default for KnownStacks {
    fn default() -> KnownStacks {
        let (written, new) = (HashSet::new(), Vec::new());
        KnownStacks { numbers: Kept::new(ADDRESSES), written, new, new_bytes: 0 }
    }
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
        if let Some(number) = self.numbers.get(&key[..]) {
            return Ok(*number);
        }
        let frames = name(&key)?;
        let number = frames.number();
        if !self.written.contains(&number) {
            // A stack without room gets its row when it is seen again.
            if self.new_bytes >= WAITING {
                return Ok(number);
            }
            self.new_bytes += frames.names.len() + frames.kinds.len() + size_of::<New>();
            self.written.insert(number);
            self.new.push(New { number, frames, time_ns });
        }
        self.numbers.insert(key.as_slice().into(), number, size_of_val(key.as_slice()));
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
        self.new_bytes = 0;
        let clock = recorder.clock();
        for New { number, frames, time_ns } in self.new.drain(..) {
            let time_ns = clock.from_monotonic_ns(time_ns);
            recorder.append(Stack { time_ns, stack: number, frames: &frames.names, kinds: &frames.kinds });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(name: &str) -> Frames {
        let mut frames = Frames::default();
        frames.push(name, 'k');
        frames
    }

    #[test]
    fn stacks_without_end_take_no_memory_without_end() {
        let mut stacks = KnownStacks::default();
        let long = "f".repeat(4 << 10);
        let number = |stacks: &mut KnownStacks, stack: u64| {
            let key: Vec<u64> = (0..2_000).map(|frame| stack * 10_000 + frame).collect();
            stacks.number(key, 1, |_| frames(&format!("{stack}{long}")))
        };
        for stack in 0..9_000 {
            number(&mut stacks, stack);
            assert!(stacks.numbers.held() <= ADDRESSES && stacks.new_bytes <= WAITING + (8 << 10));
        }
        let rows = stacks.new.len();
        assert!(rows < 9_000 && stacks.written.len() == rows, "the others get their row later");
        // As after their rows were written.
        stacks.new.clear();
        stacks.new_bytes = 0;
        let again = number(&mut stacks, 8_999);
        assert_eq!((stacks.new.len(), stacks.new[0].number), (1, again));
        assert_eq!(number(&mut stacks, 8_999), again);
        assert_eq!(stacks.new.len(), 1);
    }
}
