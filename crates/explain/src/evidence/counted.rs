//! Hardware counters of the nodes' threads while the judged requests were served.

use crate::Error;
use crate::association::Judged;
use crate::engine::Engine;
use crate::query::{self, Value, within};
use crate::timeline::Interval;
use serde::Serialize;

/// The name of the source in the manifest.
const COUNTERS: &str = "counters";

/// The share of the time for which a counter has to be active: below it, its scaled counts have an error that matters.
const ALWAYS: f64 = 0.99;

#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Thread groups, those with the most cycles first.
    pub(crate) groups: Vec<CountedGroup>,
    /// Sentences about events that could not be counted, and why.
    pub(crate) notes: Vec<String>,
    pub(crate) query: String,
}

/// Sums of a thread group's counters. None for counters that the machine does not have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct CountedGroup {
    pub(crate) thread_group: String,
    pub(crate) cycles: Option<f64>,
    pub(crate) instructions: Option<f64>,
    pub(crate) cache_misses: Option<f64>,
}

impl Counted {
    /// Loads the counts; None if the recording has no counters.
    pub(crate) fn load(engine: &Engine, judged: &Judged) -> Result<Option<Counted>, Error> {
        if engine.manifests().iter().all(|manifest| manifest.sources.iter().all(|source| source.name != COUNTERS)) {
            return Ok(None);
        }
        let windows: Vec<Interval> = judged.stretches.iter().map(|stretch| stretch.window).collect();
        let during = if windows.is_empty() { "true".to_string() } else { within("time_ns", &windows) };
        let query = query::COUNTER_GROUPS.fill(&[("filter", Value::Condition(&during))]);
        let rows = engine.sql(&query)?;
        let numbers = |name| rows.numbers_or_null(name);
        let (cycles, instructions) = (numbers("cycles")?, numbers("instructions")?);
        let misses = numbers("cache_misses")?;
        let group = |(row, thread_group)| CountedGroup {
            thread_group,
            cycles: cycles[row],
            instructions: instructions[row],
            cache_misses: misses[row],
        };
        let groups = rows.texts("thread_group")?.into_iter().enumerate().map(group).collect();
        Ok(Some(Counted { groups, notes: not_counted(engine)?, query }))
    }

    /// The sum of all groups.
    pub(crate) fn total(&self) -> CountedGroup {
        let sum = |of: fn(&CountedGroup) -> Option<f64>| {
            let counts: Vec<f64> = self.groups.iter().filter_map(of).collect();
            (!counts.is_empty()).then(|| counts.iter().sum())
        };
        CountedGroup {
            thread_group: String::new(),
            cycles: sum(|group| group.cycles),
            instructions: sum(|group| group.instructions),
            cache_misses: sum(|group| group.cache_misses),
        }
    }
}

impl CountedGroup {
    pub(crate) fn instructions_per_cycle(&self) -> Option<f64> {
        self.instructions
            .zip(self.cycles)
            .filter(|(_, cycles)| *cycles > 0.0)
            .map(|(instructions, cycles)| instructions / cycles)
    }

    /// Cache misses per 1000 instructions.
    pub(crate) fn misses_per_1000(&self) -> Option<f64> {
        let both = self.cache_misses.zip(self.instructions).filter(|(_, instructions)| *instructions > 0.0);
        both.map(|(misses, instructions)| misses / instructions * 1e3)
    }
}

/// Sentences about hardware events that were requested but could not be counted, and about scaled counts.
pub(crate) fn not_counted(engine: &Engine) -> Result<Vec<String>, Error> {
    let sources = engine.manifests().iter().flat_map(|manifest| &manifest.sources);
    let counters = sources.filter(|source| source.name == COUNTERS && !source.note.is_empty());
    let mut notes: Vec<String> = counters.map(|source| format!("{}: {}", source.node, source.note)).collect();
    notes.sort_unstable();
    // In an experiment that starts nodes for each run, every run repeats the same note.
    notes.dedup();
    let turns = engine.sql(&query::COUNTER_TURNS.fill(&[]))?;
    for (node, share) in turns.texts("node")?.iter().zip(turns.numbers("share")?) {
        if share < ALWAYS {
            notes.push(format!(
                "{node}: the CPUs' counters were there for {:.0} % of the time, as others had them in turns: cycles, \
                 instructions and cache misses are scaled to the whole of it",
                share * 100.0
            ));
        }
    }
    Ok(notes)
}
