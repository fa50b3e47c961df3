//! The thread that takes what was added up in the kernel, and makes rows of it.

use super::files::Files;
use super::records::{self, FileNumber, LOST_REASONS, Sum};
use super::{PROVIDER, SOURCE};
use crate::Watched;
use crate::ebpf::{Followed, NamedThreads, Programs, text};
use crate::names::ThreadNames;
use helenus_recording::rows::PageCacheReads;
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Reader {
    recorder: Recorder,
    followed: Vec<(Watched, ThreadNames)>,
    programs: Programs<{ LOST_REASONS.len() }>,
}

/// What the thread knows of those that it follows.
struct Known {
    followed: Vec<Followed>,
    threads: NamedThreads,
    files: Vec<Files>,
}

/// What is added up into one row.
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

impl Reader {
    /// Takes over programs that are attached.
    pub(super) fn new(
        recorder: Recorder,
        followed: Vec<(Watched, ThreadNames)>,
        programs: Programs<{ LOST_REASONS.len() }>,
    ) -> Reader {
        Reader { recorder, followed, programs }
    }

    pub(super) fn run(mut self, stopped: &Receiver<()>) {
        // Here, as names are shared without locks.
        let (watched, names): (Vec<Watched>, Vec<ThreadNames>) = std::mem::take(&mut self.followed).into_iter().unzip();
        let pids: Vec<u32> = watched.iter().map(|watched| watched.pid).collect();
        let mut known = Known {
            followed: watched.into_iter().map(Followed::new).collect(),
            files: pids.iter().map(|pid| Files::new(*pid)).collect(),
            threads: NamedThreads::new(pids, names),
        };
        let (mut looked, mut cpu_ns) = (Instant::now(), cpu_time_of_this_thread_ns());
        loop {
            let going_on = stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout);
            if !going_on {
                self.programs.detach();
            }
            let interval = looked.elapsed();
            looked = Instant::now();
            self.append(interval, &mut known);
            let now_ns = cpu_time_of_this_thread_ns();
            self.report(interval, &mut known, now_ns - std::mem::replace(&mut cpu_ns, now_ns));
            known.threads.tidy();
            if !going_on {
                return;
            }
        }
    }

    fn append(&mut self, interval: Duration, known: &mut Known) {
        let mut totals: BTreeMap<RowKey, Total> = BTreeMap::new();
        // What can't be read stays in the table, and comes with the next.
        let _ = self.programs.take_sums(|key, value| {
            if let Some(Sum { file, tid, process, how, thread, faults, bytes }) = records::sum(key, value) {
                let thread_group = known.threads.seen(process, tid, text(&thread)).group;
                let total = totals.entry(RowKey { process, file, how, thread_group }).or_default();
                total.faults += faults;
                total.bytes += bytes;
            }
        });
        for (index, files) in known.files.iter_mut().enumerate() {
            let of_process = totals.keys().filter(|row| usize::from(row.process) == index);
            if of_process.clone().any(|row| files.path(&row.file).is_none()) {
                files.look();
            }
        }
        let time_ns = self.recorder.clock().now_ns();
        let interval_ns = i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX);
        for (row, total) in &totals {
            let Some(followed) = known.followed.get_mut(usize::from(row.process)) else { continue };
            followed.captured += 1;
            let path = known.files.get(usize::from(row.process)).and_then(|files| files.path(&row.file));
            self.recorder.append(PageCacheReads {
                time_ns,
                interval_ns,
                node: &followed.watched.node,
                thread_group: &row.thread_group,
                file: path.as_deref().unwrap_or_default(),
                device: &row.file.device.to_string(),
                inode: row.file.inode.cast_signed(),
                how: row.how,
                faults: total.faults,
                bytes: total.bytes,
            });
        }
    }

    fn report(&mut self, interval: Duration, known: &mut Known, cpu_ns: i64) {
        self.programs.forget_ended(&mut known.followed);
        let names = (SOURCE, PROVIDER);
        self.programs.report(&self.recorder, names, &LOST_REASONS, interval, &mut known.followed, cpu_ns);
    }
}
