//! CPU limits of a process's control group: its cpuset, and its quota.

use super::CpuSet;
use super::topology::list;
use helenus_cassandra::cgroup::{Hierarchy, hierarchies};
use serde::Serialize;
use std::io;
use std::path::Path;

/// The CPU limits of a process's control groups. None if there are none, or they can't be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Limits {
    pub cpuset: Option<Cpuset>,
    pub quota: Option<Quota>,
}

/// The CPUs of a control group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cpuset {
    /// The group's path in /proc/PID/cgroup.
    pub group: String,
    pub cpus: CpuSet,
}

/// The CPU quota of a control group: if it is exhausted, the group's threads are throttled until the period ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quota {
    pub group: String,
    /// The quota divided by the period, in CPUs.
    pub cpus: f64,
}

impl Limits {
    pub fn of(pid: i32) -> io::Result<Limits> {
        let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
        Ok(Limits::read(&groups, &mounts))
    }

    fn read(groups: &str, mounts: &str) -> Limits {
        let hierarchies = |controller| hierarchies(controller, groups, mounts).into_iter();
        let cpuset = |hierarchy: &Hierarchy| {
            hierarchy.upwards().find_map(|(folder, group)| {
                // The names of version 2 and of version 1.
                let names = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
                let cpus = names.iter().find_map(|name| list(&folder.join(name)).ok())?;
                (!cpus.is_empty()).then_some(Cpuset { group, cpus })
            })
        };
        // A group is also limited by its parent groups.
        let quotas = hierarchies("cpu").flat_map(|hierarchy| {
            let found = hierarchy.upwards().filter_map(|(folder, group)| Some(Quota { group, cpus: quota(&folder)? }));
            found.collect::<Vec<_>>()
        });
        Limits {
            cpuset: hierarchies("cpuset").find_map(|hierarchy| cpuset(&hierarchy)),
            quota: quotas.min_by(|left, right| left.cpus.total_cmp(&right.cpus)),
        }
    }
}

fn quota(folder: &Path) -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let (quota_us, period_us) = match read("cpu.max") {
        Some(text) => {
            let (quota, period) = text.trim().split_once(' ')?;
            (number(quota)?, number(period)?)
        }
        None => (number(&read("cpu.cfs_quota_us")?)?, number(&read("cpu.cfs_period_us")?)?),
    };
    // In version 1, -1 means no quota.
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn version_2_is_read_from_the_group_upwards() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("pods/one");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        std::fs::write(folder.path().join("pods/cpu.max"), "150000 100000\n").unwrap();
        std::fs::write(folder.path().join("pods/cpuset.cpus.effective"), "2-5\n").unwrap();
        let mounts = format!("29 23 0:26 / {} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", folder.path().display());
        let limits = Limits::read("0::/pods/one\n", &mounts);
        let cpuset = Cpuset { group: "/pods".into(), cpus: "2-5".parse().unwrap() };
        assert_eq!(limits, Limits { cpuset: Some(cpuset), quota: Some(Quota { group: "/pods".into(), cpus: 1.5 }) });
    }

    #[test]
    fn version_1_is_read_where_it_has_the_controller() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["cpuset/box", "cpu/box", "unified"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("cpuset/box/cpuset.effective_cpus"), "1\n").unwrap();
        std::fs::write(folder.path().join("cpu/box/cpu.cfs_quota_us"), "-1\n").unwrap();
        std::fs::write(folder.path().join("cpu/box/cpu.cfs_period_us"), "100000\n").unwrap();
        let at = folder.path().display();
        let mounts = format!(
            "30 29 0:27 / {at}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n31 29 0:28 / {at}/cpuset rw - cgroup cgroup rw,cpuset\n32 29 0:29 / {at}/unified rw - cgroup2 cgroup2 rw\n"
        );
        let limits = Limits::read("3:cpuset:/box\n1:cpu,cpuacct:/box\n0::/\n", &mounts);
        let cpuset = Cpuset { group: "/box".into(), cpus: "1".parse().unwrap() };
        assert_eq!(limits, Limits { cpuset: Some(cpuset), quota: None });
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(groups: String, mounts in "([0-9a-z/ ,:-]{0,60}\n){0,4}") {
            let _ = Limits::read(&groups, &mounts);
        }
    }
}
