//! Cassandra 4.0 and 4.1 on the JDK that they need: they can be recorded, explained and changed, and are left
//! unchanged.

use crate::harness::{Place, nothing_failed, wait_for};
use serde_json::{Value, json};

const LEVELED: &str = r#"{"class":"LeveledCompactionStrategy","sstable_size_in_mb":8}"#;

#[test]
fn cassandra_4_0_is_served_as_the_newest_line_is() {
    serves("4.0");
}

#[test]
fn cassandra_4_1_is_served_as_the_newest_line_is() {
    serves("4.1");
}

fn serves(line: &str) {
    let java =
        std::env::var_os("HELENUS_TEST_JAVA_11").expect("HELENUS_TEST_JAVA_11 names a JDK 11; `make test` fetches one");
    let place = Place::with_java(java.into());
    place.well(&format!("up --version {line} --ready --name older --heap 512m"));
    let up = &place.json("ps --json")[0]["nodes"][0];
    assert!(up["version"].as_str().unwrap().starts_with(line), "{up}");
    let node = up["address"].as_str().unwrap().trim_end_matches(":9042").to_string();
    let on = format!("--node {node}");
    place.well(&format!("load keyvalue {on} --populate --population 2k -o populate.helenus"));

    recorded_and_explained(&place, &on);
    metered_and_held_back(&place, &on, line);
    tuned_and_put_back(&place, &on);

    let shown = place.json(&format!(
        "try {on} --table helenus.keyvalue --heap 512m --blocks 1 --sample 50% --compaction {LEVELED} --json"
    ));
    let [now, leveled] = shown["outcome"]["variants"].as_array().unwrap().as_slice() else { panic!("{shown}") };
    assert!(now["sstables"].as_u64() > Some(0) && leveled["settled"] == true, "{shown}");
    assert!(shown["outcome"]["reads"]["partitions"].as_u64() > Some(0), "{shown}");

    // The snapshot has flushed the table.
    let shown = place.json(&format!("tables {on} --for 3s --table helenus. --json"));
    let keyvalue = &shown["tables"][0];
    for figure in ["sstables", "live_disk_bytes", "mean_partition_bytes"] {
        assert!(keyvalue[figure].as_i64() > Some(0), "no {figure} in {keyvalue:#}");
    }
    for figure in ["coordinator_read_us", "sstables_per_read_p95", "tombstones_per_slice_p95", "droppable_ratio"] {
        assert!(keyvalue[figure].is_number(), "no {figure} in {keyvalue:#}");
    }
    place.json(&format!("gc {on} --for 3s --json"));
    place.json(&format!("advise {on} --for 3s --json"));
}

/// Recorded by all sources at the same time.
fn recorded_and_explained(place: &Place, on: &str) {
    let record = place.start(&format!("record {on} --syscalls summary --sched on -o older"));
    wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
    place.well(&format!("load keyvalue/mixed {on} --no-populate --population 2k --rate 300 --for 10s -o load.helenus"));
    record.signal(libc::SIGINT);
    let result = record.end();
    assert!(result.status.success(), "{}", result.err);
    for table in
        ["pools", "table_stats", "pauses", "samples", "syscall_summary", "run_queue", "node_metrics", "client_requests"]
    {
        assert!(place.ask("older", &format!("select count(*) from {table}")) > 0, "{table} has rows: {}", result.err);
    }
    // On a busy machine some requests time out.
    let of_requests = "select count(*) from requests where outcome = 'ok' or outcome like '%timeout'";
    assert_eq!(place.ask("load.helenus", of_requests), 3000);
    let answered = place.ask("load.helenus", "select count(*) from requests where outcome = 'ok'");
    let on_the_wire = "select count(*) from wire where opcode = 'EXECUTE' and statement like '% helenus.keyvalue %'";
    // A busy machine may drop packets, which is counted.
    let lost = place.ask("older", "select sum(lost) from sources where source = 'wire'");
    let paired = place.ask("older", on_the_wire);
    let is_whole = (answered..=3000).contains(&paired);
    assert!(is_whole || lost > 0, "each request is paired with its answer: {paired}, {answered} answered");
    let java_names = "select count(*) from threads where thread_group = 'Native-Transport-Requests'";
    assert!(place.ask("older", java_names) > 0, "threads have their Java names");
    let java_frames = "select count(*) from samples where thread_group = 'Native-Transport-Requests'";
    assert!(place.ask("older", java_frames) > 0);
    place.well("explain older");
    place.well("report older -o older.html");
}

fn metered_and_held_back(place: &Place, on: &str, line: &str) {
    let found = place.json(&format!("points {on} --json"));
    assert_eq!(found["preset"], format!("cassandra-{line}"));
    for point in ["request", "reads", "slices", "scans", "writes", "batches", "lwt", "counters"] {
        assert!(found["points"].as_array().unwrap().iter().any(|one| one["point"] == point), "no {point} in {found}");
    }
    let load = place.start(&format!(
        "load keyvalue/mixed {on} --no-populate --population 2k --in-flight 16 --for 10m --json -o held.helenus"
    ));
    let model = place.json(&format!("probes {on} --at request --at writes --for 3s --bound 50 --json"));
    for probe in model["probes"].as_array().unwrap() {
        assert!(probe["calls"].as_array().unwrap().iter().any(|calls| calls["calls"].as_i64() > Some(0)), "{probe}");
    }
    place.well(&format!("valve add few --at writes --law fixed --parameter limit=2 {on}"));
    place.well(&format!("valve add threads --stage native-transport --law fixed --parameter limit=8 {on}"));
    place.well(&format!("executor set native-transport batched-drain {on}"));
    let valves = || place.json(&format!("valve list {on} --json"));
    wait_for("a window", || valves()[0]["last"]["completed"].as_i64() > Some(0));
    wait_for("tasks", || place.json(&format!("executor list {on} --json"))[0]["ran"].as_i64() > Some(100));
    place.well(&format!("executor remove --all {on}"));
    place.well(&format!("valve remove --all {on}"));
    assert_eq!(valves(), json!([]));
    load.signal(libc::SIGINT);
    let result = load.end();
    assert!(result.status.success(), "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    nothing_failed(&summary);
}

fn tuned_and_put_back(place: &Place, on: &str) {
    for settings in [
        format!("--table helenus.keyvalue --compaction {LEVELED}"),
        "--compaction-throughput 8 --concurrent-compactors 1".to_string(),
        "--threads read=4 --threads native-transport=8".to_string(),
    ] {
        let made = place.json(&format!("tune apply {on} {settings} --json"));
        let undone = place.json("tune undo --all --json");
        for (made, undone) in made.as_array().unwrap().iter().zip(undone.as_array().unwrap().iter().rev()) {
            assert_eq!((&undone["outcome"], &undone["now"]), (&json!("undone"), &made["before"]), "{made}");
        }
    }
}
