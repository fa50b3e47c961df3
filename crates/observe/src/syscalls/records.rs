//! The data that the eBPF programs and their reader exchange. It must match `bpf/syscalls.h`.

use super::calls::CallKind;
use super::{SyscallsMode, SyscallsOptions};
use crate::ebpf::{Bytes, text};

pub(super) const CALLS: usize = 512;

/// The reasons for lost calls, in the order of the programs' counters.
pub(super) const LOST_REASONS: [&str; 4] = [
    "the ring buffer was full",
    "the kernel had no memory to note the start of a call",
    "the table of sums was full",
    "more events than --max-events-per-s",
];

/// The value of FLAG_CHOSEN in `bpf/syscalls.h`.
const CHOSEN: u8 = 8;

/// The settings, as the programs read them.
pub(super) fn settings(options: &SyscallsOptions, kinds: &[CallKind; CALLS]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + 4 * CALLS);
    bytes.extend(u32::from(options.syscalls == SyscallsMode::Summary).to_ne_bytes());
    bytes.extend(options.max_events_per_s.map_or(0, |limit| limit.max(1)).to_ne_bytes());
    bytes.extend(u32::from(options.calls.is_some()).to_ne_bytes());
    for (number, kind) in kinds.iter().enumerate() {
        let chosen = options.calls.is_some_and(|only| only.contains(number));
        let flags = kind.flags | if chosen { CHOSEN } else { 0 };
        bytes.extend([kind.descriptor, kind.pointer, kind.result as u8, flags]);
    }
    bytes
}

/// A record of the ring buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Call { process: u8, call: u16, tid: u32, ended: Ended, path: Option<&'a [u8]> },
    Thread { process: u8, tid: u32, name: &'a [u8] },
    Descriptor { process: u8, call: u16, descriptor: Descriptor<'a> },
    Closed { identity: u32 },
}

/// A call that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    /// Identity of the call's descriptor; 0 for a call without a descriptor.
    pub(super) identity: u32,
    /// Start, on CLOCK_MONOTONIC.
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) returned: i64,
    /// Position in the file, if the call is one of those that take it.
    pub(super) position: i64,
}

/// A descriptor as the eBPF programs report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    pub(super) identity: u32,
    pub(super) from: u32,
    pub(super) fd: i32,
    pub(super) mode: u32,
    pub(super) inode: u64,
    pub(super) family: u16,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    pub(super) local: [u8; 16],
    pub(super) remote: [u8; 16],
    pub(super) path: &'a [u8],
}

/// Sums of calls that agree in thread, call, file and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) tid: u32,
    pub(super) identity: u32,
    pub(super) call: u16,
    pub(super) process: u8,
    pub(super) bin: u8,
    pub(super) count: i64,
    pub(super) total_ns: i64,
    pub(super) bytes: i64,
    pub(super) errors: i64,
}

/// Parses one record; None if it is invalid, which only a bug in the programs could cause.
pub(super) fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let mut rest = Bytes(bytes);
    let [kind, process] = rest.array()?;
    let call = u16::from_ne_bytes(rest.array()?);
    let tid = rest.u32()?;
    Some(match kind {
        0 | 1 => {
            let identity = rest.u32()?;
            rest.u32()?;
            let (start_ns, duration_ns, returned) = (rest.i64()?, rest.i64()?, rest.i64()?);
            let ended = Ended { identity, start_ns, duration_ns, returned, position: rest.i64()? };
            let path = (kind == 1).then(|| text(rest.0));
            Record::Call { process, call, tid, ended, path }
        }
        2 => Record::Thread { process, tid, name: text(rest.0) },
        3 => {
            let [identity, from, fd, mode] = [rest.u32()?, rest.u32()?, rest.u32()?, rest.u32()?];
            let inode = u64::from_ne_bytes(rest.array()?);
            let family = u16::from_ne_bytes(rest.array()?);
            let local_port = u16::from_ne_bytes(rest.array()?);
            let remote_port = u16::from_be_bytes(rest.array()?);
            let _: [u8; 2] = rest.array()?;
            let (local, remote) = (rest.array()?, rest.array()?);
            let fd = fd.cast_signed();
            let path = text(rest.0);
            let descriptor =
                Descriptor { identity, from, fd, mode, inode, family, local_port, remote_port, local, remote, path };
            Record::Descriptor { process, call, descriptor }
        }
        4 => Record::Closed { identity: rest.u32()? },
        _ => return None,
    })
}

/// Parses an entry of the map of sums.
pub(super) fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
    let (mut key, mut value) = (Bytes(key), Bytes(value));
    let (tid, identity) = (key.u32()?, key.u32()?);
    let call = u16::from_ne_bytes(key.array()?);
    let [process, bin] = key.array()?;
    let (count, total_ns, bytes, errors) = (value.i64()?, value.i64()?, value.i64()?, value.i64()?);
    Some(Sum { tid, identity, call, process, bin, count, total_ns, bytes, errors })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(bytes: Vec<u8>) {
            let _ = record(&bytes);
            let _ = sum(&bytes, &bytes);
        }
    }
}
