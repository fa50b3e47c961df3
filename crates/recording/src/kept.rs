//! A kept recording: one manifest, and the last minutes as segments. Each segment is a recording itself.
//!
//! ```text
//! kept.helenus/manifest.json
//!              writer.lock            held by the recorder
//!              segments/0001764280000000000000/   by its begin, in ns since the Unix epoch, or after the one before
//! ```

use crate::found::{self, Files, Found};
use crate::manifest::{FILE_NAME, Loss, Manifest, NodeFacts, SourceFacts, State, made};
use crate::once::Once;
use crate::private::Folder;
use crate::{Error, descriptors, salvage};
use serde::{Deserialize, Serialize};
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

/// Names of the segments in the order in which they were made.
pub(crate) fn names(folder: &Folder) -> Result<Vec<String>, Error> {
    let Some(segments) = folder.inner(SEGMENTS)? else { return Ok(Vec::new()) };
    Ok(segments.names()?.into_iter().filter(|name| is_segment(name)).collect())
}

fn is_segment(name: &str) -> bool {
    name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name of a segment that is made after `last`: its begin or, after the clock was set back, one more than the last name.
pub(crate) fn name_of(begin_ns: i64, last: Option<&String>) -> String {
    let after = last.map_or(0, |last| begin_of(last).saturating_add(1));
    format!("{:0DIGITS$}", begin_ns.max(after))
}

/// The time at which a segment begins, if the clock has not gone back; 0 for other names. [`Manifest::created_ns`] has it.
pub(crate) fn begin_of(name: &str) -> i64 {
    if is_segment(name) { name.parse().unwrap_or(0) } else { 0 }
}

/// A segment's folder. None if the recorder has deleted it, or has not created its manifest yet.
pub(crate) fn folder_of(folder: &Folder, name: &str) -> Result<Option<Folder>, Error> {
    let Some(segment) = folder.inner(SEGMENTS)?.map(|all| all.inner(name)).transpose()?.flatten() else {
        return Ok(None);
    };
    // The recorder renames the manifest once it is completely written.
    Ok(segment.has(FILE_NAME).then_some(segment))
}

/// A segment's folder and manifest. None if the recorder has deleted it, or has not created it yet.
pub(crate) fn segment(folder: &Folder, name: &str) -> Result<Option<(Folder, Manifest)>, Error> {
    let Some(segment) = folder_of(folder, name)? else { return Ok(None) };
    match Manifest::read_or_made(&segment) {
        Ok(manifest) => Ok(Some((segment, manifest))),
        // The recorder has just deleted it.
        Err(_) if !segment.has(FILE_NAME) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Turns the error "not found" into None.
fn there<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads all segments as one recording: its manifest, its parts, and what can't be read.
pub(crate) fn read(folder: &Folder, mut manifest: Manifest) -> Result<(Manifest, Found, Vec<Loss>), Error> {
    descriptors::allow_many();
    let is_written = salvage::is_written(folder);
    let mut all = Combined::default();
    let (mut found, mut losses) = (Found::default(), Vec::new());
    for name in &names(folder)? {
        match of_segment(folder, name, is_written) {
            Ok(None) => {}
            Ok(Some((of_it, in_it))) => {
                let begin_ns = of_it.created_ns;
                losses.extend(in_it.losses(&format!("{SEGMENTS}/{name}/")));
                for (table, parts) in in_it.parts {
                    let parts = parts.into_iter().map(|part| part.in_segment(begin_ns));
                    found.parts.entry(table).or_default().extend(parts);
                }
                all.add(of_it);
            }
            Err(error) if error.is_of_the_machine() => return Err(error),
            Err(error) => losses.push(unread(name, &error)),
        }
    }
    all.write_to(&mut manifest, is_written);
    found.facts = found::facts_of(&found.parts);
    Ok((manifest, found, losses))
}

/// Manifest and files of a segment; None if the recorder deletes it, since it is older than the time that is kept.
fn of_segment(folder: &Folder, name: &str, is_written: bool) -> Result<Option<(Manifest, Found)>, Error> {
    let Some((segment, mut manifest)) = segment(folder, name)? else { return Ok(None) };
    // The segment before the newest may still be written, too.
    let files = if is_written && manifest.state == State::Writing { Files::Growing } else { Files::Ended };
    let Some(mut found) = there(Found::in_folder(&segment, files))? else { return Ok(None) };
    found.compare(&manifest.tables);
    if !found.skipped.is_empty() && folder_of(folder, name)?.is_none() {
        return Ok(None);
    }
    for loss in manifest.losses.iter_mut().filter(|loss| loss.table == made::TABLE) {
        loss.reason = format!("{SEGMENTS}/{name}/{}", loss.reason);
    }
    Ok(Some((manifest, found)))
}

/// The loss of a whole segment.
pub(crate) fn unread(name: &str, error: &Error) -> Loss {
    let reason = format!("{SEGMENTS}/{name} is skipped: {}", error.why());
    Loss { table: "all tables".to_string(), rows: None, reason }
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
            // The manifest of all may be one that was made, and knows neither clock nor machine.
            if manifest.clock == made::unknown_clock() {
                (manifest.clock, manifest.host) = (first.clock.clone(), first.host.clone());
            }
        }
        let mut closed_ns = manifest.closed_ns;
        let mut is_whole = true;
        let mut nodes = Once::of(std::mem::take(&mut manifest.nodes), |node| node.address.clone());
        let mut sources = Once::of(std::mem::take(&mut manifest.sources), SourceFacts::clone);
        let mut losses = Once::of(std::mem::take(&mut manifest.losses), key_of);
        let mut remarks = Once::of(std::mem::take(&mut manifest.remarks), String::clone);
        for segment in self.segments {
            is_whole &= segment.state == State::Closed;
            closed_ns = closed_ns.max(segment.closed_ns);
            segment.nodes.into_iter().for_each(|node| nodes.add(node.address.clone(), node, add_node));
            segment.sources.into_iter().for_each(|source| sources.add(source.clone(), source, |_, _| ()));
            segment.losses.into_iter().for_each(|loss| losses.add(key_of(&loss), loss, add_loss));
            segment.remarks.into_iter().for_each(|remark| remarks.add(remark.clone(), remark, |_, _| ()));
            manifest.merged.push(segment.id);
        }
        (manifest.nodes, manifest.sources) = (nodes.into_items(), sources.into_items());
        (manifest.losses, manifest.remarks) = (losses.into_items(), remarks.into_items());
        (manifest.state, manifest.closed_ns) = match (is_written, is_whole) {
            (true, _) => (State::Writing, None),
            (false, true) => (State::Closed, closed_ns),
            // The recorder was killed, so the last rows may be incomplete.
            (false, false) => (State::Salvaged, closed_ns),
        };
    }
}

/// Adds a node's facts: those of the newest segment win, and its releases come from all segments.
fn add_node(known: &mut NodeFacts, newer: NodeFacts) {
    known.pid = newer.pid.or(known.pid);
    known.cassandra = newer.cassandra.or(known.cassandra.take());
    known.java = newer.java.or(known.java.take());
}

/// The losses of one table for the same reason are summed up.
fn key_of(loss: &Loss) -> (String, String) {
    (loss.table.clone(), loss.reason.clone())
}

fn add_loss(known: &mut Loss, newer: Loss) {
    known.rows = known.rows.zip(newer.rows).map(|(rows, more)| rows.saturating_add(more));
}

#[cfg(test)]
mod tests;
