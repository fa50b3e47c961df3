//! Statistics of the SSTables in a folder, read by Cassandra's own `sstablemetadata`: for nodes that do not run. The tool
//! reads the statistics beside the data and changes nothing. It runs a JVM for a second, and needs the jars of a release.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::jars::{self, Release};
use crate::java::{self, Java};
use crate::{Cancel, Error, Places, Progress, Version, jvm_options};

/// The number of SSTables per run of the tool's JVM.
const AT_ONCE: usize = 400;
/// Cassandra's default, by which tombstones are called droppable: a file does not have its table's own.
pub const GC_GRACE_S: u32 = 864_000;
/// The deepest that a table's folder can be below the given one.
const DEEPEST: usize = 6;
const DATA: &str = "-Data.db";
/// Copies, not the table's own.
const NOT_LIVE: [&str; 2] = ["snapshots", "backups"];

/// The cassandra.yaml that the tool needs.
const SETTINGS: &str = "cluster_name: none
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 10000ms
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{ seeds: '127.0.0.1:7000' }]
";
const LOGBACK: &str = "<configuration><root level=\"OFF\"/></configuration>";

/// An SSTable's file with the data: `…/KEYSPACE/TABLE-ID/VERSION-NUMBER-FORMAT-Data.db`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SstableFile {
    pub file: PathBuf,
    pub keyspace: String,
    pub table: String,
}

/// An SSTable's statistics. Values that the tool did not print are None.
#[derive(Debug, Clone, PartialEq)]
pub struct SstableFacts {
    pub at: SstableFile,
    /// When the data file was written, ns since the Unix epoch.
    pub written_ns: Option<i64>,
    /// Size of all its files.
    pub disk_bytes: i64,
    /// Size of the Data.db file.
    pub compressed_bytes: i64,
    /// Compression ratio: size on disk divided by size before compression; None without compression.
    pub compression_ratio: Option<f64>,
    pub level: Option<i64>,
    pub partitions: Option<i64>,
    pub rows: Option<i64>,
    pub cells: Option<i64>,
    /// From Cassandra's histogram, as upper bounds of buckets.
    pub mean_partition_bytes: Option<i64>,
    pub max_partition_bytes: Option<i64>,
    /// The ratio now, with [`GC_GRACE_S`].
    pub droppable_ratio: Option<f64>,
    pub min_timestamp_us: Option<i64>,
    pub max_timestamp_us: Option<i64>,
    pub min_ttl_s: Option<i64>,
    pub max_ttl_s: Option<i64>,
    /// When incremental repair marked it as repaired; 0 if it did not.
    pub repaired_at_ms: Option<i64>,
    pub first_token: Option<String>,
    pub last_token: Option<String>,
}

impl SstableFacts {
    /// Size of its data before compression.
    #[must_use]
    pub fn data_bytes(&self) -> i64 {
        self.compression_ratio.map_or(self.compressed_bytes, |ratio| (self.compressed_bytes as f64 / ratio) as i64)
    }
}

/// The SSTables that were read, and those that could not be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub sstables: Vec<SstableFacts>,
    pub unreadable: Vec<Unreadable>,
}

/// An SSTable whose statistics the tool could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub file: PathBuf,
    pub why: String,
}

/// The SSTables under a folder: one with data, a keyspace's, a table's, or a snapshot's. Snapshots and backups within it are
/// left out.
///
/// # Errors
/// [`Error::File`] for a folder that can't be read, [`Error::NoSstables`] for one that has none.
pub fn find(folder: &Path) -> Result<Vec<SstableFile>, Error> {
    let folder = std::fs::canonicalize(folder).map_err(Error::file("read the folder", folder))?;
    let mut found = Vec::new();
    walk(&folder, DEEPEST, &mut found)?;
    found.sort_by(|a, b| a.file.cmp(&b.file));
    if found.is_empty() { Err(Error::NoSstables { folder }) } else { Ok(found) }
}

fn walk(folder: &Path, deeper: usize, found: &mut Vec<SstableFile>) -> Result<(), Error> {
    for entry in std::fs::read_dir(folder).map_err(Error::file("read the folder", folder))? {
        let entry = entry.map_err(Error::file("read the folder", folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.ends_with(DATA) {
            found.extend(sstable(&path));
        } else if deeper > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // Hidden folders hold indexes.
            if !name.starts_with('.') && !NOT_LIVE.contains(&name.as_ref()) {
                walk(&path, deeper - 1, found)?;
            }
        }
    }
    Ok(())
}

/// None for a file that is not in a table's folder.
fn sstable(file: &Path) -> Option<SstableFile> {
    let is_id = |id: &str| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of_table = file.ancestors().skip(1).find_map(|folder| {
        let (table, id) = folder.file_name()?.to_str()?.rsplit_once('-')?;
        is_id(id).then(|| (folder, table.to_string()))
    });
    let (folder, table) = of_table?;
    let keyspace = folder.parent()?.file_name()?.to_string_lossy().into_owned();
    Some(SstableFile { file: file.to_owned(), keyspace, table })
}

/// Reads their statistics.
///
/// # Errors
/// Without a Java or the jars of a release; when the tool can't be run; cancelled.
pub fn read(
    places: &Places,
    files: &[SstableFile],
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Found, Error> {
    let version = Version::default();
    let tool = Tool {
        java: java::for_version(version, None)?,
        release: jars::fetch(places, version, progress, cancel)?,
        folder: tempfile::tempdir().map_err(Error::file("make a folder in", &std::env::temp_dir()))?,
    };
    tool.prepare()?;
    let mut found = Found::default();
    let mut rest = files;
    while !rest.is_empty() {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let (now, _) = rest.split_at(rest.len().min(AT_ONCE));
        let (listed, failure) = tool.run(now)?;
        found.sstables.extend(now.iter().zip(&listed).map(|(at, lines)| facts(at, lines)));
        rest = &rest[listed.len()..];
        // The tool ends at the first SSTable that it can't read.
        if let (Some(why), Some((at, after))) = (failure, rest.split_first()) {
            found.unreadable.push(Unreadable { file: at.file.clone(), why });
            rest = after;
        }
    }
    Ok(found)
}

struct Tool {
    java: Java,
    release: Release,
    folder: tempfile::TempDir,
}

impl Tool {
    fn prepare(&self) -> Result<(), Error> {
        for (name, text) in [("cassandra.yaml", SETTINGS), ("logback.xml", LOGBACK)] {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).map_err(Error::file("write", &path))?;
        }
        Ok(())
    }

    /// The lines of each SSTable that was read, in their order; and why it ended before the last.
    fn run(&self, files: &[SstableFile]) -> Result<(Vec<Vec<String>>, Option<String>), Error> {
        let folder = self.folder.path().display();
        let mut class_path = OsString::new();
        for jar in self.release.jars()? {
            class_path.push(jar);
            class_path.push(":");
        }
        let mut command = Command::new(self.java.program());
        command
            .args(jvm_options::modules(self.java.feature))
            .args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg(format!("-Dcassandra.config=file://{folder}/cassandra.yaml"))
            .arg(format!("-Dcassandra.storagedir={folder}"))
            .arg(format!("-Dlogback.configurationFile={folder}/logback.xml"))
            .args(["org.apache.cassandra.tools.SSTableMetadataViewer", "-g", &GC_GRACE_S.to_string()])
            .args(files.iter().map(|one| &one.file))
            .env("CLASSPATH", class_path)
            .stdin(Stdio::null());
        for variable in jvm_options::FOREIGN {
            command.env_remove(variable);
        }
        let ended =
            command.output().map_err(|source: io::Error| Error::Spawn { program: self.java.program(), source })?;
        let listed = blocks(&String::from_utf8_lossy(&ended.stdout));
        let failure = (!ended.status.success() || listed.len() < files.len()).then(|| {
            let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
            reason(&stderr).unwrap_or_else(|| format!("sstablemetadata said nothing of it ({})", ended.status))
        });
        Ok((listed.into_iter().take(files.len()).collect(), failure))
    }
}

/// The output by SSTable; an incomplete one is left out.
fn blocks(output: &str) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for line in output.lines() {
        if line.starts_with("SSTable: ") {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(line.to_string());
        }
    }
    blocks.retain(|block| block.iter().any(|line| line.starts_with("totalRows: ")));
    blocks
}

/// The innermost exception: what encrypted or damaged statistics look like.
fn reason(stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim);
    let cause = lines().filter_map(|line| line.strip_prefix("Caused by: ")).next_back();
    let first = || lines().find_map(|line| line.strip_prefix("Exception in thread \"main\" "));
    let message = cause.or_else(first)?;
    let plain = message.split_once("Exception: ").map_or(message, |(_, message)| message);
    Some(format!("sstablemetadata cannot read it: {plain}"))
}

fn facts(at: &SstableFile, lines: &[String]) -> SstableFacts {
    let after = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let number = |name: &str| after(name).and_then(|value| value.parse::<i64>().ok());
    let ratio = |name: &str| after(name).and_then(|value| value.parse::<f64>().ok()).filter(|value| value.is_finite());
    // `11/22/2026 12:27:03 (1795350423137001)`.
    let within = |name: &str| after(name)?.rsplit_once('(')?.1.trim_end_matches(')').parse().ok();
    // Leaves out the key in `-8829757208421597067 (KEY)`, because keys can be personal data.
    let token = |name: &str| Some(after(name)?.split(' ').next()?.to_string());
    let sizes = Histogram::after("Partition Size:", lines);
    let files = files_of(&at.file);
    SstableFacts {
        at: at.clone(),
        written_ns: files.written_ns,
        disk_bytes: files.all_bytes,
        compressed_bytes: files.data_bytes,
        compression_ratio: ratio("Compression ratio: ").filter(|ratio| *ratio > 0.0),
        level: number("SSTable Level: "),
        partitions: sizes.as_ref().map(|sizes| sizes.count),
        rows: number("totalRows: "),
        cells: number("totalColumnsSet: "),
        mean_partition_bytes: sizes.as_ref().and_then(Histogram::mean),
        max_partition_bytes: sizes.as_ref().map(|sizes| sizes.largest),
        droppable_ratio: ratio("Estimated droppable tombstones: "),
        min_timestamp_us: within("Minimum timestamp: "),
        max_timestamp_us: within("Maximum timestamp: "),
        min_ttl_s: seconds(after("TTL min: ")),
        max_ttl_s: seconds(after("TTL max: ")),
        repaired_at_ms: after("Repaired at: ").and_then(|value| {
            let inner = value.rsplit_once('(').map_or(value, |(_, inner)| inner.trim_end_matches(')'));
            inner.parse().ok()
        }),
        first_token: token("First token: "),
        last_token: token("Last token: "),
    }
}

/// `0`, or `3600 (1 hour)` where there is a time to live.
fn seconds(value: Option<&str>) -> Option<i64> {
    value?.split(' ').next()?.parse().ok()
}

struct Histogram {
    count: i64,
    sum: i64,
    largest: i64,
}

impl Histogram {
    /// Lines such as `   3973 (3.9 kB) |     2 ( 10) OOOO`, below their title.
    fn after(title: &str, lines: &[String]) -> Option<Histogram> {
        let start = lines.iter().position(|line| line.trim_end() == title)?;
        let mut histogram = Histogram { count: 0, sum: 0, largest: 0 };
        for line in lines[start + 1..].iter().take_while(|line| line.trim() != "Percentiles") {
            let Some((bucket, counted)) = line.split_once('|') else { continue };
            let first = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<i64>().ok());
            let (Some(bucket), Some(count)) = (first(bucket), first(counted)) else { continue };
            histogram.count += count;
            histogram.sum = histogram.sum.saturating_add(bucket.saturating_mul(count));
            histogram.largest = bucket;
        }
        Some(histogram)
    }

    fn mean(&self) -> Option<i64> {
        // Rounded up, as Cassandra does.
        (self.count > 0).then(|| (self.sum + self.count - 1) / self.count)
    }
}

#[derive(Debug, Default)]
struct Files {
    data_bytes: i64,
    all_bytes: i64,
    written_ns: Option<i64>,
}

/// Sizes of an SSTable's files, which have all but the last word of their names in common.
fn files_of(data: &Path) -> Files {
    let mut files = Files::default();
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let prefix = name.strip_suffix("Data.db").unwrap_or(&name).to_string();
    for entry in std::fs::read_dir(data.parent().unwrap_or(Path::new("."))).into_iter().flatten().flatten() {
        let own = entry.file_name();
        let Some(facts) = own.to_string_lossy().starts_with(&prefix).then(|| entry.metadata().ok()).flatten() else {
            continue;
        };
        let bytes = i64::try_from(facts.len()).unwrap_or(i64::MAX);
        files.all_bytes += bytes;
        if own.to_string_lossy() == name {
            files.data_bytes = bytes;
            let since = facts.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            files.written_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "04809fa0e67011f1a3460b75a9558cc0";

    /// Output of the tool of 5.0.9, without lines that are not parsed.
    const SAID: &str = "\
SSTable: /d/churn/cart/nb-5-big
Minimum timestamp: 11/22/2026 12:27:03 (1795350423137001)
Maximum timestamp: 11/22/2026 12:27:09 (1795350429261003)
Compression ratio: 0.5
TTL min: 0
TTL max: 3600 (1 hour)
First token: -8829757208421597067 (19)
Last token: 8660407606519473992 (17)
Estimated droppable tombstones: 0.25
SSTable Level: 2
Repaired at: 11/22/2026 12:27:09 (1795350429261)
totalColumnsSet: 500
totalRows: 2000
Partition Size: 
   Size (bytes)  | Count  (%)  Histogram 
   3973 (3.9 kB) |     2 ( 10) OOOO
   4768 (4.7 kB) |    14 ( 70) OOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
   5722 (5.6 kB) |     4 ( 20) OOOOOOOO.
   Percentiles
   50th      4768 (4.7 kB)
SSTable: /d/churn/cart/nb-6-big
Minimum timestamp: 11/22/2026 12:27:03 (1795350423137001)
";

    #[test]
    fn what_the_tool_prints_is_read() {
        let blocks = blocks(SAID);
        assert_eq!(blocks.len(), 1, "the second was not told to its end");
        let at = SstableFile { file: "/no/such/nb-5-big-Data.db".into(), keyspace: "k".into(), table: "t".into() };
        let facts = facts(&at, &blocks[0]);
        assert_eq!(
            (facts.level, facts.rows, facts.cells, facts.partitions),
            (Some(2), Some(2000), Some(500), Some(20))
        );
        assert_eq!((facts.mean_partition_bytes, facts.max_partition_bytes), (Some(4880), Some(5722)));
        assert_eq!(
            (facts.min_timestamp_us, facts.repaired_at_ms),
            (Some(1_795_350_423_137_001), Some(1_795_350_429_261))
        );
        assert_eq!((facts.min_ttl_s, facts.max_ttl_s), (Some(0), Some(3600)));
        assert_eq!((facts.droppable_ratio, facts.compression_ratio), (Some(0.25), Some(0.5)));
        assert_eq!(facts.first_token.as_deref(), Some("-8829757208421597067"));
        let unread = SstableFacts { compressed_bytes: 100, ..facts };
        assert_eq!(unread.data_bytes(), 200);
    }

    #[test]
    fn a_failure_is_told_by_its_cause() {
        let stderr = "Exception in thread \"main\" org.apache.cassandra.io.sstable.CorruptSSTableException: Corrupted: /d/x\n\
                    \tat a.B.c(D.java:1)\nCaused by: java.io.IOException: Checksums do not match for /d/x\n\t... 7 more";
        assert_eq!(reason(stderr).unwrap(), "sstablemetadata cannot read it: Checksums do not match for /d/x");
        assert_eq!(reason("nothing of use"), None);
    }

    #[test]
    fn sstables_are_found_below_a_folder_without_copies() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join(format!("data/shop/orders-{ID}"));
        for inner in ["snapshots/old", "backups", ".by_day_idx"] {
            std::fs::create_dir_all(table.join(inner)).unwrap();
            std::fs::write(table.join(inner).join("nb-1-big-Data.db"), "x").unwrap();
        }
        assert!(matches!(find(folder.path()), Err(Error::NoSstables { .. })));
        std::fs::write(table.join("nb-1-big-Data.db"), "x").unwrap();
        std::fs::write(table.join("nb-1-big-Index.db"), "xyz").unwrap();
        let found = find(folder.path()).unwrap();
        assert_eq!(found, find(&table).unwrap(), "a part of it will do");
        assert_eq!((found[0].keyspace.as_str(), found[0].table.as_str(), found.len()), ("shop", "orders", 1));
        let snapshot = find(&table.join("snapshots/old")).unwrap();
        assert_eq!((snapshot.len(), snapshot[0].table.as_str()), (1, "orders"));
        let files = files_of(&found[0].file);
        assert_eq!((files.data_bytes, files.all_bytes, files.written_ns.is_some()), (1, 4, true));
        let nowhere = find(&folder.path().join("nowhere")).unwrap_err().to_string();
        assert!(nowhere.contains("nowhere"), "{nowhere}");
    }
}
