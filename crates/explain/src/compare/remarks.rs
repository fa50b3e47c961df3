//! Sentences about the limits of a comparison.

use crate::Error;
use crate::engine::Engine;
use crate::evidence::not_counted;

/// The experiments' remarks about their machines, and the hardware events that could not be counted; each sentence
/// once.
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
