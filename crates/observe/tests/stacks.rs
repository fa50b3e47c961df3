//! Stacks of a real JVM whose program uses its time in a known way.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod working;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use helenus_needs::need;
use helenus_observe::{AgentOptions, Event, Observation, Options, ProcessKind, StackOptions, Watched};
use helenus_recording::{Manifest, Recorder, Recording};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use working::until_it_has_used;

struct Program(Child);

impl Program {
    fn start() -> Program {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/Split.java");
        let mut child = Command::new("java")
            .args(["-Xmx64m", "-XX:TieredStopAtLevel=1", source])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Program(child)
    }

    fn watched(&self) -> Watched {
        Watched { process: ProcessKind::Server, node: "split".to_string(), pid: self.0.id() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The profiler that the binary embeds; `make build` puts it there.
fn library() -> &'static [u8] {
    let folder = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    let path = format!("{}/../../agent/target/profiler/{folder}/libasyncProfiler.so", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}; run `make build`"));
    Box::leak(bytes.into_boxed_slice())
}

fn of(events: &str) -> StackOptions {
    StackOptions { stacks: events.parse().unwrap(), ..StackOptions::default() }
}

/// Records stacks while `meanwhile` runs, and returns the events.
fn record(
    folder: &Path,
    program: &Program,
    options: StackOptions,
    meanwhile: impl FnOnce(),
) -> (Recording, Vec<Event>) {
    let recorder = Recorder::create(folder, Manifest::new("test", "test")).unwrap();
    let (events, received) = channel();
    let stacks = StackOptions { profiler: Some(library()), ..options };
    let options = Options { stacks, ..Options::default() };
    let observation = Observation::start(&recorder, &[program.watched()], &options, &events).unwrap();
    meanwhile();
    assert_eq!(observation.stop(), Vec::<String>::new());
    drop(events);
    recorder.close().unwrap();
    (Recording::open(folder).unwrap(), received.iter().collect())
}

fn rows<T>(
    recording: &Recording,
    table: &str,
    columns: [&str; 3],
    mut row: impl FnMut(i64, &str, &str) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for file in recording.files(table).unwrap() {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().build().unwrap();
        for batch in reader.map(Result::unwrap) {
            let column = |name: &str, of: &DataType| cast(batch.column_by_name(name).unwrap(), of).unwrap();
            let numbers = column(columns[0], &DataType::Int64);
            let (one, two) = (column(columns[1], &DataType::Utf8), column(columns[2], &DataType::Utf8));
            let (one, two) = (one.as_string::<i32>(), two.as_string::<i32>());
            let numbers = numbers.as_primitive::<Int64Type>();
            all.extend((0..batch.num_rows()).map(|at| row(numbers.value(at), one.value(at), two.value(at))));
        }
    }
    all
}

/// Files in /tmp that a program has created.
fn left_in_tmp(program: &Program) -> usize {
    let pid = format!("-{}-", program.0.id());
    let ours = |entry: &std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(".helenus-") && name.contains(&pid)
    };
    std::fs::read_dir("/tmp").unwrap().filter_map(Result::ok).filter(ours).count()
}

#[test]
fn samples_are_where_the_time_went() {
    need!(helenus_needs::program("java"));
    let place = tempfile::tempdir().unwrap();
    let program = Program::start();
    let options = StackOptions { stack_interval: Duration::from_millis(1), ..of("cpu") };
    let (recording, events) = record(&place.path().join("one"), &program, options, || {
        // The files are unlinked as soon as the profiler runs.
        assert_eq!(left_in_tmp(&program), 0);
        until_it_has_used(program.0.id(), Duration::from_secs(4));
    });
    assert!(!events.iter().any(|event| matches!(event, Event::Degraded { source: "stacks", .. })), "{events:?}");

    let source = recording.manifest().sources.iter().find(|source| source.name == "stacks").unwrap();
    assert!(source.note.contains("a signal every 1ms of a CPU's time"), "as root: {}", source.note);
    let mut in_kernel = 0;
    let stacks: HashMap<i64, String> =
        rows(&recording, "stacks", ["stack", "frames", "kinds"], |stack, frames, kinds| {
            assert_eq!(frames.split(';').count(), kinds.len());
            // Kernel frames come after the user frames, as the innermost.
            assert!(!kinds.trim_end_matches('k').contains('k'), "{frames}: {kinds}");
            in_kernel += usize::from(kinds.ends_with('k') && frames.contains("Split."));
            (stack, frames.to_string())
        })
        .into_iter()
        .collect();
    assert!(in_kernel > 0, "it asks for its CPU time all the time");
    let (mut seven, mut three) = (0.0f64, 0.0f64);
    for (stack, group) in rows(&recording, "samples", ["stack", "thread_group", "event"], |stack, group, event| {
        assert_eq!(event, "cpu");
        (stack, group.to_string())
    }) {
        let frames = &stacks[&stack];
        if frames.contains("Split.seven") {
            seven += 1.0;
        } else if frames.contains("Split.three") {
            three += 1.0;
        } else {
            continue;
        }
        assert_eq!(group, "Worker");
    }
    // One sample per millisecond of CPU time, except for those in the JVM's own threads.
    assert!(seven + three > 2_000.0, "{seven} + {three}");
    let share = seven / (seven + three);
    assert!((0.6..0.8).contains(&share), "{share} of the samples, and 0.7 of the time");

    let reports = rows(&recording, "sources", ["lost", "source", "lost_reason"], |lost, source, reason| {
        (lost, source.to_string(), reason.to_string())
    });
    let lost: i64 = reports.iter().filter(|(_, source, _)| source == "stacks").map(|(lost, ..)| lost).sum();
    assert!(lost < 400, "of 4,000 ticks: {reports:?}");

    // Records again, this time allocations and locks; the profiler is still loaded.
    let options = StackOptions { alloc_bytes: 1 << 10, ..of("wall,alloc") };
    let (recording, _) = record(&place.path().join("two"), &program, options, || {
        std::thread::sleep(Duration::from_secs(3));
    });
    let events = rows(&recording, "samples", ["weight", "event", "thread"], |weight, event, _| {
        assert!(weight > 0);
        event.to_string()
    });
    assert!(events.iter().any(|event| event == "wall"), "{} samples", events.len());
}

#[test]
fn a_target_that_dies_leaves_a_whole_recording() {
    need!(helenus_needs::program("java"));
    let place = tempfile::tempdir().unwrap();
    let mut program = Program::start();
    let pid = program.0.id();
    let (recording, events) = record(&place.path().join("dies"), &program, of("cpu"), || {
        // Longer than a chunk of the profiler, which is read when it is complete.
        std::thread::sleep(Duration::from_secs(8));
        // SAFETY: kill takes no pointers, and the process has not been waited for.
        unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
        std::thread::sleep(Duration::from_secs(1));
    });
    program.0.wait().unwrap();
    let is_degraded = |event: &Event| matches!(event, Event::Degraded { source: "stacks", .. });
    assert!(events.iter().any(is_degraded), "what was lost with it is said: {events:?}");
    assert!(recording.manifest().tables["samples"].rows > 0, "what was whole before its death is there");
}

#[test]
fn the_profiler_goes_on_from_one_recording_to_the_next() {
    need!(helenus_needs::program("java"));
    let place = tempfile::tempdir().unwrap();
    let program = Program::start();
    let recorder = |name: &str| Recorder::create(&place.path().join(name), Manifest::new("test", "test")).unwrap();
    let (events, received) = channel();
    let options = Options { stacks: StackOptions { profiler: Some(library()), ..of("cpu") }, ..Options::default() };
    let first = recorder("first");
    let mut observation = Observation::start(&first, &[program.watched()], &options, &events).unwrap();
    let begun = Instant::now();
    while first.health().rows.get("samples").is_none_or(|rows| *rows == 0) {
        assert!(begun.elapsed() < Duration::from_secs(120), "no sample");
        std::thread::sleep(Duration::from_millis(50));
    }
    let second = recorder("second");
    observation.continue_in(&second, &[program.watched()], &options, &events).unwrap();
    until_it_has_used(program.0.id(), Duration::from_secs(2));
    observation.stop();
    for recorder in [first, second] {
        let recording = Recording::open(&recorder.close().unwrap().folder).unwrap();
        assert!(recording.manifest().sources.iter().any(|source| source.name == "stacks"));
        let known: Vec<i64> = rows(&recording, "stacks", ["stack", "frames", "kinds"], |stack, _, _| stack);
        let sampled: Vec<i64> = rows(&recording, "samples", ["stack", "thread", "event"], |stack, _, _| stack);
        assert!(!sampled.is_empty() && sampled.iter().all(|stack| known.contains(stack)), "{}", sampled.len());
    }
    let is_degraded = |event: &Event| matches!(event, Event::Degraded { source: "stacks", .. });
    assert!(!received.try_iter().any(|event| is_degraded(&event)));
}

/// The process that a recorder in a process of its own records.
const RECORDED: &str = "HELENUS_TEST_RECORDED";
const FOLDER: &str = "HELENUS_TEST_FOLDER";

/// Not a test: the next test runs this as a child process, and kills it.
#[test]
#[ignore = "a part of another test"]
fn records_until_it_is_killed() {
    let Ok(pid) = std::env::var(RECORDED) else { return };
    let recorder = Recorder::create(Path::new(&std::env::var(FOLDER).unwrap()), Manifest::new("test", "test")).unwrap();
    let watched = Watched { process: ProcessKind::Server, node: "split".to_string(), pid: pid.parse().unwrap() };
    let jar = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agent/target/helenus-agent.jar")).unwrap();
    let agent = AgentOptions { jar: Some(Box::leak(jar.into_boxed_slice())), ..AgentOptions::default() };
    let stacks = StackOptions { profiler: Some(library()), ..of("cpu") };
    let options = Options { stacks, agent, ..Options::default() };
    let observation = Observation::start(&recorder, &[watched], &options, &channel().0).unwrap();
    println!("\nrecording");
    std::thread::sleep(Duration::from_secs(120));
    drop(observation);
}

#[test]
fn the_profiler_stops_when_its_recorder_is_killed() {
    need!(helenus_needs::program("java"));
    let program = Program::start();
    let writes = || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", program.0.id())).unwrap();
        let links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        links.filter(|path| path.to_string_lossy().contains(".helenus-stacks-")).count()
    };
    let place = tempfile::tempdir().unwrap();
    let mut recorder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "records_until_it_is_killed", "--ignored", "--nocapture"])
        .env(RECORDED, program.0.id().to_string())
        .env(FOLDER, place.path().join("killed"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(recorder.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "recording"));
    assert!(writes() > 0, "the profiler runs");
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    // By itself the profiler would go on for two minutes.
    let until = Instant::now() + Duration::from_secs(60);
    while writes() > 0 {
        assert!(Instant::now() < until, "the profiler goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
    // It can be started again, by a recorder that stops it itself.
    let (_, events) = record(&place.path().join("again"), &program, of("cpu"), || ());
    assert!(!events.iter().any(|event| matches!(event, Event::Degraded { source: "stacks", .. })), "{events:?}");
}
