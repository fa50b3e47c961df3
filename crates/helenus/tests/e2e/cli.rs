//! The command line as people and scripts meet it, on recordings that the tests write.

use crate::harness::{Place, Running};
use helenus_recording::{Manifest, NodeFacts, Recorder, rows};
use std::path::Path;

const S: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;
const T0: i64 = 1_760_000_000 * S;
/// A name that contains terminal commands.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\r\u{9b}31m\u{202e}evil";

/// A recording with rows in the tables that commands show; its names have a text in them.
fn record(path: &Path, title: &str, text: &str) {
    let mut manifest = Manifest::new(title, title);
    let node = format!("127.0.0.1{text}");
    manifest.nodes.push(NodeFacts { address: node.clone(), ..NodeFacts::default() });
    let recorder = Recorder::create(path, manifest).unwrap();
    let operation = format!("read{text}");
    for number in 0..2000 {
        let due = T0 + number * 30 * MS;
        recorder.append(rows::Request {
            intended_start_ns: due,
            start_ns: due,
            end_ns: due + if number % 100 == 0 { (50 + number / 100) * MS } else { MS },
            node: &node,
            operation: &operation,
            outcome: "ok",
            ..rows::Request::default()
        });
        recorder.append(rows::WireRequest {
            start_ns: due,
            duration_ns: MS / 2,
            node: &node,
            opcode: "EXECUTE",
            statement: &format!("SELECT a FROM shop.orders WHERE k = ? /* {text} */"),
            ..rows::WireRequest::default()
        });
        recorder.append(rows::Syscall {
            start_ns: due,
            duration_ns: MS / 4,
            node: &node,
            call: "pread64",
            thread_group: "ReadStage",
            file: &format!("/data/shop/orders-1/nb-1-big-Data.db{text}"),
            ..rows::Syscall::default()
        });
    }
    recorder.append(rows::Mark {
        start_ns: T0,
        end_ns: T0 + 60 * S,
        kind: "phase",
        name: &format!("phase{text}"),
        measured: true,
        rate_per_s: Some(33.3),
        ..rows::Mark::default()
    });
    for number in 0..40 {
        let group = format!("{}{text}", ["ReadStage", "MutationStage", "Native-Transport-Requests"][number % 3]);
        recorder.append(rows::StackSample {
            time_ns: T0 + number as i64 * 1500 * MS,
            node: &node,
            thread_group: &group,
            stack: 1,
            event: "cpu",
            weight: 20 * MS,
            ..rows::StackSample::default()
        });
        recorder.append(rows::Pause {
            start_ns: T0 + number as i64 * 1500 * MS,
            duration_ns: 5 * MS,
            node: &node,
            kind: "gc",
            cause: Some(&format!("young{text}")),
            ..rows::Pause::default()
        });
    }
    recorder.append(rows::Stack {
        stack: 1,
        frames: &format!("run;work{text}"),
        kinds: "jj",
        ..rows::Stack::default()
    });
    for (time_ns, reads) in [(T0 + MS, 0), (T0 + 60 * S - MS, 1000)] {
        recorder.append(rows::TableSample {
            time_ns,
            node: &node,
            keyspace: "shop",
            table_name: &format!("orders_by_customer{text}"),
            reads: Some(reads),
            writes: Some(reads),
            live_disk_bytes: Some(1_234_567_890),
            sstables_per_read_p95: Some(3.0),
            ..rows::TableSample::default()
        });
    }
    for number in 1..4 {
        recorder.append(rows::Sstable {
            time_ns: T0,
            node: &node,
            keyspace: "shop",
            table_name: "orders_by_customer",
            file: &format!("/data/shop/orders-1/nb-{number}-big-Data.db{text}"),
            live: true,
            level: Some(number),
            disk_bytes: Some(123_456_789),
            partitions: Some(12_345),
            source: "agent",
            ..rows::Sstable::default()
        });
    }
    recorder.close().unwrap();
}

/// Commands that show a recording.
const SHOWING: [&str; 15] = [
    "recording info r",
    "explain r --queries",
    "tables r",
    "tables r --show disk",
    "tables r --show partitions",
    "tables r --show sstables",
    "gc r",
    "io r",
    "advise r",
    "flame r --folded",
    "spectrogram r",
    "spectrogram r --select 1us..10s",
    "compare r r2",
    "export r --format folded",
    "export r --format folded --group nobody",
];

fn with_columns(place: &Place, arguments: &str, columns: &str) -> Running {
    let mut command = place.command(arguments);
    command.env("COLUMNS", columns);
    Running::of(command)
}

#[test]
fn what_others_wrote_is_shown_escaped() {
    let place = Place::new();
    for name in ["r", "r2"] {
        record(&place.path(name), &format!("title{HOSTILE}"), HOSTILE);
    }
    let clean = |text: &str| text.chars().all(|one| one == '\n' || !(one.is_control() || one == '\u{202e}'));
    for arguments in SHOWING {
        let result = with_columns(&place, arguments, "90").end();
        // Folded stacks in a pipe are passed on unchanged.
        let is_data = arguments.contains("folded");
        assert!(
            (is_data || clean(&result.out)) && clean(&result.err),
            "{arguments}: {:?} {:?}",
            result.out,
            result.err
        );
    }
    for arguments in ["recording info r", "tables r", "io r", "gc r"] {
        let shown = place.well(arguments);
        assert!(shown.contains("\\x1b]0;owned\\x07\\x1b[2J\\r\\x9b31m\\u{202e}evil"), "{arguments}: {shown}");
        let json = place.well(&format!("{arguments} --json"));
        assert!(clean(&json) && json.contains("evil"), "{arguments} --json: {json:?}");
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
    // Tables that were not recorded are named, too.
    let mut missing = place.command("explain");
    missing.arg(format!("no{HOSTILE}"));
    let result = Running::of(missing).end();
    assert!(
        result.status.code() == Some(2) && clean(&result.err) && result.err.contains("\\x1b]0;owned"),
        "{:?}",
        result.err
    );
}

#[test]
fn what_is_shown_fits_the_terminal() {
    let place = Place::new();
    for name in ["r", "r2"] {
        record(&place.path(name), "a recording", "");
    }
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    for arguments in SHOWING.iter().filter(|arguments| !arguments.contains("folded") && !arguments.contains("queries"))
    {
        for columns in [120, 80, 60] {
            let result = with_columns(&place, arguments, &columns.to_string()).end();
            assert_eq!(result.status.code(), Some(0), "{arguments}: {}", result.err);
            assert!(widest(&result.out) <= columns, "{arguments} at {columns}:\n{}", result.out);
            assert!(widest(&result.err) <= columns, "{arguments} at {columns}:\n{}", result.err);
        }
    }
    // On a narrow terminal no column is left out.
    let narrow = with_columns(&place, "tables r --show sstables", "60").end().out;
    for head in ["level", "newest", "droppable", "TTL", "repaired"] {
        assert!(narrow.contains(head), "{head} is not in\n{narrow}");
    }
}

#[test]
fn what_is_not_there_is_an_error_that_says_what_is() {
    let place = Place::new();
    record(&place.path("r"), "a recording", "");
    for (arguments, result) in [
        ("tables r --table nope", "no table has `nope`"),
        ("tables r --table nope --json", "no table has `nope`"),
        ("tables r --table nope --show sstables", "no table has `nope`"),
        ("advise r --table nope", "no table"),
        ("flame r --group nope -o f.html", "no thread group nope; --group takes "),
        ("export r --format folded --group nope", "no thread group nope; --group takes "),
        ("flame r --event wall -o f.html", "no wall samples; --event takes cpu"),
        ("flame r --from 3s --to 2s -o f.html", "--from 3s is not before --to 2s"),
        ("export r --format chrome --from 3s --to 2s", "--from 3s is not before --to 2s"),
        ("flame r --from 1h -o f.html", "none of them at that time"),
        ("record", "give --node ADDRESS or --pid PID"),
        ("record --for -3s --node 127.0.0.1", "`-3s` is not a duration"),
    ] {
        let found = place.run(arguments);
        assert_eq!(found.status.code(), Some(2), "{arguments}: {}{}", found.out, found.err);
        assert!(
            found.err.contains(result) && !found.err.contains("record with --stacks"),
            "{arguments}: {}",
            found.err
        );
    }
}

#[test]
fn json_is_one_document_and_says_what_was_done() {
    let place = Place::new();
    record(&place.path("r"), "a recording", "");
    std::fs::write(place.path("in.folded"), "main;work 5\n").unwrap();
    let rows = |value: &serde_json::Value| value["rows"].as_u64().unwrap();
    let imported = place.json("import in.folded -o stacks --json");
    assert!(rows(&imported["recorded"]) > 0 && imported["files"][0]["format"] == "folded", "{imported}");
    let merged = place.json("recording merge r stacks -o both --json");
    assert!(merged["recording"] == "both" && rows(&merged) > 4000, "{merged}");
    assert_eq!(place.json("recording salvage both --json")["was_whole"], true);
    let exported = place.json("export r --format pprof -o r.pb.gz --json");
    assert!(exported["file"] == "r.pb.gz" && exported["samples"] == 40, "{exported}");
    let jar = place.json("agent -o a.jar --json");
    assert_eq!(jar["bytes"].as_u64(), Some(std::fs::metadata(place.path("a.jar")).unwrap().len()));
    assert_eq!(place.json("down --json"), serde_json::json!([]));
    // The output of the recorded command goes to stderr.
    let pid = std::process::id();
    let watched = place.json(&format!("record --no-agent --stacks off --pid {pid} --json -o own -- echo hello"));
    assert!(watched["recording"] == "own", "{watched}");
}

/// Commands that read recordings, and commands that need neither recordings nor a node.
const WITHOUT_NODE: [&str; 21] = [
    "explain",
    "report",
    "flame",
    "io",
    "gc",
    "tables",
    "advise",
    "export",
    "spectrogram",
    "sql",
    "statements",
    "clients",
    "recording info",
    "recording salvage",
    "recording merge",
    "compare",
    "agent",
    "completions",
    "ps",
    "tune cql",
    "tune status",
];
/// Names of recordings in the examples.
const NAMED: [&str; 16] =
    ["run", "node", "before", "after", "a", "b", "a1", "a2", "a3", "b1", "b2", "b3", "load", "server", "one", "two"];

/// The help's examples of a command, each up to where another program begins.
fn examples(place: &Place, command: &str) -> Vec<Vec<String>> {
    let help = place.well(&format!("{command} --help")).replace("\\\n", " ");
    let lines = help.lines().filter(|line| line.starts_with("  helenus ")).filter_map(shlex::split);
    let others = ["|", "&&", "&", ">"];
    lines.map(|words| words.into_iter().take_while(|word| !others.contains(&word.as_str())).collect()).collect()
}

#[test]
fn examples_that_need_no_node_work_as_printed() {
    let place = Place::new();
    let mut ran = 0;
    for command in WITHOUT_NODE {
        for words in examples(&place, command) {
            let line = words.join(" ");
            let is_of_nodes =
                ["--node", "--pid", "--files"].iter().any(|option| words.iter().any(|word| word == option));
            // Examples that need a recording of variants, or the output of another command's example.
            if is_of_nodes || line.contains("adaptive-valves") || !line.starts_with(&format!("helenus {command}")) {
                continue;
            }
            for name in NAMED.iter().chain(&["three"]) {
                let path = place.path(&format!("{name}.helenus"));
                if line.contains(&format!("{name}.helenus")) && !path.exists() {
                    record(&path, name, "");
                }
            }
            // Replace /opt and the user's folders.
            let kept: Vec<String> = words[1..].iter().map(|word| word.replace("/opt/", "")).collect();
            let output = kept.iter().position(|word| word == "-o").and_then(|at| kept.get(at + 1)).cloned();
            if let Some(output) = output.filter(|output| output.ends_with(".helenus")) {
                // The output must not exist yet.
                let _ = std::fs::remove_dir_all(place.path(&output));
            }
            let mut process = place.command("");
            process.args(&kept).env("HOME", place.path("")).current_dir(place.path(""));
            let result = Running::of(process).end();
            assert!(matches!(result.status.code(), Some(0 | 1)), "{line}: {} {}", result.out, result.err);
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran} examples ran");
}
