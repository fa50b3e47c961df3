//! Removes everything that a try has made, by this process or an earlier one, complete or not.

use super::error::file;
use super::{Entry, Error, Step, sstables};
use helenus_cassandra::journal::Journal;
use helenus_cassandra::state::Registry;
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_cassandra::{Error as ClusterError, Places};
use helenus_control::Link;
use std::path::{Path, PathBuf};

/// A file that marks each folder created here; nothing without it is ever removed.
const MARKER: &str = ".helenus-try";

/// Makes the folder of the trial nodes.
pub(super) fn make_folder(entry: &Entry) -> Result<(), Error> {
    let folder = &entry.folder;
    std::fs::create_dir(folder).map_err(file("make the folder", folder))?;
    let marker = folder.join(MARKER);
    std::fs::write(&marker, &entry.id).map_err(file("write", &marker))
}

/// Removes the nodes, the snapshot and the folder of a try.
#[derive(Debug)]
pub struct Cleaner {
    pub journal: Journal<Entry>,
    pub places: Places,
    /// The agent's jar, used to make a node clear its snapshot.
    pub agent: &'static [u8],
}

impl Cleaner {
    /// Entries whose helenus process has ended.
    ///
    /// # Errors
    /// [`Error::Journal`].
    pub fn left_behind(&self) -> Result<Vec<Entry>, Error> {
        Ok(self.journal.entries()?.into_iter().filter(|entry| !entry.is_running()).collect())
    }

    /// Stops the nodes, has the snapshot cleared, and removes the folder and then the entry. A step that fails does not
    /// stop the others; the call can be repeated.
    ///
    /// # Errors
    /// Names what remains, and why. The entry stays in the journal.
    pub fn clean(&self, entry: &Entry) -> Result<(), Error> {
        self.clean_but(entry, true)
    }

    /// Like [`Cleaner::clean`], but can keep the trial nodes' logs.
    pub(super) fn clean_but(&self, entry: &Entry, logs: bool) -> Result<(), Error> {
        let stopped = self.stop(entry, logs);
        let cleared = self.clear_snapshot(entry);
        let removed = remove(&entry.folder);
        stopped.and(cleared).and(removed)?;
        Ok(self.journal.remove(entry)?)
    }

    fn stop(&self, entry: &Entry, logs: bool) -> Result<(), Error> {
        let registry = Registry::new(self.places.clone());
        for name in &entry.clusters {
            match registry.down(name, false, &mut |_| {}) {
                Ok(_) | Err(ClusterError::NoSuchCluster { .. }) if logs => registry.remove_logs(name)?,
                Ok(_) | Err(ClusterError::NoSuchCluster { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn clear_snapshot(&self, entry: &Entry) -> Result<(), Error> {
        let tag = entry.tag();
        let there = || sstables::folders(&entry.data, &entry.keyspace, &entry.table, &tag);
        // A snapshot that was being taken may still appear, because the node waits for it.
        if entry.step < Step::Snapshot || (entry.step > Step::Snapshot && there().is_empty()) {
            return Ok(());
        }
        let asked = match node(entry) {
            Some(target) => Link::open(&target, self.agent)
                .and_then(|mut link| link.clear_snapshot(&tag, &entry.keyspace))
                .map_err(Error::from),
            None => Ok(()),
        };
        // If the node is down or refuses, the snapshot's folders are removed directly; the tag is unique to this trial.
        let left = there();
        for folder in &left {
            std::fs::remove_dir_all(folder).map_err(file("remove", folder))?;
            remove_if_empty(folder.parent());
        }
        if left.is_empty() { asked } else { Ok(()) }
    }
}

/// The process that has the table now, which may be another one than at the start.
fn node(entry: &Entry) -> Option<Target> {
    let same =
        target::find(TargetName::Pid(entry.process.0)).ok().filter(|target| target.start_ticks == entry.process.1);
    same.or_else(|| target::find(TargetName::Address(entry.address?)).ok()).filter(|target| target.is_cassandra)
}

fn remove(folder: &PathBuf) -> Result<(), Error> {
    if !folder.join(MARKER).exists() {
        // The folder was not created yet, was removed already, or the process was killed between both steps.
        remove_if_empty(Some(folder));
        return Ok(());
    }
    std::fs::remove_dir_all(folder).map_err(file("remove", folder))
}

/// Cassandra also removes the folder `snapshots` with the last snapshot.
fn remove_if_empty(folder: Option<&Path>) {
    if let Some(folder) = folder {
        let _ = std::fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_try_has_left_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("state");
        let places = Places { cache: place.path().join("cache"), state: state.clone() };
        let cleaner = Cleaner { journal: Journal::within(&state), places, agent: &[] };
        let data = place.path().join("data");
        let table = data.join("shop/orders-0123456789abcdef0123456789abcdef");
        let mut entry = Entry {
            keyspace: "shop".into(),
            table: "orders".into(),
            data: vec![data],
            folder: place.path().join("trial nodes"),
            step: Step::Link,
            clusters: vec!["try-1-0".into()],
            ..Entry::new()
        };
        entry.runner.1 += 1;
        cleaner.journal.write(&entry).unwrap();
        make_folder(&entry).unwrap();
        let snapshots = table.join("snapshots");
        for tag in [entry.tag(), "theirs".into()] {
            std::fs::create_dir_all(snapshots.join(&tag)).unwrap();
            std::fs::write(snapshots.join(tag).join("nb-1-big-Data.db"), "").unwrap();
        }
        std::fs::create_dir_all(state.join("logs/try-1-0/node1")).unwrap();
        assert_eq!(cleaner.left_behind().unwrap(), std::slice::from_ref(&entry));
        cleaner.clean(&entry).unwrap();
        let left = |folder: &Path| {
            std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>()
        };
        assert_eq!(left(&snapshots), ["theirs"]);
        assert!(
            !entry.folder.exists() && left(&state.join("logs")).is_empty() && left(&state.join("tries")).is_empty()
        );
        // Cleaning twice has no further effect. A folder without the marker was not created by Helenus.
        std::fs::create_dir(&entry.folder).unwrap();
        std::fs::write(entry.folder.join("thesis.txt"), "").unwrap();
        cleaner.clean(&entry).unwrap();
        assert!(entry.folder.exists());
    }
}
