//! Control groups: where they are, and how much memory one leaves to a process.

use crate::foreign::read_proc;
use std::path::{Path, PathBuf};

/// Larger limits mean no limit: version 1 has the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Where a controller's hierarchy is mounted, and the path of the process's group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    mount: PathBuf,
    group: String,
}

/// The memory that a control group still has for its processes, without what the kernel takes from the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// The group's path in /proc/PID/cgroup.
    pub group: String,
    /// The file with the limit, such as `memory.max`.
    pub limit: &'static str,
    pub limit_bytes: u64,
    pub left_bytes: u64,
    /// Whether the kernel kills a process above the limit. Otherwise it slows the processes down.
    pub kills: bool,
}

/// The names of the files in a version of control groups.
struct Names {
    /// The limits, and whether the kernel kills above them.
    limits: &'static [(&'static str, bool)],
    used: &'static str,
    /// The part of it that the kernel takes back when memory is short, in `memory.stat`.
    reclaimable: &'static [&'static str],
}

const NAMES: [Names; 2] = [
    Names {
        limits: &[("memory.max", true), ("memory.high", false)],
        used: "memory.current",
        reclaimable: &["active_file", "inactive_file", "slab_reclaimable"],
    },
    Names {
        limits: &[("memory.limit_in_bytes", true)],
        used: "memory.usage_in_bytes",
        reclaimable: &["total_active_file", "total_inactive_file"],
    },
];

impl Headroom {
    /// The least of a process's group and all groups above it; None without a limit, or if the groups can't be read.
    #[must_use]
    pub fn of(pid: i32) -> Option<Headroom> {
        let groups = read_proc(format!("/proc/{pid}/cgroup")).ok()?;
        Headroom::read(&groups, &read_proc("/proc/self/mountinfo").ok()?)
    }

    fn read(groups: &str, mounts: &str) -> Option<Headroom> {
        let hierarchies = hierarchies("memory", groups, mounts);
        let all = hierarchies.iter().flat_map(Hierarchy::upwards);
        let of_all = all.flat_map(|(folder, group)| Headroom::of_group(&folder, &group));
        // A limit above which processes are killed comes before one that slows them down.
        of_all.min_by_key(|headroom| (headroom.left_bytes, !headroom.kills))
    }

    fn of_group(folder: &Path, group: &str) -> Vec<Headroom> {
        let read = |name: &str| read_proc(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let mut found = Vec::new();
        for Names { limits, used, reclaimable } in NAMES {
            let Some(used_bytes) = number(used) else { continue };
            let stat = read("memory.stat").unwrap_or_default();
            let of_stat = |name: &&str| {
                let value = |line: &str| line.strip_prefix(*name)?.strip_prefix(' ')?.trim().parse::<u64>().ok();
                stat.lines().find_map(value).unwrap_or(0)
            };
            let kept_bytes = used_bytes.saturating_sub(reclaimable.iter().map(of_stat).fold(0, u64::saturating_add));
            for (limit, kills) in limits {
                if let Some(limit_bytes) = number(limit).filter(|bytes| *bytes < NO_LIMIT_BYTES) {
                    let left_bytes = limit_bytes.saturating_sub(kept_bytes);
                    found.push(Headroom { group: group.to_string(), limit, limit_bytes, left_bytes, kills: *kills });
                }
            }
        }
        found
    }
}

impl Hierarchy {
    /// The group's folder, followed by its parents.
    pub fn upwards(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let groups = Path::new(&self.group).ancestors();
        groups.map(|group| {
            let below = group.strip_prefix("/").unwrap_or(group);
            (self.mount.join(below), group.display().to_string())
        })
    }
}

/// The hierarchies that may have a controller, version 1 first; a controller is in only one of them. The texts are those of
/// /proc/PID/cgroup and /proc/self/mountinfo.
pub fn hierarchies(controller: &str, groups: &str, mounts: &str) -> Vec<Hierarchy> {
    let group = |controllers: &dyn Fn(&str) -> bool| {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (names, group) = (parts.next()?, parts.next()?);
            controllers(names).then(|| group.to_string())
        })
    };
    // The fields of mountinfo: number, parent, device, root, mount point, options, optional fields, a dash, type,
    // source, super options.
    let mount = |kind: &str, option: Option<&str>| {
        mounts.lines().find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let mut after = after.split(' ');
            let (of_kind, options) = (after.next()?, after.nth(1).unwrap_or_default());
            let fits = of_kind == kind && option.is_none_or(|option| options.split(',').any(|known| known == option));
            before.split(' ').nth(4).filter(|_| fits).map(PathBuf::from)
        })
    };
    let of = |mount: Option<PathBuf>, group: Option<String>| Some(Hierarchy { mount: mount?, group: group? });
    let first = of(mount("cgroup", Some(controller)), group(&|names| names.split(',').any(|name| name == controller)));
    let second = of(mount("cgroup2", None), group(&str::is_empty));
    first.into_iter().chain(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(place: &Path, file: &str, text: &str) {
        let path = place.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_group_with_the_least_memory_left_counts_without_its_page_cache() {
        let place = tempfile::tempdir().unwrap();
        let set = |file: &str, text: &str| set(place.path(), file, text);
        let mounts = format!("29 23 0:26 / {} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", place.path().display());
        let read = || Headroom::read("0::/pods/one\n", &mounts);
        set("pods/one/memory.max", "max\n");
        set("pods/one/memory.high", "max\n");
        set("pods/one/memory.current", "900\n");
        assert_eq!(read(), None, "without a limit");
        set("pods/memory.max", "1000\n");
        set("pods/memory.current", "950\n");
        set("pods/memory.stat", "anon 300\nfile 620\nactive_file 400\ninactive_file 200\nslab_reclaimable 20\n");
        let of_pods = Headroom {
            group: "/pods".to_string(),
            limit: "memory.max",
            limit_bytes: 1000,
            left_bytes: 670,
            kills: true,
        };
        assert_eq!(read(), Some(of_pods.clone()));
        set("pods/one/memory.high", "910\n");
        let high = read().unwrap();
        assert_eq!((high.limit, high.left_bytes, high.kills), ("memory.high", 10, false));
        set("pods/memory.current", "9000\n");
        assert_eq!(read(), Some(Headroom { left_bytes: 0, ..of_pods }), "it may be above its limit for a moment");
    }

    #[test]
    fn version_1_is_read_and_its_largest_number_means_no_limit() {
        let place = tempfile::tempdir().unwrap();
        let set = |file: &str, text: &str| set(place.path(), file, text);
        let mounts = format!("30 29 0:27 / {} rw - cgroup cgroup rw,memory\n", place.path().display());
        set("box/memory.limit_in_bytes", "1000\n");
        set("box/memory.usage_in_bytes", "900\n");
        set("box/memory.stat", "inactive_file 1\ntotal_inactive_file 50\ntotal_active_file 30\n");
        set("memory.limit_in_bytes", "9223372036854771712\n");
        set("memory.usage_in_bytes", "9000\n");
        let found = Headroom::read("4:memory:/box\n1:cpu:/other\n", &mounts).unwrap();
        assert_eq!((found.group.as_str(), found.limit, found.left_bytes), ("/box", "memory.limit_in_bytes", 180));
        assert_eq!(Headroom::read("1:cpu:/other\n", &mounts), None);
    }
}
