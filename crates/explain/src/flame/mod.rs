//! Flame graphs: where the time of the threads went, by thread group and stack.

mod gather;
mod scope;
mod svg;
mod tree;

pub use scope::FlameScope;
pub use tree::{FlameNode, FlameTree};

use crate::engine::{integers, texts};
use crate::query::{COUNTED_CPU, SAMPLE_EVENTS, SAMPLED_TIME, STACKS, Value};
use crate::requests::Requests;
use crate::threads::labels;
use crate::timeline::{Interval, merge};
use crate::{Engine, Error, Explanation};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use std::collections::HashMap;
use std::sync::Arc;

/// What a flame graph is to show.
#[derive(Debug, Clone)]
pub struct FlameOptions {
    /// cpu, wall, alloc or lock; of an imported recording whatever was sampled.
    pub event: String,
    /// Thread by thread, and not by group.
    pub by_thread: bool,
    /// This group alone.
    pub group: Option<String>,
    /// On the clock of the recording.
    pub start_ns: i64,
    pub end_ns: i64,
    /// Innermost frames first: who calls what is hot, and not what is called.
    pub reversed: bool,
    /// Keeps when each sample was taken, for a tree of which a stretch of time can be chosen.
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

/// Weights by thread group and stack. With a comparison, each has two: what is looked at, and what it is compared with.
#[derive(Debug, Clone, Default)]
pub struct Flame {
    pub event: String,
    /// What is looked at, in words.
    pub title: String,
    /// What it is compared with, in words; empty where there is no comparison.
    pub against: String,
    pub samples: u64,
    /// The CPU time that the kernel counted of the threads that were sampled, ns: samples miss more of those that run for
    /// microseconds at a time. None where it was not recorded, and of a comparison.
    pub counted_ns: Option<i64>,
    /// Each stack of each group, once.
    stacks: Vec<FlameStack>,
    /// What the stacks have in common with those of other groups.
    frames: Vec<Frames>,
    reversed: bool,
    /// When each sample was taken, where that is kept.
    times: Vec<TimedSample>,
}

#[derive(Debug, Clone)]
struct FlameStack {
    /// The name of the thread group, or what tells the thread apart from the others.
    group: Arc<str>,
    /// The name alone.
    name: Arc<str>,
    /// Position among the frames.
    frames: usize,
    weight: i64,
    other: i64,
}

/// From the outermost: their names, with `;` between them, and the letter of the kind of each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Frames {
    names: String,
    kinds: String,
}

/// A sample of those that are kept with their times.
#[derive(Debug, Clone, Copy, Default)]
struct TimedSample {
    /// Position among the stacks.
    stack: u32,
    /// Milliseconds since the first sample of the recording, of whatever kind.
    at_ms: u32,
    weight: i64,
}

impl Flame {
    /// Of all samples in a window.
    pub fn build(engine: &Engine, options: &FlameOptions) -> Result<Flame, Error> {
        let flame = Flame::split(engine, options, |_| true)?;
        let counted_ns = if options.event == "cpu" { counted(engine, options)? } else { None };
        Ok(Flame { counted_ns, ..flame })
    }

    /// Of the samples while requests were slow, against those of the rest of the judged time: what is on a CPU when
    /// requests are slow, and is not otherwise.
    pub fn of_slow(engine: &Engine, options: &FlameOptions, explanation: &Explanation) -> Result<Flame, Error> {
        let times = SlowTimes::of(engine, explanation)?;
        let (start_ns, end_ns) = times.judged.unwrap_or((options.start_ns, options.end_ns));
        let options = FlameOptions {
            start_ns: options.start_ns.max(start_ns),
            end_ns: options.end_ns.min(end_ns),
            ..options.clone()
        };
        let mut flame = Flame::split(engine, &options, |time_ns| times.contains(time_ns))?;
        flame.title = format!("while a request was slow (over {:.3} ms)", explanation.slow_threshold_ms);
        flame.against = "the rest of the judged time".to_string();
        Ok(flame)
    }

    /// Compares with another one, stack by stack.
    pub fn compare(self, title: &str, other: Flame, against: &str) -> Flame {
        // Ids of threads say nothing in another recording.
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
        flame.counted_ns = None;
        flame.times.clear();
        flame
    }

    /// Threads of one name put together.
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

    fn split(engine: &Engine, options: &FlameOptions, inside: impl Fn(i64) -> bool + Sync) -> Result<Flame, Error> {
        let gathered = gather::samples(engine, options, inside)?;
        let mut known = stacks_by_number(engine)?;
        let unknown = || (UNKNOWN_STACK.to_string(), "n".to_string());
        let frames = gathered.numbers.iter().map(|number| {
            let (names, kinds) = known.remove(number).unwrap_or_else(unknown);
            Frames { names, kinds }
        });
        let frames = frames.collect();
        let text = |name: &str| Arc::<str>::from(without_separators(name));
        let labels: Vec<Arc<str>> = labels(&gathered.groups).iter().map(|label| text(label)).collect();
        let names: Vec<Arc<str>> = gathered.groups.iter().map(|group| text(&group.name)).collect();
        let stacks = gathered.stacks.into_iter().map(|stack| FlameStack {
            group: Arc::clone(&labels[stack.group]),
            name: Arc::clone(&names[stack.group]),
            frames: stack.frames,
            weight: stack.weight,
            other: stack.other,
        });
        let stacks = stacks.collect();
        let title = engine.manifests().iter().map(|manifest| manifest.title.as_str()).collect::<Vec<_>>().join(" + ");
        Ok(Flame {
            event: options.event.clone(),
            title,
            against: String::new(),
            samples: gathered.samples,
            counted_ns: None,
            stacks,
            frames,
            reversed: options.reversed,
            times: gathered.times,
        })
    }

    /// When the first sample of any kind was taken.
    pub fn first_sample_ns(engine: &Engine) -> Result<Option<i64>, Error> {
        Ok(Flame::sampled(engine)?.map(|sampled| sampled.start))
    }

    /// From the first sample of any kind to just after the last.
    fn sampled(engine: &Engine) -> Result<Option<Interval>, Error> {
        let rows = engine.sql(&SAMPLED_TIME.fill(&[]))?;
        let only = |column| Ok::<_, Error>(rows.integers_or_null(column)?.into_iter().next().flatten());
        let ends = only("first_ns")?.zip(only("last_ns")?);
        Ok(ends.map(|(first_ns, last_ns)| Interval { start: first_ns, end: last_ns.saturating_add(1) }))
    }

    /// What stacks were sampled of, by name, with the number of samples.
    pub fn events(engine: &Engine) -> Result<Vec<(String, i64)>, Error> {
        let events = engine.sql(&SAMPLE_EVENTS.fill(&[]))?;
        Ok(events.texts("event")?.into_iter().zip(events.integers("samples")?).collect())
    }

    /// The event to show where none is asked for: cpu, or the only one that there is.
    pub fn usual_event(engine: &Engine) -> Result<String, Error> {
        let mut events = Flame::events(engine)?;
        let only = if events.len() == 1 { events.pop() } else { None };
        Ok(only.map_or_else(|| "cpu".to_string(), |(event, _)| event))
    }

    /// Without what it is compared with.
    pub fn alone(mut self) -> Flame {
        self.against.clear();
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

    /// The time that the samples stand for, or what else they weigh.
    pub fn weight(&self) -> i64 {
        self.stacks.iter().map(|stack| stack.weight).sum()
    }

    /// Whether there is anything to see: of a comparison, on both sides.
    pub(crate) fn weighs(&self) -> bool {
        let side = |weight: fn(&FlameStack) -> i64| self.stacks.iter().any(|stack| weight(stack) > 0);
        side(|stack| stack.weight) && (self.against.is_empty() || side(|stack| stack.other))
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
            // A stack without frames is a thread of which no more is known.
            let joint = if names.is_empty() { "" } else { ";" };
            match self.against.is_empty() {
                true => format!("{group}{joint}{names} {weight}"),
                false => format!("{group}{joint}{names} {other} {weight}"),
            }
        })
    }

    /// The graph as a tree, for those who draw it; with the times of its samples where those were kept and nothing is
    /// compared.
    pub fn tree(&self) -> FlameTree {
        FlameTree::of(self)
    }

    /// The graph as a picture that needs nothing but a browser.
    pub fn svg(&self) -> String {
        svg::draw(self, &self.tree())
    }
}

/// Without what separates frames and lines, as names of frames are.
fn without_separators(name: &str) -> String {
    name.replace([';', '\n', '\r'], ":")
}

fn counted(engine: &Engine, options: &FlameOptions) -> Result<Option<i64>, Error> {
    let sql = COUNTED_CPU.fill(&[
        ("group", Value::Text(options.group.as_deref().unwrap_or_default())),
        ("start_ns", Value::Integer(options.start_ns)),
        ("end_ns", Value::Integer(options.end_ns)),
    ]);
    Ok(engine.sql(&sql)?.integers_or_null("cpu_ns")?.into_iter().next().flatten())
}

/// What stands for a stack whose row is missing.
pub(crate) const UNKNOWN_STACK: &str = "(a stack that was not recorded)";

/// Names and kinds of the frames of each stack.
pub(crate) fn stacks_by_number(engine: &Engine) -> Result<HashMap<i64, (String, String)>, Error> {
    let mut frames: HashMap<i64, (String, String)> = HashMap::new();
    engine.each(&STACKS.fill(&[]), |batch| {
        let (number, names, kinds) = (integers(&batch, "stack")?, texts(&batch, "frames")?, texts(&batch, "kinds")?);
        let (number, names, kinds) =
            (number.as_primitive::<Int64Type>(), names.as_string::<i32>(), kinds.as_string::<i32>());
        for row in 0..batch.num_rows() {
            frames.insert(number.value(row), (names.value(row).to_string(), kinds.value(row).to_string()));
        }
        Ok::<(), Error>(())
    })?;
    Ok(frames)
}

/// When requests were slow.
#[derive(Debug, Clone)]
pub(crate) struct SlowTimes {
    slow: Vec<Interval>,
    /// From the beginning of the judged time to its end; None where nothing was judged.
    pub(crate) judged: Option<(i64, i64)>,
}

impl SlowTimes {
    pub(crate) fn of(engine: &Engine, explanation: &Explanation) -> Result<SlowTimes, Error> {
        let threshold_ns = (explanation.slow_threshold_ms * 1e6) as i64;
        let requests = Requests::of(engine)?;
        let judged = explanation.judged.iter().map(|window| Interval { start: window.start_ns, end: window.end_ns });
        let judged = merge(judged.collect());
        let slow = requests.rows.iter().filter(|request| {
            requests.is_timed(request) && request.response_ns() > threshold_ns && within(&judged, request.intended_ns)
        });
        let slow = merge(slow.map(|request| Interval { start: request.intended_ns, end: request.end_ns }).collect());
        Ok(SlowTimes { slow, judged: judged.first().zip(judged.last()).map(|(first, last)| (first.start, last.end)) })
    }

    pub(crate) fn contains(&self, time_ns: i64) -> bool {
        within(&self.slow, time_ns)
            && self.judged.is_none_or(|(start_ns, end_ns)| start_ns <= time_ns && time_ns < end_ns)
    }
}

fn within(merged: &[Interval], time_ns: i64) -> bool {
    let next = merged.partition_point(|interval| interval.start <= time_ns);
    next.checked_sub(1).is_some_and(|last| merged[last].contains(time_ns))
}
