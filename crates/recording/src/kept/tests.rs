use super::*;
use crate::schema::Table;
use crate::{Recorder, Recording, Tail, rows};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

fn begin(folder: &Path, kept: Kept) -> Keeper {
    Keeper::begin(folder, Manifest::new("kept", "test"), kept).unwrap()
}

fn an_hour() -> Kept {
    Kept::new(Duration::from_secs(3600), None)
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("kept");
    (place, folder)
}

/// Numbered rows, with the node's settings, which a source writes at the start of each segment.
fn append(recorder: &Recorder, numbers: std::ops::Range<i64>) {
    recorder.append_all(numbers.map(|number| rows::Request {
        intended_start_ns: number,
        start_ns: recorder.clock().now_ns(),
        operation: "read",
        outcome: "ok",
        ..rows::Request::default()
    }));
}

fn turn(keeper: &mut Keeper) {
    let next = keeper.begin_next().unwrap();
    keeper.turned(next);
}

/// Waits until rows that were appended are on the disk.
fn flushed(keeper: &Keeper, rows: u64) {
    flushed_of(keeper, "requests", rows);
}

fn flushed_of(keeper: &Keeper, table: &str, rows: u64) {
    let begun = Instant::now();
    loop {
        let seen = Recording::open(keeper.folder()).unwrap().manifest().tables.get(table).map_or(0, |of| of.rows);
        if seen >= rows {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{seen} of {rows} rows");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn numbers(recording: &Recording) -> Vec<i64> {
    let mut numbers = Vec::new();
    for part in recording.parts("requests").unwrap() {
        for batch in part.batches().unwrap() {
            numbers.extend(numbers_of(&batch.unwrap()));
        }
    }
    numbers
}

fn numbers_of(batch: &arrow::array::RecordBatch) -> Vec<i64> {
    batch.column_by_name("intended_start_ns").unwrap().as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn a_recording_that_grows_is_read_up_to_now() {
    let (_place, folder) = place();
    let recorder = Recorder::create(&folder, Manifest::new("growing", "test")).unwrap();
    assert!(Recording::open(&folder).unwrap().is_growing(), "before its first row");
    append(&recorder, 0..100);
    let begun = Instant::now();
    let opened = loop {
        let opened = Recording::open(&folder).unwrap();
        if opened.manifest().tables.contains_key("requests") {
            break opened;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    };
    append(&recorder, 100..200);
    recorder.close().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let found = numbers(&opened);
    assert!(found.iter().copied().eq(0..100), "as it was when it was opened, whatever became of its files: {found:?}");
    assert_eq!(opened.manifest().tables["requests"].rows, 100);
    let text = opened.parts("requests").unwrap()[0].batches().unwrap().next().unwrap().unwrap();
    let plain = Table::named("requests").unwrap().plain(&text).unwrap();
    assert_eq!(plain.column_by_name("operation").unwrap().as_string::<i32>().value(99), "read");
}

#[test]
fn segments_are_one_recording() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    for segment in 0..3 {
        keeper
            .recorder()
            .update_manifest(|manifest| {
                manifest.nodes.push(NodeFacts {
                    address: "n".into(),
                    pid: Some(segment as u32),
                    cassandra: (segment == 0).then(|| "5.0".to_string()),
                    ..NodeFacts::default()
                });
                manifest.losses.push(Loss { table: "wire".into(), rows: Some(2), reason: "r".into() });
            })
            .unwrap();
        append(keeper.recorder(), segment * 10..segment * 10 + 10);
        flushed(&keeper, (segment as u64 + 1) * 10);
        if segment < 2 {
            turn(&mut keeper);
        }
    }
    let opened = Recording::open(&folder).unwrap();
    assert!(opened.is_growing() && numbers(&opened).into_iter().eq(0..30));
    let manifest = opened.manifest();
    let [node] = manifest.nodes.as_slice() else { panic!("{:?}", manifest.nodes) };
    assert_eq!((node.pid, node.cassandra.as_deref()), (Some(2), Some("5.0")));
    assert_eq!(manifest.losses, [Loss { table: "wire".into(), rows: Some(6), reason: "r".into() }]);
    assert!(matches!(Keeper::begin(&folder, Manifest::new("", ""), an_hour()), Err(Error::StillWriting { .. })));
    let summary = keeper.close(&mut |_| {}).unwrap();
    assert_eq!(summary.tables["requests"].rows, 30);
    let opened = Recording::open(&folder).unwrap();
    assert!(!opened.is_growing() && numbers(&opened).into_iter().eq(0..30));
    assert_eq!(opened.manifest().state, State::Closed);
    assert!(opened.parts("requests").unwrap().iter().all(|part| part.parquet().is_some()));
    assert!(matches!(
        crate::merge(&[opened.clone(), opened], &[], &folder.join("out"), "", ""),
        Err(Error::MergedTwice { .. })
    ));
}

#[test]
fn what_is_older_than_asked_is_deleted_and_stays_readable_for_those_who_opened_it() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, Kept::new(Duration::from_millis(1), None));
    append(keeper.recorder(), 0..10);
    flushed(&keeper, 10);
    let opened = Recording::open(&folder).unwrap();
    turn(&mut keeper);
    append(keeper.recorder(), 10..20);
    let begun = Instant::now();
    while names(&keeper.folder).unwrap().len() > 1 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
        assert!(keeper.sweep().is_empty());
    }
    assert!(numbers(&opened).into_iter().eq(0..10));
    keeper.close(&mut |_| {}).unwrap();
    assert!(numbers(&Recording::open(&folder).unwrap()).into_iter().eq(10..20));
}

#[test]
fn the_size_is_kept_by_deleting_the_oldest() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, Kept::new(Duration::from_secs(3600), Some(64 << 10)));
    for segment in 0..4 {
        append(keeper.recorder(), segment * 5_000..(segment + 1) * 5_000);
        let begun = Instant::now();
        while !keeper.is_due() || !keeper.closing.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
            assert!(keeper.sweep().is_empty());
        }
        turn(&mut keeper);
    }
    keeper.close(&mut |_| {}).unwrap();
    let left = numbers(&Recording::open(&folder).unwrap());
    assert!(left.len() < 20_000 && left.last() == Some(&19_999), "{} rows", left.len());
}

/// A recording whose first segments were made when the wall clock was an hour ahead, perhaps in another boot.
fn made_ahead(folder: &Path, is_of_this_boot: bool) -> Vec<String> {
    let mut manifest = Manifest::new("kept", "test");
    manifest.clock.epoch_offset_ns += 3_600_000_000_000;
    if !is_of_this_boot {
        manifest.clock.boot_id = "another".to_string();
    }
    let mut keeper = Keeper::begin(folder, manifest, an_hour()).unwrap();
    for segment in 0..2 {
        append(keeper.recorder(), segment * 5_000..(segment + 1) * 5_000);
        turn(&mut keeper);
    }
    keeper.close(&mut |_| {}).unwrap();
    names(&Folder::open(folder).unwrap()).unwrap()
}

#[test]
fn after_the_clock_has_gone_back_the_oldest_segments_are_deleted_and_not_the_newest() {
    for (is_of_this_boot, most) in [(true, None), (false, None), (true, Some(64 << 10)), (false, Some(64 << 10))] {
        let (_place, folder) = place();
        let ahead = made_ahead(&folder, is_of_this_boot);
        let keep = if most.is_some() { Duration::from_secs(3600) } else { Duration::from_millis(1) };
        let mut keeper = begin(&folder, Kept::new(keep, most));
        let own = names(&keeper.folder).unwrap().pop().unwrap();
        assert!(ahead.iter().all(|name| *name < own), "the newest is the last: {ahead:?}, {own}");
        let begun = Instant::now();
        for segment in 2..5 {
            append(keeper.recorder(), segment * 5_000..(segment + 1) * 5_000);
            while !keeper.closing.is_empty() || (most.is_some() && !keeper.is_due()) {
                assert!(begun.elapsed() < Duration::from_secs(60));
                assert!(keeper.sweep().is_empty());
                std::thread::sleep(Duration::from_millis(5));
            }
            turn(&mut keeper);
        }
        append(keeper.recorder(), 25_000..25_001);
        // By age, all of them go; by size, the oldest.
        let are_left = |keeper: &Keeper| {
            let left = names(&keeper.folder).unwrap().iter().filter(|name| ahead.contains(name)).count();
            left > if most.is_some() { ahead.len() - 1 } else { 0 }
        };
        while !keeper.closing.is_empty() || are_left(&keeper) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", names(&keeper.folder));
            assert!(keeper.sweep().is_empty());
            std::thread::sleep(Duration::from_millis(5));
        }
        // A tail that begins now reads nothing of the segments before.
        let mut tail = Tail::open(&folder, keeper.recorder().clock().now_ns()).unwrap();
        let mut read = Vec::new();
        while read.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            read.extend(new_in(&mut tail));
        }
        assert_eq!(read, [25_000]);
        keeper.close(&mut |_| {}).unwrap();
        let left = numbers(&Recording::open(&folder).unwrap());
        assert!(left.iter().copied().eq(left[0]..25_001), "none is missing between: {} rows", left.len());
    }
}

#[test]
fn segments_of_this_boot_keep_their_age_when_the_clock_goes_ahead() {
    let (_place, folder) = place();
    let mut manifest = Manifest::new("kept", "test");
    manifest.clock.epoch_offset_ns -= 3_600_000_000_000;
    let keeper = Keeper::begin(&folder, manifest, an_hour()).unwrap();
    append(keeper.recorder(), 0..10);
    keeper.close(&mut |_| {}).unwrap();
    let mut keeper = begin(&folder, Kept::new(Duration::from_secs(600), None));
    append(keeper.recorder(), 10..20);
    assert!(keeper.sweep().is_empty());
    keeper.close(&mut |_| {}).unwrap();
    assert!(numbers(&Recording::open(&folder).unwrap()).into_iter().eq(0..20), "they are seconds old");
}

#[test]
fn a_recorder_goes_on_where_one_was_killed() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    append(keeper.recorder(), 0..10);
    turn(&mut keeper);
    append(keeper.recorder(), 10..20);
    flushed(&keeper, 20);
    // Dropping it leaves the same files as a kill.
    drop(keeper);
    let opened = Recording::open(&folder).unwrap();
    assert!(numbers(&opened).into_iter().eq(0..20) && !opened.is_growing());
    let clock = opened.manifest().clock.clone();
    let keeper = begin(&folder, an_hour());
    append(keeper.recorder(), 20..30);
    let summary = keeper.close(&mut |_| {}).unwrap();
    assert_eq!(summary.tables["requests"].rows, 30);
    let again = Recording::open(&folder).unwrap();
    assert!(numbers(&again).into_iter().eq(0..30));
    assert_eq!((&again.manifest().id, &again.manifest().clock), (&opened.manifest().id, &clock));
}

#[test]
fn salvage_closes_the_segments() {
    let (_place, folder) = place();
    let keeper = begin(&folder, an_hour());
    append(keeper.recorder(), 0..10);
    flushed(&keeper, 10);
    assert!(matches!(crate::salvage(&folder), Err(Error::StillWriting { .. })));
    drop(keeper);
    let salvaged = crate::salvage(&folder).unwrap();
    assert_eq!((salvaged.was_closed, salvaged.tables["requests"].rows), (false, 10));
    assert!(crate::salvage(&folder).unwrap().was_closed);
    assert_eq!(Recording::open(&folder).unwrap().manifest().tables["requests"].rows, 10);
}

#[test]
fn what_is_not_kept_is_left_alone() {
    let (_place, folder) = place();
    let recorder = Recorder::create(&folder, Manifest::new("other", "test")).unwrap();
    append(&recorder, 0..1);
    recorder.close().unwrap();
    assert!(matches!(Keeper::begin(&folder, Manifest::new("", ""), an_hour()), Err(Error::NotKept(_))));
    assert_eq!(numbers(&Recording::open(&folder).unwrap()), [0]);
    let other = folder.join("requests");
    assert!(matches!(Keeper::begin(&other, Manifest::new("", ""), an_hour()), Err(Error::Exists(_))));
}

#[test]
fn a_segment_that_was_abandoned_leaves_nothing() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    let next = keeper.begin_next().unwrap();
    keeper.abandon(&next).unwrap();
    assert_eq!(names(&keeper.folder).unwrap().len(), 1);
    keeper.close(&mut |_| {}).unwrap();
}

/// The numbers of the requests that have come since the last call.
fn new_in(tail: &mut Tail) -> Vec<i64> {
    let mut numbers = Vec::new();
    tail.follow(["requests"], |_, batch| numbers.extend(numbers_of(batch))).unwrap();
    numbers
}

/// A thread that writes rows without a pause, while segments are closed and deleted.
#[test]
fn a_tail_has_each_row_once() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    let mut tail = Tail::open(&folder, 0).unwrap();
    let is_over = AtomicBool::new(false);
    let (written, read) = std::thread::scope(|scope| {
        let is_over = &is_over;
        let writer = scope.spawn(move || {
            let mut written = 0;
            for segment in 0..6 {
                for _ in 0..20 {
                    append(keeper.recorder(), written..written + 50);
                    written += 50;
                    std::thread::sleep(Duration::from_millis(5));
                }
                if segment % 2 == 1 {
                    keeper.recorder().append(rows::Mark::default());
                }
                turn(&mut keeper);
            }
            keeper.close(&mut |_| {}).unwrap();
            is_over.store(true, Ordering::Release);
            written
        });
        let mut read = Vec::new();
        loop {
            let was_over = is_over.load(Ordering::Acquire);
            read.extend(new_in(&mut tail));
            if was_over {
                break;
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        (writer.join().unwrap(), read)
    });
    let mut sorted = read;
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..written), "{} of {written} rows", sorted.len());
    // A table that is read for the first time is read from its files.
    let mut marks = 0;
    tail.follow(["requests", "marks", "no_such_table"], |table, batch| {
        assert_eq!(table, "marks");
        marks += batch.num_rows();
    })
    .unwrap();
    assert_eq!((marks, tail.missed(), tail.is_growing()), (3, 0, false));
}

#[test]
fn a_tail_reads_what_it_holds_when_its_segment_is_deleted() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, Kept::new(Duration::from_millis(1), None));
    append(keeper.recorder(), 0..10);
    flushed(&keeper, 10);
    let mut tail = Tail::open(&folder, 0).unwrap();
    assert_eq!(new_in(&mut tail).len(), 10);
    append(keeper.recorder(), 10..20);
    turn(&mut keeper);
    let begun = Instant::now();
    while names(&keeper.folder).unwrap().len() > 1 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        keeper.sweep();
    }
    assert_eq!(new_in(&mut tail).len(), 10, "the rows that came before it was deleted");
    append(keeper.recorder(), 20..25);
    keeper.close(&mut |_| {}).unwrap();
    assert_eq!(new_in(&mut tail).len(), 5);
}

#[test]
fn a_tail_of_a_recording_without_segments_ends_with_it() {
    let (_place, folder) = place();
    let recorder = Recorder::create(&folder, Manifest::new("growing", "test")).unwrap();
    let mut tail = Tail::open(&folder, 0).unwrap();
    assert!(new_in(&mut tail).is_empty() && tail.is_growing());
    append(&recorder, 0..10);
    recorder.close().unwrap();
    assert!(new_in(&mut tail).into_iter().eq(0..10));
    assert!(new_in(&mut tail).is_empty() && !tail.is_growing());
}

#[test]
fn a_tail_begins_with_the_segment_of_a_time() {
    let (_place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    append(keeper.recorder(), 0..10);
    turn(&mut keeper);
    append(keeper.recorder(), 10..20);
    let since_ns = keeper.recorder().clock().now_ns();
    keeper.close(&mut |_| {}).unwrap();
    let mut tail = Tail::open(&folder, since_ns).unwrap();
    assert!(new_in(&mut tail).into_iter().eq(10..20));
}

#[test]
fn a_tail_of_a_copy_has_the_rows_of_all_of_its_segments() {
    let (place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    for segment in 0..3 {
        append(keeper.recorder(), segment * 10..segment * 10 + 10);
        turn(&mut keeper);
    }
    keeper.close(&mut |_| {}).unwrap();
    let copy = place.path().join("copy");
    let recording = Recording::open(&folder).unwrap();
    let all = (0, i64::MAX);
    let ended = crate::freeze(&recording, all, &copy, ("copy", "test"), &|| false);
    assert!(matches!(ended, Err(crate::Error::Ended)), "{ended:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    crate::freeze(&recording, all, &copy, ("copy", "test"), &|| true).unwrap();
    let mut tail = Tail::open(&copy, 0).unwrap();
    assert!(new_in(&mut tail).into_iter().eq(0..30));
    assert!(new_in(&mut tail).is_empty());
}

#[test]
fn a_window_is_frozen_with_the_state_before_it() {
    let (place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    let now_ns = keeper.recorder().clock().now_ns();
    let at = |s: i64| now_ns + s * 1_000_000_000;
    let setting = |recorder: &Recorder, time_ns, value| {
        recorder.append(rows::Setting { time_ns, node: "n", setting: "s", value, source: "test" });
    };
    let request = |recorder: &Recorder, from_ns: i64, to_ns: i64| {
        recorder.append(rows::Request {
            intended_start_ns: from_ns,
            start_ns: from_ns,
            end_ns: to_ns,
            ..rows::Request::default()
        });
    };
    setting(keeper.recorder(), at(1), "before");
    for second in 0..60 {
        request(keeper.recorder(), at(second), at(second) + 1);
    }
    // This request extends into the window.
    request(keeper.recorder(), at(5), at(31));
    setting(keeper.recorder(), at(50), "after");
    flushed(&keeper, 61);
    turn(&mut keeper);
    let out = place.path().join("frozen");
    let recording = Recording::open(&folder).unwrap();
    crate::freeze(&recording, (at(30), at(40)), &out, ("frozen", "test"), &|| true).unwrap();
    let frozen = Recording::open(&out).unwrap();
    let mut expected: Vec<i64> = (30..=40).map(at).collect();
    expected.insert(0, at(5));
    let mut found = numbers(&frozen);
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(frozen.manifest().tables["settings"].rows, 1, "what came later is not in it");
    assert_eq!((frozen.manifest().state, frozen.manifest().kept), (State::Closed, None));
    let merged = crate::merge(&[recording.clone(), frozen], &[], &place.path().join("m"), "", "");
    assert!(matches!(merged, Err(Error::MergedTwice { .. })));
    let nothing = crate::freeze(&recording, (at(-50), at(-40)), &place.path().join("nothing"), ("", ""), &|| true);
    assert!(matches!(nothing, Err(Error::NothingIn { .. })), "{nothing:?}");
    assert!(!place.path().join("nothing").exists());
    keeper.close(&mut |_| {}).unwrap();
}

/// The profiler delivers its samples late, so a stack may be older than its segment.
#[test]
fn a_frozen_window_has_the_stacks_of_its_segments() {
    let (place, folder) = place();
    let mut keeper = begin(&folder, an_hour());
    append(keeper.recorder(), 0..1);
    flushed(&keeper, 1);
    turn(&mut keeper);
    let now_ns = keeper.recorder().clock().now_ns();
    let at = |s: i64| now_ns + s * 1_000_000_000;
    keeper.recorder().append(rows::Stack { time_ns: at(-5), stack: 7, frames: "a;b", kinds: "jj" });
    keeper.recorder().append(rows::StackSample { time_ns: at(30), stack: 7, ..rows::StackSample::default() });
    flushed_of(&keeper, "stacks", 1);
    flushed_of(&keeper, "samples", 1);
    let recording = Recording::open(&folder).unwrap();
    let freeze = |window, name: &str| crate::freeze(&recording, window, &place.path().join(name), ("", ""), &|| true);
    let frozen = freeze((at(25), at(35)), "frozen").unwrap();
    assert_eq!((frozen.tables["samples"].rows, frozen.tables["stacks"].rows), (1, 1));
    let nothing = freeze((at(50), at(60)), "nothing");
    assert!(matches!(nothing, Err(Error::NothingIn { .. })), "stacks alone are nothing: {nothing:?}");
    keeper.close(&mut |_| {}).unwrap();
}
