//! A table that is being written: an append-only Arrow IPC stream, each part of it sealed (see [`crate::seal`]).
//!
//! Groups that the disk does not accept wait in memory and are retried, as is the creation of the file.

use crate::private::Folder;
use crate::schema::Table;
use crate::{Error, seal};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow_select::dictionary::garbage_collect_any_dictionary;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The most encoded bytes that wait while the disk accepts none; beyond it, rows are lost and counted.
const PENDING_LIMIT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 64 << 20 };

/// The most encoded bytes of all tables that wait. A bound for each of the tables alone would allow gigabytes.
const ALL_PENDING_LIMIT_BYTES: usize = 4 * PENDING_LIMIT_BYTES;

/// Batches above this size are split, because a reader holds a group in memory.
const GROUP_LIMIT_BYTES: usize = if cfg!(test) { 64 << 10 } else { 256 << 20 };

pub(crate) const EXTENSION: &str = "arrows";
/// The extension of a damaged stream, of which not all could be read.
pub(crate) const DAMAGED: &str = "damaged";
/// The name of the part that a recorder writes.
pub(crate) const PART: &str = "part-0";

/// The stream of one table.
pub(crate) struct Stream {
    table: &'static Table,
    schema: SchemaRef,
    /// The schema's message, with which each encoding begins.
    schema_message: Vec<u8>,
    fingerprint: u32,
    /// The file; None until it could be created.
    file: Option<Arc<File>>,
    /// Groups that are not yet on the disk, oldest first, with their rows.
    pending: VecDeque<(Vec<u8>, u64)>,
    pending_bytes: usize,
    /// Bytes on the disk, which are complete groups.
    written_bytes: u64,
    written_rows: u64,
    /// Number of accepted rows.
    rows: u64,
}

impl Stream {
    /// Creates nothing on the disk yet.
    pub(crate) fn new(table: &'static Table) -> Result<Stream, Error> {
        let schema = table.stream_schema();
        let schema_message = encode_schema(&schema)?;
        let fingerprint = crc32fast::hash(&schema_message);
        let first = seal::seal(&schema_message, 0, 0, fingerprint)?;
        Ok(Stream {
            table,
            schema,
            schema_message,
            fingerprint,
            file: None,
            pending_bytes: first.len(),
            pending: VecDeque::from([(first, 0)]),
            written_bytes: 0,
            written_rows: 0,
            rows: 0,
        })
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// Bytes on the disk, and bytes that wait for it.
    pub(crate) fn bytes(&self) -> u64 {
        self.written_bytes + self.pending_bytes as u64
    }

    /// Number of rows that wait in memory.
    pub(crate) fn rows_pending(&self) -> u64 {
        self.rows - self.written_rows
    }

    /// The file, for the thread that syncs it.
    pub(crate) fn file(&self) -> Option<Arc<File>> {
        self.file.clone()
    }

    /// Closes the file descriptor, after everything is written.
    pub(crate) fn release(&mut self) {
        self.file = None;
    }

    /// Bytes that wait for the disk.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Whether a batch is accepted while so many bytes of other tables wait.
    pub(crate) fn has_room(&self, others_bytes: usize) -> bool {
        self.pending_bytes <= PENDING_LIMIT_BYTES && self.pending_bytes + others_bytes <= ALL_PENDING_LIMIT_BYTES
    }

    /// Accepts a batch, to be written by [`Stream::flush`]. Returns false if the disk accepted nothing for so long that
    /// the waiting space is used up.
    pub(crate) fn append(&mut self, batch: &RecordBatch, others_bytes: usize) -> Result<bool, Error> {
        if batch.num_rows() == 0 {
            return Ok(true);
        }
        if !self.has_room(others_bytes) {
            return Ok(false);
        }
        // All groups of a batch are made before one is accepted, so that a batch is never accepted in part.
        let mut groups = Vec::new();
        self.encode(batch, self.rows, &mut groups)?;
        for (group, rows) in groups {
            self.rows += rows;
            self.pending_bytes += group.len();
            self.pending.push_back((group, rows));
        }
        Ok(true)
    }

    /// Makes groups of a batch whose first row has the number `first_row`: one, or several of at most
    /// [`GROUP_LIMIT_BYTES`].
    fn encode(&self, batch: &RecordBatch, first_row: u64, groups: &mut Vec<(Vec<u8>, u64)>) -> Result<(), Error> {
        // A new encoder for each group, so that a group has all its dictionaries and can be read alone.
        let mut encoder = StreamWriter::try_new(Vec::new(), &self.schema)?;
        encoder.write(batch)?;
        let encoded = std::mem::take(encoder.get_mut());
        let messages = &encoded[self.schema_message.len()..];
        let rows = batch.num_rows();
        if messages.len() > GROUP_LIMIT_BYTES && rows > 1 {
            drop(encoded);
            let half = rows / 2;
            self.encode(&part_of(batch, 0, half)?, first_row, groups)?;
            return self.encode(&part_of(batch, half, rows - half)?, first_row + half as u64, groups);
        }
        let group = seal::seal(messages, u32::try_from(rows).unwrap_or(u32::MAX), first_row, self.fingerprint)?;
        groups.push((group, rows as u64));
        Ok(())
    }

    /// Writes waiting groups as far as the disk has space. After an error the file still ends with a complete group,
    /// and the next call continues there.
    pub(crate) fn flush(&mut self, recording: &Folder) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let name = format!("{PART}.{EXTENSION}");
        let file = match &self.file {
            Some(file) => file,
            None => {
                let file = recording.make_inner(self.table.name)?.create_file(&name)?;
                self.file.insert(Arc::new(file))
            }
        };
        while let Some((group, rows)) = self.pending.front() {
            if let Err(error) = file.write_all_at(group, self.written_bytes) {
                // Best effort: salvage also handles an incomplete group at the end.
                let _ = file.set_len(self.written_bytes);
                return Err(Error::io("write", &recording.path().join(self.table.name).join(name))(error));
            }
            self.written_bytes += group.len() as u64;
            self.written_rows += rows;
            self.pending_bytes -= group.len();
            self.pending.pop_front();
        }
        Ok(())
    }
}

/// Rows of a batch, with only those values of its dictionaries that they have.
fn part_of(batch: &RecordBatch, from: usize, rows: usize) -> Result<RecordBatch, ArrowError> {
    let part = batch.slice(from, rows);
    let columns = part.columns().iter().map(|column| match column.as_any_dictionary_opt() {
        Some(dictionary) => garbage_collect_any_dictionary(dictionary),
        None => Ok(Arc::clone(column)),
    });
    RecordBatch::try_new(part.schema(), columns.collect::<Result<_, _>>()?)
}

/// The schema message at the start of a stream.
pub(crate) fn encode_schema(schema: &SchemaRef) -> Result<Vec<u8>, Error> {
    let mut encoder = StreamWriter::try_new(Vec::new(), schema)?;
    Ok(std::mem::take(encoder.get_mut()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::rows::{Request, Row};
    use crate::reader::{self, Place};
    use crate::{BatchBuilder, TABLES};

    /// Rows whose values are mostly text, each its own.
    fn batch(rows: usize) -> RecordBatch {
        let mut builder = BatchBuilder::new(Request::TABLE);
        for row in 0..rows {
            let operation = format!("{row:0>1000}");
            Request { intended_start_ns: row as i64, operation: &operation, ..Request::default() }
                .append_to(&mut builder);
        }
        builder.take().unwrap()
    }

    #[test]
    fn a_batch_of_any_size_is_kept_whole_in_small_groups() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("r")).unwrap();
        let mut stream = Stream::new(&TABLES[Request::TABLE]).unwrap();
        assert!(stream.append(&batch(1000), 0).unwrap());
        let largest = stream.pending.iter().map(|(group, _)| group.len()).max().unwrap();
        assert!(largest < 2 * GROUP_LIMIT_BYTES, "{largest} bytes in a group");
        let bytes = stream.pending_bytes;
        assert!(bytes < 2_000_000, "{bytes} bytes for 1 MB of text: each group has only its own");
        assert!(!stream.append(&batch(1), 0).unwrap(), "the disk has taken nothing yet");
        stream.flush(&folder).unwrap();
        assert!(!stream.append(&batch(1), ALL_PENDING_LIMIT_BYTES + 1).unwrap(), "other tables take all the room");
        assert!(stream.append(&batch(1), 0).unwrap());
        stream.flush(&folder).unwrap();
        assert_eq!((stream.rows_pending(), stream.rows), (0, 1001));

        let file = stream.file().unwrap();
        let mut place = Place::begin(stream.table).unwrap();
        let mut read = Vec::new();
        while let Some(batch) = reader::next(&file, stream.bytes(), &mut place) {
            read.extend_from_slice(batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().values());
        }
        assert!(read.iter().copied().eq((0..1000).chain([0])));
    }
}
