//! Finds rows that two recorders of one machine have both written, because such rows must be counted once.
//!
//! A recorder was watching while its source reported to the table `sources`. If several were watching at the same time,
//! the rows of one count: the first one that names the machine's node, otherwise the first one.

use crate::schema::{Seen, Subject, TABLES, Table};
use crate::{Error, Recording};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A source reports about once a second. If the time between two reports is longer than this, the source was not
/// running in between.
const LONGEST_BETWEEN_REPORTS_NS: i64 = 1_000_000_000;

/// The largest difference between the clock offsets of two recorders, each of which measured its own.
const CLOCKS_AGREE_NS: i64 = 1_000_000;

/// Rows of a recording that another recording of the same machine has as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    pub table: &'static Table,
    /// The node that the rows name; None for all rows.
    pub node: Option<String>,
    /// Intervals in ascending order, on the clock of the recording with the rows. A row with an interval or a duration
    /// lies in an interval if it overlaps it.
    pub windows: Vec<(i64, i64)>,
}

/// Finds rows that another of the recordings has as well and that must not count twice: for each recording, in order.
///
/// Only recordings of the same boot can have the same rows. It reads only the reports of their sources.
pub fn repeated(recordings: &[Recording]) -> Result<Vec<Vec<Repeated>>, Error> {
    let mut found = vec![Vec::new(); recordings.len()];
    for together in of_one_boot(recordings) {
        let watched = together
            .iter()
            .map(|index| Ok((*index, Watched::by(&recordings[*index])?)))
            .collect::<Result<Vec<_>, Error>>()?;
        for (table, seen) in TABLES.iter().filter_map(|table| Some((table, table.seen.as_ref()?))) {
            let nodes: Vec<Option<&str>> = match seen.of {
                Subject::Machine => vec![None],
                Subject::Node => {
                    let names: BTreeSet<&str> = watched.iter().flat_map(|(_, watched)| watched.nodes(seen)).collect();
                    names.into_iter().filter(|node| !node.is_empty()).map(Some).collect()
                }
            };
            for node in nodes {
                let mut in_order: Vec<&(usize, Watched)> = watched.iter().collect();
                in_order.sort_by_key(|(_, watched)| watched.nodes(seen).all(str::is_empty));
                let mut taken: Vec<(i64, i64)> = Vec::new();
                for (index, watched) in in_order {
                    if !taken.is_empty() {
                        let offset_ns = recordings[*index].manifest().clock.epoch_offset_ns;
                        let window = |(start, end): &(i64, i64)| {
                            (start + offset_ns - CLOCKS_AGREE_NS, end + offset_ns + CLOCKS_AGREE_NS)
                        };
                        let windows = taken.iter().map(window).collect();
                        found[*index].push(Repeated { table, node: node.map(str::to_string), windows });
                    }
                    taken = joined(taken.into_iter().chain(watched.windows(seen, node)).collect());
                }
            }
        }
    }
    Ok(found)
}

impl Repeated {
    /// Selects the rows of a batch that count.
    pub(crate) fn others(&self, batch: &RecordBatch) -> Result<BooleanArray, Error> {
        let column = |name: &str, ty| batch.column_by_name(name).map(|values| cast(values, ty)).transpose();
        let (Some(times), Some(nodes)) = (column(self.table.time, &DataType::Int64)?, column("node", &DataType::Utf8)?)
        else {
            return Ok(BooleanArray::from(vec![true; batch.num_rows()]));
        };
        let column = |name: &str| column(name, &DataType::Int64);
        let (intervals, durations) = (column("interval_ns")?, column("duration_ns")?);
        let (times, nodes) = (times.as_primitive::<Int64Type>(), nodes.as_string::<i32>());
        let counts = |row: usize| {
            let is_of_it = self.node.as_ref().is_none_or(|node| nodes.is_valid(row) && nodes.value(row) == node);
            let length = |lengths: &Option<ArrayRef>| {
                lengths.as_ref().map_or(0, |lengths| lengths.as_primitive::<Int64Type>().value(row))
            };
            let time = times.value(row);
            let (from, to) = (time.saturating_sub(length(&intervals)), time.saturating_add(length(&durations)));
            !(is_of_it && self.windows.iter().any(|window| lies_in(*window, from, to)))
        };
        Ok((0..batch.num_rows()).map(|row| Some(counts(row))).collect())
    }
}

/// Whether an interval overlaps a window, edges included.
fn lies_in((start, end): (i64, i64), from: i64, to: i64) -> bool {
    from <= end && to >= start
}

/// Indices of recordings that share a boot, for each boot with several.
fn of_one_boot(recordings: &[Recording]) -> Vec<Vec<usize>> {
    let mut boots: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, recording) in recordings.iter().enumerate() {
        let boot = recording.manifest().clock.boot_id.as_str();
        // An imported recording may have no known boot.
        if !boot.is_empty() {
            boots.entry(boot).or_default().push(index);
        }
    }
    boots.into_values().filter(|together| together.len() > 1).collect()
}

/// When a recorder was watching: by source and node, on the monotonic clock.
struct Watched(HashMap<(String, String), Vec<(i64, i64)>>);

impl Watched {
    fn by(recording: &Recording) -> Result<Watched, Error> {
        let offset_ns = recording.manifest().clock.epoch_offset_ns;
        let mut watched = HashMap::<(String, String), Vec<(i64, i64)>>::new();
        for part in recording.parts("sources")? {
            let damaged = |reason: String| Error::Damaged { path: part.path().to_path_buf(), reason };
            for batch in part.batches_of(Some(&["time_ns", "interval_ns", "source", "node"]))? {
                let batch = batch?;
                let column = |name: &str, ty| {
                    let values = batch.column_by_name(name).ok_or_else(|| damaged(format!("no column {name}")))?;
                    Ok::<_, Error>(cast(values, ty)?)
                };
                let times = column("time_ns", &DataType::Int64)?;
                let intervals = column("interval_ns", &DataType::Int64)?;
                let (sources, nodes) = (column("source", &DataType::Utf8)?, column("node", &DataType::Utf8)?);
                let (times, intervals) = (times.as_primitive::<Int64Type>(), intervals.as_primitive::<Int64Type>());
                let (sources, nodes) = (sources.as_string::<i32>(), nodes.as_string::<i32>());
                for row in 0..batch.num_rows() {
                    let end = times.value(row).saturating_sub(offset_ns);
                    let window = (end.saturating_sub(intervals.value(row)), end);
                    let key = (sources.value(row).to_string(), nodes.value(row).to_string());
                    watched.entry(key).or_default().push(window);
                }
            }
        }
        Ok(Watched(watched.into_iter().map(|(key, windows)| (key, joined(windows))).collect()))
    }

    /// The nodes that the sources of a table name; empty if they name none.
    fn nodes<'a>(&'a self, seen: &Seen) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter(|(source, _)| seen.sources.contains(&source.as_str())).map(|(_, node)| node.as_str())
    }

    /// When the sources of a table watched a given node, or any node.
    fn windows(&self, seen: &Seen, node: Option<&str>) -> impl Iterator<Item = (i64, i64)> {
        self.0
            .iter()
            .filter(move |((source, of), _)| {
                seen.sources.contains(&source.as_str()) && node.is_none_or(|node| of == node)
            })
            .flat_map(|(_, windows)| windows.iter().copied())
    }
}

/// Sorted, and merged if the gap is shorter than the time between two reports.
fn joined(mut windows: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    windows.retain(|(start, end)| start < end);
    windows.sort_unstable();
    let mut all: Vec<(i64, i64)> = Vec::with_capacity(windows.len());
    for (start, end) in windows {
        match all.last_mut() {
            Some(last) if start <= last.1.saturating_add(LONGEST_BETWEEN_REPORTS_NS) => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_that_follow_each_other_are_one_window() {
        let s = LONGEST_BETWEEN_REPORTS_NS;
        assert_eq!(joined(vec![(2 * s, 3 * s), (0, s), (6 * s, 7 * s), (5, 5)]), [(0, 3 * s), (6 * s, 7 * s)]);
    }

    #[test]
    fn what_lasts_lies_in_what_it_overlaps_and_a_moment_in_what_it_is_in() {
        assert!(lies_in((100, 200), 90, 110) && lies_in((100, 200), 190, 210));
        assert!(!lies_in((100, 200), 80, 99) && !lies_in((100, 200), 201, 220));
        assert!(lies_in((100, 200), 200, 200) && !lies_in((100, 200), 201, 201) && !lies_in((100, 200), 99, 99));
    }
}
