//! Salvages a recording that was never closed into a complete one.

use crate::manifest::{Loss, Manifest, State, TableFacts, remove_reserve};
use crate::parquet::{self, UNFINISHED};
use crate::private::Folder;
use crate::reader::Unread;
use crate::schema::Table;
use crate::stream::{self, DAMAGED};
use crate::{Error, TABLES, kept};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

const LOCK: &str = "writer.lock";

/// The result of salvaging.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The recording had been closed already, so nothing was done.
    pub was_closed: bool,
    pub tables: BTreeMap<String, TableFacts>,
    /// Tables whose last rows were cut off; all rows before them are there.
    pub cut: Vec<String>,
    /// Parts of damaged streams that could not be read; these streams are kept.
    pub damaged: Vec<Loss>,
    /// Rows that had been lost before, such as rows that did not fit on a full disk.
    pub lost_before: Vec<Loss>,
}

/// Converts the streams of a recording whose writer has ended to Parquet. It can be run again after any interruption, a
/// full disk included, and never removes rows that are not in a complete Parquet file.
///
/// A table that fails does not prevent the others from being salvaged.
pub fn salvage(path: &Path) -> Result<Salvaged, Error> {
    let (folder, mut manifest) = Manifest::read(path)?;
    if manifest.kept.is_some() {
        return salvage_segments(&folder.owned()?, manifest);
    }
    if manifest.state != State::Writing {
        let Manifest { tables, losses: lost_before, .. } = manifest;
        return Ok(Salvaged { was_closed: true, tables, lost_before, ..Salvaged::default() });
    }
    let folder = folder.owned()?;
    let Some(_lock) = lock(&folder)? else {
        return Err(Error::StillWriting { path: path.to_path_buf(), pid: manifest.writer_pid });
    };
    remove_reserve(&folder)?;
    let mut salvaged = Salvaged { lost_before: manifest.losses.clone(), ..Salvaged::default() };
    let mut full = None;
    for table in TABLES {
        match salvage_table(&folder, table, &mut salvaged) {
            Ok(()) => {}
            // A retry may succeed once there is disk space.
            Err(error @ (Error::DiskFull(_) | Error::TooManyFiles { .. })) => full = full.or(Some(error)),
            Err(error) => salvaged.damaged.push(loss(table, None, error.to_string())),
        }
    }
    if let Some(source) = full {
        return Err(Error::Unfinished { recording: path.to_path_buf(), rows_lost: 0, source: Box::new(source) });
    }
    for name in &salvaged.cut {
        let reason = "its writer was ended while it wrote its last rows".to_string();
        manifest.losses.push(Loss { table: name.clone(), rows: None, reason });
    }
    manifest.losses.extend(salvaged.damaged.iter().cloned());
    manifest.tables = salvaged.tables.clone();
    manifest.state = State::Salvaged;
    manifest.write(&folder)?;
    Ok(salvaged)
}

/// Salvages each segment of a kept recording that was not closed.
fn salvage_segments(folder: &Folder, mut manifest: Manifest) -> Result<Salvaged, Error> {
    let Some(_lock) = lock(folder)? else {
        return Err(Error::StillWriting { path: folder.path().to_path_buf(), pid: manifest.writer_pid });
    };
    let mut all = Salvaged { was_closed: true, ..Salvaged::default() };
    for name in kept::names(folder)? {
        let one = salvage(&folder.path().join(kept::SEGMENTS).join(name))?;
        all.was_closed &= one.was_closed;
        for (table, facts) in one.tables {
            let sum = all.tables.entry(table).or_default();
            sum.rows = sum.rows.saturating_add(facts.rows);
            sum.bytes = sum.bytes.saturating_add(facts.bytes);
        }
        all.cut.extend(one.cut);
        all.damaged.extend(one.damaged);
        all.lost_before.extend(one.lost_before);
    }
    manifest.state = State::Closed;
    manifest.write(folder)?;
    Ok(all)
}

fn salvage_table(folder: &Folder, table: &'static Table, salvaged: &mut Salvaged) -> Result<(), Error> {
    let Some(place) = folder.inner(table.name)? else { return Ok(()) };
    for stem in place.stems(UNFINISHED)? {
        place.remove(&format!("{stem}.{UNFINISHED}"))?;
    }
    let mut failed = None;
    // First, remove the files of an earlier salvage, which this one writes again.
    for extension in [DAMAGED, stream::EXTENSION] {
        for stem in place.stems(extension)? {
            let is_whole = place.stems(parquet::EXTENSION)?.contains(&stem);
            let unread = match (is_whole, extension == DAMAGED) {
                (false, _) => parquet::convert(&place, &stem, extension, table).map(|converted| converted.unread),
                // Its writer, or an earlier salvage, ended after the Parquet file was complete.
                (true, true) => parquet::unread(&place, &stem, table),
                (true, false) => place.remove(&format!("{stem}.{extension}")).map(|()| None),
            };
            match unread.map_err(|error| error.writing(&place.path().join(format!("{stem}.{UNFINISHED}")))) {
                Ok(None) => {}
                Ok(Some(unread)) if unread.is_cut => salvaged.cut.push(table.name.to_string()),
                Ok(Some(unread)) => salvaged.damaged.push(damage(table, &unread, &stem)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    let facts = parquet::facts_of(&place)?;
    if facts.rows > 0 {
        salvaged.tables.insert(table.name.to_string(), facts);
    }
    failed.map_or(Ok(()), Err)
}

/// The part of a table's stream that could not be read; the stream is kept.
pub(crate) fn damage(table: &Table, unread: &Unread, stem: &str) -> Loss {
    let reason =
        format!("{} bytes of its stream are damaged; it is kept as {}/{stem}.{DAMAGED}", unread.bytes, table.name);
    loss(table, unread.rows, reason)
}

fn loss(table: &Table, rows: Option<u64>, reason: String) -> Loss {
    Loss { table: table.name.to_string(), rows, reason }
}

/// Locks a recording for writing. The lock is released with the returned file, also if the process dies. None if
/// another process holds it.
pub(crate) fn lock(folder: &Folder) -> Result<Option<File>, Error> {
    let file = match folder.open_file(LOCK) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => folder.create_file(LOCK)?,
        opened => opened?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(Error::errno("lock", &folder.path().join(LOCK))(error)),
    }
}

/// Whether a process is writing a recording. Writes nothing; if the lock can't be read, the answer is no.
pub(crate) fn is_written(folder: &Folder) -> bool {
    let Ok(file) = folder.open_file(LOCK) else { return false };
    // The lock is shared and held only for a moment, so two readers do not disturb each other.
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}
