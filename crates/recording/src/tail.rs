//! Follows a growing recording: returns the rows that are new since the last call, each of them once.

use crate::kept::{self, SEGMENTS};
use crate::manifest::{FILE_NAME, Manifest, State};
use crate::part::{Batches, Part};
use crate::private::Folder;
use crate::reader::{self, Place};
use crate::schema::Table;
use crate::stream::{EXTENSION, PART};
use crate::{Error, TableFacts, descriptors, parquet, salvage};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Reads rows that are appended to a recording, across its segments. Writes nothing.
///
/// Files are kept open, so that no row is missed when a stream becomes Parquet or a segment is deleted after it was
/// opened.
#[derive(Debug)]
pub struct Tail {
    folder: Folder,
    is_kept: bool,
    /// The segment that is read first; None for all.
    first: Option<String>,
    cursors: BTreeMap<&'static str, Cursor>,
    /// Whether each segment is closed, as its manifest said when it was read last.
    closed: BTreeMap<String, (Stamp, bool)>,
    missed: u64,
}

/// Inode, time of change in ns, and size of a manifest: it is read again only if it has changed.
type Stamp = (u64, i64, u64);

/// How far a table has been read.
#[derive(Debug)]
struct Cursor {
    schema: SchemaRef,
    /// Segments that are being read; None for one that has no file of the table yet.
    open: BTreeMap<String, Option<Reading>>,
    finished: BTreeSet<String>,
}

/// A segment's folder, and whether it is closed; None if it was deleted.
type Segment = Option<(Folder, bool)>;

enum Reading {
    Stream(File, Box<Place>),
    /// The rest of each file, in order.
    Parquet(VecDeque<Batches>),
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
        // A file for each table and segment.
        descriptors::allow_many();
        let is_kept = manifest.kept.is_some();
        let begins_before = |name: &&String| {
            let begin_ns = kept::segment(&folder, name).ok().flatten().map(|(_, manifest)| manifest.created_ns);
            begin_ns.unwrap_or_else(|| kept::begin_of(name)) <= since_ns
        };
        let first = match is_kept && since_ns > 0 {
            true => kept::names(&folder)?.iter().rfind(begins_before).cloned(),
            false => None,
        };
        Ok(Tail { folder, is_kept, first, cursors: BTreeMap::new(), closed: BTreeMap::new(), missed: 0 })
    }

    /// Hands over the new rows of these tables since the last call, table by table, and of each the oldest first. Strings
    /// are dictionaries per batch, which [`Table::plain`] resolves.
    pub fn follow<'t>(
        &mut self,
        tables: impl IntoIterator<Item = &'t str>,
        mut each: impl FnMut(&'static str, &RecordBatch),
    ) -> Result<(), Error> {
        let tables: Vec<&'static Table> = tables.into_iter().filter_map(Table::named).collect();
        let segments = self.segments(&tables)?;
        // Reading can take so long that a segment is deleted meanwhile, so all files are opened before.
        for table in &tables {
            let cursor = self.cursors.entry(table.name).or_insert_with(|| Cursor::new(table));
            self.missed += cursor.open_all(table, &segments)?;
        }
        for table in tables {
            if let Some(cursor) = self.cursors.get_mut(table.name) {
                self.missed += cursor.read(table, &segments, &mut |batch| each(table.name, batch))?;
            }
        }
        Ok(())
    }

    /// Whether a process is writing the recording now.
    pub fn is_growing(&self) -> bool {
        let is_closed = Manifest::read_or_made(&self.folder).is_ok_and(|manifest| manifest.state != State::Writing);
        !is_closed && salvage::is_written(&self.folder)
    }

    /// Number of segments that were deleted or damaged before all of their rows were read, counted for each table.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Segments of which one of these tables still has to be read, by name, which is by age. A recording without segments
    /// is one that has no name.
    fn segments(&mut self, tables: &[&'static Table]) -> Result<BTreeMap<String, Segment>, Error> {
        if !self.is_kept {
            if !self.is_unfinished("", tables) {
                return Ok(BTreeMap::new());
            }
            let is_closed = is_closed(&mut self.closed, "", &self.folder)?;
            let again = Folder::open(self.folder.path())?;
            return Ok(BTreeMap::from([(String::new(), Some((again, is_closed)))]));
        }
        let names = kept::names(&self.folder)?;
        for cursor in self.cursors.values_mut() {
            cursor.finished.retain(|name| names.contains(name));
        }
        self.closed.retain(|name, _| names.contains(name));
        let cursors = tables.iter().filter_map(|table| self.cursors.get(table.name));
        let open: BTreeSet<String> = cursors.flat_map(|cursor| cursor.open.keys().cloned()).collect();
        let is_before = |name: &String| self.first.as_ref().is_some_and(|first| name < first);
        let new = names.iter().filter(|name| !is_before(name) && self.is_unfinished(name, tables));
        let wanted: BTreeSet<&String> = new.chain(&open).collect();
        let mut segments = BTreeMap::new();
        for name in wanted {
            let found = match kept::folder_of(&self.folder, name) {
                Ok(Some(segment)) => is_closed(&mut self.closed, name, &segment).map(|closed| Some((segment, closed))),
                other => other.map(|_| None),
            };
            let found = match found {
                Err(error) if error.is_of_the_machine() => return Err(error),
                // It is damaged, and keeps no other from being read.
                Err(_) => {
                    self.missed += self.finish(name, tables);
                    continue;
                }
                Ok(found) => found,
            };
            // A segment that is listed and has no manifest is being created or deleted.
            if found.is_some() || open.contains(name) {
                segments.insert(name.clone(), found);
            }
        }
        Ok(segments)
    }

    /// Reads nothing more of a segment; returns for how many tables.
    fn finish(&mut self, name: &str, tables: &[&'static Table]) -> u64 {
        let mut finished = 0;
        for table in tables {
            let cursor = self.cursors.entry(table.name).or_insert_with(|| Cursor::new(table));
            cursor.open.remove(name);
            finished += u64::from(cursor.finished.insert(name.to_string()));
        }
        finished
    }

    /// Whether one of these tables still has to be read from a segment.
    fn is_unfinished(&self, name: &str, tables: &[&'static Table]) -> bool {
        let mut cursors = tables.iter().map(|table| self.cursors.get(table.name));
        cursors.any(|cursor| cursor.is_none_or(|cursor| !cursor.finished.contains(name)))
    }
}

/// Whether a segment is closed, as its manifest says; read again if the manifest has changed.
fn is_closed(known: &mut BTreeMap<String, (Stamp, bool)>, name: &str, segment: &Folder) -> Result<bool, Error> {
    let stamp = match segment.open_file(FILE_NAME) {
        Ok(manifest) => stamp(&manifest).map_err(Error::io("read", segment.path()))?,
        Err(error) if error.is_not_found() || error.is_of_the_machine() => return Err(error),
        Err(_) => Stamp::default(),
    };
    if let Some((_, is_closed)) = known.get(name).filter(|(known, _)| *known == stamp) {
        return Ok(*is_closed);
    }
    let is_closed = Manifest::read_or_made(segment)?.state != State::Writing;
    known.insert(name.to_string(), (stamp, is_closed));
    Ok(is_closed)
}

impl Cursor {
    fn new(table: &Table) -> Cursor {
        Cursor { schema: table.stream_schema(), open: BTreeMap::new(), finished: BTreeSet::new() }
    }

    /// Opens the files of segments that are not open yet; returns how many were deleted before, or are damaged.
    fn open_all(&mut self, table: &'static Table, segments: &BTreeMap<String, Segment>) -> Result<u64, Error> {
        let mut missed = 0;
        for (name, segment) in segments {
            let Some((folder, is_closed)) = segment.as_ref().filter(|_| !self.finished.contains(name)) else {
                continue;
            };
            let reading = self.open.entry(name.clone()).or_default();
            if reading.is_none() {
                match Reading::open(folder, table) {
                    Ok(opened) => *reading = opened,
                    Err(error) if error.is_of_the_machine() => return Err(error),
                    Err(_) => {
                        missed += 1;
                        self.open.remove(name);
                        self.finished.insert(name.clone());
                        continue;
                    }
                }
            }
            let is_gone = || folder.open_file(FILE_NAME).is_err_and(|error| error.is_not_found());
            if reading.is_none() && *is_closed && is_gone() {
                missed += 1;
            }
        }
        Ok(missed)
    }

    /// Reads what these segments have; returns how many of them were deleted before they could be opened, or are damaged.
    fn read(
        &mut self,
        table: &'static Table,
        segments: &BTreeMap<String, Segment>,
        each: &mut impl FnMut(&RecordBatch),
    ) -> Result<u64, Error> {
        let mut missed = 0;
        for (name, segment) in segments {
            match self.open.get_mut(name) {
                Some(Some(reading)) => {
                    let mut read_all = || -> Result<(), Error> {
                        while let Some(batch) = reading.next()? {
                            each(&table.fit(&batch, &self.schema)?);
                        }
                        Ok(())
                    };
                    match read_all() {
                        Err(error) if error.is_of_the_machine() => return Err(error),
                        // Rows after the damage are not read.
                        Err(_) => {
                            missed += 1;
                            self.open.remove(name);
                            self.finished.insert(name.clone());
                            continue;
                        }
                        Ok(()) => {}
                    }
                }
                Some(None) => missed += u64::from(segment.is_none()),
                // This table was finished before.
                None => continue,
            }
            // The state was read before the rows, so these rows were the last.
            if segment.as_ref().is_none_or(|(_, is_closed)| *is_closed) {
                self.open.remove(name);
                self.finished.insert(name.clone());
            }
        }
        Ok(missed)
    }
}

fn stamp(manifest: &File) -> std::io::Result<Stamp> {
    let facts = manifest.metadata()?;
    Ok((facts.ino(), facts.mtime().saturating_mul(1_000_000_000).saturating_add(facts.mtime_nsec()), facts.len()))
}

impl Reading {
    /// A table's rows in a recording, as a stream if there is one. A copy has a part for each segment that it was made from.
    fn open(folder: &Folder, table: &'static Table) -> Result<Option<Reading>, Error> {
        let Some(dataset) = folder.inner(table.name)? else { return Ok(None) };
        match dataset.open_file(&format!("{PART}.{EXTENSION}")) {
            Ok(file) => return Ok(Some(Reading::Stream(file, Box::new(Place::begin(table)?)))),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let mut batches = VecDeque::new();
        for stem in dataset.stems(parquet::EXTENSION)? {
            let name = format!("{stem}.{}", parquet::EXTENSION);
            match dataset.open_file(&name) {
                Ok(file) => batches.push_back(
                    Part::of_parquet(table, dataset.path().join(name), TableFacts::default(), Some(file)).batches()?,
                ),
                // Deleted meanwhile.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok((!batches.is_empty()).then_some(Reading::Parquet(batches)))
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        match self {
            Reading::Stream(file, place) => {
                let bytes = file.metadata().map_err(Error::io("read", Path::new(SEGMENTS)))?.len();
                Ok(reader::next(file, bytes, place))
            }
            Reading::Parquet(parts) => {
                while let Some(batches) = parts.front_mut() {
                    if let Some(batch) = batches.next().transpose()? {
                        return Ok(Some(batch));
                    }
                    parts.pop_front();
                }
                Ok(None)
            }
        }
    }
}
