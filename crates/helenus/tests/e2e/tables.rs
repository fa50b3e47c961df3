//! The health of tables and the advice about them, of a real Cassandra that runs, with an agent and without.

use crate::harness::{Place, size_of, wait_for};
use helenus_cassandra::cql::Connection;
use serde_json::Value;
use std::time::Duration;

const CHURN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/churn.toml");

fn of_table<'a>(shown: &'a Value, table: &str) -> &'a Value {
    let tables = shown["tables"].as_array().unwrap();
    tables.iter().find(|one| one["table"] == table).unwrap_or_else(|| panic!("no {table} in {shown:#}"))
}

fn number(table: &Value, figure: &str) -> f64 {
    table[figure].as_f64().unwrap_or_else(|| panic!("no {figure} in {table:#}"))
}

#[test]
fn a_running_node_shows_its_tables_and_is_given_advice() {
    let place = Place::new();
    place.well("up --name churn --heap 512m");
    let node = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
    let on = format!("--node {node}");
    let load = place.start(&format!("load {CHURN} {on} --in-flight 4 --for 90s -o load.helenus"));
    wait_for("requests", || size_of(&place.path("load.helenus/requests")) > 0);

    let with_agent = place.json(&format!("tables {on} --for 6s --json"));
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

    let gc = place.json(&format!("gc {on} --for 3s --json"));
    assert!(gc.as_array().unwrap().iter().all(|node| node["providers"][0] == "jfr"), "{gc:#}");

    let counsel = place.json(&format!("advise {on} --for 6s --json"));
    let names = |list: &str, key: &str| -> Vec<String> {
        counsel[list].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_string()).collect()
    };
    let advised = names("advice", "rule");
    assert!(advised.contains(&"tombstones-per-read".to_string()), "{counsel:#}");
    // With one replica no delete can come back.
    assert!(!advised.contains(&"gc-grace".to_string()), "{counsel:#}");
    // What needs the definition of the table and the settings of the node could be looked at.
    for rule in ["gc-grace", "retired-strategy", "local-override", "young-generation", "dropped-messages"] {
        let well = counsel["well"].as_array().unwrap().iter().any(|name| name == rule);
        assert!(well || advised.contains(&rule.to_string()), "{rule}: {counsel:#}");
    }
    let by_cql = place.json(&format!("advise {on} --for 4s --no-agent --json"));
    let missed = by_cql["not_checked"].as_array().unwrap();
    assert!(missed.iter().any(|one| one["rule"] == "droppable-tombstones"), "{by_cql:#}");

    load.signal(libc::SIGINT);
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);
    a_table_made_anew_is_another(&place, &node);
}

/// Metrics of Cassandra's that have the names of those before.
fn a_table_made_anew_is_another(place: &Place, node: &str) {
    let recorder = place.start(&format!("record --node {node} --for 60s -o anew.helenus"));
    wait_for("tables", || size_of(&place.path("anew.helenus/table_stats")) > 0);
    let mut connection = Connection::open(node.parse().unwrap(), Duration::from_secs(30), None).unwrap();
    connection.query("DROP TABLE churn.cart").unwrap();
    place.well(&format!("load {CHURN} --node {node} --in-flight 1 --count 40 -o anew-load.helenus"));
    std::thread::sleep(Duration::from_secs(3));
    recorder.signal(libc::SIGINT);
    let recorder = recorder.end();
    assert!(recorder.status.success(), "{}", recorder.err);
    let of_cart = "from table_stats where keyspace = 'churn' and table_name = 'cart'";
    let writes =
        |order| place.ask("anew.helenus", &format!("select writes {of_cart} order by time_ns {order} limit 1"));
    let (first, last) = (writes("asc"), writes("desc"));
    assert!((1..=40).contains(&last) && last < first, "{first} writes, then {last}");
}

#[test]
fn a_node_that_is_not_there_is_an_error_with_a_way_out() {
    let place = Place::new();
    for command in ["tables", "gc", "advise"] {
        let said = place.run(&format!("{command} --node 127.0.71.200 --for 3s"));
        assert_eq!(said.status.code(), Some(2), "{}", said.out);
        assert!(said.err.contains("nobody listens") && said.err.contains("--no-agent"), "{}", said.err);
    }
    let short = place.run("tables --node 127.0.71.200 --for 1s");
    assert!(short.status.code() == Some(2) && short.err.contains("two readings"), "{}", short.err);
    let unheard = place.run("advise --node 127.0.71.200 --no-agent");
    assert!(unheard.status.code() == Some(2) && unheard.err.contains("helenus ps"), "{}", unheard.err);
    assert!(place.well("advise --rules").contains("`gc-grace`"));
}
