//! Files of other tools and their older versions. The sums are those that the tool's own reader reports.
//!
//! `fixtures/profiles/sums.tsv` has a line for each thread of a JFR file: the file, a class of events or what the converter
//! of async-profiler calls them, id and name of the thread, and the sum of what they stand for, or their number.

use crate::{columns, options, refused, whole};
use helenus_observe::{ImportFormat, ImportOptions, TimeAlignment};
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

const MS: i64 = 1_000_000;

/// A file, its sampled event, the names under which the tool's reader counts that event, and what each of them
/// represents.
type Sums = (&'static str, &'static str, &'static [&'static str], i64);

const SUMS: &[Sums] = &[
    ("ap-2.9-wall", "wall", &["wall"], 20 * MS),
    // The file has no interval option; the default is 10 ms of CPU time and 50 ms of wall-clock time.
    ("ap-2.9-cpu", "cpu", &["cpu"], 10 * MS),
    ("ap-2.9-itimer", "cpu", &["cpu"], 10 * MS),
    ("ap-2.9-itimer", "alloc", &["alloc"], 1),
    ("ap-3.0-wall", "wall", &["wall"], 50 * MS),
    ("ap-3.0-cpu-wall", "cpu", &["cpu"], 10 * MS),
    ("ap-3.0-cpu-wall", "wall", &["wall"], 100 * MS),
    ("ap-3.0-ctimer", "cpu", &["cpu"], 5 * MS),
    ("ap-3.0-ctimer", "alloc", &["alloc"], 1),
    ("ap-4.0-itimer-wall", "cpu", &["cpu"], 10 * MS),
    ("ap-4.0-itimer-wall", "wall", &["wall"], 200 * MS),
    ("ap-4.1-all", "cpu", &["cpu"], 10 * MS),
    ("ap-4.1-all", "wall", &["wall"], 100 * MS),
    ("ap-4.1-all", "alloc", &["alloc"], 1),
    ("ap-4.2-ctimer-wall", "cpu", &["cpu"], 10 * MS),
    ("ap-4.2-ctimer-wall", "wall", &["wall"], 50 * MS),
    ("ap-4.2-nobatch", "cpu", &["cpu"], 10 * MS),
    ("ap-4.2-nobatch", "wall", &["wall"], 50 * MS),
    ("ap-4.2-page-faults", "page-faults", &["cpu"], 50),
    ("jdk-11", "cpu", &["jdk.ExecutionSample"], 10 * MS),
    ("jdk-11", "native", &["jdk.NativeMethodSample"], 20 * MS),
    ("jdk-11", "alloc", &["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"], 1),
    ("jdk-11", "lock", &["jdk.ThreadPark", "jdk.JavaMonitorEnter"], 1),
    ("jdk-17", "cpu", &["jdk.ExecutionSample"], 10 * MS),
    ("jdk-17", "native", &["jdk.NativeMethodSample"], 20 * MS),
    // Left out, because the sample event has the same bytes.
    ("jdk-17", "alloc", &["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"], 1),
    ("jdk-17", "lock", &["jdk.ThreadPark", "jdk.JavaMonitorEnter"], 1),
    // Only one of the two events was requested, so its samples have the whole weight.
    ("jdk-17-half", "alloc", &["jdk.ObjectAllocationSample"], 1),
    ("jdk-21", "cpu", &["jdk.ExecutionSample"], 10 * MS),
    ("jdk-21", "alloc", &["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"], 1),
    ("jdk-21", "lock", &["jdk.ThreadPark", "jdk.JavaMonitorEnter"], 1),
    ("jdk-25", "cpu", &["jdk.CPUTimeSample"], 1),
    ("jdk-25", "alloc", &["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"], 1),
    ("jdk-25", "lock", &["jdk.ThreadPark", "jdk.JavaMonitorEnter"], 1),
];

/// All files in `fixtures/profiles` that can be imported.
pub const PROFILES: &[&str] = &[
    "ap-2.9-cpu.jfr.gz",
    "ap-2.9-itimer.jfr.gz",
    "ap-2.9-wall.jfr.gz",
    "ap-3.0-cpu-wall.jfr.gz",
    "ap-3.0-ctimer.jfr.gz",
    "ap-3.0-wall.jfr.gz",
    "ap-4.0-itimer-wall.jfr.gz",
    "ap-4.1-all.jfr.gz",
    "ap-4.2-ctimer-wall.jfr.gz",
    "ap-4.2-nobatch.jfr.gz",
    "ap-4.2-page-faults.jfr.gz",
    "jdk-11.jfr.gz",
    "jdk-17.jfr.gz",
    "jdk-17-half.jfr.gz",
    "jdk-21.jfr.gz",
    "jdk-25.jfr.gz",
    "jdk-25-methods.jfr.gz",
    "perf-flat.txt",
    "perf-srcline.txt",
    "perf-no-time.txt",
    "perf-misc-tod.txt",
    "perf-dwarf.txt",
    "perf-faults.txt",
    "py-spy.folded",
    "austin-3.5.folded",
];

pub fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Decompresses a profile.
pub fn profile(name: &str) -> Vec<u8> {
    let bytes = fixture(&format!("profiles/{name}"));
    let mut plain = Vec::new();
    match name.ends_with(".gz") {
        true => flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap(),
        false => return bytes,
    };
    plain
}

/// Sums by thread, in the form of the table.
fn sums() -> BTreeMap<(String, String), BTreeMap<(String, String), i64>> {
    let mut sums: BTreeMap<_, BTreeMap<_, i64>> = BTreeMap::new();
    for line in String::from_utf8(fixture("profiles/sums.tsv")).unwrap().lines() {
        let words: Vec<String> = line.split('\t').map(String::from).collect();
        let [file, class, tid, mut thread, sum] = <[String; 5]>::try_from(words).unwrap();
        if thread.is_empty() && tid != "0" {
            // async-profiler's placeholder for a thread without a name.
            thread = format!("[tid={tid}]");
        }
        *sums.entry((file, class)).or_default().entry((tid, thread)).or_default() += sum.parse::<i64>().unwrap();
    }
    sums
}

#[test]
fn each_thread_of_each_version_has_what_the_tools_own_reader_says() {
    let known = sums();
    let files: Vec<&str> = PROFILES.iter().filter_map(|name| name.strip_suffix(".jfr.gz")).collect();
    for file in files {
        let read = whole(&profile(&format!("{file}.jfr.gz")), &options());
        let mut here: BTreeMap<String, BTreeMap<(String, String), i64>> = BTreeMap::new();
        for row in columns(&read.recording, "samples", &["event", "tid", "thread", "weight"]) {
            let thread = (row[1].clone(), row[2].clone());
            *here.entry(row[0].clone()).or_default().entry(thread).or_default() += row[3].parse::<i64>().unwrap();
        }
        let names: Vec<&str> = here.keys().map(String::as_str).collect();
        let expected = SUMS.iter().filter(|(of, ..)| *of == file);
        if file.starts_with("ap-") {
            let mut events: Vec<&str> = expected.clone().map(|(_, event, ..)| *event).collect();
            events.sort_unstable();
            assert_eq!(names, events, "{file}: no more and no less");
        }
        for (_, event, classes, each) in expected {
            let mut there: BTreeMap<(String, String), i64> = BTreeMap::new();
            for class in *classes {
                let sums = known.get(&(file.to_string(), (*class).to_string()));
                for (thread, sum) in sums.into_iter().flatten() {
                    *there.entry(thread.clone()).or_default() += sum * each;
                }
            }
            let here = here.remove(*event).unwrap_or_default();
            let rounded = |sums: BTreeMap<(String, String), i64>| -> Vec<_> {
                // The JDK's reader counts ticks in floating point, so the sums may differ by 1 in a million.
                sums.into_iter().map(|(thread, sum)| (thread, (sum as f64 / 1e3).round() as i64)).collect()
            };
            assert_eq!(rounded(here), rounded(there), "{file}: {event}");
        }
    }
}

#[test]
fn a_program_that_sleeps_takes_no_cpu_time() {
    let read = whole(&profile("ap-2.9-wall.jfr.gz"), &options());
    assert_eq!(read.imported.events.keys().collect::<Vec<_>>(), ["wall"]);
    assert!(read.groups()["Sleeper"] > 300 * MS, "{:?}", read.groups());
}

/// Samples and weights by thread.
fn threads(read: &crate::Read) -> BTreeMap<&str, (u64, i64)> {
    let mut threads: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for row in &read.rows {
        let sums = threads.entry(row.3.as_str()).or_default();
        *sums = (sums.0 + 1, sums.1 + row.2);
    }
    threads
}

#[test]
fn perf_prints_what_it_is_asked_for() {
    // The counts that `perf report --sort comm -n` prints.
    let of = |name: &str| whole(&profile(name), &options());
    let flat = of("perf-flat.txt");
    let period = 5_025_125;
    let counts = [("Copier", 13), ("abc", 13), ("dd", 11), ("worker 1", 12)];
    let expected: BTreeMap<&str, (u64, i64)> =
        counts.into_iter().map(|(thread, count)| (thread, (count, count as i64 * period))).collect();
    assert_eq!((threads(&flat), flat.imported.lost), (expected, 0), "a command may read as an address");
    assert!(flat.rows.iter().all(|row| !row.5.contains(';') && !row.5.is_empty()));
    // The same samples, whatever fields perf printed.
    let stacks = |read: &crate::Read| -> Vec<(String, String)> {
        let mut stacks: Vec<_> = read.rows.iter().map(|row| (row.3.clone(), row.5.clone())).collect();
        stacks.sort_unstable();
        stacks
    };
    let lines = of("perf-srcline.txt");
    assert_eq!((lines.imported.samples, lines.imported.lost), (8, 0));
    let copied = "start_thread;copy;zero;__GI___libc_read;__GI___libc_read;entry_SYSCALL_64_after_hwframe";
    assert!(
        stacks(&lines).iter().any(|(thread, frames)| thread == "Copier" && frames.starts_with("start_thread;copy")),
        "{copied}"
    );
    assert!(lines.rows.iter().all(|row| row.5.starts_with("start_thread;") && !row.5.contains("busy.c")));
    let timeless = of("perf-no-time.txt");
    assert_eq!((timeless.imported.samples, timeless.imported.lost), (8, 0));
    assert_eq!(stacks(&timeless), stacks(&lines));
    assert!(timeless.rows.iter().all(|row| row.0 == crate::AT), "all at one moment");
    assert!(timeless.imported.notes.iter().any(|note| note.contains("no times")), "{:?}", timeless.imported);
    let error = refused(&profile("perf-no-time.txt"), &ImportOptions { place: TimeAlignment::ThisBoot, ..options() });
    assert!(error.contains("-F +time"), "{error}");
    let more = of("perf-misc-tod.txt");
    assert_eq!((stacks(&more), more.imported.lost), (stacks(&lines), 0));
    assert_eq!(threads(&more), threads(&lines));
    let dwarf = of("perf-dwarf.txt");
    assert_eq!(dwarf.imported.events["cpu"], (11, 11 * 10 * MS));
    assert!(dwarf.imported.notes.iter().any(|note| note.contains("--interval")));
    let faults = of("perf-faults.txt");
    assert_eq!(faults.imported.events, BTreeMap::from([("page-faults".to_string(), (6, 300))]));
}

#[test]
fn a_file_of_perf_may_end_without_the_end_of_its_line() {
    let one = "dd 9/9 [000] 1.5:   10 cpu-clock: \n\t 55 main+0x2 (/bin/x)\n\t 56 start (/bin/x)";
    let read = whole(one.as_bytes(), &options());
    assert_eq!((read.imported.samples, read.imported.lost, read.rows[0].5.as_str()), (1, 0, "start;main"));
    let flat = whole(b"dd 9/9 [000] 1.5:   10 cpu-clock:  55 main+0x2 (/bin/x)", &options());
    assert_eq!((flat.imported.samples, flat.rows[0].5.as_str()), (1, "main"));
    // If the file ends within a frame or a line, the sample is incomplete.
    for cut in [one.len() - 3, one.len() - 12, 30] {
        let bytes = [one.as_bytes(), b"\n\n", &one.as_bytes()[..cut]].concat();
        let read = whole(&bytes, &options());
        assert_eq!((read.imported.samples, read.imported.lost), (1, 1), "{cut}");
    }
}

#[test]
fn stacks_of_programs_in_python() {
    let spy =
        whole(&profile("py-spy.folded"), &ImportOptions { interval: Some(Duration::from_millis(20)), ..options() });
    // py-spy printed: Samples: 64.
    assert_eq!(spy.imported.events["cpu"].1, 64 * 20 * MS);
    let bytes = profile("austin-3.5.folded");
    let micros: i64 = String::from_utf8_lossy(&bytes)
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap())
        .sum();
    let austin = whole(&bytes, &ImportOptions { interval: Some(Duration::from_micros(1)), ..options() });
    assert_eq!((austin.imported.events["cpu"].1, austin.imported.lost), (micros * 1000, 0));
}

#[test]
fn folded_weights_may_have_a_fraction() {
    let seconds = ImportOptions { interval: Some(Duration::from_secs(1)), ..options() };
    let read = whole(b"a;b 0.25\na;c 1.5e-3\na;d 2\n", &seconds);
    assert_eq!(read.rows.iter().map(|row| row.2).collect::<Vec<_>>(), [250 * MS, 1_500_000, 2000 * MS]);
    // Weights are rounded so that their sum stays the same.
    let read = whole(b"a;b 0.5\na;c 0.5\na;d 0.25\na;e 0.75\n", &options());
    assert_eq!(read.imported.events["cpu"], (4, 2));
    assert!(read.imported.notes.iter().any(|note| note.contains("rounded")), "{:?}", read.imported);
    // Whole numbers beyond 53 bits stay exact.
    let read = whole(format!("a;b {}\n", (1i64 << 60) + 1).as_bytes(), &options());
    assert_eq!(read.rows[0].2, (1 << 60) + 1);
    let read = whole(b"a;b 1\na;c nan\na;d inf\na;e -1\na;f 1e400\na;g 1.2.3\n", &options());
    assert_eq!((read.imported.samples, read.imported.lost), (1, 5));
    assert!(refused(b"a;b 1.5 2.5\n", &options()).contains("comparison"));
}

#[test]
fn what_comes_first_may_be_long() {
    let deep = format!("main;{} 7\n", vec!["frame"; 30_000].join(";"));
    let read = whole(format!("{deep}main;short 1\n").as_bytes(), &options());
    assert_eq!((read.imported.format, read.imported.samples), (ImportFormat::Folded, 2));
    assert_eq!(read.rows[0].6.len(), 30_000);
    // perf writes a header line for each CPU of a machine.
    let about = "# a large machine\n".repeat(10_000);
    let read = whole(format!("{about}dd 9 1.5: 10 cpu-clock: \n\t 55 main (/bin/x)\n\n").as_bytes(), &options());
    assert_eq!((read.imported.format, read.imported.samples), (ImportFormat::Perf, 1));
    let marked = whole("\u{feff}main;a 3\n".as_bytes(), &options());
    assert_eq!(marked.rows[0].3, "main");
}
