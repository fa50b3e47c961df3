//! A closed recording, for readers.

use crate::manifest::{Manifest, State};
use crate::parquet::{self, ParquetFile};
use crate::private::Folder;
use crate::{BatchBuilder, Error, TABLES, salvage};
use std::path::{Path, PathBuf};

/// A recording whose tables are whole.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    manifest: Manifest,
}

impl Recording {
    /// Opens a closed or salvaged recording. Writes nothing, and follows no link in it.
    ///
    /// Fails with a way out when there is none, when it is of a newer format, when it is still written or was never
    /// closed, and when nothing was recorded.
    pub fn open(path: &Path) -> Result<Recording, Error> {
        let (folder, manifest) = Manifest::read(path)?;
        if manifest.state == State::Writing {
            let (path, pid) = (path.to_path_buf(), manifest.writer_pid);
            return Err(match salvage::is_written(&folder) {
                false => Error::NotClosed { path, pid },
                true => Error::StillWriting { path, pid },
            });
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
        Ok(Recording { folder: path.to_path_buf(), manifest })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The Parquet files of a table, in the order of their parts; none when it has no rows.
    pub fn files(&self, table: &str) -> Result<Vec<PathBuf>, Error> {
        let Some(dataset) = Folder::open(&self.folder)?.inner(table)? else { return Ok(Vec::new()) };
        let path = |stem: String| {
            let name = format!("{stem}.{}", parquet::EXTENSION);
            // No link, and nothing that never ends.
            dataset.open_file(&name).map(|_| dataset.path().join(name))
        };
        dataset.stems(parquet::EXTENSION)?.into_iter().map(path).collect()
    }

    /// Replaces a table by other rows: what explain found is known only after a recording is closed.
    pub fn replace(&mut self, mut rows: BatchBuilder) -> Result<(), Error> {
        let table = rows.table();
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
