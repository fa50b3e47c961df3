//! Samples in the order of time, each with its track: a thread group of a node, or a thread.

use super::contents::{ExportOptions, nothing};
use crate::engine::{integers, texts};
use crate::flame::{SlowTimes, UNKNOWN_STACK, stacks_by_number};
use crate::query::{SAMPLES_BY_THREAD, Value};
use crate::threads::{Thread, labels};
use crate::{Engine, Error, text};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) time_ns: i64,
    /// Index of the sample's track.
    pub(super) track: u32,
    /// Index of the sample's stack.
    pub(super) stack: u32,
    pub(super) weight: i64,
}

/// A track: a thread, or a thread group if the recording does not separate threads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Track {
    /// The name of the thread or of its group.
    pub(super) thread: Thread,
    pub(super) group: String,
    pub(super) is_thread: bool,
}

#[derive(Debug)]
pub(super) struct Samples {
    /// Samples by time.
    pub(super) rows: Vec<Sample>,
    pub(super) tracks: Vec<Track>,
    /// The unique name of each track.
    pub(super) labels: Vec<String>,
    pub(super) stacks: Vec<Stack>,
}

#[derive(Debug)]
pub(super) struct Stack {
    names: String,
    kinds: String,
}

impl Stack {
    /// The frames from the outermost to the innermost.
    pub(super) fn frames(&self) -> impl DoubleEndedIterator<Item = (&str, char)> {
        let names: Vec<&str> = if self.kinds.is_empty() { Vec::new() } else { self.names.split(';').collect() };
        names.into_iter().zip(self.kinds.chars()).collect::<Vec<_>>().into_iter()
    }
}

impl Samples {
    /// Fails if there are no samples, or more than `most`.
    pub(super) fn load(
        engine: &Engine,
        options: &ExportOptions,
        slow: Option<&SlowTimes>,
        most: usize,
    ) -> Result<Samples, Error> {
        let selection = &options.selection;
        let sql = SAMPLES_BY_THREAD.fill(&[
            ("event", Value::Text(&selection.event)),
            ("start_ns", Value::Integer(selection.start_ns)),
            ("end_ns", Value::Integer(selection.end_ns)),
        ]);
        let mut rows = Vec::new();
        let (mut tracks, mut track_of) = (Vec::new(), HashMap::new());
        let (mut numbers, mut stack_of) = (Vec::new(), HashMap::new());
        engine.each(&sql, |batch| {
            let number = |name| integers(&batch, name);
            let (times, tids, stacks, weights) =
                (number("time_ns")?, number("tid")?, number("stack")?, number("weight")?);
            let (times, tids) = (times.as_primitive::<Int64Type>(), tids.as_primitive::<Int64Type>());
            let (stacks, weights) = (stacks.as_primitive::<Int64Type>(), weights.as_primitive::<Int64Type>());
            let (nodes, threads, groups) =
                (texts(&batch, "node")?, texts(&batch, "thread")?, texts(&batch, "thread_group")?);
            let (nodes, threads, groups) =
                (nodes.as_string::<i32>(), threads.as_string::<i32>(), groups.as_string::<i32>());
            for row in 0..batch.num_rows() {
                let (time_ns, group) = (times.value(row), groups.value(row));
                let is_other = selection.group.as_ref().is_some_and(|asked| asked != group);
                if is_other || slow.is_some_and(|slow| !slow.contains(time_ns)) {
                    continue;
                }
                if rows.len() == most {
                    return Err(Error::TooMuch(format!(
                        "there are more than {} samples, the most that such a file can hold: choose fewer with --from, \
                         --to or --group, or a format that adds them up (folded, pprof)",
                        text::count(most)
                    )));
                }
                let (name, tid) = match selection.by_thread {
                    true => (threads.value(row), tids.value(row)),
                    false => (group, 0),
                };
                let thread = Thread { node: nodes.value(row).to_string(), name: name.to_string(), tid };
                let track = Track { thread, group: group.to_string(), is_thread: selection.by_thread };
                let track = match track_of.get(&track) {
                    Some(position) => *position,
                    None => {
                        let position = tracks.len() as u32;
                        tracks.push(track.clone());
                        track_of.insert(track, position);
                        position
                    }
                };
                let number = stacks.value(row);
                let stack = *stack_of.entry(number).or_insert_with(|| {
                    numbers.push(number);
                    (numbers.len() - 1) as u32
                });
                rows.push(Sample { time_ns, track, stack, weight: weights.value(row) });
            }
            Ok::<(), Error>(())
        })?;
        if rows.is_empty() {
            return Err(nothing(engine, options)?);
        }
        rows.sort_by_key(|sample| sample.time_ns);
        let mut known = stacks_by_number(engine)?;
        let unknown = || (UNKNOWN_STACK.to_string(), "n".to_string());
        let stacks = numbers.iter().map(|number| {
            let (names, kinds) = known.remove(number).unwrap_or_else(unknown);
            Stack { names, kinds }
        });
        let threads: Vec<Thread> = tracks.iter().map(|track: &Track| track.thread.clone()).collect();
        Ok(Samples { rows, tracks, labels: labels(&threads), stacks: stacks.collect() })
    }
}
