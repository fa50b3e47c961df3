//! Measures how fast the CPUs are during another measurement: one piece of work runs repeatedly, and its CPU time is
//! measured. Another guest of the host can slow down a shared core or its caches without steal time; this measurement
//! shows it. So a slower machine can be told from a worse valve.

use helenus_recording::cpu_time_of_this_thread_ns;
use lz4_flex::block::DecompressError;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval between two runs of the work, which takes about half a millisecond: 1 % of one CPU.
const EVERY: Duration = Duration::from_millis(50);
const TIMES: usize = 8;
/// The unpacked data fits into the second-level cache.
const BYTES: usize = 64 * 1024;

/// Compressed like chunks of SSTables, because decompression is a large part of the cost of reads.
pub struct Yardstick {
    packed: Vec<u8>,
}

/// The speed of the CPUs at one time.
pub struct Reading {
    pub at_ns: i64,
    /// How many times the work could be done in a second.
    pub per_s: f64,
}

impl Yardstick {
    pub fn new() -> Yardstick {
        let mut random = StdRng::seed_from_u64(1);
        let words: Vec<[u8; 12]> = (0..256).map(|_| random.random()).collect();
        let plain: Vec<u8> = (0..BYTES / 12).flat_map(|_| words[random.random_range(0..words.len())]).collect();
        Yardstick { packed: lz4_flex::compress(&plain) }
    }

    /// Takes readings until `ended` is set.
    pub fn read(&self, now_ns: impl Fn() -> i64, ended: &AtomicBool) -> Result<Vec<Reading>, DecompressError> {
        let mut plain = vec![0; BYTES];
        let mut readings = Vec::new();
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(EVERY);
            let before_ns = cpu_time_of_this_thread_ns();
            for _ in 0..TIMES {
                black_box(lz4_flex::decompress_into(black_box(&self.packed), &mut plain)?);
            }
            let took_ns = (cpu_time_of_this_thread_ns() - before_ns).max(1);
            readings.push(Reading { at_ns: now_ns(), per_s: TIMES as f64 * 1e9 / took_ns as f64 });
        }
        Ok(readings)
    }
}

/// The mean speed during a stretch of time.
pub fn mean_per_s(readings: &[Reading], stretch: Range<i64>) -> f64 {
    let within = readings.iter().filter(|reading| stretch.contains(&reading.at_ns));
    let (count, sum) = within.fold((0, 0.0), |(count, sum), reading| (count + 1, sum + reading.per_s));
    sum / f64::from(count)
}
