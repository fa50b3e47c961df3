//! The samples of a flame graph, added up by thread group and stack in one pass.

use super::stacks::{FlameOptions, TimedSample};
use crate::engine::{integers, parts, texts};
use crate::query::{SAMPLED_TIME, SAMPLES, Value};
use crate::threads::Thread;
use crate::timeline::Interval;
use crate::{Engine, Error};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use std::collections::HashMap;
use std::fmt::Write;

/// Samples, added up by thread group and stack.
#[derive(Default)]
pub(super) struct Gathered {
    /// Samples inside, and outside.
    pub samples: u64,
    pub other_samples: u64,
    pub stacks: Vec<GatheredStack>,
    pub times: Vec<TimedSample>,
    /// For each stack that was seen, its number in the recording. Elsewhere in this struct a stack is its index in this
    /// list.
    pub numbers: Vec<i64>,
    /// Thread groups, or threads if each has a row of its own.
    pub groups: Vec<Thread>,
    place_of_group: HashMap<String, usize>,
    /// The key that was looked up last; consecutive samples often have the same.
    key: String,
    place_of_number: HashMap<i64, usize>,
    /// Maps a group index and a stack number to the index of their entry.
    place_of_stack: HashMap<(usize, i64), usize>,
}

/// A stack of a group, by the indices of both.
pub(super) struct GatheredStack {
    pub group: usize,
    pub frames: usize,
    pub weight: i64,
    pub other: i64,
}

/// From the first sample of any kind to just after the last.
pub(super) fn sampled(engine: &Engine) -> Result<Option<Interval>, Error> {
    let rows = engine.sql(&SAMPLED_TIME.fill(&[]))?;
    let only = |column| Ok::<_, Error>(rows.integers_or_null(column)?.into_iter().next().flatten());
    let ends = only("first_ns")?.zip(only("last_ns")?);
    Ok(ends.map(|(first_ns, last_ns)| Interval { start: first_ns, end: last_ns.saturating_add(1) }))
}

/// Gathers the samples for which `inside` holds, and counts the other samples for the comparison.
pub(super) fn samples(
    engine: &Engine,
    options: &FlameOptions,
    inside: impl Fn(i64) -> bool + Sync,
) -> Result<Gathered, Error> {
    let Some(sampled) = sampled(engine)? else { return Ok(Gathered::default()) };
    let window = Interval { start: sampled.start.max(options.start_ns), end: sampled.end.min(options.end_ns) };
    let statement = |part: Interval| {
        SAMPLES.fill(&[
            ("event", Value::Text(&options.event)),
            ("by_thread", Value::Condition(if options.by_thread { "true" } else { "false" })),
            ("group", Value::Text(options.group.as_deref().unwrap_or_default())),
            ("start_ns", Value::Integer(part.start)),
            ("end_ns", Value::Integer(part.end)),
        ])
    };
    let statements: Vec<String> = parts(window).map(statement).collect();
    let first_ns = options.times.then_some(sampled.start);
    let gathered = engine.fold_on_all_cpus(&statements, Gathered::default, |gathered: &mut Gathered, batch| {
        gathered.take(&batch, first_ns, &inside)
    })?;
    Ok(gathered.into_iter().reduce(Gathered::and).unwrap_or_default())
}

impl Gathered {
    fn take(&mut self, batch: &RecordBatch, first_ns: Option<i64>, inside: impl Fn(i64) -> bool) -> Result<(), Error> {
        let column = |name| integers(batch, name);
        let (times, numbers, weights) = (column("time_ns")?, column("stack")?, column("weight")?);
        let (names, nodes, tids) = (texts(batch, "name")?, texts(batch, "node")?, column("tid")?);
        let (names, nodes) = (names.as_string::<i32>(), nodes.as_string::<i32>());
        let (times, numbers, weights, tids) = (
            times.as_primitive::<Int64Type>(),
            numbers.as_primitive::<Int64Type>(),
            weights.as_primitive::<Int64Type>(),
            tids.as_primitive::<Int64Type>(),
        );
        for row in 0..batch.num_rows() {
            let (time_ns, weight) = (times.value(row), weights.value(row));
            let group = self.group(nodes.value(row), names.value(row), tids.value(row));
            let stack = self.stack(group, numbers.value(row));
            match inside(time_ns) {
                true => {
                    self.samples += 1;
                    self.stacks[stack].weight += weight;
                }
                false => {
                    self.other_samples += 1;
                    self.stacks[stack].other += weight;
                }
            }
            if let Some(first_ns) = first_ns {
                let at_ms = time_ns.saturating_sub(first_ns) / 1_000_000;
                // Times are clamped at 49 days, where 32 bits of milliseconds end.
                let at_ms = u32::try_from(at_ms.max(0)).unwrap_or(u32::MAX);
                self.times.push(TimedSample { stack: stack as u32, at_ms, weight });
            }
        }
        Ok(())
    }

    /// The index of a thread, or of a group, which has neither a node nor an id.
    fn group(&mut self, node: &str, name: &str, tid: i64) -> usize {
        self.key.clear();
        // Writing to a String can't fail.
        let _ = write!(self.key, "{tid} {node}\0{name}");
        if let Some(place) = self.place_of_group.get(&self.key) {
            return *place;
        }
        let place = self.groups.len();
        self.groups.push(Thread { node: node.to_string(), name: name.to_string(), tid });
        self.place_of_group.insert(self.key.clone(), place);
        place
    }

    /// The index of a stack of a group.
    fn stack(&mut self, group: usize, number: i64) -> usize {
        *self.place_of_stack.entry((group, number)).or_insert_with(|| {
            let frames = *self.place_of_number.entry(number).or_insert_with(|| {
                self.numbers.push(number);
                self.numbers.len() - 1
            });
            self.stacks.push(GatheredStack { group, frames, weight: 0, other: 0 });
            self.stacks.len() - 1
        })
    }

    /// The sum of the samples inside and outside.
    fn and(mut self, other: Gathered) -> Gathered {
        self.samples += other.samples;
        self.other_samples += other.other_samples;
        let groups: Vec<usize> =
            other.groups.iter().map(|group| self.group(&group.node, &group.name, group.tid)).collect();
        let place = |stack: GatheredStack| {
            let place = self.stack(groups[stack.group], other.numbers[stack.frames]);
            self.stacks[place].weight += stack.weight;
            self.stacks[place].other += stack.other;
            place as u32
        };
        let places: Vec<u32> = other.stacks.into_iter().map(place).collect();
        let here = |sample: TimedSample| TimedSample { stack: places[sample.stack as usize], ..sample };
        self.times.extend(other.times.into_iter().map(here));
        self
    }
}
