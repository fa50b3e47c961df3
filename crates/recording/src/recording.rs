//! A closed recording, for whoever reads it.

use crate::manifest::{Manifest, State};
use crate::parquet::ParquetFile;
use crate::{BatchBuilder, Error, TABLES, parquet, private, salvage};
use std::path::{Path, PathBuf};

/// A recording whose tables are whole.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    manifest: Manifest,
}

impl Recording {
    /// Opens a closed or salvaged recording.
    ///
    /// Fails with a way out when there is none, when it is of a newer format, when it is still written or was never
    /// closed, and when nothing was recorded.
    pub fn open(folder: &Path) -> Result<Recording, Error> {
        let manifest = Manifest::read(folder)?;
        if manifest.state == State::Writing {
            let (path, pid) = (folder.to_path_buf(), manifest.writer_pid);
            return Err(match salvage::lock(folder)? {
                Some(_) => Error::NotClosed { path, pid },
                None => Error::StillWriting { path, pid },
            });
        }
        let recording = Recording { folder: folder.to_path_buf(), manifest };
        for (name, facts) in &recording.manifest.tables {
            let dataset = folder.join(name);
            let found = salvage::facts_of(&dataset)?;
            if found.rows != facts.rows {
                let reason = format!("{} of its {} rows are there", found.rows, facts.rows);
                return Err(Error::Damaged { path: dataset, reason });
            }
        }
        if recording.manifest.tables.values().all(|facts| facts.rows == 0) {
            return Err(Error::Empty(folder.to_path_buf()));
        }
        Ok(recording)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The Parquet files of a table, in the order of their parts; none when it has no rows.
    pub fn files(&self, table: &str) -> Result<Vec<PathBuf>, Error> {
        files(&self.folder.join(table), parquet::EXTENSION)
    }

    /// Replaces a table by other rows: what explain found is known only after a recording is closed.
    pub fn replace(&mut self, mut rows: BatchBuilder) -> Result<(), Error> {
        let table = rows.table();
        let dataset = self.folder.join(table.name);
        let in_full = |error| salvage::if_full(error, &dataset, &self.folder);
        private::create_folder(&dataset)?;
        let path = dataset.join("part-0").with_extension(parquet::EXTENSION);
        let mut file = ParquetFile::create(&path, table, table.stream_schema())?;
        file.write(&rows.take()?).map_err(in_full)?;
        file.finish().map_err(in_full)?;
        self.manifest.tables.insert(table.name.to_string(), salvage::facts_of(&dataset)?);
        self.manifest.write(&self.folder)
    }

    /// Names of the tables that have rows.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        TABLES.iter().map(|table| table.name).filter(|name| self.manifest.tables.contains_key(*name))
    }
}

/// Files of a folder with an extension, in the order of their names; none when there is no such folder.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
