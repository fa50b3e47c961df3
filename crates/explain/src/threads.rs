//! Labels that tell apart threads of the same name.

use std::collections::{HashMap, HashSet};

/// A thread, or a thread group, which has no id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) node: String,
    pub(crate) name: String,
    pub(crate) tid: i64,
}

/// A unique label for each thread: its name, and if several threads share it, the id and the node that tell them apart. It is
/// written as async-profiler does, `[name tid=12]`, and `helenus import` reads it back.
pub(crate) fn labels(threads: &[Thread]) -> Vec<String> {
    let mut sharing: HashMap<&str, HashSet<(&str, i64)>> = HashMap::new();
    for thread in threads {
        sharing.entry(&thread.name).or_default().insert((&thread.node, thread.tid));
    }
    let label = |thread: &Thread| {
        let Thread { node, name, tid } = thread;
        let sharing = &sharing[name.as_str()];
        let has_other_node = sharing.iter().any(|(other, _)| other != node);
        let has_other_tid = sharing.iter().any(|(_, other)| other != tid);
        match (has_other_node, has_other_tid && *tid != 0) {
            (false, false) => name.clone(),
            (true, false) => format!("{name} of {node}"),
            (false, true) => format!("[{name} tid={tid}]"),
            (true, true) => format!("[{name} of {node} tid={tid}]"),
        }
    };
    threads.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        let of = |threads: &[(&str, &str, i64)]| {
            let thread = |(node, name, tid): &(&str, &str, i64)| Thread {
                node: (*node).to_string(),
                name: (*name).to_string(),
                tid: *tid,
            };
            labels(&threads.iter().map(thread).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("a", "main", 1), ("a", "GC", 2)]), ["main", "GC"]);
        assert_eq!(of(&[("a", "java", 1), ("a", "java", 2), ("a", "GC", 3)]), ["[java tid=1]", "[java tid=2]", "GC"]);
        assert_eq!(of(&[("a", "java", 0), ("b", "java", 0)]), ["java of a", "java of b"]);
        assert_eq!(of(&[("a", "java", 1), ("b", "java", 1)]), ["java of a", "java of b"]);
        assert_eq!(of(&[("a", "java", 1), ("b", "java", 2)]), ["[java of a tid=1]", "[java of b tid=2]"]);
    }
}
