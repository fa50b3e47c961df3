//! Reads a stream whose writer may have been killed and whose bytes may be damaged.
//!
//! A group is read if its checksum matches; groups that do not match are skipped. Streams of older versions without
//! checksums are read up to the first invalid message.

use crate::schema::Table;
use crate::seal::{self, MAGIC, PREFIX_BYTES, Seal};
use crate::stream::encode_schema;
use crate::{Error, message};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::ipc::reader::StreamReader;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The largest group or message that is read into memory.
const MOST_BYTES: u64 = 1 << 30;

/// An upper bound for the length of a group's begin: a cut within it leaves fewer bytes than this.
const MOST_OF_A_HEAD: u64 = 16 << 10;

/// The most times that the bytes of a file are compared with checksums, so that forged seals can't keep a reader busy
/// forever.
const MOST_PASSES: u64 = 8;

/// The part of a stream that was not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) bytes: u64,
    /// Number of lost rows; None if unknown.
    pub(crate) rows: Option<u64>,
    /// Whether only an incomplete last group is lost, because the writer was killed or the disk was full.
    pub(crate) is_cut: bool,
}

/// Passes every intact batch of a stream to `each`, and returns what could not be read.
pub(crate) fn read(
    file: &File,
    table: &Table,
    mut each: impl FnMut(RecordBatch) -> Result<(), Error>,
) -> Result<Option<Unread>, Error> {
    let bytes = file.metadata().map_err(|source| Error::Io { action: "read", path: table.name.into(), source })?.len();
    let stream = Stream { file, bytes, checked: Cell::new(0) };
    if stream.is_sealed() { stream.read_sealed(table, true, &mut each) } else { stream.read_unsealed(table, &mut each) }
}

/// How far a sealed stream has been read.
pub(crate) struct Place {
    at: u64,
    next_row: u64,
    /// The schema message of this version.
    own: Vec<u8>,
    /// The schema group of the stream, with its fingerprint.
    schema: Option<(u32, Vec<u8>)>,
}

/// One group of a sealed stream.
#[derive(Default)]
struct Step {
    /// Bytes of groups that are damaged.
    lost_bytes: u64,
    lost_rows: u64,
    batch: Option<RecordBatch>,
}

impl Place {
    pub(crate) fn begin(table: &Table) -> Result<Place, Error> {
        Ok(Place { at: 0, next_row: 0, own: encode_schema(&table.stream_schema())?, schema: None })
    }

    /// The schema message that a group was written with.
    fn schema_of(&self, seal: &Seal) -> Option<&[u8]> {
        match &self.schema {
            Some((fingerprint, message)) if *fingerprint == seal.schema => Some(message),
            _ if crc32fast::hash(&self.own) == seal.schema => Some(&self.own),
            _ => None,
        }
    }
}

/// The offset at which the complete groups of a growing stream end, and the number of rows in them.
pub(crate) fn whole(file: &File, path: &Path) -> Result<(u64, u64), Error> {
    let bytes = file.metadata().map_err(Error::io("read", path))?.len();
    let stream = Stream { file, bytes, checked: Cell::new(0) };
    let (mut at, mut end, mut rows) = (0, 0, 0);
    while at < bytes {
        match stream.head(at).filter(|seal| u64::from(seal.length) <= bytes - at) {
            Some(seal) => {
                at += u64::from(seal.length);
                end = at;
                rows = seal.first_row.saturating_add(u64::from(seal.rows));
            }
            None => match stream.next_group(at + 1) {
                Some(next) => at = next,
                None => break,
            },
        }
    }
    Ok((end, rows))
}

/// The rows of the next complete group of a growing stream, before the offset `bytes`. None if there is none yet.
/// Damaged groups are skipped once a complete one follows them.
pub(crate) fn next(file: &File, bytes: u64, place: &mut Place) -> Option<RecordBatch> {
    let stream = Stream { file, bytes, checked: Cell::new(0) };
    loop {
        if let Some(batch) = stream.step(place)?.batch {
            return Some(batch);
        }
    }
}

/// The damaged groups of a stream before the offset `bytes`. Compares checksums, and decodes no rows.
pub(crate) fn damage(file: &File, bytes: u64, table: &Table) -> Option<Unread> {
    let stream = Stream { file, bytes, checked: Cell::new(0) };
    // Groups of older versions have no checksums.
    if !stream.is_sealed() {
        return None;
    }
    stream.read_sealed(table, false, &mut |_| Ok(())).ok()?
}

struct Stream<'a> {
    file: &'a File,
    bytes: u64,
    /// Number of bytes compared with checksums so far.
    checked: Cell<u64>,
}

impl Stream<'_> {
    fn is_sealed(&self) -> bool {
        self.find_magic(0).is_some_and(|at| at < MOST_OF_A_HEAD) || self.next_group(0).is_some()
    }

    fn read_sealed(
        &self,
        table: &Table,
        decodes: bool,
        each: &mut impl FnMut(RecordBatch) -> Result<(), Error>,
    ) -> Result<Option<Unread>, Error> {
        let mut place = Place::begin(table)?;
        let mut unread = Unread { rows: Some(0), ..Unread::default() };
        let mut lose = |bytes: u64, rows: Option<u64>| {
            unread.bytes += bytes;
            unread.rows = unread.rows.zip(rows).map(|(all, rows)| all.saturating_add(rows));
        };
        while let Some(step) = self.step_to(&mut place, decodes) {
            lose(step.lost_bytes, Some(step.lost_rows));
            if let Some(batch) = step.batch {
                each(batch)?;
            }
        }
        if place.at < self.bytes {
            let rest = self.bytes - place.at;
            lose(rest, self.last_row(place.at).map(|last| last.saturating_sub(place.next_row)));
            unread.is_cut = unread.bytes == rest && self.is_cut(place.at);
        }
        Ok((unread.bytes > 0).then_some(unread))
    }

    /// Reads the next group, and skips bytes that are none. None if no complete group follows.
    fn step(&self, place: &mut Place) -> Option<Step> {
        self.step_to(place, true)
    }

    /// The same; without `decodes`, rows are only counted.
    fn step_to(&self, place: &mut Place, decodes: bool) -> Option<Step> {
        if place.at >= self.bytes {
            return None;
        }
        let Some((seal, group)) = self.group(place.at) else {
            let next = self.next_group(place.at + 1)?;
            let lost_bytes = next - place.at;
            place.at = next;
            return Some(Step { lost_bytes, ..Step::default() });
        };
        let length = group.len() as u64;
        place.at += length;
        // Groups number their rows from the start of the stream, so a gap shows how many rows were lost.
        if seal.first_row < place.next_row {
            return Some(Step { lost_bytes: length, ..Step::default() });
        }
        let (rows, gap) = (u64::from(seal.rows), seal.first_row - place.next_row);
        place.next_row = seal.first_row.saturating_add(rows);
        if rows == 0 {
            place.schema = Some((seal.schema, group));
            return Some(Step { lost_rows: gap, ..Step::default() });
        }
        if !decodes {
            return Some(Step { lost_rows: gap, ..Step::default() });
        }
        let batch = place.schema_of(&seal).and_then(|message| decode(message, &group));
        Some(match batch.filter(|batch| batch.num_rows() as u64 == rows) {
            Some(batch) => Step { lost_rows: gap, batch: Some(batch), ..Step::default() },
            None => Step { lost_bytes: length, lost_rows: gap.saturating_add(rows), batch: None },
        })
    }

    fn read_unsealed(
        &self,
        table: &Table,
        each: &mut impl FnMut(RecordBatch) -> Result<(), Error>,
    ) -> Result<Option<Unread>, Error> {
        // The end offset of each batch. Only valid messages are passed to Arrow's reader.
        let mut ends = Vec::new();
        let (mut at, mut is_cut) = (0, false);
        let mut schema_end = 0;
        while at < self.bytes {
            match self.message(at) {
                Ok((message::Kind::End, _)) => break,
                Ok((kind, end)) => {
                    let is_first = at == 0;
                    if is_first != (kind == message::Kind::Schema) {
                        break;
                    }
                    match kind {
                        message::Kind::Schema => schema_end = end,
                        message::Kind::Batch => ends.push(end),
                        _ => {}
                    }
                    at = end;
                }
                Err(cut) => {
                    is_cut = cut;
                    break;
                }
            }
        }
        let messages_end = at;
        let mut good_end = schema_end;
        let whole = BufReader::new(At { file: self.file, at: 0 }.take(messages_end));
        let reader = catch_unwind(AssertUnwindSafe(|| StreamReader::try_new(whole, None)));
        if let Ok(Ok(mut reader)) = reader {
            for end in &ends {
                let Ok(Some(Ok(batch))) = catch_unwind(AssertUnwindSafe(|| reader.next())) else { break };
                // After a power failure, the end of a file may be zeros; no row is from 1970, so zeros are no rows.
                let times = batch.column_by_name(table.time).and_then(|column| column.as_primitive_opt::<Int64Type>());
                if times.is_none_or(|times| times.values().contains(&0)) {
                    break;
                }
                each(batch)?;
                good_end = *end;
            }
        }
        // Between the last batch and the end of the file there may be dictionaries of a batch that was cut off.
        is_cut &= good_end == ends.last().copied().unwrap_or(schema_end);
        let bytes = self.bytes - good_end;
        let is_ended = bytes == PREFIX_BYTES as u64 && matches!(self.message(good_end), Ok((message::Kind::End, _)));
        Ok((bytes > 0 && !is_ended).then_some(Unread { bytes, rows: None, is_cut }))
    }

    /// The kind of an unsealed message and its end. If it fails, it tells whether the file ends within the message.
    fn message(&self, at: u64) -> Result<(message::Kind, u64), bool> {
        let left = self.bytes - at;
        let prefix: [u8; PREFIX_BYTES] = self.array(at).ok_or(true)?;
        let metadata = u64::from(seal::metadata_length(&prefix).ok_or(false)?);
        if metadata == 0 {
            return Ok((message::Kind::End, at + PREFIX_BYTES as u64));
        }
        let head = PREFIX_BYTES as u64 + metadata;
        if head > left {
            return Err(left < MOST_OF_A_HEAD);
        }
        let metadata = self.slice(at + PREFIX_BYTES as u64, metadata).ok_or(false)?;
        let (kind, body) = message::check(&metadata).ok_or(false)?;
        match head.checked_add(body) {
            Some(length) if length <= left && body <= MOST_BYTES => Ok((kind, at + length)),
            Some(length) => Err(length > left && body <= MOST_BYTES),
            None => Err(false),
        }
    }

    /// The group at an offset, if its checksum matches.
    fn group(&self, at: u64) -> Option<(Seal, Vec<u8>)> {
        let seal = self.head(at)?;
        let (length, head) = (u64::from(seal.length), seal.head_length());
        if length > MOST_BYTES || length > self.bytes - at {
            return None;
        }
        let group = self.slice(at, length)?;
        self.may_check(length)?;
        seal.has_body(group.get(usize::try_from(head).ok()?..)?).then_some((seal, group))
    }

    /// The seal of the group that begins at an offset, if the group's begin is intact.
    fn head(&self, at: u64) -> Option<Seal> {
        let prefix: [u8; PREFIX_BYTES] = self.array(at)?;
        let head = PREFIX_BYTES as u64 + u64::from(seal::metadata_length(&prefix)?);
        let before = head.checked_sub(seal::BYTES as u64)?;
        let seal = Seal::read(&self.array(at.checked_add(before)?)?)?;
        if u64::from(seal.before) != before || u64::from(seal.length) < head {
            return None;
        }
        self.may_check(head)?;
        seal.has_head(&self.slice(at, head)?).then_some(seal)
    }

    /// The offset of the next intact group, from an offset on.
    fn next_group(&self, from: u64) -> Option<u64> {
        self.begins(from).find(|at| self.group(*at).is_some())
    }

    /// The number of rows of the whole stream, from the last intact group after an offset. None if the file continues
    /// after that group, because more rows may follow.
    fn last_row(&self, from: u64) -> Option<u64> {
        let heads = self.begins(from).filter_map(|at| Some((at, self.head(at)?)));
        let (at, seal) = heads.max_by_key(|(_, seal)| seal.first_row)?;
        let reaches_the_end = at.saturating_add(u64::from(seal.length)) >= self.bytes;
        reaches_the_end.then(|| seal.first_row.saturating_add(u64::from(seal.rows)))
    }

    /// Offsets at which groups may begin: places that look like a seal.
    fn begins(&self, from: u64) -> impl Iterator<Item = u64> {
        let mut search = from;
        std::iter::from_fn(move || {
            loop {
                let seal_at = self.find_magic(search)?;
                search = seal_at + 1;
                let before =
                    self.array(seal_at).and_then(|bytes| Seal::read(&bytes)).map(|seal| u64::from(seal.before));
                let begin = before.and_then(|before| seal_at.checked_sub(before)).filter(|begin| *begin >= from);
                if begin.is_some() {
                    return begin;
                }
            }
        })
    }

    fn find_magic(&self, from: u64) -> Option<u64> {
        let mut window = vec![0; 1 << 16];
        let mut at = from;
        while at + (MAGIC.len() as u64) <= self.bytes {
            match rustix::fs::seek(self.file, rustix::fs::SeekFrom::Data(at)) {
                // A file may claim any size: holes are not read. A mark may begin in the last bytes before the data.
                Ok(data) => at = at.max(data.saturating_sub(MAGIC.len() as u64)),
                Err(rustix::io::Errno::NXIO) => return None,
                // The file system does not tell.
                Err(_) => {}
            }
            if at + (MAGIC.len() as u64) > self.bytes {
                return None;
            }
            let length = (window.len() as u64).min(self.bytes - at) as usize;
            self.file.read_exact_at(&mut window[..length], at).ok()?;
            if let Some(found) = window[..length].windows(MAGIC.len()).position(|bytes| bytes == MAGIC) {
                return Some(at + found as u64);
            }
            at += (length - MAGIC.len() + 1) as u64;
        }
        None
    }

    /// Whether the file ends within a group that begins at an offset.
    fn is_cut(&self, at: u64) -> bool {
        let left = self.bytes - at;
        match self.head(at) {
            Some(seal) => u64::from(seal.length) > left,
            None => {
                let begins = self.array::<PREFIX_BYTES>(at).map(|prefix| seal::metadata_length(&prefix));
                // A group's begin ends with its seal. If the seal is complete, the begin is damaged and not cut off.
                left < MOST_OF_A_HEAD
                    && begins
                        .is_none_or(|metadata| metadata.is_some_and(|of| u64::from(of) + PREFIX_BYTES as u64 > left))
                    && self.find_magic(at).is_none_or(|seal_at| seal_at + seal::BYTES as u64 > self.bytes)
            }
        }
    }

    fn may_check(&self, bytes: u64) -> Option<()> {
        self.checked.set(self.checked.get().saturating_add(bytes));
        (self.checked.get() <= self.bytes.saturating_mul(MOST_PASSES)).then_some(())
    }

    fn array<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    }

    fn slice(&self, at: u64, length: u64) -> Option<Vec<u8>> {
        if length > MOST_BYTES || at.checked_add(length)? > self.bytes {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    }
}

/// Decodes the batch of a group whose checksum was verified.
fn decode(schema: &[u8], group: &[u8]) -> Option<RecordBatch> {
    message::check_all(schema)?;
    message::check_all(group)?;
    let stream = Cursor::new(schema).chain(Cursor::new(group));
    // Arrow's reader panics on some invalid bytes, even after the checks above.
    catch_unwind(AssertUnwindSafe(|| StreamReader::try_new(stream, None).ok()?.next()?.ok())).ok()?
}

/// A file that is read from an offset on.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl io::Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
