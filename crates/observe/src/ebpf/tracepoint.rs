//! A tracepoint by its id, for programs that read its event in the documented format instead of kernel types, which
//! change.
//!
//! The id is read from tracefs. Many small machines and containers do not mount tracefs. There it is mounted privately:
//! the mount has no path, is invisible to others, and ends with its descriptor.

use super::Unavailable;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A perf event that runs a program each time that the tracepoint `CATEGORY/NAME` is hit, on every CPU.
pub(crate) fn tracepoint(name: &str) -> Result<Counter, Unavailable> {
    let number = number(name).map_err(|error| {
        Unavailable::new(
            format!("the kernel does not say which tracepoint {name} is: {error}"),
            "run it as root, or once: sudo mount -t tracefs none /sys/kernel/tracing",
        )
    })?;
    // The kernel attaches the program to the tracepoint and not to the event, so an event on one CPU is enough for all.
    let event = Builder::new(Tracepoint::with_id(number))
        .any_pid()
        .one_cpu(0)
        .include_kernel()
        .include_hv()
        .sample_period(1)
        .enabled(true)
        .build();
    event.map_err(|error| {
        Unavailable::new(
            format!("the kernel gives no event for the tracepoint {name}: {error}"),
            "run it as root, with CONFIG_PERF_EVENTS and a seccomp profile that allows perf_event_open",
        )
    })
}

fn number(name: &str) -> io::Result<u64> {
    let of = |mount: &str| std::fs::read_to_string(format!("{mount}/events/{name}/id"));
    let text = match MOUNTS.iter().find_map(|mount| of(mount).ok()) {
        Some(text) => text,
        None => {
            let ours = mount_for_us()?;
            of(&path(&ours))?
        }
    };
    text.trim().parse().map_err(io::Error::other)
}

/// A private tracefs mount, which ends with its descriptor.
fn mount_for_us() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// A path to the mount that only this process can use.
fn path(mount: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", mount.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_for_us_has_no_path() {
        helenus_needs::need!(helenus_needs::root());
        let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap();
        let before = mounts();
        let ours = mount_for_us().unwrap();
        let of = |name: &str| std::fs::read_to_string(format!("{}/events/sched/{name}/id", path(&ours)));
        assert!(of("sched_switch").unwrap().trim().parse::<u64>().unwrap() > 0);
        assert_eq!(mounts(), before);
        let unknown = of("no_such_thing").unwrap_err();
        assert_eq!(unknown.kind(), io::ErrorKind::NotFound);
    }
}
