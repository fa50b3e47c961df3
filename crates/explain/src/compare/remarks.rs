//! What keeps a comparison from saying more, in sentences.

use crate::engine::Engine;
use crate::evidence::COUNTERS;
use crate::{Error, query};

/// Below this share of the time, counts are scaled by more than what is noise in them.
const ALWAYS: f64 = 0.99;

/// What the experiments said of their machines, and what the CPUs could not count. Each is said once.
pub(super) fn of<'e>(engines: impl IntoIterator<Item = &'e Engine>) -> Result<Vec<String>, Error> {
    let mut remarks: Vec<String> = Vec::new();
    for engine in engines {
        let of_machines = engine.manifests().iter().flat_map(|manifest| manifest.remarks.iter().cloned());
        for remark in of_machines.chain(not_counted(engine)?) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    Ok(remarks)
}

/// What the CPUs' counters could not count, where that was wanted, and where counts are scaled.
pub(crate) fn not_counted(engine: &Engine) -> Result<Vec<String>, Error> {
    let sources = engine.manifests().iter().flat_map(|manifest| &manifest.sources);
    let counters = sources.filter(|source| source.name == COUNTERS && !source.note.is_empty());
    let mut notes: Vec<String> = counters.map(|source| format!("{}: {}", source.node, source.note)).collect();
    notes.sort_unstable();
    // Each run of an experiment on nodes of its own has told so.
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
