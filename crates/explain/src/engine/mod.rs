//! SQL over recordings. Every table of the schema exists, with or without rows.

mod batches;
mod files;
mod growing;
mod memory;
mod message;
mod once;
mod spill;
mod traffic;
mod window;

pub use batches::Batches;
pub(crate) use batches::{booleans, integers, numbers, texts};
pub use memory::memory_left_bytes;
pub use spill::limit_spill_files;
pub use traffic::Provider;

use crate::timeline::Interval;
use crate::{Error, query};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, lit};
use futures::TryStreamExt;
use helenus_recording::schema::{TABLES, Table};
use helenus_recording::{Loss, Manifest, Recording, Repeated, repeated};
use memory::Memory;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Memory that queries may use before they spill to disk or fail, if the process may use twice as much. In a process with a
/// limit of its own, queries may use half of the memory that is left.
const QUERY_MEMORY_BYTES: u64 = 1 << 30;

/// The most parts by time that a query is split into.
const MOST_PARTS: usize = 8;

/// Name of the column that tells recordings apart when several are open.
pub const RECORDING_COLUMN: &str = "recording";

/// One or several recordings as SQL tables.
///
/// Its calls block: inside an async runtime use a blocking thread.
pub struct Engine {
    context: SessionContext,
    runtime: Runtime,
    manifests: Vec<Manifest>,
    /// Also keeps the files of growing recordings open.
    recordings: Vec<Recording>,
    provider: Provider,
    memory: Memory,
    /// The window of rows to keep; None for whole recordings.
    window: Option<Interval>,
    /// Values that [`Engine::once`] computed from the recordings, by type.
    made: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("recordings", &self.manifests.len()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens recordings. Each table of the schema becomes a SQL table; one without files is empty, and a column that an
    /// older recording lacks is NULL. With several recordings each table is their union and has the column `recording`:
    /// the title, or the id where titles repeat. Rows that two recorders made of one machine at the same time appear
    /// once.
    pub fn open(recordings: &[Recording]) -> Result<Engine, Error> {
        Engine::open_part(recordings, None)
    }

    /// Like [`Engine::open`], but limited to the rows of a window (ns since the Unix epoch, its end excluded), as if
    /// nothing else had been recorded. Tables that apply to a whole recording, such as settings and stacks, stay
    /// complete.
    pub fn open_within(recordings: &[Recording], (start, end): (i64, i64)) -> Result<Engine, Error> {
        Engine::open_part(recordings, Some(Interval { start, end: end.max(start.saturating_add(1)) }))
    }

    fn open_part(recordings: &[Recording], window: Option<Interval>) -> Result<Engine, Error> {
        if recordings.is_empty() {
            return Err(Error::NoRecording);
        }
        let mut recordings = recordings.to_vec();
        // A damaged file would end every query that reads it.
        recordings.iter_mut().for_each(|one| one.verify(window.map(|window| (window.start, window.end))));
        let recordings = recordings.as_slice();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let config = SessionConfig::new()
            .with_target_partitions(cores)
            .with_information_schema(true)
            // Parquet pages of requests outside of the window are not even decoded.
            .set_bool("datafusion.execution.parquet.pushdown_filters", true);
        let memory = Memory::of_this_process();
        let most = if memory.is_limited { u64::MAX } else { QUERY_MEMORY_BYTES };
        let pool = most.min(memory.left_bytes / 2);
        let environment = RuntimeEnvBuilder::new()
            .with_max_temp_directory_size(spill::most_bytes())
            .with_memory_pool(Arc::new(FairSpillPool::new(usize::try_from(pool).unwrap_or(usize::MAX))))
            .build_arc()
            .map_err(message::of)?;
        let context = SessionContext::new_with_config_rt(config, environment);
        let names = names(recordings);
        let stores = files::Stores::of(&context, recordings)?;
        let repeated = repeated(recordings)?;
        for table in TABLES {
            let provider = match recordings {
                [one] => stores.provider(&context, 0, one, table)?,
                several => union(&context, &stores, several, &names, &repeated, table)?,
            };
            let provider = match window {
                Some(window) => window::cut(&context, provider, table, window)?,
                None => provider,
            };
            context.register_table(table.name, provider).map_err(message::of)?;
        }
        let manifests: Vec<Manifest> = recordings.iter().map(|recording| recording.manifest().clone()).collect();
        let provider = Provider::of(&manifests);
        let more: &[&str] = if recordings.len() > 1 { &[RECORDING_COLUMN] } else { &[] };
        runtime.block_on(traffic::register(&context, provider, &manifests, more))?;
        Ok(Engine {
            context,
            runtime,
            manifests,
            recordings: recordings.to_vec(),
            provider,
            memory,
            window,
            made: RefCell::default(),
        })
    }

    /// Manifests of the recordings, in the order in which they were opened.
    pub fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The files that can't be read and are skipped. They are among the losses of the manifests.
    pub fn skipped(&self) -> impl Iterator<Item = &Loss> {
        self.recordings.iter().flat_map(Recording::skipped)
    }

    /// The path with which the first recording was opened.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.recordings.first().map(Recording::folder)
    }

    /// The provider of the requests that are judged.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Runs one read-only statement and returns its rows. Statements that would write are refused.
    pub fn sql(&self, sql: &str) -> Result<Batches, Error> {
        let mut batches = Vec::new();
        let schema = self.each(sql, |batch| {
            batches.push(batch);
            Ok::<(), Error>(())
        })?;
        Ok(Batches::new(schema, batches))
    }

    /// Runs one read-only statement and passes on its rows as they come, for results larger than memory.
    pub fn each<E: From<Error>>(
        &self,
        sql: &str,
        mut take: impl FnMut(RecordBatch) -> Result<(), E>,
    ) -> Result<SchemaRef, E> {
        self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, only_reading()).await.map_err(message::of)?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let mut stream = frame.execute_stream().await.map_err(message::of)?;
            while let Some(batch) = stream.try_next().await.map_err(message::of)? {
                take(batch)?;
            }
            Ok(schema)
        })
    }

    /// Runs read-only statements in parallel, each in a thread, because one statement uses one CPU. Folds each
    /// statement's rows, and returns the results in the order of the statements.
    pub(crate) fn fold_on_all_cpus<T: Send>(
        &self,
        statements: &[String],
        begin: impl Fn() -> T + Sync,
        take: impl Fn(&mut T, RecordBatch) -> Result<(), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let context = &self.context;
        let run = |sql: &str| -> Result<T, Error> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let frame = context.sql_with_options(sql, only_reading()).await.map_err(message::of)?;
                let mut stream = frame.execute_stream().await.map_err(message::of)?;
                let mut made = begin();
                while let Some(batch) = stream.try_next().await.map_err(message::of)? {
                    take(&mut made, batch)?;
                }
                Ok(made)
            })
        };
        std::thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = statements.iter().map(|sql| scope.spawn(move || run(sql))).collect();
            let ended = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|_| Err(Error::Query("a query broke off; please report this".to_string())))
            };
            threads.into_iter().map(ended).collect()
        })
    }

    /// The result of `load`, which is computed once per type and then kept.
    pub(crate) fn once<T: 'static>(&self, load: impl FnOnce(&Engine) -> Result<T, Error>) -> Result<Rc<T>, Error> {
        let known = self.made.borrow().get(&TypeId::of::<T>()).cloned();
        if let Some(made) = known.and_then(|made| made.downcast().ok()) {
            return Ok(made);
        }
        let made = Rc::new(load(self)?);
        self.made.borrow_mut().insert(TypeId::of::<T>(), Rc::<T>::clone(&made));
        Ok(made)
    }

    /// Times of the first and the last recorded row, in ns since the Unix epoch.
    pub fn recorded_ns(&self) -> Result<(i64, i64), Error> {
        self.span().map(|span| (span.start, span.end))
    }

    /// The window that the engine is limited to; None for the whole recording.
    pub(crate) fn window(&self) -> Option<Interval> {
        self.window
    }

    /// The interval from the first recorded row to the last.
    pub(crate) fn span(&self) -> Result<Interval, Error> {
        if let Some(window) = self.window {
            return Ok(window);
        }
        let rows = self.sql(&query::TIME_SPAN.fill(&[]))?;
        let first = rows.integers_or_null("first_ns")?.into_iter().flatten().next();
        let last = rows.integers_or_null("last_ns")?.into_iter().flatten().next();
        let created = self.manifests.iter().map(|manifest| manifest.created_ns).min().unwrap_or_default();
        let start = first.unwrap_or(created);
        Ok(Interval { start, end: last.unwrap_or(start).max(start + 1) })
    }

    /// The approximate number of requests.
    pub(crate) fn request_rows(&self) -> Result<u64, Error> {
        if self.window.is_none() {
            return Ok(traffic::rows_of(self.provider.table(), &self.manifests));
        }
        let rows = self.sql(&format!("SELECT count(*) AS rows FROM {}", self.provider.table()))?;
        Ok(rows.integers("rows")?.first().map_or(0, |rows| u64::try_from(*rows).unwrap_or(0)))
    }

    /// Fails if this process has not enough memory for this many requests.
    pub(crate) fn can_hold(&self, requests: u64) -> Result<(), Error> {
        self.memory.holds(requests)
    }
}

/// Splits a window into parts, one for each CPU.
pub(crate) fn parts(window: Interval) -> impl Iterator<Item = Interval> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_PARTS);
    let cpus = i64::try_from(cpus).unwrap_or(1);
    let length = i128::from(window.end) - i128::from(window.start);
    let edge = move |part: i64| (i128::from(window.start) + length * i128::from(part) / i128::from(cpus)) as i64;
    (0..cpus).map(move |part| Interval { start: edge(part), end: edge(part + 1) }).filter(|part| part.start < part.end)
}

fn only_reading() -> SQLOptions {
    SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false)
}

fn union(
    context: &SessionContext,
    stores: &files::Stores,
    recordings: &[Recording],
    names: &[String],
    repeated: &[Vec<Repeated>],
    table: &'static Table,
) -> Result<Arc<dyn TableProvider>, Error> {
    let mut union: Option<DataFrame> = None;
    for (number, ((recording, name), repeated)) in recordings.iter().zip(names).zip(repeated).enumerate() {
        let provider = stores.provider(context, number, recording, table)?;
        let next = context
            .read_table(provider)
            .and_then(|frame| match once::others(repeated, table) {
                Some(others) => frame.filter(others),
                None => Ok(frame),
            })
            .and_then(|frame| frame.with_column(RECORDING_COLUMN, lit(name.as_str())))
            .map_err(message::of)?;
        union = Some(match union {
            None => next,
            Some(before) => before.union(next).map_err(message::of)?,
        });
    }
    union.map(DataFrame::into_view).ok_or(Error::NoRecording)
}

fn names(recordings: &[Recording]) -> Vec<String> {
    let title = |recording: &Recording| recording.manifest().title.clone();
    recordings
        .iter()
        .map(|recording| {
            let own = title(recording);
            let repeats = recordings.iter().filter(|other| title(other) == own).count() > 1;
            if repeats { recording.manifest().id.clone() } else { own }
        })
        .collect()
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Error {
        message::of(error)
    }
}
