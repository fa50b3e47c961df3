//! A recording survives the end of its writer: a kill at any moment, or a full disk.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use helenus_needs::{need, program, root};
use helenus_recording::{Error, Manifest, Recorder, Recording, merge, merge_while, rows, salvage};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn writer() -> PathBuf {
    // target/release/deps/survives-… → target/release/examples
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/write_until_killed")
}

fn epoch_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64
}

/// All values of a column, from all parts.
fn column(recording: &Recording, table: &str, name: &str) -> Vec<i64> {
    let mut values = Vec::new();
    for path in recording.files(table).unwrap() {
        let file = std::fs::File::open(path).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            values.extend(batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values());
        }
    }
    values
}

/// Follows the numbers that the writer prints, in a thread; returns the newest with the time at which it came.
fn follow(writer: &mut Child) -> std::sync::mpsc::Receiver<(i64, i64)> {
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let (send, numbers) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = send.send((epoch_ns(), line.parse().unwrap()));
        }
    });
    numbers
}

#[test]
fn a_kill_at_any_moment_costs_less_than_a_second() {
    // Kill times from the very beginning to after the first sync, and around the flushes.
    for kill_after_ms in [0, 3, 40, 190, 210, 405, 777, 1_000, 1_300, 2_111] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("killed");
        let mut writer = Command::new(writer()).arg(&folder).stdout(Stdio::piped()).spawn().unwrap();
        let numbers = follow(&mut writer);
        let mut appended = vec![numbers.recv().unwrap()];
        let until = epoch_ns() + kill_after_ms * 1_000_000;
        while epoch_ns() < until {
            if let Ok(number) = numbers.recv_timeout(Duration::from_millis(1)) {
                appended.push(number);
            }
        }
        assert!(matches!(salvage(&folder), Err(Error::StillWriting { .. })), "a running writer is left alone");
        let killed_ns = epoch_ns();
        writer.kill().unwrap();
        writer.wait().unwrap();
        appended.extend(numbers.iter());

        assert!(matches!(Recording::open(&folder), Err(Error::NotClosed { .. })));
        let salvaged = salvage(&folder).unwrap();
        assert!(!salvaged.was_closed);
        let due = appended.iter().filter(|(at_ns, _)| *at_ns < killed_ns - 1_000_000_000).map(|(_, n)| *n).max();
        let numbers = match Recording::open(&folder) {
            Ok(recording) => column(&recording, "requests", "intended_start_ns"),
            Err(Error::Empty(_)) => Vec::new(),
            Err(error) => panic!("{error}"),
        };
        assert!(
            numbers.iter().copied().eq(0..numbers.len() as i64),
            "no row is missing before the last, none is twice"
        );
        assert!(numbers.len() as i64 >= due.unwrap_or(0), "{} of {due:?} after {kill_after_ms} ms", numbers.len());
        assert!(salvage(&folder).unwrap().was_closed, "salvaging again changes nothing");
        assert_eq!(left_over(&folder), Vec::<PathBuf>::new());
    }
}

/// Files that are neither Parquet nor the manifest nor the lock.
fn left_over(folder: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            left.extend(left_over(&path));
        } else if !["parquet", "json", "lock"].contains(&path.extension().unwrap().to_str().unwrap()) {
            left.push(path);
        }
    }
    left
}

fn namespaces() -> &'static str {
    if root().is_ok() { "-m" } else { "-rm" }
}

/// Some containers refuse namespaces.
fn namespaces_can_be_made() -> Result<(), String> {
    program("unshare")?;
    let tried = Command::new("unshare").args([namespaces(), "true"]).output().unwrap();
    if tried.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&tried.stderr).trim().to_string()) }
}

/// Runs a script as root of a mount namespace of its own: nothing to clean up on the machine, and a user namespace where we are
/// not root. $1 is a folder to mount on, $2 the writer, $3 a folder for results, $4 this test's own executable.
fn in_namespace(script: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let out = Command::new("unshare")
        .args([namespaces(), "sh", "-c", script, "sh"])
        .args([&disk, &writer(), &place.path().to_path_buf(), &std::env::current_exe().unwrap()])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}: {}", out.status, String::from_utf8_lossy(&out.stderr));
    place
}

#[test]
fn a_disk_that_stays_full_loses_no_row_uncounted() {
    // Only root can remount with another size.
    need!(namespaces_can_be_made(), root());
    let place = in_namespace(
        r#"
        mount -t tmpfs -o size=5m tmpfs "$1" || exit 9
        "$2" "$1/full" 200000 >/dev/null 2>"$3/first.txt"; echo "$?" >"$3/first.code"
        head -c 9M /dev/zero >"$1/ballast" 2>/dev/null
        "$2" "$1/none" 1 >/dev/null 2>"$3/none.txt"; echo "$?" >"$3/none.code"
        ls -d "$1/none" && exit 7
        mount -o remount,size=200m "$1" || exit 9
        HELENUS_SALVAGE="$1/full" "$4" --exact salvages_when_asked --nocapture || exit 8
        cp -r "$1/full" "$3/full"
    "#,
    );
    let text = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(text("first.code").trim(), "2");
    let last = text("first.txt").lines().last().unwrap().to_string();
    assert!(last.contains("the disk is full") && last.contains("helenus recording salvage"), "{last}");
    // A recorder without room to report losses refuses to begin.
    assert_eq!(text("none.code").trim(), "2");
    assert!(text("none.txt").contains("the disk is full"), "{}", text("none.txt"));

    let recording = Recording::open(&place.path().join("full")).unwrap();
    let numbers = column(&recording, "requests", "intended_start_ns");
    assert!(numbers.len() > 10_000, "{} rows fit on the disk", numbers.len());
    assert!(numbers.iter().copied().eq(0..numbers.len() as i64));
    let losses = &recording.manifest().losses;
    let lost =
        |table: &str| losses.iter().filter(|loss| loss.table == table).map(|loss| loss.rows.unwrap()).sum::<u64>();
    assert_eq!(numbers.len() as u64 + lost("requests"), 200_000, "{losses:?}");
    let all_lost = lost("requests") + lost("sources");
    assert!(last.contains(&format!("{all_lost} rows are lost")), "{last} {losses:?}");
    assert_eq!(left_over(recording.folder()), Vec::<PathBuf>::new());
}

#[test]
fn closing_waits_for_room() {
    need!(namespaces_can_be_made());
    let place = in_namespace(
        r#"
        mount -t tmpfs -o size=40m tmpfs "$1" || exit 9
        head -c 37M /dev/zero >"$1/ballast" || exit 7
        "$2" "$1/full" 100000 "$1/ballast" >/dev/null 2>"$3/first.txt" || exit 8
        cp -r "$1/full" "$3/full"
    "#,
    );
    let waited = std::fs::read_to_string(place.path().join("first.txt")).unwrap();
    assert!(waited.contains("rows wait: the disk is full"), "{waited}");
    let recording = Recording::open(&place.path().join("full")).unwrap();
    assert!(column(&recording, "requests", "intended_start_ns").into_iter().eq(0..100_000));
    assert_eq!(recording.manifest().losses, []);
    assert_eq!(left_over(recording.folder()), Vec::<PathBuf>::new());
}

/// The part of the test above that runs in its namespace. Without the namespace it salvages a closed recording.
#[test]
fn salvages_when_asked() {
    let place = tempfile::tempdir().unwrap();
    let asked = std::env::var_os("HELENUS_SALVAGE");
    let folder = asked.as_ref().map_or_else(|| numbered(place.path(), 10), PathBuf::from);
    let salvaged = salvage(&folder).unwrap();
    assert_eq!(salvaged.was_closed, asked.is_none());
    assert!(salvaged.tables["requests"].rows >= 10);
}

fn numbered(place: &Path, rows: i64) -> PathBuf {
    let folder = place.join(format!("numbered-{rows}"));
    let recorder = Recorder::create(&folder, Manifest::new("numbered", "test")).unwrap();
    recorder.append_all((0..rows).map(|number| request(number, recorder.clock().now_ns())));
    recorder.close().unwrap();
    folder
}

fn request(number: i64, start_ns: i64) -> rows::Request<'static> {
    rows::Request {
        intended_start_ns: number,
        start_ns,
        end_ns: start_ns,
        node: "n",
        operation: "read",
        outcome: "ok",
        ..rows::Request::default()
    }
}

#[test]
fn a_merge_puts_all_on_the_clock_of_the_first() {
    let place = tempfile::tempdir().unwrap();
    let first = Recording::open(&numbered(place.path(), 10)).unwrap();
    // Another recording of the same boot, whose wall clock was 5 s ahead.
    let folder = numbered(place.path(), 20);
    let path = folder.join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let offset = manifest["clock"]["epoch_offset_ns"].as_i64().unwrap();
    manifest["clock"]["epoch_offset_ns"] = (offset + 5_000_000_000).into();
    std::fs::write(&path, manifest.to_string()).unwrap();
    let second = Recording::open(&folder).unwrap();
    let offset_of = |recording: &Recording| recording.manifest().clock.epoch_offset_ns;
    let shift = offset_of(&first) - offset_of(&second);

    let out = place.path().join("merged");
    merge(&[first.clone(), second.clone()], &[], &out, "both", "test").unwrap();
    let merged = Recording::open(&out).unwrap();
    assert_eq!(merged.manifest().tables["requests"].rows, 30);
    let expected: Vec<i64> = column(&first, "requests", "start_ns")
        .into_iter()
        .chain(column(&second, "requests", "start_ns").into_iter().map(|ns| ns + shift))
        .collect();
    assert_eq!(column(&merged, "requests", "start_ns"), expected);
    assert!(matches!(merge(&[first.clone(), second], &[], &out, "", ""), Err(Error::Exists(_))));
    assert!(matches!(merge(&[first], &[], &place.path().join("one"), "", ""), Err(Error::NothingToMerge)));
}

#[test]
fn what_is_no_recording_says_so() {
    let place = tempfile::tempdir().unwrap();
    let open = |folder: &Path| Recording::open(folder).unwrap_err();
    assert!(matches!(open(&place.path().join("nothing")), Error::Missing(_)));
    assert!(matches!(open(place.path()), Error::NotARecording { .. }));
    let file = place.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert!(matches!(open(&file), Error::NotARecording { .. }));

    let folder = numbered(place.path(), 5);
    let path = folder.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, r#"{"format": 99, "tables": 7}"#).unwrap();
    assert!(matches!(open(&folder), Error::Newer { found: 99, .. }));
    std::fs::write(&path, text).unwrap();
    std::fs::remove_file(folder.join("requests/part-0.parquet")).unwrap();
    let lost = Recording::open(&folder).unwrap().skipped().to_vec();
    assert!(lost.len() == 1 && lost[0].rows == Some(5) && lost[0].reason.contains("0 of its 5 rows"), "{lost:?}");
    // Now no file is left to read.
    std::fs::remove_dir_all(folder.join("sources")).unwrap();
    assert!(matches!(open(&folder), Error::Damaged { .. }));

    let writing = place.path().join("writing");
    let recorder = Recorder::create(&writing, Manifest::new("open", "test")).unwrap();
    assert!(Recording::open(&writing).unwrap().is_growing());
    assert!(matches!(Recorder::create(&writing, Manifest::new("", "")), Err(Error::Exists(_))));
    recorder.close().unwrap();
}

#[test]
fn the_same_rows_are_not_merged_twice() {
    let place = tempfile::tempdir().unwrap();
    let [a, b] = [3, 4].map(|rows| Recording::open(&numbered(place.path(), rows)).unwrap());
    let out = |name: &str| place.path().join(name);
    let twice = |parts: &[Recording], name: &str| {
        assert!(matches!(merge(parts, &[], &out(name), "", ""), Err(Error::MergedTwice { .. })));
        assert!(!out(name).exists());
    };
    twice(&[a.clone(), a.clone()], "aa");
    merge(&[a.clone(), b], &[], &out("ab"), "", "").unwrap();
    let merged = Recording::open(&out("ab")).unwrap();
    twice(&[merged, a], "aba");
}

#[test]
fn a_merge_that_fails_or_is_interrupted_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let parts = [3, 4].map(|rows| Recording::open(&numbered(place.path(), rows)).unwrap());
    let out = place.path().join("out");
    let names =
        || -> Vec<_> { std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    // The signal comes while the second recording is copied.
    let asked = std::cell::Cell::new(0);
    let is_wanted = || asked.replace(asked.get() + 1) == 0;
    assert!(matches!(merge_while(&parts, &[], &out, ("", ""), &is_wanted), Err(Error::Ended)));
    assert_eq!(names().len(), 2, "{:?}", names());
    let file = parts[1].files("requests").unwrap().remove(0);
    std::fs::write(&file, "no Parquet").unwrap();
    let merged = merge(&parts, &[], &out, "", "").unwrap();
    assert_eq!(merged.tables["requests"].rows, 3, "those of the other recording");
    let [loss] = merged.losses.as_slice() else { panic!("{:?}", merged.losses) };
    assert_eq!((loss.table.as_str(), loss.rows), ("requests", Some(4)), "{}", loss.reason);
}

#[test]
fn rows_wait_while_their_file_cannot_be_made() {
    let place = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&place.path().join("r"), Manifest::new("", "")).unwrap();
    // A file in place of the table's folder.
    let obstacle = recorder.folder().join("requests");
    std::fs::write(&obstacle, "").unwrap();
    recorder.append_all((0..100).map(|number| request(number, 1)));
    let begun = std::time::Instant::now();
    while recorder.health().disk_error.is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((recorder.health().rows_waiting, recorder.health().rows_lost), (100, 0));
    let summary = recorder
        .close_within(Duration::from_secs(60), &mut |waiting| {
            assert_eq!(waiting.rows, 100);
            std::fs::remove_file(&obstacle).unwrap();
        })
        .unwrap();
    assert_eq!((summary.tables["requests"].rows, summary.losses), (100, Vec::new()));
}

#[test]
fn a_recorder_that_is_dropped_counts_what_it_loses() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("r");
    let recorder = Recorder::create(&folder, Manifest::new("", "")).unwrap();
    std::fs::write(folder.join("requests"), "").unwrap();
    recorder.append_all((0..100).map(|number| request(number, 1)));
    drop(recorder);
    std::fs::remove_file(folder.join("requests")).unwrap();
    let salvaged = salvage(&folder).unwrap();
    let recording = Recording::open(&folder).unwrap();
    let [loss] = recording.manifest().losses.as_slice() else { panic!("{:?}", recording.manifest().losses) };
    assert_eq!((loss.table.as_str(), loss.rows), ("requests", Some(100)));
    assert_eq!((&salvaged.lost_before, salvaged.damaged.len()), (&vec![loss.clone()], 0), "salvage repeats it");
}

#[test]
fn the_last_manifest_needs_no_room_on_the_disk() {
    need!(namespaces_can_be_made(), root());
    // The reserve takes the whole disk, so there is no space for rows from the start.
    let place = in_namespace(
        r#"
        mount -t tmpfs -o size=300k tmpfs "$1" || exit 9
        "$2" "$1/full" 20000 >/dev/null 2>"$3/first.txt"
        cp "$1/full/manifest.json" "$3/manifest.json"
    "#,
    );
    let stderr = std::fs::read_to_string(place.path().join("first.txt")).unwrap();
    let text = std::fs::read_to_string(place.path().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(manifest["losses"][0]["rows"].as_u64().is_some_and(|rows| rows > 0), "{stderr}{text}");
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let folder = numbered(place.path(), 5);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("requests/part-0.parquet")), 0o600);
    assert_eq!(mode(&folder.join("manifest.json")), 0o600);
}
