//! The writer of a recording: any thread appends rows, which go into streams, which become Parquet at the end.

use crate::clock::cpu_time_of_this_thread_ns;
use crate::closing::Closing;
use crate::generated::rows::{Row, SourceReport};
use crate::limit::Limit;
use crate::manifest::{self, Loss, Manifest, State, TableFacts};
use crate::private::Folder;
use crate::stream::Stream;
use crate::{BatchBuilder, Clock, Error, TABLES, salvage};
use arrow::array::RecordBatch;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often rows are written from memory to the file: a kill loses at most the rows of this time.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
/// How often files are synced to the disk: a power failure loses at most the rows of this time.
const SYNC_EVERY: Duration = Duration::from_millis(800);
/// How long closing retries when the disk accepts no data, and the first and longest pause between two tries.
pub const CLOSE_FOR: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(3);
/// How often the recorder reports its own cost and losses.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Writes a recording. Clones write the same one.
///
/// Appending takes a lock for some tens of nanoseconds and never waits for the disk. Dropping the last clone without
/// [`Recorder::close`] leaves a recording that can be salvaged.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    threads: Mutex<Option<Threads>>,
    manifest: Mutex<Manifest>,
    /// A lock that is held while the recorder runs, so that nobody salvages the recording at the same time.
    _lock: File,
}

/// State shared by the appending threads and the writing thread.
pub(crate) struct Shared {
    pub(crate) folder: Folder,
    pub(crate) clock: Clock,
    tables: Vec<Mutex<Incoming>>,
    pub(crate) rows_lost: Vec<AtomicU64>,
    pub(crate) limit: Limit,
    rows_waiting: AtomicU64,
    bytes: AtomicU64,
    disk_error: Mutex<Option<String>>,
    /// The last error of the disk, which is reported for lost rows.
    pub(crate) last_error: Mutex<String>,
}

/// Rows of a table that wait for the next flush.
struct Incoming {
    rows: BatchBuilder,
    batches: Vec<RecordBatch>,
    total_rows: u64,
}

struct Threads {
    stop: Sender<()>,
    writer: JoinHandle<Vec<Option<Stream>>>,
}

/// The state of a recording that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Rows appended so far, by table; tables without rows are left out.
    pub rows: BTreeMap<&'static str, u64>,
    /// Rows that could not be kept because the disk accepted no data for too long.
    pub rows_lost: u64,
    /// Rows that wait in memory until the disk accepts them.
    pub rows_waiting: u64,
    /// Bytes of its streams that are on the disk or waiting for it.
    pub bytes: u64,
    /// Whether the recording has reached its size limit and drops rows.
    pub is_full: bool,
    /// The disk's last error, while it accepts no data.
    pub disk_error: Option<String>,
}

/// The state of a recording that can't be closed yet.
#[derive(Debug)]
pub struct Waiting<'a> {
    pub error: &'a Error,
    /// Rows that wait in memory, and will be lost if the cause does not end in time.
    pub rows: u64,
    /// Time left until closing gives up.
    pub left: Duration,
}

/// A recording that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub folder: PathBuf,
    pub tables: BTreeMap<String, TableFacts>,
    pub losses: Vec<Loss>,
}

impl Recorder {
    /// Begins a recording in a folder that does not exist yet or is empty.
    pub fn create(folder: &Path, mut manifest: Manifest) -> Result<Recorder, Error> {
        let folder = Folder::create(folder)?;
        let (path, pid) = (folder.path().to_path_buf(), manifest.writer_pid);
        manifest.state = State::Writing;
        let begin = || {
            let lock = salvage::lock(&folder)?.ok_or(Error::StillWriting { path, pid })?;
            manifest::make_reserve(&folder)?;
            manifest.write(&folder)?;
            Ok(lock)
        };
        let lock = begin().inspect_err(|error| {
            if !matches!(error, Error::StillWriting { .. }) {
                // Makes the name usable again. Leftover files do no harm.
                let _ = folder.names().and_then(|names| names.iter().try_for_each(|name| folder.remove(name)));
                let _ = std::fs::remove_dir(folder.path());
            }
        })?;
        let shared = Arc::new(Shared {
            folder,
            clock: manifest.clock(),
            tables: (0..TABLES.len()).map(|table| Mutex::new(Incoming::new(table))).collect(),
            rows_lost: TABLES.iter().map(|_| AtomicU64::new(0)).collect(),
            limit: Limit::none(),
            rows_waiting: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            disk_error: Mutex::new(None),
            last_error: Mutex::new(String::new()),
        });
        let threads = Threads::start(&shared)?;
        Ok(Recorder {
            inner: Arc::new(Inner {
                shared,
                threads: Mutex::new(Some(threads)),
                manifest: Mutex::new(manifest),
                _lock: lock,
            }),
        })
    }

    /// The clock of the recording; all its times are on it.
    pub fn clock(&self) -> Clock {
        self.inner.shared.clock
    }

    pub fn folder(&self) -> &Path {
        self.inner.shared.folder.path()
    }

    /// Limits the size of the recording while it is written, which is several times its size when closed. Beyond the
    /// limit, tables with a row per event get no more rows, and the dropped rows are counted.
    pub fn limit_size(&self, bytes: u64) {
        self.inner.shared.limit.set(bytes);
    }

    /// Adds a row.
    pub fn append<R: Row>(&self, row: R) {
        self.append_all([row]);
    }

    /// Adds rows under one lock.
    pub fn append_all<R: Row>(&self, rows: impl IntoIterator<Item = R>) {
        let mut rows = rows.into_iter();
        if self.inner.shared.limit.leaves_out(R::TABLE, || rows.by_ref().count()) {
            return;
        }
        let mut incoming = lock(&self.inner.shared.tables[R::TABLE]);
        for row in rows {
            row.append_to(&mut incoming.rows);
            incoming.total_rows += 1;
        }
    }

    /// Adds rows in the agent's encoding (see [`crate::decode_rows`]): all of them or, after an error, none.
    pub fn append_encoded(&self, table: u8, count: u32, bytes: &[u8]) -> Result<(), Error> {
        let batch = crate::decode_rows(usize::from(table), count, bytes)?;
        let mut incoming = lock(&self.inner.shared.tables[usize::from(table)]);
        incoming.total_rows += batch.num_rows() as u64;
        incoming.batches.push(batch);
        Ok(())
    }

    /// Changes the manifest, such as to name a node or a source.
    pub fn update_manifest(&self, change: impl FnOnce(&mut Manifest)) -> Result<(), Error> {
        let mut manifest = lock(&self.inner.manifest);
        change(&mut manifest);
        manifest.write(&self.inner.shared.folder)
    }

    pub fn health(&self) -> Health {
        let shared = &self.inner.shared;
        Health {
            rows: TABLES
                .iter()
                .zip(&shared.tables)
                .map(|(table, incoming)| (table.name, lock(incoming).total_rows))
                .filter(|(_, rows)| *rows > 0)
                .collect(),
            rows_lost: shared.rows_lost(),
            rows_waiting: shared.rows_waiting.load(Ordering::Relaxed),
            bytes: shared.bytes.load(Ordering::Relaxed),
            is_full: shared.limit.is_reached(),
            disk_error: lock(&shared.disk_error).clone(),
        }
    }

    /// Ends the recording: the last rows are written and every stream becomes a Parquet file. Sources must have ended
    /// before.
    ///
    /// Rows that the disk does not accept are retried for [`CLOSE_FOR`]. After that, the rows that wait in memory are
    /// lost, counted in the manifest and in the error, and the recording can be salvaged.
    pub fn close(&self) -> Result<Summary, Error> {
        self.close_within(CLOSE_FOR, &mut |_| {})
    }

    /// Like [`Recorder::close`], but retries for the given time, and reports each failed try to `failed`.
    pub fn close_within(&self, lasts: Duration, failed: &mut dyn FnMut(&Waiting<'_>)) -> Result<Summary, Error> {
        let shared = &self.inner.shared;
        let Some(threads) = lock(&self.inner.threads).take() else {
            return Err(Error::WriterGone(shared.folder.path().to_path_buf()));
        };
        let streams = threads.join().ok_or_else(|| Error::WriterGone(shared.folder.path().to_path_buf()))?;
        let mut closing = Closing::new(shared, streams);
        let mut manifest = lock(&self.inner.manifest);
        let until = Instant::now() + lasts;
        let mut pause = FIRST_PAUSE;
        while let Err(error) = closing.try_all(&mut manifest) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !error.is_passing() {
                closing.give_up(&mut manifest, error)?;
                break;
            }
            failed(&Waiting { error: &error, rows: closing.rows_pending(), left });
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(LAST_PAUSE);
        }
        manifest::remove_reserve(&shared.folder)?;
        let folder = shared.folder.path().to_path_buf();
        Ok(Summary { folder, tables: manifest.tables.clone(), losses: manifest.losses.clone() })
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("folder", &self.folder()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Some(streams) = lock(&self.threads).take().and_then(Threads::join) else { return };
        let closing = Closing::new(&self.shared, streams);
        if closing.rows_pending() + self.shared.rows_lost() > 0 {
            // There is nobody to return the error to when the value is dropped.
            let _ = closing.write_losses(&mut lock(&self.manifest));
        }
    }
}

impl Incoming {
    fn new(table: usize) -> Incoming {
        Incoming { rows: BatchBuilder::new(table), batches: Vec::new(), total_rows: 0 }
    }
}

impl Threads {
    fn start(shared: &Arc<Shared>) -> Result<Threads, Error> {
        let (stop, stopped) = channel();
        let (to_sync, files) = channel();
        let spawn = |name: &str| std::thread::Builder::new().name(name.to_string());
        let failed = Error::io("start the threads that write", shared.folder.path());
        let syncing = spawn("recorder-sync").spawn(move || sync(&files));
        let writing = syncing.and_then(|syncing| {
            let shared = Arc::clone(shared);
            spawn("recorder-write").spawn(move || {
                let streams = Writer::new(&shared, to_sync).run(&stopped);
                // The writer's end has closed the channel, which ends the other thread.
                let _ = syncing.join();
                streams
            })
        });
        Ok(Threads { stop, writer: writing.map_err(failed)? })
    }

    /// Ends both threads after a last flush. None if one has panicked.
    fn join(self) -> Option<Vec<Option<Stream>>> {
        drop(self.stop);
        self.writer.join().ok()
    }
}

/// Syncs files to the disk, in a thread apart from the writing one, because a sync on a busy disk can take seconds.
fn sync(files: &Receiver<Vec<Arc<File>>>) {
    while let Ok(mut latest) = files.recv() {
        while let Ok(newer) = files.try_recv() {
            latest = newer;
        }
        for file in latest {
            // Ignore an error of writing back here, because the next write returns it.
            let _ = file.sync_data();
        }
    }
}

/// The thread that writes rows from memory to the streams.
struct Writer<'a> {
    shared: &'a Shared,
    streams: Vec<Option<Stream>>,
    to_sync: Sender<Vec<Arc<File>>>,
    rows_reported: u64,
    lost_reported: u64,
    left_out_reported: u64,
}

impl<'a> Writer<'a> {
    fn new(shared: &'a Shared, to_sync: Sender<Vec<Arc<File>>>) -> Writer<'a> {
        let streams = TABLES.iter().map(|_| None).collect();
        Writer { shared, streams, to_sync, rows_reported: 0, lost_reported: 0, left_out_reported: 0 }
    }

    fn run(mut self, stopped: &Receiver<()>) -> Vec<Option<Stream>> {
        let mut synced = Instant::now();
        let mut reported = Instant::now();
        let mut cpu_ns = cpu_time_of_this_thread_ns();
        loop {
            let going_on = stopped.recv_timeout(FLUSH_EVERY) == Err(RecvTimeoutError::Timeout);
            if !going_on || reported.elapsed() >= REPORT_EVERY {
                let now_ns = cpu_time_of_this_thread_ns();
                self.report(reported.elapsed(), now_ns - cpu_ns);
                (reported, cpu_ns) = (Instant::now(), now_ns);
            }
            self.flush();
            if !going_on {
                return self.streams;
            }
            if synced.elapsed() >= SYNC_EVERY {
                synced = Instant::now();
                let files = self.streams.iter().flatten().filter_map(Stream::file).collect();
                // The receiver lives as long as this sender.
                let _ = self.to_sync.send(files);
            }
        }
    }

    fn flush(&mut self) {
        let mut failed = None;
        for table in 0..TABLES.len() {
            if let Err(error) = self.flush_table(table) {
                failed = Some(error.to_string());
            }
        }
        if let Some(error) = &failed {
            lock(&self.shared.last_error).clone_from(error);
        }
        *lock(&self.shared.disk_error) = failed;
        let pending = self.streams.iter().flatten().map(Stream::rows_pending).sum();
        self.shared.rows_waiting.store(pending, Ordering::Relaxed);
        let bytes = self.streams.iter().flatten().map(Stream::bytes).sum();
        self.shared.bytes.store(bytes, Ordering::Relaxed);
        self.shared.limit.has(bytes);
    }

    fn flush_table(&mut self, table: usize) -> Result<(), Error> {
        let (mut batches, rows, taken) = {
            let mut incoming = lock(&self.shared.tables[table]);
            let rows = incoming.rows.rows();
            (std::mem::take(&mut incoming.batches), rows, (rows > 0).then(|| incoming.rows.take()))
        };
        let mut failed = None;
        match taken.transpose() {
            Ok(taken) => batches.extend(taken),
            Err(error) => {
                self.shared.lose(table, rows);
                failed = Some(error.into());
            }
        }
        let others = self.streams.iter().enumerate().filter(|(other, _)| *other != table);
        let others_bytes = others.filter_map(|(_, stream)| Some(stream.as_ref()?.pending_bytes())).sum();
        for batch in &batches {
            let stream = match &mut self.streams[table] {
                Some(stream) => stream,
                none => none.insert(Stream::new(&TABLES[table])?),
            };
            if !stream.has_room(others_bytes) {
                // Flush early instead of dropping rows that come fast. Rows are lost only if the disk fails.
                failed = stream.flush(&self.shared.folder).err().or(failed);
            }
            match stream.append(batch, others_bytes) {
                Ok(true) => {}
                Ok(false) => self.shared.lose(table, batch.num_rows()),
                Err(error) => {
                    self.shared.lose(table, batch.num_rows());
                    failed = Some(error);
                }
            }
        }
        if let Some(stream) = &mut self.streams[table] {
            stream.flush(&self.shared.folder)?;
        }
        failed.map_or(Ok(()), Err)
    }

    fn report(&mut self, interval: Duration, cpu_ns: i64) {
        let rows: u64 = self.shared.tables.iter().map(|incoming| lock(incoming).total_rows).sum();
        let lost = self.shared.rows_lost();
        let left_out = self.shared.limit.rows_left_out();
        let reasons = [
            (lost > self.lost_reported).then_some("the disk takes nothing"),
            (left_out > self.left_out_reported).then_some("the recording has reached the size that it was given"),
        ];
        let report = SourceReport {
            time_ns: self.shared.clock.now_ns(),
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            source: "recorder",
            node: "",
            provider: "arrow-stream",
            captured: rows.saturating_sub(self.rows_reported) as i64,
            lost: (lost - self.lost_reported + left_out - self.left_out_reported) as i64,
            lost_reason: &reasons.into_iter().flatten().collect::<Vec<_>>().join(", "),
            cpu_ns: Some(cpu_ns),
        };
        (self.rows_reported, self.lost_reported, self.left_out_reported) = (rows, lost, left_out);
        let mut incoming = lock(&self.shared.tables[SourceReport::TABLE]);
        report.append_to(&mut incoming.rows);
        incoming.total_rows += 1;
    }
}

impl Shared {
    fn lose(&self, table: usize, rows: usize) {
        self.rows_lost[table].fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn rows_lost(&self) -> u64 {
        self.rows_lost.iter().map(|rows| rows.load(Ordering::Relaxed)).sum()
    }
}

/// After a panic in another thread that held the lock, all rows but the last are complete.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
