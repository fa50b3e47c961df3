//! Saves a window as a recording of its own, as `helenus freeze` does.

use super::library::Library;
use crate::command_line::command_line;
use crate::{flushed, terminal};
use anyhow::{Context, Result, bail, ensure};
use chrono::DateTime;
use helenus_explain::Saved;
use helenus_recording::{Recording, freeze};
use std::path::Path;
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

/// Letters of a name, without the extension.
const LONGEST_NAME: usize = 100;
const EXTENSION: &str = ".helenus";
/// This share of the disk stays free.
const LEFT_FREE: f64 = 0.05;

/// One window is saved at a time.
#[derive(Debug, Default)]
pub(super) struct Saves(Mutex<()>);

impl Saves {
    /// Copies a window, in ns on the clock of the recording, into the library's folder for saved recordings.
    pub(super) fn save(&self, library: &Library, recording: &str, window: (i64, i64), name: &str) -> Result<Saved> {
        let name = checked(name)?;
        let out = library.saves().join(&name);
        // Also a link that leads nowhere.
        ensure!(
            library.path(&name).is_err() && out.symlink_metadata().is_err(),
            "there is {name} already; choose another name"
        );
        let _one = match self.0.try_lock() {
            Ok(one) => one,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => bail!("another window is being saved; try again when that has ended"),
        };
        let from = flushed::recording(&library.path(recording)?)?;
        room_for(&from, library.saves())?;
        let title = title(&from.manifest().title, window);
        let manifest = freeze(&from, window, &out, (&title, &command_line()), &|| true)?;
        library.add_saved(&name);
        let tables = manifest.tables.values();
        let (rows, bytes) = tables.fold((0, 0), |(rows, bytes), table| (rows + table.rows, bytes + table.bytes));
        Ok(Saved { name, path: out.display().to_string(), rows, bytes })
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
