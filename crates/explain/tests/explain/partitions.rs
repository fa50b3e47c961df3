//! Partitions by token, from requests seen on the wire.

use crate::world::{MS, NODE, T0};
use helenus_explain::{Engine, PartitionMeasure, TrafficFilter, partition_traffic};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

const HOT: i64 = -4_069_959_284_402_364_209;

/// 1000 requests. Half of those on table orders read one partition, and 100 others read a partition of their own each.
/// A tenth of those on table notes has no token. Each request on orders has weight 2.
fn engine() -> (Engine, TempDir) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let recorder = Recorder::create(&path, Manifest::new("partitions", "helenus record")).unwrap();
    for number in 0..1000 {
        let (is_order, place) = (number % 5 == 0, number / 5);
        recorder.append(rows::WireRequest {
            start_ns: T0 + number * MS,
            duration_ns: if is_order && place % 2 == 0 { 3 * MS } else { MS },
            node: NODE,
            client: if number % 2 == 0 { "127.0.0.11" } else { "127.0.0.12" },
            opcode: "EXECUTE",
            statement: match (is_order, place % 4) {
                (true, 0) => "SELECT * FROM orders WHERE customer = ?",
                (true, _) => "INSERT INTO orders (customer, at) VALUES (?, ?)",
                _ => "SELECT text FROM shop.notes WHERE id = ?",
            },
            keyspace: Some("shop"),
            token: match (is_order, place % 2) {
                (true, 0) => Some(HOT),
                (true, _) => Some(place),
                _ if number % 10 == 1 => None,
                _ => Some(HOT + number),
            },
            answer: "rows",
            request_bytes: 50,
            response_bytes: if is_order { 950 } else { 50 },
            weight: is_order.then_some(2.0),
            ..rows::WireRequest::default()
        });
    }
    recorder.close().unwrap();
    (Engine::open(&[Recording::open(&path).unwrap()]).unwrap(), folder)
}

#[test]
fn a_hot_partition_is_shown_with_the_skew_of_its_table() {
    let (engine, _folder) = engine();
    let traffic = partition_traffic(&engine, &TrafficFilter::default(), PartitionMeasure::Count, 3).unwrap();
    assert_eq!((traffic.requests, traffic.without_token, traffic.rows.len()), (1200, 100, 3));
    let hot = &traffic.rows[0];
    assert_eq!((hot.keyspace.as_str(), hot.table.as_str(), hot.token), ("shop", "orders", HOT));
    assert_eq!((hot.figures.requests, hot.reads, hot.writes, hot.clients), (200, 100, 100, 1));
    assert_eq!((hot.figures.request_bytes, hot.figures.response_bytes), (Some(10_000), Some(190_000)));
    assert!((hot.requests_share - 0.5).abs() < 1e-9 && (hot.figures.time_share - 0.75).abs() < 1e-9, "{hot:?}");
    let orders = traffic.tables.iter().find(|table| table.table == "orders").unwrap();
    assert_eq!((orders.requests, orders.partitions, orders.without_token), (400, 101, 0));
    assert!((orders.top_1_share - 0.5).abs() < 1e-9 && (orders.top_10_share - 0.545).abs() < 1e-9, "{orders:?}");
    assert!((orders.skew.unwrap() - 50.5).abs() < 1e-9, "{orders:?}");
    let notes = traffic.tables.iter().find(|table| table.table == "notes").unwrap();
    assert_eq!((notes.requests, notes.without_token, notes.partitions), (800, 100, 700));
    assert!((notes.skew.unwrap() - 1.0).abs() < 1e-9, "{notes:?}");
}

#[test]
fn partitions_are_ranked_by_what_is_asked_for() {
    let (engine, _folder) = engine();
    let of_orders = TrafficFilter { table: Some("shop.orders".to_string()), ..TrafficFilter::default() };
    for (by, share) in [(PartitionMeasure::Time, 0.75), (PartitionMeasure::Bytes, 0.5)] {
        let traffic = partition_traffic(&engine, &of_orders, by, 10).unwrap();
        assert_eq!((traffic.tables.len(), traffic.rows.len(), traffic.rows[0].token), (1, 10, HOT));
        assert!((traffic.tables[0].top_1_share - share).abs() < 1e-9, "{by:?}: {:?}", traffic.tables[0]);
    }
    let nobody = TrafficFilter { client: Some("127.0.0.99".to_string()), ..TrafficFilter::default() };
    let none = partition_traffic(&engine, &nobody, PartitionMeasure::Count, 10).unwrap();
    assert!(none.requests == 0 && none.tables.is_empty() && none.rows.is_empty());
}
