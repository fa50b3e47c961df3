//! Merges several recordings into one, on the clock of the first.

use crate::manifest::{Manifest, NodeFacts, State};
use crate::once::Once;
use crate::parquet::{self, ParquetFile};
use crate::part::Part;
use crate::private::{self, Folder};
use crate::schema::Table;
use crate::{Clock, Error, Recording, Repeated, TABLES, repeated};
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::{filter_record_batch, kernels::numeric::add_wrapping};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Merges recordings into a new one at `out`, and leaves them unchanged.
///
/// Recordings of one boot of one machine share CLOCK_MONOTONIC. Their times are shifted by the difference of their
/// offsets, and agree to the nanosecond. Recordings of different machines keep their wall-clock times, which agree as
/// well as the machines' clocks.
///
/// Rows that two recorders of one machine have for the same time are written once ([`repeated`]).
///
/// `ahead_ns` says how far the clock of each recording after the first is ahead of the first's. It is for recordings of
/// other machines; missing values are 0.
pub fn merge(
    recordings: &[Recording],
    ahead_ns: &[i64],
    out: &Path,
    title: &str,
    command: &str,
) -> Result<Manifest, Error> {
    merge_while(recordings, ahead_ns, out, (title, command), &|| true)
}

/// Merges recordings as [`merge`] does. Once `is_wanted` says no, nothing is left behind.
pub fn merge_while(
    recordings: &[Recording],
    ahead_ns: &[i64],
    out: &Path,
    (title, command): (&str, &str),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Manifest, Error> {
    if recordings.len() < 2 {
        return Err(Error::NothingToMerge);
    }
    new_recording(out, |folder| {
        none_twice(recordings)?;
        write(recordings, ahead_ns, folder, (title, command), is_wanted)
    })
}

/// Writes a recording to a temporary folder, and renames the folder when it is complete.
pub(crate) fn new_recording(
    out: &Path,
    write: impl FnOnce(&Folder) -> Result<Manifest, Error>,
) -> Result<Manifest, Error> {
    // Refuses a folder that is not empty, or that belongs to another user. A single rename puts the result there, so a
    // failed write leaves nothing behind.
    let empty = Folder::create(out)?;
    let beside = beside(out)?;
    let written = Folder::create(&beside).and_then(|folder| write(&folder));
    let placed = written.and_then(|manifest| {
        std::fs::rename(&beside, out).map_err(Error::io("rename", &beside))?;
        Ok(manifest)
    });
    if placed.is_err() {
        let _ = std::fs::remove_dir_all(&beside);
        // The folder may have existed before. It is empty, so a failure to remove it does no harm.
        let _ = std::fs::remove_dir(empty.path());
    }
    placed.map_err(|error| match error {
        Error::DiskFull(_) => Error::DiskFull(out.to_path_buf()),
        error => error,
    })
}

/// The temporary folder beside `out` in which the recording is written.
fn beside(out: &Path) -> Result<PathBuf, Error> {
    let out = std::fs::canonicalize(out).map_err(Error::io("find", out))?;
    Ok(private::beside(&out))
}

/// Refuses recordings that share rows, which would count twice: the same recording given twice, or a merged recording
/// and one of its parts.
fn none_twice(recordings: &[Recording]) -> Result<(), Error> {
    let mut seen: BTreeMap<&str, &Recording> = BTreeMap::new();
    for recording in recordings {
        let manifest = recording.manifest();
        for id in std::iter::once(&manifest.id).chain(&manifest.merged) {
            if let Some(first) = seen.insert(id, recording) {
                let (first, second) = (first.folder().to_path_buf(), recording.folder().to_path_buf());
                return Err(Error::MergedTwice { first, second });
            }
        }
    }
    Ok(())
}

fn write(
    recordings: &[Recording],
    ahead_ns: &[i64],
    out: &Folder,
    (title, command): (&str, &str),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Manifest, Error> {
    let mut recordings = recordings.to_vec();
    recordings.iter_mut().for_each(|recording| recording.verify(None));
    let recordings = recordings.as_slice();
    let first = &recordings[0];
    let shift_ns = |number: usize| {
        let ahead_ns = number.checked_sub(1).and_then(|number| ahead_ns.get(number)).copied().unwrap_or(0);
        shift_ns(first, &recordings[number]).wrapping_sub(ahead_ns)
    };
    let mut manifest = Manifest::new(title, command);
    manifest.clock = first.manifest().clock.clone();
    manifest.host = first.manifest().host.clone();
    manifest.created_ns = i64::MAX;
    // Parts of one load share its plan. Several different loads can't be described as one.
    let mut loads = recordings.iter().filter_map(|recording| recording.manifest().load.as_ref());
    manifest.load = loads.next().filter(|load| loads.all(|other| other == *load)).cloned();
    let mut nodes = Once::of(Vec::new(), |node: &NodeFacts| node.address.clone());
    let mut remarks = Once::of(Vec::new(), String::clone);
    for (number, recording) in recordings.iter().enumerate() {
        let part = recording.manifest();
        let shift_ns = shift_ns(number);
        manifest.created_ns = manifest.created_ns.min(part.created_ns.saturating_add(shift_ns));
        let closed_ns = part.closed_ns.map(|closed_ns| closed_ns.saturating_add(shift_ns));
        manifest.closed_ns = manifest.closed_ns.max(closed_ns);
        for node in &part.nodes {
            nodes.add(node.address.clone(), node.clone(), |known, node| {
                if known.cassandra.is_none() {
                    *known = node;
                }
            });
        }
        manifest.sources.extend(part.sources.iter().cloned());
        manifest.losses.extend(part.losses.iter().cloned());
        manifest.merged.push(part.id.clone());
        manifest.merged.extend(part.merged.iter().cloned());
        part.remarks.iter().for_each(|remark| remarks.add(remark.clone(), remark.clone(), |_, _| ()));
    }
    (manifest.nodes, manifest.remarks) = (nodes.into_items(), remarks.into_items());
    if !is_wanted() {
        return Err(Error::Ended);
    }
    let repeated = repeated(recordings)?;
    for table in TABLES {
        let mut part = 0;
        for (number, recording) in recordings.iter().enumerate() {
            let elsewhere: Vec<&Repeated> = repeated[number].iter().filter(|rows| rows.table == table).collect();
            for from in recording.parts(table.name)? {
                let place = out.make_inner(table.name)?;
                let rows = Copied { table, shift_ns: shift_ns(number), elsewhere: &elsewhere };
                copy(&from, &place, &format!("part-{part}"), &rows, is_wanted)
                    .map_err(|error| error.writing(place.path()))?;
                part += 1;
            }
        }
        if part > 0
            && let Some(place) = out.inner(table.name)?
        {
            manifest.tables.insert(table.name.to_string(), parquet::facts_of(&place)?);
        }
    }
    manifest.state = State::Closed;
    manifest.write(out)?;
    Ok(manifest)
}

fn shift_ns(first: &Recording, recording: &Recording) -> i64 {
    let (to, from) = (&first.manifest().clock, &recording.manifest().clock);
    // Imported recordings may have no known boot.
    if to.boot_id == from.boot_id && !to.boot_id.is_empty() {
        Clock::from_facts(to).epoch_offset_ns().wrapping_sub(Clock::from_facts(from).epoch_offset_ns())
    } else {
        0
    }
}

/// Which rows of a part are copied, and how far their times are shifted.
struct Copied<'a> {
    table: &'a Table,
    shift_ns: i64,
    /// Rows that another recording has as well.
    elsewhere: &'a [&'a Repeated],
}

/// Copies the rows that no other recording has.
fn copy(
    from: &Part,
    place: &Folder,
    stem: &str,
    Copied { table, shift_ns, elsewhere }: &Copied<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let schema = table.arrow_schema();
    let mut out = ParquetFile::create(place, stem, table, Arc::clone(&schema))?;
    for batch in from.batches()? {
        let mut batch = batch?;
        if !is_wanted() {
            return Err(Error::Ended);
        }
        for rows in *elsewhere {
            batch = filter_record_batch(&batch, &rows.others(&batch)?)?;
        }
        out.write(&rows_at(table, &batch, *shift_ns)?)?;
    }
    out.finish()?;
    Ok(())
}

/// Rows with plain strings and shifted times.
pub(crate) fn rows_at(table: &Table, batch: &RecordBatch, shift_ns: i64) -> Result<RecordBatch, Error> {
    let schema = table.arrow_schema();
    let batch = table.fit(batch, &schema)?;
    let columns = table.columns.iter().zip(batch.columns()).map(|(column, values)| match column.is_time {
        true => add_wrapping(values, &Int64Array::new_scalar(shift_ns)),
        false => Ok(Arc::clone(values)),
    });
    Ok(RecordBatch::try_new(schema, columns.collect::<Result<Vec<ArrayRef>, _>>()?)?)
}
