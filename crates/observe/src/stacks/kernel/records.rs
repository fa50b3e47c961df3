//! The data that the eBPF program and its reader exchange. It must match `bpf/stacks.h`.

use crate::ebpf::{Bytes, text};

/// The reasons for lost events, in the order of the program's counters.
pub(crate) const LOST_REASONS: [&str; 2] =
    ["the ring buffer was full", "the thread ended, or has nothing to take its stack with any more"];

/// Bytes of a thread's name.
const NAME_BYTES: usize = 16;

/// The state of a thread at a tick. Frames are addresses, innermost first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample<'a> {
    /// Time on CLOCK_MONOTONIC.
    pub(crate) time_ns: i64,
    pub(crate) tid: u32,
    pub(crate) process: u8,
    pub(crate) thread: &'a [u8],
    pub(crate) user: Vec<u64>,
    pub(crate) kernel: Vec<u64>,
}

/// Parses one record; None if it is invalid, which only a bug in the program could cause.
pub(crate) fn sample(bytes: &[u8]) -> Option<Sample<'_>> {
    let mut rest = Bytes(bytes);
    let (time_ns, tid) = (rest.i64()?, rest.u32()?);
    let [process, user_frames, kernel_frames, _] = rest.array()?;
    let (name, frames) = rest.0.split_at_checked(NAME_BYTES)?;
    let mut rest = Bytes(frames);
    let mut frames = |count: u8| (0..count).map(|_| rest.array().map(u64::from_ne_bytes)).collect::<Option<Vec<u64>>>();
    Some(Sample {
        time_ns,
        tid,
        process,
        thread: text(name),
        user: frames(user_frames)?,
        kernel: frames(kernel_frames)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>) {
            let _ = sample(&bytes);
        }
    }

    #[test]
    fn frames_of_the_process_come_before_those_of_the_kernel() {
        let mut bytes = [5_u64.to_ne_bytes().as_slice(), &7_u32.to_ne_bytes(), &[1, 2, 1, 0]].concat();
        bytes.extend(b"Worker-7\0\0\0\0\0\0\0\0");
        [10_u64, 11, 20].iter().for_each(|frame| bytes.extend(frame.to_ne_bytes()));
        let found = sample(&bytes).unwrap();
        assert_eq!((found.time_ns, found.tid, found.process), (5, 7, 1));
        assert_eq!((found.thread, found.user, found.kernel), (&b"Worker-7"[..], vec![10, 11], vec![20]));
        assert_eq!(sample(&bytes[..bytes.len() - 1]), None);
    }
}
