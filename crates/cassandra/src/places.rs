use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// Where this crate keeps files that outlive a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Fetched releases, one folder per version, shared by everything this user runs.
    pub cache: PathBuf,
    /// The running clusters and the logs of nodes.
    pub state: PathBuf,
}

impl Places {
    /// `$XDG_CACHE_HOME/helenus` and `$XDG_STATE_HOME/helenus`, or their defaults under `$HOME`
    /// (XDG Base Directory Specification).
    ///
    /// # Errors
    /// [`Error::NoHome`] when neither the variable nor `HOME` is set.
    pub fn of_user() -> Result<Self, Error> {
        Ok(Self {
            cache: user_folder("XDG_CACHE_HOME", ".cache")?,
            state: user_folder("XDG_STATE_HOME", ".local/state")?,
        })
    }
}

fn user_folder(variable: &'static str, below_home: &str) -> Result<PathBuf, Error> {
    // The specification has relative paths ignored.
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = match given {
        Some(base) => base,
        None => {
            std::env::home_dir().filter(|home| home.is_absolute()).ok_or(Error::NoHome { variable })?.join(below_home)
        }
    };
    Ok(base.join("helenus"))
}

/// Makes `path` and its parents, private to this user (0700) where they are new.
pub(crate) fn make_private(path: &Path) -> Result<(), Error> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::file("make the folder", path))
}

/// Whether `path` lies in memory (tmpfs), where data would be measured against no disk at all.
pub(crate) fn in_memory(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: an all-zero statfs is a valid value, `path` is NUL-terminated and both outlive the call.
    unsafe {
        let mut filesystem: libc::statfs = std::mem::zeroed();
        libc::statfs(path.as_ptr(), &raw mut filesystem) == 0 && filesystem.f_type == libc::TMPFS_MAGIC
    }
}
