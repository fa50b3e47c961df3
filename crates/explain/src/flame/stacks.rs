//! The data of a flame graph: weights by thread group and stack.

use std::collections::HashMap;
use std::sync::Arc;

/// Selects the samples of a flame graph.
#[derive(Debug, Clone)]
pub struct FlameOptions {
    /// The sampled event: cpu, wall, alloc or lock; an imported recording may have others.
    pub event: String,
    /// One row per thread, instead of one per thread group.
    pub by_thread: bool,
    /// Only the samples of this thread group.
    pub group: Option<String>,
    /// Only the samples of this window, on the clock of the recording.
    pub start_ns: i64,
    pub end_ns: i64,
    /// Innermost frames first: shows the callers of hot methods, not their callees.
    pub reversed: bool,
    /// Keeps when each sample was taken, for a graph in which the user can select a stretch of time.
    pub times: bool,
}

impl Default for FlameOptions {
    fn default() -> FlameOptions {
        FlameOptions {
            event: "cpu".to_string(),
            by_thread: false,
            group: None,
            start_ns: i64::MIN,
            end_ns: i64::MAX,
            reversed: false,
            times: false,
        }
    }
}

/// Weights by thread group and stack. With a comparison, each stack has two weights, one for each side.
#[derive(Debug, Clone, Default)]
pub struct Flame {
    pub event: String,
    /// The title of the graph.
    pub title: String,
    /// The title of the other side of a comparison; empty without a comparison.
    pub against: String,
    /// Number of samples of the graph, and of the other side of a comparison.
    pub samples: u64,
    pub other_samples: u64,
    /// CPU time of the sampled threads by the kernel, in ns; samples underestimate threads that run for microseconds at
    /// a time. None if it was not recorded, and for a comparison.
    pub counted_ns: Option<i64>,
    /// The entries: each stack of each group once.
    pub(super) stacks: Vec<FlameStack>,
    /// Frames of the stacks; groups share them.
    pub(super) frames: Vec<Frames>,
    pub(super) reversed: bool,
    /// The time of each sample, if times are kept.
    pub(super) times: Vec<TimedSample>,
}

#[derive(Debug, Clone)]
pub(super) struct FlameStack {
    /// The name of the thread group; for a thread, a label that no other thread has.
    pub(super) group: Arc<str>,
    /// The thread's name alone.
    pub(super) name: Arc<str>,
    /// Index of the stack in `frames`.
    pub(super) frames: usize,
    pub(super) weight: i64,
    pub(super) other: i64,
}

/// The names of the frames from the outermost, joined by `;`, and a letter for the kind of each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Frames {
    pub(super) names: String,
    pub(super) kinds: String,
}

/// A sample whose time is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimedSample {
    /// Index of the sample's stack.
    pub(super) stack: u32,
    /// Milliseconds since the recording's first sample of any kind.
    pub(super) at_ms: u32,
    pub(super) weight: i64,
}

impl Flame {
    /// Compares two flame graphs, stack by stack.
    pub fn compare(self, title: &str, other: Flame, against: &str) -> Flame {
        // Thread ids differ between recordings, so threads are compared by name.
        let (mut flame, other) = (self.by_name(), other.by_name());
        let known: HashMap<Frames, usize> = flame.frames.iter().cloned().zip(0..).collect();
        let here: Vec<usize> = other
            .frames
            .into_iter()
            .map(|frames| {
                known.get(&frames).copied().unwrap_or_else(|| {
                    flame.frames.push(frames);
                    flame.frames.len() - 1
                })
            })
            .collect();
        let mut places: HashMap<(Arc<str>, usize), usize> = HashMap::new();
        for (place, stack) in flame.stacks.iter().enumerate() {
            places.insert((Arc::clone(&stack.group), stack.frames), place);
        }
        for stack in other.stacks {
            let frames = here[stack.frames];
            match places.get(&(Arc::clone(&stack.group), frames)) {
                Some(place) => flame.stacks[*place].other += stack.weight,
                None => flame.stacks.push(FlameStack { frames, other: stack.weight, weight: 0, ..stack }),
            }
        }
        (flame.title, flame.against) = (title.to_string(), against.to_string());
        flame.other_samples = other.samples;
        flame.counted_ns = None;
        flame.times.clear();
        flame
    }

    /// Merges threads that have the same name.
    fn by_name(mut self) -> Flame {
        let mut places: HashMap<(Arc<str>, usize), usize> = HashMap::new();
        let mut stacks: Vec<FlameStack> = Vec::new();
        for stack in self.stacks {
            let place = *places.entry((Arc::clone(&stack.name), stack.frames)).or_insert(stacks.len());
            match stacks.get_mut(place) {
                Some(same) => {
                    same.weight += stack.weight;
                    same.other += stack.other;
                }
                None => stacks.push(FlameStack { group: Arc::clone(&stack.name), ..stack }),
            }
        }
        self.stacks = stacks;
        self.times.clear();
        self
    }

    /// Removes the stacks that only the compared side has.
    pub fn alone(mut self) -> Flame {
        self.against.clear();
        self.other_samples = 0;
        self.times.clear();
        self.stacks.retain(|stack| stack.weight > 0);
        self.stacks.iter_mut().for_each(|stack| stack.other = 0);
        self
    }

    /// The thread groups that have a stack, those with the largest weight first.
    pub fn groups(&self) -> Vec<String> {
        let mut weights: HashMap<&str, i64> = HashMap::new();
        for stack in &self.stacks {
            *weights.entry(&stack.group).or_default() += stack.weight;
        }
        let mut groups: Vec<(&str, i64)> = weights.into_iter().collect();
        groups.sort_unstable_by_key(|(name, weight)| (std::cmp::Reverse(*weight), *name));
        groups.into_iter().map(|(name, _)| name.to_string()).collect()
    }

    /// The sum of the samples' weights: a time for CPU samples, bytes for allocations.
    pub fn weight(&self) -> i64 {
        self.stacks.iter().map(|stack| stack.weight).sum()
    }

    /// Whether there are samples; for a comparison, on both sides.
    pub(crate) fn weighs(&self) -> bool {
        let side = |weight: fn(&FlameStack) -> i64| self.stacks.iter().any(|stack| weight(stack) > 0);
        side(|stack| stack.weight) && (self.against.is_empty() || side(|stack| stack.other))
    }

    /// The frames of each stack, joined by `;`, with its weight in the compared graph and in this one.
    pub(crate) fn weighed(&self) -> impl Iterator<Item = (&str, [i64; 2])> {
        self.stacks.iter().map(|stack| (self.frames[stack.frames].names.as_str(), [stack.other, stack.weight]))
    }

    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// A line for each stack, in their order by name: its frames from the outermost, with `;` between them, and its
    /// weight; in a comparison the weight of the other before it. Brendan Gregg's collapsed format.
    pub fn folded(&self) -> impl Iterator<Item = String> + '_ {
        let names = |stack: &FlameStack| self.frames[stack.frames].names.as_str();
        let mut stacks: Vec<&FlameStack> = self.stacks.iter().collect();
        stacks.sort_unstable_by_key(|stack| (&*stack.group, names(stack)));
        stacks.into_iter().map(move |stack| {
            let FlameStack { group, weight, other, .. } = stack;
            let names = names(stack);
            // A stack without frames is that of a thread whose stack could not be read.
            let joint = if names.is_empty() { "" } else { ";" };
            match self.against.is_empty() {
                true => format!("{group}{joint}{names} {weight}"),
                false => format!("{group}{joint}{names} {other} {weight}"),
            }
        })
    }
}
