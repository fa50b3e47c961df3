//! Imports of other tools' files, and exports for other tools.

use crate::harness::Place;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(name)
}

fn folded(place: &Place, recording: &str, more: &str) -> Vec<String> {
    let out = place.well(&format!("export {recording} --format folded {more}"));
    let mut lines: Vec<String> = out.lines().map(String::from).collect();
    lines.sort();
    lines
}

#[test]
fn folded_stacks_come_back_as_they_went() {
    let place = Place::new();
    let mut lines = vec![
        "GC Thread#0;GangWorker::run 70",
        "MutationStage-1;java/lang/Thread.run;a.b.C$D.<init>_[j];write 1200",
        "MutationStage-2;java/lang/Thread.run;a.b.C$D.<init>_[j];write 34",
        "main 5",
    ];
    lines.sort_unstable();
    std::fs::write(place.path("in.folded"), lines.join("\n") + "\n").unwrap();
    place.well("import in.folded -o r");
    assert_eq!(folded(&place, "r", "--threads"), lines);
    assert_eq!(place.ask("r", "select sum(weight) from samples"), 1309);
    // Grouped by name, the two stages are one group, in the flame graph and in the export.
    let groups = folded(&place, "r", "");
    assert!(
        groups.contains(&"MutationStage;java/lang/Thread.run;a.b.C$D.<init>_[j];write 1234".to_string()),
        "{groups:?}"
    );
    let mut flame: Vec<String> = place.well("flame r --folded").lines().map(String::from).collect();
    flame.sort();
    assert_eq!(flame, groups);
    // Exporting and importing once more gives the same.
    std::fs::write(place.path("again.folded"), folded(&place, "r", "--threads").join("\n") + "\n").unwrap();
    place.well("import again.folded -o again");
    assert_eq!(folded(&place, "again", "--threads"), lines);
}

#[test]
fn what_others_sampled_is_a_recording_like_any_other() {
    let place = Place::new();
    for (file, samples) in [("jdk.jfr", 37), ("stacks.jfr", 64), ("perf-script.txt", 37)] {
        place.well(&format!("import {} --node 127.0.0.1 -o {file}", fixture(file).display()));
        assert_eq!(place.ask(file, "select count(*) from samples"), samples);
        assert_eq!(place.ask(file, "select captured from sources where source = 'stacks'"), samples);
        place.well(&format!("flame {file} -o {file}.svg"));
        let weight = place.ask(file, "select sum(weight) from samples");
        let speedscope = place.json(&format!("export {file} --format speedscope"));
        let total: i64 = speedscope["profiles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|profile| profile["endValue"].as_i64().unwrap())
            .sum();
        assert_eq!(total, weight);
        place.well(&format!("export {file} --format pprof -o {file}.pb.gz"));
        place.well(&format!("export {file} --format firefox -o {file}.json.gz"));
        for packed in ["pb.gz", "json.gz"] {
            let bytes = std::fs::read(place.path(&format!("{file}.{packed}"))).unwrap();
            assert!(bytes.starts_with(&[0x1f, 0x8b]));
        }
    }
    // The boot is unknown, so wall-clock times stay unchanged.
    let before = place.ask("jdk.jfr", "select min(time_ns) from samples");
    place.well("recording merge stacks.jfr jdk.jfr -o both");
    let query = "select min(time_ns) from samples where thread_group in ('Sorter', 'Summer', 'main')";
    assert!(place.ask("both", query) <= before.max(place.ask("jdk.jfr", query)));
    assert_eq!(place.ask("both", "select count(*) from samples"), 101);
    let result = place.run("export jdk.jfr --format chrome");
    assert_eq!(result.status.code(), Some(2));
    assert!(result.err.contains("stacks alone can be exported as firefox"), "{}", result.err);
}

#[test]
fn what_helenus_exports_it_takes_back_with_the_same_sum() {
    let place = Place::new();
    // Two virtual threads, which have no name, and one stack that could not be read.
    let lines = "[ tid=31];a.b.C.run;read 70\n[ tid=32];a.b.C.run;read 5\n;a.b.C.run;parse 12\nmain;x 3\n 4\n";
    std::fs::write(place.path("in.folded"), lines).unwrap();
    place.well("import in.folded -o r");
    let sums = "select sum(weight) from samples";
    assert_eq!(place.ask("r", sums), 94);
    for threads in ["", "--threads"] {
        for (format, file) in [("folded", "out.folded"), ("folded", "out.folded.gz"), ("pprof", "out.pb.gz")] {
            place.well(&format!("export r --format {format} {threads} -o {file}"));
            let json = place.json(&format!("import {file} -o again --json"));
            assert_eq!((place.ask("again", sums), &json["files"][0]["lost"]), (94, &0.into()), "{file} {threads}");
            let unnamed = "select sum(weight) from samples where thread = ''";
            assert_eq!(place.ask("again", unnamed), 91, "{file} {threads}");
            std::fs::remove_dir_all(place.path("again")).unwrap();
            std::fs::remove_file(place.path(file)).unwrap();
        }
    }
}

#[test]
fn the_logs_of_a_bundle_are_explained() {
    let place = Place::new();
    let logs = place.path("bundle/node1/logs");
    std::fs::create_dir_all(&logs).unwrap();
    let line = |second: u32, rest: &str| format!("WARN  [a:1] 2023-11-14 22:13:{second:02},000 {rest}\n");
    let pause = "FailureDetector.java:319 - Not marking nodes down due to local pause of 12871403951ns > 5000000000ns";
    let dropped =
        "MessagingMetrics.java:206 - READ_REQ messages were dropped in last 5000 ms: 12 internal and 0 cross node.";
    std::fs::write(logs.join("system.log"), [line(20, pause), line(21, dropped)].concat()).unwrap();
    let gc =
        "[2023-11-14T22:13:19.000+0000][1.5s] GC(7) Pause Full (G1 Compaction Pause) 8000M->4000M(8192M) 12000.000ms\n";
    std::fs::write(logs.join("gc.log"), gc).unwrap();
    let json = place.json("import bundle -o r --json");
    assert_eq!((&json["files"][0]["node"], &json["files"][0]["pauses"]), (&"bundle".into(), &1.into()), "{json:#}");
    let explained = place.well("explain r");
    assert!(explained.contains("The log of bundle has 1 local pause"), "{explained}");
    assert!(explained.contains("a GC pause") && explained.contains("dropped messages"), "{explained}");
    place.well("gc r");
    place.well("report r -o r.html");
    let result = place.run("import bundle --begins 2026-07-01T12:00:00Z -o other");
    assert!(result.status.code() == Some(2) && result.err.contains("--zone"), "{}", result.err);
    std::fs::create_dir(place.path("empty")).unwrap();
    let result = place.run("import empty -o other");
    assert!(result.status.code() == Some(2) && result.err.contains("it has no log"), "{}", result.err);
    assert!(!place.path("other").exists());
}

#[test]
fn what_is_no_file_of_theirs_leaves_nothing_behind() {
    let place = Place::new();
    std::fs::write(place.path("text"), "nothing of the kind\n").unwrap();
    let cut = std::fs::read(fixture("jdk.jfr")).unwrap();
    std::fs::write(place.path("cut.jfr"), &cut[..cut.len() / 2]).unwrap();
    for (arguments, says) in [
        ("import text -o r", "cannot import text"),
        ("import nowhere -o r", "cannot read nowhere"),
        ("import cut.jfr -o r", "cut off"),
        ("import cut.jfr --event cpu -o r", "--event"),
        ("import cut.jfr --begins yesterday -o r", "2026-07-01T12:00:00Z"),
    ] {
        let result = place.run(arguments);
        assert_eq!(result.status.code(), Some(2), "{arguments}: {}", result.err);
        assert!(result.err.contains(says), "{arguments}: {}", result.err);
        assert!(!place.path("r").exists(), "{arguments}");
    }
    place.well(&format!("import {} -o r", fixture("perf-script.txt").display()));
    let result = place.run("export r --format pprof --event alloc -o r.pb.gz");
    assert!(result.status.code() == Some(2) && result.err.contains("the recording has cpu"), "{}", result.err);
    assert!(!place.path("r.pb.gz").exists() && !place.path("r.pb.gz.partial").exists());
}
