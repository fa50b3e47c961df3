//! One damaged file of a recording keeps nothing else from being read, deleted or salvaged.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use helenus_recording::{Error, Keeper, Kept, Manifest, Recorder, Recording, Tail, rows, salvage};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const KINDS: [&str; 8] = ["empty", "cut", "flipped", "link", "fifo", "folder", "huge", "unreadable"];

/// Root reads what is unreadable for others.
fn kinds() -> impl Iterator<Item = &'static str> {
    // SAFETY: takes no arguments and can't fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    KINDS.into_iter().filter(move |kind| !(is_root && *kind == "unreadable"))
}

fn damage(path: &Path, kind: &str) {
    let bytes = std::fs::read(path).unwrap();
    match kind {
        "empty" => std::fs::write(path, "").unwrap(),
        "cut" => std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        "flipped" => {
            let mut bytes = bytes;
            let at = match path.extension().and_then(|extension| extension.to_str()) {
                // Without its first byte, a manifest can't be parsed.
                Some("json") => 0,
                // The rows come after the schema.
                Some("arrows") => bytes.len() - bytes.len() / 8,
                _ => bytes.len() / 8,
            };
            bytes[at] ^= 0x14;
            std::fs::write(path, bytes).unwrap();
        }
        "link" => {
            let moved = path.with_extension("moved");
            std::fs::rename(path, &moved).unwrap();
            symlink(&moved, path).unwrap();
        }
        "huge" => {
            std::fs::write(path, "").unwrap();
            std::fs::File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
        }
        "unreadable" => std::fs::set_permissions(path, PermissionsExt::from_mode(0o0)).unwrap(),
        kind => {
            std::fs::remove_file(path).unwrap();
            if kind == "folder" {
                std::fs::create_dir(path).unwrap();
                std::fs::write(path.join("inner"), "").unwrap();
            } else {
                assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// All names below a folder, links not followed.
fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            found.extend(listing(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

fn request(number: i64) -> rows::Request<'static> {
    rows::Request { intended_start_ns: number, start_ns: number + 1, outcome: "ok", ..rows::Request::default() }
}

fn append(recorder: &Recorder, numbers: std::ops::Range<i64>) {
    recorder.append_all(numbers.clone().map(request));
    recorder.append_all(numbers.map(|time_ns| rows::Mark { start_ns: time_ns + 1, ..rows::Mark::default() }));
}

fn column(recording: &Recording, table: &str, name: &str) -> Vec<i64> {
    let batches = recording.parts(table).unwrap().into_iter().flat_map(|part| part.batches().unwrap());
    let values = batches
        .flat_map(|batch| batch.unwrap().column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec());
    values.collect()
}

fn opened(folder: &Path) -> Recording {
    let mut recording = Recording::open(folder).unwrap();
    recording.verify(None);
    recording
}

fn said(recording: &Recording) -> String {
    recording.skipped().iter().map(|loss| loss.reason.as_str()).collect::<Vec<_>>().join("\n")
}

fn numbers(range: std::ops::Range<i64>) -> Vec<i64> {
    range.collect()
}

#[test]
fn a_damaged_file_of_a_closed_recording_hides_no_other() {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    let recorder = Recorder::create(&whole, Manifest::new("whole", "test")).unwrap();
    append(&recorder, 0..50);
    recorder.close().unwrap();
    for kind in kinds() {
        for file in ["manifest.json", "requests/part-0.parquet", "writer.lock", "marks/notes.txt"] {
            let case = format!("{kind} {file}");
            let folder = place.path().join(case.replace([' ', '/'], "-"));
            copy(&whole, &folder);
            if file.ends_with("txt") {
                std::fs::write(folder.join(file), "of somebody else").unwrap();
            } else if file.ends_with("lock") {
                std::fs::write(folder.join(file), "lock").unwrap();
            }
            damage(&folder.join(file), kind);
            let before = listing(&folder);
            let recording = opened(&folder);
            assert_eq!(listing(&folder), before, "{case}: reading writes nothing");
            let is_table = file.ends_with("parquet");
            assert_eq!(column(&recording, "marks", "start_ns"), numbers(1..51), "{case}");
            let expected = if is_table { Vec::new() } else { numbers(0..50) };
            assert_eq!(column(&recording, "requests", "intended_start_ns"), expected, "{case}");
            let is_lost = is_table || file.ends_with("json");
            assert_eq!(said(&recording).contains(file), is_lost, "{case}: {}", said(&recording));
            for loss in recording.skipped() {
                assert_eq!(loss.rows, is_table.then_some(50), "{case}");
                assert!(recording.manifest().losses.contains(loss), "{case}");
            }

            let salvaged = salvage(&folder).unwrap();
            assert!(salvaged.was_closed, "{case}");
            let aside = folder.join(format!("{file}.set-aside"));
            assert_eq!(aside.symlink_metadata().is_ok(), is_lost, "{case}: {:?}", listing(&folder));
            assert_eq!(salvaged.damaged.len(), usize::from(is_lost), "{case}: {:?}", salvaged.damaged);
            if is_lost {
                assert!(salvaged.damaged[0].reason.contains("set-aside"), "{case}: {:?}", salvaged.damaged);
                let again = opened(&folder);
                assert_eq!((again.skipped().len(), column(&again, "marks", "start_ns")), (0, numbers(1..51)), "{case}");
                assert_eq!(again.manifest().losses, salvaged.damaged, "{case}");
                let twice = salvage(&folder).unwrap();
                assert!(twice.damaged.is_empty() && twice.lost_before == salvaged.damaged, "{case}: {twice:?}");
            }
        }
    }
}

#[test]
fn a_damaged_stream_keeps_no_other_from_being_salvaged() {
    let place = tempfile::tempdir().unwrap();
    let ended = place.path().join("ended");
    let recorder = Recorder::create(&ended, Manifest::new("ended", "test")).unwrap();
    append(&recorder, 0..50);
    drop(recorder);
    for kind in kinds() {
        for file in ["manifest.json", "requests/part-0.arrows", "writer.lock", "reserve", "requests/part-0.unfinished"]
        {
            let case = format!("{kind} {file}");
            let folder = place.path().join(case.replace([' ', '/'], "-"));
            copy(&ended, &folder);
            if file == "writer.lock" && kind == "unreadable" {
                // Whether somebody writes can't be known then.
                continue;
            }
            if file == "writer.lock" || !folder.join(file).exists() {
                std::fs::write(folder.join(file), "something").unwrap();
            }
            damage(&folder.join(file), kind);
            assert!(matches!(Recording::open(&folder), Err(Error::NotClosed { .. })), "{case}");
            let salvaged = salvage(&folder).unwrap();
            let recording = opened(&folder);
            assert_eq!(column(&recording, "marks", "start_ns"), numbers(1..51), "{case}");
            let is_stream = file.ends_with("arrows");
            let found = column(&recording, "requests", "intended_start_ns");
            assert!(is_stream || found == numbers(0..50), "{case}: {found:?}");
            if is_stream {
                let is_said = !salvaged.damaged.is_empty() || salvaged.cut == ["requests"];
                assert!(is_said && found.len() < 50, "{case}: {salvaged:?}");
                assert!(recording.manifest().losses.iter().any(|loss| loss.table == "requests"), "{case}");
            }
            if file == "manifest.json" {
                assert!(salvaged.damaged[0].reason.contains("manifest.json.set-aside"), "{case}: {salvaged:?}");
            }
        }
    }
}

fn turn(keeper: &mut Keeper) {
    let next = keeper.begin_next().unwrap();
    keeper.turned(next);
}

fn manifest() -> Manifest {
    Manifest::new("kept", "test")
}

/// A kept recording of four segments with ten rows each, the last of which is not closed.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let mut keeper = Keeper::begin(folder, manifest(), Kept::new(Duration::from_secs(3600), None)).unwrap();
    for segment in 0..4 {
        append(keeper.recorder(), segment * 10..segment * 10 + 10);
        if segment < 3 {
            turn(&mut keeper);
        }
    }
    drop(keeper);
    let entries = std::fs::read_dir(folder.join("segments")).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}

#[test]
fn a_damaged_segment_hides_no_other_and_is_deleted_in_its_turn() {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    let segments = kept(&whole);
    assert_eq!(column(&opened(&whole), "requests", "intended_start_ns"), numbers(0..40));
    for kind in kinds() {
        for (segment, file) in [
            (1, "manifest.json"),
            (1, "requests/part-0.parquet"),
            (1, "reserve"),
            (3, "manifest.json"),
            (3, "requests/part-0.arrows"),
            (9, "manifest.json"),
        ] {
            let case = format!("{kind} {segment} {file}");
            let folder = place.path().join(case.replace([' ', '/'], "-"));
            copy(&whole, &folder);
            // 9 stands for the manifest of all segments.
            let of = segments.get(segment).map_or(folder.clone(), |name| folder.join("segments").join(name));
            if file == "reserve" {
                std::fs::write(of.join(file), "something").unwrap();
            }
            damage(&of.join(file), kind);
            let before = listing(&folder);
            let recording = opened(&folder);
            assert_eq!(listing(&folder), before, "{case}: reading writes nothing");
            assert_eq!(column(&recording, "marks", "start_ns"), numbers(1..41), "{case}");
            let found = column(&recording, "requests", "intended_start_ns");
            let others: Vec<i64> = numbers(0..40).into_iter().filter(|row| row / 10 != segment as i64).collect();
            let is_table = file.starts_with("requests");
            assert!(others.iter().all(|row| found.contains(row)), "{case}: {found:?}");
            assert!(is_table || found == numbers(0..40), "{case}: {found:?}");
            assert_eq!(said(&recording).contains(file), file != "reserve", "{case}: {}", said(&recording));
            let mut tail = Tail::open(&folder, 0).unwrap();
            let mut marks = 0;
            tail.follow(["requests", "marks"], |table, batch| {
                marks += if table == "marks" { batch.num_rows() } else { 0 };
            })
            .unwrap();
            assert_eq!(marks, 40, "{case}");

            // Everything but the newest segment is too old.
            let short = Kept::new(Duration::from_millis(1), None);
            let resumed = place.path().join("resumed");
            copy_tree(&folder, &resumed);
            let mut keeper = Keeper::begin(&resumed, manifest(), short).unwrap();
            append(keeper.recorder(), 40..50);
            let begun = Instant::now();
            while keeper.kept().0 > 1 || keeper.kept().1 == 0 {
                // An error of salvaging the damaged segment is reported once.
                keeper.sweep();
                assert!(begun.elapsed() < Duration::from_secs(60), "{case}: {:?}", listing(&resumed));
                std::thread::sleep(Duration::from_millis(2));
            }
            assert_eq!(std::fs::read_dir(resumed.join("segments")).unwrap().count(), 1, "{case}");
            keeper.close(&mut |_| {}).unwrap();
            assert_eq!(column(&opened(&resumed), "requests", "intended_start_ns"), numbers(40..50), "{case}");
            std::fs::remove_dir_all(&resumed).unwrap();

            let salvaged = salvage(&folder).unwrap();
            let is_cut = salvaged.cut == ["requests"];
            assert!(is_cut || (file == "reserve") == salvaged.damaged.is_empty(), "{case}: {salvaged:?}");
            let again = opened(&folder);
            assert_eq!(column(&again, "marks", "start_ns"), numbers(1..41), "{case}");
            assert_eq!(said(&again), "", "{case}");
            assert!(file == "reserve" || !again.manifest().losses.is_empty(), "{case}: what is lost stays known");
        }
    }
}

/// Copies links, FIFOs and holes, too.
fn copy_tree(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").args(["-a", "--sparse=always"]).arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_file_in_the_place_of_a_segment_stops_nothing() {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    let segments = kept(&whole);
    for kind in ["file", "link", "fifo", "empty folder"] {
        let folder = place.path().join(kind);
        copy(&whole, &folder);
        let path = folder.join("segments").join(&segments[1]);
        std::fs::rename(&path, place.path().join(format!("moved-{kind}"))).unwrap();
        match kind {
            "file" => std::fs::write(&path, "text").unwrap(),
            "link" => symlink(place.path().join("moved-link"), &path).unwrap(),
            "fifo" => assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success()),
            _ => std::fs::create_dir(&path).unwrap(),
        }
        let expected: Vec<i64> = numbers(0..40).into_iter().filter(|row| row / 10 != 1).collect();
        let recording = opened(&folder);
        assert_eq!(column(&recording, "requests", "intended_start_ns"), expected, "{kind}");
        // A folder without a manifest may be one that a recorder has just made.
        assert_eq!(recording.skipped().is_empty(), kind == "empty folder", "{kind}: {}", said(&recording));
        let salvaged = salvage(&folder).unwrap();
        assert_eq!(salvaged.damaged.len(), 1, "{kind}: {salvaged:?}");
        assert!(path.symlink_metadata().is_err() && opened(&folder).skipped().is_empty(), "{kind}");
        assert!(kind != "link" || place.path().join("moved-link/manifest.json").exists(), "the link is not followed");
        // Files that were set aside are deleted with the segments of their time.
        let mut keeper = Keeper::begin(&folder, manifest(), Kept::new(Duration::from_secs(3600), Some(1))).unwrap();
        let begun = Instant::now();
        while std::fs::read_dir(folder.join("segments")).unwrap().count() > 1 {
            assert_eq!(keeper.sweep().len(), 0, "{kind}");
            assert!(begun.elapsed() < Duration::from_secs(60), "{kind}: {:?}", listing(&folder));
        }
        keeper.close(&mut |_| {}).unwrap();
    }
}
