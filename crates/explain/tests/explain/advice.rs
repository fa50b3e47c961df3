//! Tables and advice of a recording with the figures of the field report on tombstones and compaction.

use crate::world::{NODE, S, T0};
use helenus_explain::{AdviceReport, Engine, Options, Severity, TableHealth, advise, explain, tables};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording, rows};
use tempfile::TempDir;

const GB: i64 = 1_000_000_000;

/// Two readings, ten seconds apart, of a node whose table has the report's figures.
fn record(recorder: &Recorder) {
    for second in [0, 10] {
        recorder.append(rows::TableSample {
            time_ns: T0 + second * S,
            node: NODE,
            keyspace: "shop",
            table_name: "orders",
            reads: Some(5000 + second * 100),
            writes: Some(10_000 + second * 200),
            read_total_ns: Some(second * 100 * 15_000_000),
            write_total_ns: Some(second * 200 * 50_000),
            coordinator_reads: Some(second * 100),
            coordinator_read_mean_ns: Some(18e6),
            sstables: Some(12),
            sstables_by_level: None,
            largest_sstable_bytes: Some(85 * GB),
            live_disk_bytes: Some(200 * GB),
            total_disk_bytes: Some(210 * GB),
            bytes_flushed: Some(10 * GB),
            bytes_compacted: Some(35 * GB),
            pending_compactions: Some(3),
            sstables_per_read_p95: Some(10.0),
            tombstones_per_slice_p95: Some(30.0),
            live_cells_per_slice_p95: Some(10.0),
            droppable_ratio: Some(0.05),
            ..rows::TableSample::default()
        });
    }
    for (keyspace, table_name, fact, value) in [
        ("shop", "", "replication", r#"{"class":"o.a.c.locator.NetworkTopologyStrategy","one":"3"}"#),
        ("shop", "orders", "compaction", r#"{"class":"o.a.c.db.compaction.SizeTieredCompactionStrategy"}"#),
        ("shop", "orders", "gc_grace_seconds", "864000"),
        ("shop", "orders", "default_time_to_live", "0"),
        ("", "", "repair_sessions", "0"),
    ] {
        recorder.append(rows::TableFact {
            time_ns: T0,
            node: NODE,
            keyspace,
            table_name,
            fact,
            value,
            source: "system_schema",
        });
    }
    // The later value of the setting counts.
    for (second, value) in [(0, "1h"), (9, "3h")] {
        recorder.append(rows::Setting {
            time_ns: T0 + second * S,
            node: NODE,
            setting: "max_hint_window",
            value,
            source: "system_views.settings",
        });
    }
    for index in 0..200 {
        recorder.append(rows::Pause {
            start_ns: T0 + index * S / 20,
            duration_ns: 5_000_000,
            node: NODE,
            kind: "gc",
            gc_id: Some(index),
            collector: Some("ParNew"),
            ..rows::Pause::default()
        });
    }
}

fn with_engine<T>(ask: impl FnOnce(&Engine) -> T) -> T {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let mut manifest = Manifest::new("report", "helenus record");
    manifest.nodes.push(NodeFacts { address: NODE.into(), cassandra: Some("4.1.5".into()), ..NodeFacts::default() });
    let recorder = Recorder::create(&path, manifest).unwrap();
    record(&recorder);
    recorder.close().unwrap();
    ask(&Engine::open(&[Recording::open(&path).unwrap()]).unwrap())
}

fn rules(report: &AdviceReport) -> Vec<&str> {
    report.advice.iter().map(|advice| advice.rule).collect()
}

#[test]
fn a_table_has_its_rates_and_its_last_figures() {
    let health: TableHealth = with_engine(tables).unwrap().remove(0);
    assert_eq!(
        (health.table.as_str(), health.reads_per_s, health.writes_per_s),
        ("shop.orders", Some(100.0), Some(200.0))
    );
    assert_eq!((health.local_read_us, health.local_write_us), (Some(15_000.0), Some(50.0)));
    assert_eq!((health.coordinator_reads_per_s, health.coordinator_read_us), (Some(100.0), Some(18_000.0)));
    assert_eq!((health.write_amplification, health.largest_share()), (Some(4.5), Some(0.425)));
    assert_eq!((health.sstables_by_level, health.max_partition_bytes), (None, None));
}

#[test]
fn the_report_s_findings_come_out() {
    let report = with_engine(|engine| advise(engine, None)).unwrap();
    assert_eq!((report.nodes, report.tables), (1, 1));
    let found = rules(&report);
    for rule in
        ["sstables-per-read", "tombstones-per-read", "droppable-tombstones", "stuck-sstable", "gc-grace", "gc-time"]
    {
        assert!(found.contains(&rule), "{rule} is not among {found:?}");
    }
    let of = |rule| report.advice.iter().find(|advice| advice.rule == rule).unwrap();
    assert!(of("gc-time").evidence[0].text.starts_with("20.0 young"), "{:?}", of("gc-time"));
    assert!(of("sstables-per-read").advice.contains("Leveled"), "4.1 has no other: {:?}", of("sstables-per-read"));
    let grace = &of("gc-grace").evidence[0];
    assert_eq!((grace.node.as_str(), grace.figures["hint_window_s"].as_f64()), (NODE, Some(10_800.0)));
    let missed = |rule| report.not_checked.iter().find(|one| one.rule == rule).map(|one| one.because.as_str());
    assert_eq!(missed("wide-partitions"), Some("the sizes of partitions are not recorded"));
    assert_eq!(missed("chunk-size"), Some("its compression is not recorded"));
}

#[test]
fn only_the_tables_asked_for_are_advised_on() {
    let other = with_engine(|engine| advise(engine, Some("other."))).unwrap();
    assert_eq!((other.tables, rules(&other)), (0, vec!["gc-time"]));
}

#[test]
fn advice_is_among_the_findings() {
    let explanation = with_engine(|engine| explain(engine, &Options::default())).unwrap();
    let of = |kind| explanation.findings.iter().find(|finding| finding.finding == kind).unwrap();
    let first = &explanation.findings[0];
    assert_eq!((first.rank, explanation.severity()), (1, first.severity));
    assert!(!explanation.findings.iter().any(|finding| finding.finding == "healthy"), "{explanation}");
    let tombstones = of("tombstones-per-read");
    assert_eq!((tombstones.severity, tombstones.node.as_str()), (Severity::Warning, NODE));
    assert!(tombstones.title.starts_with("shop.orders: "), "{}", tombstones.title);
    assert!(tombstones.detail.contains("To verify: "), "{}", tombstones.detail);
    assert!(tombstones.query.contains("FROM table_stats"), "{}", tombstones.query);
    assert_eq!(tombstones.evidence["nodes"][0]["figures"]["live_cells_per_slice"], 10.0, "{:#}", tombstones.evidence);
    assert_eq!((tombstones.window_start_ns, tombstones.window_end_ns), (T0, T0 + 10 * S));
    assert_eq!(tombstones.share, None, "it is counted for no slow request");
}

/// Three clients. The first prepares and has a right clock. The second sends text, and its clock is a minute behind. The third opens a
/// connection for each request.
#[test]
fn habits_of_clients_are_read_from_their_requests() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    let read = "SELECT state FROM shop.orders WHERE id = ?";
    let request = |number: i64, client: &'static str, opcode: &'static str| rows::WireRequest {
        start_ns: T0 + number * S / 100,
        duration_ns: S / 1000,
        node: NODE,
        client,
        client_port: 40_000,
        opcode,
        statement: read,
        consistency: Some("LOCAL_ONE"),
        answer: "rows",
        page_size: Some(5000),
        ..rows::WireRequest::default()
    };
    for number in 0..1000 {
        let right = rows::WireRequest { client_ahead_ns: Some(-S / 5000), ..request(number, "10.0.0.1", "EXECUTE") };
        let late = rows::WireRequest { client_ahead_ns: Some(-60 * S), ..request(number, "10.0.0.2", "QUERY") };
        recorder.append(right);
        recorder.append(late);
        if number % 10 == 0 {
            let statement = "";
            recorder.append(rows::WireRequest { statement, ..request(number, "10.0.0.3", "STARTUP") });
            // Ten answers of 2 MiB, all rows at once; every read fails and is sent again at once.
            let failed = rows::WireRequest {
                token: Some(number),
                error: Some("read_timeout"),
                response_bytes: 2 << 20,
                page_size: None,
                rows_returned: Some(40_000),
                ..request(number, "10.0.0.3", "EXECUTE")
            };
            recorder.append(failed);
            recorder.append(rows::WireRequest { start_ns: failed.start_ns + S / 500, error: None, ..failed });
        }
    }
    recorder.append(rows::ClientConnection {
        time_ns: T0,
        node: NODE,
        client: "10.0.0.2",
        client_port: 40_000,
        driver: Some("DataStax Python Driver"),
        driver_version: Some("3.25.0"),
    });
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let advice = advise(&engine, None).unwrap().advice;
    let found = |rule: &str| {
        let found = advice.iter().find(|advice| advice.rule == rule);
        found.unwrap_or_else(|| panic!("no {rule} in {advice:#?}")).evidence[0].text.clone()
    };
    assert!(found("unprepared-statements").contains("10.0.0.2 (DataStax Python Driver 3.25.0)"));
    assert!(found("client-clock").contains("is 60.0 s behind the node's"), "{}", found("client-clock"));
    assert!(found("new-connections").starts_with("10.0.0.3 opened 100 connections and sent 200 requests"));
    assert!(found("large-answers").contains("200 answers of 1.0 MiB or more, up to 2.0 MiB and 40,000 rows"));
    assert!(found("retries").contains("10.0.0.3 sent 100 % of its failed requests again"), "{}", found("retries"));
    assert!(found("old-driver").starts_with("10.0.0.2 uses DataStax Python Driver 3.25.0"));
    for quiet in ["prepared-again", "every-replica", "crowded-connection", "slow-reader"] {
        assert!(advice.iter().all(|advice| advice.rule != quiet), "{quiet}");
    }
}
