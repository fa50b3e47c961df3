//! Whether eBPF can be used, and if not, what would make it usable.

use super::libelf;
use std::path::Path;

/// The kernel's type information (BTF), which the programs need to find fields.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// The inode number of the initial PID namespace, the same on every Linux.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Why a source that needs kernel permissions or features is not available, or only partly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {way_out}")]
pub struct Unavailable {
    pub reason: String,
    /// The one command or change that would make it work.
    pub way_out: String,
}

impl Unavailable {
    pub(crate) fn new(reason: impl Into<String>, way_out: &str) -> Unavailable {
        Unavailable { reason: reason.into(), way_out: way_out.to_string() }
    }

    pub(crate) fn load(error: &dyn std::fmt::Display, log: &str) -> Unavailable {
        // The verifier's log can be thousands of lines; libbpf's first and last messages are enough.
        let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Unavailable::new(
            format!("the kernel refused the programs: {error} {last}"),
            "Linux 5.15 or newer with CONFIG_DEBUG_INFO_BTF and no lockdown is needed",
        )
    }
}

/// Checks the requirements of the programs, the cheapest first.
pub(crate) fn require() -> Result<(), Unavailable> {
    let capabilities = effective_capabilities();
    let has = |capability: u32| capabilities & (1 << capability) != 0;
    let may = has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON));
    if !may {
        return Err(Unavailable::new(
            "eBPF needs root, or CAP_BPF and CAP_PERFMON",
            "run it with sudo, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep $(which helenus)",
        ));
    }
    if !Path::new(BTF).exists() {
        return Err(Unavailable::new(
            format!("this kernel does not describe its types: there is no {BTF}"),
            "run a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build them since about 2021",
        ));
    }
    if !libelf::is_here() {
        return Err(Unavailable::new(
            "there is no libelf here, with which the programs are read",
            "apt-get install libelf1, or dnf install elfutils-libelf",
        ));
    }
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if !namespace.as_os_str().is_empty() && namespace != Path::new(FIRST_PID_NAMESPACE) {
        return Err(Unavailable::new(
            "this is a PID namespace of its own, in which processes have other numbers than the kernel's programs see",
            "run helenus on the host, or the container with --pid=host",
        ));
    }
    Ok(())
}

/// The effective capabilities of this thread; 0 if /proc does not show them.
fn effective_capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
