//! How long the flame graph of many samples takes, and how much memory.
//!
//! `cargo bench --workspace --bench flame`, or with a number of samples: `… -- 10000000`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod measured;

use helenus_explain::{Engine, Flame, FlameOptions};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use measured::measured;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const S: i64 = 1_000_000_000;
const T0: i64 = 1_700_000_000 * S;
const SECONDS: i64 = 600;
/// About as many distinct stacks as a busy node has in some minutes, and about as deep.
const STACKS: usize = 20_000;
const DEPTH: usize = 45;
const GROUPS: [&str; 8] = [
    "Native-Transport-Requests",
    "epollEventLoopGroup",
    "ReadStage",
    "MutationStage",
    "CompactionExecutor",
    "GC Thread",
    "C2 CompilerThread",
    "COMMIT-LOG-WRITER",
];

fn main() {
    let given = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let samples: i64 = given.unwrap_or(1_000_000);
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let started = Instant::now();
    record(&path, samples);
    println!("recorded {samples} samples in {:.1} s", started.elapsed().as_secs_f64());
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let all = FlameOptions { event: "cpu".into(), ..FlameOptions::default() };
    let one_group = FlameOptions { group: Some("ReadStage".into()), ..all.clone() };
    let half_a_minute = FlameOptions { start_ns: T0 + 60 * S, end_ns: T0 + 90 * S, ..all.clone() };
    let with_map = FlameOptions { times: true, ..all.clone() };
    for run in 1..=3 {
        for (what, options) in [
            ("all", &all),
            ("one thread group", &one_group),
            ("half a minute", &half_a_minute),
            ("all, with the map of samples", &with_map),
        ] {
            let drawn = measured(&format!("run {run}: {what}"), || {
                let flame = Flame::build(&engine, options).unwrap();
                let page = serde_json::to_string(&flame.tree()).unwrap();
                assert!(page.len() > 1000);
                flame.samples
            });
            assert!(drawn > 0);
        }
    }
}

/// Samples of a node that is busy: some stacks are hot, most are rare.
fn record(path: &Path, samples: i64) {
    let recorder = Recorder::create(path, Manifest::new("many samples", "bench")).unwrap();
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize
    };
    for stack in 0..STACKS {
        let mut frames = String::from("java.lang.Thread.run");
        // The first frames are shared by many stacks, the last ones by few.
        for depth in 1..DEPTH {
            let many = 1 + stack * depth / (STACKS / 40);
            write!(frames, ";org.apache.cassandra.part{}.Class{}.method{}", depth % 9, depth, many % (1 + depth * 8))
                .unwrap();
        }
        recorder.append(rows::Stack { time_ns: T0, stack: stack as i64, frames: &frames, kinds: &"j".repeat(DEPTH) });
    }
    for index in 0..samples {
        let (which, how) = (random(), random() % STACKS);
        let thread = which % 190;
        let group = GROUPS[thread % GROUPS.len()];
        recorder.append(rows::StackSample {
            time_ns: T0 + (i128::from(SECONDS * S) * i128::from(index) / i128::from(samples)) as i64,
            node: "127.0.0.1",
            event: "cpu",
            weight: 20_000_000,
            tid: 1000 + thread as i64,
            thread: &format!("{group}-{thread}"),
            thread_group: group,
            stack: (how * how / STACKS) as i64,
        });
        // The writer never has more than a few rows to catch up with.
        if index % 1_000_000 == 999_999 {
            std::thread::sleep(std::time::Duration::from_millis(400));
        }
    }
    let summary = recorder.close().unwrap();
    assert!(summary.losses.is_empty(), "{:?}", summary.losses);
}
