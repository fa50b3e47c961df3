//! Valves, probes and placement in a real Cassandra under load: their output, and that nothing of them remains.

use crate::harness::{Place, Running, nothing_failed, size_of, wait_for};
use serde_json::Value;

#[test]
fn valves_and_probes_come_and_go_under_load_without_a_failed_request() {
    let place = Place::new();
    place.well("up --name control --heap 768m");
    let node = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
    let on = format!("--node {node}");
    place.well(&format!("load keyvalue {on} --populate --population 2k -o populate.helenus"));

    let found = place.json(&format!("points {on} --json"));
    assert_eq!(found["preset"], "cassandra-5.0");
    let writes = found["points"].as_array().unwrap().iter().find(|point| point["point"] == "writes").unwrap();
    assert_eq!((&writes["gate"], &writes["refuse"]), (&Value::Bool(true), &Value::Bool(true)));

    let record = place.start(&format!("record {on} --stacks off -o record.helenus"));
    wait_for("the sources to record", || size_of(&place.path("record.helenus/pools")) > 0);
    let load = place.start(&format!(
        "load keyvalue/mixed {on} --no-populate --population 2k --in-flight 64 --for 10m --json -o load.helenus"
    ));
    let add = format!("valve add few --at writes --law fixed --parameter limit=4 --max 32 {on} --json");
    let cold = place.run(&add);
    assert!(cold.status.code() == Some(2) && cold.err.contains("compiled code"), "{}", cold.err);
    assert!(cold.err.contains("helenus-agent.jar=ready") && cold.err.contains("--cold"), "{}", cold.err);
    let checks = place.json("doctor --json");
    let of_node = checks.as_array().unwrap().iter().find(|check| check["what"].as_str().unwrap().contains(&node));
    assert_eq!(of_node.unwrap()["state"], "works", "{checks}");
    assert!(of_node.unwrap()["found"].as_str().unwrap().contains("helenus-agent.jar=ready"), "{checks}");
    let added = place.json(&format!("{add} --cold"));
    assert_eq!((&added["law"], &added["min"], &added["max"]), (&"fixed".into(), &1.into(), &32.into()));
    let list = || place.json(&format!("valve list {on} --json"));
    // The valve begins without a limit, and requests that were inside before leave one by one.
    let governs = |valve: &Value| {
        let last = &valve["last"];
        let inside = last["in_flight"].as_f64().unwrap_or(f64::MAX);
        let waiting = last["waiting"].as_f64().unwrap_or(0.0);
        last["limit"] == 4 && last["completed"].as_i64() > Some(0) && inside <= 4.0 && waiting > 0.0
    };
    wait_for("a window of the valve", || governs(&list()[0]));
    let valve = &list()[0];
    assert_eq!((&valve["limit"], &valve["state"]), (&4.into(), &"on".into()), "{valve}");

    let changed = place.json(&format!("valve set few --law throughput --max 16 {on} --json"));
    assert_eq!((&changed["law"], &changed["max"]), (&"throughput".into(), &16.into()));
    place.well(&format!("valve add requests --stage native-transport --law fixed --parameter limit=20 {on}"));
    assert_eq!(list().as_array().unwrap().len(), 2);

    let model = place.json(&format!("probes {on} --at request --at writes --for 4s --bound 50 --json"));
    let probe = |name: &str| model["probes"].as_array().unwrap().iter().find(|probe| probe["probe"] == name).unwrap();
    let sum = |probe: &Value, of: &str| -> i64 {
        probe["calls"].as_array().unwrap().iter().map(|calls| calls[of].as_i64().unwrap()).sum()
    };
    let (requests, writes) = (probe("request"), probe("writes"));
    assert!(sum(requests, "calls") > sum(writes, "calls"), "{model}");
    assert!(sum(writes, "calls") > 0);
    // The time of a write is not part of its request's inherent time. The node also writes on its own behalf.
    let within = writes["calls"].as_array().unwrap().iter().filter(|calls| calls["caller"] == "request");
    let inside: i64 = within.map(|calls| calls["total_ns"].as_i64().unwrap()).sum();
    let (own, total) = (sum(requests, "inherent_ns"), sum(requests, "total_ns"));
    assert!(inside > 0 && own + inside <= total + total / 100, "{own} {inside} {total}");

    let pinned = place.well(&format!("pin {on} --strategy equal-spread --for 2s --json"));
    let result: Vec<Value> = pinned.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let threads = result[0]["plan"]["threads"].as_array().unwrap();
    assert!(threads.len() > 50 && threads.iter().all(|thread| thread["cpus"].is_string()), "{pinned}");
    assert!(result[1]["unpinned"]["threads"].as_u64() > Some(50), "{pinned}");

    place.well(&format!("valve remove --all {on}"));
    assert_eq!(list().as_array().unwrap().len(), 0);
    let summary: Value = {
        load.signal(libc::SIGINT);
        let result = load.end();
        assert!(result.status.success(), "{}", result.err);
        serde_json::from_str(&result.out).unwrap()
    };
    nothing_failed(&summary);
    record.signal(libc::SIGINT);
    let recorded = record.end();
    assert!(recorded.status.success(), "{}", recorded.err);
    assert!(place.ask("record.helenus", "select count(*) from valves where valve = 'few' and law = 'throughput'") > 5);
    assert!(place.ask("record.helenus", "select count(*) from valves where law = 'fixed' and limit = 4") > 0);
    // The reads, which the valve does not limit, are in the same stage.
    assert!(place.ask("record.helenus", "select count(*) from valves where valve = 'few' and elsewhere > 1") > 0);
    assert!(place.ask("record.helenus", "select sum(calls) from probes where probe = 'writes'") > 0);
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out() {
    let place = Place::new();
    place.well("up --ready --name refusals --heap 512m");
    let node = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
    let refused = |arguments: &str| {
        let result = place.run(&format!("{arguments} --node {node}"));
        assert_eq!(result.status.code(), Some(2), "{arguments}: {} {}", result.out, result.err);
        result.err
    };
    let nearest = refused("valve add a --at StorageProxy.caz");
    assert!(nearest.contains("did you mean cas?"), "{nearest}");
    let many = refused("valve add a --at org.apache.cassandra.*.*");
    assert!(many.contains("at_most") || many.contains("--at-most"), "{many}");
    let held = refused("valve add a --at commit-log");
    assert!(held.contains("commit") && held.len() > 40, "{held}");
    let law = refused("valve add a --stage read --law throughputt");
    assert!(law.contains("throughput"), "{law}");
    let stage = refused("valve add a --stage reed");
    assert!(stage.contains("read"), "{stage}");
    refused("valve set nobody --max 5");
    refused("valve remove nobody");
    let empty = refused("valve watch");
    assert!(empty.contains("helenus valve add"), "{empty}");
    assert_eq!(place.json(&format!("valve list --node {node} --json")).as_array().unwrap().len(), 0);
    for (command, more) in [("points", ""), ("probes", "--for 1s")] {
        let help = place.well(&format!("{command} --help")).replace("\\\n", " ");
        let examples: Vec<&str> =
            help.lines().filter(|line| line.contains("--node 127.0.0.1") && !line.contains(" & ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            let line = example.replace("--node 127.0.0.1", &format!("--node {node}")).replace(" --for 30s", "");
            let mut process = place.command("");
            process.args(&shlex::split(&format!("{line} {more}")).unwrap()[1..]);
            let result = Running::of(process).end();
            assert!(result.status.success(), "{line}: {}", result.err);
        }
    }
    let compaction = refused("executor set compaction batched-drain");
    assert!(compaction.contains("native-transport"), "{compaction}");
    assert!(refused("executor set read batched-drian").contains("did you mean `batched-drain`?"));
    assert!(refused("executor set read batched-drain --stealing").contains("stealing with queue-per-thread"));
    assert!(refused("executor remove read").contains("has its own executor"));
    stages_are_run_by_others_and_given_back(&place, &format!("--node {node}"));
}

/// Under load, again and again: no request fails, and each write is there.
fn stages_are_run_by_others_and_given_back(place: &Place, on: &str) {
    let load = place.start(&format!("load keyvalue/write {on} --in-flight 64 --for 10m --json -o swapped.helenus"));
    wait_for("requests", || size_of(&place.path("swapped.helenus/requests")) > 0);
    let list = || place.json(&format!("executor list {on} --json"));
    for round in 0..3 {
        for executor in [
            "native-transport queue-per-thread --workers 4",
            "native-transport queue-per-thread --workers 4 --stealing",
            "native-transport batched-drain --batch 8",
            "mutation batched-drain --workers 2",
        ] {
            place.well(&format!("executor set {executor} {on}"));
        }
        let ran = |list: &Value| list[0]["ran"].as_i64().unwrap();
        let before = ran(&list());
        wait_for("tasks", || ran(&list()) > before + 100);
        assert_eq!(list().as_array().unwrap().len(), 2, "round {round}");
        place.well(&format!("executor remove native-transport {on}"));
        place.well(&format!("executor remove --all {on}"));
        assert_eq!(list().as_array().unwrap().len(), 0);
    }
    place.well(&format!("executor set native-transport batched-drain --lease 1s {on}"));
    wait_for("the end of the lease", || list().as_array().unwrap().is_empty());
    load.signal(libc::SIGINT);
    let result = load.end();
    assert!(result.status.success(), "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    nothing_failed(&summary);
    place.well(&format!("verify swapped.helenus {on}"));
}

#[test]
fn a_valve_sheds_load_as_the_server_does_and_each_stage_gets_its_size_back() {
    let place = Place::new();
    place.well("up --ready --name sheds --heap 512m");
    let node = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
    let on = format!("--node {node}");
    let outcomes = || -> Vec<String> {
        let summary = place
            .json(&format!("load keyvalue/write {on} --population 2k --in-flight 64 --for 4s --json -o shed.helenus"));
        std::fs::remove_dir_all(place.path("shed.helenus")).unwrap();
        let outcome = |error: &Value| error["outcome"].as_str().unwrap().to_string();
        summary["errors"].as_array().unwrap().iter().map(outcome).collect()
    };
    place.well(&format!("valve add shed --at writes --law fixed --parameter limit=1 --max-wait 1ms --refuse {on}"));
    assert_eq!(outcomes(), ["overloaded"]);
    place.well(&format!("valve remove shed {on}"));
    assert!(outcomes().is_empty());

    // Cassandra creates the stage with the first write of a counter.
    let early = place.run(&format!("valve add early --stage counter-mutation {on}"));
    assert!(early.status.code() == Some(2) && early.err.contains("with its first task"), "{}", early.err);
    for stage in ["native-transport", "read", "mutation", "compaction", "compaction-throughput"] {
        // Without a parameter, a valve starts with the stage's own limit.
        let has = || {
            let added = place.json(&format!("valve add probe --stage {stage} --law fixed {on} --json"));
            place.well(&format!("valve remove probe {on}"));
            added["max"].as_i64().unwrap()
        };
        let before = has();
        place.well(&format!("valve add steer --stage {stage} --law fixed --parameter limit=1 {on}"));
        wait_for("the limit", || place.json(&format!("valve list {on} --json"))[0]["limit"] == 1);
        place.well(&format!("valve remove steer {on}"));
        assert_eq!(has(), before, "{stage}");
    }
}
