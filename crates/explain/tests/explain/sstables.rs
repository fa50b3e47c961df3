//! SSTables one by one, and tables that are idle most of the time.

use crate::world::{NODE, S, T0};
use helenus_explain::{Engine, sstable_groups, sstables, tables};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

const MB: i64 = 1_000_000;
const HOUR_US: i64 = 3_600_000_000;

fn recorded(record: impl FnOnce(&Recorder)) -> (TempDir, Engine) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    record(&recorder);
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    (folder, engine)
}

fn sstable(
    second: i64,
    table_name: &'static str,
    file: &'static str,
    level: i64,
    disk_bytes: i64,
) -> rows::Sstable<'static> {
    rows::Sstable {
        time_ns: T0 + second * S,
        node: NODE,
        keyspace: "shop",
        table_name,
        file,
        live: true,
        written_ns: Some(T0 - 100 * S),
        level: Some(level),
        disk_bytes: Some(disk_bytes),
        max_timestamp_us: Some(T0 / 1000 + i64::from(file.len() as u32) * HOUR_US),
        repaired_at_ms: Some(0),
        source: "SSTableReader",
        ..rows::Sstable::default()
    }
}

#[test]
fn those_that_are_left_are_shown_as_they_are_at_the_end() {
    let (_folder, engine) = recorded(|recorder| {
        recorder.append(sstable(0, "orders", "/d/nb-1-big-Data.db", 0, 10 * MB));
        recorder.append(sstable(0, "orders", "/d/nb-2-big-Data.db", 0, 20 * MB));
        recorder.append(rows::Sstable {
            live: false,
            level: None,
            disk_bytes: None,
            ..sstable(5, "orders", "/d/nb-1-big-Data.db", 0, 0)
        });
        // An SSTable that moved to another level.
        recorder.append(sstable(6, "orders", "/d/nb-2-big-Data.db", 1, 20 * MB));
        recorder.append(sstable(6, "orders", "/d/nb-3-big-Data.db", 1, 30 * MB));
        recorder.append(sstable(9, "orders", "/d/nb-4-big-Data.db", 0, MB));
        recorder.append(sstable(10, "carts", "/d/a", 0, MB / 2));
        recorder.append(sstable(10, "carts", "/d/b", 0, 3 * MB));
        recorder.append(sstable(10, "events", "/d/n1", 0, MB));
        recorder.append(sstable(10, "events", "/d/n2", 0, MB));
        recorder.append(sstable(10, "events", "/d/n33", 0, MB));
        recorder.append(rows::TableFact {
            time_ns: T0,
            node: NODE,
            keyspace: "shop",
            table_name: "events",
            fact: "compaction",
            value: r#"{"class":"a.TimeWindowCompactionStrategy","compaction_window_size":"1","compaction_window_unit":"HOURS"}"#,
            source: "system_schema.tables",
        });
    });
    let all = sstables(&engine).unwrap();
    let orders: Vec<_> = all.iter().filter(|one| one.table == "shop.orders").collect();
    assert_eq!(orders.iter().map(|one| one.disk_bytes.unwrap() / MB).collect::<Vec<_>>(), [30, 20, 1]);
    assert_eq!((orders[1].level, orders[1].age_s), (Some(1), Some(110)));
    let groups = sstable_groups(&engine, &all).unwrap();
    let of = |table: &str| -> Vec<(String, usize, i64)> {
        let own = groups.iter().filter(|group| group.table == table);
        own.map(|group| (group.group.clone(), group.sstables, group.disk_bytes / MB)).collect()
    };
    assert_eq!(of("shop.orders"), [("level 0".to_string(), 1, 1), ("level 1".to_string(), 2, 50)]);
    assert_eq!(of("shop.carts"), [("up to 1.0 MiB".to_string(), 1, 0), ("up to 4.0 MiB".to_string(), 1, 3)]);
    let windows = of("shop.events");
    assert_eq!(windows.iter().map(|(_, count, _)| *count).collect::<Vec<_>>(), [2, 1], "{windows:?}");
    assert!(windows[0].0.starts_with("window of 2023-11-15T"), "{windows:?}");
}

#[test]
fn what_is_counted_for_a_table_at_rest_is_spread_over_the_time_that_it_was_looked_at() {
    let (_folder, engine) = recorded(|recorder| {
        for (second, reads) in [(0, 0), (30, 0), (31, 1000), (91, 1000)] {
            recorder.append(rows::TableSample {
                time_ns: T0 + second * S,
                node: NODE,
                keyspace: "shop",
                table_name: "orders",
                reads: Some(reads),
                ..rows::TableSample::default()
            });
        }
        for second in 0..=100 {
            recorder.append(rows::SourceReport {
                time_ns: T0 + second * S,
                interval_ns: S,
                source: "tables",
                node: NODE,
                provider: "agent-mbeans",
                cpu_ns: Some(1000),
                ..rows::SourceReport::default()
            });
        }
    });
    assert_eq!(tables(&engine).unwrap()[0].reads_per_s, Some(10.0));
}

/// The rows of a window in the middle of a long recording are neither at its start nor at its end.
#[test]
fn tables_have_the_rates_of_the_window() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("long", "test")).unwrap();
    for second in 0..=1000 {
        // Ten times as many reads from the middle on.
        let reads = if second < 500 { second * 10 } else { 5000 + (second - 500) * 100 };
        recorder.append(rows::TableSample {
            time_ns: T0 + second * S,
            node: NODE,
            keyspace: "shop",
            table_name: "orders",
            reads: Some(reads),
            ..rows::TableSample::default()
        });
        recorder.append(rows::SourceReport {
            time_ns: T0 + second * S,
            interval_ns: S,
            source: "tables",
            node: NODE,
            cpu_ns: Some(1000),
            ..rows::SourceReport::default()
        });
    }
    recorder.close().unwrap();
    let recording = [Recording::open(&path).unwrap()];
    for (from, to, rate) in [(300, 360, 10.0), (600, 660, 100.0)] {
        let engine = Engine::open_within(&recording, (T0 + from * S, T0 + to * S)).unwrap();
        let found = tables(&engine).unwrap()[0].reads_per_s.unwrap();
        assert!((found - rate).abs() < rate / 10.0, "{from} to {to}: {found}");
    }
}

#[test]
fn what_was_read_once_has_no_rate() {
    let (_folder, engine) = recorded(|recorder| {
        let (time_ns, node, keyspace) = (T0, NODE, "shop");
        let reads = Some(7);
        recorder.append(rows::TableSample { time_ns, node, keyspace, table_name: "a", reads, ..Default::default() });
        let later = time_ns + S / 20;
        recorder.append(rows::TableSample {
            time_ns: later,
            node,
            keyspace,
            table_name: "b",
            reads,
            ..Default::default()
        });
        // The reading, and the report at the end.
        for (second, cpu_ns) in [(1, 1000), (4, 0)] {
            recorder.append(rows::SourceReport {
                time_ns: T0 + second * S,
                interval_ns: S,
                source: "tables",
                node,
                cpu_ns: Some(cpu_ns),
                ..rows::SourceReport::default()
            });
        }
    });
    assert!(tables(&engine).unwrap().iter().all(|table| table.reads_per_s.is_none()));
}

#[test]
fn a_long_recording_is_read_at_its_ends() {
    let (_folder, engine) = recorded(|recorder| {
        for minute in 0..120 {
            for table_name in ["orders", "dropped", "new"] {
                let is_there = match table_name {
                    "dropped" => minute < 1,
                    "new" => minute >= 60,
                    _ => true,
                };
                if is_there {
                    recorder.append(rows::TableSample {
                        time_ns: T0 + minute * 60 * S,
                        node: NODE,
                        keyspace: "shop",
                        table_name,
                        reads: Some(minute * 600),
                        sstables: Some(minute),
                        ..rows::TableSample::default()
                    });
                }
            }
        }
    });
    let health = tables(&engine).unwrap();
    let of = |name: &str| health.iter().find(|table| table.table == name).unwrap();
    assert_eq!((of("shop.orders").reads_per_s, of("shop.orders").sstables), (Some(10.0), Some(119)));
    // The reading between them has the rate of the last minutes.
    assert_eq!((of("shop.new").reads_per_s, of("shop.new").sstables), (Some(10.0), Some(119)));
    assert_eq!(of("shop.dropped").reads_per_s, None, "one reading is no rate");
}
