//! Import of a node's logs, as support bundles have them: Cassandra's own, and those of the JVM's collector.
//!
//! ```text
//! bundle/10.0.0.1/system.log, debug.log.1.zip ─▶ lines ─▶ events, pauses of GCInspector
//!                 gc.log.0                    ─▶ lines ─▶ pauses
//! ```

mod files;
mod gc;
mod stamp;
mod zip;

use super::Error;
use super::lines::{Line, Lines};
use crate::events::{Event, LogLine};
use files::LogFile;
use gc::{GcLog, Pause};
use helenus_recording::rows::{self, NodeEvent, SourceReport};
use helenus_recording::{NodeFacts, Recorder, SourceFacts, cpu_time_of_this_thread_ns};
use stamp::Stamp;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The number of lines by which a log is recognized.
const LOOKED_AT: usize = 200;
const LOOKED_AT_BYTES: u64 = 1 << 20;
/// The most pauses of one file that wait until the JVM's start is known.
const MOST_WAITING: usize = 1_000_000;
/// The most events by which lines are recognized that are in several logs.
const MOST_KNOWN: usize = 4 << 20;
/// After this many rows the import pauses this long, so that the recorder can write them.
const AT_ONCE: u64 = 200_000;
const TO_WRITE: std::time::Duration = std::time::Duration::from_millis(100);

const LOG: &str = "log";
/// The provider of pauses that the JVM told Cassandra's GCInspector: exact to 1 ms.
const NOTIFICATIONS: &str = "mxbean";

/// How logs are imported.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The name of the node, if the folder has the logs of one node.
    pub node: String,
    /// How far the nodes' clocks are ahead of UTC, in ns; None to take it from the collector's logs.
    pub ahead_ns: Option<i64>,
}

/// The result of importing a node's logs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedLogs {
    pub node: String,
    pub files: usize,
    /// The number of events, by kind.
    pub events: BTreeMap<&'static str, u64>,
    pub pauses: u64,
    /// The times of the first and the last line that gave a row, in ns since the Unix epoch.
    pub span_ns: Option<(i64, i64)>,
    /// Files and lines that could not be read.
    pub losses: Vec<String>,
    pub notes: Vec<String>,
}

/// Whether a file is a log that can be imported, by its first lines.
pub fn is_log(path: &Path) -> bool {
    files::find(path).is_ok_and(|files| files.iter().any(|file| kind(file).is_ok_and(|kind| kind.is_some())))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Cassandra,
    Collector,
}

/// The kind of a log; None for other files.
fn kind(file: &LogFile) -> io::Result<Option<Kind>> {
    let looked = file.read(|from| {
        let mut lines = Lines::new(from.take(LOOKED_AT_BYTES));
        for _ in 0..LOOKED_AT {
            let Some(Line::Whole(line) | Line::Last(line)) = lines.next()? else { return Ok(None) };
            if LogLine::of(&line).is_some() {
                return Ok(Some(Kind::Cassandra));
            }
            if gc::is_line(&line) {
                return Ok(Some(Kind::Collector));
            }
        }
        Ok(None)
    })?;
    Ok(looked.0)
}

/// Imports the logs of folders with their subfolders, and of files.
pub fn import_logs(recorder: &Recorder, paths: &[&Path], options: &LogOptions) -> Result<Vec<ImportedLogs>, Error> {
    let mut known: Vec<(LogFile, Kind)> = Vec::new();
    let mut unreadable = Vec::new();
    for path in paths {
        for file in files::find(path)? {
            match kind(&file) {
                Ok(Some(kind)) => known.push((file, kind)),
                Ok(None) => {}
                Err(error) => unreadable.push(format!("{} cannot be read: {error}", file.path.display())),
            }
        }
    }
    if known.is_empty() {
        let why = if unreadable.is_empty() { String::new() } else { format!(": {}", unreadable.join("; ")) };
        return Err(Error::Other(format!(
            "it has no log: neither lines with the layout of Cassandra's own logback.xml (system.log, debug.log) nor those of \
             the JVM's collector (gc.log){why}"
        )));
    }
    let files: Vec<LogFile> = known.iter().map(|(file, _)| file.clone()).collect();
    let mut nodes: BTreeMap<String, Vec<(LogFile, Kind)>> = BTreeMap::new();
    for (of, node) in known.into_iter().zip(files::nodes(&files, &options.node)) {
        nodes.entry(node).or_default().push(of);
    }
    let mut imported = Vec::new();
    for (node, mut files) in nodes {
        let begun_ns = cpu_time_of_this_thread_ns();
        // The collector's logs say which zone Cassandra's times are in. debug.log has the lines of system.log, too.
        files.sort_by_key(|(file, kind)| (*kind == Kind::Cassandra, file.stem() != "debug", file.name.clone()));
        let mut reading = Reading::new(recorder, &node, options.ahead_ns);
        for (file, kind) in &files {
            if let Err(error) = reading.read(file, *kind) {
                reading.told.losses.push(format!("{} is read in part: {error}", file.path.display()));
            }
        }
        imported.push(reading.end(begun_ns)?);
    }
    if let Some(first) = imported.first_mut() {
        first.losses.extend(unreadable);
    }
    if imported.iter().all(|node| node.span_ns.is_none()) {
        return Err(Error::Other("its logs have no event and no pause".to_string()));
    }
    Ok(imported)
}

struct Reading<'a> {
    recorder: &'a Recorder,
    node: &'a str,
    ahead_ns: Option<i64>,
    /// How often each event was taken: a line may be in several logs of a node.
    taken: HashMap<u64, u32>,
    /// The same for the log that is being read, by its name.
    log: String,
    in_log: HashMap<u64, u32>,
    /// The times that the collector's logs cover.
    covered: Vec<(i64, i64)>,
    /// Pauses of GCInspector: start, length and collector.
    inspected: Vec<(i64, i64, &'static str)>,
    rows: u64,
    told: ImportedLogs,
}

impl<'a> Reading<'a> {
    fn new(recorder: &'a Recorder, node: &'a str, ahead_ns: Option<i64>) -> Reading<'a> {
        Reading {
            recorder,
            node,
            ahead_ns,
            taken: HashMap::new(),
            log: String::new(),
            in_log: HashMap::new(),
            covered: Vec::new(),
            inspected: Vec::new(),
            rows: 0,
            told: ImportedLogs { node: node.to_string(), ..ImportedLogs::default() },
        }
    }

    fn read(&mut self, file: &LogFile, kind: Kind) -> io::Result<()> {
        self.told.files += 1;
        let changed_ns = file.changed_ns();
        if kind == Kind::Cassandra && self.log != file.stem() {
            self.log = file.stem().to_string();
            self.in_log.clear();
        }
        let read = file.read(|from| match kind {
            Kind::Cassandra => self.cassandra(from),
            Kind::Collector => self.collector(from, changed_ns),
        })?;
        let ((), is_broken) = read;
        if is_broken {
            self.told.losses.push(format!("{} is cut off or damaged, and read in part", file.path.display()));
        }
        Ok(())
    }

    fn cassandra(&mut self, from: &mut dyn BufRead) -> io::Result<()> {
        if self.ahead_ns.is_none() {
            self.ahead_ns = Some(0);
            self.told.notes.push("the log's times are taken for UTC; say with --zone which zone the node has".into());
        }
        let mut lines = Lines::new(from);
        while let Some(line) = lines.next()? {
            let (Line::Whole(line) | Line::Last(line)) = line else {
                if matches!(line, Line::GivenUp(_)) {
                    break;
                }
                continue;
            };
            let Some(parsed) = LogLine::of(&line) else { continue };
            lines.has_sample = true;
            let at = parsed.time_ns(self.ahead_ns.unwrap_or_default());
            if let Some(event) = at.and_then(|at| parsed.event_at(at)) {
                self.event(&event);
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) {
        let mut hasher = DefaultHasher::new();
        (event.time_ns, event.class.kind, &event.class.what, &event.logger).hash(&mut hasher);
        let hash = hasher.finish();
        if self.taken.len() < MOST_KNOWN || self.taken.contains_key(&hash) {
            let (in_log, taken) = (self.in_log.entry(hash).or_default(), self.taken.entry(hash).or_default());
            *in_log = in_log.saturating_add(1);
            if *in_log <= *taken {
                return;
            }
            *taken = *in_log;
        }
        if let Some((collector, duration_ns)) = event.class.stop.filter(|_| self.inspected.len() < MOST_WAITING) {
            self.inspected.push((event.time_ns.saturating_sub(duration_ns), duration_ns, collector));
        }
        self.recorder.append(NodeEvent {
            time_ns: event.time_ns,
            node: self.node,
            kind: event.class.kind,
            what: &event.class.what,
            logger: &event.logger,
        });
        *self.told.events.entry(event.class.kind).or_default() += 1;
        self.saw(event.time_ns);
    }

    /// Notes that a row was written.
    fn saw(&mut self, time_ns: i64) {
        let (first, last) = self.told.span_ns.unwrap_or((time_ns, time_ns));
        self.told.span_ns = Some((first.min(time_ns), last.max(time_ns)));
        self.rows += 1;
        if self.rows.is_multiple_of(AT_ONCE) {
            std::thread::sleep(TO_WRITE);
        }
    }

    fn collector(&mut self, from: &mut dyn BufRead, changed_ns: i64) -> io::Result<()> {
        let (mut log, mut waiting) = (GcLog::default(), Vec::new());
        let mut covered: Option<(i64, i64)> = None;
        let mut last_uptime_ns = 0;
        let mut lines = Lines::new(from);
        loop {
            let line = match lines.next()? {
                Some(Line::Whole(line) | Line::Last(line)) => Some(line),
                Some(Line::TooLong) => continue,
                Some(Line::GivenUp(_)) | None => None,
            };
            match line.as_deref().and_then(stamp::stamped) {
                Some((Stamp::Wall(at, ahead_ns), ..)) => {
                    lines.has_sample = true;
                    self.ahead_ns = self.ahead_ns.or(ahead_ns);
                    let (first, last) = covered.unwrap_or((at, at));
                    covered = Some((first.min(at), last.max(at)));
                }
                Some((Stamp::Uptime(at), ..)) => {
                    lines.has_sample = true;
                    last_uptime_ns = last_uptime_ns.max(at);
                }
                None => {}
            }
            let pause = match &line {
                Some(line) => log.take(line),
                None => log.end(),
            };
            match pause {
                Some(pause) => match pause.start {
                    Stamp::Wall(start_ns, _) => self.pause(&pause, start_ns),
                    Stamp::Uptime(_) if waiting.len() < MOST_WAITING => waiting.push(pause),
                    Stamp::Uptime(_) => {}
                },
                None if line.is_none() => break,
                None => {}
            }
        }
        if !waiting.is_empty() {
            let note = "a log of the collector has no dates: its last line is placed where the file was last changed";
            if !self.told.notes.iter().any(|known| known == note) {
                self.told.notes.push(note.to_string());
            }
            let started_ns = changed_ns.saturating_sub(last_uptime_ns);
            covered = Some((started_ns, changed_ns));
            for pause in waiting {
                if let Stamp::Uptime(start_ns) = pause.start {
                    self.pause(&pause, started_ns.saturating_add(start_ns));
                }
            }
        }
        self.covered.extend(covered);
        Ok(())
    }

    fn pause(&mut self, pause: &Pause, start_ns: i64) {
        self.recorder.append(rows::Pause {
            start_ns,
            duration_ns: pause.duration_ns,
            node: self.node,
            kind: if pause.is_collection { "gc" } else { "safepoint" },
            gc_id: pause.gc_id,
            collector: pause.collector.or(pause.cause.as_deref().filter(|_| !pause.is_collection)),
            cause: pause.cause.as_deref().filter(|_| pause.is_collection),
            phase: None,
            heap_before_bytes: pause.heap.map(|(before, _)| before),
            heap_after_bytes: pause.heap.map(|(_, after)| after),
            time_to_safepoint_ns: pause.time_to_safepoint_ns,
            provider: LOG,
        });
        self.told.pauses += 1;
        self.saw(start_ns);
    }

    /// Writes the pauses that only GCInspector reports.
    fn write_inspected(&mut self) {
        for (start_ns, duration_ns, collector) in std::mem::take(&mut self.inspected) {
            if self.covered.iter().any(|(first, last)| (*first..=*last).contains(&start_ns)) {
                continue;
            }
            self.recorder.append(rows::Pause {
                start_ns,
                duration_ns,
                node: self.node,
                kind: "gc",
                gc_id: None,
                collector: Some(collector),
                cause: None,
                phase: None,
                heap_before_bytes: None,
                heap_after_bytes: None,
                time_to_safepoint_ns: None,
                provider: NOTIFICATIONS,
            });
            self.told.pauses += 1;
            self.saw(start_ns);
        }
    }

    fn end(mut self, begun_ns: i64) -> Result<ImportedLogs, Error> {
        if self.covered.is_empty() && !self.inspected.is_empty() {
            self.told.notes.push("pauses are those of 200 ms and more that GCInspector logged".into());
        }
        self.write_inspected();
        let Some((first_ns, last_ns)) = self.told.span_ns else { return Ok(self.told) };
        let events = self.told.events.values().copied().fold(0, u64::saturating_add);
        let counted = [("events", events), ("pauses", self.told.pauses)];
        let sources = counted.into_iter().filter(|(_, rows)| *rows > 0);
        for (source, rows) in sources.clone() {
            self.recorder.append(SourceReport {
                time_ns: last_ns,
                interval_ns: last_ns.saturating_sub(first_ns),
                source,
                node: self.node,
                provider: LOG,
                captured: i64::try_from(rows).unwrap_or(i64::MAX),
                lost: 0,
                lost_reason: "",
                cpu_ns: Some(cpu_time_of_this_thread_ns() - begun_ns),
            });
        }
        let facts = sources.map(|(source, _)| SourceFacts {
            name: source.into(),
            node: self.node.to_string(),
            provider: LOG.into(),
            note: self.told.notes.join("; "),
        });
        self.recorder.update_manifest(|manifest| {
            manifest.sources.extend(facts);
            if !manifest.nodes.iter().any(|known| known.address == self.node) {
                manifest.nodes.push(NodeFacts { address: self.node.to_string(), ..NodeFacts::default() });
            }
        })?;
        Ok(self.told)
    }
}
