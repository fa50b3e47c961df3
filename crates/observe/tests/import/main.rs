//! Imports of other tools' files: their samples, their losses, and files that are refused.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod formats;
mod hostile;
mod logs;
mod made;
mod memory;
mod mutated;
mod profiles;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use helenus_observe::jfr::chunk_size;
use helenus_observe::{ImportError, ImportFormat, ImportOptions, Imported, TimeAlignment, import};
use helenus_recording::{Manifest, Recorder, Recording};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;

/// The imported files, each described in fixtures/README.md.
const PROFILER: &[u8] = include_bytes!("../../../../fixtures/stacks.jfr");
const JDK: &[u8] = include_bytes!("../../../../fixtures/jdk.jfr");
const PERF: &str = include_str!("../../../../fixtures/perf-script.txt");
const AT: i64 = 1_700_000_000_000_000_000;

fn options() -> ImportOptions {
    ImportOptions {
        format: None,
        node: "n".into(),
        event: None,
        interval: None,
        ghz: None,
        place: TimeAlignment::EndsAt(AT),
    }
}

/// A row of samples with its frames: time, event, weight, thread, group, frames, kinds.
type Row = (i64, String, i64, String, String, String, String);

struct Read {
    imported: Imported,
    rows: Vec<Row>,
    recording: Recording,
    _folder: tempfile::TempDir,
}

impl Read {
    /// Sum of weights by thread group.
    fn groups(&self) -> BTreeMap<&str, i64> {
        let mut groups = BTreeMap::new();
        self.rows.iter().for_each(|row| *groups.entry(row.4.as_str()).or_default() += row.2);
        groups
    }

    fn folded(&self) -> BTreeMap<String, i64> {
        let mut lines = BTreeMap::new();
        for (_, _, weight, thread, _, frames, _) in &self.rows {
            let joint = if frames.is_empty() { "" } else { ";" };
            *lines.entry(format!("{thread}{joint}{frames}")).or_default() += weight;
        }
        lines
    }
}

fn read(bytes: &[u8], options: &ImportOptions) -> Result<Read, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    let imported = import(&recorder, bytes, options)?;
    recorder.close().unwrap();
    let recording = Recording::open(&path).unwrap();
    let stacks: BTreeMap<i64, (String, String)> = columns(&recording, "stacks", &["stack", "frames", "kinds"])
        .into_iter()
        .map(|row| (row[0].parse().unwrap(), (row[1].clone(), row[2].clone())))
        .collect();
    let names = ["time_ns", "event", "weight", "thread", "thread_group", "stack"];
    let rows = columns(&recording, "samples", &names).into_iter().map(|row| {
        let (frames, kinds) = stacks[&row[5].parse().unwrap()].clone();
        let number = |at: usize| row[at].parse::<i64>().unwrap();
        (number(0), row[1].clone(), number(2), row[3].clone(), row[4].clone(), frames, kinds)
    });
    Ok(Read { imported, rows: rows.collect(), recording, _folder: folder })
}

fn columns(recording: &Recording, table: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for file in recording.files(table).unwrap() {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().build().unwrap();
        for batch in reader.map(Result::unwrap) {
            let texts: Vec<_> = names
                .iter()
                .map(|name| match batch.column_by_name(name).unwrap() {
                    column if column.data_type() == &DataType::Int64 => {
                        column.as_primitive::<Int64Type>().iter().map(|n| n.unwrap().to_string()).collect::<Vec<_>>()
                    }
                    column => {
                        let column = cast(column, &DataType::Utf8).unwrap();
                        column.as_string::<i32>().iter().map(|text| text.unwrap().to_string()).collect()
                    }
                })
                .collect();
            rows.extend((0..batch.num_rows()).map(|row| texts.iter().map(|column| column[row].clone()).collect()));
        }
    }
    rows
}

fn refused(bytes: &[u8], options: &ImportOptions) -> String {
    read(bytes, options).err().expect("an error").to_string()
}

#[test]
fn the_profilers_file_has_its_interval_and_its_place() {
    let read = read(PROFILER, &options()).unwrap();
    assert_eq!(read.imported.events, BTreeMap::from([("cpu".to_string(), (64, 64 * 20_000_000))]));
    assert_eq!((read.imported.lost, read.imported.format), (0, ImportFormat::Jfr));
    // Wall-clock times are used, although the file's own clock counts from the boot.
    assert!(read.rows.iter().all(|row| row.0 > AT), "{:?}", read.rows[0]);
    assert!(read.groups().contains_key("Native-Transport-Requests"));
    let sources = columns(&read.recording, "sources", &["source", "provider", "captured", "lost"]);
    assert!(sources.contains(&["stacks", "jfr", "64", "0"].map(String::from).to_vec()), "{sources:?}");
    // The file's clock is CLOCK_MONOTONIC, and can be taken as that of the current boot.
    let here = whole(PROFILER, &ImportOptions { place: TimeAlignment::ThisBoot, ..options() });
    assert_eq!(here.rows.len(), 64);
}

fn whole(bytes: &[u8], options: &ImportOptions) -> Read {
    read(bytes, options).unwrap()
}

#[test]
fn the_jdks_own_file_is_read_with_what_its_settings_say() {
    let read = read(JDK, &options()).unwrap();
    // The number that `jfr summary` prints, one every 20 ms.
    assert_eq!(read.imported.events, BTreeMap::from([("cpu".to_string(), (37, 37 * 20_000_000))]));
    let groups = read.groups();
    assert!(groups["Sorter"] > groups["Summer"], "{groups:?}");
    assert!(
        read.rows
            .iter()
            .any(|row| row.5.ends_with("Busy.sort;java.util.Arrays.sort;java.util.DualPivotQuicksort.sort")
                || row.5.contains("Busy.sort"))
    );
    // Wall-clock time, as `jfr summary` prints it: 2026-11-21 22:58:58 and two seconds.
    let begin = 1_795_301_938_000_000_000;
    assert!(read.rows.iter().all(|row| (begin..begin + 4_000_000_000).contains(&row.0)), "{:?}", read.rows[0]);
    let moved = whole(JDK, &ImportOptions { place: TimeAlignment::BeginsAt(AT), ..options() });
    assert_eq!(moved.rows[0].0, AT);
    assert_eq!(moved.rows[9].0 - AT, read.rows[9].0 - read.rows[0].0);
    let other = ImportOptions { interval: Some(std::time::Duration::from_millis(5)), ..options() };
    assert_eq!(whole(JDK, &other).imported.events["cpu"].1, 37 * 5_000_000);
}

#[test]
fn what_is_cut_off_or_broken_is_said() {
    let mut twice = [PROFILER, PROFILER].concat();
    twice.truncate(PROFILER.len() + PROFILER.len() / 2);
    let read = read(&twice, &options()).unwrap();
    assert_eq!(read.imported.samples, 64);
    assert!(read.imported.lost > 0 && read.imported.lost <= 64, "{:?}", read.imported);
    assert!(read.imported.losses[0].contains("cut off"), "{:?}", read.imported);
    let sources = columns(&read.recording, "sources", &["source", "lost", "lost_reason"]);
    let row = sources.iter().find(|row| row[0] == "stacks").unwrap();
    assert_eq!(row[1], read.imported.lost.to_string());
    assert!(row[2].contains("cut off"));
    // The first chunk has no metadata, and the second is complete.
    let size = chunk_size(PROFILER).unwrap().unwrap();
    let mut broken = [PROFILER, PROFILER].concat();
    broken[16..32].fill(0xff);
    let broken = whole(&broken, &options());
    assert_eq!(broken.imported.samples, 64);
    assert_eq!(broken.recording.manifest().losses[0].rows, None);
    assert!(broken.imported.losses[0].contains("chunk 1 is broken"), "{:?}", broken.imported);
    let trailing = whole(&[&PROFILER[..size], &[7u8; 200][..]].concat(), &options());
    assert!(trailing.imported.losses[0].contains("what follows chunk 1"), "{:?}", trailing.imported);
    for cut in [3, 40, 100, PROFILER.len() / 2] {
        let error = refused(&PROFILER[..cut], &ImportOptions { format: Some(ImportFormat::Jfr), ..options() });
        assert!(error.contains("cut off"), "{error}");
    }
}

#[test]
fn a_chunk_that_async_profiler_has_not_finished_is_no_chunk_of_a_gibibyte() {
    let mut unfinished = PROFILER.to_vec();
    unfinished[8..16].copy_from_slice(&(1_u64 << 30).to_be_bytes());
    let error = refused(&unfinished, &options());
    assert!(error.contains("cut off") && error.contains("asprof stop") && !error.contains("512"), "{error}");
    // The chunks before the damaged one are read.
    let read = read(&[PROFILER, &unfinished].concat(), &options()).unwrap();
    assert_eq!(read.imported.samples, 64);
    assert!(read.imported.losses[0].contains("still writes it"), "{:?}", read.imported);
}

#[test]
fn perf_script_has_threads_kernel_and_user_frames_and_times() {
    let read = read(PERF.as_bytes(), &options()).unwrap();
    assert_eq!((read.imported.format, read.imported.samples, read.imported.lost), (ImportFormat::Perf, 37, 0));
    assert_eq!(read.imported.events["cpu"], (37, 37 * 10_101_010));
    let groups = read.groups();
    assert_eq!(groups.keys().copied().collect::<Vec<_>>(), ["Copier", "Sorter"]);
    assert!(read.rows.iter().any(|row| row.5.ends_with("ksys_read;vfs_read;read_zero") && row.6.ends_with("kkk")));
    assert!(
        read.rows.iter().any(|row| row.3 == "Sorter 1" && !row.6.is_empty() && row.6.chars().all(|kind| kind == 'n'))
    );
    // The header has one moment on both clocks: 35602.849059067 s since the boot was 1795302393.370398 s.
    let first = read.rows.iter().map(|row| row.0).min().unwrap();
    assert_eq!(first, 35_602_899_682_000 + 1_795_302_393_370_398_000 - 35_602_849_059_067);
    // Without the header, the last sample has the time that the options give.
    let bare: String = PERF.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let bare = whole(bare.as_bytes(), &options());
    assert_eq!(bare.rows.iter().map(|row| row.0).max().unwrap(), AT);
    assert!(bare.imported.notes.iter().any(|note| note.contains("--begins")), "{:?}", bare.imported);
    // The file ends within a sample, which is counted as lost.
    let cut = whole(&PERF.as_bytes()[..PERF.len() - 30], &options());
    assert_eq!((cut.imported.samples, cut.imported.lost), (36, 1));
}

#[test]
fn cycles_are_cycles_until_somebody_says_how_many_make_a_nanosecond() {
    let text = "java 7/8 [001] 10.000000:    3000000 cycles:P: \n\tffffffff81 f+0x1 ([kernel.kallsyms])\n\t 55 main+0x2 (/bin/x)\n\n\
                java 7/8 [001] 10.010000:   PERF_RECORD_LOST lost 5\n\
                java 7/8 [001] 10.020000:          1 page-faults:u: \n\t 55 main+0x2 (/bin/x)\n\n";
    let plain = whole(text.as_bytes(), &options());
    assert_eq!(
        plain.imported.events,
        BTreeMap::from([("cycles".into(), (1, 3_000_000)), ("page-faults".into(), (1, 1))])
    );
    assert_eq!((plain.imported.lost, plain.rows[0].5.as_str()), (5, "main;f"));
    let timed = whole(text.as_bytes(), &ImportOptions { ghz: Some(3.0), ..options() });
    assert_eq!(timed.imported.events["cpu"], (1, 1_000_000));
}

#[test]
fn files_that_are_none_of_them_say_what_they_are() {
    for (bytes, says) in [
        (&b""[..], "empty"),
        (b"PERFILE2....", "perf script"),
        (b"hello there\nand so on\n", "--format"),
        (b"# nothing\n", "no sample"),
        (b"a;b 1 2\na;c 2 3\n", "comparison"),
    ] {
        let error = refused(bytes, &options());
        assert!(error.contains(says), "{error}");
    }
    let error = refused(b"a;b 1\n", &ImportOptions { ghz: Some(1.0), ..options() });
    assert!(error.contains("--ghz"), "{error}");
    let huge = whole(format!("a;b {0}\na;c {0}\n", i64::MAX).as_bytes(), &options());
    assert_eq!((huge.imported.samples, huge.imported.lost), (1, 1));
    let annotated = whole(b"main;java/lang/Thread.run_[j];write_[k];libc_write 3\n", &options());
    assert_eq!(annotated.rows[0].6, "jkn");
    let named = whole(b"[ReadStage-2 tid=77];a.b.C.run 3\nno weight\n", &options());
    assert_eq!((named.rows[0].4.as_str(), named.rows[0].6.as_str(), named.imported.lost), ("ReadStage", "j", 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn folded_stacks_come_out_as_they_went_in(
        lines in prop::collection::btree_map("[A-Za-z][A-Za-z0-9 #-]{0,8}(;[a-z./<>$_A-Z0-9]{1,9}){0,5}", 1i64..1_000_000, 1..20)
    ) {
        let lines: BTreeMap<String, i64> =
            lines.into_iter().filter(|(line, _)| !line.split(';').next().unwrap().ends_with(' ')).collect();
        prop_assume!(!lines.is_empty());
        let text: String = lines.iter().map(|(line, weight)| format!("{line} {weight}\n")).collect();
        let read = read(text.as_bytes(), &ImportOptions { format: Some(ImportFormat::Folded), ..options() });
        prop_assume!(!matches!(&read, Err(error) if error.to_string().contains("comparison")));
        prop_assert_eq!(read.unwrap().folded(), lines);
    }
}
