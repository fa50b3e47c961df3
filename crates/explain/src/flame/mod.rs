//! Flame graphs: where the time of the threads went, by thread group and stack.

mod gather;
mod scope;
mod slow_times;
mod stacks;
mod svg;
mod tree;

pub(crate) use slow_times::SlowTimes;
pub use stacks::{Flame, FlameOptions};
pub use tree::{FlameNode, FlameTree};

use crate::engine::{integers, texts};
use crate::query::{COUNTED_CPU, SAMPLE_EVENTS, STACKS, Value};
use crate::threads::labels;
use crate::{Engine, Error, Explanation};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use stacks::{FlameStack, Frames};
use std::collections::HashMap;
use std::sync::Arc;

impl Flame {
    /// Flame graph of all samples in a window.
    pub fn build(engine: &Engine, options: &FlameOptions) -> Result<Flame, Error> {
        let flame = Flame::split(engine, options, |_| true)?;
        let counted_ns = if options.event == "cpu" { counted(engine, options)? } else { None };
        Ok(Flame { counted_ns, ..flame })
    }

    /// Compares the samples while requests were slow with those of the rest of the judged time: shows the code that runs only
    /// while requests are slow.
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

    /// Compares the samples of a window (ns since the Unix epoch, its end excluded) with all others.
    pub fn of_window(engine: &Engine, options: &FlameOptions, (from_ns, to_ns): (i64, i64)) -> Result<Flame, Error> {
        let mut flame = Flame::split(engine, options, |time_ns| (from_ns..to_ns).contains(&time_ns))?;
        flame.title = "in the window".to_string();
        flame.against = "the rest of the recording".to_string();
        Ok(flame)
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
            other_samples: gathered.other_samples,
            counted_ns: None,
            stacks,
            frames,
            reversed: options.reversed,
            times: gathered.times,
        })
    }

    /// The time of the first sample of any kind; None without samples.
    pub fn first_sample_ns(engine: &Engine) -> Result<Option<i64>, Error> {
        Ok(gather::sampled(engine)?.map(|sampled| sampled.start))
    }

    /// The sampled events, such as cpu or alloc, each with the number of samples.
    pub fn events(engine: &Engine) -> Result<Vec<(String, i64)>, Error> {
        let events = engine.sql(&SAMPLE_EVENTS.fill(&[]))?;
        Ok(events.texts("event")?.into_iter().zip(events.integers("samples")?).collect())
    }

    /// The event that is shown by default: cpu, or the only recorded one.
    pub fn usual_event(engine: &Engine) -> Result<String, Error> {
        let mut events = Flame::events(engine)?;
        let only = if events.len() == 1 { events.pop() } else { None };
        Ok(only.map_or_else(|| "cpu".to_string(), |(event, _)| event))
    }
}

/// Removes the characters that separate frames and lines.
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

/// The placeholder for a stack whose row is missing.
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
