//! The SSTables of a node's tables, by their files: how many, how large, how old.
//!
//! A table's folder is `DATA/KEYSPACE/TABLE-ID`; its files are `VERSION-GENERATION-FORMAT-COMPONENT`, where all
//! components of one SSTable have the rest in common. Snapshots, backups and indexes are subfolders, which are left
//! out.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// Size of the SSTables of one table, over all disks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub count: i64,
    pub bytes: i64,
    pub largest_bytes: i64,
    /// Time since the largest SSTable was written.
    pub largest_age_s: i64,
}

/// Files by keyspace and table. Unreadable files are left out: a compaction may remove a file at any moment.
pub(crate) fn read(folders: &[&Path]) -> BTreeMap<(String, String), Files> {
    let mut tables = BTreeMap::new();
    for keyspace in folders.iter().flat_map(|folder| entries(folder)) {
        for table in entries(&keyspace.path()) {
            let (keyspace, folder) = (keyspace.file_name(), table.file_name());
            let Some((name, _)) = folder.to_str().and_then(|folder| folder.rsplit_once('-')) else { continue };
            let files = tables
                .entry((keyspace.to_string_lossy().into_owned(), name.to_string()))
                .or_insert_with(Files::default);
            add(&table.path(), files);
        }
    }
    tables
}

fn add(folder: &Path, files: &mut Files) {
    let mut sstables: BTreeMap<String, (i64, Option<SystemTime>)> = BTreeMap::new();
    for entry in entries(folder) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((sstable, component)) = name.rsplit_once('-') else { continue };
        let Ok(facts) = entry.metadata() else { continue };
        if facts.is_file() && component.contains('.') {
            let known = sstables.entry(sstable.to_string()).or_default();
            known.0 += i64::try_from(facts.len()).unwrap_or(i64::MAX);
            if component == "Data.db" {
                known.1 = facts.modified().ok();
            }
        }
    }
    // An SSTable without its Data.db file is being deleted.
    for (bytes, written) in sstables.into_values().filter_map(|(bytes, written)| Some((bytes, written?))) {
        files.count += 1;
        files.bytes += bytes;
        if bytes > files.largest_bytes {
            files.largest_bytes = bytes;
            files.largest_age_s = written.elapsed().map_or(0, |age| i64::try_from(age.as_secs()).unwrap_or(i64::MAX));
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_an_sstable_are_one() {
        let data = tempfile::tempdir().unwrap();
        let table = data.path().join("shop/orders-0123456789abcdef0123456789abcdef");
        std::fs::create_dir_all(table.join("snapshots/old")).unwrap();
        for (file, bytes) in [
            ("nb-1-big-Data.db", 700),
            ("nb-1-big-Index.db", 50),
            ("nb-3gz1_abc-big-Data.db", 100),
            ("nb-9-big-Index.db", 5000),
            ("snapshots/old/nb-1-big-Data.db", 700),
        ] {
            std::fs::write(table.join(file), vec![0; bytes]).unwrap();
        }
        let tables = read(&[data.path(), Path::new("/no/such/folder")]);
        let files = tables[&("shop".to_string(), "orders".to_string())];
        assert_eq!((tables.len(), files.count, files.bytes, files.largest_bytes), (1, 2, 850, 750));
        assert!(files.largest_age_s < 60);
    }
}
