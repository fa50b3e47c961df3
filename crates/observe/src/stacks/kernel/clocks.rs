//! The kernel's clock of each CPU, which a program is run at the ticks of.

use crate::ebpf::Missing;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Duration;

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
/// The bit `exclude_idle` among the flags of a perf_event_attr: no ticks while a CPU has nothing to do.
const EXCLUDE_IDLE: u64 = 1 << 7;
const PERF_FLAG_FD_CLOEXEC: u64 = 8;
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The begin of the kernel's perf_event_attr, as it was first (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    bytes: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// A clock for each CPU that is online, with a tick after each such time.
pub(super) fn open(interval: Duration) -> Result<Vec<OwnedFd>, Missing> {
    let online = std::fs::read_to_string(ONLINE).unwrap_or_default();
    let cpus = list(&online);
    let clocks: io::Result<Vec<OwnedFd>> = cpus.into_iter().map(|cpu| clock(cpu, interval)).collect();
    match clocks {
        Ok(clocks) if !clocks.is_empty() => Ok(clocks),
        Ok(_) => Err(Missing::new(format!("{ONLINE} names no CPU"), "mount /sys")),
        Err(error) => Err(Missing::new(
            format!("the kernel gives no clock to sample with: {error}"),
            "run it as root, with CONFIG_PERF_EVENTS and a seccomp profile that allows perf_event_open",
        )),
    }
}

fn clock(cpu: i32, interval: Duration) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        kind: PERF_TYPE_SOFTWARE,
        bytes: u32::try_from(size_of::<Attributes>()).unwrap_or(0),
        config: PERF_COUNT_SW_CPU_CLOCK,
        sample_period: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
        flags: EXCLUDE_IDLE,
        ..Attributes::default()
    };
    // SAFETY: the pointer is to as many bytes as they say, and what is returned is ours alone.
    unsafe {
        let (every_process, no_group) = (-1, -1);
        let fd = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            every_process,
            cpu,
            no_group,
            PERF_FLAG_FD_CLOEXEC,
        );
        let fd = i32::try_from(fd).map_err(io::Error::other)?;
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// CPUs in the kernel's way of listing them: `0-3,6`.
fn list(text: &str) -> Vec<i32> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) else { continue };
        cpus.extend(first..=last);
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(list("0-1,4\n"), [0, 1, 4]);
        assert_eq!(list("0\n"), [0]);
        assert_eq!(list(""), Vec::<i32>::new());
    }

    #[test]
    fn the_attributes_are_as_long_as_they_were_first() {
        assert_eq!(size_of::<Attributes>(), 64);
    }
}
