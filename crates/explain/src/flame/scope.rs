//! The times of a flame graph's samples, compact enough for a page: for each stack the differences of its times, in
//! variable-length numbers.

use super::stacks::{Flame, TimedSample};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

/// The most bytes of encoded times in a page. With more samples, times are rounded to longer steps.
const MOST_BYTES: usize = 4 << 20;
/// The shortest step of times, in ms.
const FINEST_NS: i64 = 1_000_000;
/// The longest step of times; with a longer one there would be too few stretches to choose from.
const COARSEST_MS: u32 = 1_000_000;

/// Times of samples, for a page that draws the graph of any stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameScope {
    /// The first step with a sample, and the one after the last, counted from the recording's first sample.
    pub first: i64,
    pub end: i64,
    /// Length of a step in ms; times are rounded down to it.
    pub step_ns: i64,
    /// Whether steps are longer than a millisecond to limit the size of the page.
    pub binned: bool,
    /// All weights are multiples of this number.
    pub unit: i64,
    /// Base64 of variable-length numbers: seven bits a byte, the lowest first, the eighth bit set if more follow. For
    /// each stack: its node's number minus that of the stack before, the number of entries, and for each entry by time:
    /// its step minus that of the entry before (for the first entry: minus `first`), its weight in units, and its
    /// number of samples.
    pub times: String,
}

impl FlameScope {
    /// Encodes the times. `ends` has the node of the tree at which each stack ends. None if times were not kept, or for
    /// a comparison.
    pub(super) fn of(flame: &Flame, ends: &[usize]) -> Option<FlameScope> {
        FlameScope::within(flame, ends, MOST_BYTES)
    }

    fn within(flame: &Flame, ends: &[usize], most_bytes: usize) -> Option<FlameScope> {
        if !flame.against.is_empty() || flame.times.is_empty() {
            return None;
        }
        let samples = by_node(&flame.times, ends);
        let unit = samples.iter().fold(0, |unit, sample| common_divisor(unit, sample.weight)).max(1);
        let first_ms = samples.iter().map(|sample| sample.at_ms).min().unwrap_or(0);
        let last_ms = samples.iter().map(|sample| sample.at_ms).max().unwrap_or(0);
        let mut decade_ms = 1;
        loop {
            for factor in [1, 2, 5] {
                let step_ms = decade_ms * factor;
                let most_bytes = if step_ms < COARSEST_MS { most_bytes } else { usize::MAX };
                if let Some(scope) = FlameScope::with_step(&samples, (first_ms, last_ms), unit, step_ms, most_bytes) {
                    return Some(scope);
                }
            }
            decade_ms *= 10;
        }
    }

    /// Encodes samples in the order of nodes and times; None if that takes too many bytes.
    fn with_step(
        samples: &[TimedSample],
        (first_ms, last_ms): (u32, u32),
        unit: i64,
        step_ms: u32,
        most_bytes: usize,
    ) -> Option<FlameScope> {
        let step = |sample: &TimedSample| sample.at_ms / step_ms;
        let (first, last) = (first_ms / step_ms, last_ms / step_ms);
        let mut bytes = Vec::new();
        let mut node = 0;
        for of_node in samples.chunk_by(|a, b| a.stack == b.stack) {
            let entries = || of_node.chunk_by(|a, b| step(a) == step(b));
            put(&mut bytes, (of_node[0].stack - node).into());
            node = of_node[0].stack;
            put(&mut bytes, entries().count() as u64);
            let mut before = first;
            for entry in entries() {
                put(&mut bytes, (step(&entry[0]) - before).into());
                before = step(&entry[0]);
                let weight: i64 = entry.iter().map(|sample| sample.weight).sum();
                put(&mut bytes, (weight / unit).unsigned_abs());
                put(&mut bytes, entry.len() as u64);
            }
            // Base64 turns three bytes into four characters.
            if bytes.len().div_ceil(3) * 4 > most_bytes {
                return None;
            }
        }
        Some(FlameScope {
            first: first.into(),
            end: i64::from(last) + 1,
            step_ns: i64::from(step_ms) * FINEST_NS,
            binned: step_ms > 1,
            unit,
            times: BASE64_STANDARD.encode(bytes),
        })
    }
}

/// The samples sorted by the node at which their stacks end, and by time within each node. `stack` becomes the number of
/// that node, because the graph does not tell stacks of one end node apart. Places are counted first (counting sort), which
/// is faster than a comparison sort of millions of samples; samples of one node are mostly in order already.
fn by_node(samples: &[TimedSample], ends: &[usize]) -> Vec<TimedSample> {
    let nodes = ends.iter().max().map_or(0, |last| last + 1);
    let mut place = vec![0; nodes + 1];
    for sample in samples {
        place[ends[sample.stack as usize] + 1] += 1;
    }
    for node in 0..nodes {
        place[node + 1] += place[node];
    }
    let mut ordered = vec![TimedSample::default(); samples.len()];
    for sample in samples {
        let node = ends[sample.stack as usize];
        ordered[place[node]] = TimedSample { stack: node as u32, ..*sample };
        place[node] += 1;
    }
    for of_node in ordered.chunk_by_mut(|a, b| a.stack == b.stack) {
        of_node.sort_by_key(|sample| sample.at_ms);
    }
    ordered
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flame::stacks::{FlameStack, Frames};
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    fn flame(stacks: Vec<(&str, Vec<(i64, i64)>)>) -> Flame {
        let mut flame = Flame { event: "cpu".to_string(), ..Flame::default() };
        for (place, (names, times)) in stacks.into_iter().enumerate() {
            let kinds = "j".repeat(names.split(';').count());
            let weight = times.iter().map(|(_, weight)| weight).sum();
            flame.frames.push(Frames { names: names.to_string(), kinds });
            flame.stacks.push(FlameStack { group: "g".into(), name: "g".into(), frames: place, weight, other: 0 });
            let timed = times.into_iter().map(|(time_ns, weight)| TimedSample {
                stack: u32::try_from(place).unwrap(),
                at_ms: u32::try_from(time_ns / MS).unwrap(),
                weight,
            });
            flame.times.extend(timed);
        }
        flame
    }

    /// Decodes the text as the page does, into node, step, weight and samples.
    fn read(scope: &FlameScope) -> Vec<(usize, i64, i64, i64)> {
        let bytes = BASE64_STANDARD.decode(&scope.times).unwrap();
        let mut bytes = bytes.into_iter().peekable();
        let mut entries = Vec::new();
        let mut node = 0;
        while bytes.peek().is_some() {
            let mut number = || {
                let (mut number, mut shift) = (0i64, 0);
                loop {
                    let byte = bytes.next().unwrap();
                    number |= i64::from(byte & 0x7f) << shift;
                    shift += 7;
                    if byte < 0x80 {
                        return number;
                    }
                }
            };
            node += number();
            let mut step = scope.first;
            for _ in 0..number() {
                step += number();
                let weight = number() * scope.unit;
                entries.push((usize::try_from(node).unwrap(), step, weight, number()));
            }
        }
        entries
    }

    #[test]
    fn each_sample_is_where_its_stack_ends() {
        let flame = flame(vec![
            ("run", vec![(7 * MS, 20 * MS)]),
            ("run;read", vec![(3 * MS + 5, 10 * MS), (3 * MS + 6, 10 * MS), (900 * MS, 30 * MS)]),
        ]);
        let tree = flame.tree();
        let scope = tree.scope.unwrap();
        assert_eq!((scope.first, scope.end, scope.step_ns, scope.unit), (3, 901, MS, 10 * MS));
        assert!(!scope.binned);
        let named = |node: usize| tree.names[tree.nodes[node].name].as_str();
        let entries: Vec<_> = read(&scope).into_iter().map(|(node, step, ..)| (named(node), step)).collect();
        assert_eq!(entries, [("run", 7), ("read", 3), ("read", 900)]);
        let (_, _, weight, samples) = read(&scope)[1];
        assert_eq!((weight, samples), (20 * MS, 2));
    }

    #[test]
    fn what_is_compared_has_no_times() {
        let one = || flame(vec![("run", vec![(0, 1)])]);
        assert!(one().compare("a", one(), "b").tree().scope.is_none());
        assert!(flame(vec![("run", vec![])]).tree().scope.is_none());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_however_small_it_must_be(
            times in proptest::collection::vec((0..100_000 * MS, 1..50i64), 1..200),
            split in 0..200usize,
            most_bytes in 40..2000usize,
        ) {
            let split = split.min(times.len());
            let flame = flame(vec![("a", times[..split].to_vec()), ("b;c", times[split..].to_vec())]);
            let scope = FlameScope::within(&flame, &[2, 4], most_bytes).unwrap();
            prop_assert!(scope.times.len() <= most_bytes);
            let mut expected: std::collections::BTreeMap<(usize, i64), (i64, i64)> = Default::default();
            for (place, (time, weight)) in times.iter().enumerate() {
                let node = if place < split { 2 } else { 4 };
                let (sum, count) = expected.entry((node, time / scope.step_ns)).or_default();
                *sum += weight;
                *count += 1;
            }
            let expected: Vec<_> = expected.into_iter().map(|((node, step), (sum, count))| (node, step, sum, count)).collect();
            prop_assert_eq!(read(&scope), expected);
            prop_assert!(read(&scope).iter().all(|(_, step, ..)| (scope.first..scope.end).contains(step)));
        }
    }
}
