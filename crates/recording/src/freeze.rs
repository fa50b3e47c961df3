//! Copies a window of a recording into a recording of its own.

use crate::manifest::{Manifest, State};
use crate::merge::{new_recording, rows_at};
use crate::parquet::{self, ParquetFile};
use crate::part::Part;
use crate::private::Folder;
use crate::recording::{SLACK_NS, end_of};
use crate::schema::Table;
use crate::{Error, Recording, TABLES};
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Int64Type};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Tables that have a row only when a state begins or a stack is first seen. A window needs their earlier rows, too.
const STATES: [&str; 6] = ["connections", "node_metrics", "settings", "sstables", "stacks", "table_facts"];
/// Each segment has all stacks of its samples, some of which are older than the segment.
const WHOLE: &str = "stacks";
/// Within this time after the start of a segment, its sources have written all states.
const STATES_WITHIN_NS: i64 = 10_000_000_000;

/// Copies what happened from `from_ns` to `to_ns`, on the clock of the recording, into a new recording at `out`: rows
/// that overlap that window, and the states before it. The recording may be growing, and is not changed. Once `is_wanted` says
/// no, nothing is left behind.
pub fn freeze(
    recording: &Recording,
    (from_ns, to_ns): (i64, i64),
    out: &Path,
    (title, command): (&str, &str),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Manifest, Error> {
    new_recording(out, |folder| write(recording, (from_ns, to_ns), folder, (title, command), is_wanted))
}

fn write(
    recording: &Recording,
    (from_ns, to_ns): (i64, i64),
    out: &Folder,
    (title, command): (&str, &str),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Manifest, Error> {
    let mut recording = recording.clone();
    let begins = recording.segments();
    // Each segment has all states, so older segments are not needed.
    let states_from_ns =
        begins.iter().copied().filter(|begin| *begin <= from_ns.saturating_sub(STATES_WITHIN_NS)).max();
    recording.verify(Some((states_from_ns.unwrap_or(i64::MIN), to_ns)));
    let whole = recording.manifest();
    let mut manifest = Manifest { tables: BTreeMap::new(), kept: None, ..whole.clone() };
    let own = Manifest::new(title, command);
    (manifest.id, manifest.title, manifest.command) = (own.id, own.title, own.command);
    (manifest.helenus, manifest.writer_pid) = (own.helenus, own.writer_pid);
    manifest.merged.push(whole.id.clone());
    for table in TABLES {
        let is_state = STATES.contains(&table.name);
        let window = (if is_state { states_from_ns.unwrap_or(i64::MIN) } else { from_ns }, to_ns);
        let of_rows = if table.name == WHOLE { (i64::MIN, i64::MAX) } else { window };
        let mut number = 0;
        for part in recording.parts(table.name)? {
            if end_of(&part, &begins) < window.0.saturating_sub(SLACK_NS) {
                continue;
            }
            let place = out.make_inner(table.name)?;
            let rows = copy(&part, &place, &format!("part-{number}"), (table, of_rows), is_wanted)
                .map_err(|error| error.writing(place.path()))?;
            number += usize::from(rows > 0);
        }
        if number > 0
            && let Some(place) = out.inner(table.name)?
        {
            manifest.tables.insert(table.name.to_string(), parquet::facts_of(&place)?);
        }
    }
    manifest.created_ns = from_ns.max(whole.created_ns);
    manifest.closed_ns = Some(whole.end_ns().map_or(to_ns, |end_ns| end_ns.min(to_ns)));
    manifest.state = State::Closed;
    if manifest.tables.keys().all(|table| table == WHOLE) {
        return Err(Error::NothingIn { path: recording.folder().to_path_buf() });
    }
    manifest.write(out)?;
    Ok(manifest)
}

fn copy(
    from: &Part,
    place: &Folder,
    stem: &str,
    (table, window): (&Table, (i64, i64)),
    is_wanted: &dyn Fn() -> bool,
) -> Result<u64, Error> {
    let schema = table.arrow_schema();
    let mut out = ParquetFile::create(place, stem, table, Arc::clone(&schema))?;
    for batch in from.batches()? {
        let batch = batch?;
        if !is_wanted() {
            return Err(Error::Ended);
        }
        let batch = filter_record_batch(&batch, &within(table, &batch, window)?)?;
        if batch.num_rows() > 0 {
            out.write(&rows_at(table, &batch, 0)?)?;
        }
    }
    Ok(out.finish()?.rows)
}

/// Selects the rows that are in a window.
fn within(table: &Table, batch: &RecordBatch, (from_ns, to_ns): (i64, i64)) -> Result<BooleanArray, Error> {
    let column = |name: &str| batch.column_by_name(name).map(|values| cast(values, &DataType::Int64)).transpose();
    let Some(times) = column(table.time)? else { return Ok(BooleanArray::from(vec![true; batch.num_rows()])) };
    let times = times.as_primitive::<Int64Type>();
    let (intervals, durations, ends) = (column("interval_ns")?, column("duration_ns")?, column("end_ns")?);
    let value = |values: &Option<ArrayRef>, row: usize| {
        values.as_ref().map_or(0, |values| values.as_primitive::<Int64Type>().value(row))
    };
    let is_within = |row: usize| {
        let time = times.value(row);
        let begin = time.saturating_sub(value(&intervals, row));
        let end = time.saturating_add(value(&durations, row)).max(value(&ends, row));
        begin <= to_ns && end >= from_ns
    };
    Ok((0..batch.num_rows()).map(|row| Some(is_within(row))).collect())
}
