//! The events that this user can count on this machine; if some are missing, why, and how to get them.

use super::thread::{Group, HARDWARE, SOFTWARE};
use crate::Unavailable;
use perf_event::events::Software;
use std::io;

const THIS_THREAD: i32 = 0;
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// The events that can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Countable {
    /// The kernel allows this user to count user mode only.
    pub user_only: bool,
    /// Whether cycles, instructions, cache references and cache misses can be counted.
    pub(super) counters: [bool; HARDWARE.len()],
    /// The events that are not counted for lack of a PMU or of a permission, and why; None when all are counted.
    pub without: Option<Unavailable>,
}

impl Countable {
    /// Whether the CPUs count anything.
    pub fn has_pmu(&self) -> bool {
        self.counters.contains(&true)
    }

    /// The software events to count. Context switches and migrations happen in the kernel, so they can't be counted in
    /// user mode only.
    pub(super) fn software(&self) -> [Option<Software>; SOFTWARE.len()] {
        let in_kernel = [Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS];
        SOFTWARE.map(|event| Some(event).filter(|event| !(self.user_only && in_kernel.contains(event))))
    }
}

/// Finds out what can be counted, by counting the calling thread. Fails if nothing can be counted.
pub fn countable() -> Result<Countable, Unavailable> {
    let clock = [Some(Software::TASK_CLOCK), None, None, None];
    let user_only = match Group::open(clock, THIS_THREAD, false) {
        Ok(_) => false,
        Err(error) if is_refused(&error) => match Group::open(clock, THIS_THREAD, true) {
            Ok(_) => true,
            Err(error) => return Err(nothing(&error)),
        },
        Err(error) => return Err(nothing(&error)),
    };
    let opened = Group::open(HARDWARE.map(Some), THIS_THREAD, user_only);
    let counters = opened.as_ref().map_or([false; HARDWARE.len()], Group::has);
    let without = match opened {
        Err(error) => Some(no_pmu(&error, in_virtual_machine())),
        Ok(_) if counters.contains(&false) => {
            let names = ["cycles", "instructions", "cache references", "cache misses"];
            let absent: Vec<&str> = names.iter().zip(counters).filter(|(_, has)| !has).map(|(name, _)| *name).collect();
            Some(Unavailable::new(
                format!("the PMU of this machine has no counter for {} beside the others", absent.join(", ")),
                "sysctl kernel.nmi_watchdog=0, which keeps one; a virtual machine has those that its host gives it",
            ))
        }
        Ok(_) if user_only => Some(Unavailable::new(
            format!("user mode alone may be counted ({PARANOID} is {})", paranoid()),
            "run it as root, or once: sudo sysctl kernel.perf_event_paranoid=1",
        )),
        Ok(_) => None,
    };
    Ok(Countable { user_only, counters, without })
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

fn nothing(error: &io::Error) -> Unavailable {
    if is_refused(error) {
        Unavailable::new(
            format!("the kernel lets this user count nothing ({PARANOID} is {}): {error}", paranoid()),
            "run it as root, or once: sudo sysctl kernel.perf_event_paranoid=1; in a container allow perf_event_open (--cap-add PERFMON)",
        )
    } else {
        Unavailable::new(
            format!("the kernel has no counters: {error}"),
            "run a kernel with CONFIG_PERF_EVENTS=y, as distributions build them",
        )
    }
}

/// Why hardware counters don't work, by the kernel's error for cycles.
fn no_pmu(error: &io::Error, virtual_machine: bool) -> Unavailable {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) if virtual_machine => Unavailable::new(
            "this machine has no PMU: it is a virtual machine, and its host gives it none",
            "start it with one (QEMU and KVM: -cpu host,pmu=on; VMware: vpmc.enable=TRUE; a cloud: a metal instance)",
        ),
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) => Unavailable::new(
            "this machine has no PMU that its kernel knows",
            "look for what the kernel says of it: dmesg | grep -i pmu; it may be switched off in the firmware",
        ),
        _ => Unavailable::new(
            format!("the kernel refuses the counters of the PMU: {error}"),
            "look for who else has them: ps -C perf; and what the kernel says: dmesg | grep -i pmu",
        ),
    }
}

fn paranoid() -> String {
    std::fs::read_to_string(PARANOID).map_or_else(|_| "not readable".to_string(), |level| level.trim().to_string())
}

/// Whether the CPUs report a hypervisor.
fn in_virtual_machine() -> bool {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = facts.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    flags.split_ascii_whitespace().any(|flag| flag == "hypervisor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_its_reason_and_a_way_out() {
        let error = |errno, virtual_machine| no_pmu(&io::Error::from_raw_os_error(errno), virtual_machine).to_string();
        assert!(error(libc::ENOENT, true).starts_with("this machine has no PMU: it is a virtual machine"));
        assert!(error(libc::ENOENT, true).contains("pmu=on"));
        assert!(error(libc::EOPNOTSUPP, false).contains("dmesg"));
        assert!(error(libc::EBUSY, false).contains("refuses the counters of the PMU"));
        assert!(nothing(&io::Error::from_raw_os_error(libc::EPERM)).way_out.contains("perf_event_paranoid=1"));
        assert!(nothing(&io::Error::from_raw_os_error(libc::ENOSYS)).way_out.contains("CONFIG_PERF_EVENTS"));
    }

    /// Compare the result with the kernel's list of PMUs.
    #[test]
    fn whether_there_is_a_pmu_is_what_the_kernel_registered() {
        let Ok(countable) = countable() else { panic!("this test counts in a real kernel") };
        let registered = ["cpu", "cpu_core", "armv8_pmuv3_0"]
            .iter()
            .any(|name| std::path::Path::new("/sys/bus/event_source/devices").join(name).exists());
        assert_eq!(countable.has_pmu(), registered, "{countable:?}");
        assert_eq!(countable.without.is_none(), countable.counters == [true; 4] && !countable.user_only);
    }

    #[test]
    fn what_happens_in_the_kernel_is_not_counted_in_user_mode() {
        let countable = |user_only| Countable { user_only, counters: [false; 4], without: None };
        assert_eq!(countable(false).software(), SOFTWARE.map(Some));
        assert_eq!(countable(true).software(), [Some(Software::TASK_CLOCK), Some(Software::PAGE_FAULTS), None, None]);
    }
}
