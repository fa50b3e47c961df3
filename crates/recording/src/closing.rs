//! The end of a recording: waiting rows are written, and each stream becomes a Parquet file. A step that fails can be
//! retried.

use crate::manifest::{Loss, Manifest, State, TableFacts};
use crate::recorder::{Shared, lock};
use crate::schema::Table;
use crate::stream::{self, PART, Stream};
use crate::{Error, TABLES, parquet, salvage};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

pub(crate) struct Closing<'a> {
    shared: &'a Shared,
    left: Vec<Stream>,
    tables: BTreeMap<String, TableFacts>,
    /// Losses from streams that were damaged on the disk.
    damaged: Vec<Loss>,
}

impl<'a> Closing<'a> {
    pub(crate) fn new(shared: &'a Shared, streams: Vec<Option<Stream>>) -> Closing<'a> {
        let left = streams.into_iter().flatten().collect();
        Closing { shared, left, tables: BTreeMap::new(), damaged: Vec::new() }
    }

    pub(crate) fn rows_pending(&self) -> u64 {
        self.left.iter().map(Stream::rows_pending).sum()
    }

    /// Closes the remaining streams, and then the manifest. After an error it can be called again.
    pub(crate) fn try_all(&mut self, manifest: &mut Manifest) -> Result<(), Error> {
        let tried = self.close_streams().and_then(|()| self.complete(manifest));
        tried.inspect_err(|error| *lock(&self.shared.last_error) = error.to_string())
    }

    fn close_streams(&mut self) -> Result<(), Error> {
        let mut failed = None;
        // Close the streams that write first: the others may need their file descriptors.
        for stream in &mut self.left {
            match stream.flush(&self.shared.folder) {
                Ok(()) => stream.release(),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let (pending, written): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.left).into_iter().partition(|stream| stream.rows_pending() > 0);
        self.left = pending;
        for stream in written {
            if let Err(error) = self.convert(stream.table()) {
                failed = failed.or(Some(error));
                self.left.push(stream);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn convert(&mut self, table: &'static Table) -> Result<(), Error> {
        let folder = self.shared.folder.make_inner(table.name)?;
        let converted = parquet::convert(&folder, PART, stream::EXTENSION, table)
            .map_err(|error| error.writing(&folder.path().join(format!("{PART}.{}", parquet::UNFINISHED))))?;
        self.damaged.extend(converted.unread.map(|unread| salvage::damage(table, &unread, PART)));
        self.tables.insert(table.name.to_string(), converted.facts);
        Ok(())
    }

    fn complete(&self, manifest: &mut Manifest) -> Result<(), Error> {
        let mut closed = manifest.clone();
        closed.tables = self.tables.clone();
        closed.losses.extend(self.losses().chain(self.damaged.iter().cloned()));
        closed.state = State::Closed;
        closed.closed_ns = Some(self.shared.clock.now_ns());
        closed.write_last(&self.shared.folder)?;
        *manifest = closed;
        Ok(())
    }

    /// Ends the recording with the data that could be written. Fails with the cause and the number of lost rows, unless
    /// only the manifest was missing.
    pub(crate) fn give_up(&self, manifest: &mut Manifest, cause: Error) -> Result<(), Error> {
        if self.left.is_empty() {
            return self.complete(manifest);
        }
        let recording = self.shared.folder.path().to_path_buf();
        // The returned error says the same.
        let _ = self.write_losses(manifest);
        Err(Error::Unfinished {
            recording,
            rows_lost: self.shared.rows_lost() + self.rows_pending(),
            source: Box::new(cause),
        })
    }

    /// Notes in the manifest what is lost; the recording can be salvaged.
    pub(crate) fn write_losses(&self, manifest: &mut Manifest) -> Result<(), Error> {
        manifest.losses.extend(self.losses());
        manifest.write_last(&self.shared.folder)
    }

    fn losses(&self) -> impl Iterator<Item = Loss> {
        let last_error = lock(&self.shared.last_error).clone();
        let pending = move |name: &str| {
            let of_table = self.left.iter().filter(|stream| stream.table().name == name);
            of_table.map(Stream::rows_pending).sum::<u64>()
        };
        let lost = TABLES.iter().zip(&self.shared.rows_lost).map(move |(table, rows)| Loss {
            table: table.name.to_string(),
            rows: Some(rows.load(Ordering::Relaxed) + pending(table.name)),
            reason: format!("they could not be written for too long: {last_error}"),
        });
        lost.filter(|loss| loss.rows != Some(0)).chain(self.shared.limit.losses())
    }
}
