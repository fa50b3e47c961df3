//! Stacks by eBPF of a C program that uses its time in a known way.
//!
//! The tests need root, a kernel with BTF, and clang, which building needs, too. They are skipped if one is missing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "the program is another one here")]
mod following;
mod working;

use following::{Row, Watch, without_capabilities};
use helenus_needs::need;
use helenus_observe::{Options, StackOptions, ebpf_stacks_available};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use working::until_it_has_used;

fn all_that_is_needed() -> Result<(), String> {
    ebpf_stacks_available().map_err(|missing| format!("stacks cannot be sampled in the kernel: {missing}"))
}

/// The program while it runs.
struct Split {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Split {
    fn start(arguments: &[&str]) -> Split {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("split");
        let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/split.c");
        let built = Command::new(clang)
            .args(["-O1", "-fno-omit-frame-pointer", "-pthread", source, "-o"])
            .arg(&program)
            .status()
            .expect("clang");
        assert!(built.success());
        let mut child =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Split { child, _folder: folder }
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        // The process may have ended already, and only one of the two has written the file.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(PathBuf::from(format!("/tmp/perf-{}.map", self.child.id())));
    }
}

/// A sample with the frames of its stack and their kinds.
struct Sample {
    row: Row,
    frames: Vec<String>,
    kinds: String,
}

fn sample(program: &Split, cpu_time: Duration) -> Vec<Sample> {
    let stacks = StackOptions { stack_interval: Duration::from_millis(1), ..of_cpu_time() };
    let watch = Watch::start(
        &[("n", program.child.id())],
        &Options { stacks, ..Options::default() },
        // The only message is that this process is no JVM.
        "none",
    );
    until_it_has_used(program.child.id(), cpu_time);
    let ended = watch.end();
    let (captured, lost, reasons) = ended.source("stacks");
    assert!(lost <= captured / 10, "{lost} lost of {captured}: {reasons:?}");
    let stacks: BTreeMap<i64, Row> = ended.rows("stacks").into_iter().map(|row| (row.number("stack"), row)).collect();
    let samples = ended.rows("samples");
    assert_eq!(captured, i64::try_from(samples.len()).unwrap());
    let with_frames = samples.into_iter().map(|row| {
        let stack = &stacks[&row.number("stack")];
        let frames: Vec<String> = stack.text("frames").split(';').map(str::to_string).collect();
        let kinds = stack.text("kinds").to_string();
        assert_eq!(frames.len(), kinds.len());
        Sample { row, frames, kinds }
    });
    with_frames.collect()
}

/// The share of samples in the first of two functions.
#[track_caller]
fn assert_seven_tenths(samples: &[Sample], other: &str) {
    let count = |name: &str| samples.iter().filter(|sample| sample.frames.iter().any(|frame| frame == name)).count();
    let (seven, three) = (count("seven"), count(other));
    // One sample per millisecond of CPU time; a busy machine may lose some.
    assert!(seven + three > 1_300, "{seven} + {three}");
    let share = seven as f64 / (seven + three) as f64;
    assert!((0.6..0.8).contains(&share), "{share} of the samples, and 0.7 of the time");
    assert!(seven + three > samples.len() * 9 / 10, "{} samples, {seven} + {three}", samples.len());
}

fn of_cpu_time() -> StackOptions {
    StackOptions { stacks: "cpu".parse().unwrap(), ..StackOptions::default() }
}

#[test]
fn samples_are_where_the_time_went_in_the_process_and_in_the_kernel() {
    need!(all_that_is_needed());
    let program = Split::start(&[]);
    let samples = sample(&program, Duration::from_secs(2));
    assert_seven_tenths(&samples, "three");
    for sample in &samples {
        assert_eq!((sample.row.text("event"), sample.row.number("weight")), ("cpu", 1_000_000));
        assert_eq!((sample.row.text("thread"), sample.row.text("thread_group")), ("Worker-7", "Worker"));
    }
    let in_kernel = |sample: &&Sample| sample.frames.contains(&"three".to_string()) && sample.kinds.ends_with('k');
    let named = |sample: &&Sample| sample.frames.iter().any(|frame| frame.contains("getrandom"));
    let (all, named) =
        (samples.iter().filter(in_kernel).count(), samples.iter().filter(in_kernel).filter(named).count());
    assert!(all * 10 > samples.len() * 2 && named * 10 > all * 9, "{named} of {all} of {}", samples.len());
    // The outermost frames belong to the process.
    let upside_down = samples.iter().find(|sample| sample.kinds.trim_end_matches('k').contains('k'));
    assert!(upside_down.is_none());
}

#[test]
fn what_a_process_compiles_has_the_name_that_it_tells() {
    need!(all_that_is_needed());
    let program = Split::start(&["compiled"]);
    let samples = sample(&program, Duration::from_secs(2));
    assert_seven_tenths(&samples, "run_compiled");
    let compiled: Vec<&Sample> = samples
        .iter()
        .filter(|sample| sample.frames.last().is_some_and(|frame| frame == "example.Compiled::three"))
        .collect();
    assert!(compiled.len() * 10 > samples.len() * 2, "{} of {}", compiled.len(), samples.len());
    assert!(compiled.iter().all(|sample| sample.kinds.ends_with('j')));
}

#[test]
fn without_the_right_to_load_programs_the_recording_says_so_and_goes_on() {
    need!(all_that_is_needed());
    let program = Split::start(&[]);
    let options = Options { stacks: of_cpu_time(), ..Options::default() };
    let (reason, tables) = without_capabilities(program.child.id(), options, "stacks");
    assert!(reason.is_some_and(|reason| reason.contains("needs root")));
    assert!(!tables.iter().any(|table| table == "samples"), "{tables:?}");
}
