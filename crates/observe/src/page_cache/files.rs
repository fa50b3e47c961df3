//! Paths of the files that a process has mapped or open, by device and inode.

use super::records::{Device, FileNumber};
use crate::bounded::Kept;
use helenus_cassandra::foreign::read_proc;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

/// The most bytes of paths that are kept: those of some 60,000 files. A node has some thousands, and compactions create new
/// ones.
const PATHS: usize = 16 << 20;

pub(super) struct Files {
    pid: u32,
    paths: Kept<FileNumber, Rc<str>>,
    /// Paths by inode alone, for files whose device differs from the one that the process sees: overlayfs shows its own
    /// device, while the kernel's cache belongs to the file system below. None if two files have the same inode.
    by_inode: Kept<u64, Option<Rc<str>>>,
}

impl Files {
    pub(super) fn new(pid: u32) -> Files {
        let mut files = Files { pid, paths: Kept::new(PATHS), by_inode: Kept::new(PATHS) };
        files.refresh();
        files
    }

    /// The path of a file, if it has been seen; [`Files::refresh`] reads more.
    pub(super) fn path(&self, file: &FileNumber) -> Option<Rc<str>> {
        self.paths.get(file).or_else(|| self.by_inode.get(&file.inode)?.as_ref()).cloned()
    }

    /// Reads which files the process has mapped and open now. Earlier files stay known.
    pub(super) fn refresh(&mut self) {
        let maps = read_proc(format!("/proc/{}/maps", self.pid)).unwrap_or_default();
        for (file, path) in maps.lines().filter_map(mapped) {
            self.add(file, path);
        }
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid)).into_iter().flatten().flatten();
        for descriptor in open.map(|entry| entry.path()) {
            // The descriptor or the mapping may be closed by now.
            let (Ok(facts), Ok(path)) = (descriptor.metadata(), std::fs::read_link(&descriptor)) else { continue };
            if facts.is_file() {
                let device = Device { major: libc::major(facts.dev()), minor: libc::minor(facts.dev()) };
                self.add(FileNumber { device, inode: facts.ino() }, &path.to_string_lossy());
            }
        }
    }

    fn add(&mut self, file: FileNumber, path: &str) {
        // A deleted file keeps its former name.
        let path: Rc<str> = path.strip_suffix(" (deleted)").unwrap_or(path).into();
        // Files that are known are read again and again, and keep their place among those that go first.
        let is_known = self.paths.get(&file).is_some_and(|known| *known == path);
        match self.by_inode.get(&file.inode) {
            Some(Some(known)) if *known != path => self.by_inode.insert(file.inode, None, 0),
            Some(_) => {}
            None => self.by_inode.insert(file.inode, Some(Rc::clone(&path)), path.len()),
        }
        if !is_known {
            let bytes = path.len();
            self.paths.insert(file, path, bytes);
        }
    }
}

/// A line of /proc/PID/maps: `range rights offset device inode path`.
fn mapped(line: &str) -> Option<(FileNumber, &str)> {
    let mut words = line.splitn(6, ' ');
    let device = words.nth(3)?;
    let (inode, path) = (words.next()?.parse().ok()?, words.next()?.trim_start());
    let (major, minor) = device.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    let device = Device { major: number(major)?, minor: number(minor)? };
    Path::new(path).is_absolute().then_some((FileNumber { device, inode }, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_say_which() {
        let line = "7f00-7f10 r--s 00000000 fe:10 77                       /d/ks/a b/nb-1-big-Index.db";
        let file = FileNumber { device: Device { major: 254, minor: 16 }, inode: 77 };
        assert_eq!(mapped(line), Some((file, "/d/ks/a b/nb-1-big-Index.db")));
        assert_eq!(mapped("7e00-7e10 rw-p 00000000 00:00 0"), None);
        assert_eq!(mapped("7ffc-7ffe r-xp 00000000 00:00 0                  [vdso]"), None);
    }

    #[test]
    fn open_files_are_known_by_their_numbers() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let facts = file.as_file().metadata().unwrap();
        let files = Files::new(std::process::id());
        let device = Device { major: libc::major(facts.dev()), minor: libc::minor(facts.dev()) };
        let path = file.path().to_str().unwrap();
        assert_eq!(files.path(&FileNumber { device, inode: facts.ino() }).as_deref(), Some(path));
        let elsewhere = Device { major: 7, minor: 1_000_000 };
        assert_eq!(files.path(&FileNumber { device: elsewhere, inode: facts.ino() }).as_deref(), Some(path));
        assert_eq!(files.path(&FileNumber { device, inode: u64::MAX }), None);
    }

    #[test]
    fn paths_without_end_take_no_memory_without_end() {
        let mut files = Files { pid: 0, paths: Kept::new(PATHS), by_inode: Kept::new(PATHS) };
        let number = |inode| FileNumber { device: Device { major: 1, minor: 1 }, inode };
        let path = |inode: u64| format!("/{inode}/{}", "f".repeat(4_000));
        for inode in 0..20_000 {
            files.add(number(inode), &path(inode));
            assert!(files.paths.held() <= PATHS && files.by_inode.held() <= PATHS);
            assert_eq!(files.path(&number(inode)).as_deref(), Some(&*path(inode)));
        }
        assert_eq!(files.path(&number(1)), None, "the oldest go first");
        // The same file again changes nothing; another one with its inode makes the inode ambiguous.
        let held = files.paths.held();
        files.add(number(19_999), &path(19_999));
        assert_eq!(files.paths.held(), held);
        files.add(FileNumber { device: Device { major: 2, minor: 1 }, inode: 19_999 }, "/other");
        assert_eq!(files.path(&FileNumber { device: Device { major: 3, minor: 1 }, inode: 19_999 }), None);
    }
}
