//! A kept recording: one manifest, and the last minutes as segments. Each segment is a recording itself.
//!
//! ```text
//! kept.helenus/manifest.json
//!              writer.lock            held by the recorder
//!              segments/0001764280000000000000/   by its begin, in ns since the Unix epoch
//! ```

use crate::manifest::{FILE_NAME, Loss, Manifest, NodeFacts, State};
use crate::part::{self, Parts};
use crate::private::Folder;
use crate::{Error, descriptors, salvage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;

mod keeper;

pub use keeper::Keeper;

pub(crate) const SEGMENTS: &str = "segments";
/// Digits in the name of a segment.
const DIGITS: usize = 20;

/// How much of a recording is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Segments older than this are deleted, in ns.
    pub keep_ns: i64,
    /// Above this size the oldest segments are deleted before their time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

impl Kept {
    pub fn new(keep: Duration, max_bytes: Option<u64>) -> Kept {
        Kept { keep_ns: i64::try_from(keep.as_nanos()).unwrap_or(i64::MAX), max_bytes }
    }
}

/// Names of the segments, oldest first.
pub(crate) fn names(folder: &Folder) -> Result<Vec<String>, Error> {
    let Some(segments) = folder.inner(SEGMENTS)? else { return Ok(Vec::new()) };
    let is_segment = |name: &String| name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit());
    Ok(segments.names()?.into_iter().filter(is_segment).collect())
}

pub(crate) fn name_of(begin_ns: i64) -> String {
    format!("{:0DIGITS$}", begin_ns.max(0))
}

/// The time at which a segment begins.
pub(crate) fn begin_of(name: &str) -> i64 {
    name.parse().unwrap_or(0)
}

/// A segment's folder and manifest. None if the recorder has deleted it, or has not created it yet.
pub(crate) fn segment(folder: &Folder, name: &str) -> Result<Option<(Folder, Manifest)>, Error> {
    segment_with(folder, name, |segment, _| Manifest::read_in(segment))
}

/// A segment's folder, and what `read` reads of its manifest; None as in [`segment`].
pub(crate) fn segment_with<T>(
    folder: &Folder,
    name: &str,
    read: impl FnOnce(&Folder, &File) -> Result<T, Error>,
) -> Result<Option<(Folder, T)>, Error> {
    let found = || {
        let Some(segment) = folder.inner(SEGMENTS)?.map(|all| all.inner(name)).transpose()?.flatten() else {
            return Ok(None);
        };
        // The recorder renames the manifest once it is completely written.
        let manifest = segment.open_file(FILE_NAME)?;
        let read = read(&segment, &manifest)?;
        Ok(Some((segment, read)))
    };
    there(found()).map(Option::flatten)
}

/// Turns the error "not found" into None.
fn there<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads all segments as one recording.
pub(crate) fn read(folder: &Folder, mut manifest: Manifest) -> Result<(Manifest, Parts), Error> {
    descriptors::allow_many();
    let is_written = salvage::is_written(folder);
    let mut parts = Parts::new();
    let mut all = Combined::default();
    for name in names(folder)? {
        let Some((segment, of_segment)) = segment(folder, &name)? else { continue };
        let (mut of_it, mut facts) = (Parts::new(), BTreeMap::new());
        // A segment that is deleted meanwhile is older than the time that is kept.
        let Some(()) = there(part::held(&segment, &mut of_it, &mut facts))? else { continue };
        for (table, found) in of_it {
            let found = found.into_iter().map(|part| part.in_segment(begin_of(&name)));
            parts.entry(table).or_default().extend(found);
        }
        for (table, facts) in facts {
            let sum = manifest.tables.entry(table).or_default();
            sum.rows = sum.rows.saturating_add(facts.rows);
            sum.bytes = sum.bytes.saturating_add(facts.bytes);
        }
        all.add(of_segment);
    }
    all.write_to(&mut manifest, is_written);
    Ok((manifest, parts))
}

/// The manifests of all segments, combined into one.
#[derive(Default)]
struct Combined {
    segments: Vec<Manifest>,
}

impl Combined {
    fn add(&mut self, segment: Manifest) {
        self.segments.push(segment);
    }

    fn write_to(self, manifest: &mut Manifest, is_written: bool) {
        if let Some(first) = self.segments.first() {
            manifest.created_ns = first.created_ns;
        }
        let mut closed_ns = manifest.closed_ns;
        let mut is_whole = true;
        for segment in self.segments {
            is_whole &= segment.state == State::Closed;
            closed_ns = closed_ns.max(segment.closed_ns);
            for node in segment.nodes {
                add_node(&mut manifest.nodes, node);
            }
            for source in segment.sources {
                if !manifest.sources.contains(&source) {
                    manifest.sources.push(source);
                }
            }
            for loss in segment.losses {
                add_loss(&mut manifest.losses, loss);
            }
            for remark in segment.remarks {
                if !manifest.remarks.contains(&remark) {
                    manifest.remarks.push(remark);
                }
            }
            manifest.merged.push(segment.id);
        }
        (manifest.state, manifest.closed_ns) = match (is_written, is_whole) {
            (true, _) => (State::Writing, None),
            (false, true) => (State::Closed, closed_ns),
            // The recorder was killed, so the last rows may be incomplete.
            (false, false) => (State::Salvaged, closed_ns),
        };
    }
}

/// Adds a node's facts: those of the newest segment win, and its releases come from all segments.
fn add_node(nodes: &mut Vec<NodeFacts>, newer: NodeFacts) {
    match nodes.iter_mut().find(|known| known.address == newer.address) {
        Some(known) => {
            known.pid = newer.pid.or(known.pid);
            known.cassandra = newer.cassandra.or(known.cassandra.take());
            known.java = newer.java.or(known.java.take());
        }
        None => nodes.push(newer),
    }
}

/// Sums up the losses of one table for the same reason.
fn add_loss(losses: &mut Vec<Loss>, newer: Loss) {
    match losses.iter_mut().find(|known| known.table == newer.table && known.reason == newer.reason) {
        Some(known) => known.rows = known.rows.zip(newer.rows).map(|(rows, more)| rows.saturating_add(more)),
        None => losses.push(newer),
    }
}

#[cfg(test)]
mod tests;
