//! Advice about options of the JVM that make a node slow.

use super::facts::Node;
use super::rule::{Check, Checked, Found, Rule};
use super::thresholds;
use crate::severity::Severity;
use crate::{query, text};
use serde_json::json;

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// HotSpot updates its counters at the end of a pause, in a file that is mapped into memory (-XX:+UsePerfData). The kernel makes
/// the thread wait while it writes that page to a disk. conf/jvm-server.options has -XX:+PerfDisableSharedMem (4.0 to 5.0).
pub(super) const PERF_DATA: Rule = Rule {
    name: "perf-data",
    looks_at: "the JVM's file of counters on a disk, and pauses in which the JVM used next to no CPU while tasks waited for a disk",
    thresholds: &[],
    source: "Evan Jones, The Four Month Bug: JVM statistics cause garbage collection pauses, 2015; Cassandra's jvm-server.options",
    query: query::PAUSES,
    check: Check::OfNode(perf_data),
};

fn perf_data(node: &Node) -> Checked {
    let Some(file_system) = node.setting(&["jvm.perf_data_on"]) else {
        // A JVM whose maps could be read, and had none.
        node.need_setting(&["process.maps"])?;
        return Ok(None);
    };
    if IN_MEMORY.contains(&file_system) {
        return Ok(None);
    }
    let idle = node.costs.idle_pauses;
    let cost = match idle.pauses {
        0 => String::new(),
        pauses => format!(
            ", and in {} ({} in all, {} the longest) it used next to no CPU while tasks waited for a disk",
            text::counted(pauses, "pause", "pauses"),
            text::time_ns(idle.total_ns),
            text::time_ns(idle.longest_ns)
        ),
    };
    Ok(Some(Found {
        severity: if idle.pauses > 0 { Severity::Warning } else { Severity::Information },
        evidence: format!("the JVM keeps counters in a file on {file_system} (hsperfdata){cost}"),
        figures: json!({ "file_system": file_system, "idle_pauses": idle.pauses, "idle_pauses_ns": idle.total_ns }),
        advice: "The JVM writes these counters at the end of each pause, and waits while the kernel writes that page to the disk. Add \
                 -XX:+PerfDisableSharedMem, as in Cassandra's jvm-server.options (jstat and jps don't see the JVM then), and restart \
                 the node."
            .into(),
        verify: "The longest pause in `helenus gc RECORDING`, over the same load.".into(),
    }))
}

/// Netty and Cassandra take buffers from direct memory; without the option it may be as large as the heap.
pub(super) const DIRECT_MEMORY: Rule = Rule {
    name: "direct-memory",
    looks_at: "heap and MaxDirectMemorySize together against the machine's memory",
    thresholds: &[&thresholds::HEAP_AND_DIRECT, &thresholds::MEMORY_WAITS],
    source: "HotSpot's option -XX:MaxDirectMemorySize",
    query: query::SETTINGS,
    check: Check::OfNode(direct_memory),
};

fn direct_memory(node: &Node) -> Checked {
    let options = node.jvm_options()?;
    let Some(given) = last(options, "-XX:MaxDirectMemorySize=") else { return Ok(None) };
    let (Some(direct), Some(heap)) = (bytes(given), heap_bytes(node, options)) else { return Ok(None) };
    let memory = node.number("machine.memory_bytes")?;
    if direct == 0.0 || !thresholds::HEAP_AND_DIRECT.is_met((direct + heap) / memory.max(1.0)) {
        return Ok(None);
    }
    let waited = node.costs.memory_share.filter(|share| thresholds::MEMORY_WAITS.is_met(*share));
    let cost = waited.map_or(String::new(), |share| {
        format!(", and tasks of the node waited for memory in {} of the time", text::percent(share))
    });
    let size = |bytes: f64| text::bytes(bytes as i64);
    Ok(Some(Found {
        severity: if waited.is_some() { Severity::Warning } else { Severity::Information },
        evidence: format!(
            "heap and direct memory may take {} of {}, the heap {} and direct memory {}{cost}",
            size(heap + direct),
            size(memory),
            size(heap),
            size(direct)
        ),
        figures: json!({ "direct_bytes": direct, "heap_bytes": heap, "memory_bytes": memory }),
        advice: "What is left is too little for the page cache and the JVM itself, and the kernel may end the process. Lower \
                 -XX:MaxDirectMemorySize, or remove it: it is as large as the heap then."
            .into(),
        verify: "Waits for memory: `helenus sql RECORDING \"select sum(memory_some_ns) from node_pressure\"`.".into(),
    }))
}

/// conf/jvm-server.options (4.0 to 5.0) has both options, and recommends the same size for -Xms and -Xmx.
pub(super) const JVM_OPTIONS: Rule = Rule {
    name: "jvm-options",
    looks_at: "options of Cassandra's jvm-server.options that this JVM lacks, and a heap that grows while requests run",
    thresholds: &[],
    source: "Cassandra's jvm-server.options",
    query: query::SETTINGS,
    check: Check::OfNode(jvm_options),
};

fn jvm_options(node: &Node) -> Checked {
    let options = node.jvm_options()?;
    let has = |wanted: &str| options.split(' ').any(|option| option == wanted);
    let mut lacks = Vec::new();
    if !has("-XX:+AlwaysPreTouch") {
        lacks.push((
            "-XX:+AlwaysPreTouch",
            "lets the kernel give out the heap's pages at the start, and not while requests run",
        ));
    }
    let is_numa = node.number("machine.numa_nodes").is_ok_and(|nodes| nodes > 1.0);
    if is_numa && !has("-XX:+UseNUMA") {
        lacks.push(("-XX:+UseNUMA", "lets threads allocate in the memory of their own NUMA node"));
    }
    let (least, most) = (last(options, "-Xms").and_then(bytes), last(options, "-Xmx").and_then(bytes));
    if least.zip(most).is_some_and(|(least, most)| least < most) {
        lacks.push(("-Xms as large as -Xmx", "keeps the heap from growing in pauses"));
    }
    if lacks.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = lacks.iter().map(|(name, _)| *name).collect();
    let reasons: Vec<String> = lacks.iter().map(|(name, reason)| format!("{name} {reason}")).collect();
    Ok(Some(Found {
        severity: Severity::Information,
        evidence: format!("the JVM runs without {}", names.join(", ")),
        figures: json!({ "lacks": names, "options": options }),
        advice: format!(
            "Start the node with the options of Cassandra's own jvm-server.options: {}.",
            reasons.join("; ")
        ),
        verify: "The pauses of the first minutes after a start, in `helenus gc RECORDING`.".into(),
    }))
}

/// The value of the last option that begins so: it counts.
fn last<'a>(options: &'a str, prefix: &str) -> Option<&'a str> {
    options.split(' ').filter_map(|option| option.strip_prefix(prefix)).next_back()
}

fn heap_bytes(node: &Node, options: &str) -> Option<f64> {
    node.number("jvm.heap_max_bytes").ok().or_else(|| bytes(last(options, "-Xmx")?))
}

/// A size as the JVM takes it: 8g, 800M, 65536.
fn bytes(text: &str) -> Option<f64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1_048_576.0,
        "g" => 1_073_741_824.0,
        "t" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(text[..digits].parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::costs::IdlePauses;
    use crate::advice::healthy::{after, missing_after, quiet_after, setting};

    #[test]
    fn counters_on_a_disk_are_a_warning_where_pauses_waited_for_it() {
        let rule = &PERF_DATA;
        let on = |file_system: &'static str| move |node: &mut Node| setting(node, "jvm.perf_data_on", file_system);
        assert_eq!(after(rule, on("ext4")).severity, Severity::Information);
        let waited = after(rule, |node| {
            on("ext4")(node);
            node.costs.idle_pauses = IdlePauses { pauses: 3, total_ns: 2_000_000_000, longest_ns: 900_000_000 };
        });
        assert!(waited.severity == Severity::Warning && waited.evidence.contains("3 pauses (2.0 s"), "{waited:?}");
        quiet_after(rule, on("tmpfs"));
        // Pauses may wait for a disk for another reason.
        quiet_after(rule, |node| node.costs.idle_pauses.pauses = 3);
        missing_after(rule, |node| drop(node.settings.remove("process.maps")));
    }

    #[test]
    fn direct_memory_and_the_heap_have_to_fit() {
        let rule = &DIRECT_MEMORY;
        let huge = |node: &mut Node| setting(node, "jvm.options", "-Xmx8G -XX:MaxDirectMemorySize=24g");
        let found = after(rule, huge);
        assert!(
            found.severity == Severity::Information && found.evidence.contains("32.0 GiB of 32.0 GiB"),
            "{found:?}"
        );
        let waited = after(rule, |node| {
            huge(node);
            node.costs.memory_share = Some(0.1);
        });
        assert_eq!(waited.severity, Severity::Warning);
        quiet_after(rule, |node| setting(node, "jvm.options", "-Xmx8G -XX:MaxDirectMemorySize=4096M"));
        missing_after(rule, |node| drop(node.settings.remove("jvm.options")));
    }

    #[test]
    fn what_cassandra_ships_is_missed() {
        let rule = &JVM_OPTIONS;
        let bare = after(rule, |node| {
            setting(node, "jvm.options", "-Xms1G -Xmx8G");
            setting(node, "machine.numa_nodes", "2");
        });
        for lacks in ["-XX:+AlwaysPreTouch", "-XX:+UseNUMA", "-Xms as large as -Xmx"] {
            assert!(bare.evidence.contains(lacks), "{bare:?}");
        }
        let one = after(rule, |node| setting(node, "jvm.options", "-Xms8G -Xmx8192m"));
        assert!(one.evidence.ends_with("without -XX:+AlwaysPreTouch"), "{one:?}");
        // Without the agent the options are those of the command line.
        quiet_after(rule, |node| {
            let options = node.settings.remove("jvm.options").unwrap();
            setting(node, "process.jvm_options", &options);
        });
        missing_after(rule, |node| drop(node.settings.remove("jvm.options")));
    }
}
