//! The system calls of a recording as a spectrogram that can be filtered and selected from without the recording: counts
//! by time, duration, call, thread group and file, with bounds on all of them, and the longest calls of each place.

use crate::engine::{integers, parts, texts};
use crate::query::{EVERY_SUMMARY, EVERY_SYSCALL, Value};
use crate::spectrogram::selection::totals_of;
use crate::spectrogram::{Area, Of, SourceLoss, TotalsBy, Traces, axis, losses};
use crate::timeline::{Bins, Interval};
use crate::{Engine, Error};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// The most rows and columns of the spectrogram.
const MOST_ROWS: i64 = 200;
const COLUMNS: usize = 80;
/// The most cells in the page. With more, rows are made longer first, and then fewer names are kept.
const MOST_CELLS: usize = 40_000;
/// The most names that are kept; the most frequent ones come first.
const MOST_CALLS: usize = 16;
const MOST_GROUPS: usize = 12;
const MOST_FILES: usize = 24;
/// Rows are not merged below this number; names are merged instead.
const FEWEST_ROWS: usize = 50;
/// The most single calls in the page. If there are more, the longest of each cell are kept.
const MOST_EVENTS: usize = 3000;
const EVENT_ROWS: i64 = 60;

/// How long system calls took, over time: what the page draws, filters and selects from. Row `r` begins at `r * bin_s`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Spectrogram"))]
pub struct ReportSpectrogram {
    pub of: Of,
    pub bin_s: f64,
    pub rows: usize,
    /// Column `c` holds what took `edges_ns[c]` or more and less than `edges_ns[c + 1]`; the first also what took less, the last
    /// also what took more.
    pub edges_ns: Vec<i64>,
    /// The names, the most frequent first.
    pub calls: Vec<String>,
    pub groups: Vec<String>,
    pub files: Vec<String>,
    /// How many more calls, thread groups and files there were. The cells hold them together, under the number after
    /// the last name.
    pub other_calls: usize,
    pub other_groups: usize,
    pub other_files: usize,
    pub cells: ReportCells,
    /// The longest events, by start.
    pub longest: Vec<ReportEvent>,
    /// Whether `longest` has all calls.
    pub complete: bool,
    pub events: i64,
    pub lost: Vec<SourceLoss>,
}

/// Cells as parallel lists: entry i of each list belongs to cell i.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "SpectrogramCells"))]
pub struct ReportCells {
    pub row: Vec<usize>,
    pub column: Vec<usize>,
    pub call: Vec<usize>,
    pub group: Vec<usize>,
    pub file: Vec<usize>,
    pub events: Vec<i64>,
    pub total_ns: Vec<i64>,
    pub bytes: Vec<i64>,
    pub errors: Vec<i64>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Syscall"))]
pub struct ReportEvent {
    pub start_s: f64,
    pub duration_ns: i64,
    pub group: String,
    pub tid: i64,
    pub call: String,
    pub file: String,
    pub bytes: Option<i64>,
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    row: usize,
    column: usize,
    call: usize,
    group: usize,
    file: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    events: i64,
    total_ns: i64,
    bytes: i64,
    errors: i64,
}

impl Sums {
    fn add(&mut self, other: Sums) {
        self.events += other.events;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors += other.errors;
    }
}

/// Returns None if no system call was recorded.
pub(super) fn build(engine: &Engine, span: Interval) -> Result<Option<ReportSpectrogram>, Error> {
    let traces = Traces::find(engine)?;
    let of = match traces {
        Traces { syscalls: true, .. } => Of::Syscalls,
        Traces { summary: true, .. } => Of::Summary,
        _ => return Ok(None),
    };
    let everything = Area { from_ns: i64::MIN, to_ns: i64::MAX, low_ns: i64::MIN, high_ns: i64::MAX };
    let (all, by) = totals_of(engine, of, "true", everything, traces)?;
    let [calls, files, groups] = [&by[0], &by[1], &by[2]];
    let names = [Names::of(calls, MOST_CALLS), Names::of(groups, MOST_GROUPS), Names::of(files, MOST_FILES)];
    let shortest_ns = if of == Of::Summary { 1_000_000_000 } else { 10_000_000 };
    let begin = || Reading {
        of,
        bins: Bins::over(span, MOST_ROWS, shortest_ns),
        event_bins: Bins::over(span, EVENT_ROWS, shortest_ns),
        edges_ns: if of == Of::Summary { axis::doubling() } else { axis::even(COLUMNS) },
        names: names.clone(),
        cells: HashMap::default(),
        every: Some(Vec::new()),
        longest: HashMap::new(),
    };
    let query = if of == Of::Syscalls { EVERY_SYSCALL } else { EVERY_SUMMARY };
    let whole = Interval { start: traces.start_ns, end: traces.end_ns.saturating_add(1) };
    let statement =
        |part: Interval| query.fill(&[("from_ns", Value::Integer(part.start)), ("to_ns", Value::Integer(part.end))]);
    let statements: Vec<String> = parts(whole).map(statement).collect();
    let read = engine.fold_on_all_cpus(&statements, begin, |reading, batch| reading.take(&batch))?;
    let read = read.into_iter().reduce(Reading::with).unwrap_or_else(begin);
    Ok(Some(read.finish(all.events, losses(engine, of)?)))
}

/// The most frequent names, and the number of the others.
#[derive(Debug, Clone)]
struct Names {
    shown: Vec<String>,
    others: usize,
}

impl Names {
    fn of(totals: &TotalsBy, most: usize) -> Names {
        let mut totals: Vec<_> = totals.totals.iter().collect();
        totals.sort_by(|a, b| (b.events, &a.name).cmp(&(a.events, &b.name)));
        let shown: Vec<String> = totals.iter().take(most).map(|total| total.name.clone()).collect();
        Names { others: totals.len() - shown.len(), shown }
    }

    fn number(&self, name: &str) -> usize {
        // A linear search is faster than a map here, because there are few names and the most frequent come first.
        self.shown.iter().position(|shown| shown == name).unwrap_or(self.shown.len())
    }

    /// Merges the rarer half of the names into the others.
    fn halve(&mut self) {
        let kept = self.shown.len() / 2;
        self.others += self.shown.len() - kept;
        self.shown.truncate(kept);
    }
}

/// A fast hash without protection against attackers. The keys are five small numbers of our own, and every call needs
/// one lookup.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        // The upper half is the better mixed one.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        // The multiplier of Knuth's multiplicative hashing, 2^64 / φ.
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

struct Reading {
    of: Of,
    bins: Bins,
    event_bins: Bins,
    edges_ns: Vec<i64>,
    /// The names of calls, thread groups and files.
    names: [Names; 3],
    cells: HashMap<Place, Sums, BuildHasherDefault<PlaceHasher>>,
    /// All single events, as long as there are few.
    every: Option<Vec<ReportEvent>>,
    longest: HashMap<(usize, usize), ReportEvent>,
}

impl Reading {
    fn take(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let single = self.of == Of::Syscalls;
        let column = |name| integers(batch, name);
        let start = column("start_ns")?;
        let duration = column(if single { "duration_ns" } else { "low_ns" })?;
        let bytes = column("bytes")?;
        let (call, group, file) = (texts(batch, "call")?, texts(batch, "thread_group")?, texts(batch, "file")?);
        let (call, group, file) = (call.as_string::<i32>(), group.as_string::<i32>(), file.as_string::<i32>());
        let of_summary = match single {
            true => None,
            false => Some((column("events")?, column("total_ns")?, column("errors")?)),
        };
        let of_call = match single {
            true => Some((column("tid")?, texts(batch, "error")?)),
            false => None,
        };
        let value = |array: &ArrayRef, row: usize| array.as_primitive::<Int64Type>().value(row);
        for row in 0..batch.num_rows() {
            let (start_ns, duration_ns) = (value(&start, row), value(&duration, row));
            let moved = if bytes.is_null(row) { None } else { Some(value(&bytes, row)) };
            let column = self.edges_ns.partition_point(|edge| *edge <= duration_ns).saturating_sub(1);
            let column = column.min(self.edges_ns.len() - 2);
            let place = Place {
                row: self.bins.of(start_ns),
                column,
                call: self.names[0].number(call.value(row)),
                group: self.names[1].number(group.value(row)),
                file: self.names[2].number(file.value(row)),
            };
            let error = of_call.as_ref().and_then(|(_, error)| {
                let error = error.as_string::<i32>();
                (!error.is_null(row)).then(|| error.value(row))
            });
            let sums = match &of_summary {
                Some((events, total, errors)) => Sums {
                    events: value(events, row),
                    total_ns: value(total, row),
                    bytes: moved.unwrap_or(0),
                    errors: value(errors, row),
                },
                None => Sums {
                    events: 1,
                    total_ns: duration_ns,
                    bytes: moved.unwrap_or(0),
                    errors: i64::from(error.is_some()),
                },
            };
            self.cells.entry(place).or_default().add(sums);
            let Some((tid, _)) = &of_call else { continue };
            let key = (self.event_bins.of(start_ns), column);
            let is_longest = self.longest.get(&key).is_none_or(|known| known.duration_ns < duration_ns);
            if !is_longest && self.every.is_none() {
                continue;
            }
            let event = ReportEvent {
                start_s: self.bins.second(start_ns),
                duration_ns,
                group: group.value(row).to_string(),
                tid: value(tid, row),
                call: call.value(row).to_string(),
                file: file.value(row).to_string(),
                bytes: moved,
                error: error.map(str::to_string),
            };
            if let Some(every) = &mut self.every {
                every.push(event.clone());
                if every.len() > MOST_EVENTS {
                    self.every = None;
                }
            }
            if is_longest {
                self.longest.insert(key, event);
            }
        }
        Ok(())
    }

    /// Adds the cells and events that another thread has read.
    fn with(mut self, other: Reading) -> Reading {
        for (place, sums) in other.cells {
            self.cells.entry(place).or_default().add(sums);
        }
        for (place, event) in other.longest {
            match self.longest.get(&place) {
                Some(known) if known.duration_ns >= event.duration_ns => {}
                _ => {
                    self.longest.insert(place, event);
                }
            }
        }
        self.every = self.every.zip(other.every).map(|(mut every, other)| {
            every.extend(other);
            every
        });
        self.every = self.every.filter(|every| every.len() <= MOST_EVENTS);
        self
    }

    /// Merges cells until few enough remain.
    fn finish(mut self, events: i64, lost: Vec<SourceLoss>) -> ReportSpectrogram {
        let mut bins = self.bins;
        while self.cells.len() > MOST_CELLS {
            if bins.count > FEWEST_ROWS {
                bins = Bins { length_ns: bins.length_ns * 2, count: bins.count.div_ceil(2), ..bins };
                self.regroup(|place| Place { row: place.row / 2, ..place });
                continue;
            }
            // Merge file names first, because most names are files.
            let Some(which) = [2, 1, 0].into_iter().find(|which| !self.names[*which].shown.is_empty()) else { break };
            self.names[which].halve();
            let kept = self.names[which].shown.len();
            self.regroup(|mut place| {
                match which {
                    0 => place.call = place.call.min(kept),
                    1 => place.group = place.group.min(kept),
                    _ => place.file = place.file.min(kept),
                }
                place
            });
        }
        let mut longest = match self.every {
            Some(ref every) if self.of == Of::Syscalls => every.clone(),
            _ => {
                let mut longest: Vec<ReportEvent> = self.longest.into_values().collect();
                longest.sort_by_key(|event| std::cmp::Reverse(event.duration_ns));
                longest.truncate(MOST_EVENTS);
                longest
            }
        };
        longest.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then(a.tid.cmp(&b.tid)));
        let mut cells = ReportCells::default();
        for (place, sums) in self.cells.into_iter().collect::<BTreeMap<_, _>>() {
            cells.row.push(place.row);
            cells.column.push(place.column);
            cells.call.push(place.call);
            cells.group.push(place.group);
            cells.file.push(place.file);
            cells.events.push(sums.events);
            cells.total_ns.push(sums.total_ns);
            cells.bytes.push(sums.bytes);
            cells.errors.push(sums.errors);
        }
        let [calls, groups, files] = self.names;
        ReportSpectrogram {
            of: self.of,
            bin_s: bins.seconds_each(),
            rows: bins.count,
            edges_ns: self.edges_ns,
            calls: calls.shown,
            groups: groups.shown,
            files: files.shown,
            other_calls: calls.others,
            other_groups: groups.others,
            other_files: files.others,
            cells,
            longest,
            complete: self.of == Of::Syscalls && self.every.is_some(),
            events,
            lost,
        }
    }

    fn regroup(&mut self, place: impl Fn(Place) -> Place) {
        let cells = std::mem::take(&mut self.cells);
        for (old, sums) in cells {
            self.cells.entry(place(old)).or_default().add(sums);
        }
    }
}
