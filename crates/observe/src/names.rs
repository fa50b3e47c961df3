//! Names of threads as the JVM reports them, and the group that each thread belongs to.

use helenus_cassandra::threads::{KERNEL_KEEPS, thread_group};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// The most names that are kept; each takes a few hundred bytes with its group.
const NAMES_KEPT: usize = 1 << 16;

/// Full Java names by kernel thread id, as the agent reports them. The kernel itself keeps only 15 characters.
#[derive(Debug, Clone, Default)]
pub struct ThreadNames(Arc<RwLock<Known>>);

#[derive(Debug, Default)]
struct Known {
    names: HashMap<i64, String>,
    groups: BTreeSet<String>,
}

impl ThreadNames {
    pub fn set(&self, tid: i64, name: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // A node has some hundreds to some thousands of threads at a time. If a node reports ever new names, all are
        // forgotten.
        if known.names.len() >= NAMES_KEPT {
            *known = Known::default();
        }
        known.groups.insert(thread_group(name).to_string());
        known.names.insert(tid, name.to_string());
    }

    /// The full name of a thread whose kernel name is `short`. None if it is not known, or if the thread was renamed
    /// since: Cassandra's workers do so within milliseconds.
    pub fn full(&self, tid: i64, short: &str) -> Option<String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.names.get(&tid).filter(|full| !short.is_empty() && full.starts_with(short)).cloned()
    }

    /// The group of a thread by the kernel's name of at most 15 bytes: if the name was cut off, the only known group
    /// that begins with it.
    pub fn group(&self, short: &str) -> String {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let cut = short.len() == KERNEL_KEEPS;
        let mut longer = known.groups.range(short.to_string()..).take_while(|group| cut && group.starts_with(short));
        match (longer.next(), longer.next()) {
            (Some(group), None) => group.clone(),
            _ => thread_group(short).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_take_no_memory_without_end() {
        let names = ThreadNames::default();
        for tid in 0..3 * NAMES_KEPT as i64 {
            names.set(tid, &format!("made-up-{tid}-name"));
        }
        let known = names.0.read().unwrap();
        assert!(known.names.len() <= NAMES_KEPT && known.groups.len() <= NAMES_KEPT);
        drop(known);
        let last = 3 * NAMES_KEPT as i64 - 1;
        assert!(names.full(last, "made-up").is_some(), "the newest are known");
    }

    #[test]
    fn a_name_that_was_cut_off_finds_its_group() {
        let names = ThreadNames::default();
        names.set(7, "Native-Transport-Requests-12");
        names.set(8, "MutationStage-3");
        assert_eq!(names.full(7, "Native-Transpor").as_deref(), Some("Native-Transport-Requests-12"));
        assert_eq!(names.full(7, "MutationStage-1"), None, "it has another name by now");
        assert_eq!(names.group("Native-Transpor"), "Native-Transport-Requests");
        assert_eq!(names.group("MutationStage-9"), "MutationStage");
        names.set(9, "Native-Transport-Auth-Requests-1");
        assert_eq!(names.group("Native-Transpor"), "Native-Transpor", "it may be either");
    }
}
