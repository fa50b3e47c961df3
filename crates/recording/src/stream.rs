//! A table that is being written: an append-only Arrow IPC stream, each part of it sealed (see [`crate::seal`]).
//!
//! Groups that the disk does not accept wait in memory and are retried, as is the creation of the file.

use crate::private::Folder;
use crate::schema::Table;
use crate::{Error, seal};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::writer::StreamWriter;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The most encoded bytes that wait while the disk accepts none; beyond it, rows are lost and counted.
const PENDING_LIMIT_BYTES: usize = 64 << 20;

/// Batches above this size are split, because a reader holds a group in memory.
const GROUP_LIMIT_BYTES: usize = 256 << 20;

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

    /// Whether a batch is accepted.
    pub(crate) fn has_room(&self) -> bool {
        self.pending_bytes <= PENDING_LIMIT_BYTES
    }

    /// Accepts a batch, to be written by [`Stream::flush`]. Returns false if the disk accepted nothing for so long that
    /// the waiting space is used up.
    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<bool, Error> {
        if batch.num_rows() == 0 {
            return Ok(true);
        }
        if !self.has_room() {
            return Ok(false);
        }
        // A new encoder for each group, so that a group has all its dictionaries and can be read alone.
        let mut encoder = StreamWriter::try_new(Vec::new(), &self.schema)?;
        encoder.write(batch)?;
        let encoded = std::mem::take(encoder.get_mut());
        let messages = &encoded[self.schema_message.len()..];
        let rows = batch.num_rows();
        if messages.len() > GROUP_LIMIT_BYTES && rows > 1 {
            let half = rows / 2;
            // A group that has begun is always completed.
            let limit = self.pending_bytes;
            self.pending_bytes = 0;
            let both = self.append(&batch.slice(0, half)).and_then(|_| self.append(&batch.slice(half, rows - half)));
            self.pending_bytes += limit;
            return both;
        }
        let rows = rows as u64;
        let group = seal::seal(messages, u32::try_from(rows).unwrap_or(u32::MAX), self.rows, self.fingerprint)?;
        self.rows += rows;
        self.pending_bytes += group.len();
        self.pending.push_back((group, rows));
        Ok(true)
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

/// The schema message at the start of a stream.
pub(crate) fn encode_schema(schema: &SchemaRef) -> Result<Vec<u8>, Error> {
    let mut encoder = StreamWriter::try_new(Vec::new(), schema)?;
    Ok(std::mem::take(encoder.get_mut()))
}
