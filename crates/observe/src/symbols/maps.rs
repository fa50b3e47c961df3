//! Memory mappings of a process, from /proc/PID/maps.

use std::path::{Path, PathBuf};

/// A mapping of executable memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Offset of the mapping in the file.
    pub(super) offset: u64,
    /// Device and inode of the file; None for anonymous memory.
    pub(super) file: Option<String>,
    /// The file's path as the process sees it, or a name in brackets; empty for unnamed memory.
    pub(super) name: String,
}

impl Mapping {
    /// A path through which the kernel gives access to the mapped file, even if another file now has its name.
    pub(super) fn by_range(&self, pid: u32) -> PathBuf {
        PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", self.start, self.end))
    }

    pub(super) fn by_name(&self, root: &Path) -> PathBuf {
        root.join(self.name.trim_start_matches('/'))
    }

    /// Whether the code comes from no file, because the process generated it.
    pub(super) fn is_compiled(&self) -> bool {
        self.file.is_none() && !self.name.starts_with("[v")
    }

    /// The label for functions without a name: the file's last name, so that a library is one frame.
    pub(super) fn label(&self) -> String {
        match self.name.rsplit('/').next() {
            None | Some("") => "[anonymous]".to_string(),
            Some(name) if name.starts_with('[') => name.to_string(),
            Some(name) => format!("[{name}]"),
        }
    }
}

/// The executable mappings, by start.
pub(super) fn parse(text: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = text.lines().filter_map(mapping).collect();
    mappings.sort_by_key(|mapping| mapping.start);
    mappings
}

/// Parses `start-end rights offset device inode name`; the name comes after spaces and may contain spaces.
fn mapping(line: &str) -> Option<Mapping> {
    let (range, rest) = line.split_once(' ')?;
    let (rights, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (device, rest) = rest.split_once(' ')?;
    let (inode, name) = rest.split_once(' ').unwrap_or((rest, ""));
    if rights.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        start: number(start)?,
        end: number(end)?,
        offset: number(offset)?,
        file: (inode != "0").then(|| format!("{device} {inode}")),
        name: name.trim_start().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "7f10-7f20 r-xp 00002000 fe:00 77                       /opt/a b/lib.so
7f00-7f10 r--p 00000000 fe:00 77                       /opt/a b/lib.so
7e00-7e10 rwxp 00000000 00:00 0
7ffc-7ffe r-xp 00000000 00:00 0                        [vdso]
";

    #[test]
    fn only_what_may_be_executed_is_taken() {
        let found = parse(SOME);
        let labels: Vec<String> = found.iter().map(Mapping::label).collect();
        assert_eq!(labels, ["[anonymous]", "[lib.so]", "[vdso]"]);
        assert_eq!(found[1].file.as_deref(), Some("fe:00 77"));
        assert_eq!(found[1].by_range(7), Path::new("/proc/7/map_files/7f10-7f20"));
        assert_eq!(found[1].by_name(Path::new("/proc/7/root")), Path::new("/proc/7/root/opt/a b/lib.so"));
        let compiled: Vec<bool> = found.iter().map(Mapping::is_compiled).collect();
        assert_eq!(compiled, [true, false, false]);
    }
}
