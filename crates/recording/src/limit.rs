//! A limit on the size of a recording. Once it is reached, tables with a row per event get no more rows, and the
//! dropped rows are counted. All other tables continue.

use crate::TABLES;
use crate::generated::rows::{OffCpu, Row, StackSample, Syscall, WireRequest};
use crate::manifest::Loss;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The tables that stop. Their size depends on what the node does; that of the others only on the time.
const HIGH_VOLUME: [usize; 4] = [StackSample::TABLE, Syscall::TABLE, OffCpu::TABLE, WireRequest::TABLE];

pub(crate) struct Limit {
    /// The limit in bytes on the disk; `u64::MAX` for none.
    bytes: AtomicU64,
    reached: AtomicBool,
    /// Dropped rows, by table.
    left_out: Vec<AtomicU64>,
}

impl Limit {
    pub(crate) fn none() -> Limit {
        Limit {
            bytes: AtomicU64::new(u64::MAX),
            reached: AtomicBool::new(false),
            left_out: TABLES.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets the current size of the recording in bytes. It does not shrink, so a reached limit stays reached.
    pub(crate) fn has(&self, bytes: u64) {
        if bytes >= self.bytes.load(Ordering::Relaxed) {
            self.reached.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    /// Whether rows of a table are dropped; if so, counts them.
    pub(crate) fn leaves_out(&self, table: usize, rows: impl FnOnce() -> usize) -> bool {
        let is_over = self.is_reached() && HIGH_VOLUME.contains(&table);
        if is_over {
            self.left_out[table].fetch_add(rows() as u64, Ordering::Relaxed);
        }
        is_over
    }

    pub(crate) fn rows_left_out(&self) -> u64 {
        self.left_out.iter().map(|rows| rows.load(Ordering::Relaxed)).sum()
    }

    /// The dropped rows, for the manifest.
    pub(crate) fn losses(&self) -> impl Iterator<Item = Loss> {
        let rows = self.left_out.iter().map(|rows| rows.load(Ordering::Relaxed));
        TABLES.iter().zip(rows).filter(|(_, rows)| *rows > 0).map(|(table, rows)| Loss {
            table: table.name.to_string(),
            rows: Some(rows),
            reason: "the recording had reached the size that it was given".to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::rows::{CpuSample, SourceReport};
    use crate::{Manifest, Recorder, Recording};
    use std::time::{Duration, Instant};

    #[test]
    fn what_does_not_fit_is_counted_and_the_rest_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(&place.path().join("r"), Manifest::new("t", "c")).unwrap();
        recorder.limit_size(1 << 20);
        let (mut appended, begun) = (0, Instant::now());
        while !recorder.health().is_full {
            assert!(begun.elapsed() < Duration::from_secs(60));
            recorder.append_all((0..10_000).map(|number| Syscall { start_ns: number, ..Syscall::default() }));
            appended += 10_000;
            // Pause as sources do. A thread that appends without a pause holds the table's lock most of the time, so
            // the writer can't take it.
            std::thread::sleep(Duration::from_millis(1));
        }
        recorder.append_all((0..77).map(|number| Syscall { start_ns: number, ..Syscall::default() }));
        recorder.append(CpuSample { time_ns: 7, ..CpuSample::default() });
        let summary = recorder.close().unwrap();
        let rows = |table: &str| summary.tables.get(table).map_or(0, |facts| facts.rows);
        assert_eq!(rows("cpus"), 1, "what grows with the time alone goes on");
        let [loss] = summary.losses.as_slice() else { panic!("{:?}", summary.losses) };
        assert_eq!((loss.table.as_str(), rows("syscalls") + loss.rows.unwrap()), ("syscalls", appended + 77));
        assert!(loss.reason.contains("size"), "{loss:?}");
        assert!(rows(TABLES[SourceReport::TABLE].name) > 0);
        Recording::open(&summary.folder).unwrap();
    }
}
