//! The CPUs that a process may use, and what limits them: online CPUs, cpuset, quota, affinity mask.

use super::{CpuSet, Error, Limits, Topology, affinity};
use serde::Serialize;

/// With fewer CPUs than this no strategy can separate threads.
const FEW_CPUS: usize = 2;

/// The CPUs that a process's threads may use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsableCpus {
    pub topology: Topology,
    pub limits: Limits,
    /// The mask of the process, which is that of its first thread.
    pub mask: CpuSet,
    /// The CPUs that are online, in the process's cpuset and in its mask.
    pub allowed: CpuSet,
}

impl UsableCpus {
    pub fn of(pid: i32) -> Result<UsableCpus, Error> {
        let topology = Topology::of_machine().map_err(Error::read("/sys/devices/system/cpu"))?;
        let limits = Limits::of(pid).map_err(Error::of_process(pid, "the control groups"))?;
        let mask = affinity::of(pid).map_err(Error::of_process(pid, "the mask"))?;
        Ok(UsableCpus::new(topology, limits, mask))
    }

    pub(super) fn new(topology: Topology, limits: Limits, mask: CpuSet) -> UsableCpus {
        let mut room = UsableCpus { topology, limits, mask, allowed: CpuSet::default() };
        room.allowed = room.every().and(&room.mask);
        room
    }

    /// All CPUs that the kernel allows the process.
    pub(super) fn every(&self) -> CpuSet {
        let online = &self.topology.online;
        self.limits.cpuset.as_ref().map_or_else(|| online.clone(), |cpuset| cpuset.cpus.and(online))
    }

    /// Whether threads can be placed on these CPUs; the error says what forbids it.
    pub(super) fn check(&self, pid: i32, cpus: &CpuSet) -> Result<(), Error> {
        let online = &self.topology.online;
        let beyond = |limit: &CpuSet| Some(cpus.without(limit)).filter(|beyond| !beyond.is_empty());
        if let Some(cpus) = beyond(online) {
            return Err(Error::Offline { cpus, online: online.clone() });
        }
        if let Some(cpuset) = &self.limits.cpuset
            && let Some(cpus) = beyond(&cpuset.cpus)
        {
            return Err(Error::OutsideCpuset { cpus, group: cpuset.group.clone(), cpuset: cpuset.cpus.clone() });
        }
        match beyond(&self.mask) {
            Some(cpus) => Err(Error::OutsideMask { pid, cpus, mask: self.mask.clone() }),
            None => Ok(()),
        }
    }

    /// Remarks for the user, in sentences.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let (allowed, online) = (&self.allowed, &self.topology.online);
        if let Some(cpuset) = self.limits.cpuset.as_ref().filter(|cpuset| !online.is_subset(&cpuset.cpus)) {
            remarks.push(format!("the control group {} has the CPUs {} of {online}", cpuset.group, cpuset.cpus));
        }
        if !self.every().is_subset(&self.mask) {
            remarks.push(format!("the process was started on the CPUs {} of {}", self.mask, self.every()));
        }
        if let Some(quota) = &self.limits.quota {
            remarks.push(format!(
                "the control group {} may use {:.2} CPUs' time: beyond it all its threads stand, wherever they are placed",
                quota.group, quota.cpus
            ));
        }
        if allowed.len() <= FEW_CPUS {
            remarks.push(format!(
                "with {} CPU{} nothing can be concluded about larger machines: what is kept off one CPU crowds the other, \
                 and the kernel, the load and the interrupts are on the same ones",
                allowed.len(),
                if allowed.len() == 1 { "" } else { "s" }
            ));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::{Cpuset, Quota};
    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_allowed_is_within_all_limits_and_each_is_named() {
        let topology = Topology { online: set("0-7"), ..Topology::default() };
        let cpuset = Some(Cpuset { group: "/pods/one".into(), cpus: set("2-9") });
        let quota = Some(Quota { group: "/pods".into(), cpus: 1.5 });
        let room = UsableCpus::new(topology, Limits { cpuset, quota }, set("0-6"));
        assert_eq!(room.allowed, set("2-6"));
        let error = |cpus: &str| room.check(41, &set(cpus)).unwrap_err().to_string();
        assert!(error("4,8").contains("CPUs 8 are offline") && error("4,8").contains("0-7"));
        assert!(error("1-2").contains("CPUs 1 are outside of the cpuset of the control group /pods/one"));
        assert!(error("7").contains("process 41 was started on"));
        room.check(41, &set("2-6")).unwrap();
        let remarks = room.remarks().join("\n");
        assert!(remarks.contains("/pods/one has the CPUs 2-9 of 0-7"), "{remarks}");
        assert!(remarks.contains("1.50 CPUs' time") && !remarks.contains("larger machines"), "{remarks}");
    }
}
