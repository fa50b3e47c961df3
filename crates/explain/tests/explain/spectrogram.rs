//! Spectrograms of recordings whose calls are known.

use helenus_explain::{
    Area, Engine, Of, Options, Report, Selection, Spectrogram, SpectrogramFilter, TotalsBy, Traces, explain,
};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use proptest::prelude::*;
use std::collections::BTreeMap;

const US: i64 = 1000;
const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
const T0: i64 = 1_700_000_000 * S;
const ALWAYS: (i64, i64) = (i64::MIN, i64::MAX);
const EVERYTHING: Area = Area { from_ns: i64::MIN, to_ns: i64::MAX, low_ns: 0, high_ns: i64::MAX };

#[derive(Debug, Clone)]
struct Call {
    at_ns: i64,
    took_ns: i64,
    call: &'static str,
    group: &'static str,
    file: &'static str,
    bytes: Option<i64>,
    error: Option<&'static str>,
}

/// Ten seconds: a read of 2 µs every 10 ms, a wait of 200 ms every second, and three slow reads in the fifth second.
fn known() -> Vec<Call> {
    let mut calls = Vec::new();
    let mut add = |at_ns, took_ns, call, group, file, bytes, error| {
        calls.push(Call { at_ns, took_ns, call, group, file, bytes, error });
    };
    for at in 0..1000 {
        add(at * 10 * MS, 2 * US, "pread64", "ReadStage", "/data/nb-1-big-Data.db", Some(4096), None);
    }
    for at in 0..10 {
        add(at * S + MS, 200 * MS, "futex", "ReadStage", "", None, (at == 3).then_some("ETIMEDOUT"));
    }
    for at in 0..3 {
        add(4 * S + at * 100 * MS, 30 * MS + at, "pread64", "CompactionExecutor", "/data/nb_2%-Data.db", Some(1), None);
    }
    calls
}

fn engine(folder: &tempfile::TempDir, calls: &[Call]) -> Engine {
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("calls", "test")).unwrap();
    for call in calls {
        recorder.append(rows::Syscall {
            start_ns: T0 + call.at_ns,
            duration_ns: call.took_ns,
            node: "n",
            tid: 7,
            thread_group: call.group,
            call: call.call,
            file: call.file,
            file_kind: "file",
            bytes: call.bytes,
            offset_bytes: None,
            error: call.error,
        });
    }
    recorder.append(rows::SourceReport {
        time_ns: T0 + S,
        interval_ns: S,
        node: "n",
        source: "syscalls",
        provider: "ebpf",
        captured: 1000,
        lost: 5,
        lost_reason: "the ring buffer was full",
        ..rows::SourceReport::default()
    });
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

fn filter(call: &[&str], group: &[&str], file: &[&str]) -> SpectrogramFilter {
    let owned = |patterns: &[&str]| patterns.iter().map(|pattern| pattern.to_string()).collect();
    SpectrogramFilter { call: owned(call), group: owned(group), file: owned(file) }
}

#[test]
fn every_call_is_in_the_cell_of_its_time_and_duration() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(&folder, &known());
    let drawn = Spectrogram::build(&engine, Of::Syscalls, &filter(&[], &[], &[]), ALWAYS, 12, 100).unwrap();
    assert_eq!((drawn.events, drawn.rows, drawn.bin_ns, drawn.start_s), (1013, 10, S, 0.0));
    let within = |took_ns: i64| drawn.edges_ns.partition_point(|edge| *edge <= took_ns) - 1;
    let mut expected: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for call in known() {
        *expected.entry(((call.at_ns / S) as usize, within(call.took_ns))).or_default() += 1;
    }
    let expected: Vec<_> = expected.into_iter().map(|((row, column), count)| (row, column, count)).collect();
    assert_eq!(drawn.cells, expected);
    assert_eq!((drawn.lost[0].lost, drawn.lost[0].reason.as_str()), (Some(5), "the ring buffer was full"));
}

#[test]
fn names_and_times_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(&folder, &known());
    let count = |filter: SpectrogramFilter, window| {
        Spectrogram::build(&engine, Of::Syscalls, &filter, window, 10, 50).unwrap().events
    };
    assert_eq!(count(filter(&["pread"], &[], &[]), ALWAYS), 1003);
    assert_eq!(count(filter(&["=pread"], &[], &[]), ALWAYS), 0);
    assert_eq!(count(filter(&["!futex"], &[], &["*-Data.db"]), ALWAYS), 1003);
    assert_eq!(count(filter(&["futex", "pread64"], &["Compaction*"], &[]), ALWAYS), 3);
    // These characters are no wildcards in a pattern.
    assert_eq!(count(filter(&[], &[], &["nb_2%"]), ALWAYS), 3);
    assert_eq!(count(filter(&[], &[], &["%"]), ALWAYS), 3);
    assert_eq!(count(filter(&[], &[], &["="]), ALWAYS), 10);
    assert_eq!(count(filter(&[], &[], &[]), (T0 + 4 * S, T0 + 5 * S)), 104);
    assert_eq!(count(filter(&[], &[], &[]), (T0 + 100 * S, T0 + 200 * S)), 0);
}

#[test]
fn a_selection_is_exactly_the_events_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(&folder, &known());
    let all = filter(&[], &[], &[]);
    let area = Area { from_ns: T0 + 4 * S, to_ns: T0 + 5 * S, low_ns: 30 * MS + 1, high_ns: 200 * MS };
    let selection = Selection::build(&engine, Of::Syscalls, &all, area, 10).unwrap();
    let found: Vec<_> = selection.events.iter().map(|event| (event.start_s, event.duration_ns)).collect();
    assert_eq!(found, [(4.2, 30 * MS + 2), (4.1, 30 * MS + 1)]);
    assert_eq!((selection.all.events, selection.all.total_ns, selection.all.bytes), (2, 60 * MS + 3, 2));
    let by = |by: &str| -> &TotalsBy { selection.totals.iter().find(|totals| totals.by == by).unwrap() };
    assert_eq!(by("call").totals[0].name, "pread64");
    assert_eq!(by("file").totals[0].name, "/data/nb_2%-Data.db");
    assert_eq!(by("thread group").totals[0].name, "CompactionExecutor");

    let waits = Selection::build(&engine, Of::Syscalls, &filter(&["futex"], &[], &[]), EVERYTHING, 3).unwrap();
    assert_eq!((waits.events.len(), waits.all.events, waits.all.errors, waits.all.bytes), (3, 10, 1, 0));
    let everything = Selection::build(&engine, Of::Syscalls, &all, EVERYTHING, 0).unwrap();
    assert_eq!((everything.all.events, everything.events.len()), (1013, 0));
    let longest: Vec<_> = everything.totals[0].totals.iter().map(|total| (total.name.as_str(), total.events)).collect();
    assert_eq!(longest, [("futex", 10), ("pread64", 1003)]);
}

#[test]
fn a_summary_is_drawn_by_its_own_bins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("summary", "test")).unwrap();
    for second in 1..=4 {
        for (low_ns, high_ns, count) in [(0, 1, 1), (1024, 2048, 100), (1 << 24, 1 << 25, second)] {
            recorder.append(rows::SyscallSummary {
                time_ns: T0 + second * S,
                interval_ns: S,
                node: "n",
                thread_group: "ReadStage",
                call: "pread64",
                file: "/data/a",
                file_kind: "file",
                low_ns,
                high_ns,
                count,
                total_ns: count * low_ns,
                bytes: count,
                errors: 0,
            });
        }
    }
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let traces = Traces::find(&engine).unwrap();
    assert_eq!((traces.syscalls, traces.summary, traces.requests, traces.start_ns), (false, true, false, T0));
    let all = filter(&[], &[], &[]);
    let drawn = Spectrogram::build(&engine, Of::Summary, &all, ALWAYS, 500, 100).unwrap();
    assert_eq!((drawn.rows, drawn.bin_ns, drawn.events), (4, S, 4 + 400 + 10));
    assert_eq!(drawn.cells[..3], [(0, 0, 1), (0, 10, 100), (0, 24, 1)]);
    let area = Area { from_ns: T0 + S, to_ns: T0 + 3 * S, low_ns: 20 * MS, high_ns: 21 * MS };
    let selection = Selection::build(&engine, Of::Summary, &all, area, 10).unwrap();
    assert_eq!((selection.all.events, selection.events.len()), (2 + 3, 0));
    let report = Report::build(&engine, &explain(&engine, &Options::default()).unwrap()).unwrap().spectrogram.unwrap();
    assert_eq!((report.of, report.events, report.complete, report.longest.len()), (Of::Summary, 414, false, 0));
    assert_eq!(report.cells.events.iter().sum::<i64>(), 414);
}

#[test]
fn requests_count_where_they_were_due_and_only_where_they_have_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("requests", "test")).unwrap();
    for (at, took_ns, outcome) in [(0, MS, "ok"), (1, 2 * S, "read_timeout"), (2, MS, "abandoned"), (3, 20 * S, "ok")] {
        recorder.append(rows::Request {
            intended_start_ns: T0 + at * S,
            start_ns: T0 + at * S + MS / 2,
            end_ns: T0 + at * S + took_ns,
            node: "n",
            operation: "read",
            outcome,
            response_bytes: Some(10),
            ..rows::Request::default()
        });
    }
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let all = filter(&[], &[], &[]);
    let drawn = Spectrogram::build(&engine, Of::Requests, &all, (T0, T0 + 4 * S), 4, 10).unwrap();
    // The last call took longer than the end of the axis.
    assert_eq!(drawn.cells, [(0, 6, 1), (1, 9, 1), (3, 9, 1)]);
    let selection = Selection::build(&engine, Of::Requests, &all, EVERYTHING, 10).unwrap();
    assert_eq!((selection.all.events, selection.all.errors), (3, 1));
    assert_eq!(selection.events[1].error.as_deref(), Some("read_timeout"));
    let refused = Selection::build(&engine, Of::Requests, &filter(&[], &["x"], &[]), EVERYTHING, 1).unwrap_err();
    assert!(refused.to_string().contains("--call"), "{refused}");
}

#[test]
fn the_report_holds_few_calls_whole_and_of_many_the_longest() {
    let folder = tempfile::tempdir().unwrap();
    let few = engine(&folder, &known());
    let report = |engine: &Engine| {
        Report::build(engine, &explain(engine, &Options::default()).unwrap()).unwrap().spectrogram.unwrap()
    };
    let spectrogram = report(&few);
    assert!(spectrogram.complete);
    assert_eq!((spectrogram.longest.len(), spectrogram.events), (1013, 1013));
    assert_eq!(spectrogram.calls, ["pread64", "futex"]);
    assert_eq!(spectrogram.files[0], "/data/nb-1-big-Data.db");
    assert_eq!(spectrogram.cells.events.iter().sum::<i64>(), 1013);
    assert_eq!(spectrogram.lost[0].lost, Some(5));

    let other = tempfile::tempdir().unwrap();
    let files: Vec<&'static str> = (0..40).map(|file| &*Box::leak(format!("/data/{file}").into_boxed_str())).collect();
    let many: Vec<Call> = (0..100_000i64)
        .map(|number| Call {
            at_ns: number * MS / 10,
            took_ns: 1 + (number * 7919) % 100_000 * US,
            call: ["read", "write", "futex"][number as usize % 3],
            group: ["a", "b"][number as usize / 3 % 2],
            // 27 of the first 30, each of them more frequent than the last 10: 37 in all.
            file: files[if number % 10 == 0 { 30 + number as usize / 10 % 10 } else { number as usize % 30 }],
            bytes: Some(1),
            error: None,
        })
        .collect();
    let spectrogram = report(&engine(&other, &many));
    assert!(!spectrogram.complete);
    assert_eq!((spectrogram.files.len() + spectrogram.other_files, spectrogram.events), (37, 100_000));
    assert!(spectrogram.cells.row.len() <= 40_000 && spectrogram.longest.len() <= 3000);
    assert_eq!(spectrogram.cells.events.iter().sum::<i64>(), 100_000);
    assert_eq!(spectrogram.cells.bytes.iter().sum::<i64>(), 100_000);
    assert_eq!(spectrogram.cells.total_ns.iter().sum::<i64>(), many.iter().map(|call| call.took_ns).sum::<i64>());
    let slowest = spectrogram.longest.iter().map(|event| event.duration_ns).max();
    assert_eq!(slowest, many.iter().map(|call| call.took_ns).max());
    assert!(spectrogram.cells.file.contains(&spectrogram.files.len()));
    assert!(spectrogram.cells.row.iter().all(|row| *row < spectrogram.rows));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn cells_and_selections_agree(
        times in proptest::collection::vec((0..5 * S, prop_oneof![0..2000i64, 0..20 * S]), 1..60),
        columns in 10..200usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let calls: Vec<Call> = times
            .iter()
            .map(|(at_ns, took_ns)| Call {
                at_ns: *at_ns,
                took_ns: *took_ns,
                call: "read",
                group: "g",
                file: "f",
                bytes: None,
                error: None,
            })
            .collect();
        let engine = engine(&folder, &calls);
        let all = filter(&[], &[], &[]);
        let drawn = Spectrogram::build(&engine, Of::Syscalls, &all, ALWAYS, 10, columns).unwrap();
        prop_assert_eq!(drawn.events, calls.len() as u64);
        for (row, column, count) in drawn.cells.iter().take(4) {
            let from_ns = drawn.start_ns + *row as i64 * drawn.bin_ns;
            let area = Area {
                from_ns,
                to_ns: from_ns + drawn.bin_ns,
                low_ns: if *column == 0 { 0 } else { drawn.edges_ns[*column] },
                high_ns: if *column + 1 == columns { i64::MAX } else { drawn.edges_ns[*column + 1] },
            };
            let selection = Selection::build(&engine, Of::Syscalls, &all, area, 100).unwrap();
            prop_assert_eq!(selection.all.events as u64, *count);
            prop_assert_eq!(selection.events.len() as u64, *count);
        }
    }
}
