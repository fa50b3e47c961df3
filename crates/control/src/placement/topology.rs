//! The CPUs of a machine and their shared caches, from /sys/devices/system.

use super::CpuSet;
use serde::Serialize;
use std::io;
use std::path::Path;

const SYSTEM: &str = "/sys/devices/system";

/// The CPUs of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Topology {
    pub online: CpuSet,
    /// For each last-level cache, the CPUs that share it.
    pub caches: Vec<CpuSet>,
    /// The CPUs of each NUMA node that has any.
    pub nodes: Vec<CpuSet>,
}

impl Topology {
    pub fn of_machine() -> io::Result<Topology> {
        Topology::read(Path::new(SYSTEM))
    }

    fn read(system: &Path) -> io::Result<Topology> {
        let online = list(&system.join("cpu/online"))?;
        let mut caches: Vec<CpuSet> =
            online.iter().filter_map(|cpu| last_level(&system.join(format!("cpu/cpu{cpu}/cache")))).collect();
        caches.sort();
        caches.dedup();
        let with_cpus = list(&system.join("node/has_cpu")).unwrap_or_default();
        let nodes = with_cpus.iter().filter_map(|node| list(&system.join(format!("node/node{node}/cpulist"))).ok());
        Ok(Topology { nodes: nodes.collect(), online, caches })
    }

    /// The parts of the machine within which threads share a cache: one for each last-level cache or, if all CPUs share
    /// one, one for each NUMA node. CPUs outside of `allowed` are left out.
    pub(super) fn domains(&self, allowed: &CpuSet) -> Vec<CpuSet> {
        let within = |parts: &[CpuSet]| -> Vec<CpuSet> {
            parts.iter().map(|part| part.and(allowed)).filter(|part| !part.is_empty()).collect()
        };
        let caches = within(&self.caches);
        if caches.len() > 1 { caches } else { within(&self.nodes) }
    }
}

/// The CPUs that share the last-level cache with this one. Instruction caches do not count.
fn last_level(caches: &Path) -> Option<CpuSet> {
    let level = |index: &Path| -> Option<u32> {
        let kind = std::fs::read_to_string(index.join("type")).ok()?;
        let level = std::fs::read_to_string(index.join("level")).ok()?.trim().parse().ok()?;
        (kind.trim() != "Instruction").then_some(level)
    };
    let indexes = std::fs::read_dir(caches).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let (_, last) = indexes.filter_map(|index| Some((level(&index)?, index))).max_by_key(|(level, _)| *level)?;
    list(&last.join("shared_cpu_list")).ok()
}

pub(super) fn list(path: &Path) -> io::Result<CpuSet> {
    std::fs::read_to_string(path)?.parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn caches_and_nodes_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let system = folder.path();
        write(&system.join("cpu/online"), "0-3\n");
        for cpu in 0..4 {
            let index = |number: u32| system.join(format!("cpu/cpu{cpu}/cache/index{number}"));
            for (number, level, kind, shared) in [
                (0, "1", "Data", cpu.to_string()),
                (1, "1", "Instruction", cpu.to_string()),
                (3, "3", "Unified", if cpu < 2 { "0-1".to_string() } else { "2-3".to_string() }),
            ] {
                write(&index(number).join("level"), level);
                write(&index(number).join("type"), kind);
                write(&index(number).join("shared_cpu_list"), &shared);
            }
        }
        write(&system.join("node/has_cpu"), "0\n");
        write(&system.join("node/node0/cpulist"), "0-3\n");
        let topology = Topology::read(system).unwrap();
        assert_eq!(
            topology,
            Topology { online: set("0-3"), caches: vec![set("0-1"), set("2-3")], nodes: vec![set("0-3")] }
        );
        assert_eq!(topology.domains(&set("1-3")), [set("1"), set("2-3")]);
        assert_eq!(topology.domains(&set("2-3")), [set("2-3")]);
    }

    #[test]
    fn this_machine_has_cpus_and_each_has_one_last_level_cache_at_most() {
        let topology = Topology::of_machine().unwrap();
        assert!(!topology.online.is_empty());
        let cached: usize = topology.caches.iter().map(CpuSet::len).sum();
        assert!(cached <= topology.online.len() && topology.caches.iter().all(|cache| !cache.is_empty()));
    }
}
