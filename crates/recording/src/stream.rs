//! A table while it is written: an append-only Arrow IPC stream.
//!
//! A message is on the disk whole or it is cut off at the end of the file, where [`read`] stops: that is what makes a
//! recording survive a kill, a full disk and a pulled plug.

use crate::schema::Table;
use crate::{Error, private};
use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Encoded bytes that wait while the disk takes none; past it, rows are lost and counted.
const PENDING_LIMIT_BYTES: usize = 64 << 20;

pub(crate) const EXTENSION: &str = "arrows";

/// Writes one table.
pub(crate) struct Stream {
    path: PathBuf,
    file: Arc<File>,
    encoder: StreamWriter<Vec<u8>>,
    /// Encoded messages that are not yet on the disk, oldest first.
    pending: VecDeque<Vec<u8>>,
    pending_bytes: usize,
    /// Bytes on the disk, all of them whole messages.
    written_bytes: u64,
}

/// What became of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Appended {
    Accepted,
    /// The disk took nothing for so long that there is no room to wait in.
    Lost,
}

impl Stream {
    pub(crate) fn create(path: &Path, table: &Table) -> Result<Stream, Error> {
        let file = Arc::new(private::create_file(path)?);
        let encoder = StreamWriter::try_new(Vec::new(), &table.stream_schema())?;
        Ok(Stream {
            path: path.to_path_buf(),
            file,
            encoder,
            pending: VecDeque::new(),
            pending_bytes: 0,
            written_bytes: 0,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that it has on the disk, or will have once the disk takes them.
    pub(crate) fn bytes(&self) -> u64 {
        self.written_bytes + self.pending_bytes as u64
    }

    /// The file, for a thread that syncs it.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<Appended, ArrowError> {
        // Before the encoder has seen it: what it has encoded must be written, or later dictionaries would not fit.
        if self.pending_bytes > PENDING_LIMIT_BYTES {
            return Ok(Appended::Lost);
        }
        self.encoder.write(batch)?;
        let message = std::mem::take(self.encoder.get_mut());
        self.pending_bytes += message.len();
        self.pending.push_back(message);
        Ok(Appended::Accepted)
    }

    /// Writes what is pending, as far as the disk takes it. After an error the file still ends with a whole message, and
    /// the next call goes on from there.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while let Some(message) = self.pending.front() {
            if let Err(error) = self.file.write_all_at(message, self.written_bytes) {
                // Best effort: a cut message at the end is also what salvage expects.
                let _ = self.file.set_len(self.written_bytes);
                return Err(error);
            }
            self.written_bytes += message.len() as u64;
            self.pending_bytes -= message.len();
            self.pending.pop_front();
        }
        Ok(())
    }
}

/// Hands every whole batch of a stream to `each`, up to the end or the first damage, and returns how it ended.
pub(crate) fn read(path: &Path, mut each: impl FnMut(RecordBatch) -> Result<(), Error>) -> Result<Ended, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut reader = match StreamReader::try_new(BufReader::with_capacity(1 << 20, file), None) {
        Ok(reader) => reader,
        // Not even the schema: the writer was ended in its first flush.
        Err(_) => return Ok(Ended::Cut),
    };
    loop {
        match reader.next() {
            None => return Ok(Ended::Whole),
            Some(Ok(batch)) => each(batch)?,
            Some(Err(_)) => return Ok(Ended::Cut),
        }
    }
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Whole,
    /// In the middle of a message: its writer was ended, or the disk was full.
    Cut,
}
