//! Names of threads: what the JVM calls them, and the group that each belongs to.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes of a thread's name that the kernel keeps.
const KERNEL_KEEPS: usize = 15;

/// Full Java names by kernel thread id, as the agent tells them. The kernel itself keeps 15 characters.
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
        known.groups.insert(thread_group(name).to_string());
        known.names.insert(tid, name.to_string());
    }

    /// The full name of a thread that the kernel calls `short`. None when it is not known, or was told before the thread
    /// took another name: Cassandra's workers do so within milliseconds.
    pub fn full(&self, tid: i64, short: &str) -> Option<String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.names.get(&tid).filter(|full| !short.is_empty() && full.starts_with(short)).cloned()
    }

    /// The group of a thread of which only the kernel's name is known: where that was cut off, the one group of which it
    /// is the beginning.
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

/// The name of a thread without its number: what remains before a parenthesis, without numbers at its end and what
/// joins them. A name that is nothing else stays whole.
pub fn thread_group(name: &str) -> &str {
    let named = name.split('(').next().unwrap_or(name);
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '#' | '_' | '.' | '/' | '@' | ' ');
    let group = named.trim_end_matches(is_number);
    if group.is_empty() { name } else { group }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn groups_are_names_without_numbers() {
        for (name, group) in [
            ("Native-Transport-Requests-12", "Native-Transport-Requests"),
            ("MutationStage-1", "MutationStage"),
            ("CompactionExecutor:1", "CompactionExecutor"),
            ("PerDiskMemtableFlushWriter_0:3", "PerDiskMemtableFlushWriter"),
            ("epollEventLoopGroup-5-1", "epollEventLoopGroup"),
            ("GC Thread#0", "GC Thread"),
            ("C2 CompilerThread0", "C2 CompilerThread"),
            ("RMI TCP Connection(4)-127.0.0.1", "RMI TCP Connection"),
            ("G1 Main Marker", "G1 Main Marker"),
            ("7", "7"),
            ("", ""),
        ] {
            assert_eq!(thread_group(name), group);
        }
    }
}
