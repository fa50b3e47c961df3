//! Import of samples taken by other tools: JFR files, profiles of pprof, folded stacks, and the output of `perf script`,
//! bpftrace and bcc; compressed with gzip or not.
//!
//! The importer does not trust a file's contents. It imports complete samples, counts others as lost in the table
//! `sources`, and notes losses that it can't count in the manifest.

mod folded;
mod jfr;
mod lines;
mod logs;
mod perf;
mod pprof;
mod printed;
mod recognized;
mod unpack;

pub use logs::{ImportedLogs, LogOptions, import_logs, is_log};

use crate::stacks::{Frames, jfr::Malformed};
use helenus_cassandra::threads::thread_group;
use helenus_recording::rows::{SourceReport, Stack, StackSample};
use helenus_recording::{Loss, NodeFacts, Recorder, SourceFacts, cpu_time_of_this_thread_ns};
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, Read};
use std::ops::Deref;
use std::time::Duration;

/// After this many bytes of new names, the import pauses this long, so that the recorder can write them.
const AT_ONCE: usize = 128 << 20;
const TO_WRITE: Duration = Duration::from_millis(250);

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// JDK Flight Recorder: of the JDK itself, of async-profiler.
    Jfr,
    /// The text output of `perf script`.
    Perf,
    /// Folded stacks: one stack per line, followed by its weight.
    Folded,
    /// profile.proto of pprof.
    Pprof,
    /// Stacks as bpftrace prints its maps.
    Bpftrace,
    /// Stacks as profile, offcputime and stackcount of bcc print them.
    Bcc,
}

impl ImportFormat {
    /// The name in the column `provider` of the table `sources`.
    pub fn name(self) -> &'static str {
        match self {
            ImportFormat::Jfr => "jfr",
            ImportFormat::Perf => "perf-script",
            ImportFormat::Folded => "folded",
            ImportFormat::Pprof => "pprof",
            ImportFormat::Bpftrace => "bpftrace",
            ImportFormat::Bcc => "bcc",
        }
    }
}

/// How samples get times on the recording's clock, in ns since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeAlignment {
    /// The first sample is at this time.
    BeginsAt(i64),
    /// The file's own wall-clock times are used; if a file has no times, it ends at this time.
    EndsAt(i64),
    /// The file's times are CLOCK_MONOTONIC of this machine's current boot.
    ThisBoot,
}

#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The format of the file; None to detect it.
    pub format: Option<ImportFormat>,
    /// The node that the samples belong to.
    pub node: String,
    /// The event of stacks whose format has none; cpu by default.
    pub event: Option<String>,
    /// Time or amount that one sample represents; None for the file's own value.
    pub interval: Option<Duration>,
    /// Clock rate, to convert cycles into CPU time.
    pub ghz: Option<f64>,
    pub place: TimeAlignment,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: ImportFormat,
    pub samples: u64,
    /// Samples and sum of weights, by event.
    pub events: BTreeMap<String, (u64, i64)>,
    /// Number of samples that were not imported, and the reasons.
    pub lost: u64,
    pub losses: Vec<String>,
    /// Assumptions that were made, and cautions for the reader of the figures.
    pub notes: Vec<String>,
}

/// Why a file can't be imported; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),

    #[error(transparent)]
    Malformed(#[from] Malformed),

    #[error("{0}")]
    Other(String),

    #[error("the recording cannot be written: {0}")]
    Recording(#[from] helenus_recording::Error),
}

/// Imports one file into a recording.
pub fn import(recorder: &Recorder, from: impl BufRead, options: &ImportOptions) -> Result<Imported, Error> {
    let begun_ns = cpu_time_of_this_thread_ns();
    let unpacked = unpack::Unpacked::of(from)?;
    let is_broken = unpacked.broken();
    let mut from = unpacked.from;
    let head = recognized::head(&mut from)?;
    let format = match options.format {
        Some(format) => format,
        None => recognized::format(&head)?,
    };
    let has_no_event = matches!(format, ImportFormat::Folded | ImportFormat::Bpftrace | ImportFormat::Bcc);
    let only =
        |option: &str, of: &str| Err(Error::Other(format!("{option} is for {of}, and this is {}", format.name())));
    if options.event.is_some() && !has_no_event {
        return only("--event", "folded stacks and those of bpftrace and bcc");
    }
    if options.ghz.is_some() && format != ImportFormat::Perf {
        return only("--ghz", "what perf script prints");
    }
    let whole = std::io::Cursor::new(head).chain(from);
    let mut sink = Sink::new(recorder, &options.node, format);
    match format {
        ImportFormat::Jfr => jfr::read(whole, options, &mut sink)?,
        ImportFormat::Perf => perf::read(whole, options, &mut sink)?,
        ImportFormat::Folded => folded::read(whole, options, &mut sink)?,
        ImportFormat::Pprof => pprof::read(whole, options, &mut sink)?,
        ImportFormat::Bpftrace | ImportFormat::Bcc => printed::read(whole, format, options, &mut sink)?,
    }
    if is_broken.get() {
        sink.lose_uncounted("the compressed file is cut off or damaged; what is behind that can't be unpacked");
    }
    sink.end(begun_ns)
}

/// Writes samples into a recording.
struct Sink<'a> {
    recorder: &'a Recorder,
    node: &'a str,
    /// Numbers of the stacks that already have a row.
    known: HashSet<i64>,
    /// Bytes of names since the last pause for the recorder.
    unwritten: usize,
    /// The sum of all weights, which must fit into 64 bits.
    total: i64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    imported: Imported,
    /// Descriptions of missing data whose amount is unknown.
    uncounted: Vec<String>,
}

impl<'a> Sink<'a> {
    fn new(recorder: &'a Recorder, node: &'a str, format: ImportFormat) -> Sink<'a> {
        let imported =
            Imported { format, samples: 0, events: BTreeMap::new(), lost: 0, losses: Vec::new(), notes: Vec::new() };
        let (known, uncounted) = (HashSet::new(), Vec::new());
        Sink { recorder, node, known, unwritten: 0, total: 0, first_ns: None, last_ns: None, imported, uncounted }
    }

    /// Adds a sample. Its frames are decoded only if the stack has no row yet.
    fn add<F: Deref<Target = Frames>, E>(
        &mut self,
        time_ns: i64,
        event: &str,
        weight: i64,
        (tid, thread): (i64, &str),
        stack: i64,
        frames: impl FnOnce() -> Result<F, E>,
    ) -> Result<(), Error>
    where
        Error: From<E>,
    {
        let weight = weight.max(0);
        let Some(total) = self.total.checked_add(weight) else {
            self.lose(1, "weights that can't be added up in 64 bits");
            return Ok(());
        };
        if self.known.insert(stack) {
            let frames = frames()?;
            self.unwritten += frames.names.len();
            if self.unwritten > AT_ONCE {
                // A file is read faster than rows can be written to disk; rows wait in memory.
                self.unwritten = 0;
                std::thread::sleep(TO_WRITE);
            }
            self.recorder.append(Stack { time_ns, stack, frames: &frames.names, kinds: &frames.kinds });
        }
        self.total = total;
        self.recorder.append(StackSample {
            time_ns,
            node: self.node,
            event,
            weight,
            tid,
            thread,
            thread_group: thread_group(thread),
            stack,
        });
        self.first_ns = Some(self.first_ns.map_or(time_ns, |first| first.min(time_ns)));
        self.last_ns = Some(self.last_ns.map_or(time_ns, |last| last.max(time_ns)));
        self.imported.samples += 1;
        match self.imported.events.get_mut(event) {
            Some((samples, sum)) => {
                *samples += 1;
                *sum += weight;
            }
            None => {
                self.imported.events.insert(event.to_string(), (1, weight));
            }
        }
        Ok(())
    }

    /// Number of samples imported so far.
    fn samples(&self) -> u64 {
        self.imported.samples
    }

    /// Counts samples that are not imported.
    fn lose(&mut self, samples: u64, reason: &str) {
        self.imported.lost = self.imported.lost.saturating_add(samples);
        if !self.imported.losses.iter().any(|known| known == reason) {
            self.imported.losses.push(reason.to_string());
        }
    }

    /// Counts a line that can't be imported; the first one of each kind is reported.
    fn lose_line(&mut self, reason: &str, number: u64) {
        self.imported.lost = self.imported.lost.saturating_add(1);
        if !self.imported.losses.iter().any(|known| known.starts_with(reason)) {
            self.imported.losses.push(format!("{reason}, such as line {number}"));
        }
    }

    /// Notes that nothing after this line is read.
    fn give_up(&mut self, number: u64, reason: &str) {
        self.lose_uncounted(&format!("nothing is read from line {number} on: {reason}"));
    }

    /// Notes that an unknown number of samples is missing.
    fn lose_uncounted(&mut self, reason: &str) {
        self.uncounted.push(reason.to_string());
        self.imported.losses.push(reason.to_string());
    }

    fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.imported.notes.contains(&text) {
            self.imported.notes.push(text);
        }
    }

    fn end(self, begun_ns: i64) -> Result<Imported, Error> {
        let (node, imported) = (self.node.to_string(), self.imported);
        let (Some(first_ns), Some(last_ns)) = (self.first_ns, self.last_ns) else {
            // Notes of other formats are about samples.
            let notes = imported.notes.iter().filter(|_| imported.format == ImportFormat::Jfr);
            let told: Vec<&str> = imported.losses.iter().chain(notes).map(String::as_str).collect();
            let why = if told.is_empty() { String::new() } else { format!(": {}", told.join("; ")) };
            return Err(Error::Other(format!("there is no sample in it{why}")));
        };
        self.recorder.append(SourceReport {
            time_ns: last_ns,
            interval_ns: last_ns.saturating_sub(first_ns),
            source: "stacks",
            node: &node,
            provider: imported.format.name(),
            captured: i64::try_from(imported.samples).unwrap_or(i64::MAX),
            lost: i64::try_from(imported.lost).unwrap_or(i64::MAX),
            lost_reason: &imported.losses.join("; "),
            cpu_ns: Some(cpu_time_of_this_thread_ns() - begun_ns),
        });
        let facts = SourceFacts {
            name: "stacks".into(),
            node: node.clone(),
            provider: imported.format.name().into(),
            note: imported.notes.join("; "),
        };
        let losses = self.uncounted.into_iter().map(|reason| Loss { table: "samples".into(), rows: None, reason });
        self.recorder.update_manifest(|manifest| {
            manifest.sources.push(facts);
            manifest.losses.extend(losses);
            if !manifest.nodes.iter().any(|known| known.address == node) {
                manifest.nodes.push(NodeFacts { address: node, ..NodeFacts::default() });
            }
        })?;
        Ok(imported)
    }
}

/// A thread as async-profiler writes it, and Helenus where threads share a name: `[name tid=12]`.
fn named(thread: &str) -> Option<(&str, i64)> {
    let (name, tid) = thread.strip_prefix('[')?.strip_suffix(']')?.rsplit_once(" tid=")?;
    Some((name, tid.parse().ok()?))
}

/// The kind of a frame of folded stacks: from the suffix that some tools append to a name, such as `_[j]`, otherwise
/// from the form of the name.
fn kind_of(name: &str) -> char {
    if let Some((_, letter)) = name.strip_suffix(']').and_then(|name| name.rsplit_once("_[")) {
        match letter {
            "j" => return 'j',
            "i" => return 'l',
            "k" => return 'k',
            "0" => return 'i',
            "1" => return '1',
            _ => {}
        }
    }
    // Matches Java names, package.Class.method; some tools write / in place of the dots of the package.
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '<' | '$'))
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '<' | '>' | '-'))
    };
    let parts: Vec<&str> = name.split(['.', '/']).collect();
    let is_java = parts.len() >= 3 && name.starts_with(char::is_lowercase) && parts.iter().all(|part| is_word(part));
    if is_java { 'j' } else { 'n' }
}
