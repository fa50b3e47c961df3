//! Tests of SQL over recordings.

use crate::world::{MS, Phase, S, T0, World};
use helenus_explain::{Engine, Error, Options, RECORDING_COLUMN, explain};
use helenus_recording::schema::TABLES;
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

fn small() -> World {
    World { phases: vec![Phase { name: "p", rate_per_s: 100, seconds: 2, measured: true }], ..World::default() }
}

fn count(engine: &Engine, table: &str) -> i64 {
    let rows = engine.sql(&format!("SELECT count(*) AS n FROM {table}")).unwrap();
    let column =
        arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(rows.batches()[0].column(0).as_ref())
            .clone();
    column.value(0)
}

#[test]
fn every_table_is_there_with_or_without_rows() {
    let folder = TempDir::new().unwrap();
    // A folder name with characters that are special in patterns and URLs.
    let recording = small().record(&folder.path().join("a [1] * ? 100% ü"));
    let engine = Engine::open(&[recording]).unwrap();
    for table in TABLES {
        let rows = engine.sql(&format!("SELECT * FROM {} LIMIT 3", table.name)).unwrap();
        let names: Vec<&str> = rows.schema().fields().iter().map(|field| field.name().as_str()).collect();
        let declared: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(names, declared);
    }
    assert_eq!(count(&engine, "requests"), 200);
    assert_eq!(count(&engine, "findings"), 0);
}

#[test]
fn a_damaged_file_is_skipped_and_named_as_a_loss_and_all_else_is_explained() {
    let folder = TempDir::new().unwrap();
    let whole = small().record(&folder.path().join("r"));
    let file = whole.files("threads").unwrap().remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() / 4;
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let recording = Recording::open(whole.folder()).unwrap();
    // Within a window, too.
    let span = (T0, T0 + 2 * S);
    let recordings = [recording];
    for engine in [Engine::open(&recordings).unwrap(), Engine::open_within(&recordings, span).unwrap()] {
        assert_eq!((count(&engine, "requests"), count(&engine, "threads")), (200, 0));
        let [loss] = engine.skipped().collect::<Vec<_>>()[..] else { panic!("{:?}", engine.manifests()) };
        assert!(loss.table == "threads" && loss.reason.starts_with("threads/part-0.parquet is skipped: "), "{loss:?}");
        let explanation = explain(&engine, &Options::default()).unwrap();
        let lost = explanation.findings.iter().find(|finding| finding.finding == "lost-data").unwrap();
        assert!(format!("{lost:?}").contains("threads/part-0.parquet"), "{lost:?}");
    }
}

#[test]
fn a_path_may_have_any_characters() {
    use std::os::unix::ffi::OsStrExt;
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join(std::ffi::OsStr::from_bytes(b"two\nlines \xff {}\\ #"));
    std::fs::create_dir(&inner).unwrap();
    small().record(&inner.join("r"));
    for path in [inner.join("r"), inner.join("../").join(inner.file_name().unwrap()).join("./r/..//r")] {
        let recording = Recording::open(&path).unwrap();
        assert_eq!(count(&Engine::open(std::slice::from_ref(&recording)).unwrap(), "requests"), 200);
        assert_eq!(count(&Engine::open(&[recording.clone(), recording]).unwrap(), "requests"), 400);
    }
}

#[test]
fn several_recordings_are_one_table_each() {
    let folder = TempDir::new().unwrap();
    let recordings = [small().record(&folder.path().join("a")), small().record(&folder.path().join("b"))];
    let engine = Engine::open(&recordings).unwrap();
    assert_eq!(count(&engine, "requests"), 400);
    let sql = format!("SELECT {RECORDING_COLUMN}, count(*) FROM requests GROUP BY 1");
    // Both recordings have the same title, so only their ids differ.
    assert_eq!(engine.sql(&sql).unwrap().rows(), 2);
    assert_eq!(count(&engine, "findings"), 0);
}

#[test]
fn a_column_that_an_older_recording_lacks_is_null() {
    let folder = TempDir::new().unwrap();
    let recording = small().record(&folder.path().join("r"));
    let file = recording.files("requests").unwrap().remove(0);
    // Rewrites the file as an older version would have written it: without one column.
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&file).unwrap())
            .unwrap()
            .build()
            .unwrap();
    let batches: Vec<_> =
        reader.map(|batch| batch.unwrap()).map(|batch| batch.project(&[0, 1, 2, 3, 5]).unwrap()).collect();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(std::fs::File::create(&file).unwrap(), batches[0].schema(), None).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
    let engine = Engine::open(&[recording]).unwrap();
    let rows = engine.sql("SELECT count(*) AS n, count(operation) AS known FROM requests").unwrap();
    let value = |column: usize| {
        arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(rows.batches()[0].column(column).as_ref())
            .value(0)
    };
    assert_eq!((value(0), value(1)), (200, 0));
}

#[test]
fn a_wrong_query_says_what_is_right() {
    let folder = TempDir::new().unwrap();
    let engine = Engine::open(&[small().record(&folder.path().join("r"))]).unwrap();
    let error = |sql: &str| engine.sql(sql).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            error("SELECT outcom FROM requests"),
            error("SELECT 1 FROM request"),
            error("SELEC 1"),
            error("SELECT nope(1)"),
            error("DROP TABLE requests"),
            error("COPY requests TO 'x.parquet'"),
            error("INSERT INTO requests SELECT * FROM requests"),
        ]
        .join("\n")
    );
    assert!(matches!(Engine::open(&[]), Err(Error::NoRecording)));
}

#[test]
fn rows_can_be_handed_on_without_keeping_them() {
    let folder = TempDir::new().unwrap();
    let engine = Engine::open(&[small().record(&folder.path().join("r"))]).unwrap();
    let mut rows = 0;
    let schema = engine
        .each("SELECT start_ns FROM requests ORDER BY start_ns", |batch| {
            rows += batch.num_rows();
            Ok::<(), Error>(())
        })
        .unwrap();
    assert_eq!((rows, schema.fields().len()), (200, 1));
}

#[test]
fn a_recording_without_requests_can_be_explained() {
    let folder = TempDir::new().unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
    recorder.append(rows::Stall {
        start_ns: 1,
        duration_ns: 2,
        side: "recorder",
        kind: "watcher",
        ..rows::Stall::default()
    });
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&folder.path().join("r")).unwrap()]).unwrap();
    let explanation = helenus_explain::explain(&engine, &helenus_explain::Options::default()).unwrap();
    assert_eq!(explanation.findings[0].title, "No requests were recorded");
    assert_eq!(explanation.severity(), helenus_explain::Severity::Information);
    helenus_explain::Report::build(&engine, &explanation).unwrap();
}

#[test]
fn segments_that_grow_are_explained_as_a_closed_recording_is() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let world = World { gc: vec![(7 * S, 900 * MS), (19 * S, 900 * MS)], ..World::default() };
    let closed = Engine::open(&[world.record(&path("closed"))]).unwrap();
    let keeper = world.keep(&path("kept"));
    let begun = std::time::Instant::now();
    let tables = ["requests", "pauses", "cpus", "threads", "stalls", "marks"];
    let growing = loop {
        let engine = Engine::open(&[Recording::open(&path("kept")).unwrap()]).unwrap();
        if tables.iter().all(|table| count(&engine, table) == count(&closed, table)) {
            break engine;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let titles = |engine: &Engine| {
        let explanation = helenus_explain::explain(engine, &helenus_explain::Options::default()).unwrap();
        helenus_explain::Report::build(engine, &explanation).unwrap();
        explanation.findings.iter().map(|finding| finding.title.clone()).collect::<Vec<_>>()
    };
    let expected = titles(&closed);
    assert!(expected.iter().any(|title| title.contains("GC")), "{expected:?}");
    assert_eq!(titles(&growing), expected);
    // With several recordings, each table has the column `recording`.
    let several = Engine::open(&[Recording::open(&path("kept")).unwrap(), Recording::open(&path("closed")).unwrap()]);
    assert_eq!(count(&several.unwrap(), "requests"), 2 * count(&closed, "requests"));
    keeper.close(&mut |_| {}).unwrap();
    let ended = Engine::open(&[Recording::open(&path("kept")).unwrap()]).unwrap();
    assert_eq!(titles(&ended), expected);
    assert_eq!(titles(&growing), expected, "its files are held");
}
