//! Follows a growing recording: returns the rows that are new since the last call, each of them once.

use crate::kept::{self, SEGMENTS};
use crate::manifest::{Manifest, State};
use crate::part::{Batches, Part};
use crate::private::Folder;
use crate::reader::{self, Place};
use crate::schema::Table;
use crate::stream::{EXTENSION, PART};
use crate::{Error, parquet, salvage};
use arrow::array::RecordBatch;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Approximate memory for the rows that a call returns.
const MOST_BYTES: usize = 32 << 20;

/// Reads rows that are appended to a recording, across its segments. Writes nothing.
///
/// Files are kept open, so that no row is missed when a stream becomes Parquet or a segment is deleted after it was
/// opened.
#[derive(Debug)]
pub struct Tail {
    folder: Folder,
    is_kept: bool,
    since_ns: i64,
    cursors: BTreeMap<&'static str, Cursor>,
    /// Whether each segment is closed, as its manifest said when it was read last.
    closed: BTreeMap<String, (Stamp, bool)>,
    missed: u64,
}

/// Inode, time of change in ns, and size of a manifest: it is read again only if it has changed, because each table looks
/// at it several times a second.
type Stamp = (u64, i64, u64);

/// How far a table has been read.
#[derive(Debug, Default)]
struct Cursor {
    /// Segments that are being read; None for one that has no file of the table yet.
    open: BTreeMap<String, Option<Reading>>,
    finished: BTreeSet<String>,
}

/// A segment's name, its folder, and whether it is closed; None if it was deleted.
type Segment = (String, Option<(Folder, bool)>);

enum Reading {
    Stream(File, Box<Place>),
    Parquet(Batches),
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Reading::Stream(..) => "Stream",
            Reading::Parquet(..) => "Parquet",
        })
    }
}

impl Tail {
    /// Begins with the segment that holds `since_ns`, in ns since the Unix epoch; 0 for all rows. A recording without
    /// segments is read from its beginning.
    pub fn open(path: &Path, since_ns: i64) -> Result<Tail, Error> {
        let (folder, manifest) = Manifest::read(path)?;
        let is_kept = manifest.kept.is_some();
        Ok(Tail { folder, is_kept, since_ns, cursors: BTreeMap::new(), closed: BTreeMap::new(), missed: 0 })
    }

    /// New rows of a table since the last call, oldest first, about 32 MiB at most; the next call returns the rest.
    /// Strings are dictionaries per batch, which [`Table::plain`] resolves.
    pub fn next(&mut self, table: &str) -> Result<Vec<RecordBatch>, Error> {
        let Some(table) = Table::named(table) else { return Ok(Vec::new()) };
        let mut cursor = self.cursors.remove(table.name).unwrap_or_default();
        let read = self.read(table, &mut cursor);
        self.cursors.insert(table.name, cursor);
        read
    }

    /// Whether a process is writing the recording now.
    pub fn is_growing(&self) -> bool {
        let is_closed = Manifest::read_in(&self.folder).is_ok_and(|manifest| manifest.state != State::Writing);
        !is_closed && salvage::is_written(&self.folder)
    }

    /// Number of segments that were deleted before all of their rows were read, counted for each table.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    fn read(&mut self, table: &'static Table, cursor: &mut Cursor) -> Result<Vec<RecordBatch>, Error> {
        let mut batches = Vec::new();
        let mut room = MOST_BYTES;
        for (name, segment) in self.segments(cursor)? {
            let reading = cursor.open.entry(name.clone()).or_default();
            if reading.is_none()
                && let Some((folder, _)) = &segment
            {
                *reading = Reading::open(folder, table)?;
            }
            if let Some(reading) = reading {
                while room > 0 {
                    let Some(batch) = reading.next()? else { break };
                    room = room.saturating_sub(batch.get_array_memory_size());
                    batches.push(table.fit(&batch, &table.stream_schema())?);
                }
                if room == 0 {
                    return Ok(batches);
                }
            } else if segment.is_none() {
                self.missed += 1;
            }
            // The state was read before the rows, so these rows were the last.
            if segment.is_none_or(|(_, is_ended)| is_ended) {
                cursor.open.remove(&name);
                cursor.finished.insert(name);
            }
        }
        Ok(batches)
    }

    /// Segments of which a table still has to be read, oldest first.
    fn segments(&mut self, cursor: &mut Cursor) -> Result<Vec<Segment>, Error> {
        if !self.is_kept {
            if cursor.finished.contains("") {
                return Ok(Vec::new());
            }
            let is_ended = Manifest::read_in(&self.folder)?.state != State::Writing;
            let again = Folder::open(self.folder.path())?;
            return Ok(vec![(String::new(), Some((again, is_ended)))]);
        }
        let names = kept::names(&self.folder)?;
        let mut all: BTreeSet<String> = cursor.open.keys().cloned().collect();
        for (place, name) in names.iter().enumerate() {
            let is_before = names.get(place + 1).is_some_and(|next| kept::begin_of(next) <= self.since_ns);
            if !is_before && !cursor.finished.contains(name) {
                all.insert(name.clone());
            }
        }
        cursor.finished.retain(|name| names.contains(name));
        self.closed.retain(|name, _| names.contains(name));
        let mut segments = Vec::new();
        for name in all {
            let closed = &mut self.closed;
            let found = kept::segment_with(&self.folder, &name, |segment, manifest| {
                let stamp = stamp(manifest).map_err(Error::io("read", segment.path()))?;
                if let Some((_, is_closed)) = closed.get(&name).filter(|(known, _)| *known == stamp) {
                    return Ok(*is_closed);
                }
                let is_closed = Manifest::read_in(segment)?.state != State::Writing;
                closed.insert(name.clone(), (stamp, is_closed));
                Ok(is_closed)
            })?;
            if found.is_none() && names.contains(&name) && !cursor.open.contains_key(&name) {
                // The segment is being created or deleted.
                continue;
            }
            segments.push((name, found));
        }
        Ok(segments)
    }
}

fn stamp(manifest: &File) -> std::io::Result<Stamp> {
    let facts = manifest.metadata()?;
    Ok((facts.ino(), facts.mtime().saturating_mul(1_000_000_000).saturating_add(facts.mtime_nsec()), facts.len()))
}

impl Reading {
    /// A table's rows in a recording, as a stream if there is one.
    fn open(folder: &Folder, table: &'static Table) -> Result<Option<Reading>, Error> {
        let Some(dataset) = folder.inner(table.name)? else { return Ok(None) };
        match dataset.open_file(&format!("{PART}.{EXTENSION}")) {
            Ok(file) => return Ok(Some(Reading::Stream(file, Box::new(Place::begin(table)?)))),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let name = format!("{PART}.{}", parquet::EXTENSION);
        match dataset.open_file(&name) {
            Ok(file) => {
                let part = Part::of_held(table, dataset.path().join(name), file);
                Ok(Some(Reading::Parquet(part.batches()?)))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        match self {
            Reading::Stream(file, place) => {
                let bytes = file.metadata().map_err(Error::io("read", Path::new(SEGMENTS)))?.len();
                Ok(reader::next(file, bytes, place))
            }
            Reading::Parquet(batches) => batches.next().transpose(),
        }
    }
}
