//! A healthy node for tests. The tests of the rules change one fact of it and check when a rule gives advice, when it
//! doesn't, and what it does without the fact.

use super::facts::{Figure, Node, Pool, Table};
use super::rule::{Checked, Found, Rule};
use super::sending::{Client, Group, Sending};
use crate::{GcFigures, TableHealth};

pub(super) const GIB: i64 = 1 << 30;

/// A healthy node of a ring of three on 5.0, with one healthy table.
pub(super) fn healthy() -> Node {
    let settings = [
        ("max_hint_window", "3h"),
        ("read_request_timeout", "5000ms"),
        ("range_request_timeout", "10000ms"),
        ("write_request_timeout", "2000ms"),
        ("concurrent_compactors", "2"),
        ("compaction_throughput", "64MiB/s"),
        ("disk_access_mode", "mmap_index_only"),
        ("jvm.collectors", "G1 Young Generation, G1 Old Generation"),
        ("jvm.options", "-Xms8G -Xmx8G -XX:+UseG1GC -XX:+AlwaysPreTouch"),
        ("jvm.heap_max_bytes", "8589934592"),
        ("logging.levels", "ROOT=INFO, org.apache.cassandra=DEBUG"),
        ("machine.memory_bytes", "34359738368"),
        ("machine.cpu_governor", "performance"),
        ("machine.huge_pages", "madvise"),
        ("machine.huge_pages_defrag", "madvise"),
        ("machine.swap_bytes", "0"),
        ("machine.zone_reclaim_mode", "0"),
        ("machine.numa_nodes", "1"),
        ("machine.clock_source", "tsc"),
        ("machine.overcommit_memory", "0"),
        ("machine.max_map_count", "1048575"),
        ("process.maps", "900"),
        ("process.max_open_files", "100000"),
        ("process.max_processes", "32768"),
        ("process.max_locked_bytes", "unlimited"),
        ("disk.read_ahead_kb:/d", "16"),
        ("disk.rotational:/d", "0"),
        ("disk.scheduler:/d", "[none] mq-deadline"),
        ("disk.usable_bytes:/d", "107374182400"),
        ("disk.total_bytes:/d", "214748364800"),
    ];
    let mut node = Node {
        name: "127.0.0.1".into(),
        version: Some((5, 0)),
        settings: settings.map(|(name, value)| (name.to_string(), value.to_string())).into(),
        gc: Some(GcFigures {
            start_s: 0.0,
            length_s: 60.0,
            young: 12,
            old: 0,
            full: 0,
            paused_ms: 240.0,
            paused_share: 0.004,
            pause_p50_ms: Some(20.0),
            pause_max_ms: Some(30.0),
            allocated_bytes_per_s: Some(2e8),
            kept_bytes_per_s: Some(1e6),
            heap_after_bytes: Some(2 * GIB),
        }),
        marking_share: Some(0.01),
        pools: vec![Pool { name: "ReadStage".into(), pending: 3, max_size: Some(32), blocked: 0, completed: 1800 }],
        tables: vec![table()],
        sending: Some(sending()),
        repair_sessions: Some(12),
        now_s: 2_000_000_000,
        ..Node::default()
    };
    for (kind, scope, metric, attribute, value, grown) in [
        ("DroppedMessage", "READ_REQ", "Dropped", "Count", 7, 0),
        ("DroppedMessage", "MUTATION_REQ", "Dropped", "Count", 0, 0),
        ("Cache", "KeyCache", "Hits", "Count", 95, 95),
        ("Cache", "KeyCache", "Requests", "Count", 100, 100),
        ("Cache", "KeyCache", "Size", "Value", 100, 0),
        ("Cache", "KeyCache", "Capacity", "Value", 100, 0),
        ("ClientRequest", "Read", "LocalRequests", "Count", 900, 900),
        ("ClientRequest", "Read", "RemoteRequests", "Count", 10, 10),
        ("ClientRequest", "Write", "LocalRequests", "Count", 900, 900),
        ("ClientRequest", "Write", "RemoteRequests", "Count", 10, 10),
        ("ClientRequest", "Read", "Timeouts", "Count", 4, 0),
        ("ClientRequest", "RangeSlice", "Timeouts", "Count", 0, 0),
        ("ClientRequest", "Write", "Timeouts", "Count", 9, 9),
        ("ClientRequest", "CASWrite", "Latency", "Count", 100, 100),
        ("ClientRequest", "CASWrite", "ContentionHistogram", "Count", 3, 3),
        ("Batch", "", "PartitionsPerUnloggedBatch", "Count", 5, 5),
        ("Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", 2, 0),
    ] {
        set(&mut node, kind, scope, metric, attribute, Figure { value, grown });
    }
    node
}

/// A minute of one client that prepares what it sends.
fn sending() -> Sending {
    let group = |opcode: &str, requests| Group {
        client: "10.0.0.7".into(),
        opcode: opcode.into(),
        statement: "SELECT state FROM shop.orders WHERE id = ?".into(),
        consistency: "LOCAL_QUORUM".into(),
        requests,
        ahead_ns: Some((-5_000_000, -200_000)),
        ..Group::default()
    };
    let driver = Some(("DataStax Python Driver".to_string(), "3.30.0".to_string()));
    let client = Client { driver, in_flight: 12.0, ..Client::default() };
    Sending {
        seconds: 60.0,
        groups: vec![group("EXECUTE", 10_000), group("PREPARE", 1), group("STARTUP", 4)],
        clients: [("10.0.0.7".to_string(), client)].into(),
    }
}

pub(super) fn set(node: &mut Node, kind: &str, scope: &str, metric: &str, attribute: &str, figure: Figure) {
    node.metrics.insert((kind.into(), scope.into(), metric.into(), attribute.into()), figure);
}

pub(super) fn grow(node: &mut Node, kind: &str, scope: &str, metric: &str, grown: i64) {
    set(node, kind, scope, metric, "Count", Figure { value: grown, grown });
}

pub(super) fn table() -> Table {
    let definition = [
        (
            "compaction",
            r#"{"class":"org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy","max_threshold":"32"}"#,
        ),
        ("compaction_in_force", r#"{"class":"SizeTieredCompactionStrategy","max_threshold":"32","min_threshold":"4"}"#),
        ("compression", r#"{"class":"org.apache.cassandra.io.compress.LZ4Compressor","chunk_length_in_kb":"16"}"#),
        ("caching", r#"{"keys":"ALL","rows_per_partition":"NONE"}"#),
        ("gc_grace_seconds", "864000"),
        ("default_time_to_live", "0"),
        ("bloom_filter_fp_chance", "0.01"),
        ("partition_key", "id text"),
        ("clustering", "at timestamp asc"),
        ("columns", "c0 blob, c1 blob, c2 blob, c3 blob, c4 blob, state int"),
        ("last_repair", "1999900000"),
    ];
    Table {
        health: TableHealth {
            node: "127.0.0.1".into(),
            table: "shop.orders".into(),
            reads_per_s: Some(100.0),
            writes_per_s: Some(100.0),
            sstables: Some(4),
            largest_sstable_bytes: Some(GIB / 2),
            live_disk_bytes: Some(2 * GIB),
            write_amplification: Some(3.0),
            pending_compactions: Some(0),
            pending_at_first: Some(0),
            running_compactions: Some(0),
            sstables_per_read_p95: Some(2.0),
            tombstones_per_slice_p95: Some(1.0),
            live_cells_per_slice_p95: Some(20.0),
            droppable_ratio: Some(0.01),
            mean_partition_bytes: Some(20_000),
            max_partition_bytes: Some(1_000_000),
            compression_ratio: Some(0.4),
            bloom_false_positives: Some(10),
            bloom_false_ratio: Some(0.01),
            row_cache_hit_rate: Some(0.1),
            ..TableHealth::default()
        },
        definition: definition.map(|(fact, value)| (fact.to_string(), value.to_string())).into(),
        replicas: Some(3),
        mean_row_bytes: Some(1000),
        io: None,
        selects: Some(Vec::new()),
        deleted_from: Some(false),
        min_ttl_s: Some(0),
    }
}

pub(super) fn define(node: &mut Node, fact: &str, value: &str) {
    node.tables[0].definition.insert(fact.into(), value.into());
}

pub(super) fn health(node: &mut Node) -> &mut TableHealth {
    &mut node.tables[0].health
}

pub(super) fn setting(node: &mut Node, name: &str, value: &str) {
    node.settings.insert(name.into(), value.into());
}

pub(super) fn ask(rule: &Rule, node: &Node) -> Checked {
    rule.ask(node).pop().map(|(_, checked)| checked).unwrap()
}

/// The finding of a rule after a change to the healthy node.
pub(super) fn after(rule: &Rule, change: impl FnOnce(&mut Node)) -> Found {
    let mut node = healthy();
    change(&mut node);
    ask(rule, &node).unwrap().unwrap_or_else(|| panic!("{} is quiet", rule.name))
}

pub(super) fn quiet_after(rule: &Rule, change: impl FnOnce(&mut Node)) {
    let mut node = healthy();
    change(&mut node);
    assert_eq!(ask(rule, &node), Ok(None), "{}", rule.name);
}

pub(super) fn missing_after(rule: &Rule, change: impl FnOnce(&mut Node)) -> String {
    let mut node = healthy();
    change(&mut node);
    ask(rule, &node).unwrap_err().0
}

pub(super) const UNDER_LCS: &str = r#"{"class":"LeveledCompactionStrategy"}"#;
pub(super) const UNDER_TWCS: &str =
    r#"{"class":"TimeWindowCompactionStrategy","compaction_window_size":"1","compaction_window_unit":"HOURS"}"#;

pub(super) fn compacted_by(node: &mut Node, options: &str) {
    define(node, "compaction", options);
    define(node, "compaction_in_force", options);
}
