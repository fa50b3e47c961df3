//! Known truths must come out: a real Cassandra, a cause that the test brings about itself, and what explain says of it.

use crate::harness::{Place, Running, signal_to, size_of, wait_for};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Findings that blame somebody, as (kind, severity).
fn blamed(explanation: &Value) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_string();
    explanation["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (text(finding, "finding"), text(finding, "severity")))
        .filter(|(_, severity)| severity != "information")
        .collect()
}

/// Where the time of the requests went, by both sides of the wire.
fn origin(explanation: &Value) -> Value {
    let findings = explanation["findings"].as_array().unwrap();
    let origin = findings.iter().find(|finding| finding["finding"] == "latency-origin");
    origin.unwrap_or_else(|| panic!("no latency-origin in {explanation:#}"))["evidence"].clone()
}

fn pid_of_node(place: &Place, cluster: &str) -> i32 {
    let clusters = place.json("ps --json");
    let cluster = clusters.as_array().unwrap().iter().find(|status| status["name"] == cluster).unwrap();
    cluster["nodes"][0]["pid"].as_i64().unwrap() as i32
}

/// Threads of a process whose names begin with helenus.
fn agent_threads(pid: i32) -> usize {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).filter(|name| name.starts_with("helenus")).count()
}

/// Records a node and drives it at the same time, in two processes; `meanwhile` is called when rows are being written.
/// Merges both recordings into `name`.
fn record_under_load(place: &Place, name: &str, address: &str, load: &str, meanwhile: impl FnOnce(&Running)) {
    let (server, client) = (format!("{name}-server"), format!("{name}-client"));
    let record = place.start(&format!("record --node {address} --wire on -o {server}"));
    wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
    let load = place.start(&format!("load {load} --node {address} -o {client}"));
    wait_for("requests to be recorded", || size_of(&place.path(&format!("{client}/requests"))) > 0);
    meanwhile(&load);
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);
    record.signal(libc::SIGINT);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    place.well(&format!("recording merge {client} {server} -o {name}"));
}

/// Lets the load run for a while, stops a process for a second, and lets it go on.
fn stop_for_a_second(pid: i32) {
    std::thread::sleep(Duration::from_secs(6));
    signal_to(pid, libc::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    signal_to(pid, libc::SIGCONT);
}

#[test]
fn a_healthy_node_and_what_is_done_to_it() {
    let place = Place::new();
    let address = "127.0.30.1";
    place.well(&format!("up --name healthy --address {address} --heap 768m"));
    let node = pid_of_node(&place, "healthy");
    place.well(&format!("load keyvalue/mixed --node {address} --no-populate --in-flight 16 --for 15s -o warm-up"));
    let calm = "keyvalue/mixed --rate 150 --for 15s --warm-up 2s";

    record_under_load(&place, "idle", address, calm, |_| {});
    let idle = place.json("explain idle --json");
    assert_eq!(blamed(&idle), [], "{idle:#}");
    let expected = place.ask("idle", "select count(*) from requests");
    assert_eq!(expected, 17 * 150, "open loop sends what its schedule says");
    assert_eq!(place.ask("idle", "select count(*) from requests where outcome <> 'ok'"), 0);
    for table in ["cpus", "threads", "pools", "table_stats", "pauses", "sources", "marks"] {
        assert!(place.ask("idle", &format!("select count(*) from {table}")) > 0, "{table} has rows");
    }
    let java_names = "select count(*) from threads where thread_group = 'Native-Transport-Requests'";
    assert!(place.ask("idle", java_names) > 0, "threads have their Java names");
    assert_eq!(agent_threads(node), 0, "the agent has left");
    read_by_another(&place.path("idle"), expected);
    let on_the_wire = "select count(*) from wire where opcode = 'EXECUTE' and statement like '% helenus.keyvalue %'";
    assert_eq!(place.ask("idle", on_the_wire), expected, "every request is paired with its answer");
    assert_eq!(place.ask("idle", "select sum(lost) from sources where source = 'wire'"), 0);
    for split in ["slow", "others"] {
        let split = &origin(&idle)[split];
        assert_eq!(split["on_the_wire"], split["requests"], "each is found on both sides: {split:#}");
    }

    record_under_load(&place, "client-stopped", address, calm, |load| stop_for_a_second(load.pid()));
    let explanation = place.json("explain client-stopped --json");
    let found = blamed(&explanation);
    assert_eq!(found.first().map(|(kind, _)| kind.as_str()), Some("client-stall"), "{explanation:#}");
    assert!(
        !found.iter().any(|(kind, _)| ["gc-pause", "server-stall", "safepoint"].contains(&kind.as_str())),
        "the server is not blamed: {found:?}"
    );

    let origin_there = origin(&explanation);
    let longest_ms = origin_there["slow"]["in_node_max_ms"].as_f64().unwrap();
    assert!(longest_ms < 600.0, "the driver's second is not on the wire: {origin_there:#}");

    record_under_load(&place, "server-stopped", address, calm, |_| stop_for_a_second(node));
    let explanation = place.json("explain server-stopped --json");
    let found = blamed(&explanation);
    assert_eq!(found.first().map(|(kind, _)| kind.as_str()), Some("server-stall"), "{explanation:#}");
    assert!(
        !found.iter().any(|(kind, _)| ["gc-pause", "client-stall", "safepoint"].contains(&kind.as_str())),
        "neither GC nor the client is blamed: {found:?}"
    );

    let share = origin(&explanation)["slow"]["in_node"]["share"].as_f64().unwrap();
    assert!(share > 0.8, "the node's second is on the wire: {share}");

    killed_and_salvaged(&place, address);
    wait_for("the agent to leave after its recorder was killed", || agent_threads(node) == 0);

    // The node's end closes the recording whole.
    let record = place.start(&format!("record --node {address} -o last"));
    let recorded = |table: &str| size_of(&place.path(&format!("last/{table}"))) > 0;
    wait_for("the sources to record", || recorded("pools") && recorded("threads"));
    signal_to(node, libc::SIGKILL);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    assert!(record.err.contains("has ended"), "{}", record.err);
    assert!(place.ask("last", "select count(*) from threads") > 0);
}

/// Kills the recorder and the load at once, in the middle of it; both recordings can be salvaged and explained.
fn killed_and_salvaged(place: &Place, address: &str) {
    let record = place.start(&format!("record --node {address} -o killed-server"));
    let recorded = |table: &str| size_of(&place.path(&format!("killed-server/{table}"))) > 0;
    wait_for("the sources to record", || recorded("pools") && recorded("threads"));
    let load = place.start(&format!("load keyvalue/mixed --rate 400 --for 60s --node {address} -o killed-client"));
    wait_for("requests to be recorded", || size_of(&place.path("killed-client/requests")) > 0);
    std::thread::sleep(Duration::from_millis(2_345));
    let killed_ns = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    record.signal(libc::SIGKILL);
    load.signal(libc::SIGKILL);
    record.end();
    load.end();
    for (recording, table) in [("killed-client", "requests"), ("killed-server", "threads")] {
        let refused = place.run(&format!("explain {recording}"));
        assert_eq!(refused.status.code(), Some(2));
        assert!(refused.err.contains("helenus recording salvage"), "{}", refused.err);
        place.well(&format!("recording salvage {recording}"));
        let time = if table == "requests" { "start_ns" } else { "time_ns" };
        let last_ns = place.ask(recording, &format!("select max({time}) from {table}"));
        assert!(
            last_ns > killed_ns - 1_000_000_000,
            "{table} ends {} ms before the kill",
            (killed_ns - last_ns) / 1_000_000
        );
    }
    place.well("recording merge killed-client killed-server -o killed");
    place.json("explain killed --json");
    place.well("report killed -o killed.html");
}

/// DuckDB reads our Parquet.
fn read_by_another(recording: &Path, requests: i64) {
    let python = std::env::var("HELENUS_TEST_PYTHON")
        .unwrap_or_else(|_| format!("{}/.cache/helenus/python/bin/python", std::env::var("HOME").unwrap()));
    let script = "import duckdb, sys; print(*duckdb.sql(f\"select count(*), count(distinct operation), min(end_ns - start_ns) > 0 from '{sys.argv[1]}/requests/*.parquet'\").fetchall())";
    let output = std::process::Command::new(&python).args(["-c", script]).arg(recording).output();
    let output = output.unwrap_or_else(|error| panic!("{python}: {error}; `make test` installs it"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), format!("({requests}, 2, True)"), "{}", String::from_utf8_lossy(&output.stderr));
}

/// So many bytes a row that a small heap has to be collected all the time.
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
    let place = Place::new();
    let address = "127.0.30.2";
    std::fs::write(place.path("large.toml"), LARGE_ROWS).unwrap();
    let heap = "--heap 128m --jvm-opt=-XX:+UseSerialGC --set memtable_heap_space=32MiB";
    place.well(&format!("up --name small --address {address} {heap}"));
    place.well(&format!("load large.toml --node {address} --in-flight 4 --for 8s -o warm-up"));
    record_under_load(&place, "small", address, "large.toml --rate 200 --for 25s --warm-up 5s", |_| {});
    let explanation = place.json("explain small --json");
    let found = blamed(&explanation);
    assert_eq!(found.first().map(|(kind, _)| kind.as_str()), Some("gc-pause"), "{explanation:#}");
    let first = &explanation["findings"][0];
    let (share, chance) = (first["share"].as_f64().unwrap(), first["chance_share"].as_f64().unwrap());
    assert!(share > 2.0 * chance && first["p_value"].as_f64().unwrap() < 0.01, "{share} against {chance}");
}
