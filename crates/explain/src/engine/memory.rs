//! The memory that this process may use, checked before it is allocated, because a control group that exceeds its limit
//! is killed without a message.

use crate::Error;
use std::path::Path;

/// Memory for queries, whatever the size of the recording.
const LEAST_BYTES: u64 = 96 << 20;
/// Memory for each explained request: its row, and its share of the results.
const REQUEST_BYTES: u64 = 72;

/// Memory that this process may use, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) limit_bytes: u64,
    /// The part of the limit that is not in use.
    pub(super) left_bytes: u64,
    /// Whether this process has a limit of its own.
    pub(super) is_limited: bool,
}

/// Memory in bytes that this process and its control group may still take.
pub fn memory_left_bytes() -> u64 {
    Memory::of_this_process().left_bytes
}

impl Memory {
    pub(super) fn of_this_process() -> Memory {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let groups = group_limits(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
        let own = read("/proc/self/limits");
        let (address_space, data) = (limit(&own, "Max address space"), limit(&own, "Max data size"));
        let available = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
        let status = read("/proc/self/status");
        let of = |name| kilobytes(&status, name).unwrap_or(0);
        let by_resident = groups.into_iter().min();
        let left = [
            by_resident.map(|limit| limit.saturating_sub(of("VmRSS:"))),
            address_space.map(|limit| limit.saturating_sub(of("VmSize:"))),
            data.map(|limit| limit.saturating_sub(of("VmData:"))),
            available,
        ];
        let limits = [by_resident, address_space, data, available];
        let least = |bounds: [Option<u64>; 4]| bounds.into_iter().flatten().min().unwrap_or(u64::MAX);
        let is_limited = address_space.is_some() || data.is_some();
        Memory { limit_bytes: least(limits), left_bytes: least(left), is_limited }
    }

    /// Fails if the limit leaves too little memory for this many requests.
    pub(super) fn holds(&self, requests: u64) -> Result<(), Error> {
        let more_bytes = LEAST_BYTES.saturating_add(requests.saturating_mul(REQUEST_BYTES));
        if more_bytes <= self.left_bytes {
            return Ok(());
        }
        let needed_bytes = more_bytes.saturating_add(self.limit_bytes.saturating_sub(self.left_bytes));
        Err(Error::Memory { requests, needed_bytes, limit_bytes: self.limit_bytes })
    }
}

/// Memory limits of a process's control groups and their parents, for cgroup version 1 or 2.
fn group_limits(groups: &str, mount: &Path) -> Vec<u64> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => (mount.to_path_buf(), "memory.max"),
            of if of.split(',').any(|controller| controller == "memory") => {
                (mount.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for group in Path::new(group.trim_start_matches('/')).ancestors() {
            // "max" means no limit.
            let text = std::fs::read_to_string(root.join(group).join(file)).unwrap_or_default();
            limits.extend(text.trim().parse::<u64>());
        }
    }
    limits
}

fn limit(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?;
    value.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_holds() {
        let mount = tempfile::tempdir().unwrap();
        let set = |file: &str, text: &str| {
            let path = mount.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        set("a/b/memory.max", "max\n");
        set("a/memory.max", "200000000\n");
        set("memory/c/memory.limit_in_bytes", "300000000\n");
        let mut limits = group_limits("1:cpu,memory:/c\n0::/a/b\n", mount.path());
        limits.sort_unstable();
        assert_eq!(limits, [200_000_000, 300_000_000]);
        assert!(group_limits("", mount.path()).is_empty());
    }

    #[test]
    fn limits_of_the_process_are_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  1234 unlimited bytes\n";
        assert_eq!(limit(limits, "Max address space"), Some(1234));
        assert_eq!(limit("Max address space  unlimited unlimited bytes\n", "Max address space"), None);
        assert_eq!(kilobytes("VmRSS:\t  2 kB\n", "VmRSS:"), Some(2048));
    }

    #[test]
    fn what_is_needed_is_said_before_it_is_taken() {
        let memory = Memory { limit_bytes: 200 << 20, left_bytes: 150 << 20, is_limited: true };
        memory.holds(10_000).unwrap();
        let error = memory.holds(1_800_000).unwrap_err().to_string();
        assert!(error.contains("1800000 requests takes about 269 MiB") && error.contains("of 200 MiB"), "{error}");
    }
}
