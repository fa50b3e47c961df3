//! The data that the eBPF program and its reader exchange. It must match `bpf/page_cache.h`.

use crate::ebpf::Bytes;

/// The reasons for lost events, in the order of the program's counters.
pub(super) const LOST_REASONS: [&str; 1] = ["the table of sums was full"];

/// How pages came into the cache, in the order of the program's numbers.
const HOW: [&str; 2] = ["mapping", "call"];

/// Number of system call numbers that the settings have a place for.
const CALLS: usize = 512;
/// System calls that write: they bring pages into the cache without reading from the disk for a reader.
const WRITES: [libc::c_long; 9] = [
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_copy_file_range,
    libc::SYS_splice,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
];

/// The settings, as the program reads them.
pub(super) fn settings() -> Vec<u8> {
    let mut writes = [0; CALLS];
    for call in WRITES {
        if let Some(write) = usize::try_from(call).ok().and_then(|call| writes.get_mut(call)) {
            *write = 1;
        }
    }
    // SAFETY: sysconf takes no pointers.
    let page_bytes = u32::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    page_bytes.to_ne_bytes().into_iter().chain(writes).collect()
}

/// Pages of a file that were read for a thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) file: FileNumber,
    pub(super) tid: u32,
    pub(super) process: u8,
    pub(super) how: &'static str,
    pub(super) thread: [u8; 16],
    pub(super) faults: i64,
    pub(super) bytes: i64,
}

/// A file, by device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileNumber {
    pub(super) device: Device,
    pub(super) inode: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Device {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Device {
    /// The kernel's device number has 12 bits for the major and 20 for the minor number.
    fn from_kernel(number: u32) -> Device {
        Device { major: number >> 20, minor: number & 0xf_ffff }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Parses an entry of the map of sums.
pub(super) fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
    let (mut key, mut value) = (Bytes(key), Bytes(value));
    let inode = u64::from_ne_bytes(key.array()?);
    let file = FileNumber { device: Device::from_kernel(key.u32()?), inode };
    let tid = key.u32()?;
    let [process, how, ..] = key.array::<8>()?;
    let how = HOW.get(usize::from(how))?;
    Some(Sum { file, tid, process, how, thread: key.array()?, faults: value.i64()?, bytes: value.i64()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(key: Vec<u8>, value: Vec<u8>) {
            let _ = sum(&key, &value);
        }
    }

    #[test]
    fn a_device_is_two_numbers() {
        assert_eq!(Device::from_kernel(254 << 20 | 3).to_string(), "254:3");
    }
}
