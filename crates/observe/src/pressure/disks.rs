//! I/O of the disks, from /proc/diskstats.

use super::Sample;
use helenus_cassandra::foreign::read_proc;
use helenus_recording::rows::DiskSample;
use std::collections::HashMap;
use std::path::Path;

/// The unit of /proc/diskstats in bytes, whatever the sector size of the disk.
const SECTOR_BYTES: i64 = 512;
const NS_PER_MS: i64 = 1_000_000;

/// Counters since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    reads: i64,
    read_bytes: i64,
    read_ns: i64,
    writes: i64,
    written_bytes: i64,
    write_ns: i64,
    busy_ns: i64,
}

#[derive(Debug)]
pub(super) struct Disks {
    last: HashMap<String, Counts>,
}

impl Disks {
    pub(super) fn new() -> Disks {
        Disks { last: read() }
    }

    pub(super) fn sample(&mut self, sample: &Sample<'_>) -> i64 {
        let now = read();
        let mut rows = 0;
        for (device, counts) in &now {
            let Some(before) = self.last.get(device).filter(|before| *before != counts) else { continue };
            let since = |of: fn(&Counts) -> i64| (of(counts) - of(before)).max(0);
            rows += 1;
            sample.recorder.append(DiskSample {
                time_ns: sample.time_ns,
                interval_ns: sample.interval_ns,
                node: sample.node,
                device,
                reads: since(|counts| counts.reads),
                read_bytes: since(|counts| counts.read_bytes),
                read_ns: since(|counts| counts.read_ns),
                writes: since(|counts| counts.writes),
                written_bytes: since(|counts| counts.written_bytes),
                write_ns: since(|counts| counts.write_ns),
                busy_ns: since(|counts| counts.busy_ns),
            });
        }
        self.last = now;
        rows
    }
}

fn read() -> HashMap<String, Counts> {
    let text = read_proc("/proc/diskstats").unwrap_or_default();
    text.lines().filter_map(parse).filter(|(device, _)| is_disk(device)).collect()
}

fn is_disk(device: &str) -> bool {
    let is_made_of_memory = ["loop", "ram", "zram"].iter().any(|prefix| device.starts_with(prefix));
    // Partitions have no folder in /sys/block, so they are skipped.
    !is_made_of_memory && Path::new("/sys/block").join(device.replace('/', "!")).exists()
}

/// The fields are major and minor number, name, and the counts of Documentation/admin-guide/iostats.rst.
fn parse(line: &str) -> Option<(String, Counts)> {
    let mut fields = line.split_ascii_whitespace().skip(2);
    let device = fields.next()?.to_string();
    let numbers: Vec<i64> = fields.map_while(|field| field.parse().ok()).collect();
    let of = |index: usize| numbers.get(index).copied();
    // Kernels before 5.5 don't count flushes.
    let (flushes, flush_ms) = (of(15).unwrap_or(0), of(16).unwrap_or(0));
    let counts = Counts {
        reads: of(0)?,
        read_bytes: of(2)?.saturating_mul(SECTOR_BYTES),
        read_ns: of(3)?.saturating_mul(NS_PER_MS),
        writes: of(4)?.saturating_add(flushes),
        written_bytes: of(6)?.saturating_mul(SECTOR_BYTES),
        write_ns: of(7)?.saturating_add(flush_ms).saturating_mul(NS_PER_MS),
        busy_ns: of(9)?.saturating_mul(NS_PER_MS),
    };
    Some((device, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_with_and_without_flushes() {
        let line = " 259 0 nvme0n1 10 1 16 30 20 2 32 60 0 70 90 0 0 0 0 5 6";
        let (device, counts) = parse(line).unwrap();
        assert_eq!((device.as_str(), counts.reads, counts.read_bytes), ("nvme0n1", 10, 16 * 512));
        assert_eq!((counts.writes, counts.write_ns, counts.busy_ns), (25, 66_000_000, 70_000_000));
        assert_eq!(parse(" 8 0 sda 10 1 16 30 20 2 32 60 0 70 90").unwrap().1.writes, 20);
        assert_eq!(parse(" 8 0 sda 10"), None);
    }
}
