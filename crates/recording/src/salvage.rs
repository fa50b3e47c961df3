//! Salvages a recording that was never closed into a complete one.

use crate::checksum;
use crate::found::{Files, Found, Skipped};
use crate::manifest::{FILE_NAME, Loss, Manifest, State, TableFacts, made, remove_reserve};
use crate::parquet::{self, UNFINISHED};
use crate::private::{Folder, SET_ASIDE};
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
    /// The recording had been closed already. Then only files that can't be read are set aside.
    pub was_closed: bool,
    pub tables: BTreeMap<String, TableFacts>,
    /// Tables whose last rows were cut off; all rows before them are there.
    pub cut: Vec<String>,
    /// Losses by damage: parts of streams, which are kept, and files, which are set aside.
    pub damaged: Vec<Loss>,
    /// Rows that had been lost before, such as rows that did not fit on a full disk.
    pub lost_before: Vec<Loss>,
}

/// Converts the streams of a recording whose writer has ended to Parquet, and sets aside what can't be read. It can be run
/// again after any interruption, a full disk included, and never removes rows that are not in a complete Parquet file.
///
/// Damage does not keep the rest from being salvaged.
pub fn salvage(path: &Path) -> Result<Salvaged, Error> {
    let (folder, manifest) = match Manifest::read(path) {
        Err(error @ Error::NotARecording { .. }) if path.is_dir() => {
            let folder = Folder::open(path)?;
            let manifest = made::of(&folder, "it is missing").ok_or(error)?;
            (folder, manifest)
        }
        read => read?,
    };
    if manifest.kept.is_some() { salvage_segments(folder.owned()?, manifest) } else { salvage_in(folder, manifest, "") }
}

/// Salvages a recording without segments. `before` comes before the names of its files.
fn salvage_in(folder: Folder, mut manifest: Manifest, before: &str) -> Result<Salvaged, Error> {
    let was_closed = manifest.state != State::Writing;
    let is_made = manifest.made_because().next().is_some();
    let mut salvaged = Salvaged { was_closed, lost_before: manifest.losses.clone(), ..Salvaged::default() };
    if was_closed {
        let found = verified(&folder, &manifest)?;
        if found.skipped.is_empty() && !is_made {
            salvaged.tables = found.facts;
            return Ok(salvaged);
        }
    }
    let folder = folder.owned()?;
    let Some(_lock) = lock(&folder)? else {
        return Err(Error::StillWriting { path: folder.path().to_path_buf(), pid: manifest.writer_pid });
    };
    if !was_closed {
        convert_streams(&folder, before, &mut salvaged)?;
    }
    if is_made {
        salvaged.lost_before.clear();
        salvaged.damaged.extend(set_manifest_aside(&folder, &mut manifest, before));
    }
    // The new files are read again with all others, which may have been damaged before.
    let found = verified(&folder, &manifest)?;
    for skipped in &found.skipped {
        salvaged.damaged.push(set_aside(&folder, skipped, before));
    }
    salvaged.tables = found.facts;
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

/// The files of a recording, all bytes of which are compared with their checksums.
fn verified(folder: &Folder, manifest: &Manifest) -> Result<Found, Error> {
    let mut found = Found::in_folder(folder, Files::Closed)?;
    found.verify();
    if manifest.state != State::Writing {
        found.compare(&manifest.tables);
    }
    Ok(found)
}

/// Sets aside a file that can't be read, or a file in the place of a table's folder. A stream whose other rows are read stays.
fn set_aside(folder: &Folder, skipped: &Skipped, before: &str) -> Loss {
    let kept_as = match &skipped.file {
        _ if skipped.leaves_rest => String::new(),
        None => aside(folder, skipped.table.name),
        Some(file) => match folder.inner(skipped.table.name) {
            Ok(Some(dataset)) => aside(&dataset, file),
            _ => String::new(),
        },
    };
    let loss = skipped.loss(before);
    Loss { reason: format!("{}{kept_as}", loss.reason), ..loss }
}

/// Takes the losses of a manifest that was made out of it, and sets the damaged one aside.
fn set_manifest_aside(folder: &Folder, manifest: &mut Manifest, before: &str) -> Vec<Loss> {
    let is_of_it = |loss: &mut Loss| loss.table == made::TABLE && !loss.reason.contains(SET_ASIDE);
    let losses: Vec<Loss> = manifest.losses.extract_if(.., is_of_it).collect();
    if losses.is_empty() {
        return losses;
    }
    let kept_as = aside(folder, FILE_NAME);
    losses.into_iter().map(|loss| Loss { reason: format!("{before}{}{kept_as}", loss.reason), ..loss }).collect()
}

/// Sets something aside, and says where it is now.
fn aside(folder: &Folder, name: &str) -> String {
    match folder.set_aside(name) {
        Err(error) if error.is_not_found() => String::new(),
        Ok(name) => format!("; it is kept as {name}"),
        Err(error) => format!("; it could not be set aside: {}", error.why()),
    }
}

fn convert_streams(folder: &Folder, before: &str, salvaged: &mut Salvaged) -> Result<(), Error> {
    remove_reserve(folder)?;
    let mut full = None;
    for table in TABLES {
        match salvage_table(folder, table, before, salvaged) {
            Ok(()) => {}
            // A retry may succeed once there is disk space.
            Err(error) if error.is_of_the_machine() => full = full.or(Some(error)),
            Err(error) => salvaged.damaged.push(loss(table, None, error.to_string())),
        }
    }
    let recording = folder.path().to_path_buf();
    full.map_or(Ok(()), |source| Err(Error::Unfinished { recording, rows_lost: 0, source: Box::new(source) }))
}

/// Salvages each segment of a kept recording.
fn salvage_segments(folder: Folder, mut manifest: Manifest) -> Result<Salvaged, Error> {
    let Some(_lock) = lock(&folder)? else {
        return Err(Error::StillWriting { path: folder.path().to_path_buf(), pid: manifest.writer_pid });
    };
    let mut all = Salvaged { was_closed: true, ..Salvaged::default() };
    let mut of_all = set_manifest_aside(&folder, &mut manifest, "");
    for name in kept::names(&folder)? {
        match salvage_segment(&folder, &name) {
            Ok(one) => all.add(one),
            Err(error) if error.is_of_the_machine() || matches!(error, Error::Unfinished { .. }) => return Err(error),
            Err(error) => {
                let kept_as = folder.inner(kept::SEGMENTS)?.map_or(String::new(), |segments| aside(&segments, &name));
                let loss = kept::unread(&name, &error);
                of_all.push(Loss { reason: format!("{}{kept_as}", loss.reason), ..loss });
            }
        }
    }
    manifest.losses.extend(of_all.iter().cloned());
    all.damaged.extend(of_all);
    manifest.state = State::Closed;
    manifest.write(&folder)?;
    Ok(all)
}

fn salvage_segment(folder: &Folder, name: &str) -> Result<Salvaged, Error> {
    let gone =
        || Error::NotARecording { path: folder.path().join(name), reason: "it has no manifest.json".to_string() };
    let (segment, manifest) = kept::segment(folder, name)?.ok_or_else(gone)?;
    salvage_in(segment, manifest, &format!("{}/{name}/", kept::SEGMENTS))
}

impl Salvaged {
    fn add(&mut self, one: Salvaged) {
        self.was_closed &= one.was_closed;
        for (table, facts) in one.tables {
            let sum = self.tables.entry(table).or_default();
            sum.rows = sum.rows.saturating_add(facts.rows);
            sum.bytes = sum.bytes.saturating_add(facts.bytes);
        }
        self.cut.extend(one.cut);
        self.damaged.extend(one.damaged);
        self.lost_before.extend(one.lost_before);
    }
}

fn salvage_table(folder: &Folder, table: &'static Table, before: &str, salvaged: &mut Salvaged) -> Result<(), Error> {
    // A file in place of the folder is found, and set aside, with the other files that can't be read.
    let Ok(Some(place)) = folder.inner(table.name) else { return Ok(()) };
    for stem in place.stems(UNFINISHED)? {
        place.remove_all(&format!("{stem}.{UNFINISHED}"))?;
    }
    let mut failed = None;
    // First, remove the files of an earlier salvage, which this one writes again.
    for extension in [DAMAGED, stream::EXTENSION] {
        for stem in place.stems(extension)? {
            let name = format!("{stem}.{extension}");
            let is_whole = is_whole(&place, &stem);
            let parquet = format!("{stem}.{}", parquet::EXTENSION);
            if !is_whole && place.has(&parquet) {
                // The stream has all of its rows.
                place.set_aside(&parquet)?;
            }
            if place.open_file(&name).is_ok_and(|file| file.metadata().is_ok_and(|facts| facts.len() == 0)) {
                salvaged.cut.push(table.name.to_string());
            }
            let unread = match (is_whole, extension == DAMAGED) {
                (false, _) => parquet::convert(&place, &stem, extension, table).map(|converted| converted.unread),
                // Its writer, or an earlier salvage, ended after the Parquet file was complete.
                (true, true) => parquet::unread(&place, &stem, table),
                (true, false) => place.remove_all(&name).map(|()| None),
            };
            match unread.map_err(|error| error.writing(&place.path().join(format!("{stem}.{UNFINISHED}")))) {
                Ok(None) => {}
                Ok(Some(unread)) if unread.is_cut => salvaged.cut.push(table.name.to_string()),
                Ok(Some(unread)) => salvaged.damaged.push(damage(table, &unread, &stem)),
                Err(error) if error.is_of_the_machine() => failed = failed.or(Some(error)),
                Err(error) => {
                    let why = error.why();
                    let skipped = Skipped { table, file: Some(name), rows: None, why, leaves_rest: false };
                    salvaged.damaged.push(set_aside(folder, &skipped, before));
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Whether a stream has become a Parquet file that can be read, so that it is not needed any more.
fn is_whole(place: &Folder, stem: &str) -> bool {
    let name = format!("{stem}.{}", parquet::EXTENSION);
    let is_readable = |file: File| {
        parquet::facts_of_file(&file, &place.path().join(&name)).is_ok()
            && checksum::is_whole(&file).is_ok_and(|is_whole| is_whole != Some(false))
    };
    place.open_file(&name).is_ok_and(is_readable)
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
        Err(error) if error.is_not_found() => folder.create_file(LOCK)?,
        // Only a regular file can be locked, so this entry is nobody's lock.
        Err(_) if !folder.has_file(LOCK) => {
            folder.set_aside(LOCK)?;
            folder.create_file(LOCK)?
        }
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
