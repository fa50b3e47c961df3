//! Opens recordings for reading.

use crate::manifest::{Manifest, State};
use crate::parquet::{self, ParquetFile};
use crate::part::{self, Part, Parts};
use crate::private::Folder;
use crate::{BatchBuilder, Error, TABLES, kept, salvage};
use arrow::array::AsArray;
use arrow::compute::max;
use arrow::datatypes::Int64Type;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording whose tables can be read. A growing recording is read in the state of the moment when it was opened.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    manifest: Manifest,
    /// For a growing recording or one with segments: its parts when it was opened.
    held: Option<Arc<Parts>>,
}

impl Recording {
    /// Opens a recording. Writes nothing, and follows no link in it.
    ///
    /// A recording that is still being written has the rows that are on the disk when it is opened, whatever its
    /// recorder does to its files afterwards. A kept recording has the rows of all its segments.
    ///
    /// Fails if there is no recording, if it has a newer format, if it was never closed, and if it is closed and empty.
    /// The error says what to do.
    pub fn open(path: &Path) -> Result<Recording, Error> {
        let (folder, manifest) = Manifest::read(path)?;
        if manifest.kept.is_some() {
            let (manifest, parts) = kept::read(&folder, manifest)?;
            return Ok(Recording { folder: path.to_path_buf(), manifest, held: Some(Arc::new(parts)) });
        }
        let manifest = match manifest.state {
            State::Writing => match salvage::is_written(&folder) {
                true => return Recording::of_growing(path, &folder, manifest),
                // The recording may have been closed meanwhile.
                false => Manifest::read_in(&folder)?,
            },
            _ => manifest,
        };
        if manifest.state == State::Writing {
            return Err(Error::NotClosed { path: path.to_path_buf(), pid: manifest.writer_pid });
        }
        for (name, facts) in &manifest.tables {
            let found = folder.inner(name)?.map(|dataset| parquet::facts_of(&dataset)).transpose()?.unwrap_or_default();
            if found.rows != facts.rows {
                let reason = format!("{} of its {} rows are there", found.rows, facts.rows);
                return Err(Error::Damaged { path: path.join(name), reason });
            }
        }
        if manifest.tables.values().all(|facts| facts.rows == 0) {
            return Err(Error::Empty(path.to_path_buf()));
        }
        Ok(Recording { folder: path.to_path_buf(), manifest, held: None })
    }

    fn of_growing(path: &Path, folder: &Folder, mut manifest: Manifest) -> Result<Recording, Error> {
        let mut parts = Parts::new();
        manifest.tables.clear();
        part::held(folder, &mut parts, &mut manifest.tables)?;
        Ok(Recording { folder: path.to_path_buf(), manifest, held: Some(Arc::new(parts)) })
    }

    /// Whether more rows may follow.
    pub fn is_growing(&self) -> bool {
        self.manifest.state == State::Writing
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// When the recording ends, on its clock: the current time while it grows. For one that was never closed, the last
    /// report of its recorder.
    pub fn ends_ns(&self) -> Result<i64, Error> {
        if let Some(end_ns) = self.manifest.end_ns() {
            return Ok(end_ns);
        }
        let mut last_ns = self.manifest.created_ns;
        for part in self.parts("sources")? {
            for batch in part.batches_of(Some(&["time_ns"]))? {
                let batch = batch?;
                let times = batch.column_by_name("time_ns").and_then(|times| times.as_primitive_opt::<Int64Type>());
                last_ns = times.and_then(max).map_or(last_ns, |time| last_ns.max(time));
            }
        }
        Ok(last_ns)
    }

    /// When each segment began, ascending; empty for a recording without segments.
    pub(crate) fn segments(&self) -> Vec<i64> {
        let parts = self.held.iter().flat_map(|held| held.values()).flatten();
        let begins: BTreeSet<i64> = parts.map(Part::segment_ns).filter(|begin| *begin > 0).collect();
        begins.into_iter().collect()
    }

    /// The parts of a table, in the order in which they were written; empty if it has no rows.
    pub fn parts(&self, table: &str) -> Result<Vec<Part>, Error> {
        if let Some(held) = &self.held {
            return Ok(held.get(table).cloned().unwrap_or_default());
        }
        let Some(table) = TABLES.iter().find(|known| known.name == table) else { return Ok(Vec::new()) };
        let Some(dataset) = Folder::open(&self.folder)?.inner(table.name)? else { return Ok(Vec::new()) };
        let part = |stem: String| {
            let name = format!("{stem}.{}", parquet::EXTENSION);
            // Opens the file to check that it is a regular file and no link.
            dataset.open_file(&name).map(|_| Part::of_closed(table, dataset.path().join(name)))
        };
        dataset.stems(parquet::EXTENSION)?.into_iter().map(part).collect()
    }

    /// Paths of the files of a table, in order.
    pub fn files(&self, table: &str) -> Result<Vec<PathBuf>, Error> {
        Ok(self.parts(table)?.iter().map(|part| part.path().to_path_buf()).collect())
    }

    /// Replaces the rows of a table. Used for the results of explain, which are known only after a recording is closed.
    pub fn replace(&mut self, mut rows: BatchBuilder) -> Result<(), Error> {
        let table = rows.table();
        if self.held.is_some() {
            return Err(Error::Growing(self.folder.clone()));
        }
        let folder = Folder::open(&self.folder)?.owned()?;
        let dataset = folder.make_inner(table.name)?;
        let in_full = |error: Error| error.writing(dataset.path());
        let mut file = ParquetFile::create(&dataset, crate::stream::PART, table, table.stream_schema())?;
        file.write(&rows.take()?).map_err(in_full)?;
        file.finish().map_err(in_full)?;
        self.manifest.tables.insert(table.name.to_string(), parquet::facts_of(&dataset)?);
        self.manifest.write(&folder)
    }

    /// Names of the tables that have rows.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        TABLES.iter().map(|table| table.name).filter(|name| self.manifest.tables.contains_key(*name))
    }
}
