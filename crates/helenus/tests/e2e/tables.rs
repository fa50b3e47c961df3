//! The health of tables and the advice about them, of a real Cassandra that runs, with an agent and without.

use crate::harness::{Place, size_of, wait_for};
use helenus_cassandra::cql::Connection;
use serde_json::Value;
use std::time::Duration;

const CHURN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/churn.toml");
const WIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/wide.toml");

fn of_table<'a>(shown: &'a Value, table: &str) -> &'a Value {
    let tables = shown["tables"].as_array().unwrap();
    tables.iter().find(|one| one["table"] == table).unwrap_or_else(|| panic!("no {table} in {shown:#}"))
}

fn number(table: &Value, figure: &str) -> f64 {
    table[figure].as_f64().unwrap_or_else(|| panic!("no {figure} in {table:#}"))
}

/// The tables, of a time in which all of the node was read twice and the load went on: on a busy machine that takes longer.
fn seen_twice(read: impl Fn(u32) -> Value) -> Value {
    let has_rates = |shown: &Value| {
        let tables = shown["tables"].as_array().unwrap();
        tables.iter().any(|one| one["table"] == "churn.cart" && one["reads_per_s"].as_f64() > Some(0.0))
    };
    [6, 12, 12, 24].into_iter().map(&read).find(has_rates).unwrap_or_else(|| read(24))
}

#[test]
fn a_running_node_shows_its_tables_and_is_given_advice() {
    let place = Place::new();
    // JMX listens on loopback, without a password.
    place.well("up --name churn --heap 512m --data data --jvm-opt=-Dcassandra.jmx.local.port=7299");
    let node = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
    let on = format!("--node {node}");
    let load = place.start(&format!("load {CHURN} {on} --in-flight 4 --for 10m -o load.helenus"));
    wait_for("requests", || size_of(&place.path("load.helenus/requests")) > 0);

    let with_agent = seen_twice(|lasts_s| place.json(&format!("tables {on} --for {lasts_s}s --json")));
    let cart = of_table(&with_agent, "churn.cart");
    assert!(
        number(cart, "reads_per_s") > 0.0 && number(cart, "writes_per_s") > number(cart, "reads_per_s"),
        "{cart:#}"
    );
    assert!(number(cart, "tombstones_per_slice_p95") > number(cart, "live_cells_per_slice_p95"), "{cart:#}");
    assert!(number(cart, "local_read_us") > 0.0 && number(cart, "coordinator_read_us") > 0.0, "{cart:#}");
    assert!(with_agent["source"][0].as_str().unwrap().contains("agent"), "{with_agent:#}");

    let by_cql = place.json(&format!("tables {on} --for 4s --no-agent --table churn. --json"));
    assert_eq!(by_cql["tables"].as_array().unwrap().len(), 1, "{by_cql:#}");
    let cart = of_table(&by_cql, "churn.cart");
    assert!(number(cart, "reads_per_s") > 0.0 && number(cart, "tombstones_per_slice_p99") > 10.0, "{cart:#}");
    assert!(cart["sstables"].is_i64() && cart["local_read_us"].is_null(), "{cart:#}");
    assert!(cart["tombstones_per_slice_p95"].is_null() && cart["droppable_ratio"].is_null(), "{cart:#}");
    assert!(by_cql["source"][0].as_str().unwrap().contains("virtual tables"), "{by_cql:#}");

    let by_jmx = seen_twice(|lasts_s| {
        place.json(&format!("tables {on} --jmx 127.0.0.1:7299 --for {lasts_s}s --table churn. --json"))
    });
    let cart = of_table(&by_jmx, "churn.cart");
    assert!(number(cart, "reads_per_s") > 0.0 && number(cart, "local_read_us") > 0.0, "{cart:#}");
    assert!(number(cart, "tombstones_per_slice_p95") > 10.0 && cart["droppable_ratio"].is_f64(), "{cart:#}");
    assert!(by_jmx["source"][0].as_str().unwrap().contains("JMX"), "{by_jmx:#}");
    let gc = place.json(&format!("gc {on} --jmx 127.0.0.1:7299 --for 6s --json"));
    assert!(gc.as_array().unwrap().iter().all(|node| node["providers"][0] == "jmx"), "{gc:#}");
    let closed = place.run(&format!("tables {on} --jmx 127.0.0.1:7298 --for 2s"));
    assert!(closed.status.code() == Some(2) && closed.err.contains("JMX at 127.0.0.1:7298"), "{}", closed.err);

    who_watches_stays_attached(&place, &on);

    let gc = place.json(&format!("gc {on} --for 3s --json"));
    assert!(gc.as_array().unwrap().iter().all(|node| node["providers"][0] == "log"), "{gc:#}");

    let advised_json = place.json(&format!("advise {on} --for 6s --json"));
    let names = |list: &str, key: &str| -> Vec<String> {
        advised_json[list].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_string()).collect()
    };
    let advised = names("advice", "rule");
    assert!(advised.contains(&"tombstones-per-read".to_string()), "{advised_json:#}");
    // With one replica, no deleted data can come back.
    assert!(!advised.contains(&"gc-grace".to_string()), "{advised_json:#}");
    // Rules that need the definition of the table, or the settings of the node or its machine, were able to check them.
    let of_machine = ["swap", "limits", "jvm-options", "overcommit"];
    let of_node = ["gc-grace", "retired-strategy", "local-override", "young-generation", "dropped-messages"];
    for rule in of_node.into_iter().chain(of_machine) {
        let well = advised_json["well"].as_array().unwrap().iter().any(|name| name == rule);
        assert!(well || advised.contains(&rule.to_string()), "{rule}: {advised_json:#}");
    }
    let by_cql = place.json(&format!("advise {on} --for 4s --no-agent --json"));
    let missed = by_cql["not_checked"].as_array().unwrap();
    assert!(missed.iter().any(|one| one["rule"] == "droppable-tombstones"), "{by_cql:#}");

    load.signal(libc::SIGINT);
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);

    a_wide_row_is_found_and_the_proposed_table_can_be_used(&place, &node);
    a_table_made_anew_is_another(&place, &node);
    files_say_what_the_node_said(&place, &on);
}

/// The recreated table has Cassandra metrics of the same names.
fn a_table_made_anew_is_another(place: &Place, node: &str) {
    let recorder = place.start(&format!("record --node {node} --for 60s -o anew.helenus"));
    wait_for("tables", || size_of(&place.path("anew.helenus/table_stats")) > 0);
    let mut connection = Connection::open(node.parse().unwrap(), Duration::from_secs(30), None).unwrap();
    connection.query("DROP TABLE churn.cart").unwrap();
    place.well(&format!("load {CHURN} --node {node} --in-flight 1 --count 40 -o anew-load.helenus"));
    // After a reading that took long, the agent pauses for some seconds.
    std::thread::sleep(Duration::from_secs(12));
    recorder.signal(libc::SIGINT);
    let recorder = recorder.end();
    assert!(recorder.status.success(), "{}", recorder.err);
    let of_cart = "from table_stats where keyspace = 'churn' and table_name = 'cart'";
    let writes =
        |order| place.ask("anew.helenus", &format!("select writes {of_cart} order by time_ns {order} limit 1"));
    let (first, last) = (writes("asc"), writes("desc"));
    assert!((1..=40).contains(&last) && last < first, "{first} writes, then {last}");
}

fn who_watches_stays_attached(place: &Place, on: &str) {
    let pid = place.json("ps --json")[0]["nodes"][0]["pid"].as_i64().unwrap();
    let agent = || -> Option<String> {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().map(|task| task.path());
        let is_agent = |task: &std::path::PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "helenus-agent\n")
        };
        tasks.into_iter().find(is_agent).map(|task| task.display().to_string())
    };
    assert_eq!(agent(), None, "nothing is left of the looks before");
    let watching = place.start(&format!("tables {on} --for 2s --watch --table churn. --json"));
    wait_for("the agent", || agent().is_some());
    let first = agent();
    // A reading on a busy machine may have seen the table once, which gives no rate, or not at all.
    let has_rate = |reading: &Value| {
        let mut tables = reading["tables"].as_array().unwrap().iter();
        tables.any(|one| one["reads_per_s"].as_f64() > Some(0.0) && one["droppable_ratio"].is_f64())
    };
    wait_for("readings", || {
        let printed = watching.printed();
        printed.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(has_rate).count() >= 3
    });
    assert_eq!(agent(), first, "it is the same one, look after look");
    watching.signal(libc::SIGINT);
    let watching = watching.end();
    assert!(watching.status.success(), "{}", watching.err);
    let readings: Vec<Value> = watching.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(readings.iter().all(|reading| reading["time"].is_string()), "{}", watching.out);
    assert_eq!(agent(), None, "nothing is left");
}

/// Reads one of 20 columns, from rows on disk.
fn a_wide_row_is_found_and_the_proposed_table_can_be_used(place: &Place, node: &str) {
    let load = place.start(&format!("load {WIDE} --node {node} --in-flight 2 --for 60s -o wide-load.helenus"));
    wait_for("requests", || size_of(&place.path("wide-load.helenus/requests")) > 0);
    // An SSTable of the table is there when its statistics are.
    std::thread::sleep(Duration::from_secs(5));
    place.well(&format!("record --node {node} --for 5s --stacks off -o wide.helenus"));
    load.signal(libc::SIGINT);
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);

    let explained = place.json("explain wide.helenus --json");
    let findings = explained["findings"].as_array().unwrap();
    let is_ours = |one: &&Value| one["finding"] == "wide-rows" && one["evidence"]["table"] == "wide.documents";
    let finding = findings.iter().find(is_ours).unwrap_or_else(|| panic!("no wide-rows in {explained:#}"));
    let figures = &finding["evidence"]["nodes"][0]["figures"];
    assert_eq!((figures["columns"].as_i64(), figures["columns_asked"].as_f64()), (Some(21), Some(1.0)), "{finding:#}");
    let row_bytes = figures["mean_row_bytes"].as_i64().unwrap();
    assert!((150_000..250_000).contains(&row_bytes), "20 columns of 8 kB: {finding:#}");
    assert!(finding["window_end_ns"].as_i64() > finding["window_start_ns"].as_i64(), "{finding:#}");
    // The query behind the advice can be run.
    assert!(place.ask("wide.helenus", &format!("select count(*) from ({})", finding["query"].as_str().unwrap())) > 0);

    let proposed = figures["proposed_cql"].as_str().unwrap();
    let mut connection = Connection::open(node.parse().unwrap(), Duration::from_secs(30), None).unwrap();
    connection.query(proposed).unwrap_or_else(|error| panic!("{proposed}: {error}"));
    let row = "INSERT INTO wide.documents_by_column (\"Tenant\", value, at, column_name, value_) VALUES";
    for (at, column) in [(1, "c0"), (1, "c1"), (2, "c0")] {
        connection.query(&format!("{row} (1, 2, {at}, '{column}', 0xcafe)")).unwrap();
    }
    let read = "SELECT at, value_ FROM wide.documents_by_column WHERE \"Tenant\" = 1 AND value = 2";
    let all = connection.query(read).unwrap();
    assert_eq!((all.rows.len(), all.get(0, "at").to_string().as_str()), (3, "2"), "the order of rows is kept");
    let one = connection.query(&format!("{read} AND at = 1 AND column_name = 'c1'")).unwrap();
    assert_eq!(one.rows.len(), 1);
}

/// Statistics of the SSTables of the running node, and of the same files after it has ended.
fn files_say_what_the_node_said(place: &Place, on: &str) {
    let of_node = place.json(&format!("tables {on} --for 2s --table churn.cart --show sstables --json"));
    let groups = of_node["sstable_groups"].as_array().unwrap();
    assert!(!groups.is_empty() && groups.iter().all(|group| group["disk_bytes"].as_i64() > Some(0)), "{of_node:#}");
    place.well("down churn");
    let of_files = place.json("tables --files data --table churn.cart --show sstables --json");
    let files = of_files["sstables"].as_array().unwrap();
    assert!(of_files["source"][0].as_str().unwrap().contains("sstablemetadata"), "{of_files:#}");
    let mut compared = 0;
    for live in of_node["sstables"].as_array().unwrap() {
        // A compaction may have removed it since.
        let Some(file) = files.iter().find(|file| file["file"] == live["file"]) else { continue };
        compared += 1;
        for figure in [
            "level",
            "partitions",
            "rows",
            "cells",
            "min_timestamp_us",
            "max_timestamp_us",
            "min_ttl_s",
            "max_ttl_s",
            "repaired_at_ms",
            "first_token",
            "last_token",
            "mean_partition_bytes",
            "max_partition_bytes",
        ] {
            assert_eq!(live[figure], file[figure], "{figure} of\n{live:#}\n{file:#}");
        }
        for size in ["data_bytes", "disk_bytes"] {
            assert!((number(live, size) / number(file, size) - 1.0).abs() < 0.02, "{size} of\n{live:#}\n{file:#}");
        }
    }
    assert!(compared > 0, "{of_node:#}\n{of_files:#}");

    let damaged = files[0]["file"].as_str().unwrap().replace("-Data.db", "-Statistics.db");
    std::fs::write(&damaged, [7; 300]).unwrap();
    let result = place.run("tables --files data --table churn.cart --json");
    assert!(result.status.success() && result.err.contains("cannot read it"), "{}", result.err);
    let left: Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!(left["sstables"].as_array().unwrap().len(), files.len() - 1, "the others are read");
    let nothing = place.run("tables --files state --json");
    assert!(nothing.status.code() == Some(2) && nothing.err.contains("KEYSPACE/TABLE-ID"), "{}", nothing.err);
}

#[test]
fn a_node_that_is_not_there_is_an_error_with_a_way_out() {
    let place = Place::new();
    for command in ["tables", "gc", "advise"] {
        let result = place.run(&format!("{command} --node 127.0.71.200 --for 3s"));
        assert_eq!(result.status.code(), Some(2), "{}", result.out);
        assert!(result.err.contains("nobody listens") && result.err.contains("--no-agent"), "{}", result.err);
    }
    let short = place.run("tables --node 127.0.71.200 --for 1s");
    assert!(short.status.code() == Some(2) && short.err.contains("two readings"), "{}", short.err);
    let unheard = place.run("advise --node 127.0.71.200 --no-agent");
    assert!(unheard.status.code() == Some(2) && unheard.err.contains("helenus ps"), "{}", unheard.err);
    assert!(place.well("advise --rules").contains("`gc-grace`"));
}
