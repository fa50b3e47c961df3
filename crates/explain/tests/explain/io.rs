//! I/O accounting of known calls on known files, and of the bytes that clients received.

use helenus_explain::{Engine, Io, MappedReads, Options, Severity, Traffic, explain};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use tempfile::TempDir;

const FILE: &str = "/d/data/ks/wide-5a1c395e1b6911eebe560242ac120002/nb-1-big-Data.db";

/// A hundred reads of a row of 1 MB for a column of 10 kB, half of them as single calls, half added up; a compaction of
/// the same file; and a table whose reads return nothing to clients.
fn recorded(folder: &TempDir) -> Engine {
    let path = folder.path().join("io");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    let call = |number: i64, thread_group, call, file, bytes| rows::Syscall {
        start_ns: number * 1000,
        duration_ns: 500,
        node: "n",
        thread_group,
        call,
        file,
        file_kind: "file",
        bytes: Some(bytes),
        ..rows::Syscall::default()
    };
    for number in 0..50 {
        // Ten megabytes in order, then a jump.
        let offset_bytes = Some(number * 1_000_000 + number / 10 * 77_000_000);
        let read = call(number, "ReadStage", "pread64", FILE, 1_000_000);
        recorder.append(rows::Syscall { offset_bytes, ..read });
    }
    recorder.append(call(50, "CompactionExecutor", "read", FILE, 7_000_000));
    recorder.append(call(
        51,
        "CompactionExecutor",
        "write",
        "/d/data/ks/wide-5a1c395e1b6911eebe560242ac120002/nb-2-big-Data.db",
        3_000_000,
    ));
    recorder.append(call(52, "ReadStage", "read", "/etc/hosts", 100));
    recorder.append(rows::SyscallSummary {
        time_ns: 1,
        node: "n",
        thread_group: "ReadStage",
        call: "pread64",
        file: FILE,
        file_kind: "file",
        count: 50,
        total_ns: 25_000,
        bytes: 50_000_000,
        ..rows::SyscallSummary::default()
    });
    for number in 0..100 {
        recorder.append(rows::WireRequest {
            start_ns: number * 1000,
            duration_ns: 1_000_000,
            node: "n",
            opcode: "EXECUTE",
            statement: "SELECT c0 FROM ks.wide WHERE key = :key",
            answer: "rows",
            request_bytes: 40,
            response_bytes: 10_000,
            ..rows::WireRequest::default()
        });
    }
    recorder.append(rows::WireRequest {
        start_ns: 1,
        node: "n",
        opcode: "EXECUTE",
        statement: "INSERT INTO ks.wide (key) VALUES (:key)",
        answer: "void",
        request_bytes: 90,
        response_bytes: 13,
        ..rows::WireRequest::default()
    });
    // The table's facts, as the agent reports them.
    recorder.append(rows::TableSample {
        time_ns: 1,
        node: "n",
        keyspace: "ks",
        table_name: "wide",
        mean_partition_bytes: Some(1_000_000),
        ..rows::TableSample::default()
    });
    let columns = (0..100).map(|number| format!("c{number} blob")).collect::<Vec<_>>().join(", ");
    for (fact, value) in [("partition_key", "key int"), ("clustering", ""), ("columns", columns.as_str())] {
        recorder.append(rows::TableFact {
            time_ns: 1,
            node: "n",
            keyspace: "ks",
            table_name: "wide",
            fact,
            value,
            source: "system_schema.columns",
        });
    }
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

#[test]
fn files_tables_and_statements_add_up() {
    let folder = TempDir::new().unwrap();
    let io = Io::load(&recorded(&folder)).unwrap();
    let [wide] = io.tables.as_slice() else { panic!("{:#?}", io.tables) };
    assert_eq!(wide.table, "ks.wide");
    assert_eq!(wide.reads, Traffic { calls: 100, bytes: 100_000_000, total_ms: 0.05 });
    assert_eq!((wide.background_reads.bytes, wide.writes.bytes), (7_000_000, 3_000_000));
    assert_eq!((wide.requests, wide.returned_bytes), (100, 1_000_000), "what was written is not returned");
    assert_eq!(wide.amplification, Some(100.0));
    assert_eq!(io.files[0].file, FILE);
    assert_eq!(io.files[0].component.as_deref(), Some("Data.db"));
    assert_eq!(io.files[0].run_bytes, Some(10_000_000.0), "compaction and calls that were summed up don't count");
    assert_eq!(io.files.last().unwrap().table, None);
    let sent: Vec<(i64, Option<&str>)> =
        io.statements.iter().map(|statement| (statement.requests, statement.table.as_deref())).collect();
    assert_eq!(sent, [(100, Some("ks.wide")), (1, Some("ks.wide"))]);
}

#[test]
fn reading_far_more_than_is_returned_is_found() {
    let folder = TempDir::new().unwrap();
    let explanation = explain(&recorded(&folder), &Options::default()).unwrap();
    let finding = explanation.findings.iter().find(|finding| finding.finding == "read-amplification").unwrap();
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.title, "Reads of ks.wide read 100 times what they return (976.6 KiB each)");
    assert!(finding.detail.contains("They read 95.4 MiB of its files to return 976.6 KiB"), "{}", finding.detail);
    assert!(
        finding.detail.contains(
            "Over the whole recording: a row has 976.6 KiB in 100 columns, and statements ask for 1.0 of them"
        ),
        "{}",
        finding.detail
    );
    let proposed =
        "CREATE TABLE ks.wide_by_column (key int, column_name text, value blob, PRIMARY KEY ((key), column_name));";
    assert!(finding.next.contains(proposed), "{}", finding.next);
    assert_eq!(finding.evidence["advice"][0]["nodes"][0]["figures"]["proposed_cql"], proposed);
    assert!(!explanation.findings.iter().any(|finding| finding.finding == "wide-rows"), "it is said once");
}

#[test]
fn what_is_read_through_mappings_counts_as_read_for_requests() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("mapped");
    let recorder = Recorder::create(&path, Manifest::new("t", "c")).unwrap();
    let read = |thread_group, file, how, faults, bytes| rows::PageCacheReads {
        time_ns: 1,
        node: "n",
        thread_group,
        file,
        device: "254:0",
        inode: 77,
        how,
        faults,
        bytes,
        ..rows::PageCacheReads::default()
    };
    recorder.append(read("ReadStage", FILE, "mapping", 1000, 60_000_000));
    recorder.append(read("ReadStage", FILE, "call", 0, 5_000_000));
    recorder.append(read("CompactionExecutor", FILE, "mapping", 7, 7_000_000));
    recorder.append(read("ReadStage", "", "mapping", 1, 4096));
    recorder.append(rows::Syscall {
        start_ns: 1,
        node: "n",
        thread_group: "ReadStage",
        call: "pread64",
        file: FILE,
        file_kind: "file",
        bytes: Some(40_000_000),
        ..rows::Syscall::default()
    });
    for number in 0..100 {
        recorder.append(rows::WireRequest {
            start_ns: number,
            node: "n",
            opcode: "EXECUTE",
            statement: "SELECT c0 FROM ks.wide WHERE key = :key",
            answer: "rows",
            response_bytes: 10_000,
            ..rows::WireRequest::default()
        });
    }
    recorder.close().unwrap();
    let io = Io::load(&Engine::open(&[Recording::open(&path).unwrap()]).unwrap()).unwrap();
    let [wide] = io.tables.as_slice() else { panic!("{:#?}", io.tables) };
    assert_eq!(wide.mapped_reads, MappedReads { faults: 1000, bytes: 60_000_000 });
    assert_eq!(wide.background_mapped_reads, MappedReads { faults: 7, bytes: 7_000_000 });
    assert_eq!(wide.from_disk_bytes, 72_000_000);
    // Bytes that a call read may also have been read from the disk; they are counted once.
    assert_eq!((wide.read_bytes(), wide.amplification), (100_000_000, Some(100.0)));
    assert_eq!(io.files.last().unwrap().file, "inode 77 of 254:0");
}
