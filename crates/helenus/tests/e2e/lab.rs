//! Experiments with variants, on a real node.

use crate::harness::{Place, size_of, wait_for};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Two variants with the same settings. Between runs the table is emptied, so that each run populates it again.
const EQUAL: &str = r#"
title = "Equal"
question = "Do two names of one thing differ?"
workload = "keyvalue/mixed"

[node]
heap = "512m"
jvm_options = ["-XX:TieredStopAtLevel=1"]

[lab]
blocks = 2
rest = "100ms"
restore = "truncate"

[[variant]]
name = "none"
[[variant]]
name = "again"

[[phase]]
work = "populate"
in_flight = 16
count = 300
measured = false

[[phase]]
name = "mixed"
rate = 500
count = 1250
"#;

fn experiment(place: &Place, name: &str, changes: &[(&str, &str)]) {
    let text = changes.iter().fold(EQUAL.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    std::fs::write(place.path(name), text).unwrap();
}

fn figure<'v>(comparison: &'v Value, name: &str) -> &'v Value {
    let metrics = comparison["variants"][0]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("no {name} in {comparison:#}"))
}

#[test]
fn equal_variants_are_run_in_blocks_and_judged() {
    let place = Place::new();
    experiment(&place, "equal.toml", &[]);
    let both = place.json("lab run equal.toml --json -o equal.helenus");
    let comparison = &both["comparison"];
    assert_eq!((&comparison["baseline"], &comparison["variants"][0]["name"]), (&"none".into(), &"again".into()));
    assert_eq!((&comparison["variants"][0]["runs"], &comparison["cut_short"]), (&2.into(), &0.into()));
    for name in ["throughput", "response_p99", "time_in_node", "cpu_per_request", "switches_per_request"] {
        let figure = figure(comparison, name);
        assert!(figure["baseline"].as_f64().unwrap() > 0.0 && figure["ratio"].as_f64().unwrap() > 0.0, "{figure:#}");
        assert_eq!((figure["verdict"].as_str(), figure["runs_needed"].as_i64()), (Some("not-enough"), Some(6)));
    }
    // Requests may time out on a busy machine.
    assert!(figure(comparison, "error_share")["variant"].as_f64().unwrap() < 0.5);

    let ask = |query: &str| place.ask("equal.helenus", query);
    let runs = "select count(*) from marks where kind = 'variant' and measured";
    assert_eq!(ask(runs), 4);
    for variant in ["none", "again"] {
        assert_eq!(ask(&format!("{runs} and name = '{variant}' and block in (1, 2)")), 2);
    }
    let of_a_run = "select min(requests) from (select count(*) as requests from marks m join requests r \
                    on r.start_ns between m.start_ns and m.end_ns where m.kind = 'variant' group by m.start_ns)";
    assert_eq!(ask(of_a_run), 1550, "each run has all phases");
    assert_eq!(ask("select count(*) from requests"), 5 * 1550, "and a run before them warms up");
    assert_eq!(ask("select count(*) from results where metric = 'throughput' and value > 0"), 4);
    assert!(std::fs::read_to_string(place.path("equal.html")).unwrap().contains("\"run_unit\":\"block\""));

    let again = place.json("compare equal.helenus --json");
    for name in ["throughput", "response_p99"] {
        assert_eq!(figure(&again, name), figure(comparison, name), "the recording is judged as the run was");
    }
    let result = place.well("compare equal.helenus");
    assert!(result.contains("2 blocks, too few for an interval, which takes 6"), "{result}");
    let one = place.json("compare equal.helenus equal.helenus --json");
    assert_eq!(figure(&one, "throughput")["ratio"].as_f64(), Some(1.0));
    assert!(figure(&one, "throughput")["low"].is_null(), "one recording has no interval");
}

#[test]
fn what_was_run_before_an_interrupt_is_judged() {
    let place = Place::new();
    let address = "127.0.30.5";
    place.well(&format!("up --ready --name interrupted --address {address} --heap 512m"));
    experiment(&place, "long.toml", &[("blocks = 2", "blocks = 1000")]);
    let run = place.start(&format!("lab run long.toml --json --node {address} -o long.helenus"));
    let written = || size_of(&place.path("long.helenus/marks"));
    wait_for("the first mark", || written() > 0);
    let first = written();
    wait_for("a whole block", || written() > 6 * first);
    run.signal(libc::SIGINT);
    let result = run.end();
    assert!(result.status.success(), "{}", result.err);
    assert!(result.err.contains("cut short"), "{}", result.err);
    assert!(result.err.contains("the tables are not emptied"), "other people's data stays: {}", result.err);
    let both: Value = serde_json::from_str(&result.out).unwrap();
    assert!(both["comparison"]["variants"][0]["runs"].as_i64().unwrap() > 0, "{both:#}");

    let refused = |file: &str, changes: &[(&str, &str)], says: &str| {
        experiment(&place, file, changes);
        let result = place.run(&format!("lab run {file} --node {address} -o refused.helenus"));
        assert_eq!(result.status.code(), Some(2), "{}", result.err);
        assert!(result.err.contains(says), "{}", result.err);
        assert!(!place.path("refused.helenus").exists(), "what could not start leaves no recording behind");
    };
    let settings = "name = \"again\"\nsettings = [\"concurrent_reads=8\"]";
    refused("settings.toml", &[("name = \"again\"", settings)], "leave --node out, or the variant");
    changes_of_every_kind_are_made_and_undone(&place, address);
}

/// Changes on a node that is not the experiment's own: its table's compaction, a stage's executor and its threads'
/// CPUs.
fn changes_of_every_kind_are_made_and_undone(place: &Place, node: &str) {
    let variants = r#"name = "table"
[[variant.table]]
name = "helenus.keyvalue"
compaction = { class = "LeveledCompactionStrategy", sstable_size_in_mb = 8 }
[[variant]]
name = "executor"
[[variant.executor]]
stage = "native-transport"
kind = "batched-drain"
workers = 4
[[variant]]
name = "placement"
[variant.placement]
strategy = "equal-spread"
"#;
    let observe = "[observe]\ncounters = \"on\"\n\n[[variant]]\nname = \"none\"";
    let changes = [
        ("name = \"again\"\n", variants),
        ("[[variant]]\nname = \"none\"", observe),
        ("blocks = 2", "blocks = 1"),
        ("rate = 500\ncount = 1250", "in_flight = 8\nfor = \"4s\""),
    ];
    experiment(place, "changes.toml", &changes);
    let tuned = || place.json(&format!("tune status --node {node} --json"));
    let executors = || place.json(&format!("executor list --node {node} --json"));
    let pinned = || place.json("pin --list --json");
    let run = place.start(&format!("lab run changes.toml --json --node {node} -o changes.helenus"));
    let (mut table, mut executor, mut placement) = (false, false, false);
    wait_for("changes of every kind", || {
        table |= tuned()[0]["set"]["sstable_size_in_mb"] == "8";
        executor |= executors()[0]["kind"] == "batched-drain";
        placement |= pinned()[0]["strategy"] == "equal-spread";
        table && executor && placement
    });
    let result = run.end();
    assert!(result.status.success() && !result.err.contains("may be left"), "{}", result.err);

    // The node has its former settings.
    let nothing = Value::Array(Vec::new());
    assert_eq!((tuned(), executors(), pinned()), (nothing.clone(), nothing.clone(), nothing));
    let apply = format!(
        "tune apply --node {node} --table helenus.keyvalue --compaction {{\"class\":\"LeveledCompactionStrategy\"}}"
    );
    let before = place.json(&format!("{apply} --json"))[0]["before"]["class"].to_string();
    assert!(!before.contains("Leveled"), "{before}");
    place.well("tune undo --all");
    let pid = place.json("ps --json")[0]["nodes"][0]["pid"].to_string();
    let masks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().filter_map(|entry| {
        let status = std::fs::read_to_string(entry.unwrap().path().join("status")).ok()?;
        status.lines().find(|line| line.starts_with("Cpus_allowed:")).map(str::to_string)
    });
    assert_eq!(masks.collect::<BTreeSet<String>>().len(), 1, "every thread has the mask of the process");

    let both: Value = serde_json::from_str(&result.out).unwrap();
    let runs: Vec<&Value> =
        both["comparison"]["variants"].as_array().unwrap().iter().map(|variant| &variant["runs"]).collect();
    assert_eq!(runs, [1, 1, 1], "{}", result.out);
    let of_executor =
        "from threads t join marks m on t.time_ns > m.start_ns and t.time_ns <= m.end_ns where m.kind = 'variant'";
    let helped = |variant: &str| {
        let group = "Native-Transport-Requests-helenus";
        place.ask(
            "changes.helenus",
            &format!(
                "select count(*) {of_executor} and m.name = '{variant}' and t.thread_group = '{group}' and t.cpu_ns > 0"
            ),
        )
    };
    assert!(helped("executor") > 0 && helped("none") == 0, "{} and {}", helped("executor"), helped("none"));

    // The comparison and the report both list the conclusions that the data does not allow.
    assert!(place.ask("changes.helenus", "select count(*) from counters where cpu_ns > 0") > 0);
    let printed = place.well("compare changes.helenus");
    let report = std::fs::read_to_string(place.path("changes.html")).unwrap();
    let has_pmu = ["cpu", "cpu_core"].iter().any(|pmu| Path::new("/sys/bus/event_source/devices").join(pmu).exists());
    let few_cpus = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() <= 2);
    for (text, is_so) in [
        ("nothing can be concluded about larger machines", few_cpus),
        ("cycles, instructions and cache misses are not measured: this machine has no PMU", !has_pmu),
        ("cycles_per_request", has_pmu),
    ] {
        let judged = both["comparison"].to_string();
        assert_eq!([printed.contains(text), judged.contains(text)], [is_so; 2], "{text}: {printed}{judged}");
        assert!(report.contains(text) || !is_so, "{text} is not in the report");
    }
}
