//! One recording out of several, on the clock of the first.

use crate::manifest::{Manifest, State};
use crate::parquet::ParquetFile;
use crate::schema::Table;
use crate::{Clock, Error, Recording, Repeated, TABLES, private, repeated, salvage};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, new_null_array};
use arrow::compute::{cast, filter_record_batch, kernels::numeric::add};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Merges recordings into a new one at `out`; the ones merged stay as they are.
///
/// Recordings of the same boot of the same machine share CLOCK_MONOTONIC, so that their times are moved by the
/// difference of their offsets and agree to the nanosecond. Those of different machines keep their wall-clock times,
/// whose agreement is that of the machines' clocks.
///
/// Rows that two recorders have of one machine at the same time are in it once ([`repeated`]).
///
/// `ahead_ns` says how far the clock of each recording after the first is ahead of the first's: those of other machines
/// are. Recordings of one machine and boot need none, and what is not said is 0.
pub fn merge(
    recordings: &[Recording],
    ahead_ns: &[i64],
    out: &Path,
    title: &str,
    command: &str,
) -> Result<Manifest, Error> {
    let shift_ns = |number: usize| {
        let ahead_ns = number.checked_sub(1).and_then(|number| ahead_ns.get(number)).copied().unwrap_or(0);
        shift_ns(&recordings[0], &recordings[number]) - ahead_ns
    };
    let [first, _, ..] = recordings else {
        return Err(Error::NothingToMerge);
    };
    if out.exists() && std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Exists(out.to_path_buf()));
    }
    private::create_folder(out)?;
    let mut manifest = Manifest::new(title, command);
    manifest.clock = first.manifest().clock.clone();
    manifest.host = first.manifest().host.clone();
    manifest.created_ns = i64::MAX;
    // Shards of one load; anything else is none that could be made again.
    let load = &first.manifest().load;
    manifest.load = load.clone().filter(|_| recordings.iter().all(|recording| recording.manifest().load == *load));
    for (number, recording) in recordings.iter().enumerate() {
        let part = recording.manifest();
        let shift_ns = shift_ns(number);
        manifest.created_ns = manifest.created_ns.min(part.created_ns + shift_ns);
        manifest.closed_ns = manifest.closed_ns.max(part.closed_ns.map(|closed_ns| closed_ns + shift_ns));
        for node in &part.nodes {
            match manifest.nodes.iter_mut().find(|known| known.address == node.address) {
                Some(known) if known.cassandra.is_none() => *known = node.clone(),
                Some(_) => {}
                None => manifest.nodes.push(node.clone()),
            }
        }
        manifest.sources.extend(part.sources.iter().cloned());
        manifest.losses.extend(part.losses.iter().cloned());
        for remark in &part.remarks {
            if !manifest.remarks.contains(remark) {
                manifest.remarks.push(remark.clone());
            }
        }
    }
    let repeated = repeated(recordings)?;
    for table in TABLES {
        let place = out.join(table.name);
        let mut part = 0;
        for (number, recording) in recordings.iter().enumerate() {
            let elsewhere: Vec<&Repeated> = repeated[number].iter().filter(|rows| rows.table == table).collect();
            for path in recording.files(table.name)? {
                private::create_folder(&place)?;
                copy(&path, &place.join(format!("part-{part}.parquet")), table, shift_ns(number), &elsewhere)
                    .map_err(|error| salvage::if_full(error, &path, out))?;
                part += 1;
            }
        }
        if part > 0 {
            manifest.tables.insert(table.name.to_string(), salvage::facts_of(&place)?);
        }
    }
    manifest.state = State::Closed;
    manifest.write(out)?;
    Ok(manifest)
}

fn shift_ns(first: &Recording, recording: &Recording) -> i64 {
    let (to, from) = (&first.manifest().clock, &recording.manifest().clock);
    // What was imported may be of no boot that is known.
    if to.boot_id == from.boot_id && !to.boot_id.is_empty() {
        Clock::from_facts(to).epoch_offset_ns() - Clock::from_facts(from).epoch_offset_ns()
    } else {
        0
    }
}

/// Copies the rows that no other recording has.
fn copy(from: &Path, to: &Path, table: &Table, shift_ns: i64, elsewhere: &[&Repeated]) -> Result<(), Error> {
    let damaged = |reason: String| Error::Damaged { path: from.to_path_buf(), reason };
    let file = File::open(from).map_err(Error::io("open", from))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| builder.build())
        .map_err(|error| damaged(error.to_string()))?;
    let schema = table.arrow_schema();
    let mut out = ParquetFile::create(to, table, Arc::clone(&schema))?;
    for batch in reader {
        let mut batch = batch.map_err(|error| damaged(error.to_string()))?;
        for rows in elsewhere {
            batch = filter_record_batch(&batch, &rows.others(&batch)?)?;
        }
        let columns = table
            .columns
            .iter()
            .zip(schema.fields())
            .map(|(column, field)| -> Result<ArrayRef, Error> {
                match batch.column_by_name(column.name) {
                    Some(values) if column.is_time => {
                        Ok(add(&cast(values, field.data_type())?, &Int64Array::new_scalar(shift_ns))?)
                    }
                    Some(values) => Ok(cast(values, field.data_type())?),
                    // A column that came after this recording was written.
                    None => Ok(new_null_array(field.data_type(), batch.num_rows())),
                }
            })
            .collect::<Result<Vec<_>, Error>>()?;
        out.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    out.finish()?;
    Ok(())
}
