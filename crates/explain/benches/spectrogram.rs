//! How long the spectrogram of many system calls takes, and how much memory.
//!
//! `cargo bench --workspace --bench spectrogram`, or with a number of calls: `… -- 50000000`. With a folder as second
//! argument, the recording is kept there and reused.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod measured;

use helenus_explain::{Area, Engine, Of, Options, Report, Selection, Spectrogram, SpectrogramFilter, explain};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use measured::measured;
use std::path::{Path, PathBuf};
use std::time::Instant;

const S: i64 = 1_000_000_000;
const T0: i64 = 1_700_000_000 * S;
const SECONDS: i64 = 250;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let calls: i64 = given.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::TempDir::new().unwrap();
    let kept = given.iter().find(|argument| argument.parse::<i64>().is_err()).map(PathBuf::from);
    let path = kept.unwrap_or_else(|| folder.path().join("recording"));
    if !path.exists() {
        let started = Instant::now();
        record(&path, calls);
        println!("recorded {calls} calls in {:.1} s", started.elapsed().as_secs_f64());
    }
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let everything = (i64::MIN, i64::MAX);
    let filtered = SpectrogramFilter { file: vec!["*-Data.db".to_string()], ..SpectrogramFilter::default() };
    for run in 1..=3 {
        for (what, filter) in [("all calls", SpectrogramFilter::default()), ("by file", filtered.clone())] {
            let events = measured(&format!("run {run}: {what}"), || {
                Spectrogram::build(&engine, Of::Syscalls, &filter, everything, 50, 100).unwrap().events
            });
            assert!(events > 0);
        }
        let area = Area { from_ns: T0, to_ns: T0 + 100 * S, low_ns: 10_000_000, high_ns: i64::MAX };
        measured(&format!("run {run}: selection"), || {
            let selection = Selection::build(&engine, Of::Syscalls, &SpectrogramFilter::default(), area, 20).unwrap();
            selection.all.events as u64
        });
    }
    let explanation = explain(&engine, &Options::default()).unwrap();
    measured("report", || {
        let report = Report::build(&engine, &explanation).unwrap();
        let json = serde_json::to_string(&report.spectrogram).unwrap();
        println!("the report's spectrogram takes {:.2} MiB", json.len() as f64 / f64::from(1 << 20));
        report.spectrogram.unwrap().events as u64
    });
}

/// Calls of a node that reads: most are short, on sockets, pipes and 40 data files; now and then the disk is slow.
fn record(path: &Path, calls: i64) {
    const CALLS: [&str; 8] =
        ["futex", "epoll_wait", "read", "write", "pread64", "recvfrom", "sendto", "clock_nanosleep"];
    const GROUPS: [&str; 6] =
        ["epollEventLoopGroup", "ReadStage", "MutationStage", "CompactionExecutor", "GC Thread", "COMMIT-LOG-WRITER"];
    let files: Vec<String> =
        (0..40).map(|file| format!("/var/lib/cassandra/data/ks/t/nb-{file}-big-Data.db")).collect();
    let recorder = Recorder::create(path, Manifest::new("many calls", "bench")).unwrap();
    let mut seed = 1u64;
    for index in 0..calls {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (which, how) = ((seed >> 33) as usize, (seed >> 45) as i64);
        let call = CALLS[which % 8];
        let slow = if how % 1000 == 0 { 20_000 } else { 1 };
        let duration_ns = match call {
            "futex" | "epoll_wait" | "clock_nanosleep" => 1000 + how * 40,
            "pread64" => 2000 + how % 8000 * slow,
            _ => 400 + how % 3000,
        };
        let file = match call {
            "pread64" => files[which / 8 % 40].as_str(),
            "read" | "write" | "recvfrom" | "sendto" => "socket:127.0.0.1:9042->127.0.0.1:51234",
            "epoll_wait" => "epoll",
            _ => "",
        };
        recorder.append(rows::Syscall {
            start_ns: T0 + (i128::from(SECONDS * S) * i128::from(index) / i128::from(calls)) as i64,
            duration_ns,
            node: "127.0.0.1",
            tid: 1000 + which as i64 % 190,
            thread_group: GROUPS[which / 16 % 6],
            call,
            file,
            file_kind: "file",
            bytes: (call != "futex").then_some(how % 65_536),
            offset_bytes: None,
            error: None,
        });
        // The writer never has more than a few rows to catch up with.
        if index % 1_000_000 == 999_999 {
            std::thread::sleep(std::time::Duration::from_millis(400));
        }
    }
    let summary = recorder.close().unwrap();
    assert!(summary.losses.is_empty(), "{:?}", summary.losses);
}
