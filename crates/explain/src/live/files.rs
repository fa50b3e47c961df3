//! Reads rows about file I/O: summaries of system calls, and reads from disks into the page cache.

use super::answers::LiveFile;
use super::bin::FileTraffic;
use super::columns::{Integers, Texts};
use super::names::Numbered;
use super::{Live, LiveWindow};
use arrow::record_batch::RecordBatch;
use std::collections::BTreeMap;

impl Live {
    pub(super) fn take_syscall_summary(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (time, interval) = (column("time_ns"), column("interval_ns"));
        let (count, total, bytes) = (column("count"), column("total_ns"), column("bytes"));
        let (call, kind, file) = (Texts::of(rows, "call"), Texts::of(rows, "file_kind"), Texts::of(rows, "file"));
        let mut files = Numbered::new(&file);
        let Live { bins, names, .. } = self;
        for row in (0..rows.num_rows()).filter(|row| kind.get(*row) == "file") {
            let place = bins.number_of(time.or_zero(row).saturating_sub(interval.or_zero(row) / 2));
            let oldest = bins.oldest_with(place);
            let Some(bin) = bins.at(place) else { continue };
            let traffic = bin.files.entry(files.number(row, &mut names.files, place, oldest));
            match call.get(row) {
                "read" | "pread64" | "readv" | "preadv" | "preadv2" => {
                    count.add(row, &mut traffic.reads);
                    bytes.add(row, &mut traffic.read_bytes);
                }
                "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => {
                    count.add(row, &mut traffic.writes);
                    bytes.add(row, &mut traffic.written_bytes);
                }
                _ => traffic.others += count.or_zero(row),
            }
            total.add(row, &mut traffic.total_ns);
        }
    }

    pub(super) fn take_page_cache(&mut self, rows: &RecordBatch) {
        let column = |name| Integers::of(rows, name);
        let (time, interval) = (column("time_ns"), column("interval_ns"));
        let (faults, bytes) = (column("faults"), column("bytes"));
        let file = Texts::of(rows, "file");
        let mut files = Numbered::new(&file);
        let Live { bins, names, .. } = self;
        for row in 0..rows.num_rows() {
            let place = bins.number_of(time.or_zero(row).saturating_sub(interval.or_zero(row) / 2));
            let oldest = bins.oldest_with(place);
            let Some(bin) = bins.at(place) else { continue };
            let traffic = bin.files.entry(files.number(row, &mut names.files, place, oldest));
            faults.add(row, &mut traffic.faults);
            bytes.add(row, &mut traffic.from_disk_bytes);
        }
    }
}

impl Live {
    /// Files that were read or written, those with the most time in calls first.
    pub fn files(&self, window: LiveWindow) -> Vec<LiveFile> {
        let mut sums: BTreeMap<u16, FileTraffic> = BTreeMap::new();
        for (number, traffic) in self.within(window).flat_map(|(_, bin)| bin.files.iter()) {
            let sum = sums.entry(*number).or_default();
            let both = [
                (&mut sum.reads, traffic.reads),
                (&mut sum.read_bytes, traffic.read_bytes),
                (&mut sum.writes, traffic.writes),
                (&mut sum.written_bytes, traffic.written_bytes),
                (&mut sum.others, traffic.others),
                (&mut sum.total_ns, traffic.total_ns),
                (&mut sum.from_disk_bytes, traffic.from_disk_bytes),
                (&mut sum.faults, traffic.faults),
            ];
            both.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
        let covered_s = self.seconds(window);
        let per_s = |count: i64| count as f64 / covered_s;
        let named = sums.into_iter().map(|(number, sum)| LiveFile {
            file: self.names.files.name(number).to_string(),
            reads_per_s: per_s(sum.reads),
            read_bytes_per_s: per_s(sum.read_bytes),
            writes_per_s: per_s(sum.writes),
            written_bytes_per_s: per_s(sum.written_bytes),
            others_per_s: per_s(sum.others),
            ms_per_s: per_s(sum.total_ns) / 1e6,
            from_disk_bytes_per_s: per_s(sum.from_disk_bytes),
            major_faults_per_s: per_s(sum.faults),
        });
        let mut files: Vec<LiveFile> = named.collect();
        let moved = |file: &LiveFile| file.read_bytes_per_s + file.written_bytes_per_s + file.from_disk_bytes_per_s;
        files.sort_by(|a, b| {
            b.ms_per_s.total_cmp(&a.ms_per_s).then(moved(b).total_cmp(&moved(a))).then_with(|| a.file.cmp(&b.file))
        });
        files
    }
}
