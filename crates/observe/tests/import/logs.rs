//! Logs of nodes, as support bundles have them.

use crate::columns;
use crate::formats::gzip;
use helenus_observe::{ImportedLogs, LogOptions, import_logs, is_log};
use helenus_recording::{Manifest, Recorder, Recording};
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;

const SYSTEM: &str = "\
INFO  [main] 2023-11-14 23:00:00,000 SystemKeyspace.java:1 - Cassandra version: 4.1.3
WARN  [ScheduledTasks:1] 2023-11-14 23:13:20,000 NoSpamLogger.java:94 - Some operations timed out, details available at debug level (debug.log)
WARN  [GossipTasks:1] 2023-11-14 23:13:21,000 FailureDetector.java:319 - Not marking nodes down due to local pause of 12871403951ns > 5000000000ns
INFO  [Service Thread] 2023-11-14 23:13:22,000 GCInspector.java:294 - G1 Young Generation GC in 240ms.  G1 Eden Space: 1 -> 0;
";
const DEBUG: &str = "\
WARN  [ScheduledTasks:1] 2023-11-14 23:13:20,000 NoSpamLogger.java:94 - Some operations timed out, details available at debug level (debug.log)
DEBUG [ScheduledTasks:1] 2023-11-14 23:13:20,001 MonitoringTask.java:152 - 3 operations timed out in the last 5003 msecs:
<SELECT * FROM a.b WHERE c = 'secret'>, timed out 3 times
WARN  [GossipTasks:1] 2023-11-14 23:13:21,000 FailureDetector.java:319 - Not marking nodes down due to local pause of 12871403951ns > 5000000000ns
";
const GC: &str = "\
[2023-11-14T23:13:10.000+0100][10.000s][1][2][info ] Using G1
[2023-11-14T23:13:21.000+0100][21.000s][1][2][info ] GC(7) Pause Full (G1 Compaction Pause) 8000M->4000M(8192M) 12000.000ms
[2023-11-14T23:13:25.000+0100][25.000s][1][2][info ] GC(8) Pause Young (Normal) (G1 Evacuation Pause) 5000M->4000M(8192M) 12.000ms
";
/// 2023-11-14T23:13:20 at +01:00.
const T: i64 = 1_700_000_000_000_000_000;
const S: i64 = 1_000_000_000;

struct Imported {
    nodes: Vec<ImportedLogs>,
    recording: Recording,
    _folder: tempfile::TempDir,
}

impl Imported {
    fn rows(&self, table: &str, names: &[&str]) -> Vec<String> {
        let mut rows: Vec<String> =
            columns(&self.recording, table, names).into_iter().map(|row| row.join(" ")).collect();
        rows.sort();
        rows
    }
}

fn imported(paths: &[&Path], ahead_ns: Option<i64>) -> Imported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    let nodes = import_logs(&recorder, paths, &LogOptions { node: "one".into(), ahead_ns }).unwrap();
    recorder.close().unwrap();
    Imported { nodes, recording: Recording::open(&path).unwrap(), _folder: folder }
}

/// Writes a zip file: the files with their local headers, the central directory, and its end.
fn zip(path: &Path, entries: &[(&str, &str)]) {
    let (mut files, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in entries {
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let at = (files.len() as u32).to_le_bytes();
        let sizes = [(packed.len() as u32).to_le_bytes(), (text.len() as u32).to_le_bytes()].concat();
        // Version, flags, method 8, time, date and checksum; then the sizes, and the length of the name.
        let of_both = [&[20, 0, 0, 0, 8, 0][..], &[0; 8], &sizes, &[name.len() as u8, 0, 0, 0]].concat();
        files.extend([&b"PK\x03\x04"[..], &of_both, name.as_bytes(), &packed].concat());
        directory.extend([&b"PK\x01\x02\x14\0"[..], &of_both, &[0; 10], &at, name.as_bytes()].concat());
    }
    let [length, at] = [directory.len(), files.len()].map(|number| (number as u32).to_le_bytes());
    let number = [entries.len() as u8, 0];
    let end = [&b"PK\x05\x06"[..], &[0; 4], &number, &number, &length, &at, &[0; 2]].concat();
    std::fs::write(path, [files, directory, end].concat()).unwrap();
}

#[test]
fn lines_in_two_logs_are_one_event_and_times_are_in_the_zone_of_the_collectors_log() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    std::fs::write(logs.join("system.log"), SYSTEM).unwrap();
    std::fs::write(logs.join("debug.log.gz"), gzip(DEBUG.as_bytes())).unwrap();
    zip(&logs.join("gc.log.0.zip"), &[("gc.log.0", GC)]);
    std::fs::write(logs.join("cassandra.yaml"), "cluster_name: a\n").unwrap();
    std::fs::write(logs.join("nodetool.log"), "not a log of Cassandra\n".repeat(300)).unwrap();
    let read = imported(&[folder.path()], None);
    let events = read.rows("events", &["time_ns", "node", "kind", "what"]);
    assert_eq!(
        events,
        [
            format!("{} one started Cassandra started", T - 800 * S),
            format!("{T} one timed-out operations timed out"),
            format!("{} one timed-out operations timed out", T + 1_000_000),
            format!("{} one local-pause a local pause of 12.9 s", T + S),
            format!("{} one collection a long collection (G1New, 240 ms), by GCInspector", T + 2 * S),
        ]
    );
    let pauses = read.rows("pauses", &["start_ns", "duration_ns", "kind", "collector", "provider"]);
    // The collector's log covers the time of GCInspector's line.
    assert_eq!(
        pauses,
        [
            format!("{} {} gc G1Full log", T - 11 * S, 12 * S),
            format!("{} 12000000 gc G1New log", T + 5 * S - 12_000_000),
        ]
    );
    let one = &read.nodes[0];
    assert_eq!((one.files, one.pauses, one.events["timed-out"]), (3, 2, 2));
    assert!(one.losses.is_empty() && one.notes.is_empty(), "{one:?}");
    let sources = read.rows("sources", &["source", "node", "provider", "captured"]);
    assert!(
        sources.contains(&"events one log 5".to_string()) && sources.contains(&"pauses one log 2".to_string()),
        "{sources:?}"
    );
}

#[test]
fn without_a_collectors_log_long_pauses_come_from_gc_inspector() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.log");
    std::fs::write(&path, SYSTEM).unwrap();
    assert!(is_log(&path));
    let read = imported(&[&path], Some(3600 * S));
    assert_eq!(
        read.rows("pauses", &["start_ns", "duration_ns", "kind", "collector", "provider"]),
        [format!("{} 240000000 gc G1New mxbean", T + 2 * S - 240_000_000)]
    );
    let utc = imported(&[&path], None);
    assert!(utc.nodes[0].notes[0].contains("--zone"), "{:?}", utc.nodes);
    assert_eq!(utc.rows("events", &["time_ns"])[1], (T + 3600 * S).to_string());
}

#[test]
fn each_folder_is_a_node() {
    let folder = tempfile::tempdir().unwrap();
    for node in ["10.0.0.1", "10.0.0.2"] {
        let logs = folder.path().join("nodes").join(node).join("logs/cassandra");
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(logs.join("system.log"), SYSTEM).unwrap();
    }
    let read = imported(&[folder.path()], None);
    let names: Vec<&str> = read.nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(read.rows("events", &["time_ns"]).len(), 8);
    let bundle = folder.path().join("bundle.zip");
    zip(&bundle, &[("b/node1/logs/system.log", SYSTEM), ("b/node2/logs/debug.log", DEBUG), ("b/node2/x.yaml", "a: 1")]);
    let read = imported(&[&bundle], None);
    let names: Vec<&str> = read.nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["node1", "node2"]);
}

#[test]
fn a_folder_without_logs_says_so_and_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("system.log"), SYSTEM).unwrap();
    std::os::unix::fs::symlink(secret.path(), folder.path().join("logs")).unwrap();
    std::os::unix::fs::symlink(secret.path().join("system.log"), folder.path().join("system.log")).unwrap();
    std::fs::write(folder.path().join("debug.log"), "{\"level\":\"WARN\"}\n".repeat(10)).unwrap();
    std::fs::write(folder.path().join("gc.log.gz"), &gzip(GC.as_bytes())[..20]).unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
    let options = LogOptions { node: "one".into(), ahead_ns: None };
    let error = import_logs(&recorder, &[folder.path()], &options).unwrap_err().to_string();
    assert!(error.contains("it has no log") && error.contains("logback.xml"), "{error}");
    drop(recorder);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn of_damaged_logs_as_many_rows_are_written_as_are_counted(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..40), 0..12),
        packed: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("system.log", SYSTEM), ("debug.log", DEBUG), ("gc.log", GC)] {
            let mut bytes = text.as_bytes().to_vec();
            for (at, byte, length) in &changes {
                let at = at.index(bytes.len());
                let end = (at + length).min(bytes.len());
                bytes.splice(at..end, [*byte]);
            }
            let bytes = if packed { gzip(&bytes) } else { bytes };
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
        let options = LogOptions { node: "one".into(), ahead_ns: None };
        if let Ok(nodes) = import_logs(&recorder, &[folder.path()], &options) {
            let rows = |table: &str| recorder.health().rows.get(table).copied().unwrap_or_default();
            let events: u64 = nodes.iter().flat_map(|node| node.events.values()).sum();
            prop_assert_eq!(rows("events"), events);
            prop_assert_eq!(rows("pauses"), nodes.iter().map(|node| node.pauses).sum::<u64>());
        }
    }
}
