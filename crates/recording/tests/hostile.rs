//! A recording may come from anybody: reading it writes nothing and follows no link, and salvage changes nothing
//! outside of it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_recording::{Error, Manifest, Recorder, Recording, merge, rows, salvage};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

fn closed(folder: &Path) -> PathBuf {
    let recorder = Recorder::create(folder, Manifest::new("closed", "test")).unwrap();
    recorder.append_all((1..100).map(|start_ns| rows::Stall { start_ns, side: "server", ..rows::Stall::default() }));
    recorder.append_all((1..50).map(|time_ns| rows::CpuSample { time_ns, ..rows::CpuSample::default() }));
    recorder.close().unwrap();
    folder.to_path_buf()
}

/// A recording whose writer was ended after its rows had reached the disk.
fn ended(folder: &Path) -> PathBuf {
    let recorder = Recorder::create(folder, Manifest::new("ended", "test")).unwrap();
    recorder.append_all((1..100).map(|start_ns| rows::Stall { start_ns, side: "server", ..rows::Stall::default() }));
    recorder.append_all((1..50).map(|time_ns| rows::CpuSample { time_ns, ..rows::CpuSample::default() }));
    drop(recorder);
    folder.to_path_buf()
}

fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>, i64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap(), path.metadata().unwrap().mtime_nsec()));
        }
    }
    found.sort();
    found
}

#[test]
fn opening_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let victim = place.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    for (folder, is_closed) in
        [(closed(&place.path().join("closed")), true), (ended(&place.path().join("ended")), false)]
    {
        let lock = folder.join("writer.lock");
        std::fs::remove_file(&lock).unwrap();
        let before = everything(&folder);
        assert_eq!(Recording::open(&folder).is_ok(), is_closed);
        assert_eq!(everything(&folder), before, "without a lock");
        symlink(&victim, &lock).unwrap();
        let opened = Recording::open(&folder);
        assert!(is_closed == opened.is_ok() && opened.is_ok() != matches!(opened, Err(Error::NotClosed { .. })));
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }
}

#[test]
fn salvage_follows_no_link() {
    let place = tempfile::tempdir().unwrap();
    let victim = place.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let folder = ended(&place.path().join("ended"));
    for name in ["manifest.next", "reserve", "stalls/part-0.unfinished", "stalls/part-0.damaged"] {
        let _ = std::fs::remove_file(folder.join(name));
        symlink(&victim, folder.join(name)).unwrap();
    }
    let salvaged = salvage(&folder).unwrap();
    assert_eq!(salvaged.tables["stalls"].rows, 99);
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    // A lock that is a symbolic link is nobody's lock.
    let folder = ended(&place.path().join("locked"));
    std::fs::remove_file(folder.join("writer.lock")).unwrap();
    symlink(&victim, folder.join("writer.lock")).unwrap();
    assert_eq!(salvage(&folder).unwrap().tables["stalls"].rows, 99);
    assert!(folder.join("writer.lock.set-aside").is_symlink());
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn links_in_a_recording_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let elsewhere = closed(&place.path().join("elsewhere"));
    for name in ["manifest.json", "stalls/part-0.parquet", "stalls"] {
        let folder = closed(&place.path().join(name.replace('/', "-")));
        let moved = folder.join("moved");
        std::fs::rename(folder.join(name), &moved).unwrap();
        symlink(elsewhere.join(name), folder.join(name)).unwrap();
        let recording = Recording::open(&folder).unwrap();
        let [loss] = recording.skipped() else { panic!("{:?}", recording.skipped()) };
        assert!(
            loss.reason.contains(name)
                && (loss.reason.contains("it is a link") || loss.reason.contains("it is no folder")),
            "{}",
            loss.reason
        );
        let rows = |table: &str| recording.manifest().tables.get(table).map(|facts| facts.rows);
        let stalls = (name == "manifest.json").then_some(99);
        assert_eq!((rows("stalls"), rows("cpus")), (stalls, Some(49)), "{name}");
    }
    // A table's path that leads outside of the recording is not followed.
    let folder = closed(&place.path().join("outside"));
    let path = folder.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"stalls\"", "\"../elsewhere/stalls\"");
    std::fs::write(&path, text).unwrap();
    let recording = Recording::open(&folder).unwrap();
    assert!(recording.files("stalls").unwrap().iter().all(|file| file.starts_with(&folder)));
    assert!(recording.files("../elsewhere/stalls").unwrap().is_empty());
}

#[test]
fn folders_of_others_are_not_written_to() {
    let place = tempfile::tempdir().unwrap();
    // SAFETY: takes no arguments and can't fail.
    if unsafe { libc::geteuid() } != 0 {
        // The folder belongs to root.
        assert!(matches!(Recorder::create(Path::new("/"), Manifest::new("", "")), Err(Error::Foreign { .. })));
        return;
    }
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let (ended, closed) = (ended(&place.path().join("ended")), closed(&place.path().join("closed")));
    for folder in [&empty, &ended, &closed] {
        std::os::unix::fs::chown(folder, Some(12_345), None).unwrap();
    }
    assert!(matches!(Recorder::create(&empty, Manifest::new("", "")), Err(Error::Foreign { owner: 12_345, .. })));
    assert!(matches!(salvage(&ended), Err(Error::Foreign { .. })));
    let recording = Recording::open(&closed).unwrap();
    let other = Recording::open(&self::closed(&place.path().join("other"))).unwrap();
    assert!(matches!(merge(&[recording, other], &[], &empty, "", ""), Err(Error::Foreign { .. })));
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0);
}

#[test]
fn folders_above_are_not_made() {
    let place = tempfile::tempdir().unwrap();
    let error = Recorder::create(&place.path().join("no/such"), Manifest::new("", "")).err().unwrap();
    assert!(error.to_string().contains("there is no folder"), "{error}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_table_keeps_no_other_from_being_salvaged() {
    let place = tempfile::tempdir().unwrap();
    let folder = ended(&place.path().join("r"));
    let path = folder.join("cpus/part-0.arrows");
    let mut stream = std::fs::read(&path).unwrap();
    let at = stream.len() - 20;
    stream[at] ^= 4;
    std::fs::write(&path, &stream).unwrap();
    // A table that comes after cpus, and whose file is no stream.
    std::fs::create_dir(folder.join("marks")).unwrap();
    symlink("/dev/zero", folder.join("marks/part-0.arrows")).unwrap();
    let salvaged = salvage(&folder).unwrap();
    assert_eq!(salvaged.tables["stalls"].rows, 99);
    let [cpus, marks] = salvaged.damaged.as_slice() else { panic!("{:?}", salvaged.damaged) };
    assert_eq!((cpus.table.as_str(), cpus.rows, marks.table.as_str()), ("cpus", Some(49), "marks"));
    assert!(cpus.reason.contains("bytes of its stream are damaged"), "{}", cpus.reason);
    assert_eq!(std::fs::read(folder.join("cpus/part-0.damaged")).unwrap(), stream);
    assert_eq!(Recording::open(&folder).unwrap().manifest().losses, salvaged.damaged);
}

/// Manifests that were changed at random or on purpose: each is opened or refused.
#[test]
fn no_manifest_breaks_a_reader() {
    let place = tempfile::tempdir().unwrap();
    let (folder, other) = (closed(&place.path().join("r")), closed(&place.path().join("other")));
    let path = folder.join("manifest.json");
    let whole = std::fs::read(&path).unwrap();
    let other = Recording::open(&other).unwrap();
    let mut random = 7u64;
    let mut below = |bound: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((random >> 33) as usize) % bound
    };
    let numbers =
        ["-9223372036854775808", "9223372036854775807", "18446744073709551615", "1e999", "null", "[]", "\"\""];
    for round in 0..100 {
        let mut text = whole.clone();
        for _ in 0..=below(3) {
            let at = below(text.len());
            match below(4) {
                0 => text[at] = b"\"{}[]:,\\0-9e"[below(12)],
                1 => drop(text.drain(at..(at + below(40)).min(text.len()))),
                2 => text[at] ^= 1 << below(8),
                _ => {
                    // Replace a number by another value.
                    let Some(from) = text[at..].iter().position(u8::is_ascii_digit).map(|from| at + from) else {
                        continue;
                    };
                    let to =
                        text[from..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |to| from + to);
                    text.splice(from..to, numbers[below(numbers.len())].bytes());
                }
            }
            if text.is_empty() {
                break;
            }
        }
        std::fs::write(&path, &text).unwrap();
        let opened = Recording::open(&folder);
        if let Ok(recording) = opened {
            let out = place.path().join(format!("merged-{round}"));
            let _ = merge(&[recording, other.clone()], &[i64::MIN], &out, "", "");
        }
        let _ = salvage(&folder);
    }
}

#[test]
fn an_output_takes_its_name_when_it_is_whole() {
    use helenus_recording::private::{self, Output};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("report.html");
    // SAFETY: sets the umask of this process; the files of these tests stay private all the same.
    unsafe { libc::umask(0) };
    private::write(&path, b"old").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let mut failed = Output::create(&path).unwrap();
    failed.write_all(b"half").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    drop(failed);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    private::write(&path, b"new").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    // A device or pipe receives the bytes directly, without a temporary file.
    private::write(Path::new("/dev/null"), b"x").unwrap();
    private::write(place.path(), b"x").unwrap_err();

    let log = place.path().join("log");
    std::fs::write(&log, "from before, for all to read").unwrap();
    private::create(&log).unwrap().write_all(b"log").unwrap();
    assert_eq!((std::fs::read(&log).unwrap(), mode(&log)), (b"log".to_vec(), 0o600));
    let folder = closed(&place.path().join("closed"));
    assert_eq!((mode(&folder), mode(&folder.join("manifest.json"))), (0o700, 0o600));
}
