//! Makes a whole recording of one that was never closed.

use crate::manifest::{Loss, Manifest, State, TableFacts};
use crate::recorder::is_full;
use crate::recording::files;
use crate::stream::{self, Ended};
use crate::{Error, TABLES, parquet, private};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// What salvage found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The recording had been closed: nothing was to be done.
    pub was_closed: bool,
    pub tables: BTreeMap<String, TableFacts>,
    /// Tables whose last message was cut off; the rows before it are all there.
    pub cut: Vec<String>,
}

/// Turns the streams of a recording whose writer was ended into Parquet. It can be run again after any interruption,
/// a full disk included, and never removes rows that are not in a whole Parquet file.
pub fn salvage(folder: &Path) -> Result<Salvaged, Error> {
    let mut manifest = Manifest::read(folder)?;
    let Some(_lock) = lock(folder)? else {
        return Err(Error::StillWriting { path: folder.to_path_buf(), pid: manifest.writer_pid });
    };
    if manifest.state != State::Writing {
        return Ok(Salvaged { was_closed: true, tables: manifest.tables, cut: Vec::new() });
    }
    let mut salvaged = Salvaged::default();
    for table in TABLES {
        let place = folder.join(table.name);
        for unfinished in files(&place, "unfinished")? {
            std::fs::remove_file(&unfinished).map_err(Error::io("remove", &unfinished))?;
        }
        for path in files(&place, stream::EXTENSION)? {
            if path.with_extension(parquet::EXTENSION).exists() {
                // The writer was ended between making the Parquet file whole and removing the stream.
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
                continue;
            }
            let converted = parquet::convert(&path, table).map_err(|error| if_full(error, &path, folder))?;
            if converted.ended == Ended::Cut {
                salvaged.cut.push(table.name.to_string());
            }
        }
        let facts = facts_of(&place)?;
        if facts.rows > 0 {
            salvaged.tables.insert(table.name.to_string(), facts);
        }
    }
    for table in &salvaged.cut {
        let reason = "its writer was ended while it wrote its last message".to_string();
        manifest.losses.push(Loss { table: table.clone(), rows: None, reason });
    }
    manifest.tables = salvaged.tables.clone();
    manifest.state = State::Salvaged;
    manifest.write(folder).map_err(|error| if_full(error, folder, folder))?;
    Ok(salvaged)
}

/// Rows and bytes of a dataset, from the footers of its files.
pub(crate) fn facts_of(dataset: &Path) -> Result<TableFacts, Error> {
    let mut facts = TableFacts::default();
    for path in files(dataset, parquet::EXTENSION)? {
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        facts.bytes += file.metadata().map_err(Error::io("read", &path))?.len();
        let footer = ::parquet::file::metadata::ParquetMetaDataReader::new()
            .parse_and_finish(&file)
            .map_err(|error| Error::Damaged { path: path.clone(), reason: error.to_string() })?;
        facts.rows += u64::try_from(footer.file_metadata().num_rows()).unwrap_or(0);
    }
    Ok(facts)
}

/// Takes the lock of a recording, which its end gives back, however it ends. None when somebody else holds it.
pub(crate) fn lock(folder: &Path) -> Result<Option<File>, Error> {
    let path = folder.join("writer.lock");
    let file = private::create_file(&path)?;
    // SAFETY: flock takes a descriptor that `file` keeps open, and no pointers.
    let taken = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    if taken {
        return Ok(Some(file));
    }
    let error = std::io::Error::last_os_error();
    if error.kind() == std::io::ErrorKind::WouldBlock { Ok(None) } else { Err(Error::io("lock", &path)(error)) }
}

pub(crate) fn if_full(error: Error, path: &Path, recording: &Path) -> Error {
    if is_full(&error) {
        Error::DiskFull { path: path.to_path_buf(), recording: recording.to_path_buf() }
    } else {
        error
    }
}
