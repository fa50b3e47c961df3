//! Saves a window as a recording of its own, as `helenus freeze` does. The server chooses the place and the name; a child copies.

use super::library::Library;
use crate::command_line::command_line;
use crate::{flushed, terminal};
use anyhow::{Context, Result, bail, ensure};
use chrono::DateTime;
use helenus_explain::Saved;
use helenus_recording::{Recording, freeze};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Letters of a name, without the extension.
const LONGEST_NAME: usize = 100;
const EXTENSION: &str = ".helenus";
/// This share of the disk stays free.
const LEFT_FREE: f64 = 0.05;
/// The copy is made in a folder with this name beside its place, which goes with whatever is in it.
const UNFINISHED: &str = ".helenus-save-";

/// One window is saved at a time.
#[derive(Debug, Default)]
pub(super) struct Saves(Arc<Mutex<()>>);

/// The place of a window that is being saved.
#[derive(Debug)]
pub(super) struct Place {
    name: String,
    out: PathBuf,
    unfinished: tempfile::TempDir,
    _one: OwnedMutexGuard<()>,
}

/// The child's order to copy a window.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    name: String,
    /// The path that the page shows.
    shown: String,
    /// A path need not be UTF-8.
    unfinished: Vec<u8>,
    command: String,
}

impl Place {
    /// A place in the library's folder for saved recordings. Refuses a name that is in use, and a copy that might fill the disk.
    pub(super) fn of(library: &Library, saves: &Saves, recording: &str, name: &str) -> Result<Place> {
        let name = checked(name)?;
        let out = library.saves().join(&name);
        // Also a link that leads nowhere.
        ensure!(
            library.path(&name).is_err() && out.symlink_metadata().is_err(),
            "there is {name} already; choose another name"
        );
        let Ok(one) = Arc::clone(&saves.0).try_lock_owned() else {
            bail!("another window is being saved; try again when that has ended");
        };
        library.path(recording)?;
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(library.saves());
        let unfinished = unfinished.with_context(|| format!("cannot write in {}", library.saves().display()))?;
        Ok(Place { name, out, unfinished, _one: one })
    }

    pub(super) fn order(&self) -> Order {
        Order {
            name: self.name.clone(),
            shown: self.out.display().to_string(),
            unfinished: self.copy().as_os_str().as_bytes().to_vec(),
            command: command_line(),
        }
    }

    fn copy(&self) -> PathBuf {
        self.unfinished.path().join(&self.name)
    }

    /// Puts the complete copy in its place, and lists it.
    pub(super) fn keep(self, library: &Library) -> Result<()> {
        let placed = renameat_with(CWD, self.copy(), CWD, &self.out, RenameFlags::NOREPLACE);
        placed.with_context(|| format!("cannot write {}", self.out.display()))?;
        library.add_saved(&self.name);
        Ok(())
    }
}

impl Order {
    /// Copies a window, in ns on the clock of the recording.
    pub(super) fn write(&self, recording: &Path, window: (i64, i64)) -> Result<Saved> {
        let from = flushed::recording(recording)?;
        let out = PathBuf::from(OsString::from_vec(self.unfinished.clone()));
        room_for(&from, out.parent().unwrap_or(&out))?;
        let title = title(&from.manifest().title, window);
        let manifest = freeze(&from, window, &out, (&title, &self.command), &|| true)?;
        let tables = manifest.tables.values();
        let (rows, bytes) = tables.fold((0, 0), |(rows, bytes), table| (rows + table.rows, bytes + table.bytes));
        Ok(Saved { name: self.name.clone(), path: self.shown.clone(), rows, bytes })
    }
}

/// The name of a folder that leads nowhere else.
fn checked(name: &str) -> Result<String> {
    let stem = name.strip_suffix(EXTENSION).unwrap_or(name);
    let is_fine = stem.starts_with(|first: char| first.is_ascii_alphanumeric())
        && stem.len() <= LONGEST_NAME
        && stem.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    ensure!(
        is_fine,
        "`{name}` is no name for a recording: give at most {LONGEST_NAME} letters, digits, dots, dashes and underscores, the first \
         a letter or a digit"
    );
    Ok(format!("{stem}{EXTENSION}"))
}

/// The title of the copy, which says when it was.
fn title(whole: &str, (from_ns, to_ns): (i64, i64)) -> String {
    let begin = DateTime::from_timestamp_nanos(from_ns).format("%Y-%m-%d %H:%M:%S");
    format!("{whole}, {:.1?} from {begin} UTC", Duration::from_nanos(to_ns.saturating_sub(from_ns).unsigned_abs()))
}

/// Refuses to fill the disk. The copy has at most the rows of the whole recording.
fn room_for(from: &Recording, folder: &Path) -> Result<()> {
    let facts =
        rustix::fs::statvfs(folder).with_context(|| format!("cannot look at the disk of {}", folder.display()))?;
    let left = (facts.f_blocks.saturating_mul(facts.f_frsize) as f64 * LEFT_FREE) as u64;
    let usable = facts.f_bavail.saturating_mul(facts.f_frsize).saturating_sub(left);
    let needed: u64 = from.manifest().tables.values().map(|table| table.bytes).sum();
    ensure!(
        needed <= usable,
        "the disk of {} is too full: the copy may need {}, and {} can be used",
        folder.display(),
        terminal::bytes(needed),
        terminal::bytes(usable)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        assert_eq!(checked("monday").unwrap(), "monday.helenus");
        assert_eq!(checked("run-10.5-20s.helenus").unwrap(), "run-10.5-20s.helenus");
        let long = "x".repeat(LONGEST_NAME + 1);
        for name in ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "-o", "a\0b", "a b", "ä", ".helenus", &long] {
            assert!(checked(name).is_err(), "{name}");
        }
    }
}
