//! A checksum of a whole Parquet file, in the metadata of its footer, so that changed bytes are found before they are read
//! as rows.
//!
//! The CRC-32 is of the file with zeros in place of the checksum's own digits, which are written last.

use parquet::file::metadata::KeyValue;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const KEY: &str = "helenus.crc32";
const ZEROS: &str = "00000000";
/// Between key and value in Thrift's compact encoding: the value is the next field, a text of eight bytes.
const BETWEEN: [u8; 2] = [0x18, 8];
/// The last bytes of a Parquet file: the length of its footer, and its mark.
const END_BYTES: u64 = 8;
const MARK: &[u8] = b"PAR1";
/// A larger footer is not read. The footer of the largest tables has some hundred KiB.
pub(crate) const LARGEST_FOOTER_BYTES: u64 = 256 << 20;
const CHUNK_BYTES: usize = 1 << 20;
/// The most files of which it is remembered that they are whole.
const MOST_KNOWN: usize = 20_000;
/// Only files whose last change is older than this are remembered.
const SETTLED_AFTER_S: u64 = 2;

/// Device, inode, size and time of the last change of a file.
type Identity = (u64, u64, u64, i64, i64);

/// The metadata that holds the checksum.
pub(crate) fn entry() -> KeyValue {
    KeyValue::new(KEY.to_string(), ZEROS.to_string())
}

/// A file that is written from its beginning to its end, and the checksum of its bytes.
pub(crate) struct Summed {
    file: File,
    sum: crc32fast::Hasher,
}

impl Summed {
    pub(crate) fn new(file: File) -> Summed {
        Summed { file, sum: crc32fast::Hasher::new() }
    }

    /// Writes the checksum into the footer.
    pub(crate) fn finish(self) -> io::Result<File> {
        let place = place(&self.file)?.ok_or_else(|| io::Error::other("its footer has no place for a checksum"))?;
        self.file.write_all_at(format!("{:08x}", self.sum.finalize()).as_bytes(), place)?;
        Ok(self.file)
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether a file has the bytes that were written. None for a file of an older version, which has no checksum.
///
/// All of the file is read, unless this process has read it before and its last change was earlier.
pub(crate) fn is_whole(file: &File) -> io::Result<Option<bool>> {
    static KNOWN: Mutex<Option<HashSet<Identity>>> = Mutex::new(None);
    let facts = file.metadata()?;
    let identity = (facts.dev(), facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known().as_ref().is_some_and(|known| known.contains(&identity)) {
        return Ok(Some(true));
    }
    let Some(place) = place(file)? else { return Ok(None) };
    let mut digits = [0; ZEROS.len()];
    file.read_exact_at(&mut digits, place)?;
    let written = std::str::from_utf8(&digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let is_whole = written == Some(sum(file, place)?);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // A file that has just changed may change again with the same time.
    let is_settled =
        u64::try_from(facts.ctime()).is_ok_and(|changed| changed.saturating_add(SETTLED_AFTER_S) < since_epoch);
    if is_whole && is_settled {
        let mut known = known();
        let known = known.get_or_insert_default();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(identity);
    }
    Ok(Some(is_whole))
}

fn sum(file: &File, place: u64) -> io::Result<u32> {
    let mut sum = crc32fast::Hasher::new();
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut at = 0;
    loop {
        let read = file.read_at(&mut bytes, at)?;
        if read == 0 {
            return Ok(sum.finalize());
        }
        let chunk = &mut bytes[..read];
        for (digit, zero) in (place..).zip(ZEROS.bytes()) {
            if let Some(byte) = digit.checked_sub(at).and_then(|digit| chunk.get_mut(usize::try_from(digit).ok()?)) {
                *byte = zero;
            }
        }
        sum.update(chunk);
        at += read as u64;
    }
}

/// Offset of the checksum's digits.
fn place(file: &File) -> io::Result<Option<u64>> {
    let Some((from, length)) = footer(file)? else { return Ok(None) };
    let mut footer = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut footer, from)?;
    let before = [KEY.as_bytes(), &BETWEEN].concat();
    // The metadata of the file comes after those of its columns, which have values of rows.
    let found = footer.windows(before.len() + ZEROS.len()).rposition(|bytes| bytes.starts_with(&before));
    Ok(found.map(|found| from + (found + before.len()) as u64))
}

/// Offset and length of a file's footer. None if the file does not end as a Parquet file does.
fn footer(file: &File) -> io::Result<Option<(u64, u64)>> {
    let bytes = file.metadata()?.len();
    let Some(end) = bytes.checked_sub(END_BYTES) else { return Ok(None) };
    let mut last = [0; END_BYTES as usize];
    file.read_exact_at(&mut last, end)?;
    let length = u64::from(u32::from_le_bytes([last[0], last[1], last[2], last[3]]));
    let from = end.checked_sub(length).filter(|_| length <= LARGEST_FOOTER_BYTES && last[4..] == *MARK);
    Ok(from.map(|from| (from, length)))
}

/// Whether a file's end is that of a Parquet file whose footer can be read into memory.
pub(crate) fn has_footer(file: &File) -> io::Result<bool> {
    footer(file).map(|footer| footer.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::rows::{Row, Stall};
    use crate::parquet::{EXTENSION, ParquetFile};
    use crate::private::Folder;
    use crate::{BatchBuilder, TABLES};

    fn written() -> Vec<u8> {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let table = &TABLES[Stall::TABLE];
        let mut rows = BatchBuilder::new(Stall::TABLE);
        for start_ns in 1..500 {
            Stall { start_ns, side: "helenus.crc32", kind: "\u{18}\u{8}00000000", ..Stall::default() }
                .append_to(&mut rows);
        }
        let mut file = ParquetFile::create(&folder, "part-0", table, table.stream_schema()).unwrap();
        file.write(&rows.take().unwrap()).unwrap();
        file.finish().unwrap();
        std::fs::read(place.path().join(format!("part-0.{EXTENSION}"))).unwrap()
    }

    fn is_whole(bytes: &[u8]) -> Option<bool> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        super::is_whole(&file).unwrap()
    }

    #[test]
    fn every_changed_byte_is_found() {
        let bytes = written();
        assert_eq!(is_whole(&bytes), Some(true));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert_ne!(is_whole(&changed), Some(true), "byte {at} of {}", bytes.len());
        }
        for length in [0, 3, 8, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(is_whole(&bytes[..length]), None, "cut at {length}");
        }
    }
}
