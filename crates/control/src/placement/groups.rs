//! Thread groups by name, and the CPUs of each.

use super::{CpuSet, Error, Thread};
use std::collections::BTreeSet;
use std::str::FromStr;

/// Groups that are suggested when a name matches none.
const NEAREST: usize = 3;

/// Some thread groups, written `NAME`, `NAME=CPUS`, `NAME,NAME=CPUS` or `NAME=rest`; `*` is every thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub names: Vec<String>,
    pub cpus: Option<Cpus>,
}

/// The CPUs of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    These(CpuSet),
    /// The CPUs that no other group has.
    Rest,
}

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Group, String> {
        let (names, cpus) = match text.rsplit_once('=') {
            Some((names, cpus)) => (names, Some(cpus.parse()?)),
            None => (text, None),
        };
        let names: Vec<String> = names.split(',').map(|name| name.trim().to_string()).collect();
        if names.iter().any(String::is_empty) {
            return Err(format!("`{text}` names no group; write NAME or NAME=CPUS"));
        }
        Ok(Group { names, cpus })
    }
}

impl FromStr for Cpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Cpus, String> {
        if text.trim() == "rest" {
            return Ok(Cpus::Rest);
        }
        let cpus: CpuSet = text.parse().map_err(|error: super::cpus::NoCpuList| error.to_string())?;
        if cpus.is_empty() { Err("a group needs a CPU, or `rest`".to_string()) } else { Ok(Cpus::These(cpus)) }
    }
}

impl Group {
    pub(super) fn has(&self, thread: &Thread) -> bool {
        self.names.iter().any(|name| thread.is_in(name))
    }
}

/// Every name must be that of a group that has a thread.
pub(super) fn check_names(pid: i32, groups: &[Group], threads: &[Thread]) -> Result<(), Error> {
    for name in groups.iter().flat_map(|group| &group.names) {
        if !threads.iter().any(|thread| thread.is_in(name)) {
            return Err(Error::NoGroup { pid, name: name.clone(), nearest: nearest(name, threads) });
        }
    }
    Ok(())
}

fn nearest(name: &str, threads: &[Thread]) -> String {
    let groups: BTreeSet<&str> = threads.iter().map(Thread::group).filter(|group| !group.is_empty()).collect();
    let lower = name.to_lowercase();
    let mut likely: Vec<(f64, &str)> =
        groups.iter().map(|group| (strsim::jaro_winkler(&lower, &group.to_lowercase()), *group)).collect();
    likely.sort_by(|left, right| right.0.total_cmp(&left.0));
    let near: Vec<&str> = likely.iter().take(NEAREST).map(|(_, group)| *group).collect();
    format!("the nearest are {}", near.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read() {
        let read = |text: &str| text.parse::<Group>().unwrap();
        let group = read("Native-Transport-Requests, ReadStage=0-1");
        assert_eq!(group.names, ["Native-Transport-Requests", "ReadStage"]);
        assert_eq!(group.cpus, Some(Cpus::These("0-1".parse().unwrap())));
        assert_eq!(read("GC Thread").cpus, None);
        assert_eq!(read("*=rest").cpus, Some(Cpus::Rest));
        for wrong in ["", "=1", "a=", "a=x", "a,,b=1"] {
            assert!(wrong.parse::<Group>().is_err(), "{wrong}");
        }
    }
}
