//! Text as other tools and editors leave it, and the formats of pprof, bpftrace and bcc.

use crate::made::{Chunk, LONG, STRING, text, varint};
use crate::profiles::profile;
use crate::{AT, PERF, Read, options, refused, whole};
use helenus_observe::{ImportFormat, ImportOptions, TimeAlignment};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// Samples, sum of weights, lost samples.
fn sums(read: &Read) -> (u64, i64, u64) {
    let sum = read.imported.events.values().map(|(_, sum)| sum).sum();
    (read.imported.samples, sum, read.imported.lost)
}

#[test]
fn a_thread_may_have_no_name_on_any_line() {
    for text in [
        ";serve;read_page;pread 40\n;serve;parse 12\nworker;serve;write 8\n",
        "worker;serve;write 8\n;serve;read_page;pread 40\n;serve;parse 12\n",
        "worker;serve;write 8\n ;serve;read_page;pread 40\n\t;serve;parse 12\n",
        // The stack of a thread without a name that could not be read.
        "worker;serve;write 8\n;serve;parse 12\n 40\n",
    ] {
        let read = whole(text.as_bytes(), &options());
        assert_eq!(sums(&read), (3, 60, 0), "{text}");
        assert_eq!(read.rows.iter().filter(|row| row.3.is_empty()).count(), 2, "{text}");
    }
    let virtual_threads = whole(b"[ tid=31];java.lang.VirtualThread.run 5\n", &options());
    assert_eq!((virtual_threads.rows[0].3.as_str(), virtual_threads.imported.lost), ("", 0));
}

#[test]
fn comments_titles_and_encodings_come_first() {
    let lines = "worker;serve;write 8\nworker;serve;read 4\n";
    for head in ["// taken on host a\n", "# taken on host a\n\n# 2\n", "Stacks of host a:\n", "host a 12\n// x\n"] {
        let read = whole(format!("{head}{lines}").as_bytes(), &options());
        let extra = u64::from(head.starts_with("host"));
        assert_eq!((read.imported.samples, read.imported.lost), (2 + extra, 0), "{head}");
    }
    for (big, packed) in [(false, false), (true, false), (false, true)] {
        let bytes = utf16(lines, big);
        let read = whole(&if packed { gzip(&bytes) } else { bytes }, &options());
        assert_eq!((sums(&read), read.imported.format), ((2, 12, 0), ImportFormat::Folded));
        let read = whole(&utf16(PERF, big), &options());
        assert_eq!((read.imported.format, read.imported.samples), (ImportFormat::Perf, 37));
    }
    // Prose stays what it is.
    for prose in ["hello there\nand so on;\nand more\n", "Usage of something:\n  more\n", "some\n  words:\n    and\n"] {
        assert!(refused(prose.as_bytes(), &options()).contains("--format"), "{prose}");
    }
}

#[test]
fn each_format_may_be_compressed() {
    for name in ["jdk-17.jfr.gz", "perf-srcline.txt", "py-spy.folded"] {
        let plain = profile(name);
        let (packed, plain) = (whole(&gzip(&plain), &options()), whole(&plain, &options()));
        assert_eq!(packed.imported, plain.imported, "{name}");
    }
    let cut = gzip(&b"main;a;b;c 12\n".repeat(1000));
    let read = whole(&cut[..cut.len() - 9], &options());
    let is_told = read.imported.losses.iter().any(|loss| loss.contains("compressed file is cut off"));
    assert!(read.imported.samples > 0 && is_told, "{:?}", read.imported);
    assert_eq!(read.recording.manifest().losses[0].rows, None);
    for (bytes, says) in
        [(&gzip(&gzip(b"a;b 1\n"))[..], "gunzip"), (b"BZh91AY", "bunzip2"), (b"PK\x03\x04rest", "unzip")]
    {
        assert!(refused(bytes, &options()).contains(says), "{says}");
    }
}

#[test]
fn perf_may_print_only_one_of_name_and_id() {
    let frames = "\t          4010 inner+0x10 (/opt/app/server)\n\t          4020 main+0x20 (/opt/app/server)\n\n";
    for (header, thread, timed) in [
        (" 4711 cpu-clock: \n", ":4711", false),
        ("server cpu-clock: \n", "server", false),
        ("server 1 cpu-clock: \n", "server 1", false),
        (" 1268.896021: cpu-clock: \n", "", true),
        ("a/b 12/3    4268     250000 cpu-clock: \n", "a/b 12/3", false),
        ("a/b 12/3  4268 [001]  1.5: 10 cpu-clock: \n", "a/b 12/3", true),
    ] {
        let read = whole(format!("{header}{frames}{header}{frames}").as_bytes(), &options());
        assert_eq!((read.imported.format, read.imported.samples), (ImportFormat::Perf, 2), "{header}");
        assert_eq!((read.imported.lost, read.rows[0].3.as_str()), (0, thread), "{header}");
        assert_eq!(read.rows[0].5, "main;inner", "{header}");
        let has_no_times = read.imported.notes.iter().any(|note| note.contains("no times"));
        assert_eq!(has_no_times, !timed, "{header}");
    }
}

#[test]
fn stacks_as_bpftrace_prints_them() {
    let text = "Attaching 1 probe...\n\n@start[4711]: 99\n@[\n    vfs_read+1\n    do_syscall_64+20\n    entry_SYSCALL_64_after_hwframe+8\n, \n    \
                read+20\n    0x7f3c12345678\n, java, 4711]: 56\n@stacks[dd, \n    main+5\n]: 3\n@[\n\tffffffff81234567 kthread+0x1a ([kernel])\n, \
                swapper/0]: 4\n@lat[\n    f+1\n]: \n[4, 8)   3 |@@@|\n";
    let options = ImportOptions { interval: Some(Duration::from_millis(10)), ..options() };
    let read = whole(text.as_bytes(), &options);
    assert_eq!((read.imported.format, sums(&read)), (ImportFormat::Bpftrace, (3, 63 * 10_000_000, 1)));
    let rows: Vec<(&str, &str, &str)> =
        read.rows.iter().map(|row| (row.3.as_str(), row.5.as_str(), row.6.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("java", "[unknown];read;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_read", "nnkkk"),
            ("dd", "main", "n"),
            ("swapper/0", "kthread", "k"),
        ]
    );
    assert!(read.imported.losses[0].contains("other values"), "{:?}", read.imported);
    // A script may have the program's stack first.
    let other = whole(b"@[\n    read+20\n, \n    vfs_read+1\n    do_syscall_64+2\n]: 1\n", &options);
    assert_eq!(other.rows[0].5, "read;do_syscall_64;vfs_read");
}

#[test]
fn stacks_as_bcc_prints_them() {
    let text = "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n    filemap_map_pages\n    \
                asm_exc_page_fault\n    [unknown]\n    -                cp (9036)\n        1\n\n    vfs_read\n    entry_SYSCALL_64\n    --\n    read\n    \
                -                Native-Transport (25036)\n        4\n\n";
    let read = whole(text.as_bytes(), &options());
    assert_eq!((read.imported.format, sums(&read)), (ImportFormat::Bcc, (2, 5 * (1_000_000_000 / 49), 0)));
    assert_eq!(
        (read.rows[1].3.as_str(), read.rows[1].5.as_str()),
        ("Native-Transport", "read;entry_SYSCALL_64;vfs_read")
    );
    assert_eq!(read.rows[1].6, "nkk");
    let off_cpu = "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n    schedule\n    -                java \
                   (9)\n        1250\n\n";
    let read = whole(off_cpu.as_bytes(), &options());
    assert_eq!(read.imported.events, BTreeMap::from([("off-cpu".to_string(), (1, 1_250_000))]));
    let count = "  submit_bio\n  kthread\n  ret_from_fork\n    cp [9036]\n    12\n\n  submit_bio\n    3\n\n";
    let read = whole(count.as_bytes(), &ImportOptions { event: Some("bio".into()), ..options() });
    assert_eq!(read.imported.events, BTreeMap::from([("bio".to_string(), (2, 15))]));
    assert_eq!((read.rows[0].3.as_str(), read.rows[0].5.as_str()), ("cp", "ret_from_fork;kthread;submit_bio"));
    // Folded output of the same tools.
    assert_eq!(sums(&whole(b"java;main;-;vfs_read 12\n", &options())), (1, 12, 0));
}

/// Fields of protobuf.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

const TEXTS: [&str; 12] = [
    "",
    "samples",
    "count",
    "cpu",
    "nanoseconds",
    "main",
    "inner",
    "inlined",
    "thread",
    "ReadStage-1",
    "libc.so.6",
    "/lib/libc.so.6",
];

/// A profile of two samples: one with an inlined function, one of a library without symbols.
pub fn pprof() -> Vec<u8> {
    let value_type = |kind: u64, unit: u64| [number(1, kind), number(2, unit)].concat();
    let function = |id: u64, name: u64| bytes(5, &[number(1, id), number(2, name)].concat());
    let line = |function: u64| bytes(4, &number(1, function));
    let packed =
        |field: u64, values: &[u64]| bytes(field, &values.iter().flat_map(|value| varint(*value)).collect::<Vec<_>>());
    let label = bytes(3, &[number(1, 8), number(2, 9)].concat());
    let mut profile = [
        bytes(1, &value_type(1, 2)),
        bytes(1, &value_type(3, 4)),
        bytes(2, &[packed(1, &[2, 1]), packed(2, &[3, 30_000_000]), label].concat()),
        bytes(2, &[packed(1, &[3, 1]), packed(2, &[1, 10_000_000])].concat()),
        bytes(3, &[number(1, 1), number(5, 11)].concat()),
        bytes(4, &[number(1, 1), line(1)].concat()),
        // The inlined function comes first.
        bytes(4, &[number(1, 2), line(3), line(2)].concat()),
        bytes(4, &[number(1, 3), number(2, 1), number(3, 0x7f00)].concat()),
        function(1, 5),
        function(2, 6),
        function(3, 7),
    ]
    .concat();
    TEXTS.iter().for_each(|text| profile.extend(bytes(6, text.as_bytes())));
    profile.extend([number(9, AT as u64), number(12, 10_000_000)].concat());
    profile
}

#[test]
fn profiles_of_pprof() {
    for packed in [pprof(), gzip(&pprof())] {
        let read = whole(&packed, &options());
        assert_eq!((read.imported.format, sums(&read)), (ImportFormat::Pprof, (2, 40_000_000, 0)));
        assert_eq!(read.imported.events.keys().collect::<Vec<_>>(), ["cpu"]);
        let rows: Vec<(i64, &str, &str)> =
            read.rows.iter().map(|row| (row.0, row.3.as_str(), row.5.as_str())).collect();
        assert_eq!(rows, [(AT, "ReadStage-1", "main;inner;inlined"), (AT, "", "main;[libc.so.6]")]);
    }
    for old in [
        &b"heap profile: 13: 1595680 [47130736: 2584] @ heap/1048576\n1: 524288 [3: 1572864] @ 0x420cef\n"[..],
        // Words of a CPU profile: 0, 3 further words, version 0, 10,000 us between samples.
        &[0_i64, 3, 0, 10_000, 0].map(i64::to_le_bytes).concat(),
    ] {
        assert!(refused(old, &options()).contains("pprof -proto"));
    }
    let whole_profile = pprof();
    let error = refused(&whole_profile[..whole_profile.len() / 3], &options());
    assert!(error.contains("cut off"), "{error}");
    let error = refused(&whole_profile, &ImportOptions { place: TimeAlignment::ThisBoot, ..options() });
    assert!(error.contains("--this-boot"), "{error}");
}

#[test]
fn what_a_jfr_file_has_besides_is_named_and_counted() {
    let mut chunk = Chunk::new();
    chunk.class(10, "other.Sample", vec![("startTime", LONG, false, false), ("stackTrace", 11, true, false)]);
    chunk.class(20, "jdk.FileRead", vec![("startTime", LONG, false, false), ("stackTrace", 11, true, false)]);
    chunk.class(
        21,
        "com.oracle.jdk.ExecutionSample",
        vec![("startTime", LONG, false, false), ("stackTrace", 11, true, false)],
    );
    chunk.class(
        22,
        "profiler.Malloc",
        vec![("startTime", LONG, false, false), ("stackTrace", 11, true, false), ("size", LONG, false, false)],
    );
    chunk.class(11, "com.oracle.jfr.types.StackTrace", vec![("frames", 12, false, true)]);
    chunk.class(12, "jdk.types.StackFrame", vec![("method", 13, true, false)]);
    chunk.class(13, "jdk.types.Method", vec![("name", STRING, false, false)]);
    chunk.pool(11, vec![(1, vec![1, 1])]);
    chunk.pool(13, vec![(1, text("f"))]);
    (0..7).for_each(|_| chunk.event(10, &[1, 1]));
    (0..3).for_each(|_| chunk.event(20, &[1, 1]));
    // Events without a stack are not counted.
    chunk.event(20, &[1, 0]);
    chunk.event(21, &[1, 1]);
    chunk.event(22, &[1, 1, 64]);
    let read = whole(&chunk.bytes(), &options());
    assert_eq!(read.imported.events.keys().collect::<Vec<_>>(), ["cpu", "malloc"]);
    assert_eq!((read.imported.events["malloc"], read.imported.lost), ((1, 64), 7));
    assert!(read.imported.losses[0].contains("7 other.Sample"), "{:?}", read.imported);
    assert!(read.imported.notes.iter().any(|note| note.contains("3 jdk.FileRead")), "{:?}", read.imported);
    // All that is in it is of another kind.
    let mut alone = Chunk::new();
    alone.class(10, "other.Sample", vec![("startTime", LONG, false, false), ("stackTrace", 11, true, false)]);
    alone.class(11, "jdk.types.StackTrace", vec![("frames", 12, false, true)]);
    alone.class(12, "jdk.types.StackFrame", vec![("line", LONG, false, false)]);
    alone.pool(11, vec![(1, vec![1, 1])]);
    alone.event(10, &[1, 1]);
    let error = refused(&alone.bytes(), &options());
    assert!(error.contains("1 other.Sample"), "{error}");
}

#[test]
fn old_jfr_files_are_old_and_not_broken() {
    for minor in [2u8, 9] {
        let mut file = vec![b'F', b'L', b'R', 0, 0, 0, 0, minor];
        file.extend([0; 300]);
        for bytes in [gzip(&file), file] {
            let error = refused(&bytes, &options());
            assert!(error.contains(&format!("0.{minor}")) && error.contains("8u262"), "{error}");
            assert!(!error.contains("broken") && !error.contains("cut off"), "{error}");
        }
    }
}

#[test]
fn traced_and_timed_methods_of_jdk_25() {
    let read = whole(&profile("jdk-25-methods.jfr.gz"), &options());
    // The sums that `jfr print --json` of JDK 25 gives; those of timings are the last of each method.
    let events = &read.imported.events;
    assert_eq!(events.keys().collect::<Vec<_>>(), ["cpu", "method", "method-timing"]);
    let close = |sum: i64, ns: i64| (sum - ns).abs() < 1000;
    assert!(events["method"].0 == 20 && close(events["method"].1, 1_002_505_161), "{events:?}");
    assert!(events["method-timing"].0 == 1 && close(events["method-timing"].1, 19 * 52_327_012), "{events:?}");
    assert_eq!(events["cpu"].0, 12);
    let frames = |event: &str| -> Vec<&str> {
        let mut frames: Vec<&str> = read.rows.iter().filter(|row| row.1 == event).map(|row| row.5.as_str()).collect();
        frames.sort_unstable();
        frames.dedup();
        frames
    };
    assert_eq!(frames("method"), ["Traced.main;Traced.outer"]);
    assert_eq!(frames("method-timing"), ["Traced.spin"]);
    assert_eq!(read.imported.lost, 0);
    let notes = &read.imported.notes;
    assert!(notes.iter().any(|note| note.contains("20 jdk.ThreadSleep")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains("jdk.ExecutionSample")), "the file has none: {notes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn folded_stacks_come_out_as_they_went_in_with_and_without_names(
        lines in prop::collection::btree_map("([A-Za-z][A-Za-z0-9 #-]{0,8}[a-z])?(;[a-z./<>$_A-Z0-9]{1,9}){0,5}", 1i64..1_000_000, 1..20),
        big: bool,
    ) {
        let text: String = lines.iter().map(|(line, weight)| format!("{line} {weight}\n")).collect();
        let options = ImportOptions { format: Some(ImportFormat::Folded), ..options() };
        let read = crate::read(&utf16(&text, big), &options);
        prop_assume!(!matches!(&read, Err(error) if error.to_string().contains("comparison")));
        prop_assert_eq!(read.unwrap().folded(), lines);
    }
}
