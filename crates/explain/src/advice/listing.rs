//! All rules, and their tables for `docs/advice.md`, which is generated here.

use super::outdated::OUTDATED;
use super::rule::Rule;
use super::{
    caches, clients, collector, compaction, compression, debugging, deletes, disk, drivers, habits, heap, indexes,
    jvm_options, limits, machine, partitions, pressure, reads, rows, strategy, timeouts, tombstones,
};
use crate::text;

/// The rules, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    reads::SSTABLES_PER_READ,
    reads::BLOOM_FILTERS,
    tombstones::TOMBSTONES_PER_READ,
    tombstones::DROPPABLE_TOMBSTONES,
    tombstones::STUCK_SSTABLE,
    deletes::GC_GRACE,
    partitions::WIDE_PARTITIONS,
    rows::WIDE_ROWS,
    strategy::EXPIRING_DATA,
    strategy::TIME_WINDOWS,
    strategy::LEVELED_WRITES,
    strategy::RETIRED_STRATEGY,
    strategy::LOCAL_OVERRIDE,
    compaction::COMPACTION_BEHIND,
    compaction::DISK_HEADROOM,
    compression::CHUNK_SIZE,
    compression::COMPRESSION_IN_VAIN,
    disk::READ_AHEAD,
    disk::IO_SCHEDULER,
    disk::DISK_ACCESS,
    disk::UNEVEN_DIRECTORIES,
    heap::HEAP_SIZE,
    heap::HEAP_FULL,
    collector::COLLECTOR,
    collector::YOUNG_GENERATION,
    collector::GC_TIME,
    collector::MARKING,
    pressure::BLOCKED_POOLS,
    pressure::DROPPED_MESSAGES,
    timeouts::SHORT_TIMEOUTS,
    caches::ROW_CACHE,
    caches::KEY_CACHE,
    clients::TOKEN_AWARENESS,
    clients::UNLOGGED_BATCHES,
    clients::LWT_CONTENTION,
    habits::UNPREPARED_STATEMENTS,
    habits::PREPARED_AGAIN,
    habits::NEW_CONNECTIONS,
    habits::LARGE_ANSWERS,
    habits::EVERY_REPLICA,
    habits::CROWDED_CONNECTION,
    habits::CLIENT_CLOCK,
    habits::SLOW_READER,
    habits::RETRIES,
    drivers::OLD_DRIVER,
    indexes::SECONDARY_INDEXES,
    debugging::JIT,
    debugging::TRACING,
    debugging::LOGGING,
    jvm_options::PERF_DATA,
    jvm_options::DIRECT_MEMORY,
    jvm_options::JVM_OPTIONS,
    machine::CPU_GOVERNOR,
    machine::HUGE_PAGES,
    machine::SWAP,
    machine::ZONE_RECLAIM,
    machine::CLOCK_SOURCE,
    machine::OVERCOMMIT,
    limits::LIMITS,
];

/// Prints the rules, their thresholds, and the outdated advice that no rule gives.
pub fn rules_as_markdown() -> String {
    let mut lines = vec!["| rule | looks at | source |".to_string(), "|---|---|---|".to_string()];
    lines.extend(RULES.iter().map(|rule| format!("| `{}` | {} | {} |", rule.name, rule.looks_at, rule.source)));
    lines.extend(["", "| threshold | from | used by | source |", "|---|---|---|---|"].map(String::from));
    for rule in RULES {
        lines.extend(rule.thresholds.iter().map(|threshold| {
            let value = figure(threshold.value, threshold.unit);
            format!("| {} | {value} | `{}` | {} |", threshold.name, rule.name, threshold.source)
        }));
    }
    lines.extend(["", "| known and not given | why |", "|---|---|"].map(String::from));
    lines.extend(OUTDATED.iter().map(|outdated| format!("| {} | {} |", outdated.advice, outdated.because)));
    lines.join("\n") + "\n"
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => text::bytes(value as i64),
        unit => format!("{value} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documentation_has_the_rules_as_they_are() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advice.md");
        let mut documented = std::fs::read_to_string(path).unwrap();
        // The variable that also updates insta's snapshots.
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            let start = documented.find("| rule | looks at |").unwrap();
            documented.replace_range(start.., &super::rules_as_markdown());
            std::fs::write(path, &documented).unwrap();
        }
        assert!(
            documented.contains(&super::rules_as_markdown()),
            "docs/advice.md differs from the rules; run `INSTA_UPDATE=always cargo test --workspace --lib advice::listing`"
        );
    }
}
