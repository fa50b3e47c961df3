//! A tracepoint by its number in the kernel, for programs that take what it says in the form that the kernel has written down
//! (its format), and not as the kernel's own types, which change.
//!
//! The number stands in tracefs, which many small machines and containers have not mounted. Then we mount one for ourselves:
//! it has no path, nobody else sees it, and it is gone with its descriptor.

use super::Missing;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Of `fsconfig`, in the kernel's include/uapi/linux/mount.h.
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;

/// An event that runs a program each time that the tracepoint `CATEGORY/NAME` is passed, on every CPU.
pub(crate) fn tracepoint(name: &str) -> Result<Counter, Missing> {
    let number = number(name).map_err(|error| {
        Missing::new(
            format!("the kernel does not say which tracepoint {name} is: {error}"),
            "run it as root, or once: sudo mount -t tracefs none /sys/kernel/tracing",
        )
    })?;
    // The program is the tracepoint's and not the event's, so that one CPU stands for all.
    let event = Builder::new(Tracepoint::with_id(number))
        .any_pid()
        .one_cpu(0)
        .include_kernel()
        .include_hv()
        .sample_period(1)
        .enabled(true)
        .build();
    event.map_err(|error| {
        Missing::new(
            format!("the kernel gives no event for the tracepoint {name}: {error}"),
            "run it as root, with CONFIG_PERF_EVENTS and a seccomp profile that allows perf_event_open",
        )
    })
}

fn number(name: &str) -> io::Result<u64> {
    let path = format!("events/{name}/id");
    let read = MOUNTS.iter().find_map(|mount| std::fs::read_to_string(format!("{mount}/{path}")).ok());
    let text = match read {
        Some(text) => text,
        None => read_at(&mount_for_us(c"tracefs")?, &path)?,
    };
    text.trim().parse().map_err(io::Error::other)
}

/// A file system that has no path; it goes with the descriptor.
fn mount_for_us(kind: &CStr) -> io::Result<OwnedFd> {
    const CLOEXEC: libc::c_uint = 1;
    // SAFETY: the name is there during the call; what is returned is ours alone.
    let context = unsafe { owned(libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC))? };
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: this command takes no key and no value.
    let created = unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, none, none, 0) };
    if created < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fsmount takes no pointers; what is returned is ours alone.
    unsafe { owned(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, 0)) }
}

fn read_at(folder: &OwnedFd, path: &str) -> io::Result<String> {
    let path = std::ffi::CString::new(path)?;
    // SAFETY: the path is there during the call; what is returned is ours alone.
    let file = unsafe {
        let opened = libc::openat(folder.as_raw_fd(), path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        File::from(owned(opened.into())?)
    };
    let mut text = String::new();
    file.take(64).read_to_string(&mut text)?;
    Ok(text)
}

/// # Safety
///
/// What was returned must be a descriptor that nobody else has, or less than 0.
unsafe fn owned(returned: libc::c_long) -> io::Result<OwnedFd> {
    match RawFd::try_from(returned) {
        // SAFETY: as the caller promises.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs root.
    #[test]
    fn what_is_mounted_for_us_has_no_path() {
        let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap();
        let before = mounts();
        let mounted = mount_for_us(c"tracefs").unwrap();
        let number = read_at(&mounted, "events/sched/sched_switch/id").unwrap();
        assert!(number.trim().parse::<u64>().unwrap() > 0);
        assert_eq!(mounts(), before);
        let unknown = read_at(&mounted, "events/sched/no_such_thing/id").unwrap_err();
        assert_eq!(unknown.kind(), io::ErrorKind::NotFound);
    }
}
