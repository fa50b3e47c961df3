//! How long the answers of the workbench take for a window of a large recording.
//!
//! `cargo bench -p helenus-explain --bench window`, or with a number of requests: `… --bench window -- 50000000`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_explain::{Engine, Options, TrafficFilter, slowest_requests, statement_traffic, window};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use std::path::Path;
use std::time::Instant;

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
const T0: i64 = 1_700_000_000 * S;
const SECONDS: i64 = 600;
const OPERATIONS: [&str; 4] = ["read", "write", "scan", "delete"];

fn main() {
    // Cargo passes `--bench` to the benchmark.
    let requests: i64 = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(5_000_000);
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("recording");
    record(&path, requests);
    let recording = [Recording::open(&path).unwrap()];
    for (from, length) in [(100, 1), (300, 10), (200, 60), (0, SECONDS)] {
        let (from_ns, to_ns) = (T0 + from * S, T0 + (from + length) * S);
        let started = Instant::now();
        let mut before = 0.0;
        let mut lap = || {
            let now = started.elapsed().as_secs_f64();
            now - std::mem::replace(&mut before, now)
        };
        let engine = Engine::open_within(&recording, (from_ns, to_ns)).unwrap();
        let opened = lap();
        let statements = statement_traffic(&engine, &TrafficFilter::default()).unwrap();
        let listed = lap();
        let slowest = slowest_requests(&engine, &TrafficFilter::default(), 100).unwrap();
        let found = lap();
        let options = Options { window: Some((from_ns, to_ns)), ..Options::default() };
        let answer = window(&engine, &options, T0).unwrap();
        let explained = lap();
        println!(
            "window of {length} s, {} of {requests} requests: open {opened:.3} s, {} statements {listed:.3} s, {} slowest {found:.3} s, findings {explained:.3} s",
            answer.requests,
            statements.rows.len(),
            slowest.len(),
        );
    }
}

/// A steady load of four operations, and a pause of 30 ms every second.
fn record(path: &Path, requests: i64) {
    let recorder = Recorder::create(path, Manifest::new("large", "bench")).unwrap();
    recorder.append(rows::Mark {
        start_ns: T0,
        end_ns: T0 + SECONDS * S,
        kind: "phase",
        name: "steady",
        rate_per_s: Some(requests as f64 / SECONDS as f64),
        measured: true,
        ..rows::Mark::default()
    });
    let pause = |second: i64| (second * S + second * 37 % 900 * MS, 30 * MS);
    let mut seed = 1u64;
    for index in 0..requests {
        let due = (i128::from(SECONDS * S) * i128::from(index) / i128::from(requests)) as i64;
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (start, length) = pause(due / S);
        let begun = if start <= due && due < start + length { start + length } else { due };
        recorder.append(rows::Request {
            intended_start_ns: T0 + due,
            start_ns: T0 + due,
            end_ns: T0 + begun + 200_000 + ((seed >> 44) as i64) * 3,
            node: "127.0.0.1",
            operation: OPERATIONS[(seed >> 60) as usize % OPERATIONS.len()],
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    for second in 0..SECONDS {
        let (start, length) = pause(second);
        recorder.append(rows::Pause {
            start_ns: T0 + start,
            duration_ns: length,
            node: "127.0.0.1",
            kind: "gc",
            gc_id: Some(second),
            collector: Some("G1New"),
            cause: Some("G1 Evacuation Pause"),
            phase: None,
            heap_before_bytes: None,
            heap_after_bytes: None,
            time_to_safepoint_ns: None,
            provider: "jfr",
        });
    }
    let summary = recorder.close().unwrap();
    assert_eq!(recorder.health().rows_lost, 0, "rows were lost: {summary:?}");
}
