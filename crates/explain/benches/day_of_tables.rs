//! How long `helenus tables` and `helenus advise` take, and how much memory, for a recording that covers a day of 200
//! tables. 50 tables are in constant use and have a row each second; the others have one row a minute.
//!
//! `cargo bench -p helenus-explain --bench day_of_tables`, or with the number of hours and of tables in use: `… -- 2
//! 200`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_explain::{Engine, advise, tables};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording, rows};
use std::path::Path;
use std::time::Instant;

const S: i64 = 1_000_000_000;
const T0: i64 = 1_700_000_000 * S;
const TABLES: i64 = 200;
const NODE: &str = "127.0.0.1";
/// Upper bound for the time of an answer, in seconds.
const BOUND_S: f64 = 2.0;

fn main() {
    // Cargo passes `--bench` to the benchmark.
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<i64>().ok());
    let (hours, in_work) = (numbers.next().unwrap_or(24), numbers.next().unwrap_or(50).min(TABLES));
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("recording");
    let started = Instant::now();
    record(&path, hours * 3600, in_work);
    println!(
        "{hours} hours of {TABLES} tables, {in_work} of them in work, recorded in {:.0} s",
        started.elapsed().as_secs_f64()
    );
    let mut worst: f64 = 0.0;
    for run in 1..=3 {
        // Writing 5 to clear_refs resets the process's peak memory.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let started = Instant::now();
        let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
        let shown = tables(&engine).unwrap();
        let took = started.elapsed().as_secs_f64();
        assert_eq!(shown.len(), TABLES as usize);
        let busy = shown.iter().filter(|table| (99.0..101.0).contains(&table.reads_per_s.unwrap())).count();
        assert_eq!(busy, in_work as usize, "{:?}", shown[0]);
        let advice = advise(&engine, None).unwrap();
        println!(
            "run {run}: tables {took:.2} s, then advise {:.2} s ({} pieces); {} MiB at most",
            started.elapsed().as_secs_f64() - took,
            advice.advice.len(),
            memory_mib("VmHWM"),
        );
        worst = worst.max(took);
    }
    assert!(hours < 24 || worst < BOUND_S, "{worst:.2} s is more than {BOUND_S} s");
}

fn memory_mib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// The rows that an agent records of a node: counters that grow each second, gauges that vary, and the rest.
fn record(path: &Path, seconds: i64, in_work: i64) {
    let mut manifest = Manifest::new("a day", "bench");
    manifest.nodes.push(NodeFacts { address: NODE.into(), cassandra: Some("5.0.9".into()), ..NodeFacts::default() });
    let recorder = Recorder::create(path, manifest).unwrap();
    let names: Vec<String> = (0..TABLES).map(|table| format!("table_{table}")).collect();
    for (fact, value) in [("partition_key", "id text"), ("clustering", ""), ("columns", "a int, b blob")] {
        for table_name in &names {
            let source = "system_schema";
            recorder.append(rows::TableFact {
                time_ns: T0,
                node: NODE,
                keyspace: "shop",
                table_name,
                fact,
                value,
                source,
            });
        }
    }
    for second in 0..=seconds {
        let time_ns = T0 + second * S;
        for source in ["tables", "pools", "pauses"] {
            recorder.append(rows::SourceReport {
                time_ns,
                interval_ns: S,
                source,
                node: NODE,
                provider: "agent",
                captured: TABLES,
                lost: 0,
                lost_reason: "",
                cpu_ns: Some(2_000_000),
            });
        }
        for (table, table_name) in (0..TABLES).zip(&names) {
            let is_at_rest = table >= in_work;
            if is_at_rest && second % 60 != table % 60 && second != 0 {
                continue;
            }
            let noise = if is_at_rest { 0 } else { (second * 7919 + table * 104_729) % 1000 };
            let done = if is_at_rest { 0 } else { second };
            recorder.append(rows::TableSample {
                time_ns: time_ns + table * 10_000,
                node: NODE,
                keyspace: "shop",
                table_name,
                reads: Some(done * 100 + noise / 100),
                writes: Some(done * 50 + noise / 50),
                read_total_ns: Some(done * 100 * 150_000 + noise * 1000),
                write_total_ns: Some(done * 50 * 30_000 + noise * 500),
                sstables: Some(8 + noise % 4),
                live_disk_bytes: Some(1_000_000_000 + second * 1000 + noise),
                total_disk_bytes: Some(1_000_000_000 + second * 1000 + noise),
                memtable_bytes: Some(noise * 4096),
                memtable_switches: Some(second / 60),
                pending_flushes: Some(0),
                pending_compactions: Some(noise % 3),
                bytes_flushed: Some(second / 60 * 1_000_000),
                bytes_compacted: Some(second / 60 * 3_000_000),
                sstables_per_read_p95: Some((noise % 5) as f64),
                tombstones_per_slice_p95: Some((noise % 30) as f64),
                live_cells_per_slice_p95: Some((noise % 100) as f64),
                droppable_ratio: Some(noise as f64 / 1e5),
                percent_repaired: Some(0.0),
                coordinator_reads: Some(second * 100),
                coordinator_read_mean_ns: Some(200_000.0 + noise as f64),
                coordinator_writes: Some(second * 50),
                coordinator_write_mean_ns: Some(90_000.0 + noise as f64),
                mean_partition_bytes: Some(2000),
                max_partition_bytes: Some(200_000),
                largest_sstable_bytes: Some(400_000_000),
                compression_ratio: Some(0.4),
                bloom_false_positives: Some(second / 30),
                bloom_false_ratio: Some(0.001),
                key_cache_hit_rate: Some(0.9),
                row_cache_hits: Some(0),
                row_cache_misses: Some(0),
                running_compactions: Some(0),
                compacting_bytes: Some(0),
                compacted_bytes: Some(0),
                ..rows::TableSample::default()
            });
        }
    }
    recorder.close().unwrap();
}
