//! Files and folders that only their owner can read, whose names are never resolved through links, and that are changed
//! completely or not at all.

use crate::Error;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, RawMode};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PRIVATE_FILE: RawMode = 0o600;
const PRIVATE_FOLDER: RawMode = 0o700;
/// Folders in folders whose files are counted: a segment has two.
const DEEPEST: usize = 8;
/// The unit of a file's blocks (stat(2)).
const BLOCK_BYTES: u64 = 512;
/// The extension of files that salvage has set aside.
pub(crate) const SET_ASIDE: &str = "set-aside";

/// A folder that is kept open, so that renaming or replacing its path does not redirect operations on it.
///
/// Names in it are single components and are never resolved through links.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at a path that the user named, which may be a link.
    pub(crate) fn open(path: &Path) -> Result<Folder, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(Error::errno("open", path))?;
        Ok(Folder { descriptor, path: path.to_path_buf() })
    }

    /// Creates a folder, or opens an existing one that is empty and belongs to the user who runs this. The parent
    /// folder must exist.
    pub(crate) fn create(path: &Path) -> Result<Folder, Error> {
        match rustix::fs::mkdir(path, Mode::from_raw_mode(PRIVATE_FOLDER)) {
            Ok(()) => return Folder::open(path),
            Err(error) if error == rustix::io::Errno::EXIST => {}
            Err(error) if error == rustix::io::Errno::NOENT => return Err(Error::NoPlace(path.to_path_buf())),
            Err(error) => return Err(Error::errno("create", path)(error)),
        }
        if !path.is_dir() {
            return Err(Error::Exists(path.to_path_buf()));
        }
        let folder = Folder::open(path)?.owned()?;
        if folder.names()?.is_empty() { Ok(folder) } else { Err(Error::Exists(path.to_path_buf())) }
    }

    /// Returns the folder if it belongs to the current user: any other owner could change its files at any time.
    pub(crate) fn owned(self) -> Result<Folder, Error> {
        let facts = rustix::fs::fstat(&self.descriptor).map_err(Error::errno("read", &self.path))?;
        if facts.st_uid == own_user() { Ok(self) } else { Err(Error::Foreign { path: self.path, owner: facts.st_uid }) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in it; None if it does not exist.
    pub(crate) fn inner(&self, name: &str) -> Result<Option<Folder>, Error> {
        self.path_of(name)?;
        self.inner_at(OsStr::new(name))
    }

    fn inner_at(&self, name: &OsStr) -> Result<Option<Folder>, Error> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Some(Folder { descriptor, path })),
            Err(error) if error == rustix::io::Errno::NOENT => Ok(None),
            Err(error) => Err(Error::errno("open", &path)(error)),
        }
    }

    /// Opens a folder inside this one, and creates it if it does not exist.
    pub(crate) fn make_inner(&self, name: &str) -> Result<Folder, Error> {
        let path = self.path_of(name)?;
        match rustix::fs::mkdirat(&self.descriptor, name, Mode::from_raw_mode(PRIVATE_FOLDER)) {
            Ok(()) => {}
            Err(error) if error == rustix::io::Errno::EXIST => {}
            Err(error) => return Err(Error::errno("create", &path)(error)),
        }
        let gone = || Error::Io { action: "open", path, source: ErrorKind::NotFound.into() };
        self.inner(name)?.ok_or_else(gone)
    }

    /// Opens a regular file in it for reading.
    pub(crate) fn open_file(&self, name: &str) -> Result<File, Error> {
        let path = self.path_of(name)?;
        // Without NONBLOCK, opening a FIFO blocks until another process opens it for writing.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty());
        let file = File::from(file.map_err(Error::errno("open", &path))?);
        if file.metadata().map_err(Error::io("read", &path))?.is_file() {
            Ok(file)
        } else {
            Err(Error::Io { action: "open", path, source: io::Error::other("it is no regular file") })
        }
    }

    /// Reads a whole regular file of at most `most_bytes`.
    pub(crate) fn read(&self, name: &str, most_bytes: u64) -> Result<Vec<u8>, Error> {
        let (file, path) = (self.open_file(name)?, self.path.join(name));
        let mut bytes = Vec::new();
        file.take(most_bytes + 1).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        if bytes.len() as u64 > most_bytes {
            let source = io::Error::other(format!("it has more than {} MiB", most_bytes >> 20));
            return Err(Error::Io { action: "read", path, source });
        }
        Ok(bytes)
    }

    /// Creates a file in the folder; whatever has that name is removed first.
    pub(crate) fn create_file(&self, name: &str) -> Result<File, Error> {
        let path = self.path_of(name)?;
        self.remove_all(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.descriptor, name, flags, Mode::from_raw_mode(PRIVATE_FILE))
            .map(File::from)
            .map_err(Error::errno("create", &path))
    }

    /// Renames a file durably: the new name survives a power failure. A folder of that name is set aside.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        let path = self.path_of(to)?;
        let rename = || rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to);
        let renamed = match rename() {
            Err(error) if error == rustix::io::Errno::ISDIR => {
                self.set_aside(to)?;
                rename()
            }
            renamed => renamed,
        };
        renamed.and_then(|()| rustix::fs::fsync(&self.descriptor)).map_err(Error::errno("rename to", &path))
    }

    /// Removes a file if it exists.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => {
                Err(Error::errno("remove", &self.path.join(name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Removes whatever has this name: a file, a link, which is not followed, or a folder with all that is in it. An
    /// entry that can't be removed does not keep the others from being removed.
    pub(crate) fn remove_all(&self, name: &str) -> Result<(), Error> {
        self.path_of(name)?;
        self.remove_tree(OsStr::new(name))
    }

    fn remove_tree(&self, name: &OsStr) -> Result<(), Error> {
        let path = self.path.join(name);
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(error) if error == rustix::io::Errno::NOENT => return Ok(()),
            Err(error) if error == rustix::io::Errno::ISDIR => {}
            Err(error) => return Err(Error::errno("remove", &path)(error)),
        }
        let mut failed = None;
        if let Some(inner) = self.inner_at(name)? {
            for entry in inner.entries()? {
                failed = failed.or(inner.remove_tree(&entry).err());
            }
        }
        let removed = rustix::fs::unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR);
        failed.map_or(Ok(()), Err).and_then(|()| removed.map_err(Error::errno("remove", &path)))
    }

    /// Bytes on the disk that a file takes, or a folder with all that is in it. Folders that can't be read count as nothing.
    pub(crate) fn bytes_of(&self, name: &str) -> u64 {
        self.bytes_below(OsStr::new(name), DEEPEST)
    }

    fn bytes_below(&self, name: &OsStr, depth: usize) -> u64 {
        let Ok(facts) = rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) else { return 0 };
        match rustix::fs::FileType::from_raw_mode(facts.st_mode) {
            // A file with holes takes less than its length, and a short file less than its blocks.
            rustix::fs::FileType::RegularFile => {
                facts.st_size.unsigned_abs().min(facts.st_blocks.unsigned_abs().saturating_mul(BLOCK_BYTES))
            }
            rustix::fs::FileType::Directory if depth > 0 => {
                let Ok(Some(inner)) = self.inner_at(name) else { return 0 };
                let entries = inner.entries().unwrap_or_default();
                entries.iter().map(|entry| inner.bytes_below(entry, depth - 1)).fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }

    /// Whether the folder has an entry of this name, whatever it is.
    pub(crate) fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether an entry of this name is a regular file.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|facts| rustix::fs::FileType::from_raw_mode(facts.st_mode).is_file())
    }

    /// Gives an entry a name under which nothing reads it, and returns the name.
    pub(crate) fn set_aside(&self, name: &str) -> Result<String, Error> {
        let numbered = (2..).map(|number| format!("{name}.{SET_ASIDE}-{number}"));
        let mut names = std::iter::once(format!("{name}.{SET_ASIDE}")).chain(numbered);
        let aside = names.find(|aside| !self.has(aside)).unwrap_or_default();
        self.path_of(name)?;
        self.rename(name, &aside)?;
        Ok(aside)
    }

    /// Replaces a file: a reader, or a crash, sees either the old or the new text.
    pub(crate) fn replace(&self, name: &str, next: &str, text: &[u8]) -> Result<(), Error> {
        let mut file = self.create_file(next)?;
        file.write_all(text).and_then(|()| file.sync_all()).map_err(Error::io("write", &self.path.join(next)))?;
        self.rename(next, name)
    }

    /// Replaces a file as [`Folder::replace`] does, in the disk space of the file `reserve` of the same folder, which
    /// is used up by it. So the replacement succeeds on a full disk, even if other processes write there.
    pub(crate) fn replace_within(&self, name: &str, reserve: &str, text: &[u8]) -> Result<(), Error> {
        let path = self.path_of(reserve)?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.descriptor, reserve, flags, Mode::empty());
        let mut file = File::from(file.map_err(Error::errno("open", &path))?);
        file.write_all(text)
            .and_then(|()| file.set_len(text.len() as u64))
            .and_then(|()| file.sync_all())
            .map_err(Error::io("write", &path))?;
        self.rename(reserve, name)
    }

    /// Names of all files and folders in it, in order. Helenus's own names are ASCII; other names are listed as well,
    /// because these files belong to somebody else.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        let mut names: Vec<String> =
            self.entries()?.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn entries(&self) -> Result<Vec<OsString>, Error> {
        let read = || -> rustix::io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.descriptor)? {
                names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_os_string());
            }
            names.retain(|name| name != "." && name != "..");
            Ok(names)
        };
        read().map_err(Error::errno("read", &self.path))
    }

    /// Names of files with a given extension, without the extension, in order.
    pub(crate) fn stems(&self, extension: &str) -> Result<Vec<String>, Error> {
        let stem = |name: String| Some(name.strip_suffix(extension)?.strip_suffix('.')?.to_string());
        Ok(self.names()?.into_iter().filter_map(stem).collect())
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, Error> {
        if name.is_empty() || name.contains('/') || name == "." || name == ".." {
            let source = io::Error::other(format!("{name:?} is no name of a file in it"));
            return Err(Error::Io { action: "read", path: self.path.clone(), source });
        }
        Ok(self.path.join(name))
    }
}

/// A file for a person or another tool, such as a report. It is written under a temporary name and renamed when it is
/// complete. Until then, and after a failure, an older file of that name is kept.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Temporary path and final name; None for targets such as a pipe, which are written directly.
    renamed: Option<(PathBuf, PathBuf)>,
}

impl Output {
    pub fn create(path: &Path) -> io::Result<Output> {
        if std::fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
            return Ok(Output { file: File::options().write(true).open(path)?, renamed: None });
        }
        if path.file_name().is_none() || path.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let beside = beside(path);
        // A file left by a killed process with the same pid.
        let _ = std::fs::remove_file(&beside);
        let file = create_new(&beside)?;
        Ok(Output { file, renamed: Some((beside, path.to_path_buf())) })
    }

    /// Renames the file to its final name.
    pub fn finish(mut self) -> io::Result<()> {
        match &self.renamed {
            None => Ok(()),
            Some((beside, path)) => {
                self.file.flush()?;
                std::fs::rename(beside, path)?;
                self.renamed = None;
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.renamed {
            let _ = std::fs::remove_file(beside);
        }
    }
}

/// A path in the same folder for the unfinished file; it is short however long the name is.
pub(crate) fn beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".helenus-{}-{number}.unfinished", std::process::id()))
}

/// Bytes on the disk that a file takes, or a folder with all that is in it, whatever is damaged in it.
#[must_use]
pub fn bytes_of(path: &Path) -> u64 {
    in_its_folder(path, |folder, name| Ok(folder.bytes_of(name))).unwrap_or(0)
}

/// Removes whatever is at a path: a file, a link, which is not followed, or a folder with all that is in it. Succeeds if
/// nothing is there.
pub fn remove_all(path: &Path) -> Result<(), Error> {
    in_its_folder(path, Folder::remove_all)
}

fn in_its_folder<T>(path: &Path, work: impl FnOnce(&Folder, &str) -> Result<T, Error>) -> Result<T, Error> {
    let no_name = || Error::Io { action: "find", path: path.to_path_buf(), source: ErrorKind::InvalidInput.into() };
    let name = path.file_name().and_then(OsStr::to_str).ok_or_else(no_name)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    work(&Folder::open(folder)?, name)
}

/// Writes a whole file that only its owner can read, as [`Output`] does.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes)?;
    output.finish()
}

/// Creates a file that grows while others may read it, such as a log. Only its owner can read it; an existing file is
/// truncated.
pub fn create(path: &Path) -> io::Result<File> {
    match create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let file = File::options().write(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let facts = file.metadata()?;
    if facts.is_file() {
        if facts.uid() != own_user() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "the file belongs to another user"));
        }
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(PRIVATE_FILE))?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// The user id of this process.
fn own_user() -> u32 {
    // SAFETY: takes no arguments and can't fail.
    unsafe { libc::geteuid() }
}

fn create_new(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(PRIVATE_FILE).open(path)
}
