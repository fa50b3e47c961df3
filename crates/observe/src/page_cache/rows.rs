//! Makes rows from the sums that the program keeps.

use super::files::Files;
use super::records::{self, FileNumber, Sum};
use crate::ebpf::{self, NamedThreads, Output, text};
use helenus_recording::rows::PageCacheReads;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) struct Rows {
    /// Paths of files by the index of the process.
    files: Vec<Files>,
}

/// The key of one row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    process: u8,
    file: FileNumber,
    how: &'static str,
    thread_group: Rc<str>,
}

#[derive(Debug, Default)]
struct Total {
    faults: i64,
    bytes: i64,
}

impl Rows {
    pub(super) fn new(pids: &[u32]) -> Rows {
        Rows { files: pids.iter().map(|pid| Files::new(*pid)).collect() }
    }
}

impl ebpf::Rows for Rows {
    type Sum = Sum;

    fn sum(key: &[u8], value: &[u8]) -> Option<Sum> {
        records::sum(key, value)
    }

    fn append_sums(&mut self, sums: Vec<Sum>, interval_ns: i64, threads: &mut NamedThreads, to: &mut Output) {
        let mut totals: BTreeMap<RowKey, Total> = BTreeMap::new();
        for Sum { file, tid, process, how, thread, faults, bytes } in sums {
            let thread_group = threads.seen(process, tid, text(&thread)).group;
            let total = totals.entry(RowKey { process, file, how, thread_group }).or_default();
            total.faults += faults;
            total.bytes += bytes;
        }
        for (index, files) in self.files.iter_mut().enumerate() {
            let of_process = totals.keys().filter(|row| usize::from(row.process) == index);
            if of_process.clone().any(|row| files.path(&row.file).is_none()) {
                files.refresh();
            }
        }
        let time_ns = to.recorder.clock().now_ns();
        for (row, total) in &totals {
            let Some(files) = self.files.get(usize::from(row.process)) else { continue };
            to.count(row.process, 1);
            to.recorder.append(PageCacheReads {
                time_ns,
                interval_ns,
                node: to.node(row.process),
                thread_group: &row.thread_group,
                file: files.path(&row.file).as_deref().unwrap_or_default(),
                device: &row.file.device.to_string(),
                inode: row.file.inode.cast_signed(),
                how: row.how,
                faults: total.faults,
                bytes: total.bytes,
            });
        }
    }
}
