//! The recordings that can be opened: one, or those in a folder. A name that is not in the list opens nothing.

use anyhow::{Context, Result, bail};
use helenus_explain::Listed;
use helenus_recording::{Manifest, Recording, State};
use std::path::{Path, PathBuf};

/// The deepest folder that is searched for recordings.
const DEEPEST: usize = 3;
/// The most recordings that are listed.
const MOST: usize = 1000;
/// The most files and folders to visit.
const MOST_ENTRIES: usize = 20_000;

#[derive(Debug, Clone)]
pub struct Library {
    root: PathBuf,
    /// Whether the root folder itself is the recording.
    is_recording: bool,
}

impl Library {
    pub fn open(path: &Path) -> Result<Library> {
        let root = path.canonicalize().with_context(|| format!("cannot open {}", path.display()))?;
        if !root.is_dir() {
            bail!("{} is neither a recording nor a folder of recordings", path.display());
        }
        let is_recording = is_recording(&root);
        let library = Library { root, is_recording };
        if library.listed().is_empty() {
            bail!("there is no recording in {}; make one with: helenus record", path.display());
        }
        Ok(library)
    }

    /// All recordings that exist now, the newest first.
    pub fn listed(&self) -> Vec<Listed> {
        let mut found = Vec::new();
        for (name, path) in self.paths() {
            if let Ok(manifest) = Manifest::of(&path) {
                found.push((manifest.created_ns, Listed::of(&name, &manifest)));
            }
        }
        found.sort_by_key(|(created_ns, _)| std::cmp::Reverse(*created_ns));
        found.into_iter().map(|(_, listed)| listed).collect()
    }

    /// Opens a recording of the list; the name is never used as a path.
    pub fn recording(&self, name: &str) -> Result<Recording> {
        Ok(Recording::open(&self.path(name)?)?)
    }

    /// The path of a listed recording.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let found = self.paths().into_iter().find(|(known, _)| known == name);
        found.map(|(_, path)| path).with_context(|| format!("there is no recording {name} in the opened folder"))
    }

    /// Whether the recording is closed, so that it does not change any more.
    pub fn is_closed(&self, name: &str) -> bool {
        let manifest = self.path(name).ok().and_then(|path| Manifest::of(&path).ok());
        manifest.is_some_and(|manifest| manifest.state != State::Writing)
    }

    /// Names and paths of the recordings.
    fn paths(&self) -> Vec<(String, PathBuf)> {
        if self.is_recording {
            let name = self.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return vec![(name, self.root.clone())];
        }
        let (mut found, mut left) = (Vec::new(), MOST_ENTRIES);
        self.search(&self.root, 0, &mut left, &mut found);
        found.sort();
        found
    }

    fn search(&self, folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<(String, PathBuf)>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if *left == 0 || found.len() >= MOST {
                return;
            }
            *left -= 1;
            // Links are not followed.
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            if is_recording(&path) {
                let name = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
                found.extend(name.map(|name| (name.to_string(), path.clone())));
            } else if depth + 1 < DEEPEST {
                self.search(&path, depth + 1, left, found);
            }
        }
    }
}

fn is_recording(folder: &Path) -> bool {
    folder.join("manifest.json").symlink_metadata().is_ok_and(|file| file.is_file())
}
