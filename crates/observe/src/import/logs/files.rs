//! The logs of a folder or of one file: found, unpacked, and named by their nodes.

use super::super::unpack::Unpacked;
use super::zip::{self, Entry};
use helenus_cassandra::foreign::open_regular;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The most files and the deepest folder that are looked at.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 12;
/// The most unpacked bytes of one file; log files are rolled long before.
const LARGEST: u64 = 8 << 30;
/// Folders that name no node.
const OF_ALL: [&str; 9] = ["logs", "log", "cassandra", "var", "gc", "system", "opt", "usr", "dse"];

/// A file that may be a log.
#[derive(Debug, Clone)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    /// The folder within the bundle.
    folder: PathBuf,
    /// Where it is, in a zip file.
    entry: Option<Entry>,
    /// The file's name, without `.zip`.
    pub(super) name: String,
}

/// Finds the files that may be logs, by their names. A path that is a file is taken whatever its name is.
pub(super) fn find(path: &Path) -> io::Result<Vec<LogFile>> {
    let mut found = Vec::new();
    if std::fs::metadata(path)?.is_dir() {
        walk(path, Path::new(""), 0, &mut found)?;
        // The order on the disk differs from machine to machine.
        found.sort_by(|a, b| (&a.folder, &a.name).cmp(&(&b.folder, &b.name)));
    } else {
        push(path.to_path_buf(), Path::new(""), &mut found);
    }
    Ok(found)
}

fn walk(folder: &Path, within: &Path, depth: usize, found: &mut Vec<LogFile>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A link may lead out of the bundle.
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if found.len() >= MOST_FILES {
            return Ok(());
        }
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), &within.join(&name), depth + 1, found)?;
        } else if kind.is_file() && may_be_log(&name) {
            push(entry.path(), within, found);
        }
    }
    Ok(())
}

/// Whether a file may be a log, by its name: `system.log`, `debug.log.2026-11-27.0.zip`, `gc.log.0.current`.
fn may_be_log(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_other = [".db", ".jar", ".yaml", ".properties", ".jfr", ".hprof"].iter().any(|end| name.ends_with(end));
    !is_other && (name.contains("log") || name.starts_with("gc"))
}

/// Adds a file, or each log in a zip file. Names in a zip file only tell nodes apart.
fn push(path: PathBuf, folder: &Path, found: &mut Vec<LogFile>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let left = MOST_FILES.saturating_sub(found.len());
    let entries = open_regular(&path).and_then(|mut file| zip::entries(&mut file, left)).ok().flatten();
    let folder = folder.to_path_buf();
    match entries {
        None => found.push(LogFile { path, folder, entry: None, name }),
        // Logback rolls a log into a zip file of its own.
        Some(mut entries) if entries.len() == 1 => {
            let name = name.strip_suffix(".zip").unwrap_or(&name).to_string();
            found.push(LogFile { path, folder, entry: entries.pop(), name });
        }
        Some(entries) => {
            for entry in entries {
                let within = PathBuf::from(&entry.name);
                let name = within.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if may_be_log(&name) {
                    let folder = folder.join(within.parent().unwrap_or(Path::new("")));
                    found.push(LogFile { path: path.clone(), folder, entry: Some(entry), name });
                }
            }
        }
    }
}

impl LogFile {
    /// Calls `read` with the unpacked text. Returns the result, and whether the compressed data ended early.
    pub(super) fn read<T>(&self, read: impl FnOnce(&mut dyn BufRead) -> io::Result<T>) -> io::Result<(T, bool)> {
        let file = open_regular(&self.path)?;
        let from: Box<dyn BufRead> = match &self.entry {
            Some(entry) => zip::open(file, entry)?,
            None => Box::new(BufReader::new(file)),
        };
        let unpacked = Unpacked::of(from)?;
        let is_broken = unpacked.broken();
        let mut from = unpacked.from.take(LARGEST);
        let result = read(&mut from)?;
        Ok((result, is_broken.get()))
    }

    /// When the file was last changed, in ns since the Unix epoch.
    pub(super) fn changed_ns(&self) -> i64 {
        let changed = File::open(&self.path).and_then(|file| file.metadata()).and_then(|facts| facts.modified());
        let since = changed.ok().and_then(|changed| changed.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    /// The kind of log by its name: `system`, `debug`, `gc`.
    pub(super) fn stem(&self) -> &str {
        self.name.split_once(".log").map_or(self.name.as_str(), |(stem, _)| stem)
    }

    /// The folders that may name the node: an address, or all but those that every node has.
    fn node_parts(&self) -> Vec<String> {
        let parts = self.folder.iter().map(|part| part.to_string_lossy().into_owned());
        let is_address = |part: &str| part.parse::<IpAddr>().is_ok();
        let parts: Vec<String> = parts.collect();
        match parts.iter().find(|part| is_address(part)) {
            Some(address) => vec![address.clone()],
            None => parts.into_iter().filter(|part| !OF_ALL.contains(&part.to_lowercase().as_str())).collect(),
        }
    }
}

/// The node of each file: the part of its folder in which the nodes differ, or `name` if there is one node.
pub(super) fn nodes(files: &[LogFile], name: &str) -> Vec<String> {
    let parts: Vec<Vec<String>> = files.iter().map(LogFile::node_parts).collect();
    let distinct: BTreeSet<&Vec<String>> = parts.iter().collect();
    if distinct.len() <= 1 {
        return vec![name.to_string(); files.len()];
    }
    let first = parts.first().cloned().unwrap_or_default();
    let is_common = |at: usize| parts.iter().all(|parts| parts.len() > at + 1 && parts[at] == first[at]);
    let common = (0..first.len()).take_while(|at| is_common(*at)).count();
    parts.iter().map(|parts| if parts.is_empty() { name.to_string() } else { parts[common..].join("/") }).collect()
}
