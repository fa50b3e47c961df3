//! The recordings that can be opened: one, or those in a folder, and those that were saved since. A name that is not in the list
//! opens nothing.

use anyhow::{Context, Result, bail};
use helenus_explain::Listed;
use helenus_recording::{Manifest, Recording, State, Tail};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The deepest folder that is searched for recordings.
const DEEPEST: usize = 3;
/// The most recordings that are listed.
const MOST: usize = 1000;
/// The most files and folders to visit.
const MOST_ENTRIES: usize = 20_000;

const MANIFEST: &str = "manifest.json";

/// Identifier of a closed recording, with inode and time of its manifest.
pub type Identity = (String, u64, i64, i64);

#[derive(Debug)]
pub struct Library {
    root: PathBuf,
    /// Whether the root folder itself is the recording.
    is_recording: bool,
    /// The folder for saved recordings.
    saves: PathBuf,
    /// Recordings that were saved outside of the opened folder.
    saved: Mutex<Vec<(String, PathBuf)>>,
}

impl Library {
    pub fn open(path: &Path) -> Result<Library> {
        let root = path.canonicalize().with_context(|| format!("cannot open {}", path.display()))?;
        if !root.is_dir() {
            bail!("{} is neither a recording nor a folder of recordings", path.display());
        }
        let is_recording = is_recording(&root);
        let saves = if is_recording { folder_of(&root) } else { root.clone() };
        let library = Library { root, is_recording, saves, saved: Mutex::default() };
        if library.listed().is_empty() {
            bail!("there is no recording in {}; make one with: helenus record", path.display());
        }
        Ok(library)
    }

    /// A recording that is about to begin. Saved recordings come into the folder `saves`.
    pub fn of_new(path: &Path, saves: &Path) -> Result<Library> {
        let (Some(name), folder) = (path.file_name(), folder_of(path)) else {
            bail!("{} is no name of a new recording", path.display());
        };
        let found = |folder: &Path| folder.canonicalize().with_context(|| format!("cannot open {}", folder.display()));
        let (root, saves) = (found(&folder)?.join(name), found(saves)?);
        Ok(Library { root, is_recording: true, saves, saved: Mutex::default() })
    }

    /// The folder for saved recordings.
    pub fn saves(&self) -> &Path {
        &self.saves
    }

    /// Lists a recording that was saved as `name` in the folder for them.
    pub fn add_saved(&self, name: &str) {
        if self.is_recording {
            let saved = (name.to_string(), self.saves.join(name));
            self.saved.lock().unwrap_or_else(PoisonError::into_inner).push(saved);
        }
    }

    /// All recordings that exist now, the newest first.
    pub fn listed(&self) -> Vec<Listed> {
        let mut found = Vec::new();
        for (name, path) in self.paths() {
            let Ok(manifest) = Manifest::of(&path) else { continue };
            // The facts of a kept recording are in its segments.
            let manifest = match manifest.kept.is_some() {
                true => Recording::open(&path).map_or(manifest, |recording| recording.manifest().clone()),
                false => manifest,
            };
            let is_growing =
                manifest.state == State::Writing && Tail::open(&path, i64::MAX).is_ok_and(|tail| tail.is_growing());
            found.push((manifest.created_ns, Listed { is_growing, ..Listed::of(&name, &manifest) }));
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

    /// If the recording is closed, so that it does not change any more: what tells it from another one that has had its name.
    pub fn closed(&self, name: &str) -> Option<Identity> {
        let path = self.path(name).ok()?;
        let closed = Manifest::of(&path).ok().filter(|manifest| manifest.state != State::Writing)?;
        let file = path.join(MANIFEST).metadata().ok()?;
        Some((closed.id, file.ino(), file.mtime(), file.mtime_nsec()))
    }

    /// Names and paths of the recordings.
    fn paths(&self) -> Vec<(String, PathBuf)> {
        if self.is_recording {
            let name = shown(Path::new(self.root.file_name().unwrap_or_default()));
            let mut all = vec![(name, self.root.clone())];
            let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(saved.iter().filter(|(_, path)| is_recording(path)).cloned());
            return all;
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
                found.push((shown(path.strip_prefix(&self.root).unwrap_or(&path)), path));
            } else if depth + 1 < DEEPEST {
                self.search(&path, depth + 1, left, found);
            }
        }
    }
}

/// A path as text. Invalid UTF-8 is written byte by byte as `\xff`, so that two such names differ.
fn shown(path: &Path) -> String {
    let chunks = path.as_os_str().as_bytes().utf8_chunks();
    chunks.fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        text
    })
}

/// The folder that a path is in.
fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_path_buf()
}

fn is_recording(folder: &Path) -> bool {
    folder.join(MANIFEST).symlink_metadata().is_ok_and(|file| file.is_file())
}
