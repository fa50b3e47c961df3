//! Every rule: where it speaks, where it is quiet, and where it says that it could not look.

use super::facts::{Figure, Node, Pool, Table};
use super::*;
use crate::{GcFigures, TableHealth};

const GIB: i64 = 1 << 30;

/// A node in health on 5.0, of three, with one table in health.
fn healthy() -> Node {
    let settings = [
        ("max_hint_window", "3h"),
        ("concurrent_compactors", "2"),
        ("compaction_throughput", "64MiB/s"),
        ("disk_access_mode", "mmap_index_only"),
        ("jvm.collectors", "G1 Young Generation, G1 Old Generation"),
        ("jvm.options", "-Xmx8G -XX:+UseG1GC"),
        ("jvm.heap_max_bytes", "8589934592"),
        ("machine.memory_bytes", "34359738368"),
        ("disk.read_ahead_kb:/d", "16"),
        ("disk.rotational:/d", "0"),
        ("disk.usable_bytes:/d", "107374182400"),
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
        pools: vec![Pool { name: "ReadStage".into(), pending: 3, max_size: Some(32), blocked: 0 }],
        tables: vec![table()],
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
        ("ClientRequest", "CASWrite", "Latency", "Count", 100, 100),
        ("ClientRequest", "CASWrite", "ContentionHistogram", "Count", 3, 3),
        ("Batch", "", "PartitionsPerUnloggedBatch", "Count", 5, 5),
        ("Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", 2, 0),
    ] {
        set(&mut node, kind, scope, metric, attribute, Figure { value, grown });
    }
    node
}

fn set(node: &mut Node, kind: &str, scope: &str, metric: &str, attribute: &str, figure: Figure) {
    node.metrics.insert((kind.into(), scope.into(), metric.into(), attribute.into()), figure);
}

fn grow(node: &mut Node, kind: &str, scope: &str, metric: &str, grown: i64) {
    set(node, kind, scope, metric, "Count", Figure { value: grown, grown });
}

fn table() -> Table {
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

fn define(node: &mut Node, fact: &str, value: &str) {
    node.tables[0].definition.insert(fact.into(), value.into());
}

fn health(node: &mut Node) -> &mut TableHealth {
    &mut node.tables[0].health
}

fn setting(node: &mut Node, name: &str, value: &str) {
    node.settings.insert(name.into(), value.into());
}

fn ask(rule: &Rule, node: &Node) -> Checked {
    rule.ask(node).pop().map(|(_, checked)| checked).unwrap()
}

/// What a rule says after a change to the healthy node.
fn after(rule: &Rule, change: impl FnOnce(&mut Node)) -> Found {
    let mut node = healthy();
    change(&mut node);
    ask(rule, &node).unwrap().unwrap_or_else(|| panic!("{} is quiet", rule.name))
}

fn quiet_after(rule: &Rule, change: impl FnOnce(&mut Node)) {
    let mut node = healthy();
    change(&mut node);
    assert_eq!(ask(rule, &node), Ok(None), "{}", rule.name);
}

fn missing_after(rule: &Rule, change: impl FnOnce(&mut Node)) -> String {
    let mut node = healthy();
    change(&mut node);
    ask(rule, &node).unwrap_err().0
}

const LCS: &str = r#"{"class":"LeveledCompactionStrategy"}"#;
const TWCS: &str =
    r#"{"class":"TimeWindowCompactionStrategy","compaction_window_size":"1","compaction_window_unit":"HOURS"}"#;

fn compacted_by(node: &mut Node, options: &str) {
    define(node, "compaction", options);
    define(node, "compaction_in_force", options);
}

#[test]
fn a_node_in_health_gets_no_advice_and_every_rule_was_asked() {
    let counsel = counsel(&[healthy()]);
    assert_eq!((&counsel.advice, &counsel.not_checked), (&vec![], &vec![]));
    assert_eq!(counsel.well.len(), RULES.len());
    assert_eq!((counsel.nodes, counsel.tables), (1, 1));
}

#[test]
fn a_rule_without_its_facts_says_so() {
    let mut bare = Node { name: "n".into(), tables: vec![Table::default()], ..Node::default() };
    bare.tables[0].health.table = "a.b".into();
    let counsel = counsel(&[bare]);
    assert_eq!((counsel.advice.len(), counsel.well.len()), (0, 0), "{:?}", counsel.well);
    let unasked: std::collections::BTreeSet<&str> = counsel.not_checked.iter().map(|one| one.rule).collect();
    assert_eq!(unasked.len(), RULES.len());
    assert!(counsel.not_checked.iter().all(|one| one.because.len() > 10 && one.of.len() == 1));
}

#[test]
fn what_is_true_of_two_nodes_is_one_advice() {
    let mut one = healthy();
    health(&mut one).sstables_per_read_p95 = Some(5.0);
    let mut two = one.clone();
    two.name = "127.0.0.2".into();
    health(&mut two).sstables_per_read_p95 = Some(12.0);
    let counsel = counsel(&[one, two]);
    assert_eq!((counsel.nodes, counsel.tables, counsel.advice.len()), (2, 1, 1));
    assert_eq!(counsel.advice[0].evidence.len(), 2);
    assert_eq!(counsel.advice[0].severity, Severity::Warning, "of the worst");
}

#[test]
fn rules_have_names_of_their_own_and_say_where_they_come_from() {
    let names: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len());
    for rule in RULES {
        assert!(!rule.source.is_empty() && !rule.looks_at.is_empty(), "{}", rule.name);
        assert!(rule.thresholds.iter().all(|threshold| !threshold.source.is_empty()), "{}", rule.name);
    }
}

#[test]
fn sstables_per_read() {
    let rule = &reads::SSTABLES_PER_READ;
    let few = after(rule, |node| health(node).sstables_per_read_p95 = Some(4.0));
    assert_eq!(few.severity, Severity::Information);
    assert!(few.advice.contains("UnifiedCompactionStrategy"), "{}", few.advice);
    let old = after(rule, |node| {
        node.version = Some((4, 0));
        health(node).sstables_per_read_p95 = Some(12.0);
    });
    assert_eq!(old.severity, Severity::Warning);
    assert!(!old.advice.contains("Unified"), "4.0 has none: {}", old.advice);
    let behind = after(rule, |node| {
        compacted_by(node, LCS);
        health(node).sstables_per_read_p95 = Some(12.0);
        health(node).pending_compactions = Some(7);
    });
    assert!(behind.advice.contains("catch up"), "{}", behind.advice);
    missing_after(rule, |node| health(node).sstables_per_read_p95 = None);
}

fn asking(statement: &str, requests: i64) -> crate::statements::Select {
    crate::statements::Select { statement: statement.into(), table: "shop.orders".into(), requests }
}

#[test]
fn wide_rows() {
    let rule = &rows::WIDE_ROWS;
    let wide = |node: &mut Node| {
        node.tables[0].mean_row_bytes = Some(1_000_000);
        node.tables[0].selects = Some(vec![asking("SELECT c0 FROM shop.orders WHERE id = ?", 99)]);
    };
    let found = after(rule, wide);
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(found.evidence, "a row has 1.0 MB in 6 columns, and statements ask for 1.0 of them");
    assert_eq!(
        found.figures["proposed_cql"],
        "CREATE TABLE shop.orders_by_column (id text, at timestamp, column_name text, value blob, PRIMARY KEY ((id), at, \
         column_name));"
    );
    assert!(found.advice.contains("The other column stays"), "{}", found.advice);
    let few = after(rule, |node| {
        wide(node);
        define(node, "columns", "a int, b int, c int, d int, body blob");
    });
    assert!(few.advice.contains("orders_large (id text, at timestamp, body blob"), "{}", few.advice);
    let without_clustering = after(rule, |node| {
        wide(node);
        define(node, "clustering", "");
        node.tables[0].mean_row_bytes = None;
        health(node).mean_partition_bytes = Some(100_000);
    });
    assert_eq!(without_clustering.severity, Severity::Information, "a row is its partition");
    quiet_after(rule, |node| {
        wide(node);
        node.tables[0].selects.as_mut().unwrap().push(asking("SELECT * FROM shop.orders WHERE id = ?", 99));
    });
    quiet_after(rule, |node| {
        wide(node);
        define(node, "columns", "a int, b int, c int, d int, e int");
    });
    missing_after(rule, |node| {
        wide(node);
        node.tables[0].selects = None;
    });
}

#[test]
fn bloom_filters() {
    let rule = &reads::BLOOM_FILTERS;
    after(rule, |node| {
        health(node).bloom_false_ratio = Some(0.05);
        health(node).bloom_false_positives = Some(20_000);
    });
    quiet_after(rule, |node| health(node).bloom_false_ratio = Some(0.05));
    missing_after(rule, |node| node.tables[0].definition.clear());
}

#[test]
fn tombstones_per_read() {
    let rule = &tombstones::TOMBSTONES_PER_READ;
    let study = |node: &mut Node| {
        health(node).tombstones_per_slice_p95 = Some(30.0);
        health(node).live_cells_per_slice_p95 = Some(10.0);
    };
    let young = after(rule, study);
    assert!(young.advice.contains("Few of the table's cells are tombstones past gc_grace"), "{}", young.advice);
    let unknown = after(rule, |node| {
        study(node);
        health(node).droppable_ratio = None;
    });
    assert!(unknown.advice.contains("is not recorded"), "{}", unknown.advice);
    let expiring = after(rule, |node| {
        study(node);
        define(node, "default_time_to_live", "60");
    });
    assert!(expiring.advice.contains("Cells that have expired"), "{}", expiring.advice);
    let droppable = after(rule, |node| {
        study(node);
        health(node).droppable_ratio = Some(0.3);
    });
    assert!(droppable.advice.contains("Many of the table's tombstones are past gc_grace"), "{}", droppable.advice);
    quiet_after(rule, |node| health(node).tombstones_per_slice_p95 = Some(15.0));
    let many = after(rule, |node| {
        health(node).tombstones_per_slice_p95 = Some(2000.0);
        health(node).live_cells_per_slice_p95 = Some(9000.0);
    });
    assert_eq!(many.severity, Severity::Critical);
    after(rule, |node| {
        study(node);
        health(node).tombstones_per_slice_p99 = health(node).tombstones_per_slice_p95.take();
    });
    missing_after(rule, |node| health(node).tombstones_per_slice_p95 = None);
}

#[test]
fn droppable_tombstones() {
    let rule = &tombstones::DROPPABLE_TOMBSTONES;
    let some = after(rule, |node| health(node).droppable_ratio = Some(0.05));
    assert_eq!(some.severity, Severity::Information);
    assert!(some.advice.contains("unchecked_tombstone_compaction': 'true'"));
    let on = after(rule, |node| {
        health(node).droppable_ratio = Some(0.3);
        compacted_by(node, r#"{"class":"x.SizeTieredCompactionStrategy","unchecked_tombstone_compaction":"true"}"#);
    });
    assert_eq!(on.severity, Severity::Warning);
    assert!(on.advice.contains("is on already"), "{}", on.advice);
    missing_after(rule, |node| health(node).droppable_ratio = None);
    let under = |options: &'static str| {
        after(rule, |node| {
            health(node).droppable_ratio = Some(0.3);
            compacted_by(node, options);
        })
    };
    let unified = under(r#"{"class":"UnifiedCompactionStrategy","unchecked_tombstone_compaction":"true"}"#);
    assert!(unified.advice.contains("garbagecollect") && !unified.advice.contains("unchecked"), "{}", unified.advice);
    assert!(under(TWCS).advice.contains("sstableexpiredblockers"));
}

#[test]
fn stuck_sstable() {
    let rule = &tombstones::STUCK_SSTABLE;
    let stuck = |node: &mut Node| health(node).largest_sstable_bytes = Some(GIB);
    assert!(after(rule, stuck).advice.starts_with("3 more of about its size"));
    let early = after(rule, |node| {
        stuck(node);
        compacted_by(node, r#"{"class":"SizeTieredCompactionStrategy","min_threshold":"2"}"#);
    });
    assert!(early.advice.starts_with("1 more"), "{}", early.advice);
    quiet_after(rule, |node| {
        stuck(node);
        compacted_by(node, LCS);
    });
    assert!(missing_after(rule, |node| health(node).largest_sstable_bytes = None).contains("5.0"));
}

#[test]
fn gc_grace_is_never_advised_below_hints_and_repairs() {
    let rule = &deletes::GC_GRACE;
    let low = after(rule, |node| define(node, "gc_grace_seconds", "3600"));
    assert_eq!(low.severity, Severity::Critical);
    assert!(low.advice.contains("Raise gc_grace_seconds"));
    quiet_after(rule, |node| {
        define(node, "gc_grace_seconds", "0");
        node.tables[0].replicas = Some(1);
    });
    let late = after(rule, |node| define(node, "last_repair", "1990000000"));
    assert!(late.evidence.contains("115 days ago"), "{}", late.evidence);
    assert!(late.advice.contains("Do not lower"), "{}", late.advice);
    let never = after(rule, |node| drop(node.tables[0].definition.remove("last_repair")));
    assert!(never.evidence.contains("no repair of it"), "{}", never.evidence);
    missing_after(rule, |node| node.repair_sessions = None);
    missing_after(rule, |node| drop(node.settings.remove("max_hint_window")));
    missing_after(rule, |node| node.tables[0].replicas = None);
}

/// As Cassandra's figures are where nothing was deleted: its histogram has no bucket for none.
fn without_tombstones(node: &mut Node) {
    health(node).droppable_ratio = Some(0.0);
    health(node).tombstones_per_slice_p95 = Some(1.0);
}

#[test]
fn a_percentile_of_one_is_no_tombstone() {
    let rule = &deletes::GC_GRACE;
    for unsafe_setting in [("last_repair", "1990000000"), ("gc_grace_seconds", "0")] {
        let unsafe_setting = |node: &mut Node| {
            without_tombstones(node);
            define(node, unsafe_setting.0, unsafe_setting.1);
        };
        quiet_after(rule, unsafe_setting);
        let deleted = after(rule, |node| {
            unsafe_setting(node);
            node.tables[0].deleted_from = Some(true);
        });
        assert!(!deleted.evidence.contains("holds tombstones"), "{}", deleted.evidence);
    }
    let unknown = after(rule, |node| {
        without_tombstones(node);
        define(node, "gc_grace_seconds", "0");
        node.tables[0].deleted_from = None;
    });
    assert_eq!(unknown.severity, Severity::Warning, "nothing shows that anything is deleted");
    let real = after(rule, |node| {
        without_tombstones(node);
        health(node).tombstones_per_slice_p95 = Some(1.2);
        define(node, "last_repair", "1990000000");
    });
    assert!(real.evidence.contains("holds tombstones"), "{}", real.evidence);
}

#[test]
fn what_expires_and_is_not_deleted_can_not_come_back() {
    let rule = &deletes::GC_GRACE;
    let by_default = |node: &mut Node| define(node, "default_time_to_live", "86400");
    let by_writes = |node: &mut Node| node.tables[0].min_ttl_s = Some(600);
    for expire in [&by_default as &dyn Fn(&mut Node), &by_writes] {
        for (option, value) in [("gc_grace_seconds", "60"), ("last_repair", "1990000000")] {
            let expiring = |node: &mut Node| {
                expire(node);
                define(node, option, value);
                // Expired cells count as tombstones.
                health(node).droppable_ratio = Some(0.3);
                health(node).tombstones_per_slice_p95 = Some(40.0);
            };
            quiet_after(rule, expiring);
            let unknown = missing_after(rule, |node| {
                expiring(node);
                node.tables[0].deleted_from = None;
            });
            assert!(unknown.contains("is not recorded"), "{unknown}");
            let deleted = after(rule, |node| {
                expiring(node);
                node.tables[0].deleted_from = Some(true);
            });
            assert!(!deleted.evidence.contains("holds tombstones"), "{}", deleted.evidence);
        }
    }
}

#[test]
fn wide_partitions() {
    let rule = &partitions::WIDE_PARTITIONS;
    let wide = after(rule, |node| health(node).max_partition_bytes = Some(200_000_000));
    assert!(wide.severity == Severity::Warning && wide.advice.contains("at timestamp asc"), "{wide:?}");
    let row = after(rule, |node| {
        health(node).max_partition_bytes = Some(2 * GIB);
        define(node, "clustering", "");
    });
    assert!(row.severity == Severity::Critical && row.advice.contains("a row itself"), "{row:?}");
    missing_after(rule, |node| health(node).max_partition_bytes = None);
}

#[test]
fn expiring_data() {
    let rule = &strategy::EXPIRING_DATA;
    let day = after(rule, |node| define(node, "default_time_to_live", "86400"));
    assert!(day.advice.contains("'compaction_window_unit': 'MINUTES', 'compaction_window_size': 58"), "{}", day.advice);
    let quarter = after(rule, |node| define(node, "default_time_to_live", "7776000"));
    assert!(quarter.advice.contains("'DAYS', 'compaction_window_size': 4"), "{}", quarter.advice);
    quiet_after(rule, |node| {
        define(node, "default_time_to_live", "86400");
        compacted_by(node, r#"{"class":"UnifiedCompactionStrategy"}"#);
    });
    quiet_after(rule, |node| {
        define(node, "default_time_to_live", "86400");
        define(node, "clustering", "timestamp int asc");
    });
    quiet_after(rule, |node| {
        define(node, "default_time_to_live", "86400");
        compacted_by(node, TWCS);
    });
    quiet_after(rule, |node| {
        define(node, "default_time_to_live", "86400");
        define(node, "clustering", "name text asc");
    });
    missing_after(rule, |node| node.tables[0].definition.clear());
}

#[test]
fn time_windows() {
    let rule = &strategy::TIME_WINDOWS;
    let of_ttl = |ttl: &'static str| {
        move |node: &mut Node| {
            compacted_by(node, TWCS);
            define(node, "default_time_to_live", ttl);
        }
    };
    let many = after(rule, of_ttl("864000"));
    assert!(many.evidence.contains("240 windows"), "{}", many.evidence);
    assert!(many.advice.contains("'HOURS', 'compaction_window_size': 10"), "{}", many.advice);
    quiet_after(rule, of_ttl("86400"));
    missing_after(rule, |node| {
        compacted_by(node, TWCS);
        define(node, "default_time_to_live", "soon");
    });
}

#[test]
fn leveled_writes() {
    let rule = &strategy::LEVELED_WRITES;
    let written = |node: &mut Node| {
        compacted_by(node, LCS);
        health(node).reads_per_s = Some(1.0);
        health(node).write_amplification = Some(14.0);
    };
    assert!(after(rule, written).advice.contains("T4"));
    let old = after(rule, |node| {
        written(node);
        node.version = Some((4, 1));
    });
    assert!(old.advice.contains("SizeTiered"), "{}", old.advice);
    quiet_after(rule, |node| {
        written(node);
        health(node).reads_per_s = Some(1000.0);
    });
    missing_after(rule, |node| {
        written(node);
        health(node).write_amplification = None;
    });
}

#[test]
fn retired_strategies_and_local_overrides() {
    let dated = |node: &mut Node| compacted_by(node, r#"{"class":"DateTieredCompactionStrategy"}"#);
    after(&strategy::RETIRED_STRATEGY, dated);
    quiet_after(&strategy::RETIRED_STRATEGY, |_| ());
    missing_after(&strategy::RETIRED_STRATEGY, |node| node.tables[0].definition.clear());
    let local = after(&strategy::LOCAL_OVERRIDE, |node| define(node, "compaction_in_force", LCS));
    assert!(local.evidence.contains("it runs class LeveledCompactionStrategy"), "{}", local.evidence);
    quiet_after(&strategy::LOCAL_OVERRIDE, |_| ());
    missing_after(&strategy::LOCAL_OVERRIDE, |node| drop(node.tables[0].definition.remove("compaction_in_force")));
}

#[test]
fn compaction_behind() {
    let rule = &compaction::COMPACTION_BEHIND;
    let behind = |running: i64| {
        move |node: &mut Node| {
            health(node).pending_compactions = Some(300);
            health(node).pending_at_first = Some(100);
            health(node).running_compactions = Some(running);
        }
    };
    assert!(after(rule, behind(2)).advice.contains("All compactors are busy"));
    assert!(after(rule, behind(1)).advice.contains("idle"));
    quiet_after(rule, |node| health(node).pending_compactions = Some(20));
    missing_after(rule, |node| health(node).pending_compactions = None);
}

#[test]
fn disk_headroom() {
    let rule = &compaction::DISK_HEADROOM;
    after(rule, |node| setting(node, "disk.usable_bytes:/d", "1000000000"));
    quiet_after(rule, |node| {
        setting(node, "disk.usable_bytes:/d", "1000000000");
        compacted_by(node, LCS);
    });
    missing_after(rule, |node| drop(node.settings.remove("disk.usable_bytes:/d")));
}

#[test]
fn chunks_and_compression() {
    let rule = &compression::CHUNK_SIZE;
    let large = |node: &mut Node| {
        define(node, "compression", r#"{"class":"LZ4Compressor","chunk_length_in_kb":"64"}"#);
        health(node).mean_partition_bytes = Some(800);
    };
    after(rule, large);
    quiet_after(rule, |node| {
        large(node);
        health(node).reads_per_s = Some(0.0);
    });
    quiet_after(rule, |node| define(node, "compression", r#"{"enabled":"false"}"#));
    missing_after(rule, |node| health(node).mean_partition_bytes = None);
    let rule = &compression::COMPRESSION_IN_VAIN;
    after(rule, |node| health(node).compression_ratio = Some(0.99));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| health(node).compression_ratio = None);
}

#[test]
fn disks() {
    let rule = &disk::READ_AHEAD;
    after(rule, |node| setting(node, "disk.read_ahead_kb:/d", "128"));
    quiet_after(rule, |node| {
        setting(node, "disk.read_ahead_kb:/d", "128");
        setting(node, "disk.rotational:/d", "1");
    });
    missing_after(rule, |node| drop(node.settings.remove("disk.read_ahead_kb:/d")));
    let rule = &disk::DISK_ACCESS;
    let larger = |node: &mut Node| {
        setting(node, "disk_access_mode", "mmap");
        health(node).live_disk_bytes = Some(100 * GIB);
    };
    after(rule, larger);
    quiet_after(rule, |node| setting(node, "disk_access_mode", "mmap"));
    let automatic = |version| {
        move |node: &mut Node| {
            larger(node);
            setting(node, "disk_access_mode", "auto");
            node.version = Some(version);
        }
    };
    // 5.0 maps the indexes alone then.
    quiet_after(rule, automatic((5, 0)));
    after(rule, automatic((4, 1)));
    missing_after(rule, |node| {
        larger(node);
        node.settings.remove("machine.memory_bytes");
    });
}

#[test]
fn heaps() {
    let rule = &heap::HEAP_SIZE;
    assert_eq!(after(rule, |node| setting(node, "machine.memory_bytes", "12884901888")).severity, Severity::Warning);
    let wide = |node: &mut Node| {
        setting(node, "jvm.heap_max_bytes", "36507222016");
        setting(node, "machine.memory_bytes", "137438953472");
    };
    assert!(after(rule, wide).advice.contains("31"));
    quiet_after(rule, |node| {
        wide(node);
        setting(node, "jvm.collectors", "ZGC Cycles, ZGC Pauses");
    });
    missing_after(rule, |node| node.settings.clear());
    let rule = &heap::HEAP_FULL;
    after(rule, |node| node.gc.as_mut().unwrap().heap_after_bytes = Some(7 * GIB));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.gc = None);
}

#[test]
fn collectors() {
    let rule = &collector::COLLECTOR;
    let old = after(rule, |node| setting(node, "jvm.collectors", "ParNew, ConcurrentMarkSweep"));
    assert!(old.advice.contains("without carrying over sizes"), "{}", old.advice);
    assert_eq!(
        after(rule, |node| setting(node, "jvm.collectors", "Copy, MarkSweepCompact")).severity,
        Severity::Warning
    );
    quiet_after(rule, |node| setting(node, "jvm.collectors", "Shenandoah Pauses, Shenandoah Cycles"));
    missing_after(rule, |node| node.settings.clear());
    let rule = &collector::YOUNG_GENERATION;
    after(rule, |node| setting(node, "jvm.options", "-Xmx8G -Xmn800M"));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| drop(node.settings.remove("jvm.options")));
}

#[test]
fn gc_time() {
    let rule = &collector::GC_TIME;
    let gc = |change: fn(&mut GcFigures)| move |node: &mut Node| change(node.gc.as_mut().unwrap());
    let study = after(rule, gc(|gc| gc.young = 1200));
    assert!(study.evidence.starts_with("20.0 young") && study.advice.contains("--stacks alloc"), "{study:?}");
    assert_eq!(after(rule, gc(|gc| gc.paused_share = 0.2)).severity, Severity::Warning);
    assert_eq!(after(rule, gc(|gc| gc.pause_max_ms = Some(300.0))).severity, Severity::Information);
    let full = after(rule, gc(|gc| gc.full = 2));
    assert!(full.severity == Severity::Warning && full.advice.contains("no room left"), "{full:?}");
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.gc = None);
}

#[test]
fn marking() {
    let rule = &collector::MARKING;
    let found = after(rule, |node| node.marking_share = Some(0.16));
    assert!(found.evidence.contains("16 %") && found.advice.contains("-XX:-G1UseAdaptiveIHOP"), "{found:?}");
    let held = after(rule, |node| {
        node.marking_share = Some(0.16);
        setting(node, "jvm.options", "-XX:+UseG1GC -XX:-G1UseAdaptiveIHOP");
    });
    assert!(held.advice.contains("more memory"), "{held:?}");
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.marking_share = None);
}

#[test]
fn pressure_of_any_size_counts() {
    let rule = &pressure::BLOCKED_POOLS;
    let blocked = after(rule, |node| node.pools[0].blocked = 1);
    assert!(blocked.evidence.contains("ReadStage"), "{}", blocked.evidence);
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.pools.clear());
    let rule = &pressure::DROPPED_MESSAGES;
    assert!(after(rule, |node| grow(node, "DroppedMessage", "MUTATION_REQ", "Dropped", 2)).advice.contains("repair"));
    assert!(!after(rule, |node| grow(node, "DroppedMessage", "READ_REQ", "Dropped", 2)).advice.contains("repair"));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.metrics.clear());
}

#[test]
fn caches_that_are_missed() {
    let rule = &caches::ROW_CACHE;
    after(rule, |node| define(node, "caching", r#"{"keys":"ALL","rows_per_partition":"100"}"#));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.tables[0].definition.clear());
    let rule = &caches::KEY_CACHE;
    after(rule, |node| grow(node, "Cache", "KeyCache", "Hits", 40));
    quiet_after(rule, |node| {
        grow(node, "Cache", "KeyCache", "Hits", 40);
        set(node, "Cache", "KeyCache", "Size", "Value", Figure { value: 50, grown: 0 });
    });
    missing_after(rule, |node| node.metrics.clear());
}

#[test]
fn clients_that_cost() {
    let rule = &clients::TOKEN_AWARENESS;
    after(rule, |node| grow(node, "ClientRequest", "Read", "RemoteRequests", 900));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.metrics.clear());
    let rule = &clients::UNLOGGED_BATCHES;
    let wide = Figure { value: 40, grown: 0 };
    after(rule, |node| set(node, "Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", wide));
    quiet_after(rule, |node| {
        set(node, "Batch", "", "PartitionsPerUnloggedBatch", "95thPercentile", wide);
        grow(node, "Batch", "", "PartitionsPerUnloggedBatch", 0);
    });
    missing_after(rule, |node| node.metrics.clear());
    quiet_after(rule, |node| node.metrics.retain(|(kind, ..), _| kind != "Batch"));
    let rule = &clients::LWT_CONTENTION;
    after(rule, |node| grow(node, "ClientRequest", "CASWrite", "ContentionHistogram", 40));
    quiet_after(rule, |_| ());
    missing_after(rule, |node| node.metrics.clear());
}

#[test]
fn secondary_indexes() {
    let rule = &indexes::SECONDARY_INDEXES;
    let plain = after(rule, |node| define(node, "index by_city", r#"COMPOSITES {"target":"city"}"#));
    assert!(plain.severity == Severity::Information && plain.advice.contains("USING 'sai'"), "{plain:?}");
    assert!(!plain.advice.contains("reads before") && !plain.advice.contains("SASI"), "{}", plain.advice);
    let sasi = r#"CUSTOM {"class_name":"org.apache.cassandra.index.sasi.SASIIndex","target":"city"}"#;
    let experimental = after(rule, |node| define(node, "index by_city", sasi));
    assert_eq!(experimental.severity, Severity::Warning);
    assert!(experimental.advice.contains("LIKE and ranges of texts it does not"), "{}", experimental.advice);
    assert!(!experimental.advice.contains("hidden table"), "it is kept with the SSTables: {}", experimental.advice);
    let old = after(rule, |node| {
        define(node, "index by_city", sasi);
        node.version = Some((4, 0));
    });
    assert!(old.advice.contains("Before 5.0"), "{}", old.advice);
    for other in
        [r#"CUSTOM {"class_name":"StorageAttachedIndex"}"#, r#"CUSTOM {"class_name":"com.example.Lucene"}"#, ""]
    {
        quiet_after(rule, |node| define(node, "index by_city", other));
    }
    missing_after(rule, |node| node.tables[0].definition.clear());
}
