//! Checks, before anything is created, that disk and memory suffice for the trial nodes.

use super::Error;
use super::error::file;
use helenus_notation::show_bytes as bytes;
use std::path::Path;

/// Commit logs, logs and Cassandra's own tables of one trial node.
const OF_A_NODE: u64 = 256 << 20;
/// Memory besides the heap: metaspace, code, threads, buffers, and off-heap data of SSTables.
const BESIDE_HEAP: u64 = 512 << 20;
/// Share of the file system that must stay free, because the user's node usually uses it.
const LEFT: f64 = 0.05;
/// The share of the usable space that a proposed sample may take.
const SPARE: f64 = 0.9;

/// The disk space that a try needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Need {
    pub table_bytes: u64,
    /// The share of the table that the trial nodes get, and write once; None for the whole table.
    pub sample: Option<f64>,
    /// Bytes to copy because the file system can't link them.
    pub copied_bytes: u64,
    pub nodes: usize,
}

impl Need {
    /// Each trial node may rewrite the table once (links take no space). The largest compaction of one trial node keeps its input, which
    /// earlier compactions wrote, beside its output.
    pub fn disk_bytes(&self) -> u64 {
        let nodes = self.nodes as u64;
        let anew = nodes + 1 + u64::from(self.sample.is_some());
        self.copied_bytes + self.taken_bytes() * anew + OF_A_NODE * nodes
    }

    /// Size of the SSTables that the trial nodes import.
    fn taken_bytes(&self) -> u64 {
        self.sample.map_or(self.table_bytes, |share| (self.table_bytes as f64 * share) as u64)
    }

    fn in_words(&self) -> String {
        let copied = match self.copied_bytes {
            0 => String::new(),
            copied => format!("{} to copy what can't be linked, ", bytes(copied)),
        };
        format!(
            "{copied}up to {} for each of {} trial_nodes and once more while one compacts",
            bytes(self.taken_bytes()),
            self.nodes
        )
    }
}

/// The free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub available: u64,
    /// Space that stays free for other processes.
    pub left: u64,
}

impl Room {
    /// Free space of a folder's file system.
    pub fn of(folder: &Path) -> Result<Room, Error> {
        let facts =
            rustix::fs::statvfs(folder).map_err(|error| file("look at the file system of", folder)(error.into()))?;
        let total = facts.f_blocks * facts.f_frsize;
        Ok(Room { available: facts.f_bavail * facts.f_frsize, left: (total as f64 * LEFT) as u64 })
    }

    /// # Errors
    /// [`Error::Room`], which says what would fit.
    pub fn check(&self, need: &Need, folder: &Path) -> Result<(), Error> {
        let usable = self.available.saturating_sub(self.left);
        if need.disk_bytes() <= usable {
            return Ok(());
        }
        Err(Error::Room {
            need: need.disk_bytes(),
            usable,
            left: self.left,
            of_what: need.in_words(),
            folder: folder.to_path_buf(),
            way_out: self.way_out(need),
        })
    }

    /// The largest sample that fits; None if none does. Some space is left, because the snapshot flushes memtables
    /// first.
    fn way_out(&self, need: &Need) -> String {
        let elsewhere = "name a --folder with more";
        let usable = (self.available.saturating_sub(self.left) as f64 * SPARE) as u64;
        let fits = |percent: &u64| Need { sample: Some(*percent as f64 / 100.0), ..*need }.disk_bytes() <= usable;
        match (1..=50).rev().find(fits) {
            Some(percent) if need.sample.is_none() => format!("{elsewhere}, or try a sample: --sample {percent}%"),
            Some(percent) => format!("{elsewhere}, or try a smaller sample: --sample {percent}%"),
            None => elsewhere.to_string(),
        }
    }

    /// # Errors
    /// [`Error::DiskLow`].
    pub fn watch(folder: &Path) -> Result<(), Error> {
        let room = Room::of(folder)?;
        if room.available < room.left {
            return Err(Error::DiskLow { available: room.available, left: room.left, folder: folder.to_path_buf() });
        }
        Ok(())
    }
}

/// # Errors
/// [`Error::Memory`].
pub(super) fn check_memory(nodes: usize, heap: &str) -> Result<(), Error> {
    let Some((free, heap_bytes)) = free_memory().zip(size(heap)) else { return Ok(()) };
    let need = (heap_bytes + BESIDE_HEAP) * nodes as u64;
    if need <= free { Ok(()) } else { Err(Error::Memory { nodes, heap: heap.to_string(), need, free }) }
}

/// None if the kernel does not report it.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// A heap size in Java's notation, such as 512m. None if it is invalid, which the node's start reports.
fn size(heap: &str) -> Option<u64> {
    let digits = heap.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match heap[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let need = Need { table_bytes: 100 * GIB, sample: None, copied_bytes: 0, nodes: 2 };
        assert_eq!(need.disk_bytes(), 300 * GIB + 512 * (1 << 20));
        let folder = Path::new("/var/lib/cassandra");
        let room = |available| Room { available: available * GIB, left: 50 * GIB };
        assert!(room(351).check(&need, folder).is_ok());
        let error = room(150).check(&need, folder).unwrap_err().to_string();
        for text in [
            "300.5 GiB of disk",
            "100.0 GiB may be used",
            "50.0 GiB are left",
            "100.0 GiB for each of 2",
            "--sample 22%",
        ] {
            assert!(error.contains(text), "no {text:?} in {error}");
        }
        let sample = |share| Need { sample: Some(share), ..need };
        assert!(room(150).check(&sample(0.22), folder).is_ok());
        let error = room(150).check(&sample(0.4), folder).unwrap_err().to_string();
        assert!(error.contains("a smaller sample: --sample 22%"), "{error}");
        let error = room(50).check(&need, folder).unwrap_err().to_string();
        assert!(error.contains("0 B may be used") && !error.contains("--sample"), "{error}");
        let copied = Need { copied_bytes: 100 * GIB, ..need };
        assert!(room(351).check(&copied, folder).unwrap_err().to_string().contains("100.0 GiB to copy"));
    }

    #[test]
    fn memory_is_refused_where_it_is_not() {
        assert_eq!(
            [size("512m"), size("2G"), size("1024"), size("1x")],
            [Some(512 << 20), Some(2 << 30), Some(1024), None]
        );
        check_memory(1, "1k").unwrap();
        let error = check_memory(2, "100000g").unwrap_err().to_string();
        assert!(error.contains("smaller --heap"), "{error}");
    }

    #[test]
    fn this_file_system_has_a_size() {
        let room = Room::of(&std::env::temp_dir()).unwrap();
        assert!(room.left > 0);
        assert!(Room::of(Path::new("/no/such/folder")).is_err());
    }
}
