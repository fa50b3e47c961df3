//! A part of a table: a Parquet file, or a stream that is still being written, up to its last complete group.

use crate::private::Folder;
use crate::reader::{self, Place};
use crate::schema::Table;
use crate::{Error, TABLES, TableFacts, parquet, stream};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use arrow::array::RecordBatch;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file with rows of one table.
///
/// A part of a growing recording holds its file open, so that the rows stay readable after the recorder deletes the
/// file.
#[derive(Debug, Clone)]
pub struct Part {
    table: &'static Table,
    path: PathBuf,
    rows: Rows,
    /// The start of its segment; 0 without segments.
    segment_ns: i64,
}

#[derive(Debug, Clone)]
enum Rows {
    /// The open file; None if it is opened when it is read, because nobody deletes the files of a closed recording.
    Parquet(Option<Arc<File>>),
    /// Offset at which the complete groups end.
    Stream(Arc<File>, u64),
}

/// Parts of a recording that may grow, by table.
pub(crate) type Parts = BTreeMap<&'static str, Vec<Part>>;

impl Part {
    pub(crate) fn of_closed(table: &'static Table, path: PathBuf) -> Part {
        Part { table, path, rows: Rows::Parquet(None), segment_ns: 0 }
    }

    pub(crate) fn of_held(table: &'static Table, path: PathBuf, file: File) -> Part {
        Part { table, path, rows: Rows::Parquet(Some(Arc::new(file))), segment_ns: 0 }
    }

    pub(crate) fn in_segment(self, segment_ns: i64) -> Part {
        Part { segment_ns, ..self }
    }

    pub(crate) fn segment_ns(&self) -> i64 {
        self.segment_ns
    }

    /// The file, by its name in the recording.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path by which the Parquet file can be opened as long as this value lives; None for a stream.
    pub fn parquet(&self) -> Option<PathBuf> {
        match &self.rows {
            Rows::Parquet(None) => Some(self.path.clone()),
            Rows::Parquet(Some(file)) => Some(name_of(file)),
            Rows::Stream(..) => None,
        }
    }

    /// All rows, a batch at a time. Strings of a stream are dictionaries, which [`Table::plain`] resolves.
    pub fn batches(&self) -> Result<Batches, Error> {
        self.batches_of(None)
    }

    /// Like [`Part::batches`], but reads only some columns if the file stores columns separately.
    pub(crate) fn batches_of(&self, columns: Option<&[&str]>) -> Result<Batches, Error> {
        let damaged = |error: ::parquet::errors::ParquetError| Error::Damaged {
            path: self.path.clone(),
            reason: error.to_string(),
        };
        let from = match &self.rows {
            Rows::Stream(file, bytes) => From::Stream(Arc::clone(file), *bytes, Box::new(Place::begin(self.table)?)),
            Rows::Parquet(held) => {
                // Open the held file again: each reader needs a file offset of its own.
                let path = held.as_ref().map_or_else(|| self.path.clone(), |file| name_of(file));
                let file = File::open(path).map_err(Error::io("open", &self.path))?;
                let mut builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
                if let Some(columns) = columns {
                    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
                    builder = builder.with_projection(mask);
                }
                From::Parquet(Box::new(builder.build().map_err(damaged)?))
            }
        };
        Ok(Batches { path: self.path.clone(), from })
    }
}

/// The folder /proc/self/fd, with a name for each file that this process has open.
pub const HELD: &str = "/proc/self/fd";

fn name_of(file: &File) -> PathBuf {
    Path::new(HELD).join(file.as_raw_fd().to_string())
}

/// The rows of a part.
pub struct Batches {
    path: PathBuf,
    from: From,
}

enum From {
    Parquet(Box<ParquetRecordBatchReader>),
    Stream(Arc<File>, u64, Box<Place>),
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Batches").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.from {
            From::Stream(file, bytes, place) => reader::next(file, *bytes, place).map(Ok),
            From::Parquet(reader) => reader.next().map(|batch| {
                batch.map_err(|error| Error::Damaged { path: self.path.clone(), reason: error.to_string() })
            }),
        }
    }
}

/// Opens all parts in a folder of tables, closed or not, and counts the rows of each table. Each file is kept open.
pub(crate) fn held(folder: &Folder, parts: &mut Parts, facts: &mut BTreeMap<String, TableFacts>) -> Result<(), Error> {
    for table in TABLES {
        let Some(dataset) = folder.inner(table.name)? else { continue };
        // A stream may have become a Parquet file meanwhile, so the dataset is listed again.
        let (found, of_it) = match dataset_parts(&dataset, table) {
            Err(error) if error.is_not_found() => dataset_parts(&dataset, table)?,
            found => found?,
        };
        if of_it.rows > 0 {
            parts.entry(table.name).or_default().extend(found);
            let all = facts.entry(table.name.to_string()).or_default();
            all.rows = all.rows.saturating_add(of_it.rows);
            all.bytes = all.bytes.saturating_add(of_it.bytes);
        }
    }
    Ok(())
}

fn dataset_parts(dataset: &Folder, table: &'static Table) -> Result<(Vec<Part>, TableFacts), Error> {
    let (mut parts, mut facts) = (Vec::new(), TableFacts::default());
    let whole = dataset.stems(parquet::EXTENSION)?;
    for stem in &whole {
        let name = format!("{stem}.{}", parquet::EXTENSION);
        let (file, path) = (dataset.open_file(&name)?, dataset.path().join(name));
        let of_file = parquet::facts_of_file(&file, &path)?;
        facts.rows = facts.rows.saturating_add(of_file.rows);
        facts.bytes += of_file.bytes;
        parts.push(Part::of_held(table, path, file));
    }
    for stem in dataset.stems(stream::EXTENSION)?.iter().filter(|stem| !whole.contains(stem)) {
        let name = format!("{stem}.{}", stream::EXTENSION);
        let (file, path) = (dataset.open_file(&name)?, dataset.path().join(name));
        let (bytes, rows) = reader::whole(&file, &path)?;
        facts.rows = facts.rows.saturating_add(rows);
        facts.bytes += bytes;
        parts.push(Part { table, path, rows: Rows::Stream(Arc::new(file), bytes), segment_ns: 0 });
    }
    Ok((parts, facts))
}

impl Error {
    /// Whether a file or folder does not exist, for example because a recorder has just deleted or renamed it.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}
