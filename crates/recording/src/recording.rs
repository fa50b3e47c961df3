//! Opens recordings for reading.

use crate::found::{self, Files, Found, add_losses};
use crate::manifest::{Loss, Manifest, State};
use crate::parquet::{self, ParquetFile};
use crate::part::{Part, Parts};
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
    /// Its parts when it was opened.
    parts: Arc<Parts>,
    /// Files that can't be read.
    skipped: Vec<Loss>,
    /// Whether all bytes were compared with their checksums.
    is_verified: bool,
}

impl Recording {
    /// Opens a recording. Writes nothing, and follows no link in it.
    ///
    /// A recording that is still being written has the rows that are on the disk when it is opened, whatever its
    /// recorder does to its files afterwards. A kept recording has the rows of all its segments.
    ///
    /// A file that can't be read is skipped: it is among [`Recording::skipped`] and the losses of the manifest. Bytes that
    /// have changed within a file are found by [`Recording::verify`].
    ///
    /// Fails if there is no recording, if it has a newer format, if it was never closed, and if it is closed and empty.
    /// The error says what to do.
    pub fn open(path: &Path) -> Result<Recording, Error> {
        let (folder, manifest) = Manifest::read(path)?;
        if manifest.kept.is_some() {
            return Ok(Recording::of(path, kept::read(&folder, manifest)?));
        }
        let manifest = match manifest.state {
            State::Writing => match salvage::is_written(&folder) {
                true => {
                    let found = Found::in_folder(&folder, Files::Growing)?;
                    let losses = found.losses("");
                    return Ok(Recording::of(path, (manifest, found, losses)));
                }
                // The recording may have been closed meanwhile.
                false => Manifest::read_or_made(&folder)?,
            },
            _ => manifest,
        };
        if manifest.state == State::Writing {
            return Err(Error::NotClosed { path: path.to_path_buf(), pid: manifest.writer_pid });
        }
        let mut found = Found::in_folder(&folder, Files::Closed)?;
        found.compare(&manifest.tables);
        let losses = found.losses("");
        if found.facts.is_empty() {
            let reasons: Vec<&str> = losses.iter().map(|loss| loss.reason.as_str()).collect();
            return Err(match reasons.is_empty() {
                true => Error::Empty(path.to_path_buf()),
                false => Error::Damaged { path: path.to_path_buf(), reason: reasons.join("; ") },
            });
        }
        Ok(Recording::of(path, (manifest, found, losses)))
    }

    fn of(path: &Path, (mut manifest, found, losses): (Manifest, Found, Vec<Loss>)) -> Recording {
        add_losses(&mut manifest, &losses);
        let skipped = manifest.made_because().chain(losses).collect();
        manifest.tables = found.facts;
        let parts = Arc::new(found.parts);
        Recording { folder: path.to_path_buf(), manifest, parts, skipped, is_verified: false }
    }

    /// Compares the bytes of all files with their checksums, and skips what is damaged. With a window, in ns since the
    /// Unix epoch, only in the segments with rows of it. Files of versions without checksums are not looked at.
    pub fn verify(&mut self, window: Option<(i64, i64)>) {
        if self.is_verified {
            return;
        }
        self.is_verified = window.is_none();
        let begins = self.segments();
        let is_wanted = |part: &Part| {
            window.is_none_or(|(from_ns, to_ns)| {
                part.segment_ns() <= to_ns && end_of(part, &begins) >= from_ns.saturating_sub(SLACK_NS)
            })
        };
        let mut parts = Parts::clone(&self.parts);
        let mut losses = Vec::new();
        found::verify(&mut parts, is_wanted, |part, damage| {
            let name = part.path().strip_prefix(&self.folder).unwrap_or(part.path()).display();
            let what = if damage.leaves_rest { "" } else { " is skipped" };
            let reason = format!("{name}{what}: {}", damage.why);
            losses.push(Loss { table: part.table().name.to_string(), rows: damage.rows, reason });
        });
        if losses.is_empty() {
            return;
        }
        self.manifest.tables = found::facts_of(&parts);
        add_losses(&mut self.manifest, &losses);
        self.skipped.extend(losses);
        self.parts = Arc::new(parts);
    }

    /// The files that opening or verifying could not read, with the reasons. They are among the losses of the manifest.
    pub fn skipped(&self) -> &[Loss] {
        &self.skipped
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
            // The other parts tell the end without one that is damaged.
            let Ok(batches) = part.batches_of(Some(&["time_ns"])) else { continue };
            for batch in batches.map_while(Result::ok) {
                let times = batch.column_by_name("time_ns").and_then(|times| times.as_primitive_opt::<Int64Type>());
                last_ns = times.and_then(max).map_or(last_ns, |time| last_ns.max(time));
            }
        }
        Ok(last_ns)
    }

    /// When each segment began, ascending; empty for a recording without segments.
    pub(crate) fn segments(&self) -> Vec<i64> {
        let parts = self.parts.values().flatten();
        let begins: BTreeSet<i64> = parts.map(Part::segment_ns).filter(|begin| *begin > 0).collect();
        begins.into_iter().collect()
    }

    /// The parts of a table, in the order in which they were written; empty if it has no rows.
    pub fn parts(&self, table: &str) -> Result<Vec<Part>, Error> {
        Ok(self.parts.get(table).cloned().unwrap_or_default())
    }

    /// Paths of the files of a table, in order.
    pub fn files(&self, table: &str) -> Result<Vec<PathBuf>, Error> {
        Ok(self.parts(table)?.iter().map(|part| part.path().to_path_buf()).collect())
    }

    /// Replaces the rows of a table. Used for the results of explain, which are known only after a recording is closed.
    pub fn replace(&mut self, mut rows: BatchBuilder) -> Result<(), Error> {
        let table = rows.table();
        if self.is_growing() || self.manifest.kept.is_some() {
            return Err(Error::Growing(self.folder.clone()));
        }
        let folder = Folder::open(&self.folder)?.owned()?;
        let dataset = folder.make_inner(table.name)?;
        let in_full = |error: Error| error.writing(dataset.path());
        let mut file = ParquetFile::create(&dataset, crate::stream::PART, table, table.stream_schema())?;
        file.write(&rows.take()?).map_err(in_full)?;
        file.finish().map_err(in_full)?;
        self.manifest.tables.insert(table.name.to_string(), parquet::facts_of(&dataset)?);
        self.manifest.write(&folder)?;
        self.parts = Arc::new(Found::in_folder(&folder, Files::Closed)?.parts);
        Ok(())
    }

    /// Names of the tables that have rows.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        TABLES.iter().map(|table| table.name).filter(|name| self.manifest.tables.contains_key(*name))
    }
}

/// Rows of a segment may have times before its begin.
pub(crate) const SLACK_NS: i64 = 10_000_000_000;

/// The rows of a segment end where the next segment begins.
pub(crate) fn end_of(part: &Part, begins: &[i64]) -> i64 {
    begins.iter().copied().find(|begin| *begin > part.segment_ns()).unwrap_or(i64::MAX)
}
