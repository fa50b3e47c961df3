//! Files and folders that only their owner can read, and changes to them that are whole or not at all.

use crate::Error;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::io("create", path))
}

pub(crate) fn create_file(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::io("create", path))
}

/// Replaces a file: a reader, or a crash, sees the old text or the new one.
pub(crate) fn replace(path: &Path, text: &[u8]) -> Result<(), Error> {
    let next = path.with_extension("next");
    let mut file = create_file(&next)?;
    file.write_all(text).and_then(|()| file.sync_all()).map_err(Error::io("write", &next))?;
    std::fs::rename(&next, path).map_err(Error::io("replace", path))?;
    sync_folder(path)
}

/// Makes a rename or a removal in the folder of `path` survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> Result<(), Error> {
    let Some(folder) = path.parent() else { return Ok(()) };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", folder))
}
