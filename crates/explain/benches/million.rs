//! How long explain and report take, and how much memory, for a recording of a million requests.
//!
//! `cargo bench --workspace --bench million`, or with a number of requests, and `wire` for requests of clients on the wire in place
//! of those of a load: `… -- 10000000 wire`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_explain::{Engine, Options, Report, explain};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use std::path::Path;
use std::time::Instant;

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
const T0: i64 = 1_700_000_000 * S;
const SECONDS: i64 = 90;
const NODE: &str = "127.0.0.1";

fn main() {
    // Cargo passes `--bench` to the benchmark.
    let requests: i64 = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("recording");
    record(&path, requests, std::env::args().any(|argument| argument == "wire"));
    for run in 1..=3 {
        // Writing 5 to clear_refs resets the process's peak memory.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = memory_mib("VmRSS");
        let started = Instant::now();
        let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
        let explanation = explain(&engine, &Options::default()).unwrap();
        let explained = started.elapsed();
        let report = Report::build(&engine, &explanation).unwrap();
        let json = serde_json::to_string(&report).unwrap();
        println!(
            "run {run}: {} requests: explain {:.2} s, report {:.2} s, JSON {:.1} MiB; memory {before} MiB before, {} MiB at most; top finding {}",
            explanation.requests,
            explained.as_secs_f64(),
            (started.elapsed() - explained).as_secs_f64(),
            json.len() as f64 / f64::from(1 << 20),
            memory_mib("VmHWM"),
            explanation.findings[0].finding,
        );
    }
}

fn memory_mib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A request of a client host on the wire: one of 24 statements, of which one is slow, and one of 10,000 partitions.
fn on_the_wire(recorder: &Recorder, statements: &[String], (due, end): (i64, i64), seed: u64) {
    let statement = (seed >> 33) % statements.len() as u64;
    let client = (seed >> 40) % 16;
    recorder.append(rows::WireRequest {
        start_ns: T0 + due,
        duration_ns: end - due + if statement == 0 { 10 * MS } else { 0 },
        node: NODE,
        client: ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"][client as usize % 4],
        client_port: 40_000 + client as i64,
        stream: (seed >> 50) as i64 % 1000,
        opcode: "EXECUTE",
        statement: &statements[statement as usize],
        keyspace: Some("shop"),
        consistency: Some("LOCAL_QUORUM"),
        token: Some(((seed >> 20) % 10_000).wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed()),
        to_replica: Some(!seed.is_multiple_of(3)),
        answer: "rows",
        rows_returned: Some((seed >> 30) as i64 % 100),
        request_bytes: 60 + (seed >> 35) as i64 % 100,
        response_bytes: if seed.is_multiple_of(1000) { 1 << 20 } else { 100 + (seed >> 25) as i64 % 10_000 },
        sending_ns: if seed.is_multiple_of(1000) { 5 * MS } else { 0 },
        ..rows::WireRequest::default()
    });
}

/// Nine steps of load, all of which the server keeps up with, or as many requests of clients; a pause of 30 ms every second, 200
/// threads and 20 pools.
fn record(path: &Path, requests: i64, is_wire: bool) {
    let recorder = Recorder::create(path, Manifest::new("a million", "bench")).unwrap();
    let statements: Vec<String> =
        (0..24).map(|table| format!("SELECT name, address FROM shop.customers_{table} WHERE id = ?")).collect();
    for step in 0..if is_wire { 0 } else { 9 } {
        recorder.append(rows::Mark {
            start_ns: T0 + step * 10 * S,
            end_ns: T0 + (step + 1) * 10 * S,
            kind: "phase",
            name: "step",
            rate_per_s: Some(requests as f64 / SECONDS as f64),
            end_rate_per_s: None,
            in_flight: None,
            measured: true,
            ..rows::Mark::default()
        });
    }
    let pause = |second: i64| (second * S + second * 37 % 900 * MS, 30 * MS);
    let mut seed = 1u64;
    for index in 0..requests {
        let due = SECONDS * S / requests * index;
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let took = 200_000 + ((seed >> 44) as i64) * 3;
        let (start, length) = pause(due / S);
        let begun = if start <= due && due < start + length { start + length } else { due };
        if is_wire {
            on_the_wire(&recorder, &statements, (due, begun + took), seed);
            continue;
        }
        recorder.append(rows::Request {
            intended_start_ns: T0 + due,
            start_ns: T0 + due,
            end_ns: T0 + begun + took,
            node: NODE,
            operation: "write",
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    for second in 0..SECONDS {
        let (start, length) = pause(second);
        recorder.append(rows::Pause {
            start_ns: T0 + start,
            duration_ns: length,
            node: NODE,
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
        for pool in 0..20 {
            recorder.append(rows::PoolSample {
                time_ns: T0 + second * S,
                node: NODE,
                pool: &format!("Pool{pool}"),
                kind: "request",
                active: 3,
                pending: 0,
                completed: second,
                blocked: 0,
                total_blocked: 0,
                max_size: Some(32),
            });
        }
        for tenth in 1..=10 {
            let time_ns = T0 + second * S + tenth * S / 10;
            for stall in 0..10 {
                recorder.append(rows::Stall {
                    start_ns: time_ns - stall * 9 * MS,
                    duration_ns: 2 * MS,
                    side: "load",
                    node: "",
                    kind: "watcher",
                    ..rows::Stall::default()
                });
            }
            for cpu in 0..2 {
                recorder.append(rows::CpuSample {
                    time_ns,
                    interval_ns: S / 10,
                    node: NODE,
                    cpu,
                    user_ns: (50 + tenth * 5) * MS,
                    system_ns: 0,
                    iowait_ns: 0,
                    irq_ns: 0,
                    softirq_ns: 0,
                    steal_ns: 0,
                    idle_ns: (50 - tenth * 5) * MS,
                });
            }
            for tid in 0..200 {
                recorder.append(rows::ThreadSample {
                    time_ns,
                    interval_ns: S / 10,
                    node: NODE,
                    process: if tid == 0 { "load" } else { "server" },
                    tid,
                    thread: &format!("Group{}-{tid}", tid % 50),
                    thread_group: &format!("Group{}", tid % 50),
                    cpu_ns: MS / 2,
                    run_queue_ns: Some(MS / 10),
                    migrations: Some(1),
                    voluntary_switches: Some(1),
                    involuntary_switches: Some(1),
                });
            }
        }
    }
    recorder.close().unwrap();
}
