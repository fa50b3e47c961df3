//! The writer of a recording: rows in from any thread, streams out, Parquet at the end.

use crate::clock::cpu_time_of_this_thread_ns;
use crate::generated::rows::{Row, SourceReport};
use crate::limit::Limit;
use crate::manifest::{Loss, Manifest, State, TableFacts};
use crate::parquet::{self, Converted};
use crate::stream::{self, Appended, Stream};
use crate::{BatchBuilder, Clock, Error, TABLES, private, salvage};
use arrow::array::RecordBatch;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often rows go from memory to the file: what a kill can cost.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
/// How often files are forced to the disk: what a pulled plug can cost.
const SYNC_EVERY: Duration = Duration::from_millis(800);
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
    /// Held as long as somebody writes, so that nobody salvages at the same time.
    _lock: File,
}

/// What the appending threads and the writing thread share.
struct Shared {
    folder: PathBuf,
    clock: Clock,
    tables: Vec<Mutex<Incoming>>,
    rows_lost: Vec<AtomicU64>,
    limit: Limit,
    disk_error: Mutex<Option<String>>,
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

/// How a recording that is being written is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Rows appended so far, by table; tables without rows are left out.
    pub rows: BTreeMap<&'static str, u64>,
    /// Rows that could not be kept because the disk took nothing for too long.
    pub rows_lost: u64,
    /// Whether it has reached the size that it was given, and rows are left out.
    pub is_full: bool,
    /// What the disk said last, while it takes nothing.
    pub disk_error: Option<String>,
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
        if folder.is_file() || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Error::Exists(folder.to_path_buf()));
        }
        private::create_folder(folder)?;
        let lock = salvage::lock(folder)?
            .ok_or_else(|| Error::StillWriting { path: folder.to_path_buf(), pid: manifest.writer_pid })?;
        manifest.state = State::Writing;
        manifest.write(folder)?;
        let shared = Arc::new(Shared {
            folder: folder.to_path_buf(),
            clock: manifest.clock(),
            tables: (0..TABLES.len()).map(|table| Mutex::new(Incoming::new(table))).collect(),
            rows_lost: TABLES.iter().map(|_| AtomicU64::new(0)).collect(),
            limit: Limit::none(),
            disk_error: Mutex::new(None),
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

    /// The clock of the recording, on which all of its times are.
    pub fn clock(&self) -> Clock {
        self.inner.shared.clock
    }

    pub fn folder(&self) -> &Path {
        &self.inner.shared.folder
    }

    /// Bounds its size while it is written, which is several times what it has when closed: from there on tables with a row
    /// for each thing that happens get no more, and what they would have got is counted.
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

    /// Adds rows as the agent sends them (see [`crate::decode_rows`]); all of them or, with an error, none.
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
            rows_lost: shared.rows_lost.iter().map(|rows| rows.load(Ordering::Relaxed)).sum(),
            is_full: shared.limit.is_reached(),
            disk_error: lock(&shared.disk_error).clone(),
        }
    }

    /// Ends the recording: the last rows are written and every stream becomes a Parquet file. Sources must have ended
    /// before. After an error, a full disk for one, the recording can be salvaged.
    pub fn close(&self) -> Result<Summary, Error> {
        let shared = &self.inner.shared;
        let Some(threads) = lock(&self.inner.threads).take() else {
            return Err(Error::WriterGone(shared.folder.clone()));
        };
        let mut streams = threads.join().ok_or_else(|| Error::WriterGone(shared.folder.clone()))?;
        let mut manifest = lock(&self.inner.manifest);
        for stream in streams.iter_mut().flatten() {
            stream.flush().map_err(|error| shared.write_error(stream.path(), error))?;
        }
        let mut closed = BTreeMap::new();
        for (table, stream) in TABLES.iter().zip(&streams) {
            let Some(stream) = stream else { continue };
            let Converted { rows, .. } =
                parquet::convert(stream.path(), table).map_err(|error| shared.if_full(error, stream.path()))?;
            let file = stream.path().with_extension(parquet::EXTENSION);
            let bytes = std::fs::metadata(&file).map_or(0, |facts| facts.len());
            closed.insert(table.name.to_string(), TableFacts { rows, bytes });
        }
        manifest.tables = closed;
        for (table, rows) in TABLES.iter().zip(&shared.rows_lost) {
            let rows = rows.load(Ordering::Relaxed);
            if rows > 0 {
                let reason = "the disk was full or failing for too long".to_string();
                manifest.losses.push(Loss { table: table.name.to_string(), rows: Some(rows), reason });
            }
        }
        manifest.losses.extend(shared.limit.losses());
        manifest.state = State::Closed;
        manifest.closed_ns = Some(shared.clock.now_ns());
        manifest.write(&shared.folder).map_err(|error| shared.if_full(error, &shared.folder))?;
        Ok(Summary { folder: shared.folder.clone(), tables: manifest.tables.clone(), losses: manifest.losses.clone() })
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("folder", &self.inner.shared.folder).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(threads) = lock(&self.threads).take() {
            threads.join();
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
        let failed = Error::io("start the threads that write", &shared.folder);
        let syncing = spawn("recorder-sync").spawn(move || sync(&files));
        let writing = syncing.and_then(|syncing| {
            let shared = Arc::clone(shared);
            spawn("recorder-write").spawn(move || {
                let streams = Writer::new(&shared, to_sync).run(&stopped);
                // The writer's end has closed the channel, and with it the other thread.
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

/// Forces files to the disk, apart from the thread that writes, as a busy disk can hold a sync for seconds.
fn sync(files: &Receiver<Vec<Arc<File>>>) {
    while let Ok(mut latest) = files.recv() {
        while let Ok(newer) = files.try_recv() {
            latest = newer;
        }
        for file in latest {
            // What fails here failed in the kernel's write-back; the next write shows it.
            let _ = file.sync_data();
        }
    }
}

/// The thread that takes rows from memory to the streams.
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
                let files = self.streams.iter().flatten().map(Stream::file).collect();
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
        *lock(&self.shared.disk_error) = failed;
        self.shared.limit.has(self.streams.iter().flatten().map(Stream::bytes).sum());
    }

    fn flush_table(&mut self, table: usize) -> Result<(), Error> {
        let batches = {
            let mut incoming = lock(&self.shared.tables[table]);
            let mut batches = std::mem::take(&mut incoming.batches);
            if incoming.rows.rows() > 0 {
                batches.push(incoming.rows.take()?);
            }
            batches
        };
        let lose = |rows: usize| self.shared.rows_lost[table].fetch_add(rows as u64, Ordering::Relaxed);
        let total_rows = || batches.iter().map(RecordBatch::num_rows).sum();
        if self.streams[table].is_none() {
            if batches.is_empty() {
                return Ok(());
            }
            match self.create_stream(table) {
                Ok(stream) => self.streams[table] = Some(stream),
                Err(error) => {
                    lose(total_rows());
                    return Err(error);
                }
            }
        }
        let Some(stream) = &mut self.streams[table] else {
            return Ok(());
        };
        for batch in &batches {
            match stream.append(batch) {
                Ok(Appended::Accepted) => {}
                Ok(Appended::Lost) => {
                    lose(batch.num_rows());
                }
                Err(error) => {
                    lose(batch.num_rows());
                    return Err(error.into());
                }
            }
        }
        stream.flush().map_err(|error| self.shared.write_error(stream.path(), error))
    }

    fn create_stream(&self, table: usize) -> Result<Stream, Error> {
        let folder = self.shared.folder.join(TABLES[table].name);
        private::create_folder(&folder)?;
        Stream::create(&folder.join("part-0").with_extension(stream::EXTENSION), &TABLES[table])
    }

    fn report(&mut self, interval: Duration, cpu_ns: i64) {
        let rows: u64 = self.shared.tables.iter().map(|incoming| lock(incoming).total_rows).sum();
        let lost: u64 = self.shared.rows_lost.iter().map(|rows| rows.load(Ordering::Relaxed)).sum();
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
    fn write_error(&self, path: &Path, error: std::io::Error) -> Error {
        self.if_full(Error::io("write", path)(error), path)
    }

    /// The error that says what to do, when the disk is full.
    fn if_full(&self, error: Error, path: &Path) -> Error {
        salvage::if_full(error, path, &self.folder)
    }
}

/// A full disk, however deep the libraries have wrapped it.
pub(crate) fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let full = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<std::io::Error>().is_some_and(|io| full(io.kind())) {
            return true;
        }
        next = error.source();
    }
    // parquet keeps only the text of an error from below.
    error.to_string().contains("No space left on device")
}

/// A panic elsewhere while the lock was held leaves rows that are whole but for the last.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
