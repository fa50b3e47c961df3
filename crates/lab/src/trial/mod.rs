//! A change of a table, tried on a copy of it before it touches production.
//!
//! ```text
//! node ─▶ snapshot ─▶ links in a folder of ours ─▶ trial nodes, one as it is and one per candidate
//!           └─ cleared as soon as they are made        └─▶ compaction until nothing is left ─▶ reads in blocks
//! ```
//!
//! Everything is entered in the journal before it is created, and [`Cleaner`] removes it, here or after a crash.

mod clean;
mod entry;
mod error;
mod histogram;
mod nodes;
mod options;
mod reads;
mod room;
mod sample;
mod schema;
mod settle;
mod sstables;
mod types;

pub use clean::Cleaner;
pub use entry::{Entry, Step};
pub use error::Error;
pub use options::{Candidate, Options, Replayed, TableName};
pub use reads::{Block, ROWS, Reads, Statement};
pub use settle::Settled;

use error::file;
use helenus_cassandra::foreign::{open_regular_no_link, read_at_most};
use helenus_cassandra::network::is_apart;
use helenus_cassandra::target::Target;
use helenus_cassandra::{Cancel, Version};
use helenus_control::{Link, Original};
use helenus_notation::show_bytes;
use nodes::{Plan, TrialNode};
use room::{Need, Room, check_memory};
use sample::Span;
use schema::Schema;
use serde::Serialize;
use sstables::Snapshot;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the trial node without a change.
pub const AS_IT_IS: &str = "unchanged";

const PARTITIONER: &str = "Murmur3Partitioner";
/// Cassandra clears the snapshot after this time, if Helenus does not. Linking takes seconds, copying as long as the disk takes.
const SNAPSHOT_LASTS: Duration = Duration::from_secs(3600);
/// The lowest speed of a copy that is expected.
const COPIED_PER_S: u64 = 20 << 20;
/// The largest schema.cql that is read; it has the definition of one table.
const SCHEMA_BYTES_AT_MOST: u64 = 16 << 20;

/// Progress of a try.
#[derive(Debug)]
pub enum Progress {
    Cluster(helenus_cassandra::Progress),
    Step(String),
    /// An event within a step.
    Live(String),
}

/// A try of a change.
#[derive(Debug)]
pub struct Trial<'a> {
    pub cleaner: &'a Cleaner,
    /// The node as named in the command, and its CQL address.
    pub node: &'a str,
    pub address: Option<SocketAddr>,
    pub target: &'a Target,
    pub table: &'a TableName,
    pub candidates: &'a [Candidate],
    pub options: &'a Options,
}

/// The result for one trial node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    pub name: String,
    /// The statement that makes this change; None for the trial node without a change.
    pub cql: Option<String>,
    #[serde(flatten)]
    pub settled: Settled,
}

/// The result of a try.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Size of the node's SSTables of the table.
    pub table_bytes: u64,
    pub sstables: usize,
    /// Bytes that were copied because the file system could not link them.
    pub copied_bytes: u64,
    /// Time from the first command to the node until its snapshot was cleared.
    pub snapshot_s: f64,
    /// The share of the table's bytes that was tried; None if it was the whole table.
    pub sampled: Option<f64>,
    /// The results; the first is that of the trial node without a change.
    pub variants: Vec<Variant>,
    pub reads: Reads,
    pub remarks: Vec<String>,
}

impl Trial<'_> {
    /// Runs the try, and removes everything that it created, however it ends.
    ///
    /// # Errors
    /// [`Error`]. If something remains, it is in the journal, and the second value names it.
    pub fn run(&self, tell: &mut dyn FnMut(Progress), cancel: &Cancel) -> (Result<Outcome, Error>, Option<Error>) {
        let mut entry = Entry {
            node: self.node.to_string(),
            // The node's address in case its process ends; None for an address in another network namespace.
            address: self.address.or(self.target.cql).filter(|_| is_apart(self.target.pid).is_ok_and(|apart| !apart)),
            process: (self.target.pid, self.target.start_ticks),
            keyspace: self.table.keyspace.clone(),
            table: self.table.table.clone(),
            ..Entry::new()
        };
        let outcome = self.steps(&mut entry, tell, cancel);
        if entry.folder.as_os_str().is_empty() {
            return (outcome, None);
        }
        tell(Progress::Step("removing the trial nodes".to_string()));
        // An error of a start names the log of the node.
        let logs = !matches!(outcome, Err(Error::Cassandra(_)));
        let left = self.cleaner.clean_but(&entry, logs).err();
        (outcome, left)
    }

    fn steps(&self, entry: &mut Entry, tell: &mut dyn FnMut(Progress), cancel: &Cancel) -> Result<Outcome, Error> {
        let table = self.table.to_string();
        let mut remarks = Vec::new();
        tell(Progress::Step(format!("asking {} for {table}", self.node)));
        let mut link = Link::open(self.target, self.cleaner.agent)?;
        let original = link.original(&table)?;
        let version: Version =
            original.release.parse().map_err(|_| Error::Release { release: original.release.clone() })?;
        check_partitioner(&original)?;
        entry.data = original.data.iter().map(|folder| seen_from_here(self.target, folder)).collect();
        let folder = self.place(entry)?;
        let nodes = self.candidates.len() + 1;
        entry.clusters = (0..nodes).map(|number| format!("try-{}-{number}", entry.id)).collect();
        check_memory(nodes, &self.options.heap)?;
        self.check_room(entry, &folder, original.live_disk_bytes)?;

        entry.folder = folder;
        self.begin(entry, Step::Begin)?;
        clean::make_folder(entry)?;
        let begun = Instant::now();
        tell(Progress::Step(format!("{}: a snapshot of {table}", self.node)));
        self.begin(entry, Step::Snapshot)?;
        let lasts = SNAPSHOT_LASTS + Duration::from_secs(original.live_disk_bytes / COPIED_PER_S);
        link.take_snapshot(&entry.tag(), &table, lasts)?;
        if version.line() == helenus_cassandra::Line::V4_0 {
            remarks.push(
                "Cassandra 4.0 clears no snapshot by itself: if helenus is killed, run `helenus try --clean`".into(),
            );
        }
        self.begin(entry, Step::Link)?;
        let (snapshot, schema, copied_bytes) = self.take_over(entry, &original, tell, cancel)?;
        self.begin(entry, Step::Clear)?;
        link.clear_snapshot(&entry.tag(), &entry.keyspace)?;
        drop(link);
        let snapshot_s = begun.elapsed().as_secs_f64();
        if schema.indexes > 0 {
            remarks.push(format!("the trial nodes are without the table's {} index(es)", schema.indexes));
        }

        let spans = self.options.sample.map(|share| sample::spans(share, entry.begun_ms));
        let plan = Plan {
            places: &self.cleaner.places,
            agent: self.cleaner.agent,
            version,
            options: self.options,
            original: &original,
            tokens: spans.iter().flatten().map(|span| span.to).collect(),
            schema: &schema,
            table: self.table,
        };
        let mut trial_nodes = self.start(entry, &plan, tell, cancel)?;
        let sampled = self.load(entry, (&mut trial_nodes, spans.as_deref()), snapshot.bytes, tell, cancel)?;
        self.begin(entry, Step::Settle)?;
        let within = (self.options.settle_within, entry.folder.as_path());
        let settled = settle::settle(&mut trial_nodes, self.table, within, tell, cancel)?;
        if settled.iter().any(|settled| !settled.settled) {
            remarks.push("compactions were not done in the time given (--for): the figures are of halfway".to_string());
        }
        self.begin(entry, Step::Read)?;
        let everywhere = [Span::ALL];
        let reading = (self.options.replayed.as_slice(), spans.as_deref().unwrap_or(&everywhere), self.options.blocks);
        let reads = reads::read(&mut trial_nodes, self.table, reading, tell, cancel)?;
        trial_nodes.into_iter().for_each(TrialNode::end);
        remarks.extend(self.changed_since(&original));

        let alter =
            |number: usize| number.checked_sub(1).map(|at| format!("{};", self.candidates[at].alter(self.table)));
        let variants = settled.into_iter().enumerate().map(|(number, settled)| Variant {
            name: self.name(number).to_string(),
            cql: alter(number),
            settled,
        });
        Ok(Outcome {
            table_bytes: snapshot.bytes,
            sstables: snapshot.sstables(),
            copied_bytes,
            snapshot_s,
            sampled,
            variants: variants.collect(),
            reads,
            remarks,
        })
    }

    fn begin(&self, entry: &mut Entry, step: Step) -> Result<(), Error> {
        entry.step = step;
        Ok(self.cleaner.journal.write(entry)?)
    }

    fn name(&self, number: usize) -> &str {
        number.checked_sub(1).map_or(AS_IT_IS, |at| &self.candidates[at].name)
    }

    /// Where the trial nodes' folder is created: beside the node's data, where files can be linked, unless that is
    /// another file system or not writable.
    fn place(&self, entry: &Entry) -> Result<PathBuf, Error> {
        let name = entry.tag();
        if let Some(given) = &self.options.folder {
            std::fs::create_dir_all(given).map_err(file("make the folder", given))?;
            return Ok(given.canonicalize().map_err(file("find", given))?.join(name));
        }
        let beside = entry.data.iter().find_map(|data| {
            let parent = data.parent()?;
            let same = device(parent)? == device(data)?;
            (same && may_write(parent)).then(|| parent.join(&name))
        });
        match beside {
            Some(beside) => Ok(beside),
            None => {
                let folder = self.cleaner.places.cache.join("tmp");
                std::fs::create_dir_all(&folder).map_err(file("make the folder", &folder))?;
                Ok(folder.join(name))
            }
        }
    }

    /// Checks the free space for this many bytes of the table.
    fn check_room(&self, entry: &Entry, folder: &Path, bytes: u64) -> Result<(), Error> {
        let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
        let linked = entry.data.iter().all(|data| device(data) == device(there));
        let need = Need {
            table_bytes: bytes,
            sample: self.options.sample,
            copied_bytes: if linked { 0 } else { bytes },
            nodes: self.candidates.len() + 1,
        };
        Room::of(there)?.check(&need, folder)
    }

    /// Links the files of the snapshot into our folder once; the trial nodes link them from there.
    fn take_over(
        &self,
        entry: &Entry,
        original: &Original,
        tell: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<(Snapshot, Schema, u64), Error> {
        let tag = entry.tag();
        let vanished =
            |path: &Path| Error::Vanished { tag: tag.clone(), table: self.table.to_string(), path: path.to_path_buf() };
        let is_gone = |error: Error| match error {
            Error::File { source, path, .. } if source.kind() == std::io::ErrorKind::NotFound => vanished(&path),
            error => error,
        };
        self.readable(entry)?;
        let folders = sstables::folders(&entry.data, &entry.keyspace, &entry.table, &tag);
        let snapshot = Snapshot::read(&folders).map_err(is_gone)?;
        let schema = match (&snapshot.schema, folders.first()) {
            (Some(path), _) => {
                let bytes = open_regular_no_link(path).and_then(|file| read_at_most(file, SCHEMA_BYTES_AT_MOST));
                let text = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
                text.map_err(file("read", path)).map_err(is_gone)?
            }
            (None, Some(folder)) => return Err(vanished(&folder.join("schema.cql"))),
            (None, None) => return Err(vanished(entry.data.first().map_or(Path::new("/"), PathBuf::as_path))),
        };
        let types = types::needed(original, &self.table.to_string())?;
        let schema = Schema::read(&schema, self.table, types.as_deref())?;
        if snapshot.files.is_empty() {
            return Err(Error::Empty);
        }
        self.check_room(entry, &entry.folder, snapshot.bytes)?;
        let total = snapshot.files.len();
        tell(Progress::Step(format!("linking {} SSTables, {}", snapshot.sstables(), show_bytes(snapshot.bytes))));
        let done = |done| tell(Progress::Live(format!("linking SSTables: {done} of {total} files")));
        let copied = sstables::link(&snapshot.files, &entry.folder.join("taken"), done, cancel).map_err(is_gone)?;
        Ok((snapshot, schema, copied))
    }

    /// # Errors
    /// [`Error::Unreadable`] if the keyspace's folder is not readable.
    fn readable(&self, entry: &Entry) -> Result<(), Error> {
        for data in &entry.data {
            let folder = data.join(&entry.keyspace);
            match std::fs::read_dir(&folder) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(file("read", &folder)(source));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn start(
        &self,
        entry: &mut Entry,
        plan: &Plan<'_>,
        tell: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Vec<TrialNode>, Error> {
        self.begin(entry, Step::Start)?;
        let mut trial_nodes = Vec::new();
        for (number, cluster) in entry.clusters.iter().enumerate() {
            let folder = entry.folder.join(format!("trial{number}"));
            let candidate = number.checked_sub(1).map(|at| &self.candidates[at]);
            trial_nodes.push(plan.start((cluster, &folder), self.name(number), candidate, tell, cancel)?);
        }
        Ok(trial_nodes)
    }

    /// Gives all trial nodes the SSTables, or a sample of each. Returns the share of the table's bytes that a sample
    /// has.
    fn load(
        &self,
        entry: &mut Entry,
        (trial_nodes, spans): (&mut [TrialNode], Option<&[Span]>),
        table_bytes: u64,
        tell: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Option<f64>, Error> {
        self.begin(entry, Step::Load)?;
        let taken = entry.folder.join("taken");
        let (first, others) = trial_nodes.split_at_mut(1);
        tell(Progress::Step(format!("{AS_IT_IS}: loading the SSTables")));
        let mut files = Snapshot::read(std::slice::from_ref(&taken))?.files;
        self.give(&mut first[0], &files, entry, cancel)?;
        let mut sampled = None;
        if let Some(spans) = spans {
            self.begin(entry, Step::Trim)?;
            self.cut(&mut first[0], spans, &entry.folder, tell, cancel)?;
            let left = sstables::of_table(&first[0].data(), &entry.keyspace, &entry.table)?;
            if left.files.is_empty() {
                return Err(Error::Empty);
            }
            sampled = Some(left.bytes as f64 / table_bytes as f64);
            files = left.files;
        }
        for trial_node in others {
            tell(Progress::Step(format!("{}: loading the SSTables", trial_node.name)));
            self.give(trial_node, &files, entry, cancel)?;
        }
        std::fs::remove_dir_all(&taken).map_err(file("remove", &taken))?;
        Ok(sampled)
    }

    fn give(&self, trial_node: &mut TrialNode, files: &[PathBuf], entry: &Entry, cancel: &Cancel) -> Result<(), Error> {
        // Named so that an import recognizes the table.
        let folder = trial_node.node.folder.join("incoming").join(&entry.keyspace).join(&entry.table);
        sstables::link(files, &folder, |_| {}, cancel)?;
        let wanted = files.iter().filter(|path| sstables::is_data(path)).count();
        let loaded = trial_node.link.import_sstables(&self.table.to_string(), &folder)?;
        if usize::try_from(loaded) != Ok(wanted) {
            return Err(Error::NotLoaded { name: trial_node.name.clone(), wanted, loaded });
        }
        std::fs::remove_dir_all(trial_node.node.folder.join("incoming")).map_err(file("remove", &folder))
    }

    fn cut(
        &self,
        trial_node: &mut TrialNode,
        spans: &[Span],
        folder: &Path,
        tell: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let table = self.table.to_string();
        tell(Progress::Step("leaving a sample of each SSTable".to_string()));
        let others: Vec<String> = spans.iter().map(|span| span.after.to_string()).collect();
        let mut trimming = trial_node.link.trim(&table, &others)?;
        while !trimming.done {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            rest(Duration::from_millis(200), cancel);
            trial_node.is_alive()?;
            Room::watch(folder)?;
            trimming = trial_node.link.trimming()?;
            let (done, total) = trial_node.link.table_figures(&table)?.compacted_bytes();
            let (done, total) = (show_bytes(done), show_bytes(total));
            tell(Progress::Live(format!("leaving a sample of each SSTable: {done} of {total} of this one")));
        }
        match trimming.error {
            Some(reason) => Err(Error::Trim { name: trial_node.name.clone(), reason }),
            None => Ok(()),
        }
    }

    fn is_defined_alike(&self, now: &Original, then: &Original) -> bool {
        let types = |of| types::needed(of, &self.table.to_string()).ok().flatten();
        now.schema == then.schema && types(now) == types(then)
    }

    /// A sentence about a change of the node or table since the snapshot; None without one.
    fn changed_since(&self, original: &Original) -> Option<String> {
        if !self.target.is_alive() {
            return Some(format!("{} has ended since the snapshot: the figures are of what it had then", self.node));
        }
        let now =
            Link::open(self.target, self.cleaner.agent).and_then(|mut link| link.original(&self.table.to_string()));
        match now {
            Ok(now) if self.is_defined_alike(&now, original) => None,
            Ok(_) => Some(format!(
                "the schema of {} was changed on {} since the snapshot: the figures are of what it was then",
                self.table, self.node
            )),
            Err(error) => {
                Some(format!("{} can't be asked whether the table is still what was tried: {error}", self.node))
            }
        }
    }
}

fn check_partitioner(original: &Original) -> Result<(), Error> {
    match original.settings.get("partitioner") {
        Some(other) if !other.ends_with(PARTITIONER) => Err(Error::Partitioner { partitioner: other.clone() }),
        _ => Ok(()),
    }
}

/// A path of the node as seen by this process; a node in a container has other mounts.
fn seen_from_here(target: &Target, path: &Path) -> PathBuf {
    let mounts = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    if mounts("self") == mounts(&target.pid.to_string()) {
        return path.to_path_buf();
    }
    target.root().join(path.strip_prefix("/").unwrap_or(path))
}

fn device(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|facts| facts.dev())
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

fn rest(lasts: Duration, cancel: &Cancel) {
    const POLL_EVERY: Duration = Duration::from_millis(50);
    let until = Instant::now() + lasts;
    while Instant::now() < until && !cancel.is_cancelled() {
        std::thread::sleep(POLL_EVERY.min(until.saturating_duration_since(Instant::now())));
    }
}
