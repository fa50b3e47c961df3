//! A part of a table: a Parquet file, or a stream that is still being written, up to its last complete group.

use crate::checksum;
use crate::reader::{self, Place};
use crate::schema::Table;
use crate::{Error, TableFacts};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
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
    facts: TableFacts,
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
    /// A Parquet file. With `held` it stays readable when it is deleted; otherwise it is opened when it is read.
    pub(crate) fn of_parquet(table: &'static Table, path: PathBuf, facts: TableFacts, held: Option<File>) -> Part {
        Part { table, path, rows: Rows::Parquet(held.map(Arc::new)), facts, segment_ns: 0 }
    }

    /// A stream, up to `facts.bytes`.
    pub(crate) fn of_stream(table: &'static Table, path: PathBuf, facts: TableFacts, file: File) -> Part {
        Part { table, path, rows: Rows::Stream(Arc::new(file), facts.bytes), facts, segment_ns: 0 }
    }

    pub(crate) fn in_segment(self, segment_ns: i64) -> Part {
        Part { segment_ns, ..self }
    }

    pub(crate) fn segment_ns(&self) -> i64 {
        self.segment_ns
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// Rows and bytes, as its file says.
    pub(crate) fn facts(&self) -> TableFacts {
        self.facts
    }

    /// Counts rows as damaged.
    pub(crate) fn lose(&mut self, rows: u64) {
        self.facts.rows = self.facts.rows.saturating_sub(rows);
    }

    /// Compares all bytes with their checksums. Returns what is damaged.
    pub(crate) fn damage(&self) -> Option<Damage> {
        match &self.rows {
            Rows::Stream(file, bytes) => {
                let unread = reader::damage(file, *bytes, self.table)?;
                let why = format!("{} bytes of it are damaged", unread.bytes);
                Some(Damage { rows: unread.rows, why, leaves_rest: true })
            }
            Rows::Parquet(held) => {
                let check = |file: &File| Ok((checksum::is_whole(file)?, checksum::has_footer(file)?));
                let checked = match held {
                    Some(file) => check(file),
                    None => File::open(&self.path).and_then(|file| check(&file)),
                };
                let why = match checked {
                    Ok((Some(false), _)) => "its bytes do not match its checksum".to_string(),
                    Ok((None, false)) => "it does not end as a Parquet file does".to_string(),
                    Ok(_) => return None,
                    Err(error) => error.to_string(),
                };
                Some(Damage { rows: Some(self.facts.rows), why, leaves_rest: false })
            }
        }
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
                let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
                let mut builder =
                    ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).map_err(damaged)?;
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

/// The damaged rows of a part.
pub(crate) struct Damage {
    /// Number of rows that can't be read; None if it is unknown.
    pub(crate) rows: Option<u64>,
    pub(crate) why: String,
    /// Whether the other rows of the part can be read.
    pub(crate) leaves_rest: bool,
}

impl Error {
    /// Whether a file or folder does not exist, for example because a recorder has just deleted or renamed it.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}
