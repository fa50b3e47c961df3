//! Real files with some bytes changed. No change may make the reader panic, hang, use much memory, or report more
//! samples than it wrote. The changes are the same in each run.

use crate::formats::{gzip, pprof};
use crate::memory::most_held;
use crate::profiles::{PROFILES, fixture, profile};
use crate::{JDK, PERF, PROFILER, options};
use helenus_observe::{ImportFormat, ImportOptions, TimeAlignment, import};
use helenus_recording::{Manifest, Recorder};

/// SplitMix64, by Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Bytes that are special in the formats: ends of numbers, lines and frames, the largest and the smallest byte.
const TELLING: &[u8] = b"\x00\x01\x7f\x80\xff\n\t ;:()[]#-.9";

/// Changes some bytes. With `in_place` no byte moves, for formats that contain offsets.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random, in_place: bool) {
    for _ in 0..=random.below(if in_place { 2 } else { 6 }) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(64)).min(bytes.len());
        match random.below(if in_place { 4 } else { 7 }) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = TELLING[random.below(TELLING.len())],
            2 => bytes[at..end].fill(TELLING[random.below(TELLING.len())]),
            3 => {
                let to = random.below(bytes.len() - (end - at) + 1);
                bytes.copy_within(at..end, to);
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes.truncate(bytes.len() - random.below(bytes.len() / 4 + 1)),
        }
    }
}

fn survives(format: ImportFormat, files: &[Vec<u8>], times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
    let rows = || recorder.health().rows.get("samples").copied().unwrap_or_default();
    let mut random = Random(33);
    let mut taken = 0;
    for file in files {
        for number in 0..times {
            let mut bytes = file.clone();
            mutate(&mut bytes, &mut random, format == ImportFormat::Jfr && number % 4 != 3);
            let asked = [None, Some(format)][number % 2];
            let place =
                [TimeAlignment::EndsAt(1), TimeAlignment::BeginsAt(i64::MAX - 5), TimeAlignment::ThisBoot][number % 3];
            let before = rows();
            let options = ImportOptions { format: asked, place, ..options() };
            let (read, most) = most_held(|| import(&recorder, &bytes[..], &options));
            assert!(most < (96 << 20) + 64 * bytes.len(), "{} bytes took {most}", bytes.len());
            if let Ok(imported) = read {
                assert_eq!(imported.samples, rows() - before, "what is told is what is written");
                taken += 1;
            }
        }
    }
    // Most mutated files must be imported in part: files that are rejected at their first byte would test nothing.
    assert!(taken * 8 > files.len() * times, "{taken} of {} were taken", files.len() * times);
    drop(recorder);
}

fn profiles(format: &str) -> Vec<Vec<u8>> {
    PROFILES.iter().filter(|name| name.ends_with(format)).map(|name| profile(name)).collect()
}

#[test]
fn jfr_files() {
    let mut files = profiles(".jfr.gz");
    files.extend([JDK.to_vec(), PROFILER.to_vec(), [PROFILER, PROFILER].concat()]);
    survives(ImportFormat::Jfr, &files, 12);
}

#[test]
fn what_perf_prints() {
    let mut files = profiles(".txt");
    files.push(PERF.as_bytes().to_vec());
    survives(ImportFormat::Perf, &files, 60);
}

#[test]
fn what_bpftrace_and_bcc_print() {
    let bpftrace = "@[\n    vfs_read+1\n    do_syscall_64+20\n, \n    read+20\n, java, 4711]: 56\n".repeat(20);
    survives(ImportFormat::Bpftrace, &[bpftrace.into_bytes()], 200);
    let bcc = "    vfs_read\n    entry_SYSCALL_64\n    --\n    read\n    -                java (25036)\n        4\n\n"
        .repeat(20);
    survives(ImportFormat::Bcc, &[bcc.into_bytes()], 200);
}

#[test]
fn profiles_of_pprof() {
    survives(ImportFormat::Pprof, &[pprof()], 300);
}

#[test]
fn compressed_files() {
    // In many parts, so that a change leaves the parts before it whole.
    let in_parts = |file: &Vec<u8>| file.split_inclusive(|byte| *byte == b'\n').flat_map(gzip).collect();
    let files: Vec<Vec<u8>> = profiles(".folded").iter().map(in_parts).collect();
    survives(ImportFormat::Folded, &files, 60);
}

#[test]
fn folded_stacks() {
    let mut files = profiles(".folded");
    files.push(b"main;a.b.C.run;d 12\nother;x 3.5\n[t tid=4];y 5e3\n".to_vec());
    files.push(fixture("profiles/sums.tsv"));
    survives(ImportFormat::Folded, &files, 100);
}
