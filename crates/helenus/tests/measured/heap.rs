//! A heap far too small is found to be the reason for slow requests.

use crate::harness::{Place, record_under_load};
use crate::{alone, blamed};

/// Rows so large that a small heap is collected all the time.
const LARGE_ROWS: &str = r#"
description = "Rows of 20 kB"
schema = [
  "CREATE KEYSPACE IF NOT EXISTS large WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  "CREATE TABLE IF NOT EXISTS large.rows (key bigint PRIMARY KEY, value blob)",
]
[parameters.key]
kind = "key"
population = 100_000
distribution = "uniform"
[parameters.value]
kind = "value"
size_bytes = 20_000
content = "random"
[operations.write]
cql = "INSERT INTO large.rows (key, value) VALUES (:key, :value)"
"#;

#[test]
fn a_heap_far_too_small() {
    let _alone = alone();
    let place = Place::new();
    let address = "127.0.30.2";
    std::fs::write(place.path("large.toml"), LARGE_ROWS).unwrap();
    let heap = "--heap 128m --jvm-opt=-XX:+UseSerialGC --set memtable_heap_space=32MiB";
    place.well(&format!("up --name small --address {address} {heap}"));
    place.well(&format!("load large.toml --node {address} --in-flight 4 --for 8s -o warm-up"));
    record_under_load(&place, "small", address, "large.toml --rate 200 --for 25s --warm-up 5s", |_| {});
    let explanation = place.json("explain small --json");
    let found = blamed(&explanation);
    assert_eq!(found.first(), Some(&"gc-pause"), "{explanation:#}");
    let first = &explanation["findings"][0];
    let (share, chance) = (first["share"].as_f64().unwrap(), first["chance_share"].as_f64().unwrap());
    assert!(share > 2.0 * chance && first["p_value"].as_f64().unwrap() < 0.01, "{share} against {chance}");
}
